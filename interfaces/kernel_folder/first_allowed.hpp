#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "foundation/python_expression.hpp"
#include "generator/early_expression.hpp"

namespace hone::inline v0_1::kernel_folder {

/// A tunable with the values that it may have.
using Choice = EarlyName;

/// Places of the first values, the last choice's fastest, that meet all conditions, which may ask
/// for the choices alone; nothing where none do. Throws Error, as the conditions do, and where it
/// would take long to find them.
std::optional<std::vector<std::size_t>> first_allowed(const std::vector<Choice>& choices, const std::vector<PythonExpression>& conditions);

/// Whether the values at these places meet all conditions.
bool allowed(const std::vector<Choice>& choices, const std::vector<std::size_t>& places, const std::vector<PythonExpression>& conditions);

}  // namespace hone::inline v0_1::kernel_folder
