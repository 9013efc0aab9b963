#include "generator/families/corner_force/family.hpp"

#include "generator/families/corner_force/data.hpp"
#include "generator/families/corner_force/forms.hpp"
#include "generator/families/corner_force/reference.hpp"

namespace hone::inline v0_1 {

Family corner_force() {
    Family family;
    family.name = "corner_force";
    family.summary = "forces, work and time-step bound of zones of high-order Lagrangian hydrodynamics";
    family.source =
        "V. Dobrev, T. Kolev, R. Rieben, SIAM J. Sci. Comput. 34, 2012; T. Dong and others, A Step towards Energy Efficient Computing, IPDPS 2014";
    family.example = "corner_force dimension=3 order=2 precision=f64 zones=32768";
    family.parameters = {
        {"result",
         "products: F.1 and F^T w; points: F.1 and the stress at the points; corner: F.1 and F; energy: F^T w from the stress at the points",
         {"products", "points", "corner", "energy"},
         0,
         0,
         false,
         "products"},
        {"dimension", "of space", {}, 2, 3, false, ""},
        {"order", "k of the spaces Qk-Qk-1", {}, 1, 8, false, ""},
        {"precision", "type of all arrays", {"f32", "f64"}, 0, 0, false, "f64"},
        {"zones", "number of zones", {}, 1, std::int64_t{1} << 27, true, ""}};
    family.range_unit = "zones";
    family.range = [](const Problem& problem) { return problem.integer("zones"); };
    family.partition = [](const Problem&) { return Partition{}; };  // a zone depends on its own words alone
    family.arrays = corner::arrays;
    set_forms(family, {{Target::cpu, corner::cpu_forms}, {Target::cuda, corner::cuda_forms}});
    family.reference = corner::reference;
    family.workload = corner::workload;
    family.counts = corner::counts;
    return family;
}

}  // namespace hone::inline v0_1
