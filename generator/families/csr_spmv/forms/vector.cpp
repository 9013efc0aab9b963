#include <fmt/format.h>

#include <algorithm>

#include "generator/families/csr_spmv/forms.hpp"
#include "generator/families/device/cuda_launch.hpp"
#include "generator/render.hpp"

// On CUDA: neighbouring threads share a row.

namespace hone::inline v0_1::spmv {
namespace {

constexpr int warp = 32;

struct Vector {
    Vector(const Shape& of, const Config& config)
        : shape(of),
          threads_per_row(value(config, "threads_per_row")),
          rows_per_group(value(config, "rows_per_group")),
          threads(value(config, "threads")),
          loads_in_flight(value(config, "loads_in_flight")),
          min_blocks(value(config, "min_blocks")),
          streaming(config.has("cache_hint", "streaming")) {}

    static int value(const Config& config, const char* name) { return static_cast<int>(config.integer(name)); }

    Shape shape;
    int threads_per_row, rows_per_group, threads, loads_in_flight, min_blocks;
    bool streaming;  // the matrix leaves the caches to the vectors

    int own_sums() const { return partial_sums / threads_per_row; }
    int groups() const { return std::max(1, own_sums() / loads_in_flight); }
    int trip() const { return groups() * loads_in_flight * threads_per_row; }
    int rows_per_step() const { return warp / threads_per_row; }
    int rows_per_warp() const { return rows_per_group * rows_per_step(); }
    int rows_per_block() const { return threads / warp * rows_per_warp(); }
    // A warp has whole chunks, so that it adds up their products without the others.
    bool chunk_per_warp() const { return rows_per_warp() == chunk_rows; }
    BlockResources resources() const {
        const int words = own_sums() * shape.components + loads_in_flight * (1 + shape.components) + shape.components;
        return {.threads = threads, .registers = words * shape.bytes() / 4 + loads_in_flight + 24};
    }

    Block constants() const;
    Block own_halves() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

std::vector<Constraint> constraints(const Shape& shape) {
    return {{"rows_of_a_warp",
             [shape](const Config& config) -> Reason {
                 const Vector kernel(shape, config);
                 if (kernel.rows_per_warp() <= warp) return std::nullopt;
                 return fmt::format("{} rows in a warp, its lanes know the ends of {}", kernel.rows_per_warp(), warp);
             }},
            {"whole_chunks", [shape](const Config& config) -> Reason {
                 const Vector kernel(shape, config);
                 if (!shape.dotted || kernel.rows_per_block() % chunk_rows == 0) return std::nullopt;
                 return fmt::format("{} rows in a block, sums are taken of {}", kernel.rows_per_block(), chunk_rows);
             }}};
}

Block Vector::constants() const {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {};", shape.components);
    block.line("constexpr int lanes = {}, own_sums = {};  // threads that share a row, partial sums of each", threads_per_row, own_sums());
    block.line("constexpr int together = {}, groups = {}, trip = {};  // entries of a lane in flight, how often, entries of all lanes then",
               loads_in_flight, groups(), trip());
    block.line("constexpr int steps = {}, rows_per_step = {}, rows_per_warp = {}, rows_per_block = {};", rows_per_group, rows_per_step(),
               rows_per_warp(), rows_per_block());
    block.line("constexpr int threads_per_block = {}, min_blocks = {};", threads, min_blocks);
    if (shape.dotted) block.line("constexpr int chunk_rows = {}, sum_lanes = {};", chunk_rows, sum_lanes);
    return block;
}

// A lane's own sums, a line a level: of loops within a loop over the levels the compiler left some
// as they are, and the sums in memory.
Block Vector::own_halves() const {
    Block block;
    for (int half = own_sums() / 2; half > 0; half /= 2) {
        block.line("#pragma unroll");
        block.line("for (int i = 0; i < {0}; ++i) sum[i][c] += sum[i + {0}][c];", half);
    }
    return block;
}

KernelSource Vector::kernel(const Problem& problem, const Config& config) const {
    KernelSource source = common_source(problem, Target::cuda);
    source.text = render("csr_spmv/kernel.cu",
                         {{"banner", banner(problem, config, Target::cuda)},
                          {"constants", constants()},
                          {"place", place(shape)},
                          {"own_halves", own_halves()},
                          {"parameters", parameters(problem)},
                          {"chunks", chunk_count()}},
                         {{"streaming", streaming}, {"dotted", shape.dotted}, {"chunk_per_warp", chunk_per_warp()}});
    source.step = {cuda_launch("csr_spmv", {(shape.rows + rows_per_block() - 1) / rows_per_block(), 1, 1}, {threads, 1, 1})};
    source.step[0].range_axis = 0;
    source.step[0].range_per_block = rows_per_block();
    if (!shape.dotted) return source;
    source.step.push_back(cuda_launch("finish", {shape.components, 1, 1}, {sum_lanes, 1, 1}));
    return source;
}

FormSpace space(const Shape& shape) {
    const bool long_rows = shape.entries / shape.rows >= 16;
    return {.name = "vector",
            .help = "neighbouring threads share a row",
            .tunables = {{"threads_per_row", "neighbouring threads that share a row", numbers({1, 2, 4, 8, 16, 32}), {}, "lanes"},
                         {"rows_per_group", "rows that these threads take one after the other", numbers({1, 2, 4, 8, 16, 32}), {}, "steps"},
                         {"threads", "threads of a block", numbers({64, 128, 256, 512})},
                         {"loads_in_flight", "entries of a row that a thread loads before it uses the first", numbers({1, 2, 4, 8}), {}, "together"},
                         {"cache_hint",
                          "loads of the matrix: like all others, or streaming, which leaves the caches to the vectors",
                          words({"cached", "streaming"}),
                          {},
                          "once"},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8, 16})}},
            .constraints = constraints(shape),
            .safe = {{"threads_per_row", long_rows ? 8 : 2},
                     {"rows_per_group", 2},
                     {"threads", 128},
                     {"loads_in_flight", 2},
                     {"cache_hint", "cached"},
                     {"min_blocks", 1}},
            .former = [](const Config& config) { return config.find("lanes") != nullptr; }};
}

}  // namespace

Form vector_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    return {.space = space(shape),
            .resources = [shape](const Config& config) { return Vector(shape, config).resources(); },
            .kernel = [problem](const Config& config) { return Vector(Shape(problem), config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::spmv
