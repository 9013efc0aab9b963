#include <algorithm>
#include <set>

#include "runtime/processors.hpp"
#include "runtime/sha256.hpp"
#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/format.hpp"
#include "tools/interrupt.hpp"
#include "tools/known_families.hpp"
#include "tools/problem_words.hpp"
#include "tools/record_check.hpp"
#include "tools/record_list.hpp"
#include "tools/record_table.hpp"
#include "tools/target.hpp"
#include "tuner/system_load.hpp"
#include "tuner/worker_evaluator.hpp"

namespace hone::tools {
namespace verify {

struct Settings {
    std::vector<std::string> filter;
    std::string device = "best";
    std::string database;
    std::string tolerance = "5%";
    std::int64_t sample = 5;
    std::int64_t seed = 1;
    bool all = false;
    bool json = false;
};

// Of this device model and of families that can be measured. A step shared by two devices is none of one device.
std::vector<Record> candidates(const Settings& settings, const Device& device, Console& console) {
    const Database database = read_database(settings.database, "", known_families(), console);
    const ProblemFilter filter(settings.filter, known_families());
    const std::string key = device_key(device.fingerprint);
    std::vector<Record> records;
    std::set<std::string> others;
    for (const Record& record : database.first_records()) {
        if (record.hybrid || !filter.matches(record.problem)) continue;
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

class Verifier {
  public:
    Verifier(Device device, double tolerance, Console& console)
        : device_(std::move(device)), tolerance_(tolerance), console_(console), cache_(DiskCache::default_folder()) {
        open_compiler({device_.limits, device_.fingerprint.architecture, device_.fingerprint.name}, cache_);
        evaluator_.emplace(WorkerSettings{.device = device_, .cache = cache_.folder(), .command = worker_words()});
    }

    std::vector<RecordCheck> run(const std::vector<Record>& records) {
        std::vector<RecordCheck> checks;
        for (const Record& record : records) {
            if (guard_.requested()) break;
            console_.message("{}/{} {}\n", checks.size() + 1, records.size(), short_key(record.problem, known_families()));
            if (auto check = measured_again(record)) checks.push_back(std::move(*check));
        }
        return checks;
    }

    bool interrupted() const { return guard_.requested(); }

  private:
    // Nothing: Ctrl-C came.
    std::optional<RecordCheck> measured_again(const Record& record) {
        RecordCheck check{record};
        try {
            const Family& family = known_families().of(record.problem);
            const SearchSpace space = family.space(record.problem, device_.limits);
            const Config config = space.completed(record.config);
            if (const auto rejection = space.check(config)) {
                check.verdict = Verdict::impossible;
                check.found = rejection->constraint + ": " + rejection->reason;
                check.remedy = "tune again: look-ups pass over this record";
                return check;
            }
            const LoadReading before = load_.read();
            const auto outcome = outcome_of(record.problem, {.index = space.index_of(config), .config = config});
            if (!outcome) return std::nullopt;
            const Surroundings now{device_.fingerprint, HONE_VERSION, sha256(family.kernel(record.problem, config, device_.limits).text),
                                   SystemLoad::busy(before, load_.read(), processors().usable)};
            return judged(record, *outcome, now, tolerance_);
        } catch (const Error& error) {
            check.found = error.what();
            return check;
        }
    }

    std::optional<Outcome> outcome_of(const Problem& problem, const Candidate& candidate) {
        constexpr std::uint64_t seed = 1;
        constexpr double most_seconds = 30;
        evaluator_->begin(problem, seed, most_seconds);
        evaluator_->prepare(candidate);
        auto outcome = evaluator_->evaluate(candidate, 0, [this] { return guard_.requested(); });
        evaluator_->abandon();
        return outcome;
    }

    InterruptGuard guard_;  // first, so that it outlives the workers
    Device device_;
    double tolerance_;
    Console& console_;
    DiskCache cache_;
    SystemLoad load_;
    std::optional<WorkerEvaluator> evaluator_;
};

Json json_of(const RecordCheck& check) {
    Json document{{"verdict", name_of(check.verdict)}, {"record", tools::json_of(check.record)}};
    if (check.step) {
        document["step_seconds"] = {
            {"median", check.step->median}, {"low", check.step->low}, {"high", check.step->high}, {"samples", check.step->samples}};
        document["ratio"] = check.ratio;
    }
    for (const auto& [name, text] : {std::pair{"found", check.found}, {"differs", check.differs}, {"remedy", check.remedy}})
        if (!text.empty()) document[name] = text;
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
    for (const auto& [name, text] : {std::pair{"", figures}, {"found: ", check.found}, {"differs: ", check.differs}, {"to do: ", check.remedy}})
        if (!text.empty()) console.print("{}", fitted(fmt::format("            {}{}\n", name, text), width));
}

void print_text(const std::vector<RecordCheck>& checks, std::size_t all, Console& console) {
    for (const RecordCheck& check : checks) print_check(check, console);
    const auto drifted = std::count_if(checks.begin(), checks.end(), [](const RecordCheck& check) { return is_drift(check.verdict); });
    console.print("\n{} of {} results measured again, {} do not hold{}\n", checks.size(), all, drifted,
                  checks.size() < all ? "; --all measures all of them" : "");
}

Exit verify(const Settings& settings, Console& console) {
    const double tolerance = parse_percent("--tolerance", settings.tolerance);
    if (settings.all && settings.sample != Settings{}.sample) throw Error("verify", "--all and --sample are given", "choose one");
    const Device device = find_device(settings.device);
    const std::vector<Record> all = candidates(settings, device, console);
    if (all.empty()) {
        if (settings.json)
            print(console, Json{{"device", device.fingerprint.name}, {"results", 0}, {"tolerance", tolerance}, {"checks", Json::array()}});
        return Exit::nothing;
    }
    const std::size_t count = settings.all ? all.size() : static_cast<std::size_t>(settings.sample);
    Verifier verifier(device, tolerance, console);
    const std::vector<RecordCheck> checks = verifier.run(sample_of(all, count, static_cast<std::uint64_t>(settings.seed)));
    if (settings.json) {
        Json list = Json::array();
        for (const RecordCheck& check : checks) list.push_back(json_of(check));
        print(console, Json{{"device", device.fingerprint.name}, {"results", all.size()}, {"tolerance", tolerance}, {"checks", std::move(list)}});
    } else {
        print_text(checks, all.size(), console);
    }
    if (verifier.interrupted()) return Exit::interrupted;
    const bool drift = std::any_of(checks.begin(), checks.end(), [](const RecordCheck& check) { return is_drift(check.verdict); });
    return drift ? Exit::nothing : Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY] [key=value...]", settings->filter, "these results only; lists and ranges mean any of them");
    options.text("device", settings->device, "NAME", "cpu, cuda, cuda:1 or best; default best");
    declare_database(options, settings->database);
    options.number("sample", settings->sample, "N", "so many of the results, from every family in turn; default 5", 1);
    options.flag("all", settings->all, "all of them, as before a release");
    options.text("tolerance", settings->tolerance, "PERCENT", "how much longer a step may take than its record says; default 5%");
    options.number("seed", settings->seed, "N", "of the sample; default 1");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return verify(*settings, console); };
}

}  // namespace verify

Command verify_command() {
    return {
        "verify",
        "measures tuned results again: do they still hold on this machine?",
        "[FAMILY] [key=value...] [options]",
        "Compiles, verifies and times the winners of this device again, each as 'hone tune' does, and sets the times beside the records'. A result "
        "is "
        "called slower when its step takes longer by more than --tolerance and the two 95 % intervals do not overlap; then driver, compiler, hone's "
        "version "
        "and the kernel itself are compared with those of the record, the load of the machine is looked at, and the line says what to do. Nothing is "
        "written to the database.\n\n"
        "Exit code 1 when a result does not hold, or there is none of this device.",
        {{"verify --device cpu", "five results of the processor"},
         {"verify dg_volume order=3 --device cpu --db DIR --all", "all of some problems"},
         {"verify --device cpu --sample 2 --json", "for a script"}},
        verify::declare};
}

}  // namespace hone::tools
