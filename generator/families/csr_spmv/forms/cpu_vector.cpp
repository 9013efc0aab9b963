#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "generator/families/csr_spmv/forms.hpp"
#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/render.hpp"

// On processors: partial sums of a row are the lanes of vectors.

namespace hone::inline v0_1::spmv {
namespace {

constexpr int narrowest_gather = 32;  // bytes of a vector

// Of words of x, as 32-bit numbers.
bool numbers_fit(const Shape& shape) {
    return !shape.interleaved || shape.columns * shape.components <= std::numeric_limits<int>::max();
}

struct CpuVector {
    CpuVector(const Shape& of, const Config& config)
        : shape(of),
          vector_bytes(static_cast<int>(config.integer("vector_bytes"))),
          gathers(config.has("words_of_x", "gather")),
          components_at_once(config.has("components_at_once", "all") ? of.components : 1),
          static_schedule(config.has("schedule", "static")) {}

    Shape shape;
    int vector_bytes;
    bool gathers;            // words of x, by one instruction
    int components_at_once;  // in one pass over a row
    bool static_schedule;    // as many rows for each thread, not the next ones whenever it is done

    int lanes() const { return vector_bytes / shape.bytes(); }
    // There are masks and gathers, of 32-bit numbers.
    bool masks() const { return vector_bytes >= narrowest_gather && numbers_fit(shape); }

    Reason conflict() const;
    Block constants() const;
    void add_masks(Holes& holes) const;
    void add_fused(Holes& holes) const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

// Of vectors that are shorter, or of words too far away for 32-bit numbers, all words of x are read
// one by one.
Reason CpuVector::conflict() const {
    if (!gathers) return std::nullopt;
    if (vector_bytes < narrowest_gather) return fmt::format("vectors of {} bytes are not gathered", vector_bytes);
    if (!numbers_fit(shape)) return "words of x are too far away for 32-bit numbers";
    return std::nullopt;
}

Block CpuVector::constants() const {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {}, at_once = {};  // components that one pass over a row works on", shape.components, components_at_once);
    block.line("constexpr int chunk_rows = {}, partial_sums = {}, lanes = {}, vectors = partial_sums / lanes;", chunk_rows, partial_sums, lanes());
    if (shape.dotted) block.line("constexpr int sum_lanes = {};", sum_lanes);
    return block;
}

// The compilers' own functions for vectors of which words are missing, and for words from anywhere.
void CpuVector::add_masks(Holes& holes) const {
    const bool f32 = shape.precision == Precision::f32;
    const int bits = 8 * vector_bytes;
    const int words = lanes();
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
void CpuVector::add_fused(Holes& holes) const {
    const char type = shape.precision == Precision::f32 ? 's' : 'd';
    const std::string call = vector_bytes == 64   ? fmt::format("p{}512_mask(a, b, c, -1, 4)", type)  // all lanes, rounded as usual
                             : vector_bytes == 32 ? fmt::format("p{}256(a, b, c)", type)
                                                  : fmt::format("p{}(a, b, c)", type);
    holes.emplace_back("where_fused", Block().line("#ifdef {}", vector_bytes == 64 ? "__AVX512F__" : "__FMA__"));
    holes.emplace_back("fused", Block().line("return __builtin_ia32_vfmadd{};", call));
}

// In pairs of neighbours.
Block join_pairs() {
    Block block;
    for (int pairs = chunk_rows / 2; pairs > 0; pairs /= 2)
        block.line("for (int i = 0; i < {}; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];", pairs);
    return block;
}

KernelSource CpuVector::kernel(const Problem& problem, const Config& config) const {
    const char* const schedule = static_schedule ? "static" : "dynamic, 16";
    KernelSource source = common_source(problem, Target::cpu);
    Holes holes{{"banner", banner(problem, config, Target::cpu)},
                {"constants", constants()},
                {"multiply_add", multiply_add_function(shape.precision)},
                {"place", place(shape)},
                {"team", team(config)},
                {"parameters", parameters(problem)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)},
                {"schedule", Block().line("#pragma omp for schedule({})", schedule)},
                {"join_pairs", join_pairs()},
                {"chunks", chunk_count()}};
    add_fused(holes);
    if (masks()) add_masks(holes);
    source.text = render("csr_spmv/kernel.cpp", holes, {{"dotted", shape.dotted}, {"masks", masks()}, {"gathers", gathers}});
    source.step = {{.entry = "csr_spmv", .constants = {}}};
    if (!shape.dotted) return source;
    source.step.push_back({.entry = "finish", .constants = {}});
    return source;
}

FormSpace space(const Shape& shape, const Limits& limits) {
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
                        {"gather", [shape](const Config& config) { return CpuVector(shape, config).conflict(); }, {"vector_bytes", "words_of_x"}}},
        .safe = {{"vector_bytes", std::min(shape.components == 1 ? with_masks : wide_enough, limits.vector_bytes)},
                 {"words_of_x", limits.vector_bytes >= with_masks && numbers_fit(shape) ? "gather" : "single"},
                 {"components_at_once", shape.components == 1 ? "one" : "all"},
                 {"schedule", "static"}},
        .former = [](const Config& config) { return config.find("components_at_once") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Form cpu_vector_form(const Problem& problem, const Limits& limits) {
    return {.space = space(Shape(problem), limits),
            .kernel = [problem](const Config& config) { return CpuVector(Shape(problem), config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::spmv
