#include <fmt/ranges.h>

#include <algorithm>

#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_table.hpp"
#include "tuner/online/first_use.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::tools {
namespace lookup {

struct Settings {
    std::vector<std::string> problem;
    std::string device;
    std::string as;
    std::string arch;
    std::string partner;
    std::string database;
    bool explain = false;
    bool json = false;
    bool measure = false;
    std::string budget = "2s";
};

// Seconds of a step of `problem`, from a record of perhaps another size: in proportion to the
// compulsory bytes or operations, whichever binds.
double expected_seconds(const Family& family, const Problem& problem, const Record& record) {
    const Counts counts = family.counts(problem);
    const bool arithmetic = record.ceiling == "arithmetic" && record.counts.operations > 0;
    const double ratio = arithmetic ? counts.operations / record.counts.operations : counts.bytes / record.counts.bytes;
    return record.step.median * ratio;
}

// A time is only worth stating for the device that was measured.
bool same_device(Grade grade) {
    return grade <= Grade::nearest_size;
}

std::string explained(const Match& match, const Problem& problem) {
    if (match.record && match.record->problem == problem && !match.record->verified_on.empty())
        return "tuned for this very problem, but verified at a smaller size only";
    switch (match.grade) {
        case Grade::exact:
            return "tuned for this very problem on this device";
        case Grade::measured:
            return "the best of a few suggestions, measured for this very problem on this device";
        case Grade::nearest_size:
            return "tuned for another size on this device";
        case Grade::same_architecture:
            return "tuned on another device";
        case Grade::predicted:
            return "nothing tuned fits; results of neighbouring problems suggest it";
        case Grade::other_architecture:
            return match.record ? "tuned on another architecture" : "nothing tuned fits; results of other architectures suggest it";
        case Grade::none:
            break;
    }
    return "nothing tuned fits; the family's safe configuration is used";
}

Json document_of(const Family& family, const Problem& problem, const Match& match) {
    Json document{{"problem", json_of(problem)}, {"grade", to_string(match.grade)}, {"config", json_of(match.config)}};
    if (!match.sources.empty()) {
        document["sources"] = Json::array();
        for (const Source& source : match.sources)
            document["sources"].push_back({{"problem", json_of(source.problem)},
                                           {"device", source.device},
                                           {"distance", source.distance},
                                           {"config", json_of(source.config)},
                                           {"proposed", json_of(source.member)}});
    }
    if (!match.record) return document;
    // What was found for another arithmetic is of another kind, so sizes are not compared.
    if (problem.class_key() == match.record->problem.class_key())
        document["distance"] = scale_distance(scale_of(family, match.record->problem), scale_of(family, problem)).total();
    if (same_device(match.grade)) document["expected_seconds"] = expected_seconds(family, problem, *match.record);
    document["record"] = json_of(*match.record);
    document["folder"] = match.folder.string();
    if (!match.note.empty()) document["note"] = match.note;
    return document;
}

// Where two configurations differ: "block=64 (here 128), unroll=4 (here 2)".
std::string differences(const Config& there, const Config& here) {
    std::vector<std::string> found;
    for (const Assignment& own : here.assignments())
        for (const Assignment& other : there.assignments())
            if (other.name == own.name && other.value != own.value)
                found.push_back(fmt::format("{}={} (here {})", own.name, to_string(other.value), to_string(own.value)));
    return found.empty() ? "the same" : fmt::format("{}", fmt::join(found, ", "));
}

// Results for other sizes of the problem that do not answer for it, the nearest first, and why:
// "entries=192100033 ... on NVIDIA H200: 210 entries a row, not 26.6".
std::vector<std::string> passed_over(const Database& database, const Family& family, const Problem& problem, const DeviceFingerprint& device) {
    constexpr std::size_t most = 3;
    std::vector<std::pair<double, std::string>> found;
    for (const Record& record : database.records()) {
        if (record.problem.class_key() != problem.class_key() || !record.purpose.empty()) continue;
        if (record.device.target != device.target || instruction_set(record.device) != instruction_set(device)) continue;
        const ScaleDistance apart = scale_distance(scale_of(family, record.problem), scale_of(family, problem));
        if (apart.near() && !beaten_by_safe(record)) continue;
        std::string why = apart.differing;
        if (apart.near())
            why = "its untuned configuration was faster";
        else if (apart.sizes > ScaleDistance::most_octaves)
            why += fmt::format("{}sizes {} octaves apart", why.empty() ? "" : "; ", significant(apart.sizes));
        std::vector<std::string> extents;
        for (const std::string& name : problem.extents()) extents.push_back(fmt::format("{}={}", name, record.problem.integer(name)));
        found.emplace_back(apart.total(), fmt::format("{} on {}: {}", fmt::join(extents, " "), record.device.name, why));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> lines;
    for (const Record& mark : database.marks())
        if (mark.problem.class_key() == problem.class_key() && mark.device.target == device.target)
            lines.push_back(fmt::format("{} is wrong: {} on {}: {}", with_todays_names(mark, known_families()).config.key(), mark.problem.key(),
                                        mark.device.name, mark.wrong));
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) lines.push_back(std::move(found[i].second));
    return lines;
}

void print_text(const Family& family, const Problem& problem, const Match& match, const std::vector<std::string>& nearest,
                const std::vector<std::string>& others, bool explain, Console& console) {
    std::vector<std::pair<std::string, std::string>> lines{{"grade", to_string(match.grade) + ": " + explained(match, problem)},
                                                           {"configuration", match.config.key()}};
    if (match.record) {
        const Record& record = *match.record;
        lines.emplace_back("taken from", record.problem.key());
        if (!match.note.empty()) lines.emplace_back("but", match.note);
        lines.emplace_back("measured on", device_line(record.device));
        if (record.team) lines.emplace_back("", team_line(*record.team));
        lines.emplace_back("", fmt::format("{}, {} a step, {} GB/s, {} candidates by {}", record.date, duration(record.step.median),
                                           significant(record.gigabytes_per_second()), record.evaluations, record.strategy));
        if (same_device(match.grade)) lines.emplace_back("expected", duration(expected_seconds(family, problem, record)) + " a step");
    }
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < match.sources.size() && (explain || i < most); ++i) {
        const Source& source = match.sources[i];
        lines.emplace_back(i == 0 ? "suggested by" : "", source.problem.key() + " on " + source.device);
        if (explain) {
            lines.emplace_back("", fmt::format("at distance {}, tuned: {}", significant(source.distance), differences(source.config, match.config)));
            if (source.member != source.config) lines.emplace_back("", "as far as this space allows: " + differences(source.member, match.config));
        }
    }
    for (const std::string& other : others) lines.emplace_back(&other == &others.front() ? "not taken" : "", other);
    if (!match.folder.empty() && match.record) lines.emplace_back("in", match.folder.string());
    if (!nearest.empty()) lines.emplace_back("no record", fmt::format("nearest are {}", fmt::join(nearest, "; ")));
    console.print("{}\n{}", fitted(problem.key(), console.out_width()), definition_list(lines, console.out_width()));
}

// Both devices with the part of the range that each should take.
Json document_of(const Share& share) {
    Json document{{"grade", to_string(share.grade)},
                  {"share", share.share},
                  {"config", json_of(share.config)},
                  {"partner_config", json_of(share.partner_config)}};
    if (share.record) document["record"] = json_of(*share.record);
    return document;
}

void print_share(const Share& share, const Device& device, const Device& partner, Console& console) {
    if (share.grade == Grade::none) {
        console.print("{}", definition_list({{"share", "nothing is known about this pair of devices: use one"}}));
        return;
    }
    const bool exact = share.grade == Grade::exact;
    console.print("{}",
                  definition_list({{"share", fmt::format("{} on {}, the rest on {}; {}", percent(share.share), device_id(device), device_id(partner),
                                                         exact ? "found for this very problem" : "found for " + share.record->problem.key())},
                                   {device_id(device), share.config.key()},
                                   {device_id(partner), share.partner_config.key()},
                                   {"measured", fmt::format("{}, {} a step; alone {} and {}", share.record->date, duration(share.record->step.median),
                                                            duration(share.known->own_seconds), duration(share.known->partner_seconds))}}));
}

// The device of these words, which need not be here: of this machine, of the records, or any of an
// architecture.
Device device_of(const Settings& settings, const Database& database) {
    const auto given = static_cast<int>(!settings.device.empty()) + static_cast<int>(!settings.as.empty()) + static_cast<int>(!settings.arch.empty());
    if (given > 1) throw Error("lookup", "more than one of --device, --as and --arch is given", "use one of them");
    if (!settings.as.empty()) return recorded_device(settings.as, database);
    if (settings.arch.empty()) return find_device(settings.device.empty() ? "best" : settings.device);
    const int architecture = parse_architecture(settings.arch, "--arch");
    const std::string name = fmt::format("sm_{}", architecture);
    const Limits limits = cuda_limits(architecture);
    return {.fingerprint = {Target::cuda, "any " + name, name, limits.multiprocessors, "", ""}, .limits = limits};
}

// What is known of other orders, precisions and kinds, where nothing fits.
std::vector<std::string> neighbours(const Database& database, const Problem& problem, const DeviceFingerprint& device) {
    constexpr std::size_t most = 3;
    std::vector<std::string> names;
    for (const auto& [record, distance] : database.neighbours(problem, device)) {
        const std::string name = record->problem.key() + " on " + record->device.name;
        if (names.size() < most && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

// What its first use would find; nothing where nothing was compared, which is told.
std::optional<Match> measured(const Settings& settings, const Database& database, const Families& families, const Device& device,
                              const Problem& problem, Console& console) {
    const FirstUseSettings first_use{.seconds = parse_duration(settings.budget), .folder = settings.database, .worker = worker_words()};
    std::string why;
    auto match = measured_match(database, families, device, problem, first_use, why);
    if (!match) console.message("hone: {}: nothing was measured: {}\n", problem.key(), why);
    return match;
}

Exit look_up(const Settings& settings, Console& console) {
    const Families& families = known_families();
    const std::vector<Problem> problems = problems_of(settings.problem, families);
    const Database database = read_database(settings.database, "", families, console);
    const Device device = device_of(settings, database);
    if (settings.measure && (!settings.as.empty() || !settings.arch.empty()))
        throw Error("lookup", "--measure is given with --as or --arch", "measure on the machine that has the device");
    if (!(parse_duration(settings.budget) > 0)) throw Error("--budget", settings.budget + " is zero", "use 2s or 500ms");
    std::optional<Device> partner;
    if (!settings.partner.empty()) partner = find_device(settings.partner);
    const bool here = settings.as.empty() && settings.arch.empty();
    Json matches = Json::array();
    bool all_found = true;
    for (const auto& problem : problems) {
        const Family& family = families.of(problem);
        Match match = database.best(problem, device.fingerprint, device.limits);
        if (settings.measure && match.grade > Grade::measured)
            match = measured(settings, database, families, device, problem, console).value_or(match);
        std::optional<Share> share;
        if (partner) share = database.best_share(problem, {device.fingerprint, device.limits}, {partner->fingerprint, partner->limits});
        const auto nearest = match.grade == Grade::none ? neighbours(database, problem, device.fingerprint) : std::vector<std::string>{};
        all_found = all_found && (share ? share->grade != Grade::none : match.record.has_value());
        if (settings.json) {
            matches.push_back(document_of(family, problem, match));
            if (match.grade == Grade::none) matches.back()["nearest"] = nearest;
            if (share) matches.back()["hybrid"] = document_of(*share);
        } else {
            const bool wanted = settings.explain && match.grade != Grade::exact;
            const auto others = wanted ? passed_over(database, family, problem, device.fingerprint) : std::vector<std::string>{};
            print_text(family, problem, match, nearest, others, settings.explain, console);
            if (share) print_share(*share, device, *partner, console);
        }
    }
    if (settings.json)
        print(console,
              Json{{"device", {{"id", here ? device_id(device) : ""}, {"name", device.fingerprint.name}, {"key", device_key(device.fingerprint)}}},
                   {"matches", std::move(matches)}});
    else if (!all_found)
        console.message("hone: nothing {} fits; 'hone {}' with the same words would change that\n", partner ? "balanced" : "tuned",
                        partner ? "balance" : "tune");
    return all_found ? Exit::ok : Exit::nothing;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one or several problems; see 'hone families'");
    options.text("device", settings->device, "NAME", "a device of this machine: cpu, cuda, cuda:1 or best; default best");
    options.text("as", settings->as, "MODEL",
                 "a device model, which need not be on this machine: of the records, or one that hone knows, e.g. A100 or \"RTX 4090\"");
    options.text("arch", settings->arch, "sm_NN", "any GPU of this architecture, which need not be on this machine");
    options.text("partner", settings->partner, "NAME", "another device of this machine: also how the two share a step; see 'hone balance'");
    declare_database(options, settings->database);
    options.flag(
        "measure", settings->measure,
        "where no result is of the very problem: compile, verify and time what results of others suggest, keep the best, and answer with it, "
        "as programs do with HONE_FIRST_USE=measured");
    options.text("budget", settings->budget, "TIME", "of --measure, for each problem: 2s, 500ms; default 2s");
    options.flag("explain", settings->explain,
                 "for a prediction: all results that it is based on, and how they differ from it; also the results for other sizes that were "
                 "skipped");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return look_up(*settings, console); };
}

}  // namespace lookup

Command lookup_command() {
    return {
        "lookup",
        "which configuration an application would get for a problem, and why",
        "FAMILY key=value... [options]",
        "Asks the database as an application does, and prints the grade of the answer "
        "(exact, measured, nearest_size, same_architecture, predicted, other_architecture, none), "
        "the configuration, its record, and the expected time of a step. If no record fits, the configuration is predicted from results for other "
        "orders, precisions and kinds, or from those of other architectures. With grade none, it is the family's safe configuration, which runs "
        "everywhere. If no single record answers, the exit code is 1.\n\n"
        "With --partner it also prints which part of every step each device should compute. The exit code is 1 if nothing is known about the pair.",
        {{"lookup gauss_seidel_27 stencil=constant precision=f32 nx=100 ny=90 nz=80 --device cpu --db DIR --json", "for a script"},
         {"lookup gauss_seidel_27 stencil=constant precision=f32 nx=256 ny=256 nz=256 --device cuda --partner cpu", "how two devices share it"},
         {"lookup dg_volume equation=maxwell_3d order=3 precision=f32 elements=100000 --as nvidia_h200", "what an application would get there"},
         {"lookup batched_gemm m=24 n=24 k=24 precision=f64 batch=100000 --as nvidia_h200 --explain",
          "why it is predicted for a shape that nobody tuned"},
         {"lookup poisson7 kernel=direction coefficients=axis boundary=dirichlet precision=f64 nx=130 ny=130 nz=130 --measure",
          "the best of a few suggestions, timed now and kept"},
         {"lookup dg_volume equation=maxwell_3d order=3 precision=f32 elements=100000 --as A100", "on a device that nobody has tuned for"},
         {"lookup dg_volume equation=maxwell_3d order=1..10 precision=f32 elements=100000", "ten problems, on the best device"}},
        lookup::declare};
}

}  // namespace hone::tools
