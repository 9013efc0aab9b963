#include "generator/families/gauss_seidel_27/forms.hpp"

#include "generator/families/gauss_seidel_27/bulk_copies.hpp"

namespace hone::inline v0_1::gauss_seidel {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device; null: always.
    bool (*serves)(const Grid&, const Limits&) = nullptr;
};

// Rows that read a stencil's coefficients one after another find those of a symmetric one with the
// neighbours.
bool keeps_all_coefficients(const Grid& grid, const Limits&) {
    return grid.stencil != Stencil::symmetric;
}

// Slabs have no place for a stencil per point.
bool copies_rows_with_one_stencil(const Grid& grid, const Limits&) {
    return rows_can_be_copied(grid) && !grid.stencil_per_point();
}

constexpr Row cuda_rows[] = {{points_form},
                             {rows_form, keeps_all_coefficients},
                             {walk_form},
                             {slabs_form, copies_rows_with_one_stencil},
                             {pipeline_form, copies_rows_with_one_stencil}};

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    Forms forms{{}, "points"};
    for (const Row& row : cuda_rows)
        if (row.serves == nullptr || row.serves(grid, limits)) forms.list.push_back(row.form(problem, limits));
    return forms;
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    // Stencils of their own are most of what a sweep moves, and longer runs of them at a time are
    // read in a wave: 1.3 to 1.5 times as fast on an EPYC, if every processor has planes.
    const Grid grid(problem);
    const bool wide = grid.nz >= 2 * limits.multiprocessors;
    return {{cpu_rows_form(problem, limits), cpu_wave_form(problem, limits)}, grid.stencil_per_point() && wide ? "wave" : "rows"};
}

}  // namespace hone::inline v0_1::gauss_seidel
