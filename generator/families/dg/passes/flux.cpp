#include "generator/families/dg/passes/flux.hpp"

#include <fmt/format.h>

#include <string>

namespace hone::inline v0_1::dg {

void add_flux_flags(Flags& flags, const Shape& shape) {
    const bool flat = shape.dimension == 2;
    flags.insert(flags.end(), {{"acoustics", !shape.what->maxwell},
                               {"maxwell_3d", shape.what->maxwell && !flat},
                               {"maxwell_2d", shape.what->maxwell && flat},
                               {"three_dimensions", !flat},
                               {"materials", shape.materials}});
}

Block wall_line(const Shape& shape) {
    std::string values;
    for (const int value : shape.what->wall) values += (values.empty() ? "" : ", ") + std::to_string(value);
    return Block().line("constexpr int wall[fields] = {{{}}};  // a reflecting wall's neighbour less the own value", values);
}

Block mirrored_line(const Shape& shape) {
    std::string values;
    for (const int value : shape.what->wall) values += std::string(values.empty() ? "" : ", ") + (value == 0 ? "false" : "true");
    return Block().line("constexpr bool mirrored[fields] = {{{}}};", values);
}

int amplitudes_of(const Shape& shape) {
    return shape.maxwell() ? 2 : 1;
}

int flux_operations(const Shape& shape) {
    // Differences and the lines of the template; with materials the factor Z+, a sum, a division
    // and a product, otherwise the factor of all.
    const int lines = !shape.what->maxwell ? 5 + 1 + 1 + 6 : shape.dimension == 2 ? 4 + 4 : 3 * 4 + 5 + 3 * 4 + 3 * 3;
    return shape.fields + lines + (shape.materials ? (shape.what->maxwell && shape.dimension == 3 ? 3 : 1) + 3 : 1);
}

}  // namespace hone::inline v0_1::dg
