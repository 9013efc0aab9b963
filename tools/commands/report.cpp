#include <fmt/ranges.h>

#include <set>

#include "foundation/file_store.hpp"
#include "tools/console/command.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/report/report_page.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace report {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string database;
    std::string device_file;
    std::string against;
    std::string output;
    std::vector<std::string> journal_files;
    std::vector<std::string> rivals;
    bool journals = false;
    bool no_kernels = false;
};

// The first records about their subjects, of known families and of others.
std::vector<Record> records_of(const Database& database, const std::vector<std::string>& words) {
    std::vector<Record> all = database.first_records();
    std::set<std::string> subjects;
    for (const Record& record : database.foreign_records())
        if (subjects.insert(subject(record)).second) all.push_back(record);
    const ProblemFilter filter(words, with_families_of(all, known_families()));
    std::erase_if(all, [&](const Record& record) { return !filter.matches(record.problem); });
    std::sort(all.begin(), all.end(), stands_before);
    return all;
}

// Of a folder of results, a checkout of hone, or one file.
std::vector<Record> other_records(const Settings& settings, Console& console) {
    const bool file = fs::is_regular_file(settings.against);
    return records_of(shown_database(file ? "" : records_folder(settings.against).string(), file ? settings.against : "", known_families(), console),
                      settings.words);
}

std::vector<fs::path> journals_beside(const Settings& settings) {
    std::vector<fs::path> files;
    std::vector<fs::path> folders;
    if (!settings.database.empty()) {
        folders.emplace_back(settings.database);
    } else {
        for (const Place& place : record_places())
            if (!place.shipped) folders.push_back(place.folder);
    }
    for (const fs::path& folder : folders)
        for (const fs::path& file : journal_files(folder)) files.push_back(file);
    return files;
}

// A journal that cannot be read is left out, with a note: the others are no worse for it. One that
// was named has to be right.
void read_journals(ReportContents& contents, const Settings& settings, Console& console) {
    for (const std::string& file : settings.journal_files) contents.journals.push_back({file, read_journal(file)});
    if (!settings.journals) return;
    const ProblemFilter filter(settings.words, with_families_of(contents.records, known_families()));
    for (const fs::path& file : journals_beside(settings)) {
        try {
            JournalText journal = read_journal(file);
            if (settings.words.empty() || filter.matches(known_families().parse_problem(journal.run.problem)))
                contents.journals.push_back({file.string(), std::move(journal)});
        } catch (const Error& error) {
            contents.notes.push_back(fmt::format("{} is left out: {}", file.string(), error.what()));
            console.message("hone: {}\n", contents.notes.back());
        }
    }
    if (contents.journals.empty()) console.message("hone: there are no journals; 'hone tune' writes one for every search\n");
}

// "FILE.csv", where all records are of one device model, or "MODEL=FILE.csv".
NamedRivals read_rivals(const std::string& word, const std::vector<Record>& records) {
    std::set<std::string> models;
    for (const Record& record : records) models.insert(device_key(record.device));
    std::string file = word;
    std::string model = models.size() == 1 ? *models.begin() : "";
    if (const std::size_t equals = word.find('='); equals != std::string::npos && models.contains(word.substr(0, equals))) {
        model = word.substr(0, equals);
        file = word.substr(equals + 1);
    }
    if (model.empty())
        throw Error("--rivals", fmt::format("\"{}\" does not say on which device", word),
                    fmt::format("write MODEL=FILE.csv, where MODEL is one of {}", fmt::join(models, ", ")));
    constexpr std::int64_t largest = std::int64_t{1} << 26;
    return {model, file, rivals_in(read_file(file, largest), file, known_families())};
}

Exit report(const Settings& settings, Console& console) {
    ReportContents contents;
    contents.database = database_places(settings.database, settings.device_file);
    contents.records = records_of(shown_database(settings.database, settings.device_file, known_families(), console), settings.words);
    if (!settings.against.empty()) {
        contents.against = settings.against;
        contents.others = other_records(settings, console);
    }
    contents.kernels = !settings.no_kernels;
    read_journals(contents, settings, console);
    if (contents.records.empty() && contents.journals.empty()) {
        console.message("hone: no results{} in {}; 'hone tune' makes some\n", settings.words.empty() ? "" : " of that kind", contents.database);
        return Exit::nothing;
    }
    for (const std::string& word : settings.rivals) contents.rivals.push_back(read_rivals(word, contents.records));
    const std::string page = report_page(report_parts(contents, known_families()));
    if (settings.output.empty()) {
        console.print("{}", page);
    } else {
        replace_file(settings.output, page);
        console.message("hone: wrote {}: {} results, {} searches; open it in a browser\n", settings.output, contents.records.size(),
                        contents.journals.size());
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY] [key=value...]", settings->words, "these problems only; lists and ranges mean any of them");
    options.text("output", settings->output, "FILE.html", "write to this file; default standard output", 'o');
    declare_database(options, settings->database);
    options.text("device-file", settings->device_file, "FILE", "use only the results in this file");
    options.text("against", settings->against, "DIR", "also compare with the results of this folder or file");
    options.flag("journals", settings->journals, "also the searches, from the journals in the folder of results");
    options.list("journal", settings->journal_files, "FILE", "also this journal, of hone or converted by 'hone convert'");
    options.list("rivals", settings->rivals, "[MODEL=]FILE.csv", "also rivals, from a table of 'benchmark_report table'");
    options.flag("no-kernels", settings->no_kernels, "leave out the text of the kernels, for a smaller file");
    return [settings](Console& console) { return report(*settings, console); };
}

}  // namespace report

Command report_command() {
    return {
        "report",
        "all results and searches as one page for a browser",
        "[FAMILY] [key=value...] [options]",
        "Writes one HTML file that needs no network and no other file. It contains devices and families, how close they are to the ceilings and "
        "what is untuned; every result with its figures, its search and its kernel; charts; and comparisons of devices and databases. Every view "
        "can be filtered, sorted and printed, and has its own address. The contents of a database are shown as plain text, whatever they are.\n\n"
        "With --journals, the report includes the analysis of 'hone explain' for each search: what was tried, what failed and why, which tunables "
        "mattered, what changing one value costs. Fitting the model of a large search takes about a second.",
        {{"report -o report.html", "everything in the default database"},
         {"report --journals --db DIR -o report.html", "with the searches in the folder of results"},
         {"report dg_volume order=3 -o report.html", "some problems"},
         {"report --db DIR --against tuning_db/records -o report.html", "what changed between two databases"}},
        report::declare};
}

}  // namespace hone::tools
