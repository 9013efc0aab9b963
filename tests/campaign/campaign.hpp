#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/file_calls.hpp"
#include "tests/support/environment.hpp"
#include "tests/tools/hone_process.hpp"
#include "tuning_db/database.hpp"

namespace hone::test {

/// How often a test does what it is about: so many times on any machine, however busy it is, or
/// HONE_CAMPAIGN_TIMES as many where that is set.
///
///     const std::size_t wanted = times(40);
///     while (merges < wanted) ...
std::size_t times(std::size_t number);

/// A random source of a fresh seed, which is printed.
std::mt19937_64 fresh_random();
/// 0 .. below - 1.
std::size_t draw(std::mt19937_64& random, std::size_t below);

/// Prints a line of figures when the campaign ends: "faults: 412 failing calls, 0 lost".
void count(const std::string& line);
/// What was counted, line by line.
const std::vector<std::string>& counted();

/// Loads the library of file_calls.hpp into the processes that are started while it lives.
class Preload {
  public:
    struct Settings {
        std::filesystem::path folder;  ///< whose calls count
        std::filesystem::path log;     ///< empty: none
        std::string command;           ///< the only one that counts; empty: all
        std::string fail;              ///< NAME:N:ERRNO; empty: none
    };
    explicit Preload(const Settings& settings);

  private:
    std::vector<std::unique_ptr<EnvironmentVariable>> variables_;
};

struct LoggedCall {
    Event event;
    std::string path;
    std::string more;  ///< the second path, or what was written
};

std::vector<LoggedCall> read_log(const std::filesystem::path& log);
/// Writes a remark into a log.
void mark(const std::filesystem::path& log, const std::string& remark);

/// Folders of records for `hone db merge`: each holds a few, all different and about problems that
/// hone knows.
class MadeRecords {
  public:
    explicit MadeRecords(std::filesystem::path folder) : folder_(std::move(folder)) {}

    struct Batch {
        std::filesystem::path folder;
        std::vector<std::string> subjects;
    };
    Batch make(int records);

  private:
    std::filesystem::path folder_;
    int batches_ = 0;
    int made_ = 0;
};

/// The subjects of all records in a database. Throws Error for one that cannot be read.
std::vector<std::string> subjects_in(const std::filesystem::path& database);
/// Those of `expected` that are not among `found`.
std::vector<std::string> lost(const std::vector<std::string>& expected, const std::vector<std::string>& found);

/// The smallest problem that is worth tuning here, and the words that tune it fast.
std::vector<std::string> tune_command(const std::vector<std::string>& more);

std::string text_of(const std::filesystem::path& file);

}  // namespace hone::test
