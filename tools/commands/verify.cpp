#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_list.hpp"
#include "tools/records/record_refresh.hpp"
#include "tools/records/record_table.hpp"
#include "tools/records/record_verifier.hpp"
#include "tuning_db/places.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::tools {
namespace verify {

namespace fs = std::filesystem;

constexpr std::size_t usual_sample = 5;

struct Settings {
    std::vector<std::string> filter;
    std::string device = "best";
    std::string database;
    std::string tolerance = "5%";
    std::string budget;
    std::int64_t sample = 0;  // 0: not given
    std::int64_t seed = 1;
    bool all = false;
    bool update = false;
    bool json = false;
};

// Of this device model and of families that can be measured. A step shared by two devices is none
// of one device.
std::vector<Record> candidates(const Settings& settings, const Device& device, Console& console) {
    const fs::path own = database_folder(settings.database);
    if (settings.update && !fs::is_directory(own)) throw Error("verify --update", own.string() + " is not a folder", "name one with --db DIR");
    const Database database =
        settings.update ? Database::load(own, known_families()) : shown_database(settings.database, "", known_families(), console);
    const ProblemFilter filter(settings.filter, known_families());
    const std::string key = device_key(device.fingerprint);
    std::vector<Record> records;
    std::set<std::string> others;
    for (const Record& record : database.first_records()) {
        if (record.of_several_devices() || !filter.matches(record.problem)) continue;
        if (device_key(record.device) == key) {
            records.push_back(record);
        } else {
            others.insert(device_key(record.device));
        }
    }
    if (records.empty())
        console.message("hone: no results{} of this device ({}) in {}{}\n", settings.filter.empty() ? "" : " of that kind", key,
                        database_places(settings.database), others.empty() ? "" : fmt::format("; there are those of {}", fmt::join(others, ", ")));
    return records;
}

// Stores what was measured every few seconds, so that a run that is stopped or killed loses little.
class Updates {
  public:
    explicit Updates(fs::path folder) : folder_(std::move(folder)) {}

    void add(const RecordCheck& check) {
        constexpr auto between = std::chrono::seconds(10);
        if (check.update) pending_.emplace_back(check.record, with_todays_names(*check.update, known_families()));
        if (Clock::now() - stored_at_ > between) store();
    }
    void store() {
        stored_ += Database::replace_in(folder_, known_families(), std::exchange(pending_, {}));
        stored_at_ = Clock::now();
    }
    int stored() const { return stored_; }

  private:
    using Clock = std::chrono::steady_clock;
    fs::path folder_;
    std::vector<std::pair<Record, Record>> pending_;
    Clock::time_point stored_at_ = Clock::now();
    int stored_ = 0;
};

// A record that was found wrong is handed out no more. Where its folder cannot be written, that is
// said, and the next check goes on.
void mark(const RecordCheck& check, const Device& device, const fs::path& folder, Console& console) {
    try {
        mark_wrong(known_families(), folder, {device.fingerprint, device.limits}, {*check.wrong});
    } catch (const Error& error) {
        console.message("hone: {} is wrong, and could not be marked: {}\n", check.record.problem.key(), error.what());
    }
}

Json json_of(const RecordCheck& check) {
    Json document{{"verdict", name_of(check.verdict)}, {"record", tools::json_of(check.record)}};
    if (check.step) {
        document["step_seconds"] = {
            {"median", check.step->median}, {"low", check.step->low}, {"high", check.step->high}, {"samples", check.step->samples}};
        document["ratio"] = check.ratio;
    }
    for (const auto& [name, text] : {std::pair{"found", check.found}, {"differs", check.differs}, {"remedy", check.remedy}, {"kept", check.kept}})
        if (!text.empty()) document[name] = text;
    document["updated"] = check.update.has_value();
    return document;
}

Style style_of(Verdict verdict) {
    return is_drift(verdict) ? Style::poor : verdict == Verdict::unmeasured ? Style::fair : Style::good;
}

void print_check(const RecordCheck& check, Console& console) {
    const int width = console.out_width();
    console.styled(style_of(check.verdict), fmt::format("{:<10}", name_of(check.verdict)));
    std::string figures = "recorded " + duration(check.record.step.median);
    if (check.step)
        figures += fmt::format(", now {} ±{:.1f} %, {:.2f} times as long", duration(check.step->median), 100 * uncertainty(*check.step), check.ratio);
    console.print("  {}\n", fitted(short_key(check.record.problem, known_families()), width));
    for (const auto& [name, text] : {std::pair{"", figures},
                                     {"found: ", check.found},
                                     {"differs: ", check.differs},
                                     {"to do: ", check.remedy},
                                     {"kept as it was: ", check.kept}})
        if (!text.empty()) console.print("{}", fitted(fmt::format("            {}{}\n", name, text), width));
}

std::size_t drifted(const std::vector<RecordCheck>& checks) {
    return static_cast<std::size_t>(std::count_if(checks.begin(), checks.end(), [](const RecordCheck& check) { return is_drift(check.verdict); }));
}

void print_text(const std::vector<RecordCheck>& checks, std::size_t all, Console& console) {
    for (const RecordCheck& check : checks) print_check(check, console);
    console.print("\n{} of {} results measured again, {} do not hold{}\n", checks.size(), all, drifted(checks),
                  checks.size() < all ? "; --all measures all of them" : "");
}

// Of many, those that deserve a look.
void print_update(const std::vector<RecordCheck>& checks, std::size_t chosen, int stored, const std::string& folder, Console& console) {
    std::vector<double> ratios;
    for (const RecordCheck& check : checks) {
        if (!check.update) print_check(check, console);
        if (check.update) ratios.push_back(check.ratio);
    }
    console.print("{}{} of {} results measured again: {} brought up to date in {}, {} kept as they were, {} of them do not hold\n",
                  ratios.size() < checks.size() ? "\n" : "", checks.size(), chosen, stored, folder, checks.size() - ratios.size(), drifted(checks));
    if (!ratios.empty()) {
        std::sort(ratios.begin(), ratios.end());
        console.print("a step takes {:.3f} times as long as recorded (median; from {:.3f} to {:.3f})\n", ratios[ratios.size() / 2], ratios.front(),
                      ratios.back());
    }
    if (checks.size() < chosen) console.print("{} are left: the same command goes on with them\n", chosen - checks.size());
}

// What is measured, of the records of this device.
std::vector<Record> chosen_of(const Settings& settings, std::vector<Record> all, const RecordVerifier& verifier) {
    if (settings.update && !settings.all)
        std::erase_if(all, [&](const Record& record) {
            const std::optional<bool> same = verifier.makes_same_kernel(record);
            return same && worth_measuring(record, *same).empty();
        });
    const bool whole = settings.all || (settings.update && settings.sample == 0);
    const std::size_t count = whole ? all.size() : settings.sample > 0 ? static_cast<std::size_t>(settings.sample) : usual_sample;
    return sample_of(std::move(all), count, static_cast<std::uint64_t>(settings.seed));
}

Json document_of(const Device& device, std::size_t results, double tolerance, const std::vector<RecordCheck>& checks) {
    Json list = Json::array();
    for (const RecordCheck& check : checks) list.push_back(json_of(check));
    return {{"device", device.fingerprint.name}, {"results", results}, {"tolerance", tolerance}, {"checks", std::move(list)}};
}

Exit verify(const Settings& settings, Console& console) {
    const double tolerance = parse_percent("--tolerance", settings.tolerance);
    const double seconds = settings.budget.empty() ? 0 : parse_duration(settings.budget);
    if (settings.all && settings.sample > 0) throw Error("verify", "--all and --sample are given", "choose one");
    const Device device = find_device(settings.device);
    const std::vector<Record> all = candidates(settings, device, console);
    if (all.empty()) {
        if (settings.json) print(console, document_of(device, 0, tolerance, {}));
        return Exit::nothing;
    }
    RecordVerifier verifier(device, {.tolerance = tolerance, .update = settings.update, .seconds = seconds}, console);
    const std::vector<Record> chosen = chosen_of(settings, all, verifier);
    if (settings.update && chosen.empty())
        console.message("hone: all {} results of this device are up to date; --all measures them again\n", all.size());
    Updates updates(database_folder(settings.database));
    const std::vector<RecordCheck> checks = verifier.run(chosen, [&](const RecordCheck& check) {
        if (check.wrong) mark(check, device, database_folder(settings.database), console);
        if (settings.update) updates.add(check);
    });
    if (settings.update) updates.store();
    if (settings.json)
        print(console, document_of(device, all.size(), tolerance, checks));
    else if (settings.update)
        print_update(checks, chosen.size(), updates.stored(), database_folder(settings.database).string(), console);
    else
        print_text(checks, all.size(), console);
    if (verifier.interrupted()) return Exit::interrupted;
    return drifted(checks) > 0 ? Exit::nothing : Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY] [key=value...]", settings->filter, "these results only; lists and ranges mean any of them");
    options.text("device", settings->device, "NAME", "cpu, cuda, cuda:1 or best; default best");
    declare_database(options, settings->database);
    options.number("sample", settings->sample, "N", "this many results, spread over the families; default 5", 1);
    options.flag("all", settings->all, "all results, before a release for example");
    options.flag("update", settings->update, "bring results up to date: all that lack measured data, or whose kernel has changed");
    options.text("budget", settings->budget, "TIME", "end after this time, as by Ctrl-C, and keep the measurements: 30s, 9m; default none");
    options.text("tolerance", settings->tolerance, "PERCENT", "how much longer than in its record a step may take; default 5%");
    options.number("seed", settings->seed, "N", "seed of the sample; default 1");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return verify(*settings, console); };
}

}  // namespace verify

Command verify_command() {
    return {
        "verify",
        "measures tuned results again: do they still hold on this machine?",
        "[FAMILY] [key=value...] [options]",
        "Compiles, verifies and times the winners of this device again, each as 'hone tune' does, and compares the times with the records. A "
        "result is slower if its step takes longer by more than --tolerance and the two 95 % intervals do not overlap. hone then compares the "
        "driver, the compiler, its own version and the kernel with those of the record, looks at the load of the machine, and says what to do.\n\n"
        "If a kernel computes something else than the reference, its result is marked: look-ups skip it from then on, and merges do not bring it "
        "back ('hone db prune --wrong' removes the marks). Without --update, nothing else is written to the database.\n\n"
        "--update measures winners fully, and the safe configuration of each problem with them. Records that hold get the new values: time, "
        "clocks, temperature, part of the ceiling, largest difference, driver, compiler, and the kernel's hash. Strategy, seed and candidates "
        "stay. A record does not change if its result does not hold, if the new time is less certain, or if the machine was busy; the list says "
        "which. Kernels are compiled in parallel first, results are saved every few seconds, and after an interruption the same command "
        "continues.\n\n"
        "Exit code 1 if a result does not hold, or if there is none of this device.",
        {{"verify --device cpu", "five results of the processor"},
         {"verify dg_volume order=3 --device cpu --db DIR --all", "all results of some problems"},
         {"verify --device cpu --sample 2 --json", "for a script"},
         {"verify --update --device cuda --db tuning_db/records", "complete the records of this GPU that ship with hone"}},
        verify::declare};
}

}  // namespace hone::tools
