#include "generator/families/dg_flux.hpp"

#include <fmt/format.h>

#include <string>

namespace hone::dg {
namespace {

using Text = std::function<std::string(int)>;

// `Z+ times` where elements have materials.
std::string other_z(const Shape& shape, const std::string& text) {
    return shape.materials ? fmt::format("other_z * {}", text) : text;
}

Block acoustic_lines(const Shape& shape, const Text& difference, const Text& target) {
    Block block;
    block.line("const real du = {};", other_z(shape, fmt::format("(nx * {} + ny * {} + nz * {})", difference(1), difference(2), difference(3))));
    block.line("const real push = {} - du;", difference(0));
    block.line("{} = first * push;", target(0));
    for (int i = 0; i < 3; ++i) block.line("{} = -second * n{} * push;", target(1 + i), axis(i));
    return block;
}

Block maxwell_3d_lines(const Shape& shape, const Text& difference, const Text& target) {
    Block block;
    for (const int group : {0, 1})
        block.line("const real along_{} = nx * {} + ny * {} + nz * {};", (group == 0 ? "h" : "e"), difference(3 * group), difference(3 * group + 1),
                   difference(3 * group + 2));
    for (const int group : {0, 1})
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            const int k = (i + 2) % 3;
            const int other = 3 * (1 - group);
            const std::string tangential = fmt::format("({} - n{} * along_{})", difference(3 * group + i), axis(i), (group == 0 ? "h" : "e"));
            const std::string turned = fmt::format("(n{} * {} - n{} * {})", axis(j), difference(other + k), axis(k), difference(other + j));
            if (group == 0)
                block.line("{} = first * ({} - {});", target(i), other_z(shape, tangential), turned);
            else
                block.line("{} = second * ({} + {});", target(3 + i), tangential, other_z(shape, turned));
        }
    return block;
}

Block maxwell_2d_lines(const Shape& shape, const Text& difference, const Text& target) {
    Block block;
    block.line("const real along_h = nx * {} + ny * {};", difference(0), difference(1));
    block.line("{} = first * ({} - ny * {});", target(0), other_z(shape, fmt::format("({} - nx * along_h)", difference(0))), difference(2));
    block.line("{} = first * ({} + nx * {});", target(1), other_z(shape, fmt::format("({} - ny * along_h)", difference(1))), difference(2));
    block.line("{} = second * ({} + {});", target(2), difference(2),
               other_z(shape, fmt::format("(nx * {} - ny * {})", difference(1), difference(0))));
    return block;
}

}  // namespace

std::string axis(int i) {
    return i == 0 ? "x" : i == 1 ? "y" : "z";
}

Block flux_lines(const Shape& shape, const Text& difference, const Text& target) {
    if (!shape.what->maxwell) return acoustic_lines(shape, difference, target);
    return shape.dimension == 2 ? maxwell_2d_lines(shape, difference, target) : maxwell_3d_lines(shape, difference, target);
}

Block name_impedances(const Shape& shape) {
    // The first group of Maxwell's fields, H, and the second of acoustics, u, have the own impedance as a factor.
    const char* const with_z = shape.what->maxwell ? "first" : "second";
    const char* const without_z = shape.what->maxwell ? "second" : "first";
    Block block;
    if (shape.materials) {
        block.line("const real {} = fscale / (own_z + other_z);", without_z);
        block.line("const real {} = {} * own_z;", with_z, without_z);
    } else {
        block.text("const real first = real(0.5) * fscale, second = first;");
    }
    return block;
}

Block wall_line(const Shape& shape) {
    std::string values;
    for (const int value : shape.what->wall) values += (values.empty() ? "" : ", ") + std::to_string(value);
    Block block;
    block.line("constexpr int wall[fields] = {{{}}};  // a reflecting wall's neighbour less the own value", values);
    return block;
}

int flux_operations(const Shape& shape) {
    // Differences, normal components, and the lines above; with materials the factor Z+ of half of the fields, a sum, a division and a product.
    const int lines = !shape.what->maxwell ? 5 + 1 + 1 + 6 : shape.dimension == 2 ? 3 + 5 + 5 + 5 : 10 + 6 * (2 + 3 + 2);
    return shape.fields + lines + (shape.materials ? (shape.what->maxwell ? 3 : 1) + 3 : 1);
}

}  // namespace hone::dg
