#include "generator/families/acoustics_staggered/forms.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "generator/families/acoustics_staggered/cuda.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device.
    bool (*serves)(const Grid&, const Limits&);
};

bool rows_can_be_copied(const Grid& grid) {
    return grid.pitch * grid.word() % copy_bytes == 0;
}

bool one_level(const Grid& grid, const Limits&) {
    return grid.levels == 1;
}

bool new_velocities(const Grid& grid, const Limits&) {
    return grid.kind == Kind::step && (grid.levels == 1 || grid.dimension == 2);
}

bool one_level_in_2d(const Grid& grid, const Limits&) {
    return grid.levels == 1 && grid.dimension == 2;
}

bool planes_by_copies(const Grid& grid, const Limits&) {
    return grid.levels == 1 && grid.dimension == 3 && rows_can_be_copied(grid);
}

bool levels_in_3d(const Grid& grid, const Limits&) {
    return grid.levels > 1 && grid.dimension == 3;
}

bool levels_in_2d(const Grid& grid, const Limits&) {
    return grid.levels > 1 && grid.dimension == 2;
}

constexpr Row cuda_rows[] = {{cached_form, one_level},     {march_form, one_level},         {exchanged_form, new_velocities},
                             {bulk_form, one_level_in_2d}, {planes_form, planes_by_copies}, {two_steps_form, levels_in_3d},
                             {shuffled_form, levels_in_2d}};

bool apart(const Grid& grid, const Limits&) {
    return !grid.in_place;
}

bool tiles_apart(const Grid& grid, const Limits&) {
    return !grid.in_place && (grid.kind != Kind::step || grid.dimension == 2 || grid.levels == 1);
}

bool step_in_3d(const Grid& grid, const Limits& limits) {
    return apart(grid, limits) && grid.kind == Kind::step && grid.dimension == 3;
}

bool in_place(const Grid& grid, const Limits&) {
    return grid.in_place;
}

constexpr Row cpu_rows[] = {{cpu_tiles_form, tiles_apart}, {cpu_planes_form, step_in_3d}, {cpu_march_form, in_place}};

template <std::size_t count>
std::vector<Form> serving(const Row (&rows)[count], const Problem& problem, const Grid& grid, const Limits& limits) {
    std::vector<Form> forms;
    for (const Row& row : rows)
        if (row.serves(grid, limits)) forms.push_back(row.form(problem, limits));
    return forms;
}

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    if (levels_in_3d(grid, limits) && (grid.levels > 2 || grid.half > 2 || !rows_can_be_copied(grid) || !limits.has(Feature::async_copies)))
        throw Error(fmt::format("problem \"{}\"", problem.key()), fmt::format("levels is {}", grid.levels),
                    "in 3D GPUs have two time steps in one pass of order 4, with rows of whole 16 bytes, from sm_80 on: leave it out");
    if (grid.in_place)
        throw Error(fmt::format("problem \"{}\"", problem.key()), "update=in_place",
                    "steps in place there are on processors alone: use update=apart");
    return {serving(cuda_rows, problem, grid, limits), grid.levels == 1 ? "cached" : grid.dimension == 3 ? "planes" : "exchanged"};
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    std::vector<Form> forms = serving(cpu_rows, problem, Grid(problem), limits);
    const std::string first = forms.front().space.name;
    return {std::move(forms), first};
}

}  // namespace hone::inline v0_1::acoustics
