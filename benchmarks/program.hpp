#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "tuning_db/device.hpp"

namespace hone::benchmarks {

/// An option of a program's own, beside those of Google Benchmark. Numbers are above 0, lists are
/// separated by commas.
struct Option {
    std::string name;  ///< "--shapes"
    std::string help;
    std::variant<bool*, int*, std::uint64_t*, std::vector<int>*, std::string*> value;  ///< holds the default
};

/// One benchmark program; all share `main`, which reads the options, has the benchmarks registered
/// and runs them.
struct Program {
    std::string purpose;  ///< for --help: a sentence or two
    std::vector<Option> options = {};
    std::function<std::vector<std::string>()> problems =
        {};                              ///< what --problems prints instead of measuring: arguments of `hone tune`, a problem a line
    std::function<bool()> instead = {};  ///< does what the options ask for instead of measuring; false where they ask for nothing
    std::function<void()> register_all = {};
    std::function<void()> finish = {};  ///< after all was measured: a summary
};

/// Defined by each file <name>_benchmark.cpp.
Program program();

/// The device to measure: HONE_DEVICE, by default "best".
std::string device_name();
/// The tuned results to measure: HONE_DB, by default "tuning_db/records".
std::filesystem::path database_folder();
/// Puts the device and its compiler into the report's head lines.
void tell_device(const DeviceFingerprint& device);

}  // namespace hone::benchmarks
