#pragma once

#include <string>
#include <vector>

#include "foundation/json.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// Parts of a record's JSON (tuning_db/record_json.hpp): their strict readers, and the bounds that
/// they keep.
namespace json_bounds {

/// Bounds that no honest record reaches; they keep absurd values out of everything that computes
/// with them.
inline constexpr double shortest_step = 1e-12;   // seconds
inline constexpr double longest_step = 1e7;      // four months
inline constexpr double most_work = 1e30;        // updates, operations, bytes of one step
inline constexpr double highest_fraction = 1e3;  // of a ceiling: caches may beat a memory ceiling
inline constexpr double least_joules = 1e-12;    // of one step
inline constexpr double most_joules = 1e13;      // a megawatt for the longest step
inline constexpr double most_watts = 1e6;
inline constexpr double most_megahertz = 1e6;
inline constexpr double most_celsius = 1e3;
inline constexpr std::size_t most_reasons = 16;
inline constexpr std::int64_t most_samples = 1'000'000'000;
inline constexpr int most_ranks = 1'000'000;
inline constexpr std::size_t longest_name = 200;
inline constexpr std::size_t longest_text = 2000;

}  // namespace json_bounds

/// A name or word as it can stand in a key such as `block_x=32,block_y=8`.
const std::string& plain_word(const JsonPlace& place, const std::string& word);
std::string assignments_json(const std::vector<Assignment>& assignments);
std::vector<Assignment> read_assignments(const JsonPlace& place);

DeviceFingerprint read_device(const JsonPlace& place);
/// Of seconds, or of another quantity within its own bounds.
Statistics read_statistics(const JsonPlace& place, double least = json_bounds::shortest_step, double most = json_bounds::longest_step);
Counts read_counts(const JsonPlace& place);
Energy read_energy(const JsonPlace& place);
Team read_team(const JsonPlace& place);
Conditions read_conditions(const JsonPlace& place);
/// A seed is a whole number in quotes: JSON's own numbers would lose its last digits in many
/// readers.
std::uint64_t read_seed(const JsonPlace& place);
Hybrid read_hybrid(const JsonPlace& place);
Exchange read_exchange(const JsonPlace& place);

}  // namespace hone::inline v0_1
