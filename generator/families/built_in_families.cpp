#include "generator/families/built_in_families.hpp"

#include "generator/families/acoustics_staggered/family.hpp"
#include "generator/families/batched_gemm/family.hpp"
#include "generator/families/batched_gemv/family.hpp"
#include "generator/families/corner_force/family.hpp"
#include "generator/families/csr_spmv/family.hpp"
#include "generator/families/dg/rk/family.hpp"
#include "generator/families/dg/stage/family.hpp"
#include "generator/families/dg/surface/family.hpp"
#include "generator/families/dg/volume/family.hpp"
#include "generator/families/fe_mass/family.hpp"
#include "generator/families/gauss_seidel_27/family.hpp"
#include "generator/families/poisson7/family.hpp"
#include "generator/families/staggered_flow/family.hpp"

namespace hone::inline v0_1 {

const Families& built_in_families() {
    static const Families families({gauss_seidel_27(), dg_volume(), dg_surface(), dg_rk(), dg_stage(), acoustics_staggered(), poisson7(),
                                    batched_gemm(), batched_gemv(), corner_force(), csr_spmv(), fe_mass(), staggered_flow()});
    return families;
}

}  // namespace hone::inline v0_1
