#include "solvers/hydro/run.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "foundation/error.hpp"
#include "solvers/hydro/frames.hpp"
#include "solvers/output/checkpoint_file.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr std::string_view kind = "hone hydro checkpoint 1";

// What a run is about: all of a mesh, or a rank's part of it.
struct Subject {
    const Discretisation& of;
    const ZonePart* part = nullptr;

    bool writes() const { return part == nullptr || part->ranks().rank() == 0; }
    std::string fingerprint() const { return part == nullptr ? hydro::fingerprint(of.zone_nodes, of.first, of.mass, of.gamma) : part->fingerprint(); }
    // To be called on all ranks, and for rank 0.
    State whole_of(const State& state) const { return part == nullptr ? state : part->whole_of(state); }
    State part_of(const State& whole) const { return part == nullptr ? whole : part->part_of(whole); }
    // Of the shape of a whole state.
    State empty() const {
        if (part == nullptr) return of.first;
        const std::size_t words = static_cast<std::size_t>(of.dimension) * static_cast<std::size_t>(part->whole_nodes());
        const std::size_t energies = static_cast<std::size_t>(part->whole_zones()) * of.energies_of_zone();
        return {std::vector<double>(words), std::vector<double>(words), std::vector<double>(energies)};
    }
    EnergySample sample(const Clock& clock, const State& state) const {
        if (part != nullptr) return {clock.steps, clock.time, part->internal_energy(state.energies), part->kinetic_energy(state.velocities)};
        return {clock.steps, clock.time, of.internal_energy(state.energies), of.kinetic_energy(state.velocities)};
    }
};

// What a run cannot go on without being the same.
std::vector<std::pair<std::string, std::string>> identity(const Subject& subject, const RunSettings& settings) {
    const Discretisation& of = subject.of;
    return {{"problem", of.problem.name},
            {"dimension", std::to_string(of.dimension)},
            {"order", std::to_string(of.order)},
            {"first", subject.fingerprint()},
            {"scheme", to_string(settings.scheme)},
            {"cfl", fmt::format("{}", settings.cfl)},
            {"tolerance", fmt::format("{}", settings.tolerance)},
            {"mass", settings.mass ? to_string(*settings.mass) : "best"}};
}

template <typename Number>
Number number(std::string_view text, const std::filesystem::path& file) {
    Number value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        throw Error(file.string(), fmt::format("\"{}\" stands where a number should", text), "use an undamaged checkpoint");
    return value;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> result(1);
    for (const char c : text) {
        if (c == ' ')
            result.emplace_back();
        else
            result.back() += c;
    }
    return result;
}

void write(const Subject& of, const RunSettings& settings, const Clock& clock, const State& here, const std::vector<EnergySample>& energies) {
    const State state = of.whole_of(here);
    if (!of.writes()) return;
    CheckpointFile file{identity(of, settings), {}};
    for (const auto& [name, configuration] : settings.configurations) file.lines.emplace_back("kernel", name + " " + configuration);
    file.lines.emplace_back("clock", fmt::format("{} {} {} {}", clock.time, clock.dt, clock.steps, clock.rejections));
    for (const EnergySample& sample : energies)
        file.lines.emplace_back("energy", fmt::format("{} {} {} {}", sample.step, sample.time, sample.internal, sample.kinetic));
    for (const auto* part : {&state.positions, &state.velocities, &state.energies}) {
        const std::size_t at = file.state.size();
        file.state.resize(at + part->size() * sizeof(double));
        std::memcpy(file.state.data() + at, part->data(), part->size() * sizeof(double));
    }
    write_checkpoint_file(settings.checkpoint, kind, file);
}

struct Restart {
    Clock clock;
    State state;
    std::vector<EnergySample> energies;
};

std::vector<std::string> four_words(const std::string& line, const std::filesystem::path& file) {
    std::vector<std::string> result = words(line);
    if (result.size() != 4) throw Error(file.string(), fmt::format("\"{}\" is not four numbers", line), "use an undamaged checkpoint");
    return result;
}

Restart read(const Subject& of, const RunSettings& settings) {
    const std::filesystem::path& name = settings.restart;
    const CheckpointFile file = read_checkpoint_file(name, kind);
    for (const auto& [what, own] : identity(of, settings))
        if (const std::string& there = file.value(what, name); there != own)
            throw Error(name.string(), fmt::format("its {} is {}, that of this run {}", what, there, own), "go on with the options of the first run");
    Restart result{{}, of.empty(), {}};
    const auto clock = four_words(file.value("clock", name), name);
    result.clock = {number<double>(clock[0], name), number<double>(clock[1], name), number<std::int64_t>(clock[2], name),
                    number<std::int64_t>(clock[3], name)};
    for (const std::string& line : file.values("energy")) {
        const auto sample = four_words(line, name);
        result.energies.push_back({number<std::int64_t>(sample[0], name), number<double>(sample[1], name), number<double>(sample[2], name),
                                   number<double>(sample[3], name)});
    }
    std::size_t at = 0;
    for (auto* part : {&result.state.positions, &result.state.velocities, &result.state.energies}) {
        const std::size_t bytes = part->size() * sizeof(double);
        if (file.state.size() - at < bytes) throw Error(name.string(), "its state is too short", "use an undamaged checkpoint");
        std::memcpy(part->data(), file.state.data() + at, bytes);
        at += bytes;
    }
    result.state = of.part_of(result.state);
    return result;
}

// A run while it goes on: what happens between time steps.
class Recorder {
  public:
    Recorder(const Subject& of, const RunSettings& settings, std::vector<EnergySample> energies)
        : of_(of), settings_(settings), energies_(std::move(energies)) {
        if (settings.frames_folder.empty()) return;
        if (of.part == nullptr)
            frames_.emplace(of.of, settings.frames_folder);
        else
            frames_.emplace(*of.part, settings.frames_folder);
    }

    void begin(const Clock& clock, const State& state) {
        if (energies_.empty()) energies_.push_back(of_.sample(clock, state));
        if (frames_) frames_->add(clock.time, state);
        frame_ = frames_due(clock.time);
    }

    void after_step(Stepper& stepper, bool last) {
        const Clock& clock = stepper.clock();
        const bool energy = last || (settings_.energy_every > 0 && clock.steps % settings_.energy_every == 0);
        const bool frame = frames_ && frames_due(clock.time) > frame_;
        const bool checkpoint =
            !settings_.checkpoint.empty() && (last || (settings_.checkpoint_every > 0 && clock.steps % settings_.checkpoint_every == 0));
        if (!energy && !frame && !checkpoint) return;
        const State state = stepper.state();
        // An interrupted run has a sample at its end that an uninterrupted one lacks: it is not to
        // be remembered.
        std::vector<EnergySample> kept = energies_;
        if (energy) energies_.push_back(of_.sample(clock, state));
        if (energy && (clock.time >= settings_.time || clock.steps % std::max<std::int64_t>(settings_.energy_every, 1) == 0)) kept = energies_;
        if (frame) frames_->add(clock.time, state);
        frame_ = frames_due(clock.time);
        if (checkpoint) write(of_, settings_, clock, state, kept);
    }

    std::vector<EnergySample> energies() const { return energies_; }

  private:
    // Pictures that should have been taken until a time.
    int frames_due(double time) const { return static_cast<int>(std::floor(time / settings_.time * settings_.frames * (1 + 1e-12))); }

    const Subject of_;
    const RunSettings& settings_;
    std::vector<EnergySample> energies_;
    std::optional<Frames> frames_;
    int frame_ = 0;
};

RunResult run(Operator& on, const Subject& subject, const RunSettings& settings) {
    const Discretisation& of = subject.of;
    std::optional<Restart> restart;
    if (!settings.restart.empty()) restart = read(subject, settings);
    if (settings.from != nullptr) restart = Restart{settings.from->clock, settings.from->state, settings.from->energies};
    Stepper stepper = restart ? Stepper(on, settings.scheme, restart->state, restart->clock) : Stepper(on, settings.scheme, of.first);
    Recorder recorder(subject, settings, restart ? restart->energies : std::vector<EnergySample>{});
    recorder.begin(stepper.clock(), restart ? restart->state : of.first);
    RunResult result;
    result.first_step = stepper.clock().steps;
    using Seconds = std::chrono::duration<double>;
    while (stepper.clock().time < settings.time && (settings.stop_after == 0 || stepper.clock().steps < settings.stop_after)) {
        const auto start = std::chrono::steady_clock::now();
        stepper.step(settings.time);
        result.seconds += Seconds(std::chrono::steady_clock::now() - start).count();
        recorder.after_step(stepper, stepper.clock().time >= settings.time || (stepper.clock().steps == settings.stop_after && !settings.goes_on));
        if (settings.progress) settings.progress(stepper.clock());
    }
    result.clock = stepper.clock();
    result.state = stepper.state();
    result.energies = recorder.energies();
    result.norm = norm(subject.whole_of(result.state).energies);
    return result;
}

}  // namespace

RunResult run_hydro(Operator& on, const Discretisation& of, const RunSettings& settings) {
    return run(on, {of}, settings);
}

RunResult run_hydro(Operator& on, const ZonePart& part, const RunSettings& settings) {
    return run(on, {part.here(), &part}, settings);
}

std::map<std::string, std::string> checkpoint_configurations(const std::filesystem::path& file) {
    std::map<std::string, std::string> result;
    for (const std::string& line : read_checkpoint_file(file, kind).values("kernel")) {
        const std::size_t space = std::min(line.find(' '), line.size());
        result[line.substr(0, space)] = line.substr(std::min(space + 1, line.size()));
    }
    return result;
}

void suit_threads(const Discretisation& of) {
    constexpr std::size_t few_points = 10000;
    if (of.zones() * of.points_of_zone() < few_points && std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(1);
}

double norm(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

}  // namespace hone::inline v0_1::solvers::hydro
