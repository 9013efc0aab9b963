#pragma once

#include <string>
#include <string_view>

#include "generator/kernel_source.hpp"

namespace hone::inline v0_1::solvers {

/// Source text of an application's own small kernels, which go over items [first, last) and are the
/// same text for both targets:
///
///     KERNEL double_all(real* field, int first, int last) {
///         FOR_ITEMS(i) field[i] = 2 * field[i];
///     }
///
/// FOR_LANES in its place says that no item reads what another one writes, which compilers can't
/// know of arrays given by pointers: a processor then takes a vector of items at a time.
///
/// `title` becomes the comment at its top, `real` is the type of the precision.
std::string item_kernels(std::string_view title, Target target, Precision precision, std::string_view kernels);

constexpr int item_threads = 256;  ///< of a block

/// Blocks of a launch over `items` items. Any number of them is right, since items are taken in
/// strides.
Dim3 item_blocks(std::int64_t items);

}  // namespace hone::inline v0_1::solvers
