#pragma once

#include <string>

#include "generator/block.hpp"
#include "generator/value.hpp"

namespace hone {

/// The entry `finish` of kernels that leave sums of dot products by chunks of rows: adds them up in an order that no configuration changes, and
/// divides by the rows. The text calls its word `real`, positions `wide`, and knows `components`, `sum_lanes` and `chunk_rows`. On CUDA it knows
/// `all_lanes` too, and the launch is a block of `sum_lanes` threads for each component.
///
/// `parameters` are those of the entry, with `chunk_sums` [components][chunks] and `dot` [components] among them; `chunks` declares the number of
/// chunks, and `rows` where it is not a parameter.
std::string finish_dots(Target target, const Block& parameters, const Block& chunks);

}  // namespace hone
