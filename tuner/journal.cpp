#include "tuner/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "foundation/sha256.hpp"
#include "tuner/messages.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/record_json_parts.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
constexpr double most_journal_seconds = 1e9;
constexpr std::size_t longest_field = 1 << 16;

std::string json_list(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + json_string(word);
    return "[" + text + "]";
}

/// What a run is, name by name, as JSON: written as the first line and compared on resumption.
std::vector<std::pair<std::string, std::string>> fields(const RunDescription& run) {
    const TunerSettings& s = run.settings;
    return {{"hone_journal", std::to_string(journal_version)},
            {"problem", json_string(run.problem)},
            {"device", to_json(run.device)},
            {"space", json_string(run.space)},
            {"members", std::to_string(run.members)},
            {"version", json_string(run.version)},
            {"strategy", json_string(run.strategy)},
            {"seed", json_string(std::to_string(*run.seed))},
            {"settings", fmt::format(R"({{"window": {}, "finalists": {}, "final_rounds": {}, "tie": {}, "most_final_rounds": {}, "retime": {}}})",
                                     s.window, s.finalists, s.final_rounds, json_number(s.tie), s.most_final_rounds, s.retime)},
            {"objective", json_string(run.objective)},
            {"only", json_string(run.only)},
            {"among", std::to_string(run.among)},
            {"prior", json_list(run.prior)}};
}

std::string first_line(const RunDescription& run) {
    std::string line;
    for (const auto& [name, value] : fields(run)) line += fmt::format("{}\"{}\": {}", line.empty() ? "{" : ", ", name, value);
    return line + "}\n";
}

// The events of evaluations.
constexpr std::array<std::pair<Candidate::Purpose, std::string_view>, 3> purposes{
    {{Candidate::Purpose::search, "candidate"}, {Candidate::Purpose::again, "again"}, {Candidate::Purpose::finalist, "finalist"}}};

std::string_view word_of(Candidate::Purpose purpose) {
    return std::find_if(purposes.begin(), purposes.end(), [&](const auto& known) { return known.first == purpose; })->second;
}

std::string line_of(const JournalEntry& entry) {
    const std::string elapsed = json_number(entry.elapsed);
    if (entry.kind == JournalEntry::Kind::finish) return fmt::format("{{\"event\": \"finish\", \"elapsed\": {}}}\n", elapsed);
    if (entry.kind == JournalEntry::Kind::done) return fmt::format("{{\"event\": \"done\", \"elapsed\": {}}}\n", elapsed);
    return fmt::format("{{\"event\": \"{}\", \"elapsed\": {}, \"index\": {}, \"config\": {}, \"outcome\": {}}}\n", word_of(entry.purpose), elapsed,
                       entry.index, json_string(entry.config), to_json(entry.outcome));
}

JournalEntry entry_of(const JsonPlace& place) {
    JournalEntry entry;
    entry.elapsed = place["elapsed"].number(0, most_journal_seconds);
    const std::string event = place["event"].string(32);
    if (event == "finish" || event == "done") {
        entry.kind = event == "done" ? JournalEntry::Kind::done : JournalEntry::Kind::finish;
        return entry;
    }
    const auto purpose = std::find_if(purposes.begin(), purposes.end(), [&](const auto& known) { return known.second == event; });
    if (purpose == purposes.end()) place["event"].fail("is \"" + event + "\"", "it must be candidate, again, finalist, finish or done");
    entry.purpose = purpose->first;
    entry.index = place["index"].integer(0, std::numeric_limits<std::int64_t>::max());
    entry.config = place["config"].string(longest_field);
    entry.outcome = read_outcome(place["outcome"]);
    return entry;
}

/// Parses a line so that every Error names file and line.
template <typename Read>
auto read_line(const std::filesystem::path& file, std::size_t number, const std::string& line, Read read) {
    const std::string where = fmt::format("{}:{}", file.string(), number + 1);
    try {
        const JsonNode node = parse_json(line, where);
        return read(JsonPlace(node, where));
    } catch (const Error& error) {
        throw Error("journal " + where, fmt::format("damaged ({})", error.what()), "tune again without --resume; the journal is kept");
    }
}

bool is_json(const std::string& line) {
    try {
        parse_json(line, "line");
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// The lines of a journal. A last one that has no end, or cannot be read, was cut while it was
/// written and is left out.
std::vector<std::string> readable_lines(std::string_view text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        lines.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    if (!lines.empty() && !is_json(lines.back())) lines.pop_back();
    return lines;
}

std::vector<std::string> readable_lines(const std::filesystem::path& file) {
    const std::string text = read_file(file, most_bytes);
    return readable_lines(std::string_view(text));
}

void read_settings(const JsonPlace& place, TunerSettings& settings) {
    const auto number = [&](const char* name, int& value) {
        if (const auto found = place.find(name)) value = static_cast<int>(found->integer(0, std::numeric_limits<int>::max()));
    };
    number("window", settings.window);
    number("finalists", settings.finalists);
    number("final_rounds", settings.final_rounds);
    number("most_final_rounds", settings.most_final_rounds);
    number("retime", settings.retime);
    if (const auto tie = place.find("tie")) settings.tie = tie->number(0, 1);
}

/// How a first line says that candidates are chosen.
void read_search(const JsonPlace& place, RunDescription& run) {
    run.strategy = place["strategy"].string(longest_field);
    run.seed = read_seed(place["seed"]);
    // Journals of older versions lack the rest.
    if (const auto settings = place.find("settings")) read_settings(*settings, run.settings);
    if (const auto objective = place.find("objective")) run.objective = objective->string(longest_field);
    if (const auto only = place.find("only")) run.only = only->string(longest_field);
    if (const auto among = place.find("among")) run.among = among->integer(0, std::numeric_limits<std::int64_t>::max());
    const auto prior = place.find("prior");
    if (!prior) return;
    run.prior.clear();
    for (std::size_t i = 0; i < prior->elements(); ++i) run.prior.push_back((*prior)[i].string(longest_field));
}

RunDescription run_of(const JsonPlace& place) {
    RunDescription run;
    place["hone_journal"].integer(journal_version, journal_version);
    run.problem = place["problem"].string(longest_field);
    run.device = read_device(place["device"]);
    run.space = place["space"].string(longest_field);
    if (const auto members = place.find("members")) run.members = members->integer(0, std::numeric_limits<std::int64_t>::max());
    run.version = place["version"].string(longest_field);
    read_search(place, run);
    return run;
}

void check_same(const std::filesystem::path& file, const JsonPlace& place, const RunDescription& run) {
    for (const auto& [name, value] : fields(run)) {
        const auto present = place.find(name);        // journals of older versions lack some
        if (!present && name == "members") continue;  // the space's hash says it as well
        const std::string found = present ? write_json(present->node()) : "not said";
        const std::string expected = write_json(parse_json(value, "the run"));
        if (found != expected)
            throw OtherRunError("journal " + file.string(),
                                fmt::format("it is of another run: its {} is {}, this run's is {}", name, found, expected),
                                "give the options of that run, or tune again without --resume");
    }
}

// The journal is still the file that was opened: whoever held it before may have put it aside.
bool in_place(const Descriptor& descriptor, const std::filesystem::path& file) {
    struct stat opened {};
    struct stat present {};
    return fstat(descriptor.get(), &opened) == 0 && stat(file.c_str(), &present) == 0 && opened.st_dev == present.st_dev &&
           opened.st_ino == present.st_ino;
}

Descriptor open_locked(const std::filesystem::path& file) {
    fill_standard_descriptors();
    const std::string where = "journal " + file.string();
    const std::filesystem::path folder = file.parent_path();
    make_folders(folder);
    std::error_code error;
    const bool absent = !std::filesystem::exists(file, error);
    Descriptor descriptor(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
    if (!descriptor.valid()) throw Error(where, "cannot be written: " + system_message(errno), "choose another folder with --db");
    int locked = 0;
    do locked = flock(descriptor.get(), LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno != EWOULDBLOCK) {
        const LockFailure failure = lock_failure(errno);
        throw Error(where, failure.found, failure.remedy);
    }
    if (locked != 0 || !in_place(descriptor, file))
        throw Error(where, "another process is tuning this problem", "wait until it has ended, or choose another folder with --db");
    if (absent) synchronise_folder(folder);
    return descriptor;
}

void write_through(int descriptor, const std::filesystem::path& file, const std::string& line) {
    if (!write_all(descriptor, line) || fdatasync(descriptor) != 0)
        throw Error("journal " + file.string(), "cannot be written: " + system_message(errno), "make room on the disk and go on with --resume");
}

// How many journals of earlier runs are kept, the last one as `<name>.previous`, those before as
// `<name>.previous-2` and so on.
constexpr int most_previous = 9;

std::filesystem::path previous(const std::filesystem::path& file, int runs_ago) {
    return file.string() + (runs_ago == 1 ? ".previous" : fmt::format(".previous-{}", runs_ago));
}

// Only renames, the oldest first: what is killed on the way has lost nothing.
void put_aside(const std::filesystem::path& file) {
    std::error_code error;
    int free = 1;
    while (free < most_previous && std::filesystem::exists(previous(file, free), error)) ++free;
    for (int age = free; age > 0 && !error; --age) std::filesystem::rename(age == 1 ? file : previous(file, age - 1), previous(file, age), error);
    if (error) throw Error("journal " + file.string(), "cannot be put aside: " + error.message(), "remove it");
    synchronise_folder(file.parent_path());
}

}  // namespace

struct Journal::State {
    std::filesystem::path file;
    Descriptor descriptor;
    std::vector<JournalEntry> entries;
};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {
}
Journal::~Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

JournalText parse_journal(std::string_view text, const std::string& where) {
    const std::vector<std::string> lines = readable_lines(text);
    if (lines.empty()) throw Error("journal " + where, "it has no line", "name a journal that 'hone tune' wrote");
    JournalText journal{read_line(where, 0, lines[0], run_of), {}};
    journal.entries.reserve(lines.size() - 1);
    for (std::size_t i = 1; i < lines.size(); ++i) journal.entries.push_back(read_line(where, i, lines[i], entry_of));
    return journal;
}

std::string journal_text(const JournalText& journal) {
    std::string text = first_line(journal.run);
    for (const auto& entry : journal.entries) text += line_of(entry);
    return text;
}

Journal Journal::start(const std::filesystem::path& file, const RunDescription& description) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
        const Descriptor held = open_locked(file);  // not while another process writes it
        put_aside(file);
    }
    auto state = std::make_unique<State>(State{file, open_locked(file), {}});
    write_through(state->descriptor.get(), file, first_line(description));
    return Journal(std::move(state));
}

Journal Journal::resume(const std::filesystem::path& file, const RunDescription& description) {
    auto state = std::make_unique<State>(State{file, open_locked(file), {}});
    const std::vector<std::string> lines = readable_lines(file);
    std::size_t bytes = 0;
    for (const std::string& line : lines) bytes += line.size() + 1;
    if (ftruncate(state->descriptor.get(), static_cast<off_t>(bytes)) != 0)
        throw Error("journal " + file.string(), "its torn last line cannot be cut off: " + system_message(errno), "tune again without --resume");
    if (lines.empty()) {
        write_through(state->descriptor.get(), file, first_line(description));
        return Journal(std::move(state));
    }
    const JsonNode header = parse_json(lines[0], file.string());
    check_same(file, JsonPlace(header, file.string()), description);
    for (std::size_t i = 1; i < lines.size(); ++i) state->entries.push_back(read_line(file, i, lines[i], entry_of));
    return Journal(std::move(state));
}

bool Journal::peek(const std::filesystem::path& file, RunDescription& description) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return false;
    const std::vector<std::string> lines = readable_lines(file);
    if (lines.empty()) return false;
    return read_line(file, 0, lines[0], [&](const JsonPlace& place) {
        read_search(place, description);
        return true;
    });
}

const std::vector<JournalEntry>& Journal::entries() const {
    return state_->entries;
}

bool Journal::complete() const {
    return !state_->entries.empty() && state_->entries.back().kind == JournalEntry::Kind::done;
}

void Journal::append(const JournalEntry& entry) {
    write_through(state_->descriptor.get(), state_->file, line_of(entry));
}

std::filesystem::path journal_path(const std::filesystem::path& folder, const Problem& problem, const DeviceFingerprint& device) {
    return folder / "journals" / fmt::format("{}-{}.jsonl", device_key(device), sha256(problem.key()).substr(0, 16));
}

std::string space_hash(const SearchSpace& space, const Members& members) {
    std::string text = space.safe().key() + "\n";
    for (const FormSpace& form : space.forms())
        for (const auto& tunable : form.tunables) {
            text += (form.name.empty() ? "" : form.name + ": ") + tunable.name;
            for (const auto& value : tunable.values) text += " " + to_string(value);
            text += "\n";
        }
    members.describe(text);
    return sha256(text);
}

}  // namespace hone::inline v0_1
