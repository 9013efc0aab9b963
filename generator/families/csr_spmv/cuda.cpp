#include <fmt/format.h>

#include <algorithm>

#include "generator/families/csr_spmv/shape.hpp"
#include "generator/families/device/cuda_launch.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::spmv {
namespace {

using Refusal = std::optional<std::string>;

constexpr int warp = 32;

// How rows are laid out over a block.
struct Plan {
    Plan(const Shape& of, const Config& config)
        : shape(of),
          lanes(value(config, "threads_per_row")),
          steps(value(config, "rows_per_group")),
          threads(value(config, "threads")),
          together(value(config, "loads_in_flight")) {}

    static int value(const Config& config, const char* name) { return static_cast<int>(config.integer(name)); }
    int own_sums() const { return partial_sums / lanes; }
    int groups() const { return std::max(1, own_sums() / together); }
    int trip() const { return groups() * together * lanes; }
    int rows_per_step() const { return warp / lanes; }
    int rows_per_warp() const { return steps * rows_per_step(); }
    int rows_per_block() const { return threads / warp * rows_per_warp(); }
    // A warp has whole chunks, so that it adds up their products without the others.
    bool chunk_per_warp() const { return rows_per_warp() == chunk_rows; }
    BlockResources resources() const {
        const int words = own_sums() * shape.components + together * (1 + shape.components) + shape.components;
        return {.threads = threads, .registers = words * shape.bytes() / 4 + together + 24};
    }

    Shape shape;
    int lanes, steps, threads, together;
};

std::vector<Constraint> constraints(const Shape& shape) {
    return {{"rows_of_a_warp",
             [shape](const Config& config) -> Refusal {
                 const Plan plan(shape, config);
                 if (plan.rows_per_warp() <= warp) return std::nullopt;
                 return fmt::format("{} rows in a warp, its lanes know the ends of {}", plan.rows_per_warp(), warp);
             }},
            {"whole_chunks", [shape](const Config& config) -> Refusal {
                 const Plan plan(shape, config);
                 if (!shape.dotted || plan.rows_per_block() % chunk_rows == 0) return std::nullopt;
                 return fmt::format("{} rows in a block, sums are taken of {}", plan.rows_per_block(), chunk_rows);
             }}};
}

Block constants(const Plan& plan, const Config& config) {
    const Shape& shape = plan.shape;
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {};", shape.components);
    block.line("constexpr int lanes = {}, own_sums = {};  // threads that share a row, partial sums of each", plan.lanes, plan.own_sums());
    block.line("constexpr int together = {}, groups = {}, trip = {};  // entries of a lane in flight, how often, entries of all lanes then",
               plan.together, plan.groups(), plan.trip());
    block.line("constexpr int steps = {}, rows_per_step = {}, rows_per_warp = {}, rows_per_block = {};", plan.steps, plan.rows_per_step(),
               plan.rows_per_warp(), plan.rows_per_block());
    block.line("constexpr int threads_per_block = {}, min_blocks = {};", plan.threads, config.integer("min_blocks"));
    if (shape.dotted) block.line("constexpr int chunk_rows = {}, sum_lanes = {};", chunk_rows, sum_lanes);
    return block;
}

// A lane's own sums, a line a level: of loops within a loop over the levels the compiler left some
// as they are, and the sums in memory.
Block own_halves(const Plan& plan) {
    Block block;
    for (int half = plan.own_sums() / 2; half > 0; half /= 2) {
        block.line("#pragma unroll");
        block.line("for (int i = 0; i < {0}; ++i) sum[i][c] += sum[i + {0}][c];", half);
    }
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Plan plan(shape, config);
    KernelSource source = common_source(problem, Target::cuda);
    source.text =
        render("csr_spmv/kernel.cu",
               {{"banner", banner(problem, config, Target::cuda)},
                {"constants", constants(plan, config)},
                {"place", place(shape)},
                {"own_halves", own_halves(plan)},
                {"parameters", parameters(problem)},
                {"chunks", chunk_count()}},
               {{"streaming", config.word("cache_hint") == "streaming"}, {"dotted", shape.dotted}, {"chunk_per_warp", plan.chunk_per_warp()}});
    source.step = {cuda_launch("csr_spmv", {(shape.rows + plan.rows_per_block() - 1) / plan.rows_per_block(), 1, 1}, {plan.threads, 1, 1})};
    source.step[0].range_axis = 0;
    source.step[0].range_per_block = plan.rows_per_block();
    if (!shape.dotted) return source;
    source.step.push_back(cuda_launch("finish", {shape.components, 1, 1}, {sum_lanes, 1, 1}));
    return source;
}

// The one form: neighbouring threads share a row.
FormSpace vector_form(const Shape& shape) {
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

Forms cuda_forms(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    return {{{.space = vector_form(shape),
              .resources = [shape](const Config& config) { return Plan(shape, config).resources(); },
              .kernel = [problem](const Config& config) { return kernel(problem, config); }}},
            "vector"};
}

}  // namespace hone::inline v0_1::spmv
