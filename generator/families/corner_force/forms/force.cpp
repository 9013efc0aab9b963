#include "generator/families/corner_force/forms.hpp"

// Points and F.1 in one launch, F^T w in another.

namespace hone::inline v0_1::corner {
namespace {

std::vector<Pass> passes(const Shape& shape, bool stored) {
    std::vector<Pass> all;
    if (stored) all.push_back(gradients_of_gas());
    all.push_back({.entry = "corner_force_points", .points = true, .momentum = true});
    if (shape.works()) {
        if (stored) all.push_back(gradients_of_w());
        all.push_back({.entry = "corner_force_work", .work = true});
    }
    return all;
}

}  // namespace

PassForm force_form() {
    return {.name = "force", .help = "points and forces in one launch", .passes = passes, .may_store = true};
}

}  // namespace hone::inline v0_1::corner
