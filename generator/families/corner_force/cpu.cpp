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

// A loop over the rows of a column of A, at point q of a zone.
Block form_function(const Shape& shape) {
    Block block;
    block.text("// A column of A.");
    block.open("static inline void form_column(const real* stress, int q, const real* point_slopes, real* to)");
    block.open("for (int c = 0; c < dimension; ++c)");
    std::string sum;
    for (int g = 0; g < shape.dimension; ++g) {
        block.line("const real s{0} = stress[(c * dimension + {0}) * points + q];", g);
        sum += fmt::format("{0}s{1} * point_slopes[({1} * points + q) * nodes + i]", g == 0 ? "" : " + ", g);
    }
    block.text("#pragma omp simd");
    block.line("for (int i = 0; i < nodes; ++i) to[c * nodes + i] = {};", sum);
    block.close();
    return block.close();
}

Block zone_entry(const Plan& plan, const Pass& pass) {
    const Buffers buffers(plan, pass);
    Block pointers;
    pointers.line("alignas(64) value buffer[{}];", buffers.words());
    pointers.append(buffer_pointers(buffers));
    Block block;
    return block.lines_of(render("corner_force/entry.cpp", {{"comment", Block().text(pass_comment(pass))},
                                                            {"entry", signature(plan, pass)},
                                                            {"parallel", team_parallel(plan.config)},
                                                            {"seat", team_seat(plan.config)},
                                                            {"buffers", pointers},
                                                            {"parts", zone_parts(plan, pass)}}));
}

Block corner_entry(const Plan& plan, Holes holes) {
    const bool paper = plan.columns_in_memory();
    Block rows;
    Block force;
    if (!paper) {
        rows.text("alignas(64) real formed[4][vector_words];");
        rows.text("for (int s = 0; s < 4; ++s) form_column(stress + zone * stress_words, q + s, point_slopes, formed[s]);");
        force.text("real* const sum = force + zone * vector_words;");
        force.text("if (q == 0)");
        force.text("    for (int row = 0; row < vector_words; ++row) sum[row] = 0;");
        force.text("for (int row = 0; row < vector_words; ++row) sum[row] += a0[row] + a1[row] + a2[row] + a3[row];");
    }
    for (int s = 0; s < 4; ++s)
        rows.line("const real* const a{0} = {1};", s,
                  paper ? fmt::format("column_of_a + (zone * points + q + {}) * vector_words", s) : fmt::format("formed[{}]", s));
    holes.emplace_back("comment", Block().text(paper ? "// Kernel 7: F = A B^T, four points at a time."
                                                     : "// Kernels 4 to 8: F = A B^T and F.1, four columns of A at a time, which exist here alone."));
    holes.emplace_back("rows", rows);
    holes.emplace_back("force", force);
    Block block;
    return block.lines_of(render("corner_force/corner.cpp", holes));
}

Block entry_of(const Plan& plan, const Pass& pass) {
    if (pass.kind == Kind::zone) return zone_entry(plan, pass);
    const Holes holes{{"entry", signature(plan, pass)}, {"parallel", team_parallel(plan.config)}, {"seat", team_seat(plan.config)}};
    if (pass.kind == Kind::corner) return corner_entry(plan, holes);
    const char* const name = pass.kind == Kind::dense_gradients ? "corner_force/dense_gradients.cpp"
                             : pass.kind == Kind::columns       ? "corner_force/columns.cpp"
                             : pass.kind == Kind::sums          ? "corner_force/sums.cpp"
                                                                : "corner_force/products.cpp";
    Block block;
    return block.lines_of(render(name, holes));
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
        {"decomposition", "eigenvalues of 3 x 3 matrices: closed: by a root and deflation; jacobi: by rotations", words(decompositions(shape, Target::cpu))},
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
    if (plan.has(Kind::corner)) entries.append(form_function(plan.shape)).text("");
    for (const Pass& pass : plan.passes) {
        entries.append(entry_of(plan, pass)).text("");
        source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    }
    source.text = render("corner_force/kernel.cpp", {{"banner", banner(plan, source.executed_operations)},
                                                     {"constants", constants},
                                                     {"eigen", eigen_functions(plan.shape.dimension, config.word("decomposition"), Target::cpu)},
                                                     {"point", point_functions(plan.shape.dimension, Target::cpu)},
                                                     {"lines", line_functions(plan.shape, Target::cpu)},
                                                     {"team", team(config)},
                                                     {"entries", entries}});
    return source;
}

}  // namespace hone::corner
