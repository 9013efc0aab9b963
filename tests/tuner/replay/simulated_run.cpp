#include "tests/tuner/replay/simulated_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "generator/families.hpp"

namespace hone::test {
namespace {

/// Takes real time, so that there are moments between two evaluations.
class SlowEvaluator : public SimulatedEvaluator {
  public:
    using SimulatedEvaluator::SimulatedEvaluator;
    std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return SimulatedEvaluator::evaluate(candidate, incumbent, stop);
    }
};

}  // namespace

Family landscape_family(const Landscape& landscape) {
    Family family;
    family.name = "landscape";
    family.parameters = {{.name = "precision", .help = "", .words = {"f32", "f64"}, .fallback = "f32"},
                         {.name = "n", .help = "", .words = {}, .low = 1, .high = 1000, .extent = true, .fallback = {}}};
    family.space = [&landscape](const Problem&, const Limits&) { return landscape.space(); };
    family.kernel = [](const Problem&, const Config& config, const Limits&) {
        KernelSource source;
        source.text = config.key();
        return source;
    };
    family.counts = [](const Problem&) { return Counts{1000, "updates", 2000, 8000}; };
    return family;
}

Device made_up_device() {
    Device device;
    device.fingerprint = {Target::cpu, "made up", "none", 4, "", "none 1.0"};
    return device;
}

TuningResult simulate(const std::filesystem::path& folder, std::uint64_t seed, bool resume, SimulatedEvaluator& evaluator, TuningOptions options,
                      std::function<bool()> interrupted) {
    const Landscape landscape(seed);
    const Families families({landscape_family(landscape)});
    const Problem problem = families.parse_problem("landscape n=100");
    options.seed = seed;
    options.resume = resume;
    options.folder = folder;
    TuningHooks hooks;
    hooks.clock = [&evaluator] { return evaluator.seconds; };
    hooks.interrupted = std::move(interrupted);
    return tune(families.of(problem), problem, made_up_device(), evaluator, options, hooks);
}

std::string digest(const TuningResult& result) {
    std::string text = fmt::format("{} evaluations, {:.12g} s\n", result.progress.evaluations, result.progress.elapsed);
    for (const auto& [status, count] : result.progress.counts) text += fmt::format("{} {}\n", to_string(status), count);
    if (result.record)
        text += fmt::format("{} {} safe {} of {}\n", result.record->config.key(), result.record->step.median, result.record->safe_seconds,
                            result.record->evaluations);
    return text + (result.interrupted ? "interrupted\n" : "done\n");
}

int simulate_main(const std::string& folder, const std::string& seed) {
    const std::uint64_t number = std::stoull(seed);
    const Landscape landscape(number);
    SlowEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 60;
    const TuningResult result = simulate(folder, number, true, evaluator, options);
    std::fputs(digest(result).c_str(), stdout);
    return 0;
}

}  // namespace hone::test
