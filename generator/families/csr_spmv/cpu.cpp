#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "generator/families/csr_spmv/shape.hpp"
#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::spmv {
namespace {

int lanes(const Shape& shape, const Config& config) {
    return static_cast<int>(config.integer("vector_bytes")) / shape.bytes();
}

bool gathers(const Config& config) {
    return config.word("words_of_x") == "gather";
}

constexpr int narrowest_gather = 32;  // bytes of a vector

// Of words of x, as 32-bit numbers.
bool numbers_fit(const Shape& shape) {
    return !shape.interleaved || shape.columns * shape.components <= std::numeric_limits<int>::max();
}

int at_once(const Shape& shape, const Config& config) {
    return config.word("components_at_once") == "all" ? shape.components : 1;
}

Block constants(const Shape& shape, const Config& config) {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {}, at_once = {};  // components that one pass over a row works on", shape.components,
               at_once(shape, config));
    block.line("constexpr int chunk_rows = {}, partial_sums = {}, lanes = {}, vectors = partial_sums / lanes;", chunk_rows, partial_sums,
               lanes(shape, config));
    if (shape.dotted) block.line("constexpr int sum_lanes = {};", sum_lanes);
    return block;
}

// The compilers' own functions for vectors of which words are missing, and for words from anywhere.
void add_masks(Holes& holes, const Shape& shape, const Config& config) {
    const bool f32 = shape.precision == Precision::f32;
    const int bits = 8 * static_cast<int>(config.integer("vector_bytes"));
    const int words = lanes(shape, config);
    holes.emplace_back(
        "masked_entries",
        Block()
            .line("const vector value = __builtin_ia32_loadu{}{}_mask(From<real>{{values}}, vector{{}}, mask);", f32 ? "ps" : "pd", bits)
            .line("const numbers column = __builtin_ia32_loaddqusi{}_mask(From<int>{{column_indices}}, numbers{{}}, mask);", 32 * words));
    const char* const place = shape.interleaved ? "x + component + c, column * components" : "x + wide(component + c) * columns, column";
    holes.emplace_back("gather", Block().line("const vector word = __builtin_ia32_gather{}siv{}{}(no_word, {}, mask, sizeof(real));",
                                              bits == 512 ? "" : "3", words, f32 ? "sf" : "df", place));
}

// The compilers' own function for a product and a sum of vectors, where there is one.
void add_fused(Holes& holes, const Shape& shape, int bytes) {
    const char type = shape.precision == Precision::f32 ? 's' : 'd';
    const std::string call = bytes == 64   ? fmt::format("p{}512_mask(a, b, c, -1, 4)", type)  // all lanes, rounded as usual
                             : bytes == 32 ? fmt::format("p{}256(a, b, c)", type)
                                           : fmt::format("p{}(a, b, c)", type);
    holes.emplace_back("where_fused", Block().line("#ifdef {}", bytes == 64 ? "__AVX512F__" : "__FMA__"));
    holes.emplace_back("fused", Block().line("return __builtin_ia32_vfmadd{};", call));
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
    Holes holes{{"banner", banner(problem, config, Target::cpu)},
                {"constants", constants(shape, config)},
                {"multiply_add", multiply_add_function(shape.precision)},
                {"place", place(shape)},
                {"team", team(config)},
                {"parameters", parameters(problem)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)},
                {"schedule", Block().line("#pragma omp for schedule({})", schedule)},
                {"join_pairs", join_pairs()},
                {"chunks", chunk_count()}};
    add_fused(holes, shape, static_cast<int>(config.integer("vector_bytes")));
    const bool masks = config.integer("vector_bytes") >= narrowest_gather && numbers_fit(shape);
    if (masks) add_masks(holes, shape, config);
    source.text = render("csr_spmv/kernel.cpp", holes, {{"dotted", shape.dotted}, {"masks", masks}, {"gathers", gathers(config)}});
    source.step = {{.entry = "csr_spmv", .constants = {}}};
    if (!shape.dotted) return source;
    source.step.push_back({.entry = "finish", .constants = {}});
    return source;
}

// Of vectors that are shorter, or of words too far away for 32-bit numbers, all words of x are read
// one by one.
std::optional<std::string> gather_violation(const Shape& shape, const Config& config) {
    if (!gathers(config)) return std::nullopt;
    if (config.integer("vector_bytes") < narrowest_gather) return fmt::format("vectors of {} bytes are not gathered", config.integer("vector_bytes"));
    if (!numbers_fit(shape)) return "words of x are too far away for 32-bit numbers";
    return std::nullopt;
}

// The one form: partial sums of a row are the lanes of vectors.
FormSpace vector_form(const Shape& shape, const Limits& limits) {
    constexpr int wide_enough = 32;
    constexpr int with_masks = 64;  // vectors of processors that have masks and gathers that pay
    FormSpace form{
        .name = "vector",
        .help = "vectors of a row's neighbouring entries",
        .tunables = {{"vector_bytes", "width of the vectors along a row", numbers({16, 32, 64})},
                     {"words_of_x", "how they come: one by one, or a vector of them by one instruction",
                      limits.vector_bytes >= with_masks ? words({"single", "gather"}) : words({"single"}), Value("single")},
                     {"components_at_once", "of the vectors, in one pass over a row", shape.components == 1 ? words({"one"}) : words({"one", "all"})},
                     {"schedule", "rows of a thread: as many for each, or the next ones whenever it is done", words({"static", "dynamic"})}},
        .constraints = {vector_width(limits),
                        {"gather", [shape](const Config& config) { return gather_violation(shape, config); }, {"vector_bytes", "words_of_x"}}},
        .safe = {{"vector_bytes", std::min(shape.components == 1 ? with_masks : wide_enough, limits.vector_bytes)},
                 {"words_of_x", limits.vector_bytes >= with_masks && numbers_fit(shape) ? "gather" : "single"},
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
