#pragma once

#include <filesystem>

#include "foundation/svg_chart.hpp"

namespace hone::benchmarks {

/// The picture of a folder of results (`<family>.csv` as table_of makes them): for each family the
/// part of the device's ceiling that its tuned kernels reach, and the part that rivals reach that
/// were timed alternately with them. It has every row of the tables but two kinds: kernels of ours
/// that were not tuned for the device, and, of `dg_stage`, the rivals, in which untuned kernels of
/// ours stand. Families without a file are left out. Throws Error when a table cannot be read or
/// nothing is there to show.
StripChart ceiling_picture(const std::filesystem::path& folder, const std::string& device);

}  // namespace hone::benchmarks
