#include <fmt/format.h>

#include <algorithm>

#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/passes/ways.hpp"

// The forms of families of passes on CUDA devices: each way to make right-hand sides with each
// fusion.

namespace hone::inline v0_1::dg {
namespace {

// Of the launch that takes most; one that only updates takes little.
BlockResources most_resources(const Way& way, const Shape& shape, const std::vector<Pass>& passes, const Config& config) {
    BlockResources most;
    for (const Pass& pass : passes) {
        if (!pass.sums()) continue;
        const BlockResources needs = way.resources(shape, config, parts_of(pass));
        most.threads = std::max(most.threads, needs.threads);
        most.shared_bytes = std::max(most.shared_bytes, needs.shared_bytes);
        most.registers = std::max(most.registers, needs.registers);
    }
    return most;
}

bool has_basis(const FormSpace& space) {
    return std::any_of(space.tunables.begin(), space.tunables.end(), [](const Tunable& tunable) { return tunable.name == "basis"; });
}

Form form_of(const Step& step, const Way& way, const Fusion& fusion, const Limits& limits) {
    FormSpace space = way.space(step.shape, fusion.passes, limits);
    space.name = form_name(way.name, fusion);
    space.help = form_help(way.help, fusion);
    space.constraints.push_back(fitting_copies(step.shape, way.copies_blocks && has_basis(space)));
    space.former = [fusion, of_way = space.former](const Config& config) { return fusion.was(config) && of_way(config); };
    return {
        .space = std::move(space),
        .resources = [shape = step.shape, way, passes = fusion.passes](const Config& config) { return most_resources(way, shape, passes, config); },
        .kernel = [step, way, fusion](const Config& config) { return pass_cuda_kernel(Plan(step, fusion, config), way); }};
}

}  // namespace

std::vector<Way> cuda_ways() {
    return {tile_way(), warp_tile_way(), mma_way(), tf32_way(), immediate_way(), mma8_way()};
}

Forms pass_cuda_forms(const Step& step, const Limits& limits) {
    // Where memory sets the limit even what runs untuned is fused.
    const bool fusing_pays = step.shape.nodes <= most_nodes_of_fused_blocks && matrix_units(step.shape, limits).empty();
    Forms forms{{}, form_name("tile", fusing_pays ? step.fusions.back() : step.fusions.front())};
    for (const Way& way : cuda_ways())
        for (const Fusion& fusion : step.fusions)
            if (way.applies(step.shape, fusion.passes, limits)) forms.list.push_back(form_of(step, way, fusion, limits));
    return forms;
}

bool fuses_all(const std::vector<Pass>& passes) {
    return std::any_of(passes.begin(), passes.end(), [](const Pass& pass) { return pass.volume && pass.surface; });
}

Tunable elements_per_block_tunable(std::vector<Value> values) {
    return {"elements_per_block", "elements that a block of threads handles", std::move(values)};
}

std::vector<Value> block_sizes(const Shape& shape, int multiple_of) {
    const std::int64_t most = shape.low_order() ? 64 : 32;
    std::vector<Value> sizes;
    for (std::int64_t size = multiple_of; size <= most; size *= 2) sizes.emplace_back(size);
    return sizes;
}

Tunable copy_tunable() {
    return {"copy_width", "values per load and store of fields and right-hand sides", numbers({1, 2, 4})};
}

Tunable lift_tunable() {
    return {"lift", "what LIFT takes: the flux of each field, or amplitudes along the directions that it has at a flat face",
            words({"fluxes", "amplitudes"}), Value("fluxes")};
}

Tunable residency_tunable(const Shape& shape, const Limits& limits) {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for",
            shape.low_order() && matrix_units(shape, limits).empty() ? numbers({1, 2, 3, 4}) : numbers({1, 2, 3})};
}

}  // namespace hone::inline v0_1::dg
