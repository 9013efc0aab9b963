#include "runtime/hybrid_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "foundation/error.hpp"
#include "runtime/hybrid_thread.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

// Copies between a GPU and the application's memory, which is not page-locked, go through
// page-locked memory in pieces of this size at least.
constexpr std::int64_t least_stage_bytes = std::int64_t{4} << 20;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Units {
    std::int64_t first = 0;
    std::int64_t last = 0;

    bool empty() const { return first >= last; }
};

// A device with its arrays.
struct Side {
    Backend* backend = nullptr;
    std::shared_ptr<const Kernel> kernel;
    bool in_place = false;
    bool on_host = false;  ///< its memory is the host's
    std::vector<void*> arrays;
    std::vector<DeviceArray> copies;
    std::unique_ptr<BoundKernel> bound;
    std::unique_ptr<StopWatch> watch;

    void start(const Units& launched) {
        watch->start({});
        bound->launch(launched.first, launched.last);
        watch->stop({});
    }
};

// Page-locked memory of a GPU's backend.
class Stage {
  public:
    Stage(Backend& backend, std::int64_t bytes) : backend_(&backend), bytes_(bytes), data_(backend.allocate_pinned(bytes)) {}
    ~Stage() { backend_->free_pinned(data_); }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    void* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }

  private:
    Backend* backend_;
    std::int64_t bytes_;
    void* data_;
};

void* at(void* array, std::int64_t bytes) {
    return static_cast<char*>(array) + bytes;
}

}  // namespace

struct HybridKernel::State {
    Partition partition;
    std::int64_t range = 0;
    std::int64_t units = 0;     ///< of the first device
    std::int64_t computed = 0;  ///< the same, in the last step: who has the results that no step reads
    std::vector<ArraySpec> specs;
    std::int64_t word = 0;  ///< bytes
    std::vector<void*> host;
    std::array<Side, 2> sides;
    std::unique_ptr<Stage> stage;
    std::unique_ptr<HybridThread> thread;
    Transfers exchanged;
    Transfers moved;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    // Before the memory that queued copies use is given back.
    ~State() {
        for (const Side& side : sides)
            if (side.backend != nullptr) finish(*side.backend);
    }
    static void finish(Backend& backend) noexcept {
        try {
            backend.synchronise();
        } catch (...) {  // the error belongs to work that was thrown for already
        }
    }

    // A GPU and a processor: what the GPU exchanges can be queued.
    bool mixed() const { return sides[0].on_host != sides[1].on_host; }
    Units owned(std::size_t side, std::int64_t split) const { return side == 0 ? Units{0, split} : Units{split, range}; }
    Units launched(std::size_t side) const {
        const Units own = owned(side, units);
        if (own.empty()) return own;
        return {std::max<std::int64_t>(0, own.first - partition.extra_below), std::min(range, own.last + partition.extra_above)};
    }

    void make_side(std::size_t index, const HybridSide& given, std::span<void* const> arrays, bool in_place);
    void upload(Side& side);
    void copy(const Side& from, const Side& to, void* target, const void* source, std::int64_t bytes);
    // What the other side of `from` reads beyond the interface.
    Units halo(std::size_t from) const {
        const Units part = from == 0 ? Units{units - partition.halo_below, units} : Units{units, units + partition.halo_above};
        return {std::max<std::int64_t>(0, part.first), std::min(range, part.last)};
    }
    template <typename Visit>
    void pieces(const Units& part, const Visit& visit) const;
    std::int64_t transfer(std::size_t from, std::size_t to, const Units& part);
    void queue_halo();
    void exchange();
    std::int64_t exchange_queued();
    void check(std::int64_t wanted) const;
};

void HybridKernel::State::make_side(std::size_t index, const HybridSide& given, std::span<void* const> arrays, bool in_place) {
    Side& side = sides.at(index);
    side.backend = given.backend;
    side.kernel = given.kernel;
    side.on_host = traits_of(given.backend->device().limits.target).host_memory;
    side.in_place = in_place;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (!in_place) side.copies.emplace_back(*side.backend, specs[i].words * word);
        side.arrays.push_back(in_place ? arrays[i] : side.copies.back().data());
    }
    side.watch = side.backend->make_stop_watch();
    upload(side);
    side.bound = std::make_unique<BoundKernel>(side.kernel, side.arrays);
    side.backend->synchronise();
    if (side.on_host || stage) return;
    std::int64_t bytes = 0;
    pieces({0, std::min(range, partition.halo_below + partition.halo_above)}, [&](std::size_t, std::int64_t, std::int64_t of) { bytes += of; });
    stage = std::make_unique<Stage>(*side.backend, std::max(least_stage_bytes, bytes));
}

void HybridKernel::State::upload(Side& side) {
    if (side.in_place) return;
    for (std::size_t i = 0; i < specs.size(); ++i) side.backend->copy(side.arrays[i], host[i], bytes_of(specs[i], side.kernel->source().precision));
    side.backend->synchronise();
}

// From one device's memory to the other's, or to or from the host's.
void HybridKernel::State::copy(const Side& from, const Side& to, void* target, const void* source, std::int64_t bytes) {
    if (from.on_host && to.on_host) {
        to.backend->copy(target, source, bytes);
        return;
    }
    if (!from.on_host) from.backend->synchronise();  // queued copies use the stage too
    if (!to.on_host) to.backend->synchronise();
    for (std::int64_t done = 0; done < bytes; done += stage->bytes()) {
        const std::int64_t piece = std::min(stage->bytes(), bytes - done);
        const void* piece_of_source = static_cast<const char*>(source) + done;
        if (from.on_host) {
            from.backend->copy(stage->data(), piece_of_source, piece);
        } else {
            from.backend->copy(stage->data(), piece_of_source, piece);
            from.backend->synchronise();
        }
        if (to.on_host) {
            to.backend->copy(at(target, done), stage->data(), piece);
        } else {
            to.backend->copy(at(target, done), stage->data(), piece);
            to.backend->synchronise();
        }
    }
}

// Calls visit(array, bytes before, bytes) for every piece of some units of the arrays that steps
// both read and write.
template <typename Visit>
void HybridKernel::State::pieces(const Units& part, const Visit& visit) const {
    if (part.empty()) return;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].access != Access::inout) continue;
        const Slices& slices = specs[i].slices;
        for (std::int64_t block = 0; block < slices.blocks; ++block) {
            const std::int64_t offset = slices.offset + block * slices.block_stride + part.first * slices.words_per_unit;
            visit(i, offset * word, (part.last - part.first) * slices.words_per_unit * word);
        }
    }
}

// Returns the bytes.
std::int64_t HybridKernel::State::transfer(std::size_t from, std::size_t to, const Units& part) {
    std::int64_t total = 0;
    pieces({std::max<std::int64_t>(0, part.first), std::min(range, part.last)}, [&](std::size_t i, std::int64_t offset, std::int64_t bytes) {
        copy(sides.at(from), sides.at(to), at(sides.at(to).arrays[i], offset), at(sides.at(from).arrays[i], offset), bytes);
        total += bytes;
    });
    return total;
}

// Behind the GPU's kernels, so that what the processor will read is in page-locked memory when both
// are done.
void HybridKernel::State::queue_halo() {
    if (!mixed() || units == 0 || units == range) return;
    const std::size_t gpu = sides[0].on_host ? 1 : 0;
    std::int64_t staged = 0;
    pieces(halo(gpu), [&](std::size_t i, std::int64_t offset, std::int64_t bytes) {
        sides.at(gpu).backend->copy(at(stage->data(), staged), at(sides.at(gpu).arrays[i], offset), bytes);
        staged += bytes;
    });
}

// The rest of it, and the way back, which the next step's kernels wait for.
std::int64_t HybridKernel::State::exchange_queued() {
    const std::size_t gpu = sides[0].on_host ? 1 : 0;
    const Side& device = sides.at(gpu);
    const Side& processor = sides.at(1 - gpu);
    device.backend->synchronise();
    std::int64_t staged = 0;
    pieces(halo(gpu), [&](std::size_t i, std::int64_t offset, std::int64_t bytes) {
        processor.backend->copy(at(processor.arrays[i], offset), at(stage->data(), staged), bytes);
        staged += bytes;
    });
    pieces(halo(1 - gpu), [&](std::size_t i, std::int64_t offset, std::int64_t bytes) {
        processor.backend->copy(at(stage->data(), staged), at(processor.arrays[i], offset), bytes);
        device.backend->copy(at(device.arrays[i], offset), at(stage->data(), staged), bytes);
        staged += bytes;
    });
    return staged;
}

// What one device computed for itself beyond the interface gives way to what its owner has.
void HybridKernel::State::exchange() {
    if (units == 0 || units == range) return;
    const auto begin = Clock::now();
    const std::int64_t bytes = mixed() ? exchange_queued() : transfer(1, 0, halo(1)) + transfer(0, 1, halo(0));
    if (bytes == 0) return;
    exchanged.bytes += bytes;
    exchanged.seconds += since(begin);
}

void HybridKernel::State::check(std::int64_t wanted) const {
    if (0 <= wanted && (wanted == range || (wanted < range && wanted % partition.granularity == 0))) return;
    throw Error("shared step", fmt::format("{} units for the first device", wanted),
                fmt::format("use multiples of {} up to {}, or {}", partition.granularity, range, range));
}

HybridKernel::HybridKernel(const Family& family, const HybridSide& first, const HybridSide& second, std::span<void* const> arrays, std::int64_t units)
    : state_(std::make_unique<State>()) {
    const Problem& problem = first.kernel->problem();
    const std::string where = "shared step of " + problem.key();
    if (second.kernel->problem() != problem)
        throw Error(where, "the other kernel computes " + second.kernel->problem().key(), "give both one problem");
    if (!family.partition) throw Error(where, "a step of " + family.name + " cannot be divided", "use one device");
    State& state = *state_;
    state.partition = family.partition(problem);
    state.range = first.kernel->range();
    state.specs = family.arrays(problem);
    state.word = bytes_per_word(problem.precision());
    state.host.assign(arrays.begin(), arrays.end());
    if (arrays.size() != state.specs.size()) throw Error(where, fmt::format("{} arrays", arrays.size()), fmt::format("give {}", state.specs.size()));
    for (const auto& spec : state.specs)
        if (spec.access != Access::in && spec.slices.words_per_unit == 0)
            throw Error(where, "array " + spec.name + " is written and belongs to no part", "state its slices in the family");
    state.check(units);
    state.units = units;
    state.computed = units;
    const auto on_host = [](const HybridSide& side) { return traits_of(side.backend->device().limits.target).host_memory; };
    const bool second_in_place = on_host(second);
    state.make_side(0, first, arrays, on_host(first) && !second_in_place);
    state.make_side(1, second, arrays, second_in_place);
    if (on_host(first) && second_in_place) state.thread = std::make_unique<HybridThread>();
}

HybridKernel::~HybridKernel() = default;
HybridKernel::HybridKernel(HybridKernel&&) noexcept = default;
HybridKernel& HybridKernel::operator=(HybridKernel&&) noexcept = default;

std::int64_t HybridKernel::range() const {
    return state_->range;
}
std::int64_t HybridKernel::granularity() const {
    return state_->partition.granularity;
}
std::int64_t HybridKernel::units() const {
    return state_->units;
}
const Transfers& HybridKernel::exchanged() const {
    return state_->exchanged;
}
const Transfers& HybridKernel::moved() const {
    return state_->moved;
}

std::int64_t HybridKernel::bytes_per_unit() const {
    std::int64_t words = 0;
    for (const auto& spec : state_->specs)
        if (spec.access == Access::inout) words += spec.slices.blocks * spec.slices.words_per_unit;
    return words * state_->word;
}

HybridStep HybridKernel::step() {
    State& state = *state_;
    const auto begin = Clock::now();
    const std::array<Units, 2> parts{state.launched(0), state.launched(1)};
    const auto start = [&](std::size_t side) {
        if (!parts.at(side).empty()) state.sides.at(side).start(parts.at(side));
    };
    // A processor that has a thread of its own, and GPUs, work while the caller's thread does the
    // rest.
    const bool apart = state.thread && !parts[0].empty() && !parts[1].empty();
    if (apart) state.thread->begin([&] { start(0); });
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
        if (!state.sides.at(side).on_host) start(side);
    state.queue_halo();
    try {
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
            if (state.sides.at(side).on_host && !(apart && side == 0)) start(side);
    } catch (...) {
        if (apart) state.thread->wait();
        throw;
    }
    if (apart) state.thread->end();
    HybridStep times;
    if (!parts[0].empty()) times.first = state.sides[0].watch->wait();
    if (!parts[1].empty()) times.second = state.sides[1].watch->wait();
    const double before = state.exchanged.seconds;
    state.exchange();
    state.computed = state.units;
    times.exchange = state.exchanged.seconds - before;
    times.step = since(begin);
    return times;
}

void HybridKernel::set_units(std::int64_t units) {
    State& state = *state_;
    state.check(units);
    const auto begin = Clock::now();
    const std::int64_t old = state.units;
    std::int64_t bytes = 0;
    // With what the gaining device will read beyond the new interface; the losing one has all that
    // it needs.
    if (units > old) bytes = state.transfer(1, 0, {old, units + state.partition.halo_above});
    if (units < old) bytes = state.transfer(0, 1, {units - state.partition.halo_below, old});
    state.units = units;
    state.moved.bytes += bytes;
    state.moved.seconds += since(begin);
}

void HybridKernel::gather() {
    State& state = *state_;
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
        Side& side = state.sides.at(index);
        if (side.in_place) continue;
        for (std::size_t i = 0; i < state.specs.size(); ++i) {
            const ArraySpec& spec = state.specs[i];
            if (spec.access == Access::in) continue;
            const Units own = state.owned(index, spec.access == Access::out ? state.computed : state.units);
            if (own.empty()) continue;
            for (std::int64_t block = 0; block < spec.slices.blocks; ++block) {
                const std::int64_t offset = spec.slices.offset + block * spec.slices.block_stride + own.first * spec.slices.words_per_unit;
                side.backend->copy(at(state.host[i], offset * state.word), at(side.arrays[i], offset * state.word),
                                   (own.last - own.first) * spec.slices.words_per_unit * state.word);
            }
        }
        side.backend->synchronise();
    }
}

void HybridKernel::scatter() {
    for (Side& side : state_->sides) {
        state_->upload(side);
        side.bound->prepare();
        side.backend->synchronise();
    }
}

}  // namespace hone::inline v0_1
