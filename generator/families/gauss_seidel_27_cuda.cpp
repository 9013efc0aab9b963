#include "generator/families/gauss_seidel_27_grid.hpp"
#include "generator/render.hpp"

namespace hone::gauss_seidel {
namespace {

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // words of an array");
    block.line("constexpr int block_x = {}, block_y = {}, z_block = {};", config.integer("block_x"), config.integer("block_y"),
               config.integer("z_block"));
    block.line("constexpr int threads_per_block = block_x * block_y, min_blocks = {};", config.integer("min_blocks"));
    block.line("constexpr int points_per_thread = {};", config.integer("points_per_thread"));
    block.line("constexpr bool clamped_loads = {};", config.word("edges") == "clamped");
    return block;
}

// The update of one point from its 26 neighbours.
Block relax() {
    Block block;
    block.line("// The new value of the point at `u`. s[13] is the reciprocal of the centre coefficient.");
    block.open("__device__ __forceinline__ real relax(const real* u, real f, int pitch, int plane, const real (&s)[27])");
    block.line("real sum = f;");
    block.line("#pragma unroll");
    block.open("for (int k = 0; k < 27; ++k)");
    block.line("if (k != 13) sum -= s[k] * u[(k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1)];");
    block.close();
    block.line("return sum * s[13];");
    block.close();
    block.text("");
    return block;
}

// `real s[27]`, read from word `start` on with `stride` words between coefficients.
Block load_stencil(const std::string& start, const std::string& stride) {
    Block block;
    block.line("const real* coefficient = stencil + {};", start);
    block.line("real s[27];");
    block.line("#pragma unroll");
    block.line("for (int k = 0; k < 27; ++k) s[k] = coefficient[{}];", stride);
    return block;
}

Block stencil_of_block(const Grid& grid) {
    return grid.stencil == Stencil::constant ? load_stencil("0", "k") : Block();
}

Block stencil_of_point(const Grid& grid) {
    switch (grid.stencil) {
        case Stencil::constant:
            return {};
        case Stencil::semi_constant:
            return load_stencil("((z - 1) * wide(ny) + y_read - 1) * 32", "k");
        case Stencil::variable:
            return load_stencil("((z - 1) * wide(ny) + y_read - 1) * pitch + x_read", "k * (nz * wide(ny) * pitch)");
    }
    return {};
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    KernelSource source = common_source(problem, Target::cuda);
    source.text = render("gauss_seidel_27_cache.cu", {{"banner", banner(problem, config, Target::cuda)},
                                                      {"constants", constants(grid, config)},
                                                      {"functions", relax()},
                                                      {"stencil_of_block", stencil_of_block(grid)},
                                                      {"stencil_of_point", stencil_of_point(grid)}});
    source.entries = {"gauss_seidel_27"};
    const std::int64_t block_x = config.integer("block_x"), block_y = config.integer("block_y"), z_block = config.integer("z_block");
    for (int colour = 0; colour < 8; ++colour) {
        Launch launch;
        launch.entry = source.entries.front();
        launch.grid = {divide_up((grid.nx + 1) / 2, block_x * config.integer("points_per_thread")), divide_up((grid.ny + 1) / 2, block_y),
                       divide_up(grid.nz, z_block)};
        launch.block = {block_x, block_y, 1};
        launch.range_axis = 2;
        launch.range_per_block = z_block;
        launch.constants = {colour};
        source.step.push_back(launch);
    }
    return source;
}

}  // namespace hone::gauss_seidel
