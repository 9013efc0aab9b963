#include "generator/families/gauss_seidel_27/cpu.hpp"

#include <algorithm>

#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"

namespace hone::inline v0_1::gauss_seidel {
namespace {

Block constants(const CpuKernel& kernel) {
    const Grid& grid = kernel.grid;
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int vector_words = {};", kernel.vector_bytes / grid.word_bytes());
    if (kernel.fetches()) block.line("constexpr int stencil_arrays = {};", grid.stencil == Stencil::symmetric ? stored_when_symmetric : coefficients);
    return block;
}

Block parameters(const CpuArguments& added, bool row_parity) {
    std::vector<std::string> items{"real* u", "const real* f", "const real* stencil", "int nx",  "int ny",
                                   "int nz",  "int pitch",     "int first",           "int last"};
    items.insert(items.end(), added.parameters.begin(), added.parameters.end());
    if (row_parity) items.emplace_back("int row_parity");
    return Block().list(items);
}

std::string offset(int steps, const std::string& stride) {
    if (steps == 0) return "";
    return (steps < 0 ? " - " : " + ") + stride;
}

// Three lines per row of neighbours, of all the nine or some of them, but the point's own.
Block other_rows(int first = 0, int last = 9) {
    Block block;
    for (int row = first; row < last; ++row) {
        if (row == 4) continue;
        const std::string at = "x" + offset(row / 3 - 1, "plane") + offset(row % 3 - 1, "pitch");
        const int k = 3 * row;
        block.line("sum = multiply_add(s({}, x), -u[{} - 1], sum);", k, at);
        block.line("sum = multiply_add(s({}, x), -u[{}], sum);", k + 1, at);
        block.line("sum = multiply_add(s({}, x), -u[{} + 1], sum);", k + 2, at);
    }
    return block;
}

}  // namespace

CpuKernel::CpuKernel(const Grid& of_grid, const Config& config)
    : grid(of_grid),
      z_block(config.integer("z_block")),
      vector_bytes(config.integer("vector_bytes")),
      fetch_ahead(integer_or(config, "fetch_ahead", 0)) {
}

KernelSource CpuKernel::source(const Problem& problem, const Config& config, const std::string& name, const CpuArguments& arguments,
                               bool row_parity) const {
    CpuArguments all = arguments;
    all.add("z_block", z_block);
    if (fetches()) all.add("fetch_ahead", fetch_ahead);
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("gauss_seidel_27/" + name,
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(*this)},
                          {"multiply_add", multiply_add_function(grid.precision)},
                          {"parameters", parameters(all, row_parity)},
                          {"other_rows", other_rows()},
                          {"rows_0_and_1", other_rows(0, 2)},
                          {"rows_2_and_3", other_rows(2, 4)},
                          {"rows_5_and_6", other_rows(5, 7)},
                          {"rows_7_and_8", other_rows(7, 9)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)}},
                         {{"any_row", !row_parity},
                          {"fetched", fetches()},
                          {"whole_rows", grid.stencil_per_point() && !fetches()},
                          {"constant", grid.stencil == Stencil::constant},
                          {"semi_constant", grid.stencil == Stencil::semi_constant},
                          {"variable", grid.stencil == Stencil::variable},
                          {"symmetric", grid.stencil == Stencil::symmetric},
                          {"stencil_per_row", !grid.stencil_per_point()}});
    source.entries = {"gauss_seidel_27"};
    Launch launch;
    launch.entry = source.entries.front();
    launch.constants = all.values;
    source.step = {launch};
    return source;
}

FormSpace CpuKernel::space(FormSpace own, const Grid& grid, const Limits& limits) {
    own.tunables.push_back({"z_block", "planes that a thread takes at a time", numbers({2, 4, 8, 16, 32, 64})});
    own.tunables.push_back({"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})});
    own.safe.insert(own.safe.end(), {{"z_block", grid.stencil_per_point() ? 2 : 4}, {"vector_bytes", std::min(64, limits.vector_bytes)}});
    own.constraints.push_back(vector_width(limits));
    if (grid.stencil_per_point()) {
        own.tunables.push_back({"fetch_ahead", "rows before which a row's stencils are asked for, to be in the second cache; 0: not at all",
                                numbers({0, 2, 4, 8}), std::int64_t{0}});
        own.safe.push_back({"fetch_ahead", 4});
    }
    return with_team(std::move(own), limits);
}

}  // namespace hone::inline v0_1::gauss_seidel
