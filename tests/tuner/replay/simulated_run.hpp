#pragma once

#include <filesystem>
#include <string>

#include "tests/tuner/synthetic.hpp"
#include "tuner/tuning_run.hpp"

namespace hone::test {

/// A family whose search space is a landscape's; it has no kernel that could run.
Family landscape_family(const Landscape& landscape);

/// A device that is nowhere.
Device made_up_device();

/// Tunes the landscape of `seed` with simulated costs, on a simulated clock. The journal lies in
/// `folder`.
TuningResult simulate(const std::filesystem::path& folder, std::uint64_t seed, bool resume, SimulatedEvaluator& evaluator, TuningOptions options = {},
                      std::function<bool()> interrupted = {});

/// What the parts of a result say that must not depend on how a run was interrupted.
std::string digest(const TuningResult& result);

/// The body of a process that tunes (resuming what is there), slowly enough to be killed in
/// between, and prints the digest.
int simulate_main(const std::string& folder, const std::string& seed);

}  // namespace hone::test
