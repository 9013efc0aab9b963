#pragma once

#include "generator/block.hpp"

namespace hone {

/// Bulk copies of rows into shared memory and the barriers that they open (templates/device/bulk_copies.cu.in). Of `kept` ones the second cache gives
/// up the words after all others.
Block bulk_copies(bool kept = false);

}  // namespace hone
