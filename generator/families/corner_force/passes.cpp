#include "generator/families/corner_force/passes.hpp"

#include <algorithm>
#include <utility>

namespace hone::inline v0_1::corner {

Pass gradients_of_gas() {
    return {.kind = Pass::Kind::gradients, .entry = "corner_force_gradients"};
}

Pass gradients_of_w() {
    return {.kind = Pass::Kind::gradients, .entry = "corner_force_gradients_of_w", .of_w = true};
}

Pass all_at_once(const Shape& shape, const std::string& form) {
    return {.entry = "corner_force_" + form, .points = shape.physics(), .momentum = shape.physics(), .work = shape.works()};
}

ZoneKernel::ZoneKernel(const Shape& of_zones, Target of_target, std::vector<Pass> its_passes)
    : shape(of_zones), target(of_target), passes(std::move(its_passes)) {
}

bool ZoneKernel::has(Pass::Kind kind) const {
    return std::any_of(passes.begin(), passes.end(), [kind](const Pass& pass) { return pass.kind == kind; });
}

bool ZoneKernel::stress_in_memory() const {
    return shape.keeps_stress() || std::any_of(passes.begin(), passes.end(), [](const Pass& pass) { return pass.takes_stress(); });
}

int slab_energies(const Shape& shape) {
    constexpr int most_words = 5000;
    if (shape.dimension == 2) return shape.energies_along;
    const int words = 2 * shape.nodes_along * shape.energies_along * shape.points_along;
    int slab = shape.energies_along;
    while (slab > 1 && (slab * words > most_words || shape.energies_along % slab != 0)) --slab;
    return slab;
}

Buffers::Buffers(const ZoneKernel& kernel, const Pass& pass) {
    const Shape& shape = kernel.shape;
    const int d = shape.dimension;
    const bool alone = pass.kind == Pass::Kind::gradients;
    const bool gathers = alone || (!kernel.stored() && (pass.points || pass.work));
    const int gathered = !gathers ? 0 : alone ? 1 : pass.points ? 2 * d : d;
    const int fields = std::max(gathered, pass.momentum ? kernel.together() : 0);
    planes = fields * d * shape.nodes_along * shape.columns();
    if (d == 3) lines = 2 * std::min(fields, d) * shape.nodes_along * shape.nodes_along * shape.points_along;
    const bool with_energies = pass.points || pass.work;
    if (with_energies) energy_plane = shape.energies_along * shape.columns();
    if (with_energies && d == 3) energy_lines = shape.energies_along * shape.energies_along * shape.points_along;
    if (pass.work) powers = shape.points();
    if (pass.points && kernel.team > 1) rates = kernel.team;
    if (pass.assembly) {
        across = slab_energies(shape) * d * shape.columns();
        if (d == 3) along = slab_energies(shape) * shape.nodes_along * shape.energies_along * (2 * shape.points_along + 1);
    }
    if (pass.points && (pass.momentum || pass.work)) kept = shape.stress_words();
}

}  // namespace hone::inline v0_1::corner
