#include <fmt/format.h>

#include <algorithm>

#include "generator/families/csr_spmv/shape.hpp"
#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::spmv {
namespace {

int at_once(const Shape& shape, const Config& config) {
    return config.word("components_at_once") == "all" ? shape.components : 1;
}

Block constants(const Shape& shape, const Config& config) {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {}, at_once = {};  // components that one pass over a row works on", shape.components,
               at_once(shape, config));
    block.line("constexpr int chunk_rows = {}, partial_sums = {}, vector_words = {};", chunk_rows, partial_sums,
               config.integer("vector_bytes") / shape.bytes());
    if (shape.dotted) block.line("constexpr int sum_lanes = {};", sum_lanes);
    return block;
}

// A line for each component: a loop over them would keep the vector of entries from being one.
Block products(int count) {
    Block block;
    for (int c = 0; c < count; ++c) block.line("sum[{0}][j] = multiply_add(value, x[place(column, component + {0}, columns)], sum[{0}][j]);", c);
    return block;
}

// A line a level: loops of known length become vector instructions.
Block halves() {
    Block block;
    for (int half = partial_sums / 2; half > 0; half /= 2) block.line("for (int i = 0; i < {0}; ++i) sum[c][i] += sum[c][i + {0}];", half);
    return block;
}

// In pairs of neighbours.
Block join_pairs() {
    Block block;
    for (int pairs = chunk_rows / 2; pairs > 0; pairs /= 2)
        block.line("for (int i = 0; i < {}; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];", pairs);
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const char* const schedule = config.word("schedule") == "static" ? "static" : "dynamic, 16";
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("csr_spmv/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants(shape, config)},
                          {"multiply_add", multiply_add_function(shape.precision)},
                          {"place", place(shape)},
                          {"products", products(at_once(shape, config))},
                          {"halves", halves()},
                          {"team", team(config)},
                          {"parameters", parameters(problem)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"schedule", Block().line("#pragma omp for schedule({})", schedule)},
                          {"join_pairs", join_pairs()},
                          {"chunks", chunk_count()}},
                         {{"dotted", shape.dotted}});
    source.step = {{.entry = "csr_spmv", .constants = {}}};
    if (!shape.dotted) return source;
    source.step.push_back({.entry = "finish", .constants = {}});
    return source;
}

// The one form: partial sums of a row are the lanes of vectors.
FormSpace vector_form(const Shape& shape, const Limits& limits) {
    constexpr int wide_enough = 32;
    FormSpace form{
        .name = "vector",
        .help = "vectors of a row's neighbouring entries",
        .tunables = {{"vector_bytes", "width of the vectors along a row", numbers({16, 32, 64})},
                     {"components_at_once", "of the vectors, in one pass over a row", shape.components == 1 ? words({"one"}) : words({"one", "all"})},
                     {"schedule", "rows of a thread: as many for each, or the next ones whenever it is done", words({"static", "dynamic"})}},
        .constraints = {vector_width(limits)},
        .safe = {{"vector_bytes", std::min(wide_enough, limits.vector_bytes)},
                 {"components_at_once", shape.components == 1 ? "one" : "all"},
                 {"schedule", "static"}},
        .former = [](const Config& config) { return config.find("components_at_once") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{{.space = vector_form(Shape(problem), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }}},
            "vector"};
}

}  // namespace hone::inline v0_1::spmv
