#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/capture.hpp"
#include "runtime/kernel_hash.hpp"
#include "tools/console/format.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/searches/tuning_session.hpp"
#include "tuner/strategy.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace replay {

constexpr double default_seconds = 60;  // for each launch, as of a problem by 'hone tune'

struct Settings {
    std::vector<std::string> places;
    std::string device = "best";
    std::string database;
    std::string budget;
    std::string strategy;
    std::int64_t evaluations = 0;
    std::int64_t samples = SamplingRule{}.period;
    std::int64_t seed = -1;  // not given
    bool verify = false;
    bool resume = false;
    bool json = false;
};

struct Launch {
    Capture capture;
    Problem problem;
};

std::vector<Launch> launches_of(const Settings& settings) {
    if (settings.places.empty())
        throw Error("replay", "no capture is given", "name the folder that an application with HONE_CAPTURE wrote: hone replay hone-captures");
    std::vector<Launch> launches;
    for (const std::string& place : settings.places)
        for (Capture& capture : read_captures(place)) {
            const Problem problem = know_capture(capture);
            capture.problem = problem.key();
            const auto same = [&](const Launch& launch) { return launch.capture.problem == capture.problem; };
            if (std::any_of(launches.begin(), launches.end(), same))
                throw Error(capture.file.string(), capture.problem + " is captured twice", "replay one of the two at a time");
            launches.push_back({std::move(capture), problem});
        }
    return launches;
}

// What is verified, and why it is not what the application ran; empty where it is.
struct Chosen {
    Config config;
    std::string why;
};

// Settings with commas in between, as any hone writes them.
bool reads_as_configuration(const std::string& text) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::size_t sign = text.find('=', begin);
        if (sign == begin || sign >= end || sign + 1 == end) return false;
        begin = end + 1;
    }
    return true;
}

// The configuration that the application ran where this device has it, else the safe one. One that
// this device and this hone should have, and have not, is a mistake of the file.
Chosen configuration_of(const Launch& launch, const SearchSpace& space, const Device& device) {
    const Capture& capture = launch.capture;
    const bool from_here = capture.hone == HONE_VERSION && capture.device == device.fingerprint.name;
    const bool readable = reads_as_configuration(capture.configuration);
    std::string why = "it is not a list of settings";
    if (readable) try {
            Config config = space.parse(capture.configuration);
            const auto broken = space.check(config);
            const bool whole = !from_here || config.key() == capture.configuration;  // another hone may have had fewer settings
            if (!broken && whole) return {std::move(config), ""};
            why = broken ? broken->reason : "it is a part of " + config.key();
        } catch (const Error& error) {
            why = error.what();
        }
    if (from_here || !readable) throw Error(capture.file.string() + ": configuration", why, "restore the capture, or capture the launch again");
    return {space.safe(), why};
}

Json json_of(const Launch& launch) {
    return {{"file", launch.capture.file.string()},
            {"problem", launch.capture.problem},
            {"captured_on", launch.capture.device},
            {"captured_configuration", launch.capture.configuration},
            {"captured_by_hone", launch.capture.hone}};
}

// One step of a configuration on the captured data, timed if it is right. Nothing: Ctrl-C came.
std::optional<Outcome> outcome_of(WorkerEvaluator& evaluator, const Launch& launch, const Candidate& candidate, const InterruptGuard& guard) {
    constexpr std::uint64_t seed = 1;
    constexpr double most_seconds = 30;
    evaluator.begin(launch.problem, seed, most_seconds);
    evaluator.prepare(candidate);
    auto outcome = evaluator.evaluate(candidate, 0, [&] { return guard.requested(); });
    evaluator.abandon();
    return outcome;
}

// What is wrong on an application's data is handed out no more.
void mark(const Settings& settings, const Device& device, const Problem& problem, const Config& config, const Outcome& outcome, Console& console) {
    try {
        const std::string hash = kernel_hash(known_families().of(problem).kernel(problem, config, device.limits).text);
        mark_wrong(known_families(), database_folder(settings.database), {device.fingerprint, device.limits},
                   {{problem, config, hash, outcome.reason + "; found by 'hone replay'"}});
    } catch (const Error& error) {
        console.message("hone: {} is wrong, and could not be marked: {}\n", problem.key(), error.what());
    }
}

Exit verify(const Settings& settings, const std::vector<Launch>& launches, Console& console) {
    const InterruptGuard guard;  // first, so that it outlives the workers
    const Device device = find_device(settings.device);
    DiskCache cache(DiskCache::default_folder());
    open_compiler({device.limits, device.fingerprint.architecture, device.fingerprint.name}, cache);
    WorkerEvaluator evaluator(WorkerSettings{.device = device, .cache = cache.folder(), .command = worker_words(), .strict = true});
    Json results = Json::array();
    bool all = true;
    for (const Launch& launch : launches) {
        const SearchSpace space = known_families().of(launch.problem).space(launch.problem, device.limits);
        const auto [config, why] = configuration_of(launch, space, device);
        if (!why.empty())
            console.message("hone: {}: the captured configuration cannot run here ({}); the safe one is verified\n", launch.capture.file.string(),
                            why);
        const auto outcome = outcome_of(evaluator, launch, {.index = space.index_of(config), .config = config}, guard);
        if (!outcome) return Exit::interrupted;
        all = all && outcome->measured();
        if (outcome->status == Status::wrong) mark(settings, device, launch.problem, config, *outcome, console);
        const std::string told = outcome->measured() ? duration(outcome->step.median) + " a step" : outcome->reason;
        if (!settings.json) {
            console.print("{}  {}\n    {}\n    {}: {}; largest difference {:.3g}, allowed {:.3g}\n", launch.capture.file.string(),
                          short_key(launch.problem, known_families()), config.key(), to_string(outcome->status), told, outcome->verification_error,
                          outcome->tolerance);
            continue;
        }
        Json result = json_of(launch);
        result["configuration"] = config.key();
        if (!why.empty()) result["not_the_captured_one"] = why;
        result["status"] = to_string(outcome->status);
        if (outcome->measured()) result["step_seconds"] = outcome->step.median;
        if (!outcome->measured()) result["reason"] = outcome->reason;
        // JSON has no infinity, which is what an unwritten value differs by.
        result["largest_difference"] = std::isfinite(outcome->verification_error) ? Json(outcome->verification_error) : Json();
        result["tolerance"] = outcome->tolerance;
        results.push_back(std::move(result));
    }
    if (settings.json) print(console, Json{{"device", device.fingerprint.name}, {"launches", std::move(results)}});
    return all ? Exit::ok : Exit::nothing;
}

Exit tune(const Settings& settings, const std::vector<Launch>& launches, Console& console) {
    TuneSettings tune;
    for (const Launch& launch : launches) tune.problems.push_back(launch.problem);
    tune.device = find_device(settings.device);
    require_possible(tune.problems, known_families(), tune.device);
    tune.folder = database_folder(settings.database);
    tune.named_folder = !settings.database.empty();
    if (!settings.budget.empty()) tune.seconds = parse_duration(settings.budget);
    if (settings.budget.empty() && settings.evaluations == 0) tune.seconds = default_seconds * static_cast<double>(launches.size());
    if (!settings.strategy.empty()) tune.strategy = find_strategy(settings.strategy).name;
    tune.evaluations = static_cast<int>(std::min<std::int64_t>(settings.evaluations, 1 << 30));
    tune.samples = static_cast<int>(std::min<std::int64_t>(settings.samples, 100000));
    if (settings.seed >= 0) tune.seed = static_cast<std::uint64_t>(settings.seed);
    tune.resume = settings.resume;
    TuningSession session(tune, console);
    const std::vector<TunedProblem> tuned = session.run();
    if (settings.json) {
        Json results = Json::array();
        for (const TunedProblem& problem : tuned) results.push_back(tools::json_of(problem));
        Json captures = Json::array();
        for (const Launch& launch : launches) captures.push_back(json_of(launch));
        print(console, Json{{"device", tune.device.fingerprint.name},
                            {"database", tune.folder.string()},
                            {"captures", std::move(captures)},
                            {"results", std::move(results)}});
    } else {
        console.print("\n{}\ndatabase: {}\n", tuning_summary(tuned), tune.folder.string());
    }
    if (session.interrupted()) return Exit::interrupted;
    return succeeded(tuned, tune.evaluations) ? Exit::ok : Exit::nothing;
}

Exit run(const Settings& settings, Console& console) {
    const std::vector<Launch> launches = launches_of(settings);
    return settings.verify ? verify(settings, launches, console) : tune(settings, launches, console);
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("DIR...", settings->places, "folders of captured launches, or single files from them");
    options.text("device", settings->device, "NAME", "a device of this machine: cpu, cuda, cuda:1 or best; default best");
    options.text("budget", settings->budget, "TIME", "30s, 5m, 1h30m for all launches together; default one minute each, or none with --evaluations");
    options.number("evaluations", settings->evaluations, "N", "at most this many candidates per launch; default no limit", 1);
    options.number("samples", settings->samples, "N", "at most this many time steps per candidate; default 40", 6);
    options.text("strategy", settings->strategy, "NAME", "as for 'hone tune'");
    options.number("seed", settings->seed, "N", "seed of all random choices; default 1");
    declare_own_database(options, settings->database);
    options.flag("resume", settings->resume, "continue a run that was interrupted or killed");
    options.flag("verify", settings->verify, "do not search: run the captured configuration, or the safe one if this device lacks it");
    options.flag("json", settings->json, "print one JSON document at the end");
    return [settings](Console& console) { return run(*settings, console); };
}

}  // namespace replay

Command replay_command() {
    return {
        "replay",
        "tune or verify launches that an application captured, with its data",
        "DIR... [options]",
        "An application that runs with HONE_CAPTURE=PATTERN saves the first launch of each matching problem: its sizes, its configuration and the "
        "contents of the arrays. This command tunes these problems with the saved data instead of random data, on this or another machine, without "
        "the application. It compares every candidate with the plain loops on these data. It stores winners like 'hone tune', and the application "
        "finds them at its next start.\n\n"
        "A launch of a kernel folder needs the unchanged folder: name it in HONE_KERNELS. Exit code 1 if a launch has no result, or with --verify "
        "if one is wrong.",
        {{"replay hone-captures --budget 5m", "all captured launches, five minutes together"},
         {"replay hone-captures --verify --json", "whether the launches were right, for a script"}},
        replay::declare};
}

}  // namespace hone::tools
