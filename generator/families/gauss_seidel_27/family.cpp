#include "generator/families/gauss_seidel_27/family.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

namespace hone::inline v0_1 {
namespace gauss_seidel {
namespace {

constexpr std::int64_t row_bytes = 128;                            // rows start on a line of the caches
constexpr std::int64_t largest_extent = 8192;                      // a plane's words fit a 32-bit index
constexpr std::int64_t largest_bytes = std::int64_t{1} << 40;      // per array
constexpr int operations_per_update = 2 * (coefficients - 1) + 1;  // 26 fused multiply-subtracts and the multiplication by 1/s_C

Stencil parse_stencil(const std::string& word) {
    if (word == "constant") return Stencil::constant;
    if (word == "symmetric") return Stencil::symmetric;
    return word == "variable" ? Stencil::variable : Stencil::semi_constant;
}

constexpr const char* example_extents = "nx=96 ny=96 nz=96";

}  // namespace

Grid::Grid(const Problem& problem)
    : stencil(parse_stencil(problem.word("stencil"))),
      precision(problem.precision()),
      nx(problem.integer("nx")),
      ny(problem.integer("ny")),
      nz(problem.integer("nz")),
      pitch(problem.integer("pitch")) {
    const std::int64_t words = row_bytes / bytes_per_word(precision);
    if (pitch == 0) pitch = (nx + 2 + words - 1) / words * words;
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (pitch < nx + 2) throw Error(where, fmt::format("pitch is {}", pitch), fmt::format("a row has {} words: use at least that, or 0", nx + 2));
    const std::int64_t bytes = std::max(field_words(), stencil_words()) * bytes_per_word(precision);
    if (bytes > largest_bytes) throw Error(where, fmt::format("one array has {} bytes", bytes), fmt::format("stay below {}", largest_bytes));
}

std::int64_t Grid::stencil_words() const {
    switch (stencil) {
        case Stencil::constant:
            return coefficients;
        case Stencil::semi_constant:
            return nz * ny * row_stencil_words;
        case Stencil::variable:
            return coefficients * nz * ny * pitch;
        case Stencil::symmetric:
            return stored_when_symmetric * field_words();
    }
    return 0;
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Grid grid(problem);
    const std::string field = "[nz+2][ny+2][pitch]";
    ArraySpec coefficient_array{"stencil", Access::in, grid.stencil_words(), "[27]", "coefficients; the reciprocal of the centre's in place 13",
                                {},        {1}};
    const Slices planes{.words_per_unit = grid.plane(), .offset = grid.plane()};
    const std::int64_t first = grid.plane() + grid.pitch + 1;
    if (grid.stencil == Stencil::semi_constant) {
        coefficient_array.shape = "[nz][ny][32]";
        coefficient_array.slices = {.words_per_unit = grid.ny * row_stencil_words};
        coefficient_array = laid_out(std::move(coefficient_array), {grid.nz, grid.ny, row_stencil_words});
    }
    if (grid.stencil == Stencil::variable) {
        coefficient_array.shape = "[27][nz][ny][pitch]";
        const std::int64_t plane = grid.ny * grid.pitch;
        coefficient_array.slices = {.words_per_unit = plane, .blocks = coefficients, .block_stride = grid.nz * plane};
        constexpr std::int64_t boundary = 1;  // x counts as in u
        coefficient_array = laid_out(std::move(coefficient_array), {coefficients, grid.nz, grid.ny, grid.pitch}, boundary);
    }
    if (grid.stencil == Stencil::symmetric) {
        coefficient_array.shape = "[14][nz+2][ny+2][pitch]";
        coefficient_array.help = "coefficients 13 to 26, of boundary points too where an interior one needs them; the centre's reciprocal first";
        coefficient_array.slices = {planes.words_per_unit, planes.offset, stored_when_symmetric, grid.field_words()};
        coefficient_array = laid_out(std::move(coefficient_array), {stored_when_symmetric, grid.nz + 2, grid.ny + 2, grid.pitch}, first);
    }
    const auto points = [&](ArraySpec array) { return laid_out(std::move(array), {grid.nz + 2, grid.ny + 2, grid.pitch}, first); };
    return {points({"u", Access::inout, grid.field_words(), field, "unknown, with one layer of boundary values around it", planes}),
            points({"f", Access::in, grid.field_words(), field, "right-hand side, read at interior points only", planes}), coefficient_array};
}

// The colours of even planes come first. A part that begins with an even plane needs of the plane
// below its old values alone; one that ends with an odd plane needs the new values of the even
// plane above, and computes them too, from old values of that plane and the next.
Partition partition(const Problem&) {
    return {.granularity = 2, .extra_above = 1, .halo_below = 1, .halo_above = 2};
}

Counts counts(const Problem& problem) {
    const Grid grid(problem);
    const auto points = static_cast<double>(grid.points());
    double words = 3 * points;  // u and f are read once, u is written once
    switch (grid.stencil) {
        case Stencil::constant:
            words += coefficients;
            break;
        case Stencil::semi_constant:
            words += coefficients * static_cast<double>(grid.ny * grid.nz);
            break;
        case Stencil::variable:
            words += coefficients * points;
            break;
        case Stencil::symmetric:
            words += stored_when_symmetric * points;
            break;
    }
    return {points, "updates", operations_per_update * points, words * bytes_per_word(grid.precision)};
}

KernelSource common_source(const Problem& problem, Target target) {
    const Grid grid(problem);
    KernelSource source;
    source.target = target;
    source.precision = grid.precision;
    source.arrays = arrays(problem);
    source.scalars = {{"nx", static_cast<int>(grid.nx)},
                      {"ny", static_cast<int>(grid.ny)},
                      {"nz", static_cast<int>(grid.nz)},
                      {"pitch", static_cast<int>(grid.pitch)}};
    source.executed_operations = counts(problem).operations;
    return source;
}

Block banner(const Problem& problem, const Config& config, Target target) {
    const Grid grid(problem);
    const int word = bytes_per_word(grid.precision);
    Block block;
    block.line("// gauss_seidel_27: {} stencil, {}", problem.word("stencil"), to_string(grid.precision));
    block.line("// hone emit {} {} --target {} --config {}", problem.class_key(), example_extents, to_string(target), config.key());
    block.line("// The same text serves every nx, ny, nz and pitch.");
    std::string bytes = fmt::format("{}", 3 * word);
    if (grid.stencil == Stencil::semi_constant) bytes = fmt::format("{} + {} / nx", 3 * word, coefficients * word);
    if (grid.stencil == Stencil::variable) bytes = fmt::format("{}", (3 + coefficients) * word);
    if (grid.stencil == Stencil::symmetric) bytes = fmt::format("{}", (3 + stored_when_symmetric) * word);
    block.line("// per update: {} operations, {} bytes (compulsory)", operations_per_update, bytes);
    return block;
}

}  // namespace gauss_seidel

Family gauss_seidel_27() {
    using namespace gauss_seidel;
    const auto extent = [](std::string name, std::string help) {
        return ProblemParameter{std::move(name), std::move(help), {}, 1, largest_extent, true, ""};
    };
    Family family;
    family.name = "gauss_seidel_27";
    family.summary = "eight-colour Gauss-Seidel sweep over a 3D grid, 27-point stencils, in place";
    family.source = "S. Strobl, Efficient Implementation of Finite Element Operators on GPUs, Studienarbeit, FAU Erlangen-Nuernberg 2008";
    family.example = "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96";
    family.parameters = {{"stencil",
                          "one for all points, one per row along x, one per point, or one per point of a symmetric operator: half of it stored",
                          {"constant", "semi_constant", "variable", "symmetric"},
                          0,
                          0,
                          false,
                          ""},
                         {"precision", "of u, f and the stencil", {"f32", "f64"}, 0, 0, false, ""},
                         extent("nx", "interior points along x"),
                         extent("ny", "interior points along y"),
                         extent("nz", "interior points along z"),
                         {"pitch",
                          "words from one row to the next; 0: nx + 2, rounded up to 128 bytes",
                          {},
                          0,
                          2 * largest_extent,
                          true,
                          "0",
                          [](const Problem& problem) { return Grid(problem).pitch; }}};
    family.scale = scale_of_grid;
    family.range_unit = "planes";
    family.range = [](const Problem& problem) { return problem.integer("nz"); };
    family.partition = partition;
    family.arrays = arrays;
    set_forms(family, {{Target::cpu, cpu_forms}, {Target::cuda, cuda_forms}});
    family.reference = reference;
    family.workload = workload;
    family.counts = counts;
    return family;
}

}  // namespace hone::inline v0_1
