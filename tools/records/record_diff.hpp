#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuning_db/record.hpp"

namespace hone::tools {

/// The change of a result from one set of records to another.
enum class Change { faster, slower, same, unsure, appeared, gone };

std::string name_of(Change change);

/// One subject in both sets, or in one of them.
struct RecordChange {
    Change change = Change::same;
    std::optional<Record> before;
    std::optional<Record> after;
    double ratio = 0;       ///< of the costs, after over before: below 1 is better; 0 where one is missing
    double confidence = 0;  ///< that the order of the two true costs is the one of the medians, 0.5 to 1; 0: the intervals do not say
    bool other_configuration = false;
    bool other_source = false;  ///< of the same configuration: hone emits another kernel
};

/// Compares records with equal problem and purpose, and, if `by_device`, equal device model (else
/// each set is of one device). Costs are seconds of a step; for records tuned for energy, joules. A
/// difference beyond `noise` (a part of the cost) that is certain to 95 % is faster or slower; one
/// beyond it that is less certain is unsure; the rest is the same. The confidence follows from the
/// two medians' 95 % intervals, taken as those of normal distributions of the logarithms. In order
/// of the problems.
std::vector<RecordChange> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool by_device, double noise = 0.01);

/// Geometric mean of the ratios of subjects that are in both; 1 where there is none.
double mean_ratio(const std::vector<RecordChange>& changes);

}  // namespace hone::tools
