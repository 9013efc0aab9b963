#include "runtime/ranks/peer_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "generator/error.hpp"
#include "runtime/peer_memory.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int block_threads = 256, most_blocks = 128;
constexpr std::int64_t word = 4, alignment = 256;

// A gathering may be in one rank's memory while that rank still reads the last one; none is two ahead, for it waits for all in between.
constexpr int slots = 2;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

constexpr const char* text = R"cpp(
    extern "C" __global__ void share(const unsigned* own, unsigned* const* boxes, unsigned* done, int first, int last, int ranks, int rank, int data,
                                     int flags, int epoch) {
        for (int n = first + blockIdx.x * blockDim.x + threadIdx.x; n < last; n += gridDim.x * blockDim.x) {
            const unsigned word = own[n];
            for (int other = 0; other < ranks; ++other) boxes[other][data + n] = word;
        }
        // Each thread's words are there before any flag.
        __threadfence_system();
        __syncthreads();
        __shared__ int is_last;
        if (threadIdx.x == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
        __syncthreads();
        if (!is_last) return;
        if (threadIdx.x == 0) *done = 0;
        __threadfence_system();
        for (int other = threadIdx.x; other < ranks; other += blockDim.x) *(volatile unsigned*)(boxes[other] + flags + rank) = (unsigned)epoch;
        for (int other = threadIdx.x; other < ranks; other += blockDim.x)
            while (*(volatile unsigned*)(boxes[rank] + flags + other) != (unsigned)epoch) {
            }
        __threadfence_system();
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
    std::vector<std::unique_ptr<PeerBox>> boxes;  // [rank]: the own one, and the others' as this device sees them
    DeviceArray pointers, done;
    int epoch = 0;

    State(Communicator& ranks, Backend& of, const std::vector<std::int64_t>& with)
        : communicator(ranks), backend(of), bytes(with), flag_bytes(aligned(word * std::ssize(with))) {
        const auto own = bytes.begin() + ranks.rank();
        begin = std::accumulate(bytes.begin(), own, std::int64_t{0});
        slot_bytes = flag_bytes + aligned(std::accumulate(own, bytes.end(), begin));
    }

    std::size_t rank() const { return static_cast<std::size_t>(communicator.rank()); }
    bool fits() const {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        return slot_bytes < most && std::all_of(bytes.begin(), bytes.end(), [](std::int64_t count) { return count % word == 0; });
    }

    // Makes the own box with no flag set. Returns what the others open it by; nothing where there is no way.
    std::vector<std::byte> make_own() {
        boxes.resize(bytes.size());
        if (!fits() || backend.peers() == nullptr) return {};
        try {
            boxes[rank()] = backend.peers()->make(slots * slot_bytes);
            backend.fill(boxes[rank()]->memory(), 0, slots * slot_bytes);
            backend.synchronise();
            return boxes[rank()]->ticket();
        } catch (const Error&) {
            return {};
        }
    }
    bool open(std::size_t other, std::span<const std::byte> ticket) {
        if (other == rank()) return true;
        try {
            boxes[other] = backend.peers()->open(ticket);
        } catch (const Error&) {
            return false;
        }
        return boxes[other]->is_apart();
    }
    bool load() {
        const CompileOutcome outcome = backend.compiler().compile(PeerWords::kernel());
        if (!outcome.ok) return false;
        module = backend.load(outcome.code);
        entry = module->entry("share");
        std::vector<std::uint64_t> addresses(boxes.size());
        std::transform(boxes.begin(), boxes.end(), addresses.begin(),
                       [](const auto& box) { return reinterpret_cast<std::uintptr_t>(box->memory()); });
        pointers = DeviceArray(backend, static_cast<std::int64_t>(addresses.size() * sizeof addresses[0]));
        backend.copy(pointers.data(), addresses.data(), pointers.bytes());
        done = DeviceArray(backend, word);
        backend.fill(done.data(), 0, word);
        backend.synchronise();
        return true;
    }

    // On all ranks, or on none.
    bool connect() {
        const std::vector<std::byte> own = make_own();
        std::vector<double> lengths(bytes.size());
        const auto length = static_cast<double>(own.size());
        communicator.all_gather({&length, 1}, equal_counts(communicator, 1), lengths);
        if (*std::min_element(lengths.begin(), lengths.end()) == 0) return false;
        // Bytes travel as whole words, all tickets as long as the longest.
        const auto words = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()) + sizeof(double) - 1) / sizeof(double);
        std::vector<double> ticket(words), all(words * bytes.size());
        std::memcpy(ticket.data(), own.data(), own.size());
        communicator.all_gather(ticket, equal_counts(communicator, static_cast<int>(words)), all);
        bool good = true;
        for (std::size_t other = 0; good && other < bytes.size(); ++other)
            good = open(other, std::as_bytes(std::span(all).subspan(other * words, words)).first(static_cast<std::size_t>(lengths[other])));
        good = good && load();
        return all_reduce(communicator, Reduction::smallest, good ? 1 : 0) > 0;
    }

    const void* gather(const void* own) {
        // Whatever the memory was used for before, no flag has this number.
        ++epoch;
        const std::int64_t slot = epoch % slots * slot_bytes, place = slot + flag_bytes;
        void *boxes_of = pointers.data(), *counter = done.data();
        int first = 0, last = static_cast<int>(bytes[rank()] / word), ranks = static_cast<int>(bytes.size()), own_rank = communicator.rank();
        int data = static_cast<int>((place + begin) / word), flags = static_cast<int>(slot / word), number = epoch;
        std::array<void*, 10> arguments{static_cast<void*>(&own),
                                        static_cast<void*>(&boxes_of),
                                        static_cast<void*>(&counter),
                                        &first,
                                        &last,
                                        &ranks,
                                        &own_rank,
                                        &data,
                                        &flags,
                                        &number};
        const std::int64_t blocks = std::clamp((last + 4 * block_threads - 1) / (4 * block_threads), 1, most_blocks);
        module->launch(entry, {blocks, 1, 1}, {block_threads, 1, 1}, 0, {}, arguments.data());
        return boxes[rank()]->memory() + place;
    }
};

PeerWords::PeerWords(std::unique_ptr<State> state) : state_(std::move(state)) {
}
PeerWords::~PeerWords() {
    if (state_->epoch > 0) try {
            state_->backend.synchronise();  // whoever stores here, and what is stored from here, is done
        } catch (const Error&) {            // the device is lost; the run ends by whoever saw it first
        }
}

std::unique_ptr<PeerWords> PeerWords::make(Communicator& communicator, Backend& backend, const std::vector<std::int64_t>& bytes) {
    auto state = std::make_unique<State>(communicator, backend, bytes);
    return state->connect() ? std::unique_ptr<PeerWords>(new PeerWords(std::move(state))) : nullptr;
}

const void* PeerWords::gather(const void* own) {
    return state_->gather(own);
}

KernelSource PeerWords::kernel() {
    KernelSource source;
    source.target = Target::cuda;
    source.precision = Precision::f32;
    source.text = std::string("// Words of all ranks in the memory of each.\n") + text;
    for (const char* const name : {"own", "boxes", "done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {};
    source.entries = {"share"};
    Launch launch;
    launch.entry = "share";
    launch.block = {block_threads, 1, 1};
    launch.constants = std::vector<int>(5);
    source.step.push_back(launch);
    return source;
}

}  // namespace hone::inline v0_1
