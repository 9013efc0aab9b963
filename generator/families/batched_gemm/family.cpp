#include "generator/families/batched_gemm/family.hpp"

#include <fmt/format.h>

#include <array>

#include "foundation/error.hpp"
#include "generator/families/batched_gemm/mappings.hpp"
#include "generator/families/batched_gemm/reference.hpp"
#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/device/dialect.hpp"

namespace hone::inline v0_1 {
namespace gemm {

int number(const Config& config, std::string_view name) {
    return static_cast<int>(config.integer(name));
}

int number(const Config& config, std::string_view name, int otherwise) {
    return static_cast<int>(integer_or(config, name, otherwise));
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    // Column by column; `transposed`: stored with rows and columns exchanged.
    const auto matrix = [](int height, int width, bool transposed) {
        return transposed ? std::array<std::int64_t, 2>{height, width} : std::array<std::int64_t, 2>{width, height};
    };
    const auto one = [](const char* name, const std::array<std::int64_t, 2>& of, const char* help) {
        return laid_out({name, Access::in, of[0] * of[1], fmt::format("[{}][{}]", of[0], of[1]), help}, {of[0], of[1]});
    };
    const auto many = [&](const char* name, Access access, const std::array<std::int64_t, 2>& of, std::int64_t gap, const char* help) {
        const std::int64_t stride = of[0] * of[1] + gap;
        if (gap == 0)
            return laid_out({name, access, shape.batch * stride, fmt::format("[batch][{}][{}]", of[0], of[1]), help, {stride}},
                            {shape.batch, of[0], of[1]});
        return laid_out({name, access, shape.batch * stride, fmt::format("[batch][{} * {} + {}]", of[0], of[1], gap), help, {stride}},
                        {shape.batch, stride});
    };
    const auto b = matrix(shape.k, shape.n, shape.transposed_b);
    std::vector<ArraySpec> result{
        many("a", Access::in, matrix(shape.m, shape.k, shape.transposed_a), shape.gap_a, "first factors"),
        shape.shared_b ? one("b", b, "second factor of all products") : many("b", Access::in, b, shape.gap_b, "second factors"),
        many("c", shape.scaled ? Access::inout : Access::out, matrix(shape.m, shape.n, false), shape.gap_c, "products")};
    if (shape.scaled) result.push_back({"factors", Access::in, 2, "[2]", "alpha, beta", {}, {1}});
    return result;
}

Counts counts(const Problem& problem) {
    const Shape shape(problem);
    const double m = shape.m;
    const double n = shape.n;
    const double k = shape.k;
    const auto batch = static_cast<double>(shape.batch);
    const double words = batch * static_cast<double>(shape.words_of_each()) + static_cast<double>(shape.words_of_all());
    return {batch, "products", 2 * m * n * k * batch, words * shape.bytes()};
}

std::string bytes_per_product(const Shape& shape) {
    return fmt::format("{} bytes{}", shape.words_of_each() * shape.bytes(),
                       shape.shared_b ? fmt::format(" and {} for all together", shape.words_of_all() * shape.bytes()) : "");
}

Block banner(const Problem& problem, const Config& config, Target target, double executed) {
    const Shape shape(problem);
    const Counts work = counts(problem);
    Block block;
    block.line("// batched_gemm: C = {}{}{}{}, {} x {} times {} x {}, {}{}", shape.scaled ? "alpha " : "", shape.transposed_a ? "A^T " : "A ",
               shape.transposed_b ? "B^T" : "B", shape.scaled ? " + beta C" : "", shape.m, shape.k, shape.k, shape.n, problem.word("precision"),
               shape.shared_b ? ", one B for all" : "");
    const std::string gaps = shape.packed() ? "" : fmt::format(" gap_a={} gap_b={} gap_c={}", shape.gap_a, shape.gap_b, shape.gap_c);
    block.line("// hone emit {} batch=100000{} --target {} --config {}", problem.class_key(), gaps, to_string(target), config.key());
    block.text("// The same text serves any number of matrices.");
    block.line("// per product: {:.0f} operations, {} (compulsory); this form executes {:.0f} operations", work.operations / work.updates,
               bytes_per_product(shape), executed / work.updates);
    return block;
}

Block shape_constants(const Shape& shape) {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("constexpr int m = {}, n = {}, k = {};", shape.m, shape.n, shape.k);
    block.line("constexpr long long stride_a = {}, stride_b = {}, stride_c = {};  // words from one matrix to the next", shape.stride_a(),
               shape.stride_b(), shape.stride_c());
    block.line("constexpr int a_row = {}, a_inner = {};     // op(A)(row, l) lies at row * a_row + l * a_inner", shape.a_row(), shape.a_inner());
    block.line("constexpr int b_inner = {}, b_column = {};  // op(B)(l, column) at l * b_inner + column * b_column", shape.b_inner(),
               shape.b_column());
    return block;
}

Block parameters(const Shape& shape, Target target) {
    const Dialect& dialect = dialect_of(target);
    return Block().line("{0}batched_gemm(const real* {1} a, const real* {1} b, real* {1} c, {2}int first, int last) {{", dialect.entry,
                        dialect.restrict_word, shape.scaled ? fmt::format("const real* {} factors, ", dialect.restrict_word) : "");
}

void add_copy_flags(Flags& flags, const Limits& limits) {
    add_copies(flags, Copies::words_or_zeros, limits.has(Feature::async_copies));
    flags.emplace_back("kept_reads", false);
}

// The operands of one multiply-add of a warp are spread as PTX prescribes for mma.m16n8k4, k8 and
// k16 with .f64: with g = lane / 4 and t = lane % 4, word i of a is (row g + 8 (i % 2), column t +
// 4 (i / 2)), word i of b (row t + 4 i, column g), word i of c (row g + 8 (i / 2), column 2 t + i %
// 2). A warp reads half of its lanes at a time: 4 rows in each of 4 columns, which lie in 16
// different banks where columns are 4 or 12 words apart modulo 16.
void add_matrix_unit_flags(Flags& flags, int depth) {
    flags.insert(flags.end(), {{"depth_4", depth == 4}, {"depth_8", depth == 8}, {"depth_16", depth == 16}});
}

KernelSource make_source(const Problem& problem, Target target, std::string text, double executed) {
    KernelSource source;
    source.text = std::move(text);
    source.target = target;
    source.precision = problem.precision();
    source.entries = {"batched_gemm"};
    source.arrays = arrays(problem);
    source.executed_operations = executed;
    return source;
}

Launch block_launch(const Shape& shape, std::int64_t matrices_per_block, std::int64_t tiles, const Resources& resources) {
    Launch launch;
    launch.entry = "batched_gemm";
    launch.grid = {(shape.batch + matrices_per_block - 1) / matrices_per_block, tiles, 1};
    launch.block = {resources.threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = matrices_per_block;
    launch.shared_bytes = resources.shared_bytes;
    return launch;
}

namespace {

ProblemParameter gap(const char* name, const char* of) {
    return {name, fmt::format("words between the end of one {0} and the start of the next", of), {}, 0, std::int64_t{1} << 20, true, "0"};
}

}  // namespace
}  // namespace gemm

Family batched_gemm() {
    Family family;
    family.name = "batched_gemm";
    family.summary = "products of many small matrices of one size";
    family.source = "J. Dongarra and others, Design of a Batched BLAS, Numerical Linear Algebra Group, Manchester 2016";
    family.example = "batched_gemm m=81 n=8 k=64 b=shared precision=f64 batch=32768";
    family.parameters = {{"form", "which matrices lie transposed in memory, the letter of A first", {"nn", "nt", "tn", "tt"}, 0, 0, false, "nn"},
                         {"b", "each: a B for every A; shared: one for all", {"each", "shared"}, 0, 0, false, "each"},
                         {"update", "set: C = op(A) op(B); scale: C = alpha op(A) op(B) + beta C", {"set", "scale"}, 0, 0, false, "set"},
                         {"precision", "type of the matrices", {"f32", "f64"}, 0, 0, false, "f64"},
                         {"m", "rows of op(A) and C", {}, 1, 512, false, ""},
                         {"n", "columns of op(B) and C", {}, 1, 512, false, ""},
                         {"k", "columns of op(A), rows of op(B)", {}, 1, 512, false, ""},
                         {"batch", "number of products", {}, 1, std::int64_t{1} << 30, true, ""},
                         gemm::gap("gap_a", "A"),
                         gemm::gap("gap_b", "B"),
                         gemm::gap("gap_c", "C")};
    family.scale = [](const Problem& problem) { return scale_of_batch(problem, {"a", "b", "c"}); };
    family.range_unit = "products";
    family.range = [](const Problem& problem) { return problem.integer("batch"); };
    family.partition = [](const Problem&) { return Partition{}; };  // a product depends on its own matrices alone
    family.arrays = gemm::arrays;
    set_forms(family, {{Target::cpu, gemm::cpu_forms}, {Target::cuda, gemm::cuda_forms}});
    family.reference = gemm::reference;
    family.workload = gemm::workload;
    family.counts = gemm::counts;
    return family;
}

}  // namespace hone::inline v0_1
