#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/device.hpp"

namespace hone::inline v0_1 {

/// Of the captures that this hone writes and reads.
constexpr std::int64_t capture_version = 1;

/// An array of a captured launch.
struct CapturedArray {
    std::string name;
    Access access = Access::in;
    std::int64_t bytes = 0;
    std::string sha256;  ///< of what it held before the step; empty for outputs, which are not kept
};

/// A launch of an application as it was: problem, configuration and data
/// (docs/capture-and-replay.md). Lies in a folder as `<name>.json`, and beside it, in data/, what
/// the arrays held: a file for each content, named by its SHA-256, however many captures have it.
struct Capture {
    std::string problem;        ///< its key, which Families::parse_problem reads
    std::string configuration;  ///< key of the one that ran
    std::string device;         ///< name of the one that it ran on
    std::string hone;           ///< version of the application's hone
    std::int64_t first = 0;     ///< units of the range that were launched: [first, last)
    std::int64_t last = 0;
    std::vector<CapturedArray> arrays;
    std::filesystem::path file;  ///< that it was read from

    std::string family() const { return problem.substr(0, problem.find(' ')); }
};

/// Where the capture of a problem lies in a folder.
std::filesystem::path capture_file(const std::filesystem::path& folder, const std::string& problem);

/// Writes `contents` to the folder's data/ unless they are there already, and returns their
/// SHA-256. Complete or not at all, whoever else writes the same; only this user may read it.
/// Throws Error.
std::string keep_data(const std::filesystem::path& folder, std::string_view contents);

/// Writes or replaces a capture, in the same way. Its data should be there.
void write_capture(const std::filesystem::path& folder, const Capture& capture);

/// Strict. Throws Error naming file and line.
Capture read_capture(const std::filesystem::path& file);
/// The same of a text.
Capture parse_capture(std::string_view text, const std::filesystem::path& file);

/// One file, or all `*.json` of a folder in the order of their names. Throws Error where there is
/// none.
std::vector<Capture> read_captures(const std::filesystem::path& place);

/// The captured problem. Throws Error, naming the file, for one that the family does not know or
/// whose range and arrays are not what was captured, and for data that are missing.
Problem captured_problem(const Capture& capture, const Families& families);

/// The arrays before the step, outputs poisoned. Throws Error when the family lays its arrays out
/// otherwise than the capture's did, and for data that are missing or not what they were.
std::vector<HostArray> captured_arrays(const Capture& capture, const Family& family, const Problem& problem);

/// The family with the captured data in place of random ones for the captured problem; other
/// problems are as they were.
///
/// The expected arrays come from the family's plain loops. The family's tolerance belongs to its
/// own random data, so it is carried over: of these data as of its own, so many times as much is
/// allowed as changing each input by one unit in its last place does to the result, and twice that
/// for the chance in the signs. Throws Error when it is called with data whose step leads to
/// infinite values.
Family replaying(Family family, Capture capture);

}  // namespace hone::inline v0_1
