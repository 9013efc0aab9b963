#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/kernels/compile_report.hpp"
#include "tools/kernels/profiler.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_kernel.hpp"
#include "tools/records/record_list.hpp"
#include "tools/records/record_table.hpp"
#include "tools/records/rival_table.hpp"
#include "tools/report/explanation.hpp"
#include "tools/searches/tuning_story.hpp"
#include "tuning_db/places.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace explain {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string as;
    std::string purpose;
    std::string journal;
    std::string database;
    std::string device_file;
    std::string rivals;
    bool compile = false;
    bool profile = false;
    bool verbose = false;
    bool json = false;
};

// What is known of one problem on one device.
struct Subject {
    std::string problem;  // key
    DeviceFingerprint device;
    std::optional<Record> record;
    std::optional<JournalText> journal;
    std::string journal_file;
    std::vector<HardwareCounter> counters;  // as a profiler read them, when it was asked for
    std::vector<EntryResources> resources;  // of the compiled kernel, when it was asked for
    std::vector<Rival> rivals;              // that the named table has of the problem
    std::vector<std::string> missing;       // what cannot be told, and why
};

std::vector<fs::path> journal_folders(const Settings& settings) {
    if (!settings.database.empty()) return {settings.database};
    std::vector<fs::path> folders;
    for (const Place& place : record_places())
        if (!place.shipped) folders.push_back(place.folder);
    return folders;
}

Record only_record(const std::vector<Record>& found, const Settings& settings) {
    if (found.size() == 1) return found.front();
    std::string text;
    constexpr std::size_t most_named = 8;
    for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i)
        text += fmt::format("\n  {} on {}{}", short_key(found[i].problem, known_families()), found[i].device.name,
                            found[i].purpose.empty() ? "" : " for " + found[i].purpose);
    if (found.size() > most_named) text += fmt::format("\n  and {} more", found.size() - most_named);
    throw Error("explain", fmt::format("these arguments match {} results{}", found.size(), text),
                settings.as.empty() ? "add values, or --as MODEL" : "add values, or --purpose time");
}

std::optional<Record> find_record(const Settings& settings, Console& console) {
    const Database database = shown_database(settings.database, settings.device_file, known_families(), console);
    std::vector<Record> all = database.first_records();
    const auto& foreign = database.foreign_records();
    all.insert(all.end(), foreign.begin(), foreign.end());
    const ProblemFilter filter(settings.words, with_families_of(all, known_families()));
    const std::string purpose = settings.purpose == "time" ? "" : settings.purpose;
    std::vector<Record> found;
    for (const Record& record : all) {
        const bool device = settings.as.empty() || record.device.name == settings.as || device_key(record.device) == settings.as;
        const bool wanted = settings.purpose.empty() || record.purpose == purpose;
        if (device && wanted && !record.of_several_devices() && filter.matches(record.problem)) found.push_back(record);
    }
    if (found.empty()) return std::nullopt;
    return only_record(found, settings);
}

// Words that choose among results may be less than a problem.
std::optional<Problem> problem_in(const std::vector<std::string>& words) {
    try {
        return problem_of(words, known_families());
    } catch (const Error&) {
        return std::nullopt;
    }
}

// Of the journals that lie in the folders, the one that the words mean.
std::optional<fs::path> find_journal(const Settings& settings, const std::vector<fs::path>& folders) {
    const std::optional<Problem> wanted = problem_in(settings.words);
    if (!wanted) return std::nullopt;
    const Problem& problem = *wanted;
    const std::string hash = sha256(problem.key()).substr(0, 16);
    std::set<fs::path> found;
    for (const fs::path& folder : folders) {
        std::error_code error;
        for (fs::directory_iterator file(folder / "journals", error), end; !error && file != end; file.increment(error)) {
            const std::string name = file->path().filename().string();
            if (name.ends_with("-" + hash + ".jsonl") && (settings.as.empty() || name.starts_with(settings.as + "-"))) found.insert(file->path());
        }
    }
    if (found.size() > 1) throw Error("explain", fmt::format("there are {} journals of this problem", found.size()), "name one with --journal");
    return found.empty() ? std::nullopt : std::optional(*found.begin());
}

void take_journal(Subject& subject, const fs::path& file) {
    subject.journal = read_journal(file);
    subject.journal_file = file.string();
    subject.problem = subject.journal->run.problem;
    subject.device = subject.journal->run.device;
}

Subject subject_of(const Settings& settings, Console& console) {
    Subject subject;
    if (!settings.journal.empty()) {
        take_journal(subject, settings.journal);
        return subject;
    }
    if (settings.words.empty()) throw Error("explain", "no problem is named", "write: hone explain FAMILY key=value ..., or --journal FILE");
    const std::vector<fs::path> folders = journal_folders(settings);
    subject.record = find_record(settings, console);
    std::optional<fs::path> file;
    if (subject.record) {
        subject.problem = subject.record->problem.key();
        subject.device = subject.record->device;
        for (const fs::path& folder : folders)
            if (const fs::path path = journal_path(folder, subject.record->problem, subject.device); !file && fs::exists(path)) file = path;
    } else {
        file = find_journal(settings, folders);
        if (!file)
            throw NothingError("explain",
                               fmt::format("there is no result of {}, and no journal, in {}", fmt::join(settings.words, " "),
                                           database_places(settings.database, settings.device_file)),
                               "'hone show' lists results, 'hone tune' makes them");
    }
    const std::string search = "the search (candidates, failures, what mattered): ";
    if (!file) {
        subject.missing.push_back(search + "there is no journal of it here; 'hone tune' keeps one beside the results that it makes");
        return subject;
    }
    try {
        take_journal(subject, *file);
    } catch (const Error& error) {
        if (!subject.record) throw;
        subject.missing.push_back(fmt::format("{}its journal cannot be read: {}", search, error.what()));
    }
    return subject;
}

std::string value_of(const TuningStory& story, double cost) {
    return story.objective.name == "time" ? duration(cost) : significant(cost) + " (" + story.objective.name + ")";
}

std::vector<std::string> launches(const Record& record) {
    const auto source = kernel_today(record, known_families()).source;
    return source ? launch_lines(*source) : std::vector<std::string>{};
}

// What the table says of the problem, as `hone report --rivals` shows it.
void find_rivals(Subject& subject, const Settings& settings) {
    constexpr std::int64_t largest = std::int64_t{1} << 26;
    const std::string problem = short_key(subject.record->problem, known_families());
    for (const Rival& rival : rivals_in(read_file(settings.rivals, largest), settings.rivals, known_families()))
        if (rival.problem == problem) subject.rivals.push_back(rival);
    if (subject.rivals.empty()) subject.missing.push_back(fmt::format("rivals: {} has none of this problem", settings.rivals));
}

std::string rival_text(const Rival& rival, const Record& record) {
    std::string rate = fmt::format("{} G {}/s", significant(1e-9 / rival.seconds), record.counts.unit);
    if (rival.ours <= 0) return rate;
    return fmt::format("{}; timed in turns with the tuned kernel it took {:.2f}x as long", rate, rival.seconds / rival.ours);
}

void print_record(const Record& record, const std::vector<Rival>& rivals, Console& console) {
    const double per_byte = record.counts.bytes > 0 ? record.counts.operations / record.counts.bytes : 0;
    const double half = uncertainty(record.step);
    std::vector<std::pair<std::string, std::string>> lines{
        {"winner", record.config.key()},
        {"step", fmt::format("{}{}, {} samples", duration(record.step.median),
                             half > 0 ? fmt::format(" ±{:.1f} % (95 % confidence)", 100 * half) : "", record.step.samples)},
        {"gain", gain(record) > 0 ? fmt::format("{:.2f}x the untuned safe configuration, which takes {}", gain(record), duration(record.safe_seconds))
                                  : "the safe configuration was not measured"},
        {"rate", fmt::format("{} G {}/s, {} GB/s, {} GFLOP/s", significant(record.gigaupdates_per_second()), record.counts.unit,
                             significant(record.gigabytes_per_second()), significant(record.gigaflops()))},
        {"work", fmt::format("{} of compulsory traffic and {} operations a step, {} operations a byte", bytes(record.counts.bytes),
                             grouped_count(record.counts.operations), significant(per_byte))},
        {"limit", limit_text(record)}};
    for (const Rival& rival : rivals) lines.emplace_back("rival", rival_text(rival, record));
    for (const std::string& line : launches(record)) lines.emplace_back("launch", line);
    if (const std::string energy = energy_line(record); !energy.empty()) lines.emplace_back("energy", energy);
    lines.emplace_back("verified", record.verified()
                                       ? fmt::format("largest difference {:.2g}, {:.2g} allowed", record.verification_error, record.tolerance)
                                       : "no: it is never handed out");
    lines.emplace_back("found", found_line(record));
    if (const std::string conditions = conditions_line(record); !conditions.empty()) lines.emplace_back("under", conditions);
    if (const std::string words = remark(record); !words.empty()) lines.emplace_back("remarks", words);
    if (const std::string why = doubt(record); !why.empty()) lines.emplace_back("", why);
    console.print("{}\n", definition_list(lines, console.out_width()));
}

// Of the kernel that hone makes of the record today; what stands in the way is said.
void compile_kernel(Subject& subject) {
    const Record& record = *subject.record;
    const auto source = kernel_today(record, known_families()).source;
    if (!source) {
        subject.missing.emplace_back("registers, shared memory and spills: hone no longer generates a kernel for this configuration");
        return;
    }
    try {
        DiskCache cache(DiskCache::default_folder());
        const auto compiler = open_compiler({generous_limits(record.device), record.device.architecture, record.device.name}, cache);
        const CompileOutcome outcome = compiler->compile(*source);
        if (!outcome.ok) subject.missing.push_back("registers, shared memory and spills: the kernel does not compile: " + outcome.failure);
        subject.resources = outcome.code.resources;
        if (outcome.ok && subject.resources.empty())
            subject.missing.emplace_back("registers and spills: compilers for processors do not report them");
    } catch (const MissingError& error) {
        subject.missing.push_back(fmt::format("registers, shared memory and spills: {}", error.what()));
    } catch (const MachineError& error) {
        subject.missing.push_back(fmt::format("registers, shared memory and spills: {}", error.what()));
    }
}

// What stands in the way is said.
void profile_kernel(Subject& subject, const Settings& settings) {
    try {
        subject.counters = read_counters(*subject.record, settings.database);
    } catch (const Error& error) {
        subject.missing.push_back(fmt::format("the hardware's counters: {}", error.what()));
    }
}

void print_counters(const Subject& subject, Console& console) {
    console.styled(Style::strong, "what the hardware counted");
    console.print("\n{}\n", fitted(counters_table(subject.counters, subject.record->counts), console.out_width()));
}

void print_resources(const std::vector<EntryResources>& resources, Console& console) {
    console.styled(Style::strong, "what the compiler says of it");
    console.print("\n{}\n", fitted(resources_table(resources), console.out_width()));
}

void print_candidates(const SearchExplanation& search, const Subject& subject, Console& console) {
    const TuningStory& story = search.story;
    const RunDescription& run = subject.journal->run;
    const int width = console.out_width();
    console.styled(Style::strong, "the search");
    console.print("\n{}",
                  fitted(fmt::format("  {} candidates{} by {}{}: {} measured, {} failed{}\n", story.evaluations,
                                     run.members > 0 ? " of " + grouped(run.members) : "", run.strategy,
                                     story.elapsed > 0 ? " in " + duration(story.elapsed) : "", story.measured.size(),
                                     story.evaluations - std::ssize(story.measured), story.complete ? "" : "; the run did not come to its end"),
                         width));
    // Other tuners do not say where the time went.
    if (story.compile_seconds + story.verify_seconds + story.measure_seconds > 0)
        console.print("{}", fitted(fmt::format("  compilers {}, verification {}, measuring {}\n", duration(story.compile_seconds),
                                               duration(story.verify_seconds), duration(story.measure_seconds)),
                                   width));
    for (const auto& failure : story.failures)
        console.print(
            "{}", fitted(fmt::format("  {:4}  {}{}\n", failure.count, to_string(failure.status), failure.reason.empty() ? "" : ": " + failure.reason),
                         width));
    if (story.measured.empty()) return;
    console.print("{}",
                  fitted(fmt::format("  best {}, median {}, worst {}{}\n", value_of(story, story.best()), value_of(story, story.median()),
                                     value_of(story, story.worst()),
                                     story.safe > 0 ? ", safe configuration " + value_of(story, story.safe) : "; the safe configuration failed"),
                         width));
    console.print("\n");
    console.styled(Style::strong, "how close the candidates came to the best");
    console.print("\n");
    const std::vector<CostBin> bins = cost_histogram(story);
    int most = 1;
    for (const CostBin& bin : bins) most = std::max(most, bin.count);
    const int room = std::clamp((width > 0 ? width : 80) - 26, 4, 50);
    for (const CostBin& bin : bins) {
        const std::string range = std::isinf(bin.high) ? fmt::format("beyond {:.3g}x", bin.low) : fmt::format("to {:.3g}x", bin.high);
        const auto length = static_cast<std::size_t>(std::lround(static_cast<double>(room) * bin.count / most));
        console.print("  {:>11}  {:5}{}{}\n", range, bin.count, length > 0 ? "  " : "", std::string(length, '#'));
    }
    console.print("\n");
}

std::string effect_name(const SearchSpace& space, const CostModel::Effect& effect) {
    std::string name;
    for (const std::size_t tunable : effect.tunables) name += (name.empty() ? "" : " with ") + space.tunables()[tunable].name;
    return name;
}

// Each value's factor over that of the best value; the winner's stands in brackets.
std::string values_text(const SearchExplanation& search, std::size_t tunable, const Config& winner) {
    const auto& values = search.measured.space.tunables()[tunable].values;
    const std::vector<double> factors = search.model->main_effect(tunable);
    double best = std::numeric_limits<double>::infinity();
    for (const double factor : factors)
        if (std::isfinite(factor)) best = std::min(best, factor);
    std::string text;
    for (std::size_t v = 0; v < values.size(); ++v) {
        if (!std::isfinite(factors[v])) continue;
        const Value* const own = winner.find(search.measured.space.tunables()[tunable].name);
        const bool won = own != nullptr && to_string(*own) == to_string(values[v]);
        text += fmt::format("{}{}{}{} {:.2f}x", text.empty() ? "" : ", ", won ? "[" : "", to_string(values[v]), won ? "]" : "", factors[v] / best);
    }
    return text;
}

void print_effects(const SearchExplanation& search, Console& console, bool verbose) {
    constexpr double worth_telling = 0.01;
    constexpr std::size_t most = 10;
    const int width = console.out_width();
    console.styled(Style::strong, "which tunables mattered");
    if (!search.tells()) {
        console.print("\n{}\n", fitted(fmt::format("  the model of the times explains {} of their variation, too little to ask it\n",
                                                   percent(std::max(0.0, search.explained))),
                                       width));
        return;
    }
    console.print(
        "\n{}", fitted(fmt::format("  part of the variation of the times, by a model that explains {} of it (each time predicted from the others);\n"
                                   "  then the mean time with each value, as a multiple of the best value's; the winner's value is in brackets\n",
                                   percent(search.explained)),
                       width));
    const Config winner = search.winning();
    std::size_t told = 0;
    for (const CostModel::Effect& effect : search.model->effects()) {
        if (!verbose && (effect.share < worth_telling || told == most)) break;
        const std::string values = effect.tunables.size() == 1 ? "  " + values_text(search, effect.tunables.front(), winner) : "";
        console.print("{}", fitted(fmt::format("  {:>6}  {}{}\n", percent(effect.share), effect_name(search.measured.space, effect), values), width));
        ++told;
    }
    console.print("\n");
}

std::string neighbour_text(const Neighbour& neighbour) {
    switch (neighbour.kind) {
        case Neighbour::Kind::measured:
            return fmt::format("{} {:.2f}x", to_string(neighbour.value), neighbour.ratio);
        case Neighbour::Kind::predicted:
            return fmt::format("{} ~{:.2f}x ({:.2f} to {:.2f})", to_string(neighbour.value), neighbour.ratio, neighbour.low, neighbour.high);
        case Neighbour::Kind::impossible:
            return to_string(neighbour.value) + " impossible";
    }
    return "";
}

void print_neighbours(const SearchExplanation& search, Console& console, bool verbose) {
    const int width = console.out_width();
    console.styled(Style::strong, "what changing one value of the winner costs");
    console.print("\n{}",
                  fitted("  multiples of the winner's time in this search; ~ marks predictions of the model, with their 95 % interval\n", width));
    const auto& tunables = search.measured.space.tunables();
    const Config winner = search.winning();
    for (std::size_t d = 0; d < tunables.size(); ++d) {
        std::string line;
        for (const Neighbour& neighbour : search.neighbours)
            if (neighbour.tunable == d) line += (line.empty() ? "" : ", ") + neighbour_text(neighbour);
        if (const Value* const own = winner.find(tunables[d].name); own != nullptr && !line.empty())
            console.print("{}", fitted(fmt::format("  {} [{}]: {}\n", tunables[d].name, to_string(*own), line), width));
    }
    if (verbose)
        for (const Neighbour& neighbour : search.neighbours)
            if (neighbour.kind == Neighbour::Kind::impossible)
                console.print("{}", fitted(fmt::format("  {}={} is impossible: {}\n", tunables[neighbour.tunable].name, to_string(neighbour.value),
                                                       neighbour.reason),
                                           width));
    console.print("\n");
}

// Of all predicted neighbours the one that promises most.
const Neighbour* most_promising(const SearchExplanation& search) {
    const Neighbour* best = nullptr;
    for (const Neighbour& neighbour : search.neighbours)
        if (neighbour.kind == Neighbour::Kind::predicted && (best == nullptr || neighbour.improvement > best->improvement)) best = &neighbour;
    return best;
}

void print_convergence(const SearchExplanation& search, Console& console) {
    const TuningStory& story = search.story;
    const int width = console.out_width();
    console.styled(Style::strong, "how the search converged");
    console.print("\n");
    constexpr std::size_t most = 12;
    const std::size_t first = story.improvements.size() > most ? story.improvements.size() - most : 0;
    for (std::size_t i = first; i < story.improvements.size(); ++i) {
        const auto& step = story.improvements[i];
        console.print("{}", fitted(fmt::format("  candidate {:4}  {:>8}  {:>8}  {:.2f}x the best\n", step.evaluation, duration(step.elapsed),
                                               value_of(story, step.cost), step.cost / story.best()),
                                   width));
    }
    console.print(
        "{}", fitted(fmt::format("  within 10 % of the best after {} candidates, 5 % after {}, 1 % after {}; the last third of the run brought {}\n",
                                 story.evaluations_to(0.1), story.evaluations_to(0.05), story.evaluations_to(0.01), percent(story.late_gain())),
                     width));
    if (search.minute && search.minute->candidates == 0)
        console.print("  nothing is left to try: the whole space was\n");
    else if (search.minute)
        console.print(
            "{}", fitted(fmt::format("  a further minute is worth {:.0f} candidates{}: predicted to bring {}, with a chance of {} of more than 1 %\n",
                                     search.minute->candidates, search.minute->all ? ", all that are left" : "", percent(search.minute->outlook.gain),
                                     percent(search.minute->outlook.chance)),
                         width));
    if (const Neighbour* next = most_promising(search))
        console.print("{}",
                      fitted(fmt::format("  of what was not measured next to the winner, {}={} promises most: {} less time, predicted\n",
                                         search.measured.space.tunables()[next->tunable].name, to_string(next->value), percent(next->improvement)),
                             width));
    console.print("\n");
}

void print_text(const Subject& subject, const std::optional<SearchExplanation>& search, const Settings& settings, Console& console) {
    const int width = console.out_width();
    std::string title = subject.problem;
    if (subject.record) title = short_key(subject.record->problem, known_families());
    console.styled(Style::strong, fitted(title, width));
    console.print("\n{}\n", subject.device.name.empty() ? "" : fitted(device_line(subject.device), width) + "\n");
    if (subject.record) print_record(*subject.record, subject.rivals, console);
    if (!subject.resources.empty()) print_resources(subject.resources, console);
    if (!subject.counters.empty()) print_counters(subject, console);
    if (search) print_candidates(*search, subject, console);
    if (search && search->model) print_effects(*search, console, settings.verbose);
    if (search && !search->neighbours.empty()) print_neighbours(*search, console, settings.verbose);
    if (search && !search->story.measured.empty()) print_convergence(*search, console);
    if (subject.missing.empty()) return;
    console.styled(Style::strong, "what cannot be told");
    console.print("\n");
    for (const std::string& line : subject.missing) console.print("{}", fitted("  " + line + "\n", width));
}

Exit explain(const Settings& settings, Console& console) {
    Subject subject = subject_of(settings, console);
    std::optional<SearchExplanation> search;
    if (subject.journal) {
        search = explain_search(*subject.journal, subject.record ? subject.record->config.key() : "", known_families());
        subject.missing.insert(subject.missing.end(), search->missing.begin(), search->missing.end());
    }
    if (subject.record && known_families().has(subject.record->problem.family())) {
        if (settings.compile) {
            compile_kernel(subject);
        } else {
            subject.missing.push_back(
                "registers, static shared memory and spills: neither record nor journal has them; --compile asks the compiler, as does " +
                compile_report_command(*subject.record, known_families()));
        }
    }
    if (!settings.rivals.empty() && subject.record) find_rivals(subject, settings);
    if (settings.profile) {
        if (subject.record)
            profile_kernel(subject, settings);
        else
            subject.missing.emplace_back("the hardware's counters: a journal alone names no result; give the problem's words");
    }
    if (!settings.json) {
        print_text(subject, search, settings, console);
    } else {
        Json document{
            {"problem", subject.problem}, {"device", subject.device.name}, {"record", subject.record ? tools::json_of(*subject.record) : Json()}};
        if (subject.record) document["launches"] = launches(*subject.record);
        for (const Rival& rival : subject.rivals) document["rivals"].push_back({{"seconds_an_update", rival.seconds}, {"ours", rival.ours}});
        if (!subject.counters.empty()) document["counters"] = tools::json_of(subject.counters);
        if (!subject.resources.empty()) document["resources"] = tools::json_of(subject.resources);
        document["search"] = search ? json_of(*search, subject.journal->run, subject.journal_file) : Json();
        document["missing"] = subject.missing;
        print(console, document);
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->words, "the result; parameters may be left out as long as only one result matches");
    options.text("as", settings->as, "MODEL", "the device model, if there are results for several, e.g. \"NVIDIA H200\" or nvidia_h200");
    options.text("purpose", settings->purpose, "WORD", "the purpose, if there are results for several: time, energy, ...");
    options.text("journal", settings->journal, "FILE", "use this journal, of hone or converted by 'hone convert'");
    declare_database(options, settings->database);
    options.text("device-file", settings->device_file, "FILE", "look for the record in this one file");
    options.text("rivals", settings->rivals, "FILE.csv", "also show rivals, from a table of 'benchmark_report table'");
    options.flag("compile", settings->compile, "compile the kernel for its device: registers, shared and local memory, spills");
    options.flag("profile", settings->profile,
                 "read the hardware's counters while the kernel runs on this machine, if Nsight Compute (ncu) is "
                 "installed");
    options.flag("verbose", settings->verbose, "all effects, and why neighbours are impossible", 'v');
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return explain(*settings, console); };
}

}  // namespace explain

Command explain_command() {
    return {
        "explain",
        "why a tuned result is what it is: its search, what mattered, its limits",
        "FAMILY key=value... [options]",
        "Explains one result: its time, its gain, how close it is to the device's ceiling, and its launches. From the journal of its search it "
        "shows what failed and why, the distribution of the times of all candidates, which tunables mattered, what changing one value of the "
        "winner costs, and how the search converged.\n\n"
        "'Which tunables mattered' is a functional analysis of variance of the model behind the default search strategy (a Gaussian process of the "
        "logarithms of the times). It prints the part of the variation that each tunable causes by itself, and that pairs cause together. Values "
        "that were not measured are predicted by this model and marked with ~. The output says first how far the model can be trusted.\n\n"
        "Without a journal, only the record is explained, and the output lists what is missing. Journals are in the folder of results, in "
        "journals/.",
        {{"explain dg_volume equation=maxwell_3d order=3 precision=f32 arithmetic=strict elements=1000000 --as nvidia_h200", "one result"},
         {"explain --journal ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl -v", "a search, even without a result"},
         {"explain dg_volume equation=maxwell_3d order=3 precision=f64 elements=250000 --db DIR --json", "for a script"}},
        explain::declare};
}

}  // namespace hone::tools
