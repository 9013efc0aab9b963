// CUDA C++ on the host: put in front of an emitted kernel, it makes that text an ordinary C++ file (see emulator.hpp).
//
// A block's threads are fibers of one thread; a fiber runs until it waits at a barrier or in a warp primitive. Blocks run one after another, in an
// order that is neither the launch's nor its reverse, and fibers in an order that changes from block to block and from barrier to barrier, so that
// what depends on an order that CUDA does not promise gives another answer than the reference.
//
// It is compiled with every emulated kernel, hundreds of times in a run of the tests, and these run over a few blocks: containers, algorithms and
// <cmath> of the standard library would take more of the compiler's time than the kernel, and more optimisation more time than it saves.
#pragma GCC optimize("O1")

// Distributions (Ubuntu) have their GCC define this: longjmp then refuses to go to another stack, which is how fibers switch.
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#if defined(__USE_FORTIFY_LEVEL) && __USE_FORTIFY_LEVEL > 0
#error "a header was included before this one, and longjmp checks its stack: put_in_front (emulator.hpp) puts it behind"
#endif
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

extern "C" double cos(double) noexcept;
extern "C" double fabs(double) noexcept;
extern "C" double fma(double, double, double) noexcept;
extern "C" double sin(double) noexcept;
extern "C" double sqrt(double) noexcept;

// All that follows is a kernel's own. GCC otherwise makes one variable of all kernels' variables of a name, where these are a template's or an inline
// function's (STB_GNU_UNIQUE): a kernel that was loaded later would have the shared memory, and the counters, of one that was loaded before it.
#pragma GCC visibility push(hidden)

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __constant__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 {
    unsigned x, y, z;
};
struct float2 {
    float x, y;
} __attribute__((aligned(8)));
struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));
struct double2 {
    double x, y;
} __attribute__((aligned(16)));
struct double4 {
    double x, y, z, w;
} __attribute__((aligned(16)));
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y) {
    return {x, y};
}
inline double4 make_double4(double x, double y, double z, double w) {
    return {x, y, z, w};
}

namespace cuda_on_host {

constexpr int warp_size = 32;
constexpr std::size_t stack_bytes = 128 << 10;
constexpr std::size_t widest_value = 16;  // bytes that a lane can hand to another

[[noreturn]] void stop(const char* reason);

// Memory for plain values, which grows and does not keep them when it does.
template <typename T>
class Buffer {
  public:
    ~Buffer() { std::free(values_); }
    void resize(std::size_t size) {
        if (size > room_) {
            std::free(values_);
            values_ = static_cast<T*>(std::malloc(size * sizeof(T)));
            if (values_ == nullptr) stop("no memory");
            room_ = size;
        }
        size_ = size;
    }
    std::size_t size() const { return size_; }
    T* begin() const { return values_; }
    T* end() const { return values_ + size_; }
    T& operator[](std::size_t i) const { return values_[i]; }

  private:
    T* values_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

enum class State { runnable, at_block_barrier, at_warp_barrier, finished };

struct Fiber {
    jmp_buf place;  // where it goes on
    uint3 thread;
    int lane;
    int warp;
    State state;
    unsigned mask;  // of the warp barrier that it waits at
};

inline uint3 block_index, block_size, grid_size;
inline Buffer<Fiber> fibers;
inline Buffer<char> stacks;
inline Fiber* current = nullptr;
inline jmp_buf scheduler;         // where it goes on
inline void (*body)() = nullptr;  // the kernel with its arguments
inline Buffer<unsigned char> dynamic_shared;
inline unsigned char exchange[warp_size][warp_size][widest_value];  // [warp][lane]: what a lane offers to the others

// From a fiber to the scheduler, which comes back here. Kernels switch millions of times: swapcontext would make two system calls each time.
inline void wait(State state, unsigned mask = 0) {
    current->state = state;
    current->mask = mask;
    if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

// From the scheduler to a fiber, which comes back here.
inline void resume(Fiber& fiber) {
    current = &fiber;
    if (_setjmp(scheduler) == 0) _longjmp(fiber.place, 1);
}

// What a fiber does in its whole life: its thread of one block after another.
inline void run_blocks() {
    wait(State::finished);
    while (true) {
        body();
        wait(State::finished);
    }
}

// A stack of the fiber's own, on which it waits for the first block.
inline void start(Fiber& fiber, char* stack) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_blocks, 0);
    current = &fiber;
    if (_setjmp(scheduler) == 0) setcontext(&context);
}

inline void stop(const char* reason) {
    std::fprintf(stderr, "CUDA on the host: block (%u, %u, %u): %s\n", block_index.x, block_index.y, block_index.z, reason);
    std::abort();
}

// Releases the warp's barrier if all living lanes of its mask have arrived.
inline bool release_warp(Fiber* lanes, int count) {
    int waiting = 0;
    while (waiting < count && lanes[waiting].state != State::at_warp_barrier) ++waiting;
    if (waiting == count) return false;
    const unsigned mask = lanes[waiting].mask;
    const auto in_mask = [&](const Fiber& fiber) { return (mask >> fiber.lane & 1) != 0; };
    for (const Fiber* fiber = lanes; fiber != lanes + count; ++fiber) {
        const bool arrived = fiber->state == State::finished || (fiber->state == State::at_warp_barrier && fiber->mask == mask);
        if (in_mask(*fiber) && !arrived) return false;
    }
    for (Fiber* fiber = lanes; fiber != lanes + count; ++fiber)
        if (in_mask(*fiber) && fiber->state != State::finished) fiber->state = State::runnable;
    return true;
}

// True when some warp may go on.
inline bool release_warps() {
    bool released = false;
    for (std::size_t lane = 0; lane < fibers.size(); lane += warp_size)
        released |= release_warp(&fibers[lane], static_cast<int>(fibers.size() - lane < warp_size ? fibers.size() - lane : warp_size));
    return released;
}

inline bool release_block() {
    bool waiting = false;
    for (const auto& fiber : fibers) {
        if (fiber.state == State::at_warp_barrier) return false;
        waiting |= fiber.state == State::at_block_barrier;
    }
    for (auto& fiber : fibers)
        if (fiber.state == State::at_block_barrier) fiber.state = State::runnable;
    return waiting;
}

inline std::size_t common_divisor(std::size_t a, std::size_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

// Steps through [0, count) in an order that `round` decides.
template <typename Function>
void in_some_order(std::size_t count, unsigned round, const Function& function) {
    std::size_t step = count / 2 + 1 + round % 3;
    while (common_divisor(step, count) != 1) ++step;
    for (std::size_t i = 0; i < count; ++i) function((i * step + round) % count);
}

inline void run_block(unsigned round) {
    for (auto& fiber : fibers) fiber.state = State::runnable;
    std::memset(dynamic_shared.begin(), 0xff, dynamic_shared.size());  // NaN: shared memory starts undefined
    do {
        in_some_order(fibers.size(), round++, [](std::size_t i) {
            if (fibers[i].state == State::runnable) resume(fibers[i]);
        });
    } while (release_warps() || release_block());
    for (const auto& fiber : fibers)
        if (fiber.state != State::finished) stop("some threads wait for others that never come: a barrier or warp primitive in a divergent branch");
}

inline void make_fibers(uint3 block) {
    const std::size_t threads = std::size_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > warp_size * warp_size) stop("a block has 1 to 1024 threads");
    fibers.resize(threads);
    stacks.resize(threads * stack_bytes);
    for (std::size_t i = 0; i < threads; ++i) {
        const auto number = static_cast<unsigned>(i);
        fibers[i].thread = {number % block.x, number / block.x % block.y, number / block.x / block.y};
        fibers[i].lane = static_cast<int>(i % warp_size);
        fibers[i].warp = static_cast<int>(i / warp_size);
        start(fibers[i], &stacks[i * stack_bytes]);
    }
}

// Every block of a launch.
inline void launch(uint3 grid, uint3 block, std::size_t shared_bytes, void (*kernel)()) {
    grid_size = grid;
    block_size = block;
    body = kernel;
    make_fibers(block);
    dynamic_shared.resize(shared_bytes + 16);
    unsigned round = 0;
    in_some_order(std::size_t{grid.x} * grid.y * grid.z, grid.x + grid.y, [&](std::size_t i) {
        const auto number = static_cast<unsigned>(i);
        block_index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
        run_block(round++);
    });
}

inline void* aligned_shared() {
    return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(dynamic_shared.begin()) + 15) / 16 * 16);
}

// An array or table of the plan, for a parameter of any pointer type.
struct Pointer {
    void* address;
    template <typename T>
    operator T*() const {
        return static_cast<T*>(address);
    }
};

// A word that stops the program when it is read before it was written: GCC fills a variable that nothing initialises with bytes 0xfe, if told to.
template <typename Word>
struct Checked {
    Word word;

    Checked() = default;
    constexpr Checked(Word value) : word(value) {}
    constexpr Checked(const Checked& other) : word(other.read()) {}
    constexpr Checked& operator=(const Checked& other) {
        word = other.read();
        return *this;
    }
    constexpr operator Word() const { return read(); }
    constexpr Checked& operator+=(Word other) {
        word = read() + other;
        return *this;
    }
    constexpr Word read() const {
        if (!std::is_constant_evaluated()) {
            unsigned char bytes[sizeof(Word)];
            std::memcpy(bytes, &word, sizeof(Word));
            bool written = false;
            for (const unsigned char byte : bytes) written |= byte != 0xfe;
            if (!written) stop("reads a word of a variable before anything was written to it");
        }
        return word;
    }
};

// The type of a kernel's parameter number `index`.
template <int index, typename First, typename... Rest>
struct Nth : Nth<index - 1, Rest...> {};
template <typename First, typename... Rest>
struct Nth<0, First, Rest...> {
    using Type = First;
};
template <int index, typename... Parameters>
typename Nth<index, Parameters...>::Type parameter_of(void (*)(Parameters...));
template <int index, typename Kernel>
using Parameter = decltype(parameter_of<index>(static_cast<Kernel*>(nullptr)));

// What lane `source` of the warp offers; a lane's own value when there is no such lane.
template <typename T>
T shuffle(unsigned mask, T value, int source) {
    static_assert(sizeof(T) <= widest_value);
    auto& slots = exchange[current->warp];
    std::memcpy(slots[current->lane], &value, sizeof(T));
    wait(State::at_warp_barrier, mask);
    T result;
    std::memcpy(&result, slots[source], sizeof(T));
    wait(State::at_warp_barrier, mask);
    return result;
}

}  // namespace cuda_on_host

#define threadIdx (cuda_on_host::current->thread)
#define blockIdx (cuda_on_host::block_index)
#define blockDim (cuda_on_host::block_size)
#define gridDim (cuda_on_host::grid_size)
constexpr int warpSize = cuda_on_host::warp_size;

inline void __syncthreads() {
    cuda_on_host::wait(cuda_on_host::State::at_block_barrier);
}
// Threads take turns, and blocks run one after another.
inline void __threadfence() {
}
inline unsigned int atomicAdd(unsigned int* address, unsigned int more) {
    const unsigned int before = *address;
    *address = before + more;
    return before;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
    cuda_on_host::wait(cuda_on_host::State::at_warp_barrier, mask);
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    const int lane = cuda_on_host::current->lane;
    return cuda_on_host::shuffle(mask, value, lane / width * width + (source & (width - 1)));
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, int distance, int width = warpSize) {
    const int lane = cuda_on_host::current->lane;
    return cuda_on_host::shuffle(mask, value, lane % width < distance ? lane : lane - distance);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, int distance, int width = warpSize) {
    const int lane = cuda_on_host::current->lane;
    return cuda_on_host::shuffle(mask, value, lane % width + distance >= width ? lane : lane + distance);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = warpSize) {
    const int lane = cuda_on_host::current->lane;
    return cuda_on_host::shuffle(mask, value, lane / width * width + ((lane ^ bits) & (width - 1)));
}

// Of CUDA's functions those that kernels call; in double precision they are the C library's.
inline float cos(float value) {
    return __builtin_cosf(value);
}
inline float fabs(float value) {
    return __builtin_fabsf(value);
}
inline float fma(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
inline float sin(float value) {
    return __builtin_sinf(value);
}
inline float sqrt(float value) {
    return __builtin_sqrtf(value);
}
inline double rsqrt(double value) {
    return 1 / sqrt(value);
}
inline float rsqrt(float value) {
    return 1 / sqrt(value);
}

inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

// Products that are rounded by themselves: without the detour the host's compiler joins them with the sum that they go into.
inline float __fmul_rn(float a, float b) {
    volatile float product = a * b;
    return product;
}
inline double __dmul_rn(double a, double b) {
    volatile double product = a * b;
    return product;
}

template <typename T>
T __ldg(const T* address) {
    return *address;
}
template <typename T>
T __ldcs(const T* address) {
    return *address;
}
template <typename T>
T __ldcg(const T* address) {
    return *address;
}
template <typename T>
void __stcs(T* address, T value) {
    *address = value;
}
template <typename T>
void __stcg(T* address, T value) {
    *address = value;
}
template <typename A, typename B>
auto min(A a, B b) {
    return a < b ? a : b;
}
template <typename A, typename B>
auto max(A a, B b) {
    return a < b ? b : a;
}
template <typename Word>
Word fma(const cuda_on_host::Checked<Word>& a, const std::type_identity_t<Word>& b, const std::type_identity_t<Word>& c) {
    return fma(a.read(), b, c);
}
template <typename Word>
Word fma(const Word& a, const cuda_on_host::Checked<Word>& b, const std::type_identity_t<Word>& c) {
    return fma(a, b.read(), c);
}
