#include "generator/families/corner_force/forms.hpp"

// F itself, axis by axis from the stress.

namespace hone::inline v0_1::corner {
namespace {

std::vector<Pass> passes(const Shape&, bool stored) {
    std::vector<Pass> all;
    if (stored) all.push_back(gradients_of_gas());
    all.push_back({.entry = "corner_force_points", .points = true, .momentum = !stored});
    if (stored) all.push_back({.entry = "corner_force_momentum", .momentum = true});
    all.push_back({.entry = "corner_force_corner", .assembly = true});
    return all;
}

}  // namespace

PassForm factorised_form() {
    return {.name = "factorised", .help = "F axis by axis", .passes = passes, .may_store = true};
}

}  // namespace hone::inline v0_1::corner
