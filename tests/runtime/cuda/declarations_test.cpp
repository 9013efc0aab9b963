// Our declarations of NVIDIA's functions against the toolkit's own headers, at compile time, where
// these are installed.
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>

#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nccl.hpp"
#include "runtime/cuda/nvml_functions.hpp"
#include "runtime/cuda/nvrtc.hpp"

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>
#define HONE_HAS_CUDA_HEADERS 1
#endif
#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>
#define HONE_HAS_NCCL_HEADER 1
#endif
#if __has_include(<nvml.h>)
#include <nvml.h>
#define HONE_HAS_NVML_HEADER 1
#endif

namespace hone::cuda::declarations_test {
namespace {

// Two types agree when they are the same after enumerations have become `int` and the headers'
// opaque handles ours.
template <typename Type>
struct Plain {
    using type = std::conditional_t<std::is_enum_v<Type>, int, Type>;
};
template <typename Type>
struct Plain<Type*> {
    using type = typename Plain<Type>::type*;
};
template <typename Type>
struct Plain<const Type> {
    using type = const typename Plain<Type>::type;
};
template <typename Result, typename... Parameters>
struct Plain<Result(Parameters...)> {
    using type = typename Plain<Result>::type(typename Plain<Parameters>::type...);
};

#ifdef HONE_HAS_CUDA_HEADERS
template <>
struct Plain<CUctx_st> {
    using type = Context;
};
template <>
struct Plain<CUmod_st> {
    using type = LoadedCode;
};
template <>
struct Plain<CUfunc_st> {
    using type = Function;
};
template <>
struct Plain<CUstream_st> {
    using type = StreamHandle;
};
template <>
struct Plain<CUgraph_st> {
    using type = GraphHandle;
};
template <>
struct Plain<CUgraphExec_st> {
    using type = GraphExecutable;
};
template <>
struct Plain<CUevent_st> {
    using type = EventHandle;
};
template <>
struct Plain<CUipcMemHandle_st> {
    using type = IpcMemoryHandle;
};
template <>
struct Plain<CUipcEventHandle_st> {
    using type = IpcEventHandle;
};
template <>
struct Plain<_nvrtcProgram> {
    using type = Program;
};

#define HONE_CHECK_DRIVER(member, symbol, parameters) \
    static_assert(std::is_same_v<std::remove_pointer_t<decltype(Driver::member)>, Plain<decltype(::symbol)>::type>, #symbol);
HONE_DRIVER_FUNCTIONS(HONE_CHECK_DRIVER)

#define HONE_CHECK_NVRTC(member, symbol, result, parameters) \
    static_assert(std::is_same_v<std::remove_pointer_t<decltype(Nvrtc::member)>, Plain<decltype(::symbol)>::type>, #symbol);
HONE_NVRTC_FUNCTIONS(HONE_CHECK_NVRTC)

static_assert(max_threads_per_block == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(multiprocessor_count == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(l2_cache_size == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(mps_enabled == CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
static_assert(max_threads_per_multiprocessor == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(unified_addressing == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
static_assert(compute_capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(compute_capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(max_shared_memory_per_multiprocessor == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(max_registers_per_multiprocessor == CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
static_assert(max_shared_memory_per_block_optin == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(function_static_shared_bytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(function_max_dynamic_shared_bytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(host_alloc_portable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(event_disable_timing == CU_EVENT_DISABLE_TIMING && event_interprocess == CU_EVENT_INTERPROCESS);
static_assert(capture_relaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(ipc_enable_peer_access == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(error_peer_access_already_enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(sizeof(IpcMemoryHandle) == sizeof(CUipcMemHandle) && sizeof(IpcEventHandle) == sizeof(CUipcEventHandle));
static_assert(success == CUDA_SUCCESS && error_invalid_value == CUDA_ERROR_INVALID_VALUE && error_out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(error_stub_library == CUDA_ERROR_STUB_LIBRARY && error_no_device == CUDA_ERROR_NO_DEVICE);
static_assert(error_invalid_image == CUDA_ERROR_INVALID_IMAGE && error_no_binary_for_gpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(error_unsupported_ptx_version == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && error_not_found == CUDA_ERROR_NOT_FOUND);
static_assert(error_illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS && error_launch_failed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(error_launch_out_of_resources == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && error_launch_timeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(nvrtc_success == NVRTC_SUCCESS);

#define HONE_EXPAND(symbol) #symbol
#define HONE_SYMBOL(symbol) HONE_EXPAND(symbol)
#define HONE_NAME(member, symbol, parameters) #symbol,

// cuda.h renames functions to their 64-bit forms by macros. Without the suffix the library's old
// 32-bit form would answer.
TEST(Declarations, NameTheSymbolsThatTheHeaderSelects) {
    const std::set<std::string> ours{HONE_DRIVER_FUNCTIONS(HONE_NAME)};
    for (const char* selected :
         {HONE_SYMBOL(cuDeviceTotalMem), HONE_SYMBOL(cuDevicePrimaryCtxRelease), HONE_SYMBOL(cuCtxPushCurrent), HONE_SYMBOL(cuCtxPopCurrent),
          HONE_SYMBOL(cuMemGetInfo), HONE_SYMBOL(cuMemAlloc), HONE_SYMBOL(cuMemFree), HONE_SYMBOL(cuMemHostAlloc), HONE_SYMBOL(cuMemcpyAsync),
          HONE_SYMBOL(cuMemsetD8Async), HONE_SYMBOL(cuEventDestroy), HONE_SYMBOL(cuModuleLoadData), HONE_SYMBOL(cuLaunchKernel),
          HONE_SYMBOL(cuStreamSynchronize), HONE_SYMBOL(cuIpcOpenMemHandle), HONE_SYMBOL(cuStreamWaitEvent), HONE_SYMBOL(cuStreamBeginCapture),
          HONE_SYMBOL(cuGraphLaunch)})
        EXPECT_TRUE(ours.contains(selected)) << selected;
}
#else
TEST(Declarations, NameTheSymbolsThatTheHeaderSelects) {
    GTEST_SKIP() << "cuda.h and nvrtc.h are not installed";
}
#endif

#if defined(HONE_HAS_NCCL_HEADER) && defined(HONE_HAS_CUDA_HEADERS)
template <>
struct Plain<ncclComm> {
    using type = NcclCommunicator;
};
template <>
struct Plain<ncclUniqueId> {
    using type = NcclId;
};
#define HONE_CHECK_NCCL(member, symbol, result, parameters) \
    static_assert(std::is_same_v<std::remove_pointer_t<decltype(Nccl::member)>, Plain<decltype(::symbol)>::type>, #symbol);
HONE_NCCL_FUNCTIONS(HONE_CHECK_NCCL)
static_assert(nccl_success == ncclSuccess && nccl_bytes == ncclUint8 && nccl_f64 == ncclFloat64 && nccl_sum == ncclSum);
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
#endif

#ifdef HONE_HAS_NVML_HEADER
template <>
struct Plain<nvmlDevice_st> {
    using type = NvmlDevice;
};
template <>
struct Plain<nvmlFieldValue_st> {
    using type = NvmlFieldValue;
};
template <>
struct Plain<nvmlProcessInfo_t> {
    using type = NvmlProcess;
};
static_assert(sizeof(NvmlProcess) == sizeof(nvmlProcessInfo_t) && nvml_insufficient_size == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(sizeof(NvmlFieldValue) == sizeof(nvmlFieldValue_t) && nvml_field_power_instant == NVML_FI_DEV_POWER_INSTANT);
static_assert(offsetof(NvmlFieldValue, field) == offsetof(nvmlFieldValue_t, fieldId) &&
              offsetof(NvmlFieldValue, type) == offsetof(nvmlFieldValue_t, valueType) &&
              offsetof(NvmlFieldValue, result) == offsetof(nvmlFieldValue_t, nvmlReturn) &&
              offsetof(NvmlFieldValue, value) == offsetof(nvmlFieldValue_t, value));

#define HONE_CHECK_NVML(member, symbol, result, parameters) \
    static_assert(std::is_same_v<std::remove_pointer_t<decltype(Nvml::member)>, Plain<decltype(::symbol)>::type>, #symbol);
HONE_NVML_FUNCTIONS(HONE_CHECK_NVML)
HONE_NVML_FURTHER_FUNCTIONS(HONE_CHECK_NVML)
static_assert(nvml_success == NVML_SUCCESS && nvml_clock_sm == NVML_CLOCK_SM && nvml_clock_memory == NVML_CLOCK_MEM);
static_assert(nvml_temperature_gpu == NVML_TEMPERATURE_GPU);
static_assert(nvml_peers_by_nvlink == NVML_P2P_CAPS_INDEX_NVLINK && nvml_most_links == NVML_NVLINK_MAX_LINKS);
#endif

}  // namespace
}  // namespace hone::cuda::declarations_test
