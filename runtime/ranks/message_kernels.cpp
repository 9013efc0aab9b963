#include "runtime/ranks/message_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

// Loads of a thread that are under way together, and as many blocks as store as fast as the links
// between GPUs take it.
constexpr int block_threads = 256, at_once = 4, most_blocks = 128;

constexpr const char* packing = R"cpp(
    // Behind it the block finds the flag at the value or beyond.
    __device__ void await(unsigned* flag, int value) {
        if (flag == nullptr) return;
        if (threadIdx.x == 0) {
            while ((int)(*(volatile unsigned*)flag - (unsigned)value) < 0) {
            }
            __threadfence_system();
        }
        __syncthreads();
    }

    // between(): once, when the block's first words are on their way here and none has been stored.
    template <typename Load, typename Between, typename Store>
    __device__ __forceinline__ void carry(int words, Load load, Between between, Store store) {
        const int step = gridDim.x * blockDim.x, begin = blockIdx.x * blockDim.x;
        for (int block = begin; block < words; block += at_once * step) {
            const int n = block + threadIdx.x;
            word found[at_once];
            for (int i = 0; i < at_once; ++i)
                if (n + i * step < words) found[i] = load(n + i * step);
            if (block == begin) between();
            for (int i = 0; i < at_once; ++i)
                if (n + i * step < words) store(n + i * step, found[i]);
        }
    }

    extern "C" __global__ void put(word* field, const long long* places, word* message, unsigned* awaited, unsigned* raised, unsigned* done,
                                   int words, int awaited_value, int raised_value) {
        carry(
            words, [=](int n) { return field[places == nullptr ? n : places[n]]; }, [=] { await(awaited, awaited_value); },
            [=](int n, word value) { message[n] = value; });
        if (raised == nullptr) return;
        // Each thread's words are there before the flag.
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x != 0 || atomicAdd(done, 1u) != gridDim.x - 1) return;
        *done = 0;
        __threadfence_system();
        *(volatile unsigned*)raised = (unsigned)raised_value;
    }

    extern "C" __global__ void take(word* field, const long long* places, word* message, unsigned* awaited, unsigned*, unsigned*, int words,
                                    int awaited_value, int) {
        await(awaited, awaited_value);
        carry(
            words, [=](int n) { return message[n]; }, [] {}, [=](int n, word value) { field[places == nullptr ? n : places[n]] = value; });
    }
)cpp";

// Words that follow each other travel sixteen bytes at a time where they can.
int bytes_at_once(const MessageWords& words, const std::byte* message) {
    const auto begins_well = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; };
    const bool wide = words.places == nullptr && words.count * words.bytes % 16 == 0 && begins_well(words.field) && begins_well(message);
    return wide ? 16 : words.bytes;
}

}  // namespace

MessageKernels::MessageKernels(Backend& backend, Stream stream) : backend_(backend), stream_(stream) {
}

const MessageKernels::Loaded& MessageKernels::loaded(int word_bytes) {
    Loaded& found = of_words_.at(static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(word_bytes)) - 2));
    if (found.module != nullptr) return found;
    const KernelSource source = kernels(word_bytes);
    const CompileOutcome outcome = backend_.compiler().compile(source);
    if (!outcome.ok) throw Error("the kernels that make messages", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    found.module = backend_.load(outcome.code);
    std::transform(source.entries.begin(), source.entries.end(), found.entries.begin(),
                   [&](const std::string& name) { return found.module->entry(name); });
    if (done_.data() == nullptr) {
        done_ = DeviceArray(backend_, sizeof(std::uint32_t));
        backend_.fill(done_.data(), 0, done_.bytes(), stream_);
    }
    return found;
}

void MessageKernels::launch(std::size_t entry, const MessageWords& words, std::byte* message, MessageFlag awaited, MessageFlag raised) {
    if (words.count == 0 && awaited.word == nullptr && raised.word == nullptr) return;
    const int bytes = bytes_at_once(words, message);
    const Loaded& with = loaded(bytes);
    void *field = words.field, *to = message, *done = done_.data();
    const void* places = words.places;
    int count = static_cast<int>(words.count * words.bytes / bytes), awaited_value = static_cast<int>(awaited.value),
        raised_value = static_cast<int>(raised.value);
    std::array<void*, 9> arguments{static_cast<void*>(&field),
                                   static_cast<void*>(&places),
                                   static_cast<void*>(&to),
                                   static_cast<void*>(&awaited.word),
                                   static_cast<void*>(&raised.word),
                                   static_cast<void*>(&done),
                                   &count,
                                   &awaited_value,
                                   &raised_value};
    const int blocks = std::clamp((count + block_threads * at_once - 1) / (block_threads * at_once), 1, most_blocks);
    with.module->launch(with.entries.at(entry), {blocks, 1, 1}, {block_threads, 1, 1}, 0, stream_, arguments.data());
}

void MessageKernels::put(const MessageWords& words, std::byte* message, MessageFlag raise, MessageFlag await) {
    launch(0, words, message, await, raise);
}
void MessageKernels::take(const MessageWords& words, const std::byte* message, MessageFlag await) {
    launch(1, words, const_cast<std::byte*>(message), await, {});
}

KernelSource MessageKernels::kernels(int word_bytes) {
    KernelSource source;
    source.target = Target::cuda;
    source.precision = word_bytes == 4 ? Precision::f32 : Precision::f64;
    source.text = fmt::format("// Words of a message: from their places in a field, and back.\nusing word = {};\nconstexpr int at_once = {};\n{}",
                              word_bytes == 4   ? "unsigned int"
                              : word_bytes == 8 ? "unsigned long long"
                                                : "uint4",
                              at_once, packing);
    for (const char* const name : {"field", "places", "message", "awaited", "raised", "done"})
        source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* const name : {"put", "take"}) {
        source.entries.emplace_back(name);
        Launch launch;
        launch.entry = name;
        launch.block = {block_threads, 1, 1};
        launch.constants = {0};
        source.step.push_back(launch);
    }
    return source;
}

}  // namespace hone::inline v0_1
