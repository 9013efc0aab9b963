#include "generator/families/poisson7/forms.hpp"

namespace hone::inline v0_1::poisson {

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    return {{points_form(problem, limits), cells_form(problem, limits), march_form(problem, limits), shared_form(problem, limits)}, "points"};
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{cpu_blocks_form(problem, limits)}, "blocks"};
}

}  // namespace hone::inline v0_1::poisson
