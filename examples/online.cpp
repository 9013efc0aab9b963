// An application that computes while its kernel gets better: a plain time loop around OnlineTuner, for any family.
//
//     online [--problem "FAMILY name=value ..."] [--steps N] [--device best|cuda|cpu] [--db FOLDER] [--bound PART] [--evaluations N]
//            [--candidates-first N] [--best CONFIG] [--check 0|1] [--json 1]
//
// The same steps are then run untuned, with the safe configuration, with the one that was found and with --best, for their times and results.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "generator/error.hpp"
#include "runtime/library.hpp"
#include "tuner/online_tuner.hpp"
#include "tuning_db/json.hpp"

namespace {

/// The arrays of a problem on a device, with random contents.
struct Arrays {
    std::vector<hone::DeviceArray> memory;
    std::vector<void*> pointers;

    Arrays(hone::Backend& backend, const hone::Workload& workload) {
        for (const hone::HostArray& array : workload.arrays) {
            memory.emplace_back(backend, array.bytes());
            backend.copy(memory.back().data(), array.data(), array.bytes());
            pointers.push_back(memory.back().data());
        }
        backend.synchronise();
    }
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of the same time loop with one configuration.
double run_fixed(hone::Backend& backend, hone::KernelLibrary& library, const hone::Problem& problem, const hone::Config& config, Arrays& arrays,
                 int steps) {
    const hone::BoundKernel kernel(library.kernel(problem, config), arrays.pointers);
    backend.synchronise();
    const double begin = now();
    for (int step = 0; step < steps; ++step) kernel.launch();
    backend.synchronise();
    return now() - begin;
}

double largest_difference(hone::Backend& backend, const Arrays& a, const Arrays& b, hone::Precision precision) {
    double largest = 0;
    for (std::size_t i = 0; i < a.memory.size(); ++i) {
        const std::int64_t words = a.memory[i].bytes() / hone::bytes_per_word(precision);
        largest = std::max(largest, backend.largest_difference(a.pointers[i], b.pointers[i], words, precision));
    }
    return largest;
}

std::string json_of(const hone::OnlineReport& report, const std::map<std::string, double>& seconds, double difference, double allowed) {
    const hone::OnlineProgress& p = report.progress;
    std::string text = fmt::format("{{\"problem\": {}, \"device\": {}, \"state\": {}", hone::json_string(report.problem),
                                   hone::json_string(report.device), hone::json_string(report.state));
    text += fmt::format(", \"steps\": {}, \"explored_steps\": {}, \"evaluations\": {}, \"tried\": {}, \"adopted\": {}", p.steps, p.explored_steps,
                        p.evaluations, p.tried, p.adopted);
    for (const auto& [name, value] : seconds) text += fmt::format(", \"seconds_{}\": {}", name, hone::json_number(value));
    text += fmt::format(", \"regret\": {}, \"allowed\": {}, \"saved\": {}", hone::json_number(p.regret()), hone::json_number(p.allowed()),
                        hone::json_number(p.saved));
    text += fmt::format(", \"first_step\": {}, \"last_step\": {}, \"first_config\": {}, \"config\": {}", hone::json_number(p.first_median),
                        hone::json_number(p.median), hone::json_string(report.first_config), hone::json_string(report.config));
    return text + fmt::format(", \"difference\": {}, \"difference_allowed\": {}}}\n", hone::json_number(difference), hone::json_number(allowed));
}

}  // namespace

int main(int argc, char** argv) try {
    std::map<std::string, std::string> options{{"--problem", "gauss_seidel_27 stencil=constant precision=f64 nx=96 ny=96 nz=96"},
                                               {"--steps", "2000"},
                                               {"--device", "best"},
                                               {"--db", "tuned"},
                                               {"--bound", "0.05"},
                                               {"--evaluations", "100"},
                                               {"--best", ""},
                                               {"--json", "0"}};
    for (int i = 1; i < argc; i += 2) {
        if (options.count(argv[i]) == 0 || i + 1 == argc) throw hone::Error("command line", argv[i], "see the head of examples/online.cpp");
        options[argv[i]] = argv[i + 1];
    }
    const int steps = std::stoi(options["--steps"]);
    hone::DiskCache cache(hone::DiskCache::default_folder());
    const auto backend = hone::make_backend(options["--device"], cache);
    const auto& families = hone::built_in_families();
    const hone::Problem problem = families.parse_problem(options["--problem"]);
    const hone::Workload workload = families.of(problem).workload(problem, 1);
    Arrays arrays(*backend, workload);
    hone::OnlineSettings settings;
    settings.rules.bound = std::stod(options["--bound"]);
    settings.rules.evaluations = std::stoi(options["--evaluations"]);

    // What an application adds: a tuner before its time loop, one line in place of the launch, and a report if it likes.
    const double begin = now();
    hone::OnlineTuner tuner(*backend, families, options["--db"], problem, arrays.pointers, settings);
    for (int step = 0; step < steps; ++step) tuner.step();
    backend->synchronise();
    std::map<std::string, double> seconds{{"online", now() - begin}};
    tuner.finish();
    const hone::OnlineReport report = tuner.report();

    // The untuned run must come to the same result; kernels differ in the order of their sums alone, by no more in a step than they were
    // verified to.
    hone::KernelLibrary library(*backend, hone::Database(families), families);
    const hone::SearchSpace space = families.of(problem).space(problem, backend->device().limits);
    Arrays untuned(*backend, workload);
    seconds["safe"] = run_fixed(*backend, library, problem, space.safe(), untuned, steps);
    const double difference = largest_difference(*backend, arrays, untuned, problem.precision());
    const double allowed = steps * workload.tolerance;
    seconds["found"] = run_fixed(*backend, library, problem, space.parse(report.config), untuned, steps);
    if (!options["--best"].empty()) seconds["best"] = run_fixed(*backend, library, problem, space.parse(options["--best"]), untuned, steps);

    if (options["--json"] != "0") {
        fmt::print("{}", json_of(report, seconds, difference, allowed));
    } else {
        fmt::print("{}", to_string(report));
        for (const auto& [name, value] : seconds) fmt::print("  {:<10} {:.4g} s for {} steps\n", name, value, steps);
        fmt::print("  largest difference from the untuned run {:.3g}, allowed {:.3g}\n", difference, allowed);
    }
    return difference <= allowed ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "online: {}\n", error.what());
    return 1;
}
