// How good first answers without tuning are: every record's problem is looked up as if neither it
// nor another size of it had been tuned. What is predicted then runs beside the tuned
// configuration, the nearest neighbour's alone, and the safe one; alternately, in one process.
//
//     prediction_benchmark --every=5     every fifth record of this device model
//     prediction_benchmark --architecture --among=FILE
//         those of all models of this architecture too, whose tuned configurations run here as they
//         are; only the problems that the file names, one a line
//     prediction_benchmark --pairs       predicted and tuned alone: all records in a minute, with
//                                        a full cache of kernels
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tuning_db/prediction.hpp"

namespace hone::benchmarks {
namespace {

/// A record's problem with what different ways of choosing give it.
struct Case {
    Record record;
    Config tuned, predicted;
    std::optional<Config> nearest, safe;  ///< where these are asked for
    double distance = 0;                  ///< of the nearest neighbour; infinite where there is none, and the safe configuration is all there is
    std::vector<Config> voices;           ///< what each neighbour proposes, the nearest first; empty where that is not asked for

    /// Each configuration once.
    std::vector<Config> distinct() const {
        std::vector<Config> all;
        const auto add = [&](const Config& config) {
            if (std::find(all.begin(), all.end(), config) == all.end()) all.push_back(config);
        };
        for (const Config* config : {&tuned, &predicted}) add(*config);
        for (const auto* config : {&nearest, &safe})
            if (*config) add(**config);
        for (const Config& config : voices) add(config);
        return all;
    }
};

/// Which configurations run beside the predicted and the tuned one.
struct Beside {
    bool voices = false;
    bool pairs = false;  ///< none: not the nearest's, not the safe one
};

Case case_of(const Record& record, const Database& database, const Beside& beside) {
    const Device& device = DeviceBench::instance().backend().device();
    const SearchSpace space = built_in_families().of(record.problem).space(record.problem, device.limits);
    std::vector<Neighbour> others = database.neighbours(record.problem, device.fingerprint);
    std::erase_if(others, [&](const Neighbour& n) {
        return n.record->problem.class_key() == record.problem.class_key() || !n.record->purpose.empty() ||
               n.record->device.architecture != device.fingerprint.architecture;
    });
    Case result{record, space.completed(record.config), space.safe(), std::nullopt, std::nullopt, INFINITY, {}};
    if (!beside.pairs) result.nearest = result.safe = space.safe();
    if (const auto prediction = predict(built_in_families(), record.problem, device.limits, others)) {
        result.predicted = prediction->config;
        result.distance = others.front().distance;
        if (const auto first = beside.pairs ? std::nullopt : predict(built_in_families(), record.problem, device.limits, {others.front()}))
            result.nearest = first->config;
        if (beside.voices)
            for (const Source& source : prediction->sources) result.voices.push_back(source.member);
    }
    return result;
}

/// Into the cache.
void compile_all(const std::vector<Case>& cases) {
    Backend& backend = DeviceBench::instance().backend();
    std::vector<std::pair<const Problem*, Config>> kernels;
    for (const Case& of : cases)
        for (const Config& config : of.distinct()) kernels.emplace_back(&of.record.problem, config);
    compile_side_by_side(kernels.size(), [&](std::size_t i) {
        const auto& [problem, config] = kernels[i];
        backend.compiler().compile(built_in_families().of(*problem).kernel(*problem, config, backend.device().limits));
    });
}

/// Ratios to the tuned configuration, by family.
class Means {
  public:
    /// The ways that were asked for: predicted, then nearest and safe.
    void add(const std::string& family, const std::vector<double>& ratios) {
        for (const std::string& group : {family, std::string("all")}) groups_[group].push_back(ratios);
    }
    void print() const {
        fmt::print("{:<22} {:>5}  {:>17}  {:>17}  {:>17}\n", "rate over tuned", "", "predicted", "nearest", "safe");
        for (const auto& [name, rows] : groups_) {
            std::string line = fmt::format("{:<22} {:>5}", name, rows.size());
            for (std::size_t way = 0; way < rows.front().size(); ++way) {
                std::vector<double> ratios;
                ratios.reserve(rows.size());
                for (const auto& row : rows) ratios.push_back(row[way]);
                line += fmt::format("  {:.3f}, least {:.3f}", geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end()));
            }
            fmt::print("{}\n", line);
        }
    }

  private:
    std::map<std::string, std::vector<std::vector<double>>> groups_;
};

/// Workloads of the cases whose arrays hold integers: made side by side, a few ahead of the one
/// that is measured.
class Workloads {
  public:
    std::optional<Workload> take(const std::vector<Case>& cases, std::size_t number) {
        const std::size_t ahead = std::max(1U, std::thread::hardware_concurrency());
        for (; begun_ < std::min(cases.size(), number + ahead); ++begun_) {
            const Problem& problem = cases[begun_].record.problem;
            const Family& family = built_in_families().of(problem);
            const auto specs = family.arrays(problem);
            if (std::any_of(specs.begin(), specs.end(), holds_integers))
                coming_[begun_] = std::async(std::launch::async, [&family, &problem] { return family.workload(problem, 1); });
        }
        const auto found = coming_.find(number);
        if (found == coming_.end()) return std::nullopt;
        Workload workload = found->second.get();
        coming_.erase(found);
        return workload;
    }

  private:
    std::size_t begun_ = 0;
    std::map<std::size_t, std::future<Workload>> coming_;
};

void compare(benchmark::State& state, const Case& of, const std::optional<Workload>& workload, Means& means) {
    const std::vector<Config> configs = of.distinct();
    const Contenders contenders(of.record.problem, workload, configs);
    for (auto _ : state) {
        const std::vector<double> seconds = contenders.measure(7);
        const auto rate = [&](const Config& config) {  // over that of the tuned one
            return seconds[0] / seconds[static_cast<std::size_t>(std::find(configs.begin(), configs.end(), config) - configs.begin())];
        };
        state.SetIterationTime(seconds[0] / rate(of.predicted));
        state.counters["GB/s"] = built_in_families().of(of.record.problem).counts(of.record.problem).bytes / seconds[0] * 1e-9;  // tuned
        state.counters["predicted/tuned"] = rate(of.predicted);
        std::vector<double> ratios{rate(of.predicted)};
        if (of.nearest) state.counters["nearest/tuned"] = ratios.emplace_back(rate(*of.nearest));
        if (of.safe) state.counters["safe/tuned"] = ratios.emplace_back(rate(*of.safe));
        if (std::isfinite(of.distance)) state.counters["distance"] = of.distance;
        for (std::size_t i = 0; i < of.voices.size(); ++i) state.counters[fmt::format("voice{}/tuned", i + 1)] = rate(of.voices[i]);
        means.add(of.record.problem.family(), ratios);
    }
    std::string voices;
    for (const Config& config : of.voices) voices += "; voice " + config.key();
    state.SetLabel(fmt::format("predicted {}; tuned {}{}", of.predicted.key(), of.tuned.key(), voices));
}

struct Run {
    int every = 1;
    int first = 1;
    bool architecture = false;
    Beside beside;
    std::string among;
    std::vector<Case> cases;
    Workloads workloads;
    Means means;
};

void register_all(Run& run) {
    DeviceBench& bench = DeviceBench::instance();
    const DeviceFingerprint& here = bench.backend().device().fingerprint;
    std::set<std::string> named;
    std::ifstream file(run.among);
    for (std::string line; std::getline(file, line);) named.insert(line);
    if (!run.among.empty() && named.empty()) throw Error(run.among, "it names no problem", "write one a line, as 'hone show' does");
    std::set<std::string> taken;  // problems
    int number = 0;
    const auto of_model = [&](const Record& record) { return device_key(record.device) == device_key(here); };
    const auto take = [&](const Record& record) {
        if (!record.verified() || record.hybrid || !record.purpose.empty() || (!named.empty() && !named.contains(record.problem.key()))) return;
        if (!taken.insert(record.problem.key()).second || number++ % run.every != (run.first - 1) % run.every) return;
        run.cases.push_back(case_of(record, bench.library().database(), run.beside));
    };
    for (const Record& record : bench.library().database().records())
        if (of_model(record)) take(record);
    for (const Record& record : bench.library().database().records())
        if (run.architecture && record.device.target == here.target && record.device.architecture == here.architecture) take(record);
    compile_all(run.cases);
    for (std::size_t i = 0; i < run.cases.size(); ++i)
        benchmark::RegisterBenchmark(run.cases[i].record.problem.key().c_str(),
                                     [&, i](benchmark::State& state) { compare(state, run.cases[i], run.workloads.take(run.cases, i), run.means); })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    static Run run;
    return {
        .purpose =
            "Predicted configurations beside tuned, nearest and safe ones, for problems as if neither they nor other sizes of them had been tuned.",
        .options = {{"--every", "Measure every n-th record of this device model.", &run.every},
                    {"--first", "Number of the first of them, counted from 1.", &run.first},
                    {"--architecture", "Also records of other models of this architecture.", &run.architecture},
                    {"--among", "Only the problems that this file names, one a line.", &run.among},
                    {"--voices", "Also what each neighbour proposes.", &run.beside.voices},
                    {"--pairs", "Not what the nearest neighbour alone proposes, nor the safe configuration.", &run.beside.pairs}},
        .register_all = [] { register_all(run); },
        .finish = [] { run.means.print(); }};
}

}  // namespace hone::benchmarks
