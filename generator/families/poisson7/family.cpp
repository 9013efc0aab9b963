#include "generator/families/poisson7/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/poisson7/forms.hpp"
#include "generator/families/poisson7/grid.hpp"

namespace hone::inline v0_1 {
namespace poisson {
namespace {

constexpr std::int64_t row_bytes = 128;                        // rows start on a line of the caches
constexpr std::int64_t largest_extent = 8192;                  // a plane's words fit a 32-bit index
constexpr std::int64_t largest_bytes = std::int64_t{1} << 40;  // per array
constexpr const char* example_extents = "nx=128 ny=128 nz=128";
const std::string field_shape = "[nz][ny][pitch]";

// The value that a table has for a word of a problem.
template <typename Choice>
Choice chosen(const Problem& problem, const char* parameter, const std::vector<std::pair<const char*, Choice>>& table) {
    const std::string& word = problem.word(parameter);
    for (const auto& [name, choice] : table)
        if (word == name) return choice;
    throw Error("problem \"" + problem.key() + "\"", fmt::format("{} is {}", parameter, word), "see 'hone families'");
}

struct Count {
    int operations = 0;  // per cell
    int fields = 0;      // moved, inout twice; without coefficients
};

// Operations: see the templates. Couplings with the same coefficient on both sides take 3
// additions, a product and 2 fused multiply-adds.
Count count(const Grid& grid) {
    const int coupled = grid.coefficients == Coefficients::face ? 11 : 8;
    switch (grid.kind) {
        case Kind::apply:
            return {coupled + 2, 2};
        case Kind::apply_dot:
            return {coupled + 4, 2};
        case Kind::direction:
            return {coupled + 8, 6};
        case Kind::residual:
            return {coupled + 13, 4};
    }
    return {};
}

ArraySpec field_array(const Grid& grid, const char* name, Access access, std::string help) {
    return laid_out({name, access, grid.field_words(), field_shape, std::move(help)}, {grid.nz, grid.ny, grid.pitch});
}

std::vector<ArraySpec> coefficient_arrays(const Grid& grid) {
    const bool inverse = grid.kind == Kind::residual;
    const ArraySpec diagonal = field_array(grid, inverse ? "inverse_diagonal" : "diagonal", Access::in,
                                           inverse ? "1 / diagonal; 0 in solid cells" : "the cells' own coefficients");
    const auto field = [&](const char* name, const char* axis) {
        return field_array(grid, name, Access::in, fmt::format("couplings of a cell and the one before it along {}", axis));
    };
    const auto line = [](const char* name, std::int64_t words, const char* axis) {
        return laid_out(
            {name, Access::in, words, fmt::format("[n{}]", axis), fmt::format("couplings of a cell and its two neighbours along {}", axis)}, {words});
    };
    switch (grid.coefficients) {
        case Coefficients::scalar:
            return {{"coefficients", Access::in, 5, "[5]", "diagonal, cx, cy, cz, inverse diagonal", {}, {1}}};
        case Coefficients::axis:
            return {line("cx", grid.nx, "x"), line("cy", grid.ny, "y"), line("cz", grid.nz, "z"), diagonal};
        case Coefficients::face:
            return {field("cx", "x"), field("cy", "y"), field("cz", "z"), diagonal};
    }
    return {};
}

}  // namespace

Grid::Grid(const Problem& problem)
    : kind(chosen<Kind>(problem, "kernel",
                        {{"apply", Kind::apply},
                         {"apply_dot", Kind::apply_dot},
                         {"direction", Kind::direction},
                         {"residual", Kind::residual},
                         {"direction_part", Kind::direction},
                         {"residual_part", Kind::residual}})),
      part(problem.word("kernel").ends_with("_part")),
      coefficients(chosen<Coefficients>(problem, "coefficients",
                                        {{"scalar", Coefficients::scalar}, {"axis", Coefficients::axis}, {"face", Coefficients::face}})),
      boundary(chosen<Boundary>(problem, "boundary",
                                {{"periodic", Boundary::periodic}, {"dirichlet", Boundary::dirichlet}, {"neumann", Boundary::neumann}})),
      precision(problem.precision()),
      nx(problem.integer("nx")),
      ny(problem.integer("ny")),
      nz(problem.integer("nz")),
      pitch(problem.integer("pitch")) {
    const std::int64_t words = row_bytes / word();
    if (pitch == 0) pitch = (nx + words - 1) / words * words;
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (pitch < nx) throw Error(where, fmt::format("pitch is {}", pitch), fmt::format("a row has {} words: use at least that, or 0", nx));
    const std::int64_t bytes = field_words() * word();
    if (bytes > largest_bytes) throw Error(where, fmt::format("one array has {} bytes", bytes), fmt::format("stay below {}", largest_bytes));
}

double sum_of_blocks(std::span<const double> block_sums, int sums, int sum, double cells) {
    // By number modulo the lanes, then these in pairs of neighbours: as the kernels do it.
    std::array<double, sum_threads> lanes{};
    const std::size_t blocks = block_sums.size() / static_cast<std::size_t>(sums);
    for (std::size_t n = 0; n < blocks; ++n)
        lanes[n % lanes.size()] += block_sums[n * static_cast<std::size_t>(sums) + static_cast<std::size_t>(sum)];
    for (std::size_t step = 1; step < lanes.size(); step *= 2)
        for (std::size_t lane = 0; lane < lanes.size(); lane += 2 * step) lanes[lane] += lanes[lane + step];
    return lanes[0] * cells_per_block / cells;
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Grid grid(problem);
    const auto field = [&](const char* name, Access access, const char* help) { return field_array(grid, name, access, help); };
    const ArraySpec scalars{
        "scalars", grid.part ? Access::in : Access::inout, scalar::words, "[16]", "alpha, beta, gamma, delta, ...: poisson::scalar", {}, {1}};
    const ArraySpec block_sums{"block_sums",
                               Access::out,
                               grid.block_sums() * grid.sums(),
                               fmt::format("[blocks][{}]", grid.sums()),
                               "sums over blocks of eight planes and at most 1024 groups of 32 columns",
                               {},
                               {grid.sums(), 1}};
    std::vector<ArraySpec> before;
    std::vector<ArraySpec> after{field("w", Access::out, "M p")};
    switch (grid.kind) {
        case Kind::apply:
            before = {field("p", Access::in, "what M is applied to")};
            break;
        case Kind::apply_dot:
            before = {field("p", Access::in, "what M is applied to")};
            after.push_back({"dot", Access::out, 1, "[1]", "p . w / (nx ny nz)", {}, {1}});
            break;
        case Kind::direction:
            before = {field("z", Access::in, "preconditioned residual"), field("p_old", Access::in, "last direction")};
            after = {field("x", Access::inout, "solution"), field("p", Access::out, "direction"), after[0], scalars};
            break;
        case Kind::residual:
            before = {field("r_old", Access::in, "last residual"), field("w", Access::in, "M p")};
            after = {field("r", Access::out, "residual"), field("z", Access::out, "preconditioned residual"), scalars};
            if (!grid.part)
                after.push_back({"history", Access::inout, history_words, "[256]", "r . r / (nx ny nz) after the last iterations", {}, {1}});
            break;
    }
    if (grid.part) after.push_back(block_sums);
    for (auto& array : coefficient_arrays(grid)) before.push_back(std::move(array));
    before.insert(before.end(), after.begin(), after.end());
    return before;
}

Counts counts(const Problem& problem) {
    const Grid grid(problem);
    const auto cells = static_cast<double>(grid.cells());
    const Count per_cell = count(grid);
    double words = per_cell.fields * cells;
    switch (grid.coefficients) {
        case Coefficients::scalar:
            words += 4;
            break;
        case Coefficients::axis:
            words += cells + static_cast<double>(grid.nx + grid.ny + grid.nz);
            break;
        case Coefficients::face:
            words += 4 * cells;
            break;
    }
    return {cells, "updates", per_cell.operations * cells, words * grid.word()};
}

KernelSource common_source(const Problem& problem, Target target) {
    const Grid grid(problem);
    KernelSource source;
    source.target = target;
    source.precision = grid.precision;
    source.arrays = arrays(problem);
    if (grid.sums() > 0) {
        source.tables = {{"group_sums", grid.sums() * grid.group_sums(), {}, true}};
        if (!grid.part) source.tables.push_back({"block_sums", grid.sums() * grid.block_sums() + 1, {}, true});  // and how many blocks are finished
    }
    source.scalars = {{"nx", static_cast<int>(grid.nx)},
                      {"ny", static_cast<int>(grid.ny)},
                      {"nz", static_cast<int>(grid.nz)},
                      {"pitch", static_cast<int>(grid.pitch)}};
    source.executed_operations = counts(problem).operations;
    return source;
}

Block banner(const Problem& problem, const Config& config, Target target) {
    const Grid grid(problem);
    const Count per_cell = count(grid);
    const int coefficient_fields = grid.coefficients == Coefficients::scalar ? 0 : grid.coefficients == Coefficients::axis ? 1 : 4;
    Block block;
    block.line("// poisson7: {}, {} coefficients, {}, {}", problem.word("kernel"), problem.word("coefficients"), problem.word("boundary"),
               to_string(grid.precision));
    block.line("// hone emit {} {} --target {} --config {}", problem.class_key(), example_extents, to_string(target), config.key());
    block.line("// The same text serves every nx, ny, nz and pitch.");
    return block.line("// per update: {} operations, {} bytes (compulsory)", per_cell.operations,
                      (per_cell.fields + coefficient_fields) * grid.word());
}

Block word_types(const Grid& grid) {
    return Block().line("using real = {};", grid.real()).text("using wide = long long;  // a position in an array");
}

Block parameters(const Problem& problem) {
    Block block;
    for (const auto& array : arrays(problem)) block.line("{}real* __restrict__ {},", array.access == Access::in ? "const " : "", array.name);
    const Grid grid(problem);
    if (grid.sums() > 0) block.line("real* __restrict__ group_sums,{}", grid.part ? "" : " real* __restrict__ block_sums,");
    return block.line("int nx, int ny, int nz, int pitch, int first, int last");
}

Block scalar_words() {
    return Block().line(
        "namespace scalar {{ enum {{ alpha, beta, gamma, delta, residual_square, mean, own_weight, neighbour_weight, mean_weight, breakdown, "
        "iterations }}; }}");
}

// Values that all cells share, with where they come from.
static std::vector<std::pair<const char*, std::string>> shared_values(const Grid& grid) {
    std::vector<std::pair<const char*, std::string>> values;
    if (grid.coefficients == Coefficients::scalar) {
        const bool inverse = grid.kind == Kind::residual;
        values = {{"cx", "coefficients[1]"}, {"cy", "coefficients[2]"}, {"cz", "coefficients[3]"}};
        values.emplace_back(inverse ? "inverse_diagonal" : "diagonal", inverse ? "coefficients[4]" : "coefficients[0]");
    }
    const auto add = [&](const char* name) { values.emplace_back(name, fmt::format("scalars[scalar::{}]", name)); };
    if (grid.fused()) add("alpha");
    if (grid.kind == Kind::direction) add("beta");
    if (grid.kind == Kind::residual)
        for (const char* name : {"mean", "own_weight", "neighbour_weight"}) add(name);
    return values;
}

static std::vector<ArraySpec> fields(const Problem& problem) {
    std::vector<ArraySpec> result = arrays(problem);
    const auto is_small = [](const ArraySpec& array) {
        return array.name == "coefficients" || array.name == "scalars" || array.name == "history" || array.name == "block_sums";
    };
    std::erase_if(result, is_small);
    return result;
}

Block arrays_struct(const Problem& problem) {
    Block block;
    block.line("// What the cells' updates take of the arguments.");
    block.open("struct Arrays");
    for (const auto& array : fields(problem)) block.line("{}real* {};", array.access == Access::in ? "const " : "", array.name);
    block.line("int nx, ny, nz, pitch;");
    for (const auto& [name, from] : shared_values(Grid(problem))) block.line("real {};", name);
    return block.close(";");
}

Block gathered(const Problem& problem) {
    std::string members;
    for (const auto& array : fields(problem)) members += array.name + ", ";
    members += "nx, ny, nz, pitch";
    for (const auto& [name, from] : shared_values(Grid(problem))) members += ", " + from;
    return Block().line("const Arrays a{{{}}};", members);
}

Block shared_constants(const Grid& grid) {
    // As many in a line as it has room for.
    constexpr std::size_t longest = 100;
    Block block;
    std::string line;
    for (const auto& [name, from] : shared_values(grid)) {
        const std::string next = fmt::format("{} = {}", name, from);
        if (line.size() + next.size() > longest) block.line("const real {};", std::exchange(line, ""));
        line += (line.empty() ? "" : ", ") + next;
    }
    return line.empty() ? block : block.line("const real {};", line);
}

Block keep_in_history() {
    return Block().line("history[iteration % {}] = real(residual_square);", history_words);
}

Flags common_flags(const Grid& grid) {
    return {{"apply_dot", grid.kind == Kind::apply_dot},        {"direction", grid.kind == Kind::direction},
            {"residual", grid.kind == Kind::residual},          {"summed", grid.sums() > 0},
            {"finishes", grid.sums() > 0 && !grid.part},        {"scalar", grid.coefficients == Coefficients::scalar},
            {"axis", grid.coefficients == Coefficients::axis},  {"face", grid.coefficients == Coefficients::face},
            {"field_diagonal", grid.has_field_diagonal()},      {"periodic", grid.boundary == Boundary::periodic},
            {"dirichlet", grid.boundary == Boundary::dirichlet}};
}

}  // namespace poisson

Family poisson7() {
    using namespace poisson;
    const auto extent = [](std::string name, std::string help) {
        return ProblemParameter{std::move(name), std::move(help), {}, 1, largest_extent, true, ""};
    };
    Family family;
    family.name = "poisson7";
    family.summary = "7-point operator of a pressure Poisson equation, and the fused halves of a conjugate-gradient iteration";
    family.source =
        "A. Khajeh-Saeed, J. B. Perot, Computational Fluid Dynamics Simulations Using Many Graphics Processors, Computing in Science & Engineering "
        "2012";
    family.example = "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f32 nx=128 ny=128 nz=128";
    family.parameters = {
        {"kernel",
         "w = M p; with p . w; new direction, x and w; new residual, preconditioned; the latter two for a part of a grid",
         {"apply", "apply_dot", "direction", "residual", "direction_part", "residual_part"},
         0,
         0,
         false,
         ""},
        {"coefficients",
         "four numbers, an array per axis, or a field per face; the latter two with a diagonal field",
         {"scalar", "axis", "face"},
         0,
         0,
         false,
         ""},
        {"boundary", "beyond the grid: the other side, zero, or the cell inside", {"periodic", "dirichlet", "neumann"}, 0, 0, false, ""},
        {"precision", "of all arrays", {"f32", "f64"}, 0, 0, false, ""},
        extent("nx", "cells along x"),
        extent("ny", "cells along y"),
        extent("nz", "cells along z"),
        {"pitch", "words from one row to the next; 0: nx, rounded up to 128 bytes", {}, 0, 2 * largest_extent, true, "0", [](const Problem& problem) {
             return Grid(problem).pitch;
         }}};
    family.scale = scale_of_grid;
    family.range_unit = "planes";
    family.range = [](const Problem& problem) { return problem.integer("nz"); };
    family.arrays = arrays;
    set_forms(family, {{Target::cpu, cpu_forms}, {Target::cuda, cuda_forms}});
    family.reference = reference;
    family.workload = workload;
    family.counts = counts;
    return family;
}

}  // namespace hone::inline v0_1
