#pragma once

#include <filesystem>
#include <string>

#include "examples/output/vtk.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::examples {

/// Writes an image of which each rank has a part: `stem`.vti on one rank; on several
/// `stem`_<rank>.vti each, and `stem`.pvti, which names them. A rank whose part has no cells writes
/// nothing. Returns the name of the file to open. All ranks call it, with the same fields.
std::string write_rank_image(Communicator& ranks, const std::filesystem::path& folder, const std::string& stem, const VtkImage& part,
                             const VtkImage::Extents& all_cells);

}  // namespace hone::examples
