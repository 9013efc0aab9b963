#include "tools/searches/session_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "tools/console/format.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/searches/tuning_story.hpp"
#include "tuner/journal.hpp"

namespace hone::tools {
namespace {

namespace fs = std::filesystem;

using State = SessionStep::State;

// Unix time of a file's last change.
double last_written(const fs::path& file) {
    return std::chrono::duration<double>(std::chrono::file_clock::to_sys(fs::last_write_time(file)).time_since_epoch()).count();
}

// Whether a later session began the same problem, whose journal tells of it then.
bool taken_over(const SessionText& session, std::size_t place, const fs::path& folder) {
    const auto begins = [&](const SessionText& later) {
        for (std::size_t i = 0; i < later.steps.size(); ++i)
            if (later.plan.problems[i] == session.plan.problems[place] && later.steps[i].began > session.steps[place].began) return true;
        return false;
    };
    for (const fs::path& file : session_files(folder)) try {
            const SessionText later = read_session(file);
            if (later.plan.device == session.plan.device && begins(later)) return true;
        } catch (const Error&) {  // nobody's
        }
    return false;
}

ProgressState progress_at(const SessionText& session, std::size_t place, const fs::path& folder, const Families& families, bool going) {
    const SessionStep& step = session.steps[place];
    ProgressState state;
    state.number = static_cast<int>(place) + 1;
    state.problems = static_cast<int>(session.steps.size());
    state.problem = session.plan.problems[place];
    state.seconds = step.seconds;
    state.evaluations = session.plan.evaluations;
    try {
        const Problem problem = families.parse_problem(state.problem);
        state.problem = short_key(problem, families);
        state.counts = families.of(problem).counts(problem);
        if (step.state == State::waiting || step.state == State::passed_over) return state;
        if (step.progress) {
            state.run = *step.progress;
            return state;
        }
        if (!going && step.state == State::running && taken_over(session, place, folder)) return state;
        const fs::path file = journal_path(folder, problem, session.plan.device);
        // Until the run has put the journal of an earlier one aside, it is not its own.
        if (!step.resumed && last_written(file) + 1 < step.began) return state;
        state.run = progress_of(read_journal(file));
        // Time goes on between two candidates, too.
        if (going && step.state == State::running && !step.resumed) state.run.elapsed = std::max(state.run.elapsed, unix_seconds() - step.began);
    } catch (const std::exception&) {
        // Of a family that is not known here, or not begun, or damaged: then the log's word is all
        // there is.
    }
    return state;
}

int failed_in(const ProgressState& state) {
    int sum = 0;
    for (const auto& [status, count] : state.run.counts) sum += status == Status::measured ? 0 : count;
    return sum;
}

std::string heading(const WatchedSession& session) {
    const auto over = std::count_if(session.problems.begin(), session.problems.end(), [](const WatchedProblem& problem) {
        return problem.state == State::done || problem.state == State::passed_over;
    });
    std::string text = fmt::format("{}: {} of {} problems done", name_of(session.state), over, session.problems.size());
    if (session.state != WatchedSession::State::running) return text;
    if (session.seconds > 0) return text + ", " + duration(std::max(0.0, session.seconds - session.elapsed)) + " left";
    return text + ", " + duration(session.elapsed) + " so far";
}

double part_over(const WatchedSession& session) {
    if (session.problems.empty()) return 1;
    double parts = 0;
    for (const WatchedProblem& problem : session.problems)
        parts += problem.state == State::running ? part_done(problem.progress) : problem.state == State::waiting ? 0 : 1;
    return parts / static_cast<double>(session.problems.size());
}

std::string figures(const WatchedProblem& problem, bool going) {
    if (problem.state == State::waiting) return "";
    if (problem.state == State::done || problem.state == State::passed_over) return problem.outcome;
    const ProgressState& state = problem.progress;
    const double left = going ? seconds_left(state) : -1;
    const std::string time = state.run.finals ? ", finals" : left >= 0 ? ", " + duration(left) + " left" : "";
    const int failed = failed_in(state);
    return fmt::format("{} tried{}{}, {}", state.run.evaluations, failed > 0 ? fmt::format(", {} failed", failed) : "", time, best_so_far(state));
}

// Which problems are told: the one that runs, then its neighbours, until there is no more room.
std::vector<std::size_t> told(const WatchedSession& session, std::size_t room, std::size_t lines_each) {
    const auto running = std::find_if(session.problems.begin(), session.problems.end(), [](const WatchedProblem& problem) {
        return problem.state == State::running || problem.state == State::waiting;
    });
    auto middle = static_cast<std::ptrdiff_t>(running - session.problems.begin());
    const auto count = std::min(session.problems.size(), std::max<std::size_t>(1, room / lines_each));
    middle = std::clamp<std::ptrdiff_t>(middle - static_cast<std::ptrdiff_t>(count) / 2, 0,
                                        std::ssize(session.problems) - static_cast<std::ptrdiff_t>(count));
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<std::size_t>(middle) + i;
    return places;
}

std::string all_failures(const WatchedSession& session) {
    std::map<Status, int> counts;
    for (const WatchedProblem& problem : session.problems)
        for (const auto& [status, count] : problem.progress.run.counts) counts[status] += count;
    return failures(counts);
}

std::string shown_name(State state) {
    return state == State::passed_over ? "none" : name_of(state);
}

}  // namespace

std::string name_of(WatchedSession::State state) {
    switch (state) {
        case WatchedSession::State::running:
            return "running";
        case WatchedSession::State::finished:
            return "finished";
        case WatchedSession::State::interrupted:
            return "interrupted";
        case WatchedSession::State::killed:
            return "killed";
    }
    return "";
}

TuningProgress progress_of(const JournalText& journal) {
    TuningProgress progress;
    progress.members = journal.run.members;
    const Objective objective = parse_objective(journal.run.objective);
    std::set<std::string> seen;
    double least = std::numeric_limits<double>::infinity();
    for (const JournalEntry& entry : journal.entries) {
        progress.elapsed = std::max(progress.elapsed, entry.elapsed);
        if (entry.kind != JournalEntry::Kind::done) progress.finals = entry.kind == JournalEntry::Kind::finish || is_finalist(entry);
        if (entry.kind != JournalEntry::Kind::evaluation || entry.purpose != Candidate::Purpose::search || !seen.insert(entry.config).second)
            continue;
        ++progress.evaluations;
        ++progress.counts[entry.outcome.status];
        if (progress.evaluations == 1) progress.safe = entry.outcome;
        const double value = cost(objective, entry.outcome);
        if (!entry.outcome.measured() || value >= least) continue;
        least = value;
        progress.best = Tuner::Best{Config::parsed(entry.config), entry.outcome};
    }
    // Of journals whose run did not say so.
    if (progress.members == 0) progress.members = progress.evaluations;
    return progress;
}

WatchedSession watched_session(const fs::path& log, const Families& families) {
    const bool alive = is_alive(log);  // before it is read: a run that ends meanwhile has said so
    const SessionText session = read_session(log);
    WatchedSession watched;
    watched.device = session.plan.device.name;
    watched.seconds = session.plan.seconds;
    watched.elapsed = std::max(0.0, unix_seconds() - session.began);
    if (session.ended)
        watched.state = session.interrupted ? WatchedSession::State::interrupted : WatchedSession::State::finished;
    else if (!alive)
        watched.state = WatchedSession::State::killed;
    const fs::path folder = log.parent_path().parent_path();
    const bool going = watched.state == WatchedSession::State::running;
    for (std::size_t i = 0; i < session.steps.size(); ++i)
        watched.problems.push_back({session.steps[i].state, progress_at(session, i, folder, families, going), session.steps[i].outcome});
    if (going) return watched;
    // A run that is over was last seen when it wrote its log, or tried a candidate.
    double last = last_written(log);
    for (std::size_t i = 0; i < session.steps.size(); ++i)
        if (const SessionStep& step = session.steps[i]; step.state == State::running && !step.resumed)
            last = std::max(last, step.began + watched.problems[i].progress.run.elapsed);
    watched.elapsed = std::max(0.0, last - session.began);
    return watched;
}

std::vector<std::string> session_lines(const WatchedSession& session, int columns, int rows) {
    constexpr int roomy = 100;  // from here on a problem and its figures share a line
    constexpr int most_bar = 40;
    const int width = std::max(columns, 1);
    std::vector<std::string> lines{session.device, heading(session)};
    const double part = part_over(session);
    lines.push_back(fmt::format("[{}] {}", bar(part, std::clamp(width - 10, 1, most_bar)), percent(part)));
    const bool wide = width >= roomy;
    constexpr int narrow = 60;      // below it a problem takes three lines, its figures two
    constexpr int other_lines = 5;  // above, what is left out, failures
    const auto places = told(session, static_cast<std::size_t>(std::max(rows - other_lines, 1)), wide ? 1 : width < narrow ? 5 : 3);
    for (const std::size_t place : places) {
        const WatchedProblem& problem = session.problems[place];
        const std::string text = figures(problem, session.state == WatchedSession::State::running);
        const std::string line = fmt::format("{:8} {}", shown_name(problem.state), problem.progress.problem);
        lines.push_back(wide && !text.empty() ? line + "  " + text : line);
        if (!wide && !text.empty()) lines.push_back("  " + text);
    }
    if (const std::size_t others = session.problems.size() - places.size(); others > 0) lines.push_back(fmt::format("and {} more", others));
    if (const std::string failed = all_failures(session); !failed.empty()) lines.push_back("failed: " + failed);
    std::vector<std::string> broken;
    for (const std::string& line : lines) {
        std::istringstream pieces(fitted(line, width));
        for (std::string piece; std::getline(pieces, piece);) broken.push_back(cut(piece, width));
    }
    lines = std::move(broken);
    // A terminal that is too low for a problem and the rest keeps the upper lines.
    if (rows > 0 && std::ssize(lines) > rows) lines.resize(static_cast<std::size_t>(rows));
    return lines;
}

Json json_of(const WatchedSession& session) {
    Json problems = Json::array();
    for (const WatchedProblem& problem : session.problems) {
        const ProgressState& state = problem.progress;
        Json counts = Json::object();
        for (const auto& [status, count] : state.run.counts) counts[to_string(status)] = count;
        const bool going = session.state == WatchedSession::State::running && problem.state == State::running;
        const double left = going ? seconds_left(state) : -1;
        problems.push_back({{"problem", state.problem},
                            {"state", name_of(problem.state)},
                            {"members", state.run.members},
                            {"evaluations", state.run.evaluations},
                            {"counts", std::move(counts)},
                            {"finals", state.run.finals},
                            {"seconds_left", left >= 0 ? Json(left) : Json()},
                            {"best_seconds", state.run.best ? Json(state.run.best->outcome.step.median) : Json()},
                            {"safe_seconds", state.run.safe && state.run.safe->measured() ? Json(state.run.safe->step.median) : Json()},
                            {"outcome", problem.outcome}});
    }
    return {{"state", name_of(session.state)},
            {"device", session.device},
            {"seconds", session.seconds},
            {"elapsed", session.elapsed},
            {"problems", std::move(problems)}};
}

}  // namespace hone::tools
