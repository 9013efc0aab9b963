#include "generator/families/device/cpu_arguments.hpp"
#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gauss_seidel {
namespace {

// Whether stencils are asked for before they are used.
bool fetched(const Config& config) {
    return integer_or(config, "fetch_ahead", 0) > 0;
}

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int vector_words = {};", config.integer("vector_bytes") / bytes_per_word(grid.precision));
    if (fetched(config)) block.line("constexpr int stencil_arrays = {};", grid.stencil == Stencil::symmetric ? stored_when_symmetric : coefficients);
    return block;
}

CpuArguments arguments(const Config& config) {
    CpuArguments arguments;
    if (config.has(form_tunable, "rows")) arguments.add("y_block", config.integer("y_block"));
    arguments.add("z_block", config.integer("z_block"));
    if (fetched(config)) arguments.add("fetch_ahead", config.integer("fetch_ahead"));
    return arguments;
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

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    const bool two_colours = config.has(form_tunable, "rows");
    const CpuArguments added = arguments(config);
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("gauss_seidel_27/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(grid, config)},
                          {"multiply_add", multiply_add_function(grid.precision)},
                          {"parameters", parameters(added, two_colours)},
                          {"other_rows", other_rows()},
                          {"rows_0_and_1", other_rows(0, 2)},
                          {"rows_2_and_3", other_rows(2, 4)},
                          {"rows_5_and_6", other_rows(5, 7)},
                          {"rows_7_and_8", other_rows(7, 9)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)}},
                         {{"planes", !two_colours},
                          {"fetched", fetched(config)},
                          {"whole_rows", grid.stencil_per_point() && !fetched(config)},
                          {"constant", grid.stencil == Stencil::constant},
                          {"semi_constant", grid.stencil == Stencil::semi_constant},
                          {"variable", grid.stencil == Stencil::variable},
                          {"symmetric", grid.stencil == Stencil::symmetric},
                          {"stencil_per_row", !grid.stencil_per_point()}});
    source.entries = {"gauss_seidel_27"};
    Launch launch;
    launch.entry = source.entries.front();
    launch.constants = added.values;
    if (!two_colours) {
        source.step = {launch};
        return source;
    }
    launch.constants.push_back(0);
    for (int& row_parity = launch.constants.back(); row_parity < 4; ++row_parity) source.step.push_back(launch);
    return source;
}

}  // namespace hone::inline v0_1::gauss_seidel
