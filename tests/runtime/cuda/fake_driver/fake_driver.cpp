// A CUDA driver without a GPU, so that the host side of the backend runs where there is none, under
// the sanitizers too. See fake_driver.hpp.
#include "tests/runtime/cuda/fake_driver/fake_driver.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using hone::test::FakeDriverState;
using DevicePointer = unsigned long long;

// The driver's codes that the fake uses (cuda.h).
enum Code {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialised = 3,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    invalid_handle = 400,
    not_found = 500,
    illegal_address = 700,
    launch_out_of_resources = 701,
    peer_access_already_enabled = 704,
    too_many_blocks = 720,
    capture_unsupported = 900,
};

constexpr unsigned non_blocking = 1;
constexpr unsigned disable_timing = 2;
constexpr unsigned interprocess = 4;

constexpr unsigned static_shared = 16 << 10;
constexpr unsigned shared_without_opt_in = 48 << 10;
constexpr unsigned shared_with_opt_in = 227 << 10;
constexpr unsigned most_threads = 1024;
constexpr unsigned resident_blocks = 264;

struct Context {
    int device = 0;
};
struct Module {
    std::vector<std::unique_ptr<struct Function>> functions;
};
struct Function {
    std::string name;
    int dynamic_shared = 0;
    bool has_static() const { return name.starts_with("static_"); }
};
struct Event {
    double time = -1;
    unsigned flags = 0;
};

// What another process opens device memory by: a file without a name that this one keeps open.
struct MemoryHandle {
    int process, file;
    std::size_t bytes;
    char unused[64 - 2 * sizeof(int) - sizeof(std::size_t)];
};
struct EventHandle {
    int process;
    char unused[64 - sizeof(int)];
};

// Launches with their arguments: two words each, as `add_one` has.
struct Graph {
    struct Node {
        Function* function;
        std::array<unsigned, 3> grid, block;
        unsigned shared_bytes;
        float* values;
        int first, last;
    };
    std::vector<Node> nodes;
};

std::mutex mutex;
std::map<void*, Graph> recorded;  // by their streams
bool initialised = false;
std::array<Context, 8> primaries;          // of each device
std::map<void*, int> files;                // of device memory that other processes can open
std::map<Context*, Context*> peer_access;  // from the first to the second
thread_local std::vector<Context*> context_stack;

FakeDriverState& state() {
    static FakeDriverState the_state;
    return the_state;
}

// Notes the call; the code that the test wants, or the pending fault for what waits.
int enter(const char* symbol, bool waits = false) {
    state().calls.emplace_back(symbol);
    if (const auto found = state().failures.find(symbol); found != state().failures.end()) return found->second;
    return waits ? state().fault : 0;
}

int enter_in_context(const char* symbol, bool waits = false) {
    if (const int code = enter(symbol, waits); code != success) return code;
    return context_stack.empty() || context_stack.back() == nullptr ? invalid_context : success;
}

// False when the range begins in device memory and leaves it.
bool lies_whole(DevicePointer address, std::size_t bytes) {
    for (const auto* memory : {&state().device_memory, &state().opened_memory})
        for (const auto& [pointer, size] : *memory) {
            const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
            if (address >= begin && address < begin + size) return address + bytes <= begin + size;
        }
    return true;
}

template <typename Value>
Value argument(void** arguments, int index) {
    Value value;
    std::memcpy(&value, arguments[index], sizeof(Value));
    return value;
}

void add_one(void** arguments) {
    auto* values = argument<float*>(arguments, 0);
    for (int i = argument<int>(arguments, 1); i < argument<int>(arguments, 2); ++i) values[i] += 1;
}

// Every block's share is one word in `grid`, as the host cannot tell.
template <typename Real>
void largest_difference(void** arguments, unsigned blocks) {
    const auto* a = argument<const Real*>(arguments, 0);
    const auto* b = argument<const Real*>(arguments, 1);
    const auto words = argument<long long>(arguments, 2);
    auto* partial = argument<double*>(arguments, 3);
    std::fill_n(partial, blocks, 0.0);
    for (long long i = 0; i < words; ++i) {
        const double x = static_cast<double>(a[i]);
        const double y = static_cast<double>(b[i]);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        const double distance = std::isfinite(x) && std::isfinite(y) ? std::abs(x - y) : std::numeric_limits<double>::infinity();
        partial[i % blocks] = std::max(partial[i % blocks], distance);
    }
}

// The first block has all of it.
void checksum(void** arguments, unsigned blocks) {
    const auto* data = argument<const std::uint32_t*>(arguments, 0);
    const auto words = argument<long long>(arguments, 1);
    auto* parts = argument<std::uint64_t*>(arguments, 2);
    std::fill_n(parts, blocks, std::uint64_t{0});
    for (long long i = 0; i < words; ++i) parts[0] = parts[0] * 31 + data[i];
}

// Words of 8 bytes of a message, to or from their places in a field. Who waits for a flag waits for
// another process.
void exchange_words(void** arguments, bool put) {
    auto* field = argument<std::uint64_t*>(arguments, 0);
    const auto* places = argument<const long long*>(arguments, 1);
    auto* message = argument<std::uint64_t*>(arguments, 2);
    const auto* const awaited = argument<std::atomic<unsigned>*>(arguments, 3);
    auto* const raised = argument<std::atomic<unsigned>*>(arguments, 4);
    const int words = argument<int>(arguments, 6), value = argument<int>(arguments, 7), raised_value = argument<int>(arguments, 8);
    while (awaited != nullptr && static_cast<int>(awaited->load() - static_cast<unsigned>(value)) < 0)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (int i = 0; i < words; ++i) {
        std::uint64_t& word = field[places == nullptr ? i : places[i]];
        put ? message[i] = word : word = message[i];
    }
    if (raised != nullptr) raised->store(static_cast<unsigned>(raised_value));
}

void execute(const Function& function, void** arguments, unsigned blocks) {
    if (function.name == "add_one") add_one(arguments);
    if (function.name == "largest_difference_f32") largest_difference<float>(arguments, blocks);
    if (function.name == "largest_difference_f64") largest_difference<double>(arguments, blocks);
    if (function.name == "largest_difference_i32") largest_difference<int>(arguments, blocks);
    if (function.name == "checksum") checksum(arguments, blocks);
    if (function.name == "put" || function.name == "take") exchange_words(arguments, function.name == "put");
    if (function.name == "fault") state().fault = illegal_address;
}

int allocate(std::map<void*, std::size_t>& memory, void** pointer, std::size_t bytes) {
    std::size_t used = 0;
    for (const auto& each : memory) used += each.second;
    if (bytes == 0) return invalid_value;
    const std::size_t most = &memory == &state().device_memory ? state().memory_bytes : state().pinned_bytes;
    if (bytes > most - used) return out_of_memory;
    constexpr std::size_t alignment = 256;
    if (&memory == &state().device_memory && state().shares_memory) {
        const int file = memfd_create("fake device memory", MFD_CLOEXEC);
        void* const mapped = file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0
                                 ? MAP_FAILED
                                 : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) return out_of_memory;
        *pointer = mapped;
        files[mapped] = file;
    } else {
        *pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    }
    memory[*pointer] = bytes;
    return success;
}

int release(std::map<void*, std::size_t>& memory, void* pointer) {
    const auto found = memory.find(pointer);
    if (found == memory.end()) return invalid_value;
    if (const auto file = files.find(pointer); file != files.end()) {
        munmap(pointer, found->second);
        close(file->second);
        files.erase(file);
    } else {
        std::free(pointer);
    }
    memory.erase(found);
    return success;
}

}  // namespace

EXPORTED FakeDriverState& fake_driver_state() {
    return state();
}

EXPORTED int cuGetErrorName(int code, const char** text) {
    *text = code == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return success;
}
EXPORTED int cuGetErrorString(int code, const char** text) {
    *text = code == illegal_address ? "an illegal memory access was encountered" : "as the fake driver was told";
    return success;
}
EXPORTED int cuInit(unsigned) {
    const std::lock_guard lock(mutex);
    const int code = enter("cuInit");
    initialised = code == success;
    return code;
}
EXPORTED int cuDriverGetVersion(int* version) {
    const std::lock_guard lock(mutex);
    *version = 13000;
    return enter("cuDriverGetVersion");
}
EXPORTED int cuDeviceGetCount(int* count) {
    const std::lock_guard lock(mutex);
    *count = state().devices;
    const int code = enter("cuDeviceGetCount");
    return code != success ? code : initialised ? success : not_initialised;
}
EXPORTED int cuDeviceGet(int* device, int ordinal) {
    const std::lock_guard lock(mutex);
    *device = ordinal;
    const int code = enter("cuDeviceGet");
    return code != success ? code : ordinal >= 0 && ordinal < state().devices ? success : invalid_device;
}
EXPORTED int cuDeviceGetName(char* name, int length, int) {
    const std::lock_guard lock(mutex);
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return enter("cuDeviceGetName");
}
EXPORTED int cuDeviceGetPCIBusId(char* id, int length, int device) {
    const std::lock_guard lock(mutex);
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
    return enter("cuDeviceGetPCIBusId");
}
EXPORTED int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    const std::lock_guard lock(mutex);
    *bytes = state().memory_bytes;
    return enter("cuDeviceTotalMem_v2");
}
EXPORTED int cuDeviceGetAttribute(int* value, int attribute, int) {
    const std::lock_guard lock(mutex);
    const std::map<int, int> values{{1, 1024},
                                    {16, 132},
                                    {38, 60 << 20},
                                    {39, 2048},
                                    {41, 1},
                                    {75, 9},
                                    {76, 0},
                                    {81, 228 << 10},
                                    {82, 65536},
                                    {97, 227 << 10},
                                    {133, state().mps ? 1 : 0}};
    const auto found = values.find(attribute);
    if (found == values.end()) return invalid_value;
    *value = found->second;
    return enter("cuDeviceGetAttribute");
}

EXPORTED int cuDevicePrimaryCtxRetain(Context** context, int device) {
    const std::lock_guard lock(mutex);
    if (const int code = enter("cuDevicePrimaryCtxRetain"); code != success) return code;
    *context = &primaries.at(static_cast<std::size_t>(device));
    (*context)->device = device;
    ++state().contexts;
    return success;
}
EXPORTED int cuDevicePrimaryCtxSetFlags_v2(int, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter("cuDevicePrimaryCtxSetFlags_v2"); code != success) return code;
    state().context_flags = flags;
    return success;
}
EXPORTED int cuDevicePrimaryCtxRelease_v2(int) {
    const std::lock_guard lock(mutex);
    --state().contexts;
    return enter("cuDevicePrimaryCtxRelease_v2");
}
EXPORTED int cuCtxGetCurrent(Context** context) {
    const std::lock_guard lock(mutex);
    *context = context_stack.empty() ? nullptr : context_stack.back();
    return enter("cuCtxGetCurrent");
}
EXPORTED int cuCtxPushCurrent_v2(Context* context) {
    const std::lock_guard lock(mutex);
    if (const int code = enter("cuCtxPushCurrent_v2"); code != success) return code;
    context_stack.push_back(context);
    ++state().pushes;
    ++state().total_pushes;
    return success;
}
EXPORTED int cuCtxPopCurrent_v2(Context** context) {
    const std::lock_guard lock(mutex);
    const int code = enter("cuCtxPopCurrent_v2");
    if (context_stack.empty()) return invalid_context;
    *context = context_stack.back();
    context_stack.pop_back();
    --state().pushes;
    return code;
}
EXPORTED int cuCtxSynchronize() {
    const std::lock_guard lock(mutex);
    return enter_in_context("cuCtxSynchronize", true);
}

EXPORTED int cuModuleLoadData(Module** module, const void* image) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuModuleLoadData"); code != success) return code;
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    4) != 0)
        return invalid_image;
    *module = new Module;
    ++state().modules;
    return success;
}
EXPORTED int cuModuleUnload(Module* module) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuModuleUnload");
    delete module;
    --state().modules;
    return code;
}
EXPORTED int cuModuleGetFunction(Function** function, Module* module, const char* name) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuModuleGetFunction"); code != success) return code;
    if (std::string(name).starts_with("absent")) return not_found;
    module->functions.push_back(std::make_unique<Function>(Function{name}));
    *function = module->functions.back().get();
    return success;
}
EXPORTED int cuFuncGetAttribute(int* value, int attribute, Function* function) {
    const std::lock_guard lock(mutex);
    if (attribute != 1) return invalid_value;
    *value = function->has_static() ? static_cast<int>(static_shared) : 0;
    return enter("cuFuncGetAttribute");
}
EXPORTED int cuFuncSetAttribute(Function* function, int attribute, int value) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuFuncSetAttribute"); code != success) return code;
    const unsigned own = function->has_static() ? static_shared : 0;
    if (attribute != 8 || value < 0 || static_cast<unsigned>(value) + own > shared_with_opt_in) return invalid_value;
    function->dynamic_shared = value;
    state().attributes_set.push_back(function->name + "=" + std::to_string(value));
    return success;
}
static int launch(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                  unsigned shared_bytes, void* stream, void** arguments) {
    if (state().fault != success) return state().fault;
    const unsigned own = function->has_static() ? static_shared : 0;
    const unsigned allowed = std::max(shared_without_opt_in - own, static_cast<unsigned>(function->dynamic_shared));
    const bool empty = grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0;
    if (empty || block_x * block_y * block_z > most_threads || grid_y > 65535 || grid_z > 65535 || shared_bytes > allowed) return invalid_value;
    if (const auto graph = recorded.find(stream); graph != recorded.end()) {
        Graph::Node node{function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, nullptr, 0, 0};
        if (function->name == "add_one") {
            node.values = argument<float*>(arguments, 0), node.first = argument<int>(arguments, 1), node.last = argument<int>(arguments, 2);
        }
        graph->second.nodes.push_back(node);
        return success;
    }
    state().device_clock += state().launch_seconds * std::max(1.0, state().cold - 0.05 * static_cast<double>(state().launches.size()));
    state().launches.push_back({function->name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream});
    execute(*function, arguments, grid_x);
    return success;
}
EXPORTED int cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared_bytes, void* stream, void** arguments, void** extra) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuLaunchKernel"); code != success) return code;
    if (extra != nullptr) return invalid_value;
    return launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments);
}
EXPORTED int cuLaunchCooperativeKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned shared_bytes, void* stream, void** arguments) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuLaunchCooperativeKernel"); code != success) return code;
    if (grid_x * grid_y * grid_z > resident_blocks) return too_many_blocks;
    return launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments);
}

EXPORTED int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
    const std::lock_guard lock(mutex);
    std::size_t used = 0;
    for (const auto& each : state().device_memory) used += each.second;
    *total_bytes = state().memory_bytes;
    *free_bytes = state().memory_bytes - used;
    return enter_in_context("cuMemGetInfo_v2");
}
EXPORTED int cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuMemAlloc_v2"); code != success) return code;
    void* memory = nullptr;
    const int code = allocate(state().device_memory, &memory, bytes);
    if (code == success) *pointer = reinterpret_cast<std::uintptr_t>(memory);
    return code;
}
EXPORTED int cuMemFree_v2(DevicePointer pointer) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuMemFree_v2");
    const int freed = release(state().device_memory, reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)));
    return code != success ? code : freed;
}
EXPORTED int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuMemHostAlloc"); code != success) return code;
    return allocate(state().pinned_memory, pointer, bytes);
}
EXPORTED int cuMemFreeHost(void* pointer) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuMemFreeHost");
    const int freed = release(state().pinned_memory, pointer);
    return code != success ? code : freed;
}
EXPORTED int cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, void*) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuMemcpyAsync"); code != success) return code;
    if (!lies_whole(to, bytes) || !lies_whole(from, bytes)) return invalid_value;
    std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), bytes);
    return success;
}
EXPORTED int cuMemsetD8Async(DevicePointer to, unsigned char byte, std::size_t bytes, void*) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuMemsetD8Async"); code != success) return code;
    if (!lies_whole(to, bytes)) return invalid_value;
    std::memset(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), byte, bytes);
    return success;
}

EXPORTED int cuStreamSynchronize(void*) {
    const std::lock_guard lock(mutex);
    return enter_in_context("cuStreamSynchronize", true);
}
// Whatever a stream has queued has been done when the call returns, so that streams need no order.
EXPORTED int cuStreamCreateWithPriority(void** stream, unsigned flags, int) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuStreamCreateWithPriority"); code != success) return code;
    if (flags != non_blocking) return invalid_value;
    *stream = new char;
    ++state().streams;
    return success;
}
EXPORTED int cuStreamDestroy_v2(void* stream) {
    const std::lock_guard lock(mutex);
    delete static_cast<char*>(stream);
    --state().streams;
    return enter_in_context("cuStreamDestroy_v2");
}
EXPORTED int cuStreamBeginCapture_v2(void* stream, int) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuStreamBeginCapture_v2"); code != success) return code;
    if (stream == nullptr) return capture_unsupported;
    return recorded.try_emplace(stream).second ? success : invalid_value;
}
EXPORTED int cuStreamEndCapture(void* stream, Graph** graph) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuStreamEndCapture");
    const auto found = recorded.find(stream);
    if (found == recorded.end()) return invalid_value;
    if (code == success) *graph = new Graph(std::move(found->second)), ++state().graphs;
    recorded.erase(found);
    return code;
}
EXPORTED int cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuGraphInstantiateWithFlags"); code != success) return code;
    if (flags != 0) return invalid_value;
    *executable = new Graph(*graph);
    ++state().graphs;
    return success;
}
EXPORTED int cuGraphLaunch(Graph* executable, void* stream) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuGraphLaunch"); code != success) return code;
    for (Graph::Node& node : executable->nodes) {
        std::array<void*, 3> arguments{&node.values, &node.first, &node.last};
        const int code = launch(node.function, node.grid[0], node.grid[1], node.grid[2], node.block[0], node.block[1], node.block[2],
                                node.shared_bytes, stream, arguments.data());
        if (code != success) return code;
    }
    return success;
}
EXPORTED int cuGraphDestroy(Graph* graph) {
    const std::lock_guard lock(mutex);
    delete graph;
    --state().graphs;
    return enter_in_context("cuGraphDestroy");
}
EXPORTED int cuGraphExecDestroy(Graph* executable) {
    const std::lock_guard lock(mutex);
    delete executable;
    --state().graphs;
    return enter_in_context("cuGraphExecDestroy");
}
EXPORTED int cuStreamWriteValue32_v2(void*, DevicePointer address, std::uint32_t value, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuStreamWriteValue32_v2"); code != success) return code;
    if (flags != 0 || !lies_whole(address, sizeof value)) return invalid_value;
    std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), &value, sizeof value);
    return success;
}
// Work is done when it is queued, so the host waits here in place of the stream: another process
// may have to set the word.
EXPORTED int cuStreamWaitValue32_v2(void*, DevicePointer address, std::uint32_t value, unsigned flags) {
    {
        const std::lock_guard lock(mutex);
        if (const int code = enter_in_context("cuStreamWaitValue32_v2"); code != success) return code;
        if (flags != 0 || !lies_whole(address, sizeof value)) return invalid_value;
    }
    const auto* const word = reinterpret_cast<const volatile std::uint32_t*>(static_cast<std::uintptr_t>(address));
    while (static_cast<std::int32_t>(*word - value) < 0) std::this_thread::yield();
    return success;
}
EXPORTED int cuEventCreate(Event** event, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuEventCreate"); code != success) return code;
    if (flags != 0 && flags != disable_timing && flags != (disable_timing | interprocess)) return invalid_value;
    *event = new Event;
    (*event)->flags = flags;
    ++state().events;
    ++state().total_events;
    return success;
}
EXPORTED int cuEventDestroy_v2(Event* event) {
    const std::lock_guard lock(mutex);
    delete event;
    --state().events;
    return enter("cuEventDestroy_v2");
}
EXPORTED int cuEventRecord(Event* event, void*) {
    const std::lock_guard lock(mutex);
    event->time = state().device_clock;
    return enter_in_context("cuEventRecord");
}
EXPORTED int cuEventSynchronize(Event* event) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuEventSynchronize", true);
    return code != success ? code : event->time < 0 ? invalid_handle : success;
}
EXPORTED int cuEventQuery(Event* event) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuEventQuery", true);
    return code != success ? code : event->time < 0 ? invalid_handle : success;
}
EXPORTED int cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
    const std::lock_guard lock(mutex);
    if (begin->flags != 0 || end->flags != 0) return invalid_handle;
    *milliseconds = static_cast<float>((end->time - begin->time) * 1e3);
    return enter("cuEventElapsedTime");
}

EXPORTED int cuStreamWaitEvent(void*, Event* event, unsigned flags) {
    const std::lock_guard lock(mutex);
    const int code = enter_in_context("cuStreamWaitEvent");
    return code != success ? code : flags != 0 || event->time < 0 ? invalid_value : success;
}
EXPORTED int cuDeviceCanAccessPeer(int* can, int device, int peer) {
    const std::lock_guard lock(mutex);
    *can = state().peers && device != peer ? 1 : 0;
    return enter("cuDeviceCanAccessPeer");
}
EXPORTED int cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuCtxEnablePeerAccess"); code != success) return code;
    if (flags != 0 || peer == context_stack.back()) return invalid_value;
    return peer_access.insert({context_stack.back(), peer}).second ? success : peer_access_already_enabled;
}

EXPORTED int cuIpcGetMemHandle(MemoryHandle* handle, DevicePointer pointer) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuIpcGetMemHandle"); code != success) return code;
    auto* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
    const auto found = state().device_memory.find(memory);
    if (found == state().device_memory.end()) return invalid_value;
    const auto file = files.find(memory);
    *handle = {getpid(), file == files.end() ? -1 : file->second, found->second, {}};
    return success;
}
EXPORTED int cuIpcOpenMemHandle_v2(DevicePointer* pointer, MemoryHandle handle, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuIpcOpenMemHandle_v2"); code != success) return code;
    if (handle.process == getpid() || flags != 1) return invalid_context;
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", handle.process, handle.file);
    const int file = open(path.data(), O_RDWR | O_CLOEXEC);
    void* const memory = file < 0 ? MAP_FAILED : mmap(nullptr, handle.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) return invalid_value;
    state().opened_memory[memory] = handle.bytes;
    *pointer = reinterpret_cast<std::uintptr_t>(memory);
    return success;
}
EXPORTED int cuIpcCloseMemHandle(DevicePointer pointer) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuIpcCloseMemHandle"); code != success) return code;
    auto* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
    const auto found = state().opened_memory.find(memory);
    if (found == state().opened_memory.end()) return invalid_value;
    munmap(memory, found->second);
    state().opened_memory.erase(found);
    return success;
}
EXPORTED int cuIpcGetEventHandle(EventHandle* handle, Event* event) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuIpcGetEventHandle"); code != success) return code;
    if ((event->flags & interprocess) == 0) return invalid_handle;
    *handle = {getpid(), {}};
    return success;
}
EXPORTED int cuIpcOpenEventHandle(Event** event, EventHandle handle) {
    const std::lock_guard lock(mutex);
    if (const int code = enter_in_context("cuIpcOpenEventHandle"); code != success) return code;
    if (handle.process == getpid()) return invalid_context;
    *event = new Event{0, disable_timing | interprocess};
    ++state().events;
    return success;
}
