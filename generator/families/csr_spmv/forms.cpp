#include "generator/families/csr_spmv/forms.hpp"

namespace hone::inline v0_1::spmv {

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    return {{vector_form(problem, limits)}, "vector"};
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{cpu_vector_form(problem, limits)}, "vector"};
}

}  // namespace hone::inline v0_1::spmv
