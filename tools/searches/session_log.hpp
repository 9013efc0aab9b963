#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foundation/descriptor.hpp"
#include "generator/problem.hpp"
#include "tuner/tuning_run.hpp"
#include "tuning_db/device.hpp"

namespace hone::tools {

/// The plan of a run of `hone tune`.
struct SessionPlan {
    DeviceFingerprint device;
    std::vector<std::string> problems;  ///< keys
    double seconds = 0;                 ///< for all problems together; 0: no bound
    int evaluations = 0;                ///< for each problem; 0: no bound
};

/// The result for one of its problems.
struct SessionStep {
    enum class State {
        waiting,
        running,
        done,        ///< with a result
        passed_over  ///< without: tuned already, cannot be set up, no time left
    };
    State state = State::waiting;
    double began = 0;    ///< Unix time
    double seconds = 0;  ///< its share of the budget; 0: no bound
    bool resumed = false;
    std::string outcome;  ///< in a line, when it is over
    /// How far it came, when it is over: what a later run adds to the journal is not its own. Of
    /// the best and the safe configuration only the time is told. Absent in logs of older versions.
    std::optional<TuningProgress> progress;
};
std::string name_of(SessionStep::State state);

/// A session as its log has it.
struct SessionText {
    SessionPlan plan;
    double began = 0;  ///< Unix time
    std::vector<SessionStep> steps;
    bool ended = false;
    bool interrupted = false;
};

/// The log of one run of `hone tune`, by which another process sees where it stands:
/// `FOLDER/sessions/<UTC>-<process>.jsonl`, JSON lines that are only appended. What the candidates
/// came to is in the problems' journals. The run holds the file's lock while it lives, however it
/// ends. The last twenty logs are kept. A run goes on without a log that cannot be written:
/// `missing` says why.
class SessionLog {
  public:
    SessionLog(const std::filesystem::path& folder, const SessionPlan& plan);

    void begin(std::size_t problem, double seconds, bool resumed);
    void end(std::size_t problem, SessionStep::State state, const std::string& outcome, const TuningProgress& progress = {});
    void done(bool interrupted);

    const std::filesystem::path& file() const { return file_; }
    const std::string& missing() const { return missing_; }

  private:
    void append(const std::string& line);

    std::filesystem::path file_;
    Descriptor descriptor_;
    std::string missing_;
};

/// Logs of a folder of results, the latest last.
std::vector<std::filesystem::path> session_files(const std::filesystem::path& folder);
/// Whether a log has its first line: that of a run that has only just begun, or whose disk is full,
/// has none.
bool has_begun(const std::filesystem::path& file);
/// Reads a log. A last line that was cut is left out; other damage throws Error naming file and
/// line.
SessionText read_session(const std::filesystem::path& file);
/// Whether the run that writes the log is still there.
bool is_alive(const std::filesystem::path& file);

/// Seconds since 1970, which two processes share.
double unix_seconds();

}  // namespace hone::tools
