#include "runtime/hybrid_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "foundation/error.hpp"
#include "runtime/hybrid_thread.hpp"

namespace hone::inline v0_1 {
namespace {

// Of a launch: some units' words of an array in both memories.
struct SharedArray {
    std::array<void*, 2> of_side{};
    Slices slices;
    std::int64_t word = 0;  // bytes
};

struct SharedLaunch {
    std::vector<BoundKernel> kernels;  // of the two sides
    std::vector<SharedArray> sent, returned;
};

}  // namespace

struct HybridTeam::State {
    std::array<Backend*, 2> backends;
    std::int64_t range;
    std::int64_t units;
    std::array<bool, 2> on_host;
    std::unique_ptr<StopWatch> whole, sending, returning;
    std::array<std::unique_ptr<StopWatch>, 2> working;
    std::unique_ptr<HybridThread> thread;
    std::vector<SharedLaunch> launches;
    std::vector<SharedArray> kept;
    bool timed = false;  // the watches tell of a launch that is not in `sum`
    std::array<bool, 2> took_part{};
    HybridStep sum;
    Transfers moved;

    State(Backend& first, Backend& second, std::int64_t of_range, std::int64_t of_first)
        : backends{&first, &second},
          range(of_range),
          units(of_first),
          on_host{traits_of(first.device().limits.target).host_memory, traits_of(second.device().limits.target).host_memory} {
        if (!on_host[0] && !on_host[1]) throw Error("shared launches", "both devices are GPUs", "let one of them be the processor");
        check(units);
        whole = link().make_stop_watch();
        sending = link().make_stop_watch();
        returning = link().make_stop_watch();
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) working.at(side) = backends.at(side)->make_stop_watch();
        if (on_host[0] && on_host[1]) thread = std::make_unique<HybridThread>();
    }
    // Before the memory that queued copies use is given back.
    ~State() {
        try {
            link().synchronise();
        } catch (...) {  // the error belongs to work that was thrown for already
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // Copies, in the order of its stream.
    Backend& link() const { return *backends.at(on_host[0] ? 1 : 0); }

    void check(std::int64_t wanted) const {
        if (wanted < 0 || wanted > range)
            throw Error("shared launches", fmt::format("{} units for the first device", wanted), fmt::format("use 0 to {}", range));
    }

    // Words of units [first, last), from one side's memory to the other's; returns the bytes.
    std::int64_t copy(const SharedArray& array, std::size_t to, std::int64_t first, std::int64_t last) const {
        const Slices& slices = array.slices;
        const std::int64_t bytes = (last - first) * slices.words_per_unit * array.word;
        for (std::int64_t block = 0; block < slices.blocks; ++block) {
            const std::int64_t begin = (slices.offset + block * slices.block_stride + first * slices.words_per_unit) * array.word;
            link().copy(static_cast<char*>(array.of_side.at(to)) + begin, static_cast<const char*>(array.of_side.at(1 - to)) + begin, bytes);
        }
        return bytes * slices.blocks;
    }
    void copy_all(const std::vector<SharedArray>& arrays, std::size_t to, StopWatch& watch) const {
        watch.start({});
        for (const SharedArray& array : arrays) copy(array, to, units, range);
        watch.stop({});
    }

    void start(const SharedLaunch& launch, std::size_t side) const {
        working.at(side)->start({});
        launch.kernels.at(side).launch(side == 0 ? 0 : units, side == 0 ? units : range);
        working.at(side)->stop({});
    }

    void collect() {
        if (!timed) return;
        timed = false;
        sum.step += whole->wait();
        if (took_part[0]) sum.first += working[0]->wait();
        if (!took_part[1]) return;
        const double copying = sending->wait() + returning->wait();
        sum.exchange += copying;
        sum.second += copying + working[1]->wait();
    }
};

HybridTeam::HybridTeam(Backend& first, Backend& second, std::int64_t range, std::int64_t units)
    : state_(std::make_unique<State>(first, second, range, units)) {
}

HybridTeam::~HybridTeam() = default;

std::int64_t HybridTeam::range() const {
    return state_->range;
}
std::int64_t HybridTeam::units() const {
    return state_->units;
}
const Transfers& HybridTeam::moved() const {
    return state_->moved;
}

std::size_t HybridTeam::add(const Family& family, const TeamPart& first, const TeamPart& second, const TeamFlow& flow) {
    State& state = *state_;
    const Problem& problem = first.kernel->problem();
    const std::string where = "shared launch of " + problem.key();
    if (second.kernel->problem() != problem)
        throw Error(where, "the other kernel computes " + second.kernel->problem().key(), "give both one problem");
    if (first.kernel->range() != state.range)
        throw Error(where, fmt::format("its range is {}, the team's {}", first.kernel->range(), state.range), "make a team for it");
    if (!family.partition) throw Error(where, "a step of " + family.name + " cannot be divided", "use one device");
    if (family.partition(problem) != Partition{}) throw Error(where, "units of " + family.name + " need their neighbours", "use HybridKernel");
    const std::vector<ArraySpec> specs = family.arrays(problem);
    for (const TeamPart* part : {&first, &second})
        if (part->arrays.size() != specs.size())
            throw Error(where, fmt::format("{} arrays", part->arrays.size()), fmt::format("give {}", specs.size()));
    const auto shared = [&](std::size_t number) {
        return SharedArray{{first.arrays[number], second.arrays[number]}, specs[number].slices, bytes_per_word(problem.precision())};
    };
    SharedLaunch launch;
    const auto flowing = [&](std::size_t number, bool results) {
        if (number >= specs.size() || specs[number].slices.words_per_unit == 0 || (specs[number].access != Access::in) != results)
            throw Error(where, fmt::format("array {} is to be {}", number, results ? "returned" : "sent"),
                        "send what is read, return what is written, unit by unit");
        return shared(number);
    };
    for (const std::size_t number : flow.sent) launch.sent.push_back(flowing(number, false));
    for (const std::size_t number : flow.returned) launch.returned.push_back(flowing(number, true));
    launch.kernels.emplace_back(first.kernel, first.arrays);
    launch.kernels.emplace_back(second.kernel, second.arrays);
    for (std::size_t number = 0; number < specs.size(); ++number)
        if (specs[number].access != Access::in && std::find(flow.returned.begin(), flow.returned.end(), number) == flow.returned.end())
            state.kept.push_back(shared(number));
    state.launches.push_back(std::move(launch));
    return state.launches.size() - 1;
}

void HybridTeam::launch(std::size_t number) {
    State& state = *state_;
    state.collect();
    const SharedLaunch& launch = state.launches.at(number);
    state.took_part = {state.units > 0, state.units < state.range};
    const auto [first, second] = state.took_part;
    state.whole->start({});
    if (second) state.copy_all(launch.sent, 1, *state.sending);
    // A processor that has a thread of its own, and GPUs, work while the caller's thread does the
    // rest.
    const bool apart = state.thread && first && second;
    if (apart) state.thread->begin([&] { state.start(launch, 0); });
    try {
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
            if (!state.on_host.at(side) && state.took_part.at(side)) state.start(launch, side);
        if (second && !state.on_host[0]) state.sending->wait();
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
            if (state.on_host.at(side) && state.took_part.at(side) && !(apart && side == 0)) state.start(launch, side);
    } catch (...) {
        if (apart) state.thread->wait();
        throw;
    }
    if (apart) state.thread->end();
    if (second) state.copy_all(launch.returned, 0, *state.returning);
    state.whole->stop({});
    if (state.on_host[0]) state.link().synchronise();
    state.timed = true;
}

HybridStep HybridTeam::times() {
    state_->collect();
    return std::exchange(state_->sum, {});
}

void HybridTeam::set_units(std::int64_t units) {
    State& state = *state_;
    state.check(units);
    if (units == state.units) return;
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t gains = units > state.units ? 0 : 1;
    for (const SharedArray& array : state.kept)
        state.moved.bytes += state.copy(array, gains, std::min(units, state.units), std::max(units, state.units));
    // The gaining device may be a processor, which does not wait for the link.
    state.link().synchronise();
    state.units = units;
    state.moved.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace hone::inline v0_1
