#pragma once

#include <cstddef>
#include <string>

#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1::cuda {

// Minimal declarations of the CUDA driver API, so that hone builds without cuda.h and runs without
// a driver. Names and types are those of cuda.h (CUDA Driver API reference manual);
// tests/runtime/cuda/declarations_test.cpp compares them with the header where it is installed.
struct Context;
struct LoadedCode;
struct Function;
struct EventHandle;
struct StreamHandle;
struct GraphHandle;
struct GraphExecutable;
using DevicePointer = unsigned long long;
using Result = int;

// Handles by which another process opens memory and events.
struct IpcMemoryHandle {
    char bytes[64];
};
struct IpcEventHandle {
    char bytes[64];
};

constexpr Result success = 0;
constexpr Result error_invalid_value = 1;
constexpr Result error_out_of_memory = 2;
constexpr Result error_not_initialized = 3;
constexpr Result error_stub_library = 34;
constexpr Result error_no_device = 100;
constexpr Result error_invalid_image = 200;
constexpr Result error_no_binary_for_gpu = 209;
constexpr Result error_unsupported_ptx_version = 222;
constexpr Result error_not_found = 500;
constexpr Result error_not_ready = 600;
constexpr Result error_illegal_address = 700;
constexpr Result error_launch_out_of_resources = 701;
constexpr Result error_launch_timeout = 702;
constexpr Result error_peer_access_already_enabled = 704;
constexpr Result error_launch_failed = 719;

// CUdevice_attribute.
constexpr int max_threads_per_block = 1;
constexpr int multiprocessor_count = 16;
constexpr int l2_cache_size = 38;
constexpr int max_threads_per_multiprocessor = 39;
constexpr int unified_addressing = 41;
constexpr int compute_capability_major = 75;
constexpr int compute_capability_minor = 76;
constexpr int max_shared_memory_per_multiprocessor = 81;
constexpr int max_registers_per_multiprocessor = 82;
constexpr int max_shared_memory_per_block_optin = 97;
constexpr int mps_enabled = 133;

// CUfunction_attribute.
constexpr int function_static_shared_bytes = 1;
constexpr int function_max_dynamic_shared_bytes = 8;

constexpr unsigned host_alloc_portable = 1;

// CUstream_flags, and a priority that the driver takes for its highest.
constexpr unsigned stream_non_blocking = 1;
constexpr int highest_priority = -1000;

// CUstreamCaptureMode: no call is refused meanwhile, in this thread or another.
constexpr int capture_relaxed = 2;

// CUevent_flags and CUipcMem_flags.
constexpr unsigned event_disable_timing = 2;
constexpr unsigned event_interprocess = 4;
constexpr unsigned ipc_enable_peer_access = 1;

// CUctx_flags: who waits for the device sleeps.
constexpr unsigned context_sched_blocking_sync = 4;
// CUstreamWaitValue_flags: until the word is at least the value, as numbers of 32 bits that turn
// over.
constexpr unsigned wait_value_at_least = 0;

// row(member of Driver, symbol of libcuda, parameters). The suffix _v2 marks the 64-bit forms that
// cuda.h silently selects by macros. clang-format off
#define HONE_DRIVER_FUNCTIONS(row)                                                                                                                   \
    row(get_error_string, cuGetErrorString, (Result error, const char** text)) row(                                                                  \
        get_error_name, cuGetErrorName, (Result error, const char** text)) row(init, cuInit, (unsigned int flags))                                   \
        row(driver_get_version, cuDriverGetVersion, (int* version)) row(device_get, cuDeviceGet, (int* device, int ordinal)) row(                    \
            device_get_count, cuDeviceGetCount, (int* count)) row(device_get_name, cuDeviceGetName, (char* name, int length, int device))            \
            row(device_get_pci_bus_id, cuDeviceGetPCIBusId, (char* id, int length, int device)) row(                                                 \
                device_total_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, int device)) row(device_get_attribute, cuDeviceGetAttribute,         \
                                                                                                 (int* value, int attribute, int device))            \
                row(primary_context_retain, cuDevicePrimaryCtxRetain, (Context * *context, int device)) row(                                         \
                    primary_context_set_flags, cuDevicePrimaryCtxSetFlags_v2,                                                                        \
                    (int device, unsigned int flags)) row(primary_context_release, cuDevicePrimaryCtxRelease_v2, (int device))                       \
                    row(context_get_current, cuCtxGetCurrent, (Context * *context)) row(context_push, cuCtxPushCurrent_v2, (Context * context)) row( \
                        context_pop, cuCtxPopCurrent_v2, (Context * *context)) row(context_synchronise, cuCtxSynchronize, ())                        \
                        row(module_load_data, cuModuleLoadData, (LoadedCode * *code, const void* image))                                             \
                            row(module_unload, cuModuleUnload, (LoadedCode * code)) row(                                                             \
                                module_get_function, cuModuleGetFunction,                                                                            \
                                (Function * *function, LoadedCode * code, const char* name)) row(function_get_attribute, cuFuncGetAttribute,         \
                                                                                                 (int* value, int attribute, Function* function))    \
                                row(function_set_attribute, cuFuncSetAttribute, (Function * function, int attribute, int value)) row(                \
                                    launch_kernel, cuLaunchKernel,                                                                                   \
                                    (Function * function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,       \
                                     unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, StreamHandle* stream, void** arguments,  \
                                     void** extra)) row(memory_get_info, cuMemGetInfo_v2, (std::size_t * free_bytes, std::size_t * total_bytes))     \
                                    row(memory_allocate, cuMemAlloc_v2, (DevicePointer * pointer, std::size_t bytes)) row(memory_free, cuMemFree_v2, \
                                                                                                                          (DevicePointer pointer))   \
                                        row(host_allocate, cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned int flags)) row(             \
                                            host_free, cuMemFreeHost,                                                                                \
                                            (void* pointer)) row(copy_async, cuMemcpyAsync,                                                          \
                                                                 (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle * stream))   \
                                            row(fill_async, cuMemsetD8Async,                                                                         \
                                                (DevicePointer to, unsigned char byte, std::size_t bytes, StreamHandle* stream))                     \
                                                row(stream_synchronise, cuStreamSynchronize, (StreamHandle * stream)) row(                           \
                                                    stream_create, cuStreamCreateWithPriority,                                                       \
                                                    (StreamHandle * *stream, unsigned int flags,                                                     \
                                                     int priority)) row(stream_destroy, cuStreamDestroy_v2, (StreamHandle * stream))                 \
                                                    row(event_create, cuEventCreate, (EventHandle * *event, unsigned int flags)) row(                \
                                                        event_destroy, cuEventDestroy_v2,                                                            \
                                                        (EventHandle *                                                                               \
                                                         event)) row(event_record, cuEventRecord, (EventHandle * event, StreamHandle * stream))      \
                                                        row(event_synchronise, cuEventSynchronize, (EventHandle * event)) row(                       \
                                                            event_query, cuEventQuery,                                                               \
                                                            (EventHandle * event)) row(event_elapsed, cuEventElapsedTime,                            \
                                                                                       (float* milliseconds, EventHandle* begin, EventHandle* end))  \
                                                            row(stream_wait_event, cuStreamWaitEvent,                                                \
                                                                (StreamHandle * stream, EventHandle * event,                                         \
                                                                 unsigned int flags)) row(stream_wait_value, cuStreamWaitValue32_v2,                 \
                                                                                          (StreamHandle * stream, DevicePointer address,             \
                                                                                           unsigned int value, unsigned int flags))                  \
                                                                row(stream_write_value, cuStreamWriteValue32_v2,                                     \
                                                                    (StreamHandle * stream, DevicePointer address, unsigned int value,               \
                                                                     unsigned int flags)) row(device_can_access_peer, cuDeviceCanAccessPeer,         \
                                                                                              (int* can, int device, int peer))                      \
                                                                    row(context_enable_peer_access, cuCtxEnablePeerAccess,                           \
                                                                        (Context * peer,                                                             \
                                                                         unsigned int flags)) row(ipc_get_memory, cuIpcGetMemHandle,                 \
                                                                                                  (IpcMemoryHandle * handle, DevicePointer pointer)) \
                                                                        row(ipc_open_memory, cuIpcOpenMemHandle_v2,                                  \
                                                                            (DevicePointer * pointer, IpcMemoryHandle handle, unsigned int flags))   \
                                                                            row(ipc_close_memory, cuIpcCloseMemHandle, (DevicePointer pointer)) row( \
                                                                                ipc_get_event, cuIpcGetEventHandle,                                  \
                                                                                (IpcEventHandle * handle, EventHandle * event))                      \
                                                                                row(ipc_open_event, cuIpcOpenEventHandle,                            \
                                                                                    (EventHandle * *event, IpcEventHandle handle))                   \
                                                                                    row(launch_cooperative_kernel, cuLaunchCooperativeKernel,        \
                                                                                        (Function * function, unsigned int grid_x,                   \
                                                                                         unsigned int grid_y, unsigned int grid_z,                   \
                                                                                         unsigned int block_x, unsigned int block_y,                 \
                                                                                         unsigned int block_z, unsigned int shared_bytes,            \
                                                                                         StreamHandle* stream, void** arguments))                    \
                                                                                        row(stream_begin_capture, cuStreamBeginCapture_v2,           \
                                                                                            (StreamHandle * stream, int mode))                       \
                                                                                            row(stream_end_capture, cuStreamEndCapture,              \
                                                                                                (StreamHandle * stream, GraphHandle * *graph))       \
                                                                                                row(graph_instantiate, cuGraphInstantiateWithFlags,  \
                                                                                                    (GraphExecutable * *executable,                  \
                                                                                                     GraphHandle * graph, unsigned long long flags)) \
                                                                                                    row(graph_launch, cuGraphLaunch,                 \
                                                                                                        (GraphExecutable * executable,               \
                                                                                                         StreamHandle * stream))                     \
                                                                                                        row(graph_destroy, cuGraphDestroy,           \
                                                                                                            (GraphHandle * graph))                   \
                                                                                                            row(graph_executable_destroy,            \
                                                                                                                cuGraphExecDestroy,                  \
                                                                                                                (GraphExecutable * executable))
// clang-format on

/// The driver's functions, or what is missing.
struct Driver {
    SharedLibrary library;
    std::string missing;  ///< empty when every function is there
    std::string remedy;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, no expression
#define HONE_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
    HONE_DRIVER_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER

    /// "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
    std::string text(Result result) const;
};

/// Loads the driver's library; no function of it is called.
Driver load_driver(const LibraryCandidates& candidates);

/// Loads and initialises the driver (cuInit, which makes no context), and counts the devices. With
/// `missing` set, there is none to use. A process that forks afterwards cannot use CUDA in the
/// child unless it calls exec.
Driver start_driver(const LibraryCandidates& candidates, int& devices);

/// "13.0" from 13000.
std::string version_text(int version);

}  // namespace hone::inline v0_1::cuda
