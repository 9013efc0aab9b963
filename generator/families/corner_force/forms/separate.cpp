#include "generator/families/corner_force/forms.hpp"

// Points, F.1 and F^T w in a launch each; F never exists.

namespace hone::inline v0_1::corner {
namespace {

std::vector<Pass> passes(const Shape& shape, bool stored) {
    std::vector<Pass> all;
    if (shape.physics()) {
        if (stored) all.push_back(gradients_of_gas());
        all.push_back({.entry = "corner_force_points", .points = true});
        all.push_back({.entry = "corner_force_momentum", .momentum = true});
    }
    if (shape.works()) {
        if (stored) all.push_back(gradients_of_w());
        all.push_back({.entry = "corner_force_work", .work = true});
    }
    return all;
}

}  // namespace

PassForm separate_form() {
    return {.name = "separate", .help = "points, forces and work in a launch each", .passes = passes, .may_store = true};
}

}  // namespace hone::inline v0_1::corner
