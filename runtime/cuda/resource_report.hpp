#pragma once

#include <string_view>
#include <vector>

#include "runtime/compiler.hpp"

namespace hone::inline v0_1::cuda {

/// Registers, shared memory, stack and spills of each entry point, from the log of `ptxas -v`, in
/// the log's order.
///
/// Lines that are not understood are passed over; what is not said is 0. Functions that are not
/// inlined have no line of their own in the result: their spills count for every entry, because the
/// log does not say who calls them.
std::vector<EntryResources> parse_resources(std::string_view log);

}  // namespace hone::inline v0_1::cuda
