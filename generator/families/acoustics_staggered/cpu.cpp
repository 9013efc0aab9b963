#include "generator/families/acoustics_staggered/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "generator/families/device/cpu_streams.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

Block constants(const CpuKernel& kernel, const Block& own) {
    const Grid& grid = kernel.grid;
    Block block;
    block.line("using real = {};", grid.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int dimension = {}, half = {};  // half: M, half the order in space", grid.dimension, grid.half);
    block.line("constexpr int ghost = {}, left = {};  // rows (and planes) before the first cell, and words of its row", grid.ghost(), grid.left());
    block.line("constexpr bool array_media = {}, absorbing = {};", grid.array_media, grid.absorbing);
    block.line("constexpr int vector_words = {};", kernel.vector_bytes / grid.word());
    block.line("constexpr int strip_words = {} / sizeof(real);", strip_bytes);
    return block.append(own);
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

}  // namespace

CpuKernel::CpuKernel(const Grid& of_grid, const Config& config)
    : grid(of_grid),
      y_block(integer_or(config, "y_block", 1)),
      vector_bytes(config.integer("vector_bytes")),
      prefetch_bytes(config.integer("prefetch_bytes")),
      streaming(config.has("stores", "streaming")),
      pairs(integer_or(config, "layers_at_once", 1) == 2) {
}

CpuArguments CpuKernel::arguments() const {
    CpuArguments arguments;
    arguments.add("y_block", y_block);
    arguments.add("words_ahead", prefetch_bytes / grid.word());
    return arguments;
}

KernelSource CpuKernel::source(const Problem& problem, const Config& config, const Block& own, const CpuArguments& arguments, CpuPart part) const {
    const bool step = grid.kind == Kind::step, tiles = part == CpuPart::tiles;
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("acoustics_staggered/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(*this, own)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"weight", weight_function(grid, "")},
                          {"velocity_sum", velocity_sum(grid)},
                          {"velocity_between", velocity_between(grid)},
                          {"pressure_sum", pressure_sum(grid)},
                          {"parameters", parameters(problem, arguments.parameters)},
                          {"damping", damping(grid)},
                          {"names", names(grid)}},
                         {{"pressure", grid.kind == Kind::pressure},
                          {"velocity", grid.kind == Kind::velocity},
                          {"tiles", tiles},
                          {"step", step && tiles && grid.levels == 1},
                          {"levels", tiles && grid.levels > 1},
                          {"planes", part == CpuPart::planes},
                          {"march", part == CpuPart::march},
                          {"neighbours", !tiles},
                          {"pairs", pairs},
                          {"velocity_rows", grid.kind != Kind::pressure && !pairs},
                          {"pressure_rows", grid.kind != Kind::velocity && !pairs},
                          {"keeps", step && !grid.in_place},
                          {"streaming", streaming},
                          {"solid", grid.dimension == 3},
                          {"absorbing", grid.absorbing},
                          {"undamped", !grid.absorbing && !pairs},
                          {"scalar_media", !grid.array_media}});
    Launch launch;
    launch.entry = source.entries.front();
    launch.constants = arguments.values;
    source.step = {launch};
    return source;
}

FormSpace with_vectors(FormSpace form, const Limits& limits) {
    form.tunables.push_back({"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})});
    form.tunables.push_back({"prefetch_bytes", "of a row, from asking for them to computing with them; 0: the processor foresees what it can",
                             numbers({0, 1024, 2048, 4096}), Value(0), "bytes_ahead"});
    form.safe.push_back({"vector_bytes", std::int64_t{limits.vector_bytes >= 64 ? 64 : limits.vector_bytes >= 32 ? 32 : 16}});
    form.safe.push_back({"prefetch_bytes", 1024});
    form.constraints.push_back(vector_width(limits));
    return with_team(std::move(form), limits);
}

void add_stores(FormSpace& form) {
    form.tunables.push_back({"stores", "streaming: what is written goes past the caches", words({"plain", "streaming"})});
    form.safe.push_back({"stores", "plain"});
}

void add_pairs(FormSpace& form, const Grid& grid, const Limits& limits) {
    if (grid.absorbing) return;
    constexpr std::int64_t longest = 64;  // bytes of a vector
    const bool untuned = (grid.dimension == 2 || grid.half == 8) && std::min<std::int64_t>(limits.vector_bytes, longest) >= grid.half * grid.word();
    form.tunables.push_back({"layers_at_once", "layers (rows in 2D, planes in 3D) that are advanced together, whose surroundings are loaded once",
                             numbers({1, 2}), Value(1)});
    form.safe.push_back({"layers_at_once", untuned ? 2 : 1});
    form.constraints.push_back({"reach",
                                [grid](const Config& config) -> std::optional<std::string> {
                                    const std::int64_t words = config.integer("vector_bytes") / grid.word();
                                    if (config.has("layers_at_once", 1) || words >= grid.half) return std::nullopt;
                                    return fmt::format("vectors of {} words, sums reach {}", words, grid.half);
                                },
                                {"layers_at_once", "vector_bytes"}});
}

FormSpace team_space(const Grid& grid, const std::string& name, const std::string& help) {
    std::vector<std::int64_t> rows;
    for (const std::int64_t count : {4, 8, 16, 32, 64})
        if (count >= 2 * grid.half) rows.push_back(count);
    rows.push_back(whole_axis);
    return {.name = name, .help = help, .tunables = {{"y_block", "rows that a thread takes in every plane", numbers(rows)}}};
}

Block levels_constant(const Grid& grid) {
    return Block().line("constexpr int levels = {};  // time steps of a pass", grid.levels);
}

}  // namespace hone::inline v0_1::acoustics
