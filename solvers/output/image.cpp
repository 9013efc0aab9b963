#include "solvers/output/image.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr Colour not_a_number{255, 0, 255};
// From one point to the next in equal steps. The outer ones of the first as in K. Moreland,
// Diverging Color Maps for Scientific Visualization, 2009; the second rises evenly in brightness,
// so that it survives a black-and-white printer.
constexpr std::array<Colour, 5> diverging{{{59, 76, 192}, {141, 176, 254}, {221, 221, 221}, {244, 152, 122}, {180, 4, 38}}};
constexpr std::array<Colour, 5> sequential{{{28, 16, 68}, {38, 78, 120}, {32, 140, 120}, {122, 196, 92}, {252, 244, 170}}};

struct Range {
    double low, high;
};

Range range(int nx, int ny, const std::function<double(int, int)>& value, const ImageStyle& style) {
    Range found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    if (std::isnan(style.low) || std::isnan(style.high))
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x)
                if (const double v = value(x, y); std::isfinite(v)) found = {std::min(found.low, v), std::max(found.high, v)};
    if (found.low > found.high) found = {0, 0};
    if (style.map == ColourMap::diverging) {
        found.high = std::max(std::abs(found.low), std::abs(found.high));
        found.low = -found.high;
    }
    return {std::isnan(style.low) ? found.low : style.low, std::isnan(style.high) ? found.high : style.high};
}

Colour shaded(Colour colour, double shade) {
    const double part = std::isfinite(shade) ? std::clamp(shade, 0.0, 1.0) : 1;
    for (auto& channel : colour) channel = static_cast<std::uint8_t>(std::lround(channel * part));
    return colour;
}

void write(const std::filesystem::path& file, int width, int height, const std::vector<std::uint8_t>& pixels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0)
        throw Error(file.string(), fmt::format("the picture cannot be written: {}", static_cast<const char*>(image.message)),
                    "choose a folder that can be written to");
}

}  // namespace

Colour colour(ColourMap map, double part) {
    if (std::isnan(part)) return not_a_number;
    const std::span<const Colour> points = map == ColourMap::diverging ? std::span(diverging) : std::span(sequential);
    const double at = std::clamp(part, 0.0, 1.0) * static_cast<double>(points.size() - 1);
    const auto left = std::min(static_cast<std::size_t>(at), points.size() - 2);
    Colour result{};
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<std::uint8_t>(std::lround(std::lerp(points[left][i], points[left + 1][i], at - static_cast<double>(left))));
    return result;
}

void write_png(const std::filesystem::path& file, int nx, int ny, const std::function<double(int, int)>& value, const ImageStyle& style) {
    constexpr int most_pixels = 1 << 15;  // along an axis: what viewers open
    if (nx < 1 || ny < 1 || style.magnify < 1 || nx > most_pixels / style.magnify || ny > most_pixels / style.magnify)
        throw Error(file.string(), fmt::format("a picture of {} x {} values, {} times as large", nx, ny, style.magnify),
                    fmt::format("stay within 1 to {} pixels along each axis", most_pixels));
    const Range bounds = range(nx, ny, value, style);
    const double width = bounds.high - bounds.low;
    const auto row_bytes = 3 * static_cast<std::size_t>(nx) * static_cast<std::size_t>(style.magnify);
    std::vector<std::uint8_t> pixels;
    pixels.reserve(row_bytes * static_cast<std::size_t>(ny) * static_cast<std::size_t>(style.magnify));
    for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) {
            const double v = value(x, y);
            const double part = width > 0 ? (v - bounds.low) / width : v + 0.5 - bounds.low;
            const Colour pixel = shaded(colour(style.map, part), style.shade ? style.shade(x, y) : 1);
            for (int copy = 0; copy < style.magnify; ++copy) pixels.insert(pixels.end(), pixel.begin(), pixel.end());
        }
        const std::size_t row = pixels.size() - row_bytes;
        for (int copy = 1; copy < style.magnify; ++copy)
            for (std::size_t i = 0; i < row_bytes; ++i) pixels.push_back(pixels[row + i]);
    }
    write(file, nx * style.magnify, ny * style.magnify, pixels);
}

}  // namespace hone::inline v0_1::solvers
