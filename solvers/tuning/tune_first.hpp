#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "generator/problem.hpp"
#include "runtime/backend.hpp"

namespace hone::inline v0_1::solvers {

/// Tunes problems before an application uses them, for `seconds` altogether, and adds what it finds
/// to the database in `folder`, so that the next start needs no tuning. Candidates run in processes
/// of the `hone` program (tuner/worker/worker_program.hpp). `tell` gets a line for every problem.
///
///     if (tune) tune_first(*backend, problems, own_records(), 60, tell_tuned);
///     KernelLibrary library(*backend, known_records(built_in_families()), built_in_families());
///
/// Throws Error when there is no `hone` program or nothing can be compiled here. A problem without
/// a result is told and does no harm.
void tune_first(const Backend& backend, const std::vector<Problem>& problems, const std::filesystem::path& folder, double seconds,
                const std::function<void(const std::string&)>& tell);

/// For `tell`: "tuned: " and the line, on standard error.
void tell_tuned(const std::string& line);

}  // namespace hone::inline v0_1::solvers
