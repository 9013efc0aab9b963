#pragma once

#include <filesystem>
#include <string>

#include "runtime/ranks/communicator.hpp"
#include "solvers/output/vtk.hpp"

namespace hone::inline v0_1::solvers {

/// Writes an image of which each rank has a part: `stem`.vti on one rank; on several
/// `stem`_<rank>.vti each, and `stem`.pvti, which names them. A rank whose part has no cells writes
/// nothing. Returns the name of the file to open. All ranks call it, with the same fields.
std::string write_rank_image(Communicator& ranks, const std::filesystem::path& folder, const std::string& stem, const VtkImage& part,
                             const VtkImage::Extents& all_cells);

}  // namespace hone::inline v0_1::solvers
