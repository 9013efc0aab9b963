// How good first answers are for problems that nobody chose: families, choices and sizes are drawn
// from a seed. What a look-up answers runs beside the safe configuration, what a measurement at
// first use finds, and what some seconds of tuning find; alternately, in one process.
//
//     any_size_benchmark --seed=7 --draws=60 --seconds=9
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "foundation/error.hpp"
#include "foundation/temporary_folder.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/disk_cache.hpp"
#include "tuner/online/first_use.hpp"
#include "tuner/prior.hpp"
#include "tuner/tuning_run.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuner/worker/worker_program.hpp"

namespace hone::benchmarks {
namespace {

constexpr double least_bytes = 1e5, most_bytes = 2e9;

/// Problems from a seed: a family, its words and orders, and sizes that move a number of bytes
/// which is log-uniform between these two.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    Problem problem() {
        for (;;) {
            try {
                if (std::optional<Problem> drawn = attempt()) return *std::move(drawn);
            } catch (const Error&) {
                // Not every combination of choices is a problem.
            }
        }
    }

  private:
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
    double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }

    /// Of a parameter that is no size.
    std::string choice(const ProblemParameter& parameter) {
        if (!parameter.fallback.empty() && uniform(0, 1) < 0.5) return parameter.fallback;
        if (!parameter.words.empty()) return parameter.words[below(parameter.words.size())];
        constexpr double most = 128;  // of the shapes of matrices
        const double low = static_cast<double>(std::max<std::int64_t>(parameter.low, 1));
        return fmt::format("{:.0f}", std::floor(log_uniform(low, std::min(static_cast<double>(parameter.high), most) + 1)));
    }

    std::optional<Problem> attempt() {
        const Families& families = built_in_families();
        const auto count = static_cast<std::size_t>(std::distance(families.begin(), families.end()));
        const Family& family = *std::next(families.begin(), static_cast<std::ptrdiff_t>(below(count)));
        std::string choices = family.name;
        std::vector<std::pair<const ProblemParameter*, double>> sizes;  // with the part that each has in growing
        for (const ProblemParameter& parameter : family.parameters) {
            if (!parameter.extent)
                choices += fmt::format(" {}={}", parameter.name, choice(parameter));
            else if (parameter.fallback.empty())
                sizes.emplace_back(&parameter, parameter.name == "entries" ? log_uniform(4, 200) : log_uniform(0.5, 2));
        }
        const auto with = [&](double scale) {
            std::string text = choices;
            for (const auto& [parameter, part] : sizes)
                text += fmt::format(" {}={:.0f}", parameter->name,
                                    std::clamp(std::round(scale * part), static_cast<double>(std::max<std::int64_t>(parameter->low, 1)),
                                               static_cast<double>(parameter->high)));
            return families.parse_problem(text);
        };
        const double wanted = log_uniform(least_bytes, most_bytes);
        double low = 1, high = 1e9;
        while (high / low > 1.001) {
            const double middle = std::sqrt(low * high);
            (family.counts(with(middle)).bytes < wanted ? low : high) = middle;
        }
        Problem problem = with(low);
        family.arrays(problem);  // throws where it is too large for its indices
        const double bytes = family.counts(problem).bytes;
        return bytes > least_bytes / 2 && bytes < most_bytes ? std::optional(std::move(problem)) : std::nullopt;
    }

    std::mt19937_64 random_;
};

struct Run {
    std::uint64_t seed = 1;
    int draws = 20;
    int seconds = 9;
    std::vector<double> over_safe, over_tuned, measured_over_tuned;
};

std::optional<Config> tuned(const Problem& problem, const Device& device, const Database& database, double seconds, Evaluator& evaluator) {
    const TemporaryFolder folder;
    TuningOptions options;
    options.seconds = seconds;
    options.folder = folder.path();
    for (Promising& promising : promising_members(database, built_in_families(), problem, device))
        options.prior.push_back(std::move(promising.config));
    const TuningResult result = tune(built_in_families().of(problem), problem, device, evaluator, options);
    return result.record ? std::optional(result.record->config) : std::nullopt;
}

std::optional<Config> measured(const Problem& problem, const Device& device, const Database& database) {
    const TemporaryFolder folder;
    std::string why;
    const auto match = measured_match(database, built_in_families(), device, problem, {.folder = folder.path()}, why);
    return match ? std::optional(match->config) : std::nullopt;
}

void compare(benchmark::State& state, const Problem& problem, Run& run) {
    DeviceBench& bench = DeviceBench::instance();
    const Device& device = bench.backend().device();
    const Database& database = bench.library().database();
    const Family& family = built_in_families().of(problem);
    const Match match = database.best(problem, device.fingerprint, device.limits);
    const auto at_first_use = measured(problem, device, database);
    std::optional<Config> best;
    {
        WorkerSettings settings{.device = device, .cache = DiskCache::default_folder()};
        settings.command = find_worker_command();
        WorkerEvaluator evaluator(std::move(settings));
        best = tuned(problem, device, database, run.seconds, evaluator);
    }
    const auto specs = family.arrays(problem);
    const bool places = std::any_of(specs.begin(), specs.end(), holds_integers);
    const Config safe = family.space(problem, device.limits).safe();
    const Contenders contenders(problem, places ? std::optional(family.workload(problem, 1)) : std::nullopt,
                                {match.config, safe, at_first_use.value_or(match.config), best.value_or(safe)});
    for (auto _ : state) {
        const std::vector<double> seconds = contenders.measure(7);
        // Tuning ends with what it found; of what is known by then the fastest is the measure.
        const double least = *std::min_element(seconds.begin(), seconds.end());
        state.SetIterationTime(seconds[0]);
        state.counters["bytes"] = family.counts(problem).bytes;
        state.counters["look-up/safe"] = run.over_safe.emplace_back(seconds[1] / seconds[0]);
        state.counters["look-up/tuned"] = run.over_tuned.emplace_back(least / seconds[0]);
        state.counters["first use/tuned"] = run.measured_over_tuned.emplace_back(least / seconds[2]);
    }
    state.SetLabel(fmt::format("{}: {}; tuned {}{}", to_string(match.grade), match.config.key(), best ? best->key() : "nothing",
                               at_first_use ? "" : "; nothing was measured at first use"));
}

void print(const std::string& name, const std::vector<double>& ratios) {
    const auto part = [&](double bound) {
        return static_cast<double>(std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio >= bound; })) /
               static_cast<double>(ratios.size());
    };
    fmt::print("{:<16} {:>4} problems  mean {:.3f}  least {:.3f}  at least 0.8: {:.0f} %  at least 0.97: {:.0f} %\n", name, ratios.size(),
               geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end()), 100 * part(0.8), 100 * part(0.97));
}

void register_all(Run& run) {
    Draw draw(run.seed);
    for (int i = 0; i < run.draws; ++i) {
        const Problem problem = draw.problem();
        benchmark::RegisterBenchmark(problem.key().c_str(), [&run, problem](benchmark::State& state) { compare(state, problem, run); })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    }
}

std::vector<std::string> problems(const Run& run) {
    Draw draw(run.seed);
    std::vector<std::string> keys;
    keys.reserve(static_cast<std::size_t>(run.draws));
    for (int i = 0; i < run.draws; ++i) keys.push_back(draw.problem().key());
    return keys;
}

}  // namespace

Program program() {
    static Run run;
    return {.purpose =
                "First answers for problems that are drawn from a seed: the look-up's kernel beside the safe configuration, what is measured at "
                "first use, and what some seconds of tuning find.",
            .options = {{"--seed", "Of the problems.", &run.seed},
                        {"--draws", "As many problems.", &run.draws},
                        {"--seconds", "Of tuning, for each problem.", &run.seconds}},
            .problems = [] { return problems(run); },
            .register_all = [] { register_all(run); },
            .finish =
                [] {
                    if (run.over_safe.empty()) return;
                    fmt::print("Rates; what is found by {} s of tuning is 1, or what is faster here.\n", run.seconds);
                    print("look-up / safe", run.over_safe);
                    print("look-up / tuned", run.over_tuned);
                    print("first use", run.measured_over_tuned);
                }};
}

}  // namespace hone::benchmarks
