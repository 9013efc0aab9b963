#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/batched_gemm/text.hpp"
#include "generator/families/batched_gemv/mappings.hpp"
#include "generator/families/device/cpu_team.hpp"

namespace hone::inline v0_1::gemv {
namespace {

using gemm::number;
using gemm::pieces;
using gemm::round_up;

using Violation = std::optional<std::string>;

constexpr int longest_unrolled = 16;

// How a block of CUDA threads is laid out over its matrices.
struct Layout {
    Layout(const Shape& shape, const Config& config)
        : width(number(config, "width")), matrices(number(config, "matrices_per_block")), split(number(config, "split", 1)) {
        vectors = pieces(shape.m, width);
        threads = shape.transposed() ? number(config, "threads") : round_up(matrices * vectors * split, 32);
    }
    std::int64_t shared_words() const { return std::int64_t{threads} * width; }

    int width, matrices, split;
    int vectors;  // of a column
    int threads;
};

Violation layout_violation(const Shape& shape, const Config& config) {
    const Layout layout(shape, config);
    const gemm::Shape& of = shape.of;
    if (layout.width > 1 && (shape.m % layout.width != 0 || of.stride_a() % layout.width != 0))
        return fmt::format("columns of {} words, {} from matrix to matrix, are not all aligned to {} words", shape.m, of.stride_a(), layout.width);
    if (shape.transposed()) {
        if (layout.split > 1 && layout.split >= 2 * layout.vectors)
            return fmt::format("{} lanes for the {} vectors of a column", layout.split, layout.vectors);
        if (layout.matrices > 1 && layout.matrices * shape.n * layout.split >= 32 * layout.threads) return "a block would run through over 32 trips";
        if (layout.matrices * shape.n * layout.split < layout.threads && layout.threads > 64)
            return "some threads of the block would never have work";
        return std::nullopt;
    }
    if (layout.split > shape.n) return fmt::format("A has {} columns", shape.n);
    if (layout.matrices > 1 && layout.threads > 512) return "one matrix less per block does it, too";
    return std::nullopt;
}

Block unroll(int times) {
    return Block().line("#pragma unroll {}", times);
}

Block cuda_constants(const Shape& shape, const Layout& layout, const Config& config) {
    Block block = shape_constants(shape);
    block.line("constexpr int width = {};  // words per load", layout.width);
    block.line("constexpr int matrices_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", layout.matrices, layout.threads,
               number(config, "min_blocks"));
    if (shape.transposed())
        block.line("constexpr int lanes = {};  // threads that share a column", layout.split);
    else
        block.line("constexpr int vectors = {}, splits = {}, threads_per_matrix = vectors * splits;", layout.vectors, layout.split);
    return block;
}

// What all forms have.
FormSpace common_form(const Shape& shape, const char* unrolled) {
    return {
        .name = "",
        .tunables = {{"width", "words of a column that a thread loads at once", shape.of.vector_width() == 4 ? numbers({1, 2, 4}) : numbers({1, 2})},
                     {"matrices_per_block", "products that a block of threads computes", numbers({1, 2, 4, 8, 16, 32, 64, 128})},
                     {"unroll", unrolled, numbers({1, 2, 4, 8, 16})},
                     {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8})}},
        .constraints = {{"layout", [shape](const Config& config) { return layout_violation(shape, config); }}},
        .safe = {{"width", 1}, {"matrices_per_block", 1}, {"unroll", 4}, {"min_blocks", 1}}};
}

// A thread has whole rows, or with form=split_rows every so-many-th column of some.
FormSpace row_form(const Shape& shape) {
    FormSpace form = common_form(shape, "columns per trip of the loop, whose loads are in flight together");
    const int rows_that_fit = 128 / std::max(shape.m, 1);
    form.safe[1].value = std::int64_t{rows_that_fit >= 16 ? 16 : rows_that_fit >= 4 ? 4 : 1};
    form.name = "rows";
    form.help = "a thread has whole rows of A";
    form.former = [](const Config& config) { return config.has("split", 1); };
    return form;
}

FormSpace split_row_form(const Shape& shape) {
    FormSpace form = row_form(shape);
    form.name = "split_rows";
    form.help = "several threads share rows of A, and add up what they have through shared memory";
    form.tunables.insert(form.tunables.begin() + 2,
                         {"split", "threads that share a row, each with every so-many-th column", numbers({2, 4, 8, 16, 32, 64})});
    form.safe.insert(form.safe.begin() + 2, {"split", 2});
    form.former = [](const Config& config) { return config.find("split") != nullptr && !config.has("split", 1); };
    return form;
}

FormSpace column_form(const Shape& shape) {
    FormSpace form = common_form(shape, "columns of a thread per trip");
    form.name = "columns";
    form.help = "neighbouring threads share columns of A";
    form.tunables.insert(form.tunables.begin() + 2, {{"split", "threads that share a column", numbers({1, 2, 4, 8, 16, 32})},
                                                     {"threads", "threads of a block", numbers({64, 128, 256, 512})}});
    form.safe[1].value = std::int64_t{shape.n < 16 ? 4 : 1};
    form.safe.insert(form.safe.begin() + 2, {{"split", shape.m >= 16 ? 8 : 1}, {"threads", 64}});
    form.former = [](const Config& config) { return config.find("split") != nullptr; };
    return form;
}

BlockResources resources(const Shape& shape, const Config& config) {
    const Layout layout(shape, config);
    const int in_flight = std::min(number(config, "unroll"), shape.transposed() ? 4 : pieces(shape.n, layout.split)) * (layout.width + 1);
    return {.threads = layout.threads, .registers = shape.of.bytes() / 4 * (in_flight + layout.width) + 20};
}

KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Layout layout(shape, config);
    Holes holes{{"banner", banner(problem, config, Target::cuda)},
                {"constants", cuda_constants(shape, layout, config)},
                {"entry", entry(shape, Target::cuda)},
                {"unroll", unroll(number(config, "unroll"))}};
    Flags flags{{"scaled", shape.of.scaled}};
    if (shape.transposed()) {
        const int trips = pieces(layout.vectors, layout.split);
        holes.emplace_back("unroll_rows", unroll(trips <= longest_unrolled ? trips : longest_unrolled / 2));
    } else {
        flags.emplace_back("split", layout.split > 1);
    }
    KernelSource source = make_source(problem, Target::cuda,
                                      render(shape.transposed() ? "batched_gemv/kernel.cu/columns" : "batched_gemv/kernel.cu/rows", holes, flags));
    Launch launch;
    launch.entry = "batched_gemv";
    launch.grid = {(shape.of.batch + layout.matrices - 1) / layout.matrices, 1, 1};
    launch.block = {layout.threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = layout.matrices;
    launch.shared_bytes = !shape.transposed() && layout.split > 1 ? layout.shared_words() * shape.of.bytes() : 0;
    source.step.push_back(launch);
    return source;
}

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<FormSpace> spaces;
    if (shape.transposed())
        spaces = {column_form(shape)};
    else
        spaces = {row_form(shape), split_row_form(shape)};
    if (!shape.transposed() && shape.n == 1) spaces.pop_back();
    Forms forms{{}, spaces.front().name};
    for (FormSpace& space : spaces)
        forms.list.push_back({.space = std::move(space),
                              .resources = [shape](const Config& config) { return resources(shape, config); },
                              .kernel = [problem](const Config& config) { return cuda_kernel(problem, config); }});
    if (shape.transposed() && shape.of.stride_a() == std::int64_t{shape.m} * shape.n) forms.list.push_back(staged_form(problem, limits));
    return forms;
}

namespace {

// `columns` columns at a time, so that y (or x, where A is transposed) is read and written that
// much less often.
Block cpu_product(const Shape& shape, int columns) {
    const int whole = shape.n / columns * columns;
    Block block;
    if (!shape.transposed()) block.text("real sum[m] = {};");
    const auto pass = [&](int count, const char* column) {
        if (shape.transposed()) {
            std::string names;
            for (int i = 0; i < count; ++i) names += fmt::format("{}sum{} = 0", i == 0 ? "" : ", ", i);
            block.line("real {};", names);
            for (std::size_t at = names.find(" = 0"); at != std::string::npos; at = names.find(" = 0")) names.erase(at, 4);
            block.line("#pragma omp simd reduction(+ : {})", names);
            block.open("for (int row = 0; row < m; ++row)");
            for (int i = 0; i < count; ++i) block.line("sum{0} += own[({1} + {0}) * m + row] * factor[row];", i, column);
            block.close();
            for (int i = 0; i < count; ++i) block.line("put(result + {0} + {1}, sum{1}{2});", column, i, shape.of.scaled ? ", alpha, beta" : "");
        } else {
            std::string terms;
            for (int i = 0; i < count; ++i) terms += fmt::format("{0}own[({1} + {2}) * m + row] * factor[{1} + {2}]", i == 0 ? "" : " + ", column, i);
            block.text("#pragma omp simd");
            block.line("for (int row = 0; row < m; ++row) sum[row] += {};", terms);
        }
    };
    if (whole > 0) {
        block.open(fmt::format("for (int column = 0; column < {}; column += {})", whole, columns));
        pass(columns, "column");
        block.close();
    }
    if (whole < shape.n) pass(shape.n - whole, std::to_string(whole).c_str());
    if (!shape.transposed()) block.line("for (int row = 0; row < m; ++row) put(result + row, sum[row]{});", shape.of.scaled ? ", alpha, beta" : "");
    return block;
}

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Holes holes{{"banner", banner(problem, config, Target::cpu)},
                      {"constants", shape_constants(shape)},
                      {"team", team(config)},
                      {"entry", entry(shape, Target::cpu)},
                      {"parallel", team_parallel(config)},
                      {"seat", team_seat(config)},
                      {"product", cpu_product(shape, number(config, "columns"))}};
    KernelSource source = make_source(problem, Target::cpu, render("batched_gemv/kernel.cpp", holes, {{"scaled", shape.of.scaled}}));
    source.step.push_back({"batched_gemv", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

// The one form: passes over all rows, with some columns each.
FormSpace pass_form(const Shape& shape, const Limits& limits) {
    const auto too_wide = [n = shape.n](const Config& config) -> Violation {
        if (number(config, "columns") <= n) return std::nullopt;
        return fmt::format("A has {} columns", n);
    };
    FormSpace form{.name = "passes",
                   .help = "passes over the rows of A",
                   .tunables = {{"columns", "columns of A that one pass over its rows works on", numbers({1, 2, 4, 8})}},
                   .constraints = {{"columns", too_wide, {"columns"}}},
                   .safe = {{"columns", 1}},
                   .former = [](const Config& config) { return config.find("columns") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{{.space = pass_form(Shape(problem), limits), .kernel = [problem](const Config& config) { return cpu_kernel(problem, config); }}},
            "passes"};
}

}  // namespace hone::inline v0_1::gemv
