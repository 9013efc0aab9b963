// An application that computes while its kernel gets better: a plain time loop around OnlineTuner,
// for any family.
//
//     online --problem "gauss_seidel_27 stencil=constant precision=f64 nx=64 ny=64 nz=64" --steps 2000 --device cpu --db tuned
//
// The same steps then run untuned, with the safe configuration, with the one that was found and
// with --best, for their times and results.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <hone/foundation/json.hpp>
#include <hone/hone.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "examples/options/checks.hpp"
#include "examples/options/command_line.hpp"
#include "examples/options/options.hpp"

namespace {

/// The arrays of a problem on a device, with random contents once they are filled.
struct Arrays {
    std::vector<hone::DeviceArray> memory;
    std::vector<void*> pointers;

    Arrays(hone::Backend& backend, const std::vector<hone::ArraySpec>& specs, hone::Precision precision) {
        for (const hone::ArraySpec& spec : specs) {
            memory.emplace_back(backend, spec.words * hone::bytes_per_word(precision));
            pointers.push_back(memory.back().data());
        }
    }
    void fill(hone::Backend& backend, const hone::Workload& workload) {
        for (std::size_t i = 0; i < memory.size(); ++i) backend.copy(pointers[i], workload.arrays[i].data(), workload.arrays[i].bytes());
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

// How far tuning was when the loop had run for so long.
struct Milestone {
    const char* name;
    bool (*reached)(const hone::OnlineReport&);
    std::int64_t step = 0;  // 0: not reached
    double seconds = 0;
};

std::vector<Milestone> milestones() {
    return {{"ready", [](const hone::OnlineReport& r) { return r.state != "starting"; }},
            {"evaluated", [](const hone::OnlineReport& r) { return r.progress.evaluations > 0; }},
            {"tried", [](const hone::OnlineReport& r) { return r.progress.tried > 0; }},
            {"adopted", [](const hone::OnlineReport& r) { return r.progress.adopted > 0; }}};
}

void note(std::vector<Milestone>& all, const hone::OnlineReport& report, std::int64_t step, double seconds) {
    for (Milestone& milestone : all)
        if (milestone.step == 0 && milestone.reached(report)) milestone.step = step, milestone.seconds = seconds;
}

std::string json_of(const hone::OnlineReport& report, const std::vector<Milestone>& reached, const std::map<std::string, double>& seconds,
                    double difference, double allowed) {
    const hone::OnlineProgress& p = report.progress;
    std::string text = fmt::format("{{\"problem\": {}, \"device\": {}, \"state\": {}", hone::json_string(report.problem),
                                   hone::json_string(report.device), hone::json_string(report.state));
    text += fmt::format(", \"steps\": {}, \"explored_steps\": {}, \"evaluations\": {}, \"tried\": {}, \"adopted\": {}, \"first_adopted\": {}",
                        p.steps, p.explored_steps, p.evaluations, p.tried, p.adopted, p.first_adopted);
    for (const auto& [name, value] : seconds) text += fmt::format(", \"seconds_{}\": {}", name, hone::json_number(value));
    for (const Milestone& milestone : reached)
        text +=
            fmt::format(", \"{0}_at_step\": {1}, \"{0}_after_seconds\": {2}", milestone.name, milestone.step, hone::json_number(milestone.seconds));
    text += fmt::format(", \"compiled_after\": {}, \"vetted_after\": {}", hone::json_number(report.compiled_after),
                        hone::json_number(report.vetted_after));
    text += fmt::format(", \"explored_cost\": {}, \"disturbance\": {}, \"stalls\": {}", hone::json_number(p.explored_cost),
                        hone::json_number(p.disturbance), hone::json_number(p.stalls));
    text += fmt::format(", \"regret\": {}, \"allowed\": {}, \"saved\": {}", hone::json_number(p.regret()), hone::json_number(p.allowed()),
                        hone::json_number(p.saved));
    text += fmt::format(", \"first_step\": {}, \"last_step\": {}, \"first_config\": {}, \"config\": {}", hone::json_number(p.first_median),
                        hone::json_number(p.median), hone::json_string(report.first_config), hone::json_string(report.config));
    return text + fmt::format(", \"difference\": {}, \"difference_allowed\": {}}}\n", hone::json_number(difference), hone::json_number(allowed));
}

}  // namespace

int main(int argc, char** argv) try {
    std::string text = "gauss_seidel_27 stencil=constant precision=f64 nx=64 ny=64 nz=64";
    std::string device = "best";
    std::string folder;
    std::string best;
    int steps = 500;
    bool as_json = false;
    std::string beginning = "program";
    hone::OnlineSettings settings;
    CLI::App options("A time loop whose kernel is tuned while it runs. What is found stays in --db, else in HONE_DB or your own folder.");
    options.add_option("--problem", text, "what a time step computes; see 'hone families'")->capture_default_str();
    options.add_option("--steps", steps, "number of time steps")->capture_default_str()->check(hone::examples::positive());
    hone::examples::add_device(options, device, folder);
    options.add_option("--bound", settings.rules.bound, "fraction of the time that exploring may cost")
        ->capture_default_str()
        ->check(hone::examples::not_negative());
    options.add_option("--evaluations", settings.rules.evaluations, "candidates to measure before the finalists are compared")
        ->capture_default_str()
        ->check(hone::examples::positive());
    options.add_option("--strategy", settings.strategy, "search strategy; default: the database's, or hone's own");
    options.add_option("--seed", settings.seed, "seed of the search")->capture_default_str();
    options.add_option("--best", best, "a configuration to time as well");
    options.add_option("--vetting-words", settings.vetting_words, "verify candidates first on arrays of at most this many values")
        ->capture_default_str()
        ->check(hone::examples::positive());
    options.add_flag("--verify-reduced", settings.verify_reduced, "run candidates even if they were not verified at the problem's own size");
    options
        .add_option("--begin", beginning,
                    "when tuning begins: program (the worker opens the device while the program starts), arrays (before they are filled), or steps")
        ->capture_default_str()
        ->check(CLI::IsMember({"program", "arrays", "steps"}));
    options.add_flag("--json", as_json, "print one line of JSON");
    options.footer(
        "Examples:\n"
        "  online                                         500 sweeps of Gauss-Seidel\n"
        "  online --steps 2000 --bound 0.05               at most a twentieth of the time for exploring\n"
        "  online --problem 'poisson7 kernel=apply coefficients=axis boundary=dirichlet precision=f64 nx=64 ny=64 nz=64' --db tuned");
    if (const auto code = hone::examples::read_command_line(options, argc, argv)) return *code;

    std::map<std::string, double> seconds;
    const double program = now();
    if (beginning == "program") settings.early = std::make_shared<hone::EarlyWorker>(device, settings);
    hone::DiskCache cache(hone::DiskCache::default_folder());
    const auto backend = hone::make_backend(device, cache);
    seconds["device"] = now() - program;
    const auto& families = hone::built_in_families();
    const hone::Problem problem = families.parse_problem(text);
    const auto specs = families.of(problem).arrays(problem);
    Arrays arrays(*backend, specs, problem.precision());

    // What an application adds: its worker, above, a tuner as soon as its arrays are allocated,
    // which begins its work while they are filled, one line in place of the launch, and a report if
    // it likes.
    std::optional<hone::OnlineTuner> made;
    const double allocated = now();
    // Arrays that hold places in others must be right whenever a kernel makes tables from them.
    const bool late = beginning == "steps" || std::any_of(specs.begin(), specs.end(), hone::holds_integers);
    if (!late) made.emplace(*backend, families, folder, problem, arrays.pointers, settings);
    const hone::Workload workload = families.of(problem).workload(problem, 1);
    arrays.fill(*backend, workload);
    seconds["setup"] = now() - allocated;
    if (late) made.emplace(*backend, families, folder, problem, arrays.pointers, settings);
    hone::OnlineTuner& tuner = *made;
    tuner.prepare();  // tables come from what the arrays hold now
    backend->synchronise();
    const double begin = now();
    std::vector<Milestone> reached = milestones();
    constexpr int seldom = 8;
    for (int step = 0; step < steps; ++step) {
        tuner.step();
        if (as_json && step % seldom == 0) note(reached, tuner.report(), step + 1, now() - begin);
    }
    backend->synchronise();
    seconds["online"] = now() - begin;
    tuner.finish();
    const hone::OnlineReport report = tuner.report();

    // The untuned run must come to the same result. Kernels differ in the order of their sums
    // alone, by no more in a step than they were verified to; where a step starts from the one
    // before, that adds up.
    hone::KernelLibrary library(*backend, hone::Database(families), families);
    const hone::SearchSpace space = families.of(problem).space(problem, backend->device().limits);
    Arrays untuned(*backend, specs, problem.precision());
    untuned.fill(*backend, workload);
    seconds["safe"] = run_fixed(*backend, library, problem, space.safe(), untuned, steps);
    const double difference = largest_difference(*backend, arrays, untuned, problem.precision());
    const bool goes_on = std::any_of(specs.begin(), specs.end(), [](const hone::ArraySpec& array) { return array.access == hone::Access::inout; });
    const double allowed = workload.tolerance * (goes_on ? steps : 1);
    seconds["found"] = run_fixed(*backend, library, problem, space.parse(report.config), untuned, steps);
    if (!best.empty()) seconds["best"] = run_fixed(*backend, library, problem, space.parse(best), untuned, steps);

    if (as_json) {
        fmt::print("{}", json_of(report, reached, seconds, difference, allowed));
    } else {
        fmt::print("{}", to_string(report));
        for (const auto& [name, value] : seconds)
            fmt::print("  {:<10} {:.4g} s{}\n", name, value, name == "setup" ? "" : fmt::format(" for {} steps", steps));
        fmt::print("  largest difference from the untuned run {:.3g}, allowed {:.3g}\n", difference, allowed);
    }
    return difference <= allowed ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "online: {}\n", error.what());
    return 2;
}
