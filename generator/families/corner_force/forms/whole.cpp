#include "generator/families/corner_force/forms.hpp"

// All in one launch: not even the stress goes through memory.

namespace hone::inline v0_1::corner {
namespace {

std::vector<Pass> passes(const Shape& shape, bool) {
    return {all_at_once(shape, "whole")};
}

}  // namespace

PassForm whole_form() {
    return {.name = "whole", .help = "points, forces and work in one launch", .passes = passes};
}

}  // namespace hone::inline v0_1::corner
