#include "generator/families/staggered_flow/family.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "generator/families/device/dialect.hpp"
#include "generator/families/staggered_flow/grid.hpp"

namespace hone::inline v0_1 {
namespace flow {
namespace {

constexpr std::int64_t row_bytes = 128;                        // rows start on a line of the caches
constexpr std::int64_t largest_extent = 8192;                  // a plane's words fit a 32-bit index
constexpr std::int64_t largest_bytes = std::int64_t{1} << 40;  // per array

Kind kind_of(const Problem& problem) {
    const std::string& word = problem.word("kernel");
    return word == "momentum" ? Kind::momentum : word == "divergence" ? Kind::divergence : Kind::projection;
}

// Per cell. A component's transport along its own axis takes 11 operations, along another one 13;
// sums with the same words are counted once.
struct Work {
    int operations, words;
};
Work work_of(Kind kind) {
    if (kind == Kind::momentum) return {3 * (11 + 2 * 13 + 2 + 3), 3 + 2 * 3};
    return kind == Kind::divergence ? Work{3 * 4 + 3, 6 + 1} : Work{3 * 5, 2 * 3 + 3 + 1};
}

}  // namespace

Grid::Grid(const Problem& problem)
    : kind(kind_of(problem)),
      periodic(problem.word("ends") == "periodic"),
      precision(problem.precision()),
      nx(problem.integer("nx")),
      ny(problem.integer("ny")),
      nz(problem.integer("nz")),
      pitch(problem.integer("pitch")) {
    const std::int64_t line = row_bytes / word();
    if (pitch == 0) pitch = (nx + line - 1) / line * line;
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (pitch < nx) throw Error(where, fmt::format("pitch is {}", pitch), fmt::format("a row has {} words: use at least that, or 0", nx));
    const std::int64_t bytes = words() * word();
    if (bytes > largest_bytes) throw Error(where, fmt::format("one array has {} bytes", bytes), fmt::format("stay below {}", largest_bytes));
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Grid grid(problem);
    const std::string shape = grid.periodic ? "[nz][ny][pitch]" : "[nz+2][ny][pitch]";
    std::vector<ArraySpec> result;
    const auto add = [&](const std::string& name, Access access, const std::string& help) {
        result.push_back(
            laid_out({name, access, grid.words(), shape, help}, {grid.stored_planes(), grid.ny, grid.pitch}, grid.planes_before() * grid.plane()));
    };
    const std::pair<const char*, char> components[] = {{"u", 'x'}, {"v", 'y'}, {"w", 'z'}};
    for (const auto& [name, axis] : components)
        add(name, grid.kind == Kind::projection ? Access::inout : Access::in, fmt::format("velocity along {}, on the faces before the cells", axis));
    for (const auto& [name, axis] : components)
        add(fmt::format("change_{}", name), grid.kind == Kind::momentum ? Access::inout : Access::in, fmt::format("what {} changes by", name));
    if (grid.kind == Kind::divergence) add("cells", Access::out, "-divergence at the cells' centres");
    if (grid.kind == Kind::projection) add("cells", Access::in, "pressure at the cells' centres");
    result.push_back({"numbers", Access::in, number_count, "[6]", "keep, share, dt, diffusion, convection, per_width", {}, {1}});
    return result;
}

Counts counts(const Problem& problem) {
    const Grid grid(problem);
    const Work work = work_of(grid.kind);
    const auto cells = static_cast<double>(grid.cells());
    return {cells, "cells", work.operations * cells, work.words * cells * grid.word()};
}

KernelSource common_source(const Problem& problem, Target target) {
    const Grid grid(problem);
    KernelSource source;
    source.target = target;
    source.precision = grid.precision;
    source.arrays = arrays(problem);
    source.entries = {"staggered_flow"};
    for (const auto& [name, value] : {std::pair{"nx", grid.nx}, std::pair{"ny", grid.ny}, std::pair{"nz", grid.nz}, std::pair{"pitch", grid.pitch}})
        source.scalars.push_back({name, static_cast<int>(value)});
    source.executed_operations = counts(problem).operations;
    return source;
}

Holes common_holes(const Problem& problem, const Config& config, Target target, const std::vector<std::string>& further) {
    const Grid grid(problem);
    const Work work = work_of(grid.kind);
    Block banner;
    banner.line("// staggered_flow: {}, {}, {}", problem.word("kernel"), grid.periodic ? "periodic" : "planes of neighbours at both ends",
                to_string(grid.precision));
    banner.line("// hone emit {} nx=128 ny=128 nz=128 --target {} --config {}", problem.class_key(), to_string(target), config.key());
    banner.text("// The same text serves every nx, ny, nz and pitch.");
    banner.line("// per cell: {} operations, {} bytes (compulsory)", work.operations, work.words * grid.word());
    std::vector<std::string> parameters;
    for (const ArraySpec& array : arrays(problem))
        parameters.push_back(fmt::format("{}real* __restrict__ {}", array.access == Access::in ? "const " : "", array.name));
    for (const char* number : {"nx", "ny", "nz", "pitch", "first", "last"}) parameters.push_back(fmt::format("int {}", number));
    parameters.insert(parameters.end(), further.begin(), further.end());
    return {{"banner", banner},
            {"types", Block().line("using real = {};", grid.precision == Precision::f32 ? "float" : "double")},
            {"parameters", Block().list(parameters)},
            {"function", Block().line("{}", dialect_of(target).function)}};
}

Flags common_flags(const Problem& problem) {
    const Grid grid(problem);
    return {{"momentum", grid.kind == Kind::momentum},
            {"divergence", grid.kind == Kind::divergence},
            {"projection", grid.kind == Kind::projection},
            {"periodic", grid.periodic}};
}

}  // namespace flow

Family staggered_flow() {
    const auto extent = [](const char* name) {
        return ProblemParameter{name, fmt::format("cells along {}", name[1]), {}, 1, flow::largest_extent, true, ""};
    };
    Family family;
    family.name = "staggered_flow";
    family.summary = "incompressible flow on a staggered grid: momentum, divergence and projection of a fractional step";
    family.source = "F. H. Harlow, J. E. Welch, Numerical Calculation of Time-Dependent Viscous Incompressible Flow, Physics of Fluids 8, 1965";
    family.example = "staggered_flow kernel=momentum precision=f64 nx=128 ny=128 nz=128";
    family.parameters = {
        {"kernel", "part of a time step", {"momentum", "divergence", "projection"}, 0, 0, false, ""},
        {"ends", "along z: periodic, or planes: the neighbours' lie before and behind the own ones", {"periodic", "planes"}, 0, 0, false, "periodic"},
        {"precision", "of all arrays", {"f32", "f64"}, 0, 0, false, ""},
        extent("nx"),
        extent("ny"),
        extent("nz"),
        {"pitch",
         "words from one row to the next; 0: nx, rounded up to 128 bytes",
         {},
         0,
         2 * flow::largest_extent,
         true,
         "0",
         [](const Problem& problem) { return flow::Grid(problem).pitch; }}};
    family.range_unit = "planes";
    family.range = [](const Problem& problem) { return problem.integer("nz"); };
    family.arrays = flow::arrays;
    set_forms(family, {{Target::cpu,
                        [](const Problem& problem, const Limits& limits) {
                            return Forms{{flow::rows_form(problem, limits)}, "rows"};
                        }},
                       {Target::cuda, [](const Problem& problem, const Limits& limits) {
                            return Forms{{flow::points_form(problem, limits)}, "points"};
                        }}});
    family.reference = flow::reference;
    family.workload = flow::workload;
    family.counts = flow::counts;
    return family;
}

}  // namespace hone::inline v0_1
