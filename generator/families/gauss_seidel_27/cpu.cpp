#include "generator/families/device/cpu_team.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/render.hpp"

namespace hone::gauss_seidel {
namespace {

// `struct Stencil`: s(k, x) is coefficient k of point x of a row, and `stencil_of_row`: that row's stencil.
Block stencil_access(const Grid& grid) {
    Block block;
    const bool variable = grid.stencil == Stencil::variable, symmetric = grid.stencil == Stencil::symmetric;
    block.line("// Coefficient k of point x of a row{}", symmetric ? "; the first 13 are kept with the neighbours that they belong to." : ".");
    block.open("struct Stencil");
    if (symmetric) {
        block.line("const real* row;");
        block.line("wide stride, plane, pitch;");
        block.open("real operator()(int k, int x) const");
        block.line("if (k >= 13) return row[(k - 13) * stride + x];");
        block.line("return row[(13 - k) * stride + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1) + x];");
        block.close();
    } else if (variable) {
        block.line("const real* row;");
        block.line("wide stride;");
        block.line("real operator()(int k, int x) const {{ return row[k * stride + x]; }}");
    } else {
        block.line("real s[27];");
        block.line("real operator()(int k, int) const {{ return s[k]; }}");
    }
    block.close(";");
    block.text("");
    block.open("inline Stencil stencil_of_row(const real* stencil, wide y, wide z, int ny, int nz, int pitch)");
    switch (grid.stencil) {
        case Stencil::constant:
            block.line("(void)y, (void)z, (void)ny, (void)nz, (void)pitch;");
            break;
        case Stencil::semi_constant:
            block.line("(void)nz, (void)pitch;").line("stencil += (z * ny + y) * 32;");
            break;
        case Stencil::symmetric:
            block.line("const wide plane = wide(ny + 2) * pitch;");
            block.line("return {{stencil + (z + 1) * plane + (y + 1) * pitch, (nz + 2) * plane, plane, pitch}};");
            break;
        case Stencil::variable:
            block.line("return {{stencil + (z * ny + y) * pitch, wide(nz) * ny * pitch}};");
            break;
    }
    if (!grid.stencil_per_point()) {
        block.line("Stencil row;");
        block.line("std::copy_n(stencil, 27, row.s);");
        block.line("return row;");
    }
    block.close();
    return block;
}

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    if (config.integer("colours_per_pass") == 2) block.line("constexpr int y_block = {};", config.integer("y_block"));
    block.line("constexpr int z_block = {};", config.integer("z_block"));
    block.line("constexpr int vector_words = {};", config.integer("vector_bytes") / bytes_per_word(grid.precision));
    return block;
}

std::string offset(int steps, const std::string& stride) {
    if (steps == 0) return "";
    return (steps < 0 ? " - " : " + ") + stride;
}

// One line per row of neighbours but the point's own.
Block other_rows() {
    Block block;
    block.line("real sum = f[x];");
    for (int row = 0; row < 9; ++row) {
        if (row == 4) continue;
        const std::string at = "x" + offset(row / 3 - 1, "plane") + offset(row % 3 - 1, "pitch");
        const int k = 3 * row;
        block.line("sum = sum - s({}, x) * u[{} - 1] - s({}, x) * u[{}] - s({}, x) * u[{} + 1];", k, at, k + 1, at, k + 2, at);
    }
    return block;
}

// The update of a row, which all forms share.
Block row(const Grid& grid) {
    return Block().lines_of(render("gauss_seidel_27/row.cpp", {{"stencil", stencil_access(grid)}, {"other_rows", other_rows()}}));
}

}  // namespace

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    const bool two_colours = config.integer("colours_per_pass") == 2;
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render(two_colours ? "gauss_seidel_27/blocks.cpp" : "gauss_seidel_27/planes.cpp", {{"banner", banner(problem, config, Target::cpu)},
                                                                                                     {"constants", constants(grid, config)},
                                                                                                     {"row", row(grid)},
                                                                                                     {"team", team(config)},
                                                                                                     {"parallel", team_parallel(config)},
                                                                                                     {"seat", team_seat(config)}});
    source.entries = {"gauss_seidel_27"};
    Launch launch;
    launch.entry = source.entries.front();
    if (!two_colours) {
        source.step = {launch};
        return source;
    }
    for (int row_parity = 0; row_parity < 4; ++row_parity) {
        launch.constants = {row_parity};
        source.step.push_back(launch);
    }
    return source;
}

}  // namespace hone::gauss_seidel
