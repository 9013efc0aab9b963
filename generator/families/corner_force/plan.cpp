#include "generator/families/corner_force/plan.hpp"

#include <algorithm>

namespace hone::corner {
namespace {

using Kind = Pass::Kind;

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
    if (form == "layered") {
        passes.push_back({.entry = "corner_force_layered", .points = shape.physics(), .momentum = shape.physics(), .work = shape.works()});
        return passes;
    }
    if (form == "whole") {
        passes.push_back({.entry = "corner_force_whole", .points = true, .momentum = true, .work = true});
        return passes;
    }
    if (form == "factorised") {
        passes.push_back({.entry = "corner_force_points", .points = true, .momentum = !stored});
        if (stored) passes.push_back({.entry = "corner_force_momentum", .momentum = true});
        passes.push_back({.entry = "corner_force_corner", .assembly = true});
        return passes;
    }
    const bool dense = form == "paper" || form == "on_the_fly";
    if (shape.physics()) passes.push_back({.entry = "corner_force_points", .points = true, .momentum = form == "force"});
    if (dense) {
        add_dense_passes(shape, form == "paper", passes);
        return passes;
    }
    if (shape.physics() && form == "separate") passes.push_back({.entry = "corner_force_momentum", .momentum = true});
    if (!shape.works()) return passes;
    if (stored) passes.push_back(gradients_of_w);
    passes.push_back({.entry = "corner_force_work", .work = true});
    return passes;
}

bool has_stored_gradients(const Config& config, Target target) {
    return target == Target::cuda && config.word("gradients") == "stored";
}

}  // namespace

Plan::Plan(const Problem& of_problem, const Config& of_config, Target of_target)
    : problem(of_problem),
      config(of_config),
      target(of_target),
      shape(of_problem),
      passes(passes_of(shape, config.word("form"), has_stored_gradients(config, target))) {
}

bool Plan::has(Kind kind) const {
    return std::any_of(passes.begin(), passes.end(), [kind](const Pass& pass) { return pass.kind == kind; });
}

bool Plan::makes_corner() const {
    return has(Kind::corner) || shape.keeps_corner();
}

bool Plan::stress_in_memory() const {
    const std::string& form = config.word("form");
    return shape.keeps_stress() || !shape.physics() || (form != "whole" && form != "layered");
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
    if (pass.points) rates = plan.target == Target::cuda ? plan.team() : 1;
    if (pass.assembly) {
        across = slab_energies(shape) * d * shape.columns();
        if (d == 3) along = slab_energies(shape) * shape.nodes_along * shape.energies_along * (2 * shape.points_along + 1);
    }
    if (pass.points && (pass.momentum || pass.work)) kept = shape.stress_words();
}

std::vector<std::string> forms(const Shape& shape, Target target) {
    std::vector<std::string> result;
    if (shape.result == "energy") result = {"separate"};
    if (shape.result == "points") result = {"separate", "force"};
    if (shape.result == "products") result = {"separate", "force", "whole"};
    if (shape.result == "corner") result = {"factorised"};
    if (target == Target::cuda && !shape.keeps_corner()) result.emplace_back("layered");
    if (shape.result == "energy" || shape.result == "points") return result;
    // Where A is many times as large as all that a zone needs, forming it is out of the question: 71 MB for a zone of Q8-Q7.
    const bool small = shape.dimension == 2 || shape.order <= 4;
    if (small) {
        result.emplace_back("on_the_fly");
        result.emplace_back("paper");
    }
    return result;
}

std::vector<std::string> decompositions(const Shape& shape, Target target) {
    std::vector<std::string> result{"closed"};
    if (shape.dimension == 2 || !shape.physics()) return result;
    result.emplace_back("jacobi");
    if (target == Target::cuda && !shape.keeps_corner()) result.emplace_back("projector");
    return result;
}

}  // namespace hone::corner
