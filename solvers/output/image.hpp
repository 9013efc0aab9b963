#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

namespace hone::inline v0_1::solvers {

enum class ColourMap {
    diverging,   ///< blue, light grey, red: signed values around 0, which lies in the middle
    sequential,  ///< dark blue, green, pale yellow, of rising brightness: amounts
};

struct ImageStyle {
    ColourMap map = ColourMap::diverging;
    /// Values of the first and the last colour; NaN: the data's own, symmetric about 0 when
    /// diverging. What lies beyond has the outermost colour.
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = std::numeric_limits<double>::quiet_NaN();
    int magnify = 1;  ///< pixels per value along both axes
    /// Brightness between 0 and 1 of each pixel, e.g. from a model below a wave field; empty: 1.
    std::function<double(int x, int y)> shade;
};

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// The colour at `part` of the map, cut to 0 ... 1; magenta for what is not a number, so that it
/// shows.
Colour colour(ColourMap map, double part);

/// Draws nx x ny values, row 0 on top, into a PNG file. Any layout, any precision:
///
///     write_png("p.png", nx, ny, [&](int x, int y) { return p[y * pitch + x]; });
///     write_png("speed.png", nx, ny, speed, {.map = ColourMap::sequential, .low = 1500});
///
/// Throws Error when the file cannot be written.
void write_png(const std::filesystem::path& file, int nx, int ny, const std::function<double(int x, int y)>& value, const ImageStyle& style = {});

}  // namespace hone::inline v0_1::solvers
