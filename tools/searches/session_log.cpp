#include "tools/searches/session_log.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <set>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/record_json_parts.hpp"

namespace hone::tools {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 1;
constexpr std::int64_t largest = std::int64_t{1} << 26;
constexpr std::size_t longest = 1 << 16;
constexpr double most_seconds = 1e11;  // three thousand years
constexpr std::size_t kept = 20;

constexpr std::array<std::pair<SessionStep::State, const char*>, 4> names{{{SessionStep::State::waiting, "waiting"},
                                                                           {SessionStep::State::running, "running"},
                                                                           {SessionStep::State::done, "done"},
                                                                           {SessionStep::State::passed_over, "passed_over"}}};

SessionStep::State state_of(const JsonPlace& place) {
    const std::string& text = place.string(longest);
    for (const auto& [state, name] : names)
        if (name == text) return state;
    place.fail("is " + json_string(text), "it must be waiting, running, done or passed_over");
}

SessionText first_line(const JsonPlace& place) {
    if (place["hone_session"].integer(1, std::numeric_limits<int>::max()) != format_version)
        place["hone_session"].fail("is of a newer hone", "watch the session with the hone that runs it");
    SessionText session;
    session.began = place["at"].number(0, most_seconds);
    session.plan.device = read_device(place["device"]);
    session.plan.seconds = place["seconds"].number(0, most_seconds);
    session.plan.evaluations = static_cast<int>(place["evaluations"].integer(0, std::numeric_limits<int>::max()));
    const JsonPlace problems = place["problems"];
    for (std::size_t i = 0; i < problems.elements(); ++i) session.plan.problems.push_back(problems[i].string(longest));
    session.steps.resize(session.plan.problems.size());
    return session;
}

std::optional<Outcome> timed(const JsonPlace& place, const char* member) {
    const auto seconds = place.find(member);
    if (!seconds) return std::nullopt;
    Outcome outcome;
    outcome.step.median = seconds->number(0, most_seconds);
    return outcome;
}

TuningProgress progress_in(const JsonPlace& place) {
    TuningProgress progress;
    progress.elapsed = place["elapsed"].number(0, most_seconds);
    progress.members = place["members"].integer(0, std::numeric_limits<std::int64_t>::max());
    progress.evaluations = static_cast<int>(place["evaluations"].integer(0, std::numeric_limits<int>::max()));
    for (const JsonNode& count : place["counts"].members())
        progress.counts[parse_status(count.name)] = static_cast<int>(place["counts"][count.name].integer(0, std::numeric_limits<int>::max()));
    progress.finals = place["finals"].integer(0, 1) == 1;
    if (const auto best = timed(place, "best_seconds")) progress.best = Tuner::Best{{}, *best};
    progress.safe = timed(place, "safe_seconds");
    return progress;
}

std::string text_of(const TuningProgress& progress) {
    std::string counts;
    for (const auto& [status, count] : progress.counts) counts += fmt::format("{}\"{}\": {}", counts.empty() ? "" : ", ", to_string(status), count);
    std::string text = fmt::format(R"({{"elapsed": {}, "members": {}, "evaluations": {}, "counts": {{{}}}, "finals": {})",
                                   json_number(progress.elapsed), progress.members, progress.evaluations, counts, progress.finals ? 1 : 0);
    if (progress.best) text += fmt::format(R"(, "best_seconds": {})", json_number(progress.best->outcome.step.median));
    if (progress.safe && progress.safe->measured()) text += fmt::format(R"(, "safe_seconds": {})", json_number(progress.safe->step.median));
    return text + "}";
}

void take_line(SessionText& session, const JsonPlace& place) {
    const std::string& event = place["event"].string(longest);
    if (event == "done") {
        session.ended = true;
        session.interrupted = place["interrupted"].integer(0, 1) == 1;
        return;
    }
    if (session.steps.empty()) place.fail("is about a problem, and there is none", "this log is damaged");
    SessionStep& step = session.steps[static_cast<std::size_t>(place["problem"].integer(0, std::ssize(session.steps) - 1))];
    if (event == "begin") {
        step.state = SessionStep::State::running;
        step.began = place["at"].number(0, most_seconds);
        step.seconds = place["seconds"].number(0, most_seconds);
        step.resumed = place["resumed"].integer(0, 1) == 1;
    } else if (event == "end") {
        step.state = state_of(place["state"]);
        step.outcome = place["outcome"].string(longest);
        if (const auto progress = place.find("progress")) step.progress = progress_in(*progress);
    } else {
        place["event"].fail("is " + json_string(event), "it must be begin, end or done");
    }
}

// Only those of runs that are over; whoever removes a file that somebody else removes as well has
// nothing to do.
void remove_old(const fs::path& folder) {
    const std::vector<fs::path> files = session_files(folder);
    for (std::size_t i = 0; i + kept < files.size(); ++i) {
        std::error_code error;
        if (!is_alive(files[i])) fs::remove(files[i], error);
    }
}

}  // namespace

std::string name_of(SessionStep::State state) {
    for (const auto& [value, name] : names)
        if (value == state) return name;
    return "";
}

double unix_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

SessionLog::SessionLog(const fs::path& folder, const SessionPlan& plan) {
    try {
        const fs::path sessions = folder / "sessions";
        make_folders(sessions);
        remove_old(folder);
        file_ = sessions / fmt::format("{:%Y%m%dT%H%M%S}-{}.jsonl",
                                       fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())), getpid());
        fill_standard_descriptors();
        descriptor_ = Descriptor(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        if (!descriptor_.valid() || flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0)
            throw Error("log " + file_.string(), "cannot be written: " + system_message(errno), "choose another folder with --db");
    } catch (const Error& error) {
        descriptor_ = Descriptor();
        missing_ = error.what();
        return;
    }
    std::string problems;
    for (const std::string& problem : plan.problems) problems += (problems.empty() ? "" : ", ") + json_string(problem);
    append(fmt::format(R"({{"hone_session": {}, "at": {}, "device": {}, "seconds": {}, "evaluations": {}, "problems": [{}]}})", format_version,
                       json_number(unix_seconds()), to_json(plan.device), json_number(plan.seconds), plan.evaluations, problems));
}

void SessionLog::append(const std::string& line) {
    if (!descriptor_.valid() || write_all(descriptor_.get(), line + "\n")) return;
    missing_ = fmt::format("log {}: cannot be written: {}", file_.string(), system_message(errno));
    descriptor_ = Descriptor();
}

void SessionLog::begin(std::size_t problem, double seconds, bool resumed) {
    append(fmt::format(R"({{"event": "begin", "problem": {}, "at": {}, "seconds": {}, "resumed": {}}})", problem, json_number(unix_seconds()),
                       json_number(seconds), resumed ? 1 : 0));
}

void SessionLog::end(std::size_t problem, SessionStep::State state, const std::string& outcome, const TuningProgress& progress) {
    append(fmt::format(R"({{"event": "end", "problem": {}, "state": "{}", "outcome": {}, "progress": {}}})", problem, name_of(state),
                       json_string(outcome), text_of(progress)));
}

void SessionLog::done(bool interrupted) {
    append(fmt::format(R"({{"event": "done", "interrupted": {}}})", interrupted ? 1 : 0));
}

std::vector<fs::path> session_files(const fs::path& folder) {
    std::set<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator file(folder / "sessions", error), end; !error && file != end; file.increment(error))
        if (file->path().extension() == ".jsonl") files.insert(file->path());
    return {files.begin(), files.end()};
}

bool has_begun(const fs::path& file) {
    try {
        return read_file(file, largest).find('\n') != std::string::npos;
    } catch (const Error&) {
        return false;  // a pipe, say, or one that only others may read
    }
}

SessionText read_session(const fs::path& file) {
    const std::string text = read_file(file, largest);
    SessionText session;
    std::size_t begin = 0;
    int number = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        const JsonNode node = parse_json(std::string_view(text).substr(begin, end - begin), file.string(), ++number);
        const JsonPlace place(node, file.string());
        if (number == 1)
            session = first_line(place);
        else
            take_line(session, place);
        begin = end + 1;
    }
    if (number == 0) throw Error(file.string(), "it has no line", "name the log of a run of 'hone tune'");
    return session;
}

bool is_alive(const fs::path& file) {
    const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    // Shared, so that those who watch do not take each other for the run.
    return descriptor.valid() && flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace hone::tools
