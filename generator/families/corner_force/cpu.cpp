#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/corner_force/plan.hpp"
#include "generator/families/device/cpu_team.hpp"

// CPU kernels. Whole zones: neighbouring zones are the lanes of a vector, so that every sum and all of the physics fill vectors at any order; a
// thread keeps their half-way results in its cache. The paper's dense products: rows of F are the lanes.

namespace hone::corner {
namespace {

using Kind = Pass::Kind;
using Violation = std::optional<std::string>;

std::int64_t buffer_bytes(const Plan& plan) {
    std::int64_t words = 0;
    for (const Pass& pass : plan.passes)
        if (pass.kind == Kind::zone) words = std::max<std::int64_t>(words, Buffers(plan, pass).words());
    return words * plan.number("lanes") * plan.shape.bytes();
}

Block entry_of(const Plan& plan, const Pass& pass) {
    const Holes holes{{"parallel", team_parallel(plan.config)}, {"seat", team_seat(plan.config)}};
    if (pass.kind != Kind::zone) return dense_entry(plan, pass, holes);
    const Buffers buffers(plan, pass);
    Block pointers;
    pointers.line("alignas(64) value buffer[{}];", buffers.words());
    return zone_entry(plan, pass, pointers.append(buffer_pointers(buffers)), holes);
}

constexpr std::int64_t most_buffer_bytes = 2 << 20;  // a thread's stack may have 8 MB

// The widest vectors whose half-way results fit, and as few passes as the result can have.
std::vector<Assignment> safe_assignments(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<Assignment> safe{{"form", shape.result == "products" ? "whole"
                                          : shape.result == "points" ? "force"
                                                                     : forms(shape, Target::cpu).front()},
                                 {"decomposition", decompositions(shape, Target::cpu).front()},
                                 {"lanes", std::int64_t{std::clamp(limits.vector_bytes, 16, 64) / shape.bytes()}},
                                 {"points_per_pass", std::int64_t{1}}};
    while (buffer_bytes(Plan(problem, Config(safe), Target::cpu)) > most_buffer_bytes) safe[2].value = std::get<std::int64_t>(safe[2].value) / 2;
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    return safe;
}

}  // namespace

SearchSpace cpu_space(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool f32 = shape.precision == Precision::f32;
    std::vector<Tunable> tunables{
        {"form",
         "separate: points, forces and work each; force: the first two in one; whole: all in one; on_the_fly: F from columns of A that are never "
         "stored; "
         "paper: all eleven kernels' own",
         words(forms(shape, Target::cpu))},
        {"decomposition", "eigenvalues of 3 x 3 matrices: closed: by a root and deflation; jacobi: by rotations",
         words(decompositions(shape, Target::cpu))},
        {"lanes", "neighbouring zones in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
        {"points_per_pass", "points of a column whose derivatives are summed up together", numbers({1, 2})}};
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    std::vector<Constraint> constraints{{"vector",
                                         [=](const Config& config) -> Violation {
                                             const std::int64_t bytes = config.integer("lanes") * shape.bytes();
                                             if (bytes <= limits.vector_bytes) return std::nullopt;
                                             return fmt::format("vectors of {} bytes, the processor has {}", bytes, limits.vector_bytes);
                                         }},
                                        {"buffer",
                                         [=](const Config& config) -> Violation {
                                             const std::int64_t bytes = buffer_bytes(Plan(problem, config, Target::cpu));
                                             if (bytes <= most_buffer_bytes) return std::nullopt;
                                             return fmt::format("{} bytes for half-way results of a vector of zones, at most {} are worth trying",
                                                                bytes, most_buffer_bytes);
                                         }},
                                        team_constraint()};
    return SearchSpace(std::move(tunables), std::move(constraints), safe_assignments(problem, limits));
}

KernelSource cpu_kernel(const Problem& problem, const Config& config, const Limits&) {
    const Plan plan(problem, config, Target::cpu);
    KernelSource source = make_source(plan);
    Block constants = shape_constants(plan);
    const bool f32 = plan.shape.precision == Precision::f32;
    constants.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
                   f32 ? "__FLT_MAX__" : "__DBL_MAX__");
    constants.line("constexpr int lanes = {}, team = 1;", plan.number("lanes"));
    if (config.word("decomposition") == "jacobi") constants.line("constexpr int sweeps = {};", f32 ? 4 : 5);
    Block entries;
    for (const Pass& pass : plan.passes) {
        entries.append(entry_of(plan, pass)).text("");
        source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    }
    source.text = render("corner_force/kernel.cpp",
                         {{"banner", banner(plan, source.executed_operations)},
                          {"constants", constants},
                          {"eigen", eigen_functions(plan.shape.dimension, config.word("decomposition"), Target::cpu)},
                          {"point", point_functions(plan.shape.dimension, Target::cpu)},
                          {"lines", line_functions(plan.shape, Target::cpu)},
                          {"team", team(config)},
                          {"entries", entries}},
                         {{"dense", plan.has(Kind::corner)}, {"solid", plan.shape.dimension == 3}});
    return source;
}

}  // namespace hone::corner
