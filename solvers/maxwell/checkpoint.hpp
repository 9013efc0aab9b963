#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::inline v0_1::solvers::maxwell {

/// Everything that a run of a wave solver needs to go on as if it had not ended.
struct Checkpoint {
    std::string equation;
    int order = 0;
    std::string precision;
    std::string mesh;                                   ///< fingerprint of mesh and materials
    std::string form;                                   ///< of a stage
    std::map<std::string, std::string> configurations;  ///< of the kernels, by family: others would round differently
    std::int64_t step = 0;                              ///< steps done
    double dt = 0;
    std::vector<std::pair<double, double>> energy;  ///< history: time, energy
    std::vector<std::byte> state;                   ///< as WaveSolver::state gives it

    bool operator==(const Checkpoint&) const = default;
};

/// Replaces the file, so that a crash at any moment leaves the old one or the new one. It has a
/// version and a SHA-256 over all of it.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throws Error, saying which, for a file that is no checkpoint, of a newer version, cut short or
/// changed.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Throws Error naming what differs when a run of these cannot go on from the checkpoint.
void require_same(const Checkpoint& checkpoint, const Checkpoint& run, const std::filesystem::path& file);

}  // namespace hone::inline v0_1::solvers::maxwell
