#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tools/console/json.hpp"
#include "tools/searches/progress.hpp"
#include "tools/searches/session_log.hpp"
#include "tuner/journal.hpp"

namespace hone::tools {

/// One problem of a session, as people watch it.
struct WatchedProblem {
    SessionStep::State state = SessionStep::State::waiting;
    ProgressState progress;  ///< nothing tried: of one that waits
    std::string outcome;     ///< in a line, when it is over
};

/// A run of `hone tune` as people watch it.
struct WatchedSession {
    enum class State { running, finished, interrupted, killed };
    State state = State::running;
    std::string device;
    double seconds = 0;  ///< budget; 0: no bound
    double elapsed = 0;  ///< until now, or until a run that is over was last seen
    std::vector<WatchedProblem> problems;
};
std::string name_of(WatchedSession::State state);

/// A session from its log and its problems' journals, which lie beside it. A journal that cannot be
/// read leaves its problem without figures.
WatchedSession watched_session(const std::filesystem::path& log, const Families& families);

/// How far a tuning run is, as its journal tells it, as TuningProgress has it.
TuningProgress progress_of(const JournalText& journal);

/// The session in lines of at most `columns` columns, at most `rows` of them: its state, a bar,
/// every problem with candidates, failures, time left and best so far; what there is no room for is
/// counted.
std::vector<std::string> session_lines(const WatchedSession& session, int columns, int rows);

Json json_of(const WatchedSession& session);

}  // namespace hone::tools
