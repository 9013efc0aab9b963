#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foundation/value.hpp"
#include "generator/block.hpp"

namespace hone::inline v0_1 {

/// The rows of a table, a line `{...},` each, with the numbers entry(row, column).
std::string table_rows(int rows, int columns, const std::function<double(int, int)>& entry);

/// `real name[rows][columns] = {...};` with the numbers entry(row, column), as a target's kernels
/// declare constants.
Block constant_table(Target target, const std::string& name, int rows, int columns, const std::function<double(int, int)>& entry);

/// `real name[] = {...};` of these numbers.
Block constant_list(Target target, const std::string& name, const std::vector<double>& numbers);

}  // namespace hone::inline v0_1
