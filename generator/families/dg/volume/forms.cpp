#include "generator/families/dg/volume/forms.hpp"

#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/volume/text.hpp"

namespace hone::inline v0_1::dg {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device; null: always.
    bool (*serves)(const Shape&, const Limits&) = nullptr;
};

bool low_order(const Shape& shape, const Limits&) {
    return shape.low_order();
}

bool maxwell_in_2d(const Shape& shape, const Limits& limits) {
    return shape.dimension == 2 && limits.has(Feature::async_copies);
}

bool in_f64(const Shape& shape, const Limits& limits) {
    return matrix_units(shape, limits) == "mma";
}

bool in_f32(const Shape& shape, const Limits& limits) {
    return matrix_units(shape, limits) == "tf32";
}

constexpr Row cuda_rows[] = {
    {tile_form},        {rows_form, low_order}, {element_form, low_order}, {element_parity_form, maxwell_in_2d}, {warp_tile_form, has_warp_tile},
    {mma_form, in_f64}, {tf32_form, in_f32}};

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms{{}, "tile"};
    for (const Row& row : cuda_rows)
        if (row.serves == nullptr || row.serves(shape, limits)) forms.list.push_back(row.form(problem, limits));
    return forms;
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{cpu_elements_form(problem, limits)}, "elements"};
}

}  // namespace hone::inline v0_1::dg
