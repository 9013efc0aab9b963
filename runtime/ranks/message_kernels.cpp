#include "runtime/ranks/message_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/error.hpp"

namespace hone::inline v0_1 {
namespace {

// Loads of a thread that are under way together, and as many blocks as store as fast as the links
// between GPUs take it.
constexpr int block_threads = 256, at_once = 4, most_blocks = 128;

constexpr const char* text = R"cpp(
    template <typename Load, typename Store>
    __device__ __forceinline__ void carry(int words, Load load, Store store) {
        const int step = gridDim.x * blockDim.x;
        for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < words; n += at_once * step) {
            word found[at_once];
            for (int i = 0; i < at_once; ++i)
                if (n + i * step < words) found[i] = load(n + i * step);
            for (int i = 0; i < at_once; ++i)
                if (n + i * step < words) store(n + i * step, found[i]);
        }
    }

    extern "C" __global__ void put(word* field, const long long* places, word* message, unsigned* flag, unsigned* done, int words, int number) {
        carry(
            words, [=](int n) { return field[places == nullptr ? n : places[n]]; }, [=](int n, word value) { message[n] = value; });
        if (flag == nullptr) return;
        // Each thread's words are there before the flag.
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x != 0 || atomicAdd(done, 1u) != gridDim.x - 1) return;
        *done = 0;
        __threadfence_system();
        *(volatile unsigned*)flag = (unsigned)number;
    }

    extern "C" __global__ void take(word* field, const long long* places, word* message, unsigned* flag, unsigned* done, int words, int number) {
        if (flag != nullptr) {
            if (threadIdx.x == 0) {
                while ((int)(*(volatile unsigned*)flag - (unsigned)number) < 0) {
                }
                __threadfence_system();
            }
            __syncthreads();
        }
        carry(
            words, [=](int n) { return message[n]; }, [=](int n, word value) { field[places == nullptr ? n : places[n]] = value; });
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

void MessageKernels::launch(std::size_t entry, const MessageWords& words, std::byte* message, MessageFlag flag) {
    if (words.count == 0 && flag.word == nullptr) return;
    const int bytes = bytes_at_once(words, message);
    const Loaded& with = loaded(bytes);
    void *field = words.field, *to = message, *flag_word = flag.word, *done = done_.data();
    const void* places = words.places;
    int count = static_cast<int>(words.count * words.bytes / bytes), number = static_cast<int>(flag.value);
    std::array<void*, 7> arguments{static_cast<void*>(&field),
                                   static_cast<void*>(&places),
                                   static_cast<void*>(&to),
                                   static_cast<void*>(&flag_word),
                                   static_cast<void*>(&done),
                                   &count,
                                   &number};
    const int blocks = std::clamp((count + block_threads * at_once - 1) / (block_threads * at_once), 1, most_blocks);
    with.module->launch(with.entries.at(entry), {blocks, 1, 1}, {block_threads, 1, 1}, 0, stream_, arguments.data());
}

void MessageKernels::put(const MessageWords& words, std::byte* message, MessageFlag raise) {
    launch(0, words, message, raise);
}
void MessageKernels::take(const MessageWords& words, const std::byte* message, MessageFlag await) {
    launch(1, words, const_cast<std::byte*>(message), await);
}

KernelSource MessageKernels::kernels(int word_bytes) {
    KernelSource source;
    source.target = Target::cuda;
    source.precision = word_bytes == 4 ? Precision::f32 : Precision::f64;
    source.text = fmt::format("// Words of a message: from their places in a field, and back.\nusing word = {};\nconstexpr int at_once = {};\n{}",
                              word_bytes == 4   ? "unsigned int"
                              : word_bytes == 8 ? "unsigned long long"
                                                : "uint4",
                              at_once, text);
    for (const char* const name : {"field", "places", "message", "flag", "done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* const name : {"put", "take"}) {
        source.entries.emplace_back(name);
        Launch launch;
        launch.entry = name;
        launch.block = {block_threads, 1, 1};
        source.step.push_back(launch);
    }
    return source;
}

}  // namespace hone::inline v0_1
