#include "runtime/ranks/peer_words.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "runtime/ranks/peer_arrays.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int block_threads = 256, most_blocks = 128;
constexpr std::int64_t word = 4, alignment = 256;

// A gathering may be in one rank's memory while that rank still reads the last one; none is two
// ahead, for it waits for all in between.
constexpr int slots = 2;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

constexpr const char* functions = R"cpp(
    // The own words to their place in the memory of all ranks, by all threads of a launch; the block that is the last one to have done so raises this
    // rank's flag everywhere, and gets true.
    template <typename Word>
    __device__ __forceinline__ bool share_words(const Word* own, int words, unsigned* const* boxes, unsigned* done, int ranks, int rank, int data,
                                                int flags, int epoch) {
        constexpr int at_once = 4;
        const int step = gridDim.x * blockDim.x;
        for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < words; n += at_once * step) {
            Word found[at_once];
            for (int i = 0; i < at_once; ++i)
                if (n + i * step < words) found[i] = own[n + i * step];
            for (int other = 0; other < ranks; ++other) {
                Word* const there = (Word*)(boxes[other] + data);
                for (int i = 0; i < at_once; ++i)
                    if (n + i * step < words) there[n + i * step] = found[i];
            }
        }
        // Each thread's words are there before any flag.
        __threadfence_system();
        __syncthreads();
        __shared__ int is_last;
        if (threadIdx.x == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
        __syncthreads();
        if (!is_last) return false;
        if (threadIdx.x == 0) *done = 0;
        __threadfence_system();
        for (int other = threadIdx.x; other < ranks; other += blockDim.x) *(volatile unsigned*)(boxes[other] + flags + rank) = (unsigned)epoch;
        return true;
    }

    // Afterwards a block finds the words of all ranks in the own memory.
    __device__ __forceinline__ void await_words(unsigned* const* boxes, int ranks, int rank, int flags, int epoch) {
        for (int other = threadIdx.x; other < ranks; other += blockDim.x)
            while (*(volatile unsigned*)(boxes[rank] + flags + other) != (unsigned)epoch) {
            }
        __threadfence_system();
        __syncthreads();
    }
)cpp";

constexpr const char* exchange = R"cpp(
    extern "C" __global__ void share(const unsigned* own, unsigned* const* boxes, unsigned* done, int words, int ranks, int rank, int data, int flags,
                                     int epoch) {
        if (share_words(own, words, boxes, done, ranks, rank, data, flags, epoch)) await_words(boxes, ranks, rank, flags, epoch);
    }
)cpp";

}  // namespace

struct PeerWords::State {
    Communicator& communicator;
    Backend& backend;
    std::vector<std::int64_t> bytes;
    std::int64_t begin = 0;  // of the own words
    std::int64_t flag_bytes, slot_bytes;
    std::unique_ptr<Module> module;
    int entry = 0;
    std::unique_ptr<PeerArrays> arrays;
    DeviceArray done;
    int epoch = 0;

    State(Communicator& ranks, Backend& of, const std::vector<std::int64_t>& with)
        : communicator(ranks), backend(of), bytes(with), flag_bytes(aligned(word * std::ssize(with))) {
        const auto own = bytes.begin() + ranks.rank();
        begin = std::accumulate(bytes.begin(), own, std::int64_t{0});
        slot_bytes = flag_bytes + aligned(std::accumulate(own, bytes.end(), begin));
    }

    bool fits() const {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        return slot_bytes < most && std::all_of(bytes.begin(), bytes.end(), [](std::int64_t count) { return count % word == 0; });
    }
    bool load() {
        const CompileOutcome outcome = backend.compiler().compile(PeerWords::kernel());
        if (!outcome.ok) return false;
        module = backend.load(outcome.code);
        entry = module->entry("share");
        done = DeviceArray(backend, word);
        backend.fill(done.data(), 0, word);
        backend.synchronise();
        return true;
    }

    // On all ranks, or on none.
    bool connect() {
        arrays = PeerArrays::make(communicator, backend, fits() ? slots * slot_bytes : 0);
        const bool good = arrays != nullptr && load();
        return all_reduce(communicator, Reduction::smallest, good ? 1 : 0) > 0;
    }

    Turn next() {
        // Whatever the memory was used for before, no flag has this number.
        ++epoch;
        const std::int64_t slot = epoch % slots * slot_bytes, place = slot + flag_bytes;
        return {arrays->all(),
                done.data(),
                arrays->own() + place,
                static_cast<int>(bytes[static_cast<std::size_t>(communicator.rank())] / word),
                static_cast<int>(bytes.size()),
                communicator.rank(),
                static_cast<int>((place + begin) / word),
                static_cast<int>(slot / word),
                epoch};
    }

    const void* gather(const void* own) {
        Turn turn = next();
        std::array<void*, 9> arguments{static_cast<void*>(&own),
                                       static_cast<void*>(&turn.boxes),
                                       static_cast<void*>(&turn.done),
                                       &turn.words,
                                       &turn.ranks,
                                       &turn.rank,
                                       &turn.data,
                                       &turn.flags,
                                       &turn.epoch};
        const std::int64_t blocks = std::clamp((turn.words + 4 * block_threads - 1) / (4 * block_threads), 1, most_blocks);
        module->launch(entry, {blocks, 1, 1}, {block_threads, 1, 1}, 0, {}, arguments.data());
        return turn.all;
    }
};

PeerWords::PeerWords(std::unique_ptr<State> state) : state_(std::move(state)) {
}
PeerWords::~PeerWords() = default;

std::unique_ptr<PeerWords> PeerWords::make(Communicator& communicator, Backend& backend, const std::vector<std::int64_t>& bytes) {
    auto state = std::make_unique<State>(communicator, backend, bytes);
    return state->connect() ? std::unique_ptr<PeerWords>(new PeerWords(std::move(state))) : nullptr;
}

const void* PeerWords::gather(const void* own) {
    return state_->gather(own);
}

PeerWords::Turn PeerWords::next() {
    return state_->next();
}

std::string PeerWords::device_functions() {
    return functions;
}

KernelSource PeerWords::kernel() {
    KernelSource source;
    source.target = Target::cuda;
    source.precision = Precision::f32;
    source.text = std::string("// Words of all ranks in the memory of each.\n") + functions + exchange;
    for (const char* const name : {"own", "boxes", "done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {};
    source.entries = {"share"};
    Launch launch;
    launch.entry = "share";
    launch.block = {block_threads, 1, 1};
    launch.constants = std::vector<int>(4);
    source.step.push_back(launch);
    return source;
}

}  // namespace hone::inline v0_1
