#include "generator/families/batched_gemv/family.hpp"

#include <fmt/format.h>

#include "generator/families/batched_gemm/reference.hpp"
#include "generator/families/batched_gemm/text.hpp"
#include "generator/families/batched_gemv/forms.hpp"
#include "generator/families/batched_gemv/text.hpp"
#include "generator/families/device/dialect.hpp"

namespace hone::inline v0_1 {
namespace gemv {

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    const gemm::Shape& of = shape.of;
    const auto vectors = [&](const char* name, Access access, std::int64_t words, std::int64_t gap, const char* help) {
        const std::string text = gap == 0 ? fmt::format("[batch][{}]", words) : fmt::format("[batch][{} + {}]", words, gap);
        return laid_out({name, access, of.batch * (words + gap), text, help, {words + gap}}, {of.batch, words + gap});
    };
    const ArraySpec a{"a", Access::in, of.batch * of.stride_a(), fmt::format("[batch][{}][{}]", shape.n, shape.m), "matrices", {of.stride_a()}};
    std::vector<ArraySpec> result{laid_out(a, {of.batch, shape.n, shape.m})};
    if (of.gap_a != 0) {
        result[0].shape = fmt::format("[batch][{} * {} + {}]", shape.n, shape.m, of.gap_a);
        result[0] = laid_out(std::move(result[0]), {of.batch, of.stride_a()});
    }
    if (of.shared_b)
        result.push_back(laid_out({"x", Access::in, of.k, fmt::format("[{}]", of.k), "the vector that all are multiplied with"}, {of.k}));
    else
        result.push_back(vectors("x", Access::in, of.k, of.gap_b, "vectors"));
    result.push_back(vectors("y", of.scaled ? Access::inout : Access::out, of.m, of.gap_c, "products"));
    if (of.scaled) result.push_back({"factors", Access::in, 2, "[2]", "alpha, beta", {}, {1}});
    return result;
}

namespace {

Counts counts(const Problem& problem) {
    const gemm::Shape of(as_gemm(problem));
    const auto batch = static_cast<double>(of.batch);
    const double m = of.m;
    const double k = of.k;
    const double words = batch * static_cast<double>(of.words_of_each()) + static_cast<double>(of.words_of_all());
    return {batch, "products", 2 * m * k * batch, words * of.bytes()};
}

}  // namespace

Block banner(const Problem& problem, const Config& config, Target target) {
    const gemm::Shape of(as_gemm(problem));
    const Counts work = counts(problem);
    Block block;
    block.line("// batched_gemv: y = {}A{} x{}, {} x {}, {}{}", of.scaled ? "alpha " : "", of.transposed_a ? "^T" : "", of.scaled ? " + beta y" : "",
               problem.integer("m"), problem.integer("n"), problem.word("precision"), of.shared_b ? ", one x for all" : "");
    const std::string gaps = of.packed() ? "" : fmt::format(" gap_a={} gap_x={} gap_y={}", of.gap_a, of.gap_b, of.gap_c);
    block.line("// hone emit {} batch=100000{} --target {} --config {}", problem.class_key(), gaps, to_string(target), config.key());
    block.text("// The same text serves any number of matrices.");
    block.line("// per product: {:.0f} operations, {} (compulsory)", work.operations / work.updates, gemm::bytes_per_product(of));
    return block;
}

Block shape_constants(const Shape& shape) {
    Block block;
    block.line("using real = {};", shape.of.real());
    block.line("constexpr int m = {}, n = {};", shape.m, shape.n);
    block.line("constexpr long long stride_a = {}, stride_x = {}, stride_y = {};  // words from one to the next", shape.of.stride_a(),
               shape.of.stride_b(), shape.of.stride_c());
    return block;
}

Block entry(const Shape& shape, Target target) {
    const Dialect& dialect = dialect_of(target);
    return Block().line("{0}batched_gemv(const real* {1} a, const real* {1} x, real* {1} y, {2}int first, int last) {{", dialect.entry,
                        dialect.restrict_word, shape.of.scaled ? fmt::format("const real* {} factors, ", dialect.restrict_word) : "");
}

KernelSource make_source(const Problem& problem, Target target, std::string text) {
    KernelSource source;
    source.text = std::move(text);
    source.target = target;
    source.precision = problem.precision();
    source.entries = {"batched_gemv"};
    source.arrays = arrays(problem);
    source.executed_operations = counts(problem).operations;
    return source;
}

}  // namespace gemv

Family batched_gemv() {
    Family family;
    family.name = "batched_gemv";
    family.summary = "products of many small matrices of one size with vectors";
    family.source = "J. Dongarra and others, Design of a Batched BLAS, Numerical Linear Algebra Group, Manchester 2016";
    family.example = "batched_gemv m=81 n=8 precision=f64 batch=131072";
    constexpr std::int64_t largest_gap = std::int64_t{1} << 20;
    family.parameters = {{"form", "n: y = A x; t: y = A^T x", {"n", "t"}, 0, 0, false, "n"},
                         {"x", "each: an x for every A; shared: one for all", {"each", "shared"}, 0, 0, false, "each"},
                         {"update", "set: y = op(A) x; scale: y = alpha op(A) x + beta y", {"set", "scale"}, 0, 0, false, "set"},
                         {"precision", "type of matrices and vectors", {"f32", "f64"}, 0, 0, false, "f64"},
                         {"m", "rows of A", {}, 1, 512, false, ""},
                         {"n", "columns of A", {}, 1, 512, false, ""},
                         {"batch", "number of products", {}, 1, std::int64_t{1} << 30, true, ""},
                         {"gap_a", "words between the end of one A and the start of the next", {}, 0, largest_gap, true, "0"},
                         {"gap_x", "words between the end of one x and the start of the next", {}, 0, largest_gap, true, "0"},
                         {"gap_y", "words between the end of one y and the start of the next", {}, 0, largest_gap, true, "0"}};
    family.scale = [](const Problem& problem) { return scale_of_batch(problem, {"a", "x", "y"}); };
    family.range_unit = "products";
    family.range = [](const Problem& problem) { return problem.integer("batch"); };
    family.partition = [](const Problem&) { return Partition{}; };  // a product depends on its own matrix and vector alone
    family.arrays = gemv::arrays;
    set_forms(family, {{Target::cpu, gemv::cpu_forms}, {Target::cuda, gemv::cuda_forms}});
    family.reference = [](const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
        gemm::reference(gemv::as_gemm(problem), arrays, first, last);
    };
    family.workload = [](const Problem& problem, std::uint64_t seed) { return gemm::workload(gemv::as_gemm(problem), seed); };
    family.counts = gemv::counts;
    return family;
}

}  // namespace hone::inline v0_1
