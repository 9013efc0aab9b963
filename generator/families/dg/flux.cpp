#include "generator/families/dg/flux.hpp"

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

// With w = [E] + Z+ n x [H], the flux of E is w's tangential part and that of H is -n x w: -n x (n x a) is the tangential part of a.
Block maxwell_3d_lines(const Shape& shape, const Text& difference, const Text& target) {
    Block block;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        const int k = (i + 2) % 3;
        block.line("const real w{} = {} + {};", axis(i), difference(3 + i),
                   other_z(shape, fmt::format("(n{} * {} - n{} * {})", axis(j), difference(k), axis(k), difference(j))));
    }
    block.text("const real along = nx * wx + ny * wy + nz * wz;");
    for (int i = 0; i < 3; ++i) {
        const std::string j = axis((i + 1) % 3);
        const std::string k = axis((i + 2) % 3);
        block.line("{} = first * (n{} * w{} - n{} * w{});", target(i), k, j, j, k);
    }
    for (int i = 0; i < 3; ++i) block.line("{} = second * (w{} - n{} * along);", target(3 + i), axis(i), axis(i));
    return block;
}

Block maxwell_2d_lines(const Shape& shape, const Text& difference, const Text& target) {
    Block block;
    block.line("const real w = {} + {};", difference(2), other_z(shape, fmt::format("(nx * {} - ny * {})", difference(1), difference(0))));
    block.line("const real across = first * w;");
    block.line("{} = -ny * across;", target(0));
    block.line("{} = nx * across;", target(1));
    block.line("{} = second * w;", target(2));
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

Block name_normal(const Shape& shape) {
    Block block;
    for (int i = 0; i < shape.dimension; ++i) block.line("const real n{} = face[{}];", axis(i), i);
    return block;
}

Block wall_line(const Shape& shape) {
    std::string values;
    for (const int value : shape.what->wall) values += (values.empty() ? "" : ", ") + std::to_string(value);
    Block block;
    block.line("constexpr int wall[fields] = {{{}}};  // a reflecting wall's neighbour less the own value", values);
    return block;
}

Block mirror_lines(const Shape& shape) {
    std::string values;
    for (const int value : shape.what->wall) values += std::string(values.empty() ? "" : ", ") + (value == 0 ? "false" : "true");
    Block block;
    block.text("// Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary there is nothing.");
    block.line("constexpr bool mirrored[fields] = {{{}}};", values);
    block.text("const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;");
    return block;
}

int flux_operations(const Shape& shape) {
    // Differences and the lines above; with materials the factor Z+, a sum, a division and a product, otherwise the factor of all.
    const int lines = !shape.what->maxwell ? 5 + 1 + 1 + 6 : shape.dimension == 2 ? 4 + 4 : 3 * 4 + 5 + 3 * 4 + 3 * 3;
    return shape.fields + lines + (shape.materials ? (shape.what->maxwell && shape.dimension == 3 ? 3 : 1) + 3 : 1);
}

}  // namespace hone::dg
