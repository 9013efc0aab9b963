#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
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
    app.add_option("--db", records, "folder of tuned results to use alone; default: all known results, as hone doctor lists them");
}

inline void add_first_use(CLI::App& app, hone::SessionSettings& settings) {
    app.add_option_function<std::string>(
           "--first-use", [&settings](const std::string& word) { settings.first_use = hone::parse_first_use(word, "--first-use"); },
           "predicted or measured: whether a problem that nobody tuned runs by what other results suggest, or by the best of several suggestions, "
           "which "
           "are measured first and kept; default what HONE_FIRST_USE says, else predicted")
        ->check(CLI::IsMember({"predicted", "measured"}));
}

inline void add_tune(CLI::App& app, double& seconds) {
    app.add_option("--tune", seconds,
                   "first tune the kernels of this run for this many seconds; the results are kept in --db, otherwise in HONE_DB or your own folder")
        ->check(between(0.1, 1e6));
}

/// `what` has this precision: "of fields and operators".
inline void add_precision(CLI::App& app, std::string& precision, const std::string& what) {
    app.add_option("--precision", precision, "precision " + what)->capture_default_str()->check(CLI::IsMember({"f32", "f64"}));
}

/// Where a program writes its energies; empty: nowhere.
struct EnergyFiles {
    std::string csv, chart;
};

/// Files from which a program goes on; `more` is what else --restart allows.
template <typename Count>
void add_checkpoint(CLI::App& app, std::filesystem::path& file, Count& every, std::filesystem::path& restart, const std::string& more = "") {
    app.add_option("--checkpoint", file, "file from which --restart can continue, on any number of ranks");
    app.add_option("--checkpoint-every", every, "time steps between checkpoints; 0: only at the end")->capture_default_str()->check(not_negative());
    app.add_option("--restart", restart, "continue from this checkpoint, with the same options, to the same bits" + more);
}

/// What programs on meshes write while they run. `item` and `series` are what the pictures are of,
/// "element", and the file that has them all, "fields.pvd".
template <typename Run>
void add_run_files(CLI::App& app, Run& run, EnergyFiles& energy, const std::string& item, const std::string& series) {
    app.add_option("--frames", run.frames_folder, "folder for .vtu files with all nodes of each " + item + ", and " + series + ", for ParaView");
    app.add_option("--frame-count", run.frames, "number of frames after the first")->capture_default_str()->check(positive());
    app.add_option("--energy", energy.csv, "file for the energy over time (CSV)");
    app.add_option("--energy-chart", energy.chart, "file for a chart of the energy (SVG)");
    add_checkpoint(app, run.checkpoint, run.checkpoint_every, run.restart);
    app.add_option("--stop-after", run.stop_after, "stop after this many time steps, as if interrupted; 0: never")
        ->capture_default_str()
        ->check(not_negative());
}

/// How often ranks' parts of a mesh are drawn anew; `measured` is what counts.
inline void add_balancing(CLI::App& app, std::int64_t& every, const std::string& measured) {
    app.add_option("--balance-every", every,
                   "time steps per period; after each, ranks measure " + measured + ", and the mesh is divided again where that gains 5 %; 0: never")
        ->capture_default_str()
        ->check(not_negative());
}

/// What add_device says of programs that run on ranks.
inline constexpr const char* device_list = "; a list, separated by commas: for the ranks of a host, or one per thread of its processes";

}  // namespace hone::examples
