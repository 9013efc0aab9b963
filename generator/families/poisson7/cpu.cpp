#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_streams.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/poisson7/grid.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::poisson {
namespace {

bool streaming(const Config& config) {
    return config.word("stores") == "streaming";
}

bool asks_ahead(const Config& config) {
    return config.integer("prefetch_rows") > 0;
}

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int y_block = {}, z_block = {}, vector_words = {};", config.integer("y_block"), config.integer("z_block"),
               config.integer("vector_bytes") / grid.word());
    block.line("constexpr int strip_words = {} / sizeof(real), rows_ahead = {};  // rows from asking for words to their turn", strip_bytes,
               config.integer("prefetch_rows"));
    if (grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {};", grid.sums(), chunk_planes, group_columns);
        block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_lanes = {};", sums_per_block, cells_per_block, sum_threads);
    }
    if (grid.fused()) block.append(scalar_words());
    return block;
}

// The arrays that `value` reads.
std::vector<std::string> stencil_arrays(const Grid& grid) {
    if (grid.kind == Kind::direction) return {"z", "p_old"};
    if (grid.has_field_diagonal()) return {"r_old", "w", "inverse_diagonal"};
    return {"r_old", "w"};
}

// What the stencil's rows of a plane are made of, of a later plane.
Block ask_for_words(const Grid& grid, const Config& config) {
    Block block;
    if (asks_ahead(config))
        for (const std::string& name : stencil_arrays(grid)) block.line("ask_for(a.{} + later_at + first);", name);
    return block;
}

// The rows of the arrays that an update takes beside those of the stencil.
struct RowArray {
    const char* name;
    bool read, changed;
};

std::vector<RowArray> row_arrays(const Grid& grid) {
    std::vector<RowArray> arrays;
    if (grid.has_field_diagonal()) arrays.push_back({grid.kind == Kind::residual ? "inverse_diagonal" : "diagonal", true, false});
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            arrays.push_back({"w", false, true});
            break;
        case Kind::direction:
            arrays.insert(arrays.end(), {{"p_old", true, false}, {"x", true, true}, {"p", false, true}, {"w", false, true}});
            break;
        case Kind::residual:
            arrays.insert(arrays.end(), {{"r_old", true, false}, {"w", true, false}, {"r", false, true}, {"z", false, true}});
            break;
    }
    return arrays;
}

// What is written and not read: worth going past the caches.
bool goes_past(const RowArray& array, const Config& config) {
    return array.changed && !array.read && streaming(config);
}

// The words of a later row that the caches will not have: what the rows of the stencil are made of
// they have had.
std::vector<std::string> asked(const Grid& grid, const Config& config) {
    std::vector<std::string> words;
    if (!asks_ahead(config)) return words;
    if (!grid.fused()) words.emplace_back("of.row(later_j, later_k + 1)");
    const std::vector<std::string> had = grid.fused() ? stencil_arrays(grid) : std::vector<std::string>();
    for (const auto& array : row_arrays(grid))
        if (std::find(had.begin(), had.end(), array.name) == had.end() && !goes_past(array, config))
            words.push_back(fmt::format("a.{} + later_at", array.name));
    if (grid.coefficients == Coefficients::face)
        words.insert(words.end(), {"a.cx + later_at", "a.cy + later_at", "a.cz + later_at + (later_k + 1 < a.nz ? wide(a.ny) * a.pitch : 0)"});
    return words;
}

Block rows_of_arrays(const Grid& grid) {
    Block block;
    for (const auto& array : row_arrays(grid)) block.line("{0}real* const {1} = a.{1} + at;", array.changed ? "" : "const ", array.name);
    return block;
}

Block asked_rows(const Grid& grid, const std::vector<std::string>& words) {
    Block block;
    if (grid.fused() || words.size() > 1) block.line("const wide later_at = (wide(later_k) * a.ny + later_j) * a.pitch;");
    return block.line("const real* const asked[] = {{{}}};", fmt::join(words, ", "));
}

Block rows_of_sums(const Grid& grid) {
    Block block;
    for (int s = 0; s < grid.sums(); ++s)
        block.line("real* const sums_{0} = first_sums{1};", s, s == 0 ? "" : fmt::format(" + {} * y_block * groups_of_row(nx) * group_columns", s));
    return block;
}

// Where a strip's new words go. Those that go past the caches are gathered beforehand, to go whole
// lines at a time.
Block new_words(const Grid& grid, const Config& config) {
    Block block;
    for (const auto& array : row_arrays(grid)) {
        if (goes_past(array, config))
            block.line("alignas(64) real to_{}[strip_words];", array.name);
        else if (array.changed)
            block.line("real* const to_{0} = {0} + first;", array.name);
    }
    return block;
}

Block keep_new_words(const Grid& grid, const Config& config) {
    std::vector<std::string> past;
    for (const auto& array : row_arrays(grid))
        if (goes_past(array, config)) past.push_back(fmt::format("keep({0} + first, to_{0}, count)", array.name));
    return past.empty() ? Block() : Block().line("{};", fmt::join(past, ", "));
}

// One line a level: loops of known length become vector instructions.
Block add_up_pairs() {
    Block block;
    for (std::int64_t pairs = group_columns / 2; pairs > 0; pairs /= 2)
        block.line("for (int t = 0; t < {0}; ++t) sum[t] = {1}[2 * t] + {1}[2 * t + 1];", pairs, pairs == group_columns / 2 ? "columns" : "sum");
    return block;
}

Flags flags(const Grid& grid, const Config& config) {
    Flags result = common_flags(grid);
    result.insert(result.end(), {{"fused", grid.fused()},
                                 {"applies_operator", grid.kind != Kind::residual},
                                 {"streaming", streaming(config)},
                                 {"asks_ahead", asks_ahead(config)},
                                 {"asks_rows", !asked(grid, config).empty()}});
    return result;
}

}  // namespace

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("poisson7/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(grid, config)},
                          {"arrays", arrays_struct(problem)},
                          {"multiply_add", multiply_add_function(grid.precision)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"parameters", parameters(problem)},
                          {"gathered", gathered(problem)},
                          {"keep_in_history", keep_in_history()},
                          {"ask_for_words", ask_for_words(grid, config)},
                          {"rows_of_arrays", rows_of_arrays(grid)},
                          {"asked_rows", asked_rows(grid, asked(grid, config))},
                          {"rows_of_sums", rows_of_sums(grid)},
                          {"new_words", new_words(grid, config)},
                          {"keep_new_words", keep_new_words(grid, config)},
                          {"add_up_pairs", add_up_pairs()}},
                         flags(grid, config));
    source.entries = {"poisson7"};
    source.step.resize(1);
    source.step[0].entry = "poisson7";
    if (grid.sums() == 0) return source;
    source.entries.emplace_back("sum_groups");
    if (!grid.part) source.entries.emplace_back("finish");
    source.step.resize(source.entries.size());
    for (std::size_t n = 1; n < source.step.size(); ++n) source.step[n].entry = source.entries[n];
    return source;
}

}  // namespace hone::inline v0_1::poisson
