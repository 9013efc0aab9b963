#include <fmt/format.h>

#include <cstdlib>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/families/device/cpu_arguments.hpp"
#include "generator/families/device/cpu_streams.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

bool is(const Config& config, const char* form) {
    return config.has(form_tunable, form);
}

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int dimension = {}, half = {};  // half: M, half the order in space", grid.dimension, grid.half);
    block.line("constexpr int ghost = {}, left = {};  // rows (and planes) before the first cell, and words of its row", grid.ghost(), grid.left());
    block.line("constexpr bool array_media = {}, absorbing = {};", grid.array_media, grid.absorbing);
    block.line("constexpr int vector_words = {};", config.integer("vector_bytes") / grid.word());
    block.line("constexpr int strip_words = {} / sizeof(real);", strip_bytes);
    if (grid.kind == Kind::step && is(config, "tiles")) block.line("constexpr bool streaming_stores = {};", config.has("stores", "streaming"));
    if (grid.levels > 1 || !is(config, "tiles")) block.line("constexpr int levels = {};  // time steps of a pass", grid.levels);
    return block;
}

// `sum` of the weighted differences; value(m) is what belongs to the face or centre at distance m -
// 1/2, value(1 - m) its opposite.
template <typename Value>
Block sum_lines(const Grid& grid, const char* start, const Value& value) {
    Block block;
    for (int m = 1; m <= grid.half; ++m) block.line("{} weight({}) * ({} - {});", m == 1 ? start : "sum +=", m, value(m), value(1 - m));
    return block;
}

std::string shifted(const std::string& array, int steps, const std::string& stride) {
    if (steps == 0) return array + "[x]";
    const std::string amount =
        stride.empty() ? std::to_string(std::abs(steps)) : (std::abs(steps) == 1 ? "" : std::to_string(std::abs(steps)) + " * ") + stride;
    return fmt::format("{}[x {} {}]", array, steps < 0 ? "-" : "+", amount);
}

Block velocity_update(const Grid& grid) {
    const std::string updated = fmt::format("from[x] - {} * sum", grid.array_media ? "b[x]" : "b_everywhere");
    return Block().line("to[x] = {};", grid.absorbing ? fmt::format("damping[x] * ({})", updated) : updated);
}

Block velocity_sum(const Grid& grid) {
    Block block = sum_lines(grid, "real sum =", [](int m) { return shifted("p", m - 1, "stride"); });
    return block.append(velocity_update(grid));
}

// The same from rows wherever they lie.
Block velocity_between(const Grid& grid) {
    Block block = sum_lines(grid, "real sum =", [&](int m) { return fmt::format("along[{}][x]", grid.half - 1 + m); });
    return block.append(velocity_update(grid));
}

Block pressure_sum(const Grid& grid) {
    Block block = sum_lines(grid, "real sum =", [](int m) { return shifted("across", m, ""); });
    if (grid.dimension == 3) block.append(sum_lines(grid, "sum +=", [](int m) { return shifted("rows", m, "row_stride"); }));
    block.append(sum_lines(
        grid, "sum +=", [&](int m) { return grid.in_place ? shifted("along", m, "layer_stride") : fmt::format("along[{}][x]", grid.half - 1 + m); }));
    const std::string updated = fmt::format("p[x] - {} * sum", grid.array_media ? "kappa[x]" : "kappa_everywhere");
    return block.line("to[x] = {};", grid.absorbing ? fmt::format("across_damping * damping[x] * ({})", updated) : updated);
}

Block damping(const Grid& grid) {
    return Block().line("const Damping damping{{ny, nz, pitch, damping_x, damping_y, {}}};", grid.dimension == 2 ? "nullptr" : "damping_z");
}

// Names by role of what the problem has.
Block names(const Grid& grid) {
    const bool rows = grid.dimension == 2;
    const std::string along = rows ? "v" : "w";
    Block block;
    block.line("{}real* const along = {};", grid.kind == Kind::velocity || grid.in_place ? "" : "const ", along);
    if (grid.kind == Kind::step && !grid.in_place) block.line("real* const along_next = {}_next;", along);
    if (grid.kind == Kind::pressure) return block;
    block.line("const real *b_x = {}, *b_y = {}, *b_along = {};", grid.array_media ? "bx" : "b", grid.array_media ? "by" : "b",
               grid.array_media ? (rows ? "by" : "bz") : "b");
    return block.line("(void)b_y;");
}

CpuArguments arguments(const Grid& grid, const Config& config) {
    CpuArguments arguments;
    const bool tiles = is(config, "tiles");
    if (tiles) arguments.add("x_block", config.integer("x_block"));
    arguments.add("y_block", integer_or(config, "y_block", 1));
    if (tiles) arguments.add("layers_per_block", config.integer("layers_per_block"));
    arguments.add("words_ahead", config.integer("prefetch_bytes") / grid.word());
    return arguments;
}

}  // namespace

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    const bool step = grid.kind == Kind::step, tiles = is(config, "tiles"), pairs = integer_or(config, "layers_at_once", 1) == 2;
    const CpuArguments added = arguments(grid, config);
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("acoustics_staggered/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(grid, config)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"weight", weight_function(grid, "")},
                          {"velocity_sum", velocity_sum(grid)},
                          {"velocity_between", velocity_between(grid)},
                          {"pressure_sum", pressure_sum(grid)},
                          {"parameters", parameters(problem, added.parameters)},
                          {"damping", damping(grid)},
                          {"names", names(grid)}},
                         {{"pressure", grid.kind == Kind::pressure},
                          {"velocity", grid.kind == Kind::velocity},
                          {"tiles", tiles},
                          {"step", step && tiles && grid.levels == 1},
                          {"levels", tiles && grid.levels > 1},
                          {"planes", is(config, "planes")},
                          {"march", is(config, "march")},
                          {"neighbours", !tiles},
                          {"pairs", pairs},
                          {"velocity_rows", grid.kind != Kind::pressure && !pairs},
                          {"pressure_rows", grid.kind != Kind::velocity && !pairs},
                          {"keeps", step && !grid.in_place},
                          {"streaming", config.has("stores", "streaming")},
                          {"absorbing", grid.absorbing},
                          {"scalar_media", !grid.array_media}});
    Launch launch;
    launch.entry = source.entries.front();
    launch.constants = added.values;
    source.step = {launch};
    return source;
}

}  // namespace hone::inline v0_1::acoustics
