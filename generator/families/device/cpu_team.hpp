#pragma once

#include <vector>

#include "generator/block.hpp"
#include "generator/config.hpp"
#include "generator/limits.hpp"
#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// The team of threads of a CPU kernel: tunables and source text that all families share.
///
/// A form gets them by `with_team`. A space without forms appends `team_tunables`,
/// `team_constraint` and `safe_team`. Its templates have the holes `team` (before the entry),
/// `parallel` (in place of `#pragma omp parallel`) and, as the first line of that region, `seat`.
///
/// The words mean the same on every machine, and how many threads they are is counted at run time:
/// `all` is OpenMP's own number (OMP_NUM_THREADS, or the processors that the process may use).
/// `close` and `spread` hold each thread on a processor of its own while the region runs: clauses
/// like proc_bind do nothing unless OMP_PLACES or OMP_PROC_BIND are set before the process starts.
/// Every thread gets back the processors that it had when the region ends, the application's own
/// thread too; nothing is bound where the application has OMP_PROC_BIND set, or more threads than
/// processors.
std::vector<Tunable> team_tunables(const Limits& limits);
Constraint team_constraint();
/// threads=all, binding=none: what a kernel without these tunables does.
std::vector<Assignment> safe_team();

/// The form with the team's tunables behind its own, what they refuse, and its safe team.
FormSpace with_team(FormSpace form, const Limits& limits);

Block team(const Config& config);
Block team_parallel(const Config& config);
Block team_seat(const Config& config);

}  // namespace hone::inline v0_1
