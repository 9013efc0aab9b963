#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_streams.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/families/poisson7/forms.hpp"

// The form on processors: a thread goes through planes with some of their rows.

namespace hone::inline v0_1::poisson {
namespace {

// A row of an array that an update takes beside those of the stencil.
struct RowArray {
    const char* name;
    bool read, changed;
};

struct Blocks {
    Blocks(const Grid& grid_of_problem, const Config& config)
        : grid(grid_of_problem),
          y_block(config.integer("y_block")),
          z_block(config.integer("z_block")),
          vector_bytes(config.integer("vector_bytes")),
          prefetch_rows(config.integer("prefetch_rows")),
          streaming(config.word("stores") == "streaming") {}

    Grid grid;
    std::int64_t y_block, z_block, vector_bytes;
    std::int64_t prefetch_rows;  // from asking for words to computing with them; 0: nothing is asked for
    bool streaming;              // what is written and not read goes past the caches

    bool asks_ahead() const { return prefetch_rows > 0; }
    // What is written and not read: worth going past the caches.
    bool goes_past(const RowArray& array) const { return array.changed && !array.read && streaming; }

    Block constants() const;
    Block ask_for_words() const;
    std::vector<std::string> asked() const;
    Block asked_rows() const;
    Block rows_of_sums() const;
    Block new_words() const;
    Block keep_new_words() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

Block Blocks::constants() const {
    Block block = word_types(grid);
    block.line("constexpr int y_block = {}, z_block = {}, vector_words = {};", y_block, z_block, vector_bytes / grid.word());
    block.line("constexpr int strip_words = {} / sizeof(real), rows_ahead = {};  // rows from asking for words to their turn", strip_bytes,
               prefetch_rows);
    if (grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {};", grid.sums(), chunk_planes, group_columns);
        block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_lanes = {};", sums_per_block, cells_per_block, sum_threads);
    }
    if (grid.fused()) block.append(scalar_words());
    return block;
}

// The arrays that the stencil's rows are made of, where it does not take those of an array as they
// are.
std::vector<std::string> stencil_arrays(const Grid& grid) {
    if (!grid.fused()) return {};
    if (grid.kind == Kind::direction) return {"z", "p_old"};
    if (grid.has_field_diagonal()) return {"r_old", "w", "inverse_diagonal"};
    return {"r_old", "w"};
}

// Of a later plane.
Block Blocks::ask_for_words() const {
    Block block;
    if (asks_ahead())
        for (const std::string& name : stencil_arrays(grid)) block.line("ask_for(a.{} + later_at + first);", name);
    return block;
}

// The rows of the arrays that an update takes beside those of the stencil.
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

Block rows_of_arrays(const Grid& grid) {
    Block block;
    for (const auto& array : row_arrays(grid)) block.line("{0}real* const {1} = a.{1} + at;", array.changed ? "" : "const ", array.name);
    return block;
}

// The words of a later row that the caches will not have: what the rows of the stencil are made of
// they have had.
std::vector<std::string> Blocks::asked() const {
    std::vector<std::string> words;
    if (!asks_ahead()) return words;
    if (!grid.fused()) words.emplace_back("of.row(later_j, later_k + 1)");
    const std::vector<std::string> had = stencil_arrays(grid);
    for (const auto& array : row_arrays(grid))
        if (std::find(had.begin(), had.end(), array.name) == had.end() && !goes_past(array))
            words.push_back(fmt::format("a.{} + later_at", array.name));
    if (grid.coefficients == Coefficients::face)
        words.insert(words.end(), {"a.cx + later_at", "a.cy + later_at", "a.cz + later_at + (later_k + 1 < a.nz ? wide(a.ny) * a.pitch : 0)"});
    return words;
}

Block Blocks::asked_rows() const {
    const std::vector<std::string> words = asked();
    Block block;
    if (grid.fused() || words.size() > 1) block.line("const wide later_at = (wide(later_k) * a.ny + later_j) * a.pitch;");
    return block.line("const real* const asked[] = {{{}}};", fmt::join(words, ", "));
}

Block Blocks::rows_of_sums() const {
    Block block;
    for (int s = 0; s < grid.sums(); ++s)
        block.line("real* const sums_{0} = first_sums{1};", s, s == 0 ? "" : fmt::format(" + {} * y_block * groups_of_row(nx) * group_columns", s));
    return block;
}

// Where a strip's new words go. Those that go past the caches are gathered beforehand, to go whole
// lines at a time.
Block Blocks::new_words() const {
    Block block;
    for (const auto& array : row_arrays(grid)) {
        if (goes_past(array))
            block.line("alignas(64) real to_{}[strip_words];", array.name);
        else if (array.changed)
            block.line("real* const to_{0} = {0} + first;", array.name);
    }
    return block;
}

Block Blocks::keep_new_words() const {
    std::vector<std::string> past;
    for (const auto& array : row_arrays(grid))
        if (goes_past(array)) past.push_back(fmt::format("keep({0} + first, to_{0}, count)", array.name));
    return past.empty() ? Block() : Block().line("{};", fmt::join(past, ", "));
}

// One line a level: loops of known length become vector instructions.
Block add_up_pairs() {
    Block block;
    for (std::int64_t pairs = group_columns / 2; pairs > 0; pairs /= 2)
        block.line("for (int t = 0; t < {0}; ++t) sum[t] = {1}[2 * t] + {1}[2 * t + 1];", pairs, pairs == group_columns / 2 ? "columns" : "sum");
    return block;
}

KernelSource Blocks::kernel(const Problem& problem, const Config& config) const {
    Flags flags = common_flags(grid);
    flags.insert(flags.end(), {{"fused", grid.fused()},
                               {"applies_operator", grid.kind != Kind::residual},
                               {"streaming", streaming},
                               {"asks_ahead", asks_ahead()},
                               {"asks_rows", !asked().empty()}});
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("poisson7/blocks.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants()},
                          {"arrays", arrays_struct(problem)},
                          {"multiply_add", multiply_add_function(grid.precision)},
                          {"team", team(config)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"parameters", parameters(problem)},
                          {"gathered", gathered(problem)},
                          {"keep_in_history", keep_in_history()},
                          {"ask_for_words", ask_for_words()},
                          {"rows_of_arrays", rows_of_arrays(grid)},
                          {"asked_rows", asked_rows()},
                          {"rows_of_sums", rows_of_sums()},
                          {"new_words", new_words()},
                          {"keep_new_words", keep_new_words()},
                          {"add_up_pairs", add_up_pairs()}},
                         flags);
    source.entries = {"poisson7"};
    if (grid.sums() > 0) source.entries.emplace_back("sum_groups");
    if (grid.sums() > 0 && !grid.part) source.entries.emplace_back("finish");
    for (const std::string& entry : source.entries) source.step.emplace_back().entry = entry;
    return source;
}

// Vectors as wide as the processor's.
std::int64_t widest_vector(const Limits& limits) {
    return limits.vector_bytes >= 64 ? 64 : limits.vector_bytes >= 32 ? 32 : 16;
}

FormSpace space(const Limits& limits) {
    FormSpace form{
        .name = "blocks",
        .help = "a thread goes through planes with some of their rows",
        .tunables = {{"y_block", "rows along y that a thread takes at a time", numbers({4, 8, 16, 32, 64, 128})},
                     {"z_block", "planes that a thread goes through with them", numbers({8, 16, 32, 64, 128})},
                     {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})},
                     {"prefetch_rows", "rows from asking for words to computing with them; 0: the processor foresees what it can",
                      numbers({0, 1, 2, 4, 8}), Value(0), "rows_ahead"},
                     {"stores", "streaming: what is written and not read goes past the caches", words({"plain", "streaming"}), Value("plain")}},
        .constraints = {vector_width(limits)},
        .safe = {{"y_block", 16}, {"z_block", 16}, {"vector_bytes", widest_vector(limits)}, {"prefetch_rows", 2}, {"stores", "plain"}},
        .former = [](const Config& config) { return config.find("y_block") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Form cpu_blocks_form(const Problem& problem, const Limits& limits) {
    return {.space = space(limits), .kernel = [problem](const Config& config) { return Blocks(Grid(problem), config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::poisson
