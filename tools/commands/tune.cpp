#include <algorithm>

#include "foundation/processors.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/ranks/device_of_rank.hpp"
#include "tools/console/format.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_table.hpp"
#include "tools/searches/default_problems.hpp"
#include "tools/searches/tuning_devices.hpp"
#include "tools/searches/tuning_session.hpp"
#include "tuner/objective.hpp"
#include "tuner/restriction.hpp"
#include "tuner/strategy.hpp"
#include "tuner/worker/rank_team.hpp"

namespace hone::tools {
namespace tune {

constexpr double default_seconds = 60;  // for each problem; the curve of the best so far is nearly flat by then

struct Settings {
    std::vector<std::string> problem;
    std::string device;
    std::string devices;
    std::string database;
    std::string budget;
    std::string until;
    TuningRequest request;
    std::int64_t evaluations = 0;
    std::int64_t samples = SamplingRule{}.period;
    std::int64_t seed = -1;  // not given
    bool energy = false;
    bool no_prior = false;
    bool resume = false;
    bool measure_ceilings = false;
    bool force = false;
    bool profile = false;
    bool watch = false;
    bool json = false;
};

// Only a strategy with a model can tell what is left to gain.
void require_outlook(const std::string& strategy) {
    const StrategyEntry& entry = strategy.empty() ? strategies().front() : find_strategy(strategy);
    if (!entry.has_outlook)
        throw Error("--until", "the strategy " + entry.name + " has no model of what is left to gain", "leave out --strategy, or --until");
}

/// The candidates ahead of their reports must keep every device and every compiler busy, also while
/// an old one takes long.
int window_for(std::size_t devices) {
    constexpr std::size_t for_each = 4;
    return static_cast<int>(for_each * devices);
}

void take_devices(const Settings& settings, TuneSettings& tune) {
    if (!settings.device.empty() && !settings.devices.empty()) throw Error("--devices", "--device is given, too", "give one of them");
    const std::string list = settings.devices.empty() ? settings.device : settings.devices;
    const RankPlace place = rank_place();
    if (place.ranks > 1) {
        if (!settings.devices.empty())
            throw Error("--devices", fmt::format("this is rank {} of {}, and each rank has one device", place.rank, place.ranks),
                        "leave it out, or give --device cuda or cpu");
        tune.device = find_device(device_of_rank(list.empty() ? "best" : list, place.on_host));
        return;
    }
    TuningDevices found = find_tuning_devices(list.empty() ? "best" : list);
    tune.device = std::move(found.device);
    tune.places = std::move(found.places);
    tune.team = std::move(found.team);
    tune.window = window_for(tune.places.size());
}

TuneSettings settings_of(const Settings& settings) {
    TuneSettings tune;
    tune.take(settings.request);
    const Families& families = known_families();
    if (!settings.problem.empty()) tune.problems = problems_of(settings.problem, families);
    if (!settings.budget.empty()) tune.seconds = parse_duration(settings.budget);
    if (!settings.budget.empty() && tune.seconds == 0) throw Error("--budget", settings.budget + " is zero", "use 30s, 5m or 1h30m");
    if (!tune.strategy.empty()) tune.strategy = find_strategy(tune.strategy).name;
    if (!settings.until.empty()) {
        tune.until = parse_proper_percent("--until", settings.until);
        require_outlook(tune.strategy);
    }
    if (!tune.objective.empty()) tune.objective = parse_objective(tune.objective).name;
    take_devices(settings, tune);
    if (settings.problem.empty()) {
        tune.problems = default_problems(tune.device, families);
        tune.skip_tuned = !settings.force && !settings.resume;
    }
    require_possible(tune.problems, families, tune.device);
    tune.folder = database_folder(settings.database);
    tune.named_folder = !settings.database.empty();
    if (settings.budget.empty() && settings.evaluations == 0 && settings.until.empty())
        tune.seconds = default_seconds * static_cast<double>(tune.problems.size());
    tune.evaluations = static_cast<int>(std::min<std::int64_t>(settings.evaluations, 1 << 30));
    tune.samples = static_cast<int>(std::min<std::int64_t>(settings.samples, 100000));
    if (settings.seed >= 0) tune.seed = static_cast<std::uint64_t>(settings.seed);
    tune.resume = settings.resume;
    tune.measure_ceilings = settings.measure_ceilings;
    tune.watch = settings.watch;
    tune.energy = settings.energy;
    tune.prior = !settings.no_prior;
    for (const Problem& problem : tune.problems) parse_restriction(families.of(problem).space(problem, tune.device.limits), tune.only);
    return tune;
}

void announce(const TuneSettings& tune, Console& console) {
    const std::string times = tune.places.empty() ? "" : fmt::format("{} x ", tune.places.size());
    console.message("tuning {} on {}{}{}\n", tune.problems.size() == 1 ? "one problem" : fmt::format("{} problems", tune.problems.size()), times,
                    device_line(tune.device.fingerprint),
                    tune.seconds == 0 ? "" : fmt::format("; {}{}", duration(tune.seconds), tune.problems.size() > 1 ? " shared among them" : ""));
}

Json document_of(const TuneSettings& tune, const TuningSession& session, const std::vector<TunedProblem>& tuned, bool profile) {
    Json results = Json::array();
    for (const auto& problem : tuned) {
        results.push_back(json_of(problem));
        if (profile && !problem.already_tuned) results.back()["profile"] = profile_json(problem);
    }
    const Ceilings& ceilings = session.ceilings();
    return {{"device", {{"id", device_id(tune.device)}, {"name", tune.device.fingerprint.name}, {"key", device_key(tune.device.fingerprint)}}},
            {"ceilings",
             {{"copy_bytes_per_second", ceilings.copy_bytes_per_second},
              {"fma_f32", ceilings.fma_f32},
              {"fma_f64", ceilings.fma_f64},
              {"how", ceilings.how}}},
            {"database", tune.folder.string()},
            {"interrupted", session.interrupted()},
            {"results", std::move(results)}};
}

/// A rank that is not the first: its part of a run, until the first one ends that.
Exit serve(const TuneSettings& tune, const RankPlace& place) {
    const InterruptGuard guard;
    const DiskCache cache(DiskCache::default_folder());
    serve_rank(rank_folder(tune.folder, place), place, tune.device, cache.folder(), worker_words(), [&guard] { return guard.requested(); });
    return guard.requested() ? Exit::interrupted : Exit::ok;
}

/// What the other ranks of a run have.
std::unique_ptr<RankTeam> gather(TuneSettings& tune, const RankPlace& place, Console& console) {
    constexpr double patience = 60;  // a launcher starts all ranks at about the same time
    const DiskCache cache(DiskCache::default_folder());
    auto team = std::make_unique<RankTeam>(rank_folder(tune.folder, place), place, tune.device, cache.folder(), "/proc/self/exe", patience,
                                           [&console](const std::string& text) { console.message("{}\n", text); });
    const std::vector<WorkerPlace> others = team->places();
    const std::string own = device_id(tune.device) == "cpu" ? "processors " + processor_list(processors().numbers) : device_id(tune.device);
    tune.places = {{.name = "rank 0, " + own, .index = tune.device.index}};
    tune.places.insert(tune.places.end(), others.begin(), others.end());
    tune.compilers = team->compilers();
    tune.window = window_for(tune.places.size());
    return team;
}

Exit run_tune(const Settings& settings, Console& console) {
    TuneSettings tune = settings_of(settings);
    const RankPlace place = rank_place();
    if (place.rank > 0) return serve(tune, place);
    const std::unique_ptr<RankTeam> others = place.ranks > 1 ? gather(tune, place, console) : nullptr;
    TuningSession session(tune, console);
    announce(tune, console);
    const std::vector<TunedProblem> tuned = session.run();
    if (settings.json) {
        print(console, document_of(tune, session, tuned, settings.profile));
    } else {
        console.print("\n{}\n\n{}\ndatabase: {}\n", device_line(tune.device.fingerprint), tuning_summary(tuned), tune.folder.string());
        for (const auto& problem : tuned)
            if (const std::string table = settings.profile ? profile_table(problem) : ""; !table.empty()) console.print("\n{}", table);
    }
    if (session.interrupted()) {
        console.message("hone: interrupted; {} of {} problems are done, the same command with --resume goes on\n", tuned.size() - 1,
                        tune.problems.size());
        return Exit::interrupted;
    }
    return succeeded(tuned, tune.evaluations) ? Exit::ok : Exit::nothing;
}

std::string strategy_help() {
    std::string text = "how candidates are chosen: ";
    for (const auto& entry : strategies()) text += entry.name + " (" + entry.summary + "), ";
    return text + "the first is the default";
}

std::string objective_help() {
    std::string text = "what to minimise:";
    for (const auto& entry : objectives()) text += entry.objective.name + " (" + entry.summary + "), ";
    return text + "or weighted:W, seconds^(1-W) joules^W; default time. Energy needs a meter: 'hone doctor' lists them";
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY key=value...]", settings->problem, "problems; none: a few of each family, sized for the device, that are not tuned yet");
    options.text("device", settings->device, "NAME", "a device of this machine: cpu, cuda, cuda:1 or best; default best");
    options.text("devices", settings->devices, "LIST",
                 "several devices of one kind, which share the candidates: cuda:all, or cuda:0,cuda:1; cpu,cpu are halves of the processors");
    options.text(
        "budget", settings->budget, "TIME",
        "30s, 5m, 1h30m: for this run, shared among its problems; default one minute for each problem, or none with --evaluations or --until");
    options.number("evaluations", settings->evaluations, "N",
                   "at most this many candidates per problem, including the safe configuration; default no limit", 1);
    options.text("until", settings->until, "PERCENT",
                 "end a problem's search once the strategy's model gives less than 5 % probability to a further gain of this much: 1%");
    declare_own_database(options, settings->database);
    options.flag("resume", settings->resume,
                 "continue a run that was interrupted or killed, or whose budget ended; no finished evaluation is repeated");
    options.text("strategy", settings->request.strategy, "NAME", strategy_help());
    options.text("objective", settings->request.objective, "NAME", objective_help());
    options.flag("energy", settings->energy, "also meter the energy of the finalists, whatever the objective, and store it in the record");
    options.text("only", settings->request.only, "key=value,...",
                 "only configurations with these values (a key given twice: with either), and the safe one");
    options.number("among", settings->request.among, "N",
                   "choose among N configurations drawn with the seed, and the safe one: those that 'hone compile --among N' compiles ahead", 1);
    options.flag("no-prior", settings->no_prior, "do not start from the database's results for neighbouring orders, sizes and devices");
    options.number("seed", settings->seed, "N", "of all random choices; default 1, or with --resume the earlier run's");
    options.number("samples", settings->samples, "N", "at most this many time steps per candidate, fewer if the spread already decides; default 40",
                   6);
    options.flag("force", settings->force, "without problems: also those that are tuned already");
    options.flag("watch", settings->watch,
                 "show the whole session on the terminal: every problem with its candidates, failures, time left and best so far");
    options.flag("profile", settings->profile, "also show where the time went: set-up, reference, ceilings, compilers, verification, measurements");
    options.flag("measure-ceilings", settings->measure_ceilings, "measure the device's ceilings again, even if an earlier run did");
    options.flag("json", settings->json, "print one JSON document at the end");
    return [settings](Console& console) { return run_tune(*settings, console); };
}

}  // namespace tune

Command tune_command() {
    return {
        "tune",
        "find the fastest configuration of problems on a device",
        "[FAMILY key=value...] [options]",
        "Evaluates configurations on the device. It compiles candidates ahead on all cores, verifies each one against the plain loops with random "
        "data, and times it over a sampling period of time steps. The safe configuration comes first, so that there is always a result to compare "
        "with. At the end it measures the best few again, alternating between them, and one wins. A candidate that hangs, crashes or computes "
        "wrong values only costs that candidate.\n\n"
        "When a problem is done, its winner is merged into the database, unless only the safe configuration was measured. Every evaluation is "
        "written to a journal (DIR/journals) at once: after Ctrl-C, kill or a power failure, --resume continues the run. Ctrl-C keeps the best so "
        "far and ends with exit code 4; a second Ctrl-C quits at once.\n\n"
        "'hone watch' shows the same as --watch on another terminal, even after the run has ended.\n\n"
        "With --devices, every device takes the next candidate as soon as it is free. Only the first device times the finalists, and the record "
        "names it. A run may be resumed with more or fewer devices.\n\n"
        "Several problems (lists, ranges, several families) are tuned one after another. --budget is for the whole run; the remaining problems "
        "share it evenly. For trustworthy times, use the device for nothing else meanwhile.",
        {{"tune", "one problem of each of several families on the best device; what tools/quickstart does"},
         {"tune gauss_seidel_27 stencil=constant,variable precision=f32 nx=96 ny=96 nz=96 --device cpu --budget 30s --db DIR",
          "two problems, 15 seconds each"},
         {"tune dg_volume equation=maxwell_3d order=1..10 precision=f32,f64 elements=100000 --device cuda --budget 1h", "twenty problems in an hour"},
         {"tune dg_volume equation=acoustics_3d order=4 precision=f32 elements=100000 --evaluations 50 --strategy random --seed 7 --json",
          "a run that can be repeated, for a script"},
         {"tune dg_volume equation=maxwell_3d order=4 precision=f64 elements=100000 --until 1% --budget 10m",
          "as long as it pays: until hardly 1 % is left to gain, ten minutes at most"},
         {"tune gauss_seidel_27 stencil=constant precision=f32 nx=512 ny=512 nz=512 --device cuda --objective energy", "least energy of a step"},
         {"tune gauss_seidel_27 stencil=constant precision=f32 nx=512 ny=512 nz=512 --only form=points,block_x=32,block_x=64 --strategy exhaustive",
          "all of a part of the space"},
         {"tune gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --devices cpu,cpu --budget 15s --db DIR",
          "for processes with half of the processors each, on both halves at once"},
         {"tune gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --device cpu --budget 15s --profile",
          "where the time of a run goes"}},
        tune::declare};
}

}  // namespace hone::tools
