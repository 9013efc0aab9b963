#pragma once

#include <CLI/CLI.hpp>
#include <hone/hone.hpp>
#include <string>

#include "examples/options/checks.hpp"

namespace hone::examples {

/// The options that programs have in common, with the same names, help and checks in all of them.
///
///     CLI::App app{"What the program does."};
///     add_device(app, device, records);
///
/// `records` is a text or a path; `more` is what else a program takes for a device.
template <typename Folder>
void add_device(CLI::App& app, std::string& device, Folder& records, const std::string& more = "") {
    app.add_option("--device,--devices", device, "best, cuda, cuda:1 or cpu" + more)->capture_default_str();
    app.add_option("--db", records, "folder of tuned results, alone; default all that is known, as hone doctor lists it");
}

inline void add_first_use(CLI::App& app, hone::SessionSettings& settings) {
    app.add_option_function<std::string>(
           "--first-use", [&settings](const std::string& word) { settings.first_use = hone::parse_first_use(word, "--first-use"); },
           "predicted or measured: whether a problem that nobody tuned runs by what other results suggest, or by the best of several suggestions, which "
           "are measured first and kept; default what HONE_FIRST_USE says, else predicted")
        ->check(CLI::IsMember({"predicted", "measured"}));
}

inline void add_tune(CLI::App& app, double& seconds) {
    app.add_option("--tune", seconds, "seconds for tuning this run's kernels first; what is found stays in --db, else in HONE_DB or your own folder")
        ->check(between(0.1, 1e6));
}

/// `what` has this precision: "of fields and operators".
inline void add_precision(CLI::App& app, std::string& precision, const std::string& what) {
    app.add_option("--precision", precision, what)->capture_default_str()->check(CLI::IsMember({"f32", "f64"}));
}

/// What add_device says of programs that run on ranks.
inline constexpr const char* device_list = "; several by commas: for the ranks of a host, or for threads of its processes, one for each";

}  // namespace hone::examples
