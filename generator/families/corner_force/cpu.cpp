#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/corner_force/plan.hpp"
#include "generator/families/device/cpu_team.hpp"

// CPU kernels. Whole zones: neighbouring zones are the lanes of a vector, so that every sum and all
// of the physics fill vectors at any order; a thread keeps their half-way results in its cache. The
// paper's dense products: rows of F are the lanes.

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;
using Violation = std::optional<std::string>;

std::int64_t buffer_bytes(const Plan& plan) {
    std::int64_t words = 0;
    for (const Pass& pass : plan.passes)
        if (pass.of_zones()) words = std::max<std::int64_t>(words, Buffers(plan, pass).words());
    return words * plan.number("lanes") * plan.shape.bytes();
}

Block entry_of(const Plan& plan, const Pass& pass) {
    const Holes holes{{"parallel", team_parallel(plan.config)}, {"seat", team_seat(plan.config)}, {"forget", Block()}};
    Block pointers;
    if (!pass.of_zones()) return pass_text(plan, pass, pointers, holes);
    const Buffers buffers(plan, pass);
    pointers.line("alignas(64) value buffer[{}];", buffers.words());
    return pass_text(plan, pass, pointers.append(buffer_pointers(buffers)), holes);
}

constexpr std::int64_t most_buffer_bytes = 2 << 20;  // a thread's stack may have 8 MB

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cpu);
    KernelSource source = make_source(plan);
    Block constants = shape_constants(plan);
    const bool f32 = plan.shape.precision == Precision::f32;
    if (plan.shape.physics())
        constants.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
                       f32 ? "__FLT_MAX__" : "__DBL_MAX__");
    constants.line("constexpr int lanes = {}, team = 1;", plan.number("lanes"));
    if (config.has("decomposition", "jacobi")) constants.line("constexpr int sweeps = {};", f32 ? 4 : 5);
    Block entries;
    for (const Pass& pass : plan.passes) {
        entries.append(entry_of(plan, pass)).text("");
        source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    }
    source.text = kernel_text(plan, std::move(entries),
                              {{"banner", banner(plan, source.executed_operations)}, {"constants", constants}, {"team", team(config)}});
    return source;
}

Form vector_form(const Problem& problem, const PassForm& form, const Limits& limits) {
    const Shape shape(problem);
    const auto wide_vector = [=](const Config& config) -> Violation {
        const std::int64_t bytes = config.integer("lanes") * shape.bytes();
        if (bytes <= limits.vector_bytes) return std::nullopt;
        return fmt::format("vectors of {} bytes, the processor has {}", bytes, limits.vector_bytes);
    };
    const auto large_buffer = [=](const Config& config) -> Violation {
        const std::int64_t bytes = buffer_bytes(Plan(problem, config, Target::cpu));
        if (bytes <= most_buffer_bytes) return std::nullopt;
        return fmt::format("{} bytes for half-way results of a vector of zones, at most {} are worth trying", bytes, most_buffer_bytes);
    };
    FormSpace space{.name = form.name,
                    .help = form.help,
                    .constraints = {{"vector", wide_vector, {"lanes"}}, {"buffer", large_buffer, {"lanes"}}},
                    .former = [name = form.name](const Config& config) { return config.has(form_tunable, name); }};
    if (decomposes(shape)) {
        space.tunables.push_back(decomposition());
        space.safe.push_back({"decomposition", "closed"});
    }
    const bool f32 = shape.precision == Precision::f32;
    space.tunables.push_back({"lanes", "neighbouring zones in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})});
    space.tunables.push_back(points_per_pass({1, 2}));
    // The widest vectors whose half-way results fit.
    std::int64_t lanes = std::clamp(limits.vector_bytes, 16, 64) / shape.bytes();
    while (large_buffer(Config({{std::string(form_tunable), form.name}, {"lanes", lanes}}))) lanes /= 2;
    space.safe.push_back({"lanes", lanes});
    space.safe.push_back({"points_per_pass", std::int64_t{1}});
    return {.space = with_team(std::move(space), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace

// As few passes as the result can have run untuned.
Forms cpu_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms;
    for (const PassForm& form : pass_forms(shape)) forms.list.push_back(vector_form(problem, form, limits));
    forms.safe = shape.result == "products" ? "whole" : shape.result == "points" ? "force" : forms.list.front().space.name;
    return forms;
}

}  // namespace hone::inline v0_1::corner
