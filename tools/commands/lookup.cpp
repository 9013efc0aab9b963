#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/format.hpp"
#include "tools/problem_words.hpp"
#include "tools/record_table.hpp"
#include "tools/target.hpp"

namespace hone::tools {
namespace {

struct Settings {
    std::vector<std::string> problem;
    std::string device = "best";
    std::string database;
    bool json = false;
};

// Seconds of a step of `problem`, from a record of perhaps another size: in proportion to the compulsory bytes or operations, whichever binds.
double expected_seconds(const Family& family, const Problem& problem, const Record& record) {
    const Counts counts = family.counts(problem);
    const bool arithmetic = record.ceiling == "arithmetic" && record.counts.operations > 0;
    const double ratio = arithmetic ? counts.operations / record.counts.operations : counts.bytes / record.counts.bytes;
    return record.step.median * ratio;
}

// A time is only worth stating for the device that was measured.
bool same_device(Grade grade) {
    return grade == Grade::exact || grade == Grade::nearest_size;
}

std::string explained(Grade grade) {
    switch (grade) {
        case Grade::exact:
            return "exact: tuned for this very problem on this device";
        case Grade::nearest_size:
            return "nearest size: tuned for another size on this device";
        case Grade::same_architecture:
            return "same architecture: tuned on another device";
        case Grade::none:
            break;
    }
    return "none: nothing tuned fits; the family's safe configuration is used";
}

Json document_of(const Family& family, const Problem& problem, const Match& match) {
    Json document{{"problem", json_of(problem)}, {"grade", to_string(match.grade)}, {"config", json_of(match.config)}};
    if (!match.record) return document;
    document["distance"] = extent_distance(problem, match.record->problem);
    if (same_device(match.grade)) document["expected_seconds"] = expected_seconds(family, problem, *match.record);
    document["record"] = json_of(*match.record);
    return document;
}

void print_text(const Family& family, const Problem& problem, const Match& match, Console& console) {
    std::vector<std::pair<std::string, std::string>> lines{{"grade", explained(match.grade)}, {"configuration", match.config.key()}};
    if (match.record) {
        const Record& record = *match.record;
        lines.emplace_back("taken from", record.problem.key());
        lines.emplace_back("measured on", device_line(record.device));
        lines.emplace_back("", fmt::format("{}, {} a step, {} GB/s, {} candidates by {}", record.date, duration(record.step.median),
                                           significant(record.gigabytes_per_second()), record.evaluations, record.strategy));
        if (same_device(match.grade)) lines.emplace_back("expected", duration(expected_seconds(family, problem, record)) + " a step");
    }
    console.print("{}\n{}", problem.key(), definition_list(lines));
}

Exit look_up(const Settings& settings, Console& console) {
    const Families& families = built_in_families();
    const std::vector<Problem> problems = problems_of(settings.problem, families);
    const Database database = read_database(settings.database, "", families);
    const Device device = find_device(settings.device);
    Json matches = Json::array();
    bool all_found = true;
    for (const auto& problem : problems) {
        const Family& family = families.of(problem);
        const Match match = database.best(problem, device.fingerprint, device.limits);
        all_found = all_found && match.grade != Grade::none;
        if (settings.json)
            matches.push_back(document_of(family, problem, match));
        else
            print_text(family, problem, match, console);
    }
    if (settings.json)
        print(console, Json{{"device", {{"id", device_id(device)}, {"name", device.fingerprint.name}, {"key", device_key(device.fingerprint)}}},
                            {"matches", std::move(matches)}});
    else if (!all_found)
        console.message("hone: nothing tuned fits; 'hone tune' with the same words would change that\n");
    return all_found ? Exit::ok : Exit::nothing;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one or several problems; see 'hone families'");
    options.text("device", settings->device, "NAME", "a device of this machine: cpu, cuda, cuda:1 or best; default best");
    declare_database(options, settings->database);
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return look_up(*settings, console); };
}

}  // namespace

Command lookup_command() {
    return {"lookup",
            "which configuration an application would get for a problem, and why",
            "FAMILY key=value... [options]",
            "Asks the database as an application does and prints the grade of the answer (exact, nearest_size, same_architecture, none), the "
            "configuration, the record that it was taken from and the time of a step to expect. With grade none the family's safe configuration is "
            "printed, which runs everywhere, and the exit code is 1.",
            {{"lookup gauss_seidel_27 stencil=constant precision=f32 nx=100 ny=90 nz=80 --device cpu --db DIR --json", "for a script"},
             {"lookup dg_volume equation=maxwell_3d order=1..10 precision=f32 elements=100000", "ten problems, on the best device"}},
            declare};
}

}  // namespace hone::tools
