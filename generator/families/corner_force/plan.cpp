#include "generator/families/corner_force/plan.hpp"

#include <algorithm>

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;

// Forms whose only launch does all that is wanted, so that the stress stays in it.
bool in_one_launch(const std::string& form) {
    return form == "whole" || form == "layered" || form == "streamed" || form == "teams";
}

// F from the stress, and what is wanted of it.
void add_dense_passes(const Shape& shape, bool paper, std::vector<Pass>& passes) {
    if (paper) passes.push_back({.kind = Kind::columns, .entry = "corner_force_columns"});
    passes.push_back({.kind = Kind::corner, .entry = "corner_force_corner"});
    if (paper) passes.push_back({.kind = Kind::sums, .entry = "corner_force_sums"});
    if (shape.works()) passes.push_back({.kind = Kind::products, .entry = "corner_force_products"});
}

std::vector<Pass> passes_of(const Shape& shape, const std::string& form, bool stored) {
    const Pass gradients{.kind = Kind::gradients, .entry = "corner_force_gradients"};
    const Pass gradients_of_w{.kind = Kind::gradients, .entry = "corner_force_gradients_of_w", .of_w = true};
    std::vector<Pass> passes;
    if (form == "paper") {
        passes.push_back({.kind = Kind::dense_gradients, .entry = "corner_force_gradients"});
    } else if (shape.physics() && stored) {
        passes.push_back(gradients);
    }
    if (in_one_launch(form)) {
        passes.push_back({.entry = "corner_force_" + form, .points = shape.physics(), .momentum = shape.physics(), .work = shape.works()});
        return passes;
    }
    if (form == "factorised") {
        passes.push_back({.entry = "corner_force_points", .points = true, .momentum = !stored});
        if (stored) passes.push_back({.entry = "corner_force_momentum", .momentum = true});
        passes.push_back({.entry = "corner_force_corner", .assembly = true});
        return passes;
    }
    if (shape.physics()) passes.push_back({.entry = "corner_force_points", .points = true, .momentum = form == "force"});
    if (is_dense(form)) {
        add_dense_passes(shape, form == "paper", passes);
        return passes;
    }
    if (shape.physics() && form == "separate") passes.push_back({.entry = "corner_force_momentum", .momentum = true});
    if (!shape.works()) return passes;
    if (stored) passes.push_back(gradients_of_w);
    passes.push_back({.entry = "corner_force_work", .work = true});
    return passes;
}

}  // namespace

Plan::Plan(const Problem& of_problem, const Config& of_config, Target of_target)
    : problem(of_problem),
      config(of_config),
      target(of_target),
      shape(of_problem),
      passes(passes_of(shape, config.word("form"), config.has("gradients", "stored"))) {
}

bool Plan::has(Kind kind) const {
    return std::any_of(passes.begin(), passes.end(), [kind](const Pass& pass) { return pass.kind == kind; });
}

bool Plan::makes_corner() const {
    return has(Kind::corner) || shape.keeps_corner();
}

bool Plan::stress_in_memory() const {
    return shape.keeps_stress() || !shape.physics() || !in_one_launch(config.word("form"));
}

int slab_energies(const Shape& shape) {
    constexpr int most_words = 5000;
    if (shape.dimension == 2) return shape.energies_along;
    const int words = 2 * shape.nodes_along * shape.energies_along * shape.points_along;
    int slab = shape.energies_along;
    while (slab > 1 && (slab * words > most_words || shape.energies_along % slab != 0)) --slab;
    return slab;
}

Buffers::Buffers(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    const int d = shape.dimension;
    const bool gathers = pass.kind == Kind::gradients || (!plan.stored() && (pass.points || pass.work));
    const int gathered = !gathers ? 0 : pass.kind == Kind::gradients ? 1 : pass.points ? 2 * d : d;
    const int fields = std::max(gathered, pass.momentum ? plan.together() : 0);
    planes = fields * d * shape.nodes_along * shape.columns();
    if (d == 3) lines = 2 * std::min(fields, d) * shape.nodes_along * shape.nodes_along * shape.points_along;
    const bool with_energies = pass.points || pass.work;
    if (with_energies) energy_plane = shape.energies_along * shape.columns();
    if (with_energies && d == 3) energy_lines = shape.energies_along * shape.energies_along * shape.points_along;
    if (pass.work) powers = shape.points();
    if (pass.points && plan.team() > 1) rates = plan.team();
    if (pass.assembly) {
        across = slab_energies(shape) * d * shape.columns();
        if (d == 3) along = slab_energies(shape) * shape.nodes_along * shape.energies_along * (2 * shape.points_along + 1);
    }
    if (pass.points && (pass.momentum || pass.work)) kept = shape.stress_words();
}

std::vector<PassForm> pass_forms(const Shape& shape) {
    const PassForm separate{"separate", "points, forces and work in a launch each"}, force{"force", "points and forces in one launch"};
    if (shape.result == "energy") return {separate};
    if (shape.result == "points") return {separate, force};
    std::vector<PassForm> result{separate, force, {"whole", "points, forces and work in one launch"}};
    if (shape.keeps_corner()) result = {{"factorised", "F axis by axis"}};
    // Where A is many times as large as all that a zone needs, forming it is out of the question:
    // 71 MB for a zone of Q8-Q7.
    constexpr int highest_order = 4;
    if (shape.dimension == 3 && shape.order > highest_order) return result;
    result.push_back({"on_the_fly", "F from columns of A that are never stored"});
    result.push_back({"paper", "kernels 3 to 8 and 10 of the paper one by one, A and F in memory"});
    return result;
}

bool is_dense(const std::string& form) {
    return form == "paper" || form == "on_the_fly";
}

bool decomposes(const Shape& shape) {
    return shape.dimension == 3 && shape.physics();
}

Tunable decomposition() {
    return {"decomposition", "eigenvalues of 3 x 3 matrices: closed: by a root and deflation; jacobi: by rotations", words({"closed", "jacobi"})};
}

Tunable points_per_pass(std::vector<std::int64_t> values) {
    return {"points_per_pass", "points of a column whose derivatives are summed up together", numbers(std::move(values))};
}

}  // namespace hone::inline v0_1::corner
