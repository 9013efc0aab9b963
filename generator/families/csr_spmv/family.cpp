#include "generator/families/csr_spmv/family.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "generator/families/csr_spmv/forms.hpp"

namespace hone::inline v0_1 {
namespace spmv {

Shape::Shape(const Problem& problem)
    : dotted(problem.word("kernel") == "apply_dot"),
      components(static_cast<int>(problem.integer("components"))),
      interleaved(problem.word("vectors") == "interleaved"),
      precision(problem.precision()),
      rows(problem.integer("rows")),
      columns(problem.integer("columns") == 0 ? rows : problem.integer("columns")),
      entries(problem.integer("entries")) {
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (entries / columns > rows || (entries / columns == rows && entries % columns != 0))
        throw Error(where, fmt::format("{} entries", entries), fmt::format("a matrix of {} x {} has fewer", rows, columns));
    if (dotted && rows != columns)
        throw Error(where, fmt::format("{} rows and {} columns", rows, columns),
                    "x . y takes a square matrix: leave columns out, or use kernel=apply");
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    const auto vectors = [&](const char* name, Access access, const char* of, std::int64_t count, const char* help) {
        const std::int64_t components = shape.components;
        const std::string text = shape.interleaved ? fmt::format("[{}][{}]", of, components) : fmt::format("[{}][{}]", components, of);
        return laid_out({name, access, components * count, text, help},
                        shape.interleaved ? std::vector{count, components} : std::vector{components, count});
    };
    std::vector<ArraySpec> result{
        laid_out({"values", Access::in, shape.entries, "[entries]", "words of the matrix, row by row"}, {shape.entries}),
        laid_out({"column_indices", Access::in, shape.index_words(shape.entries), "[entries] int32", "their columns"}, {shape.entries}),
        laid_out({"row_starts", Access::in, shape.index_words(shape.rows + 1), "[rows+1] int32", "where each row begins, and the last one ends"},
                 {shape.rows + 1}),
        vectors("x", Access::in, "columns", shape.columns, "what the matrix is multiplied with"),
        vectors("y", Access::out, "rows", shape.rows, "A x")};
    if (shape.dotted) result.push_back({"dot", Access::out, shape.components, fmt::format("[{}]", shape.components), "x . y / rows", {}, {1}});
    return result;
}

namespace {

Counts counts(const Problem& problem) {
    const Shape shape(problem);
    const auto entries = static_cast<double>(shape.entries);
    const auto rows = static_cast<double>(shape.rows);
    const double vectors = shape.components * (rows + static_cast<double>(shape.columns));
    return {entries, "entries", 2 * shape.components * (entries + (shape.dotted ? rows : 0)),
            entries * (shape.bytes() + 4) + 4 * (rows + 1) + vectors * shape.bytes()};
}

}  // namespace

KernelSource common_source(const Problem& problem, Target target) {
    const Shape shape(problem);
    KernelSource source;
    source.target = target;
    source.precision = shape.precision;
    source.arrays = arrays(problem);
    source.entries = {"csr_spmv"};
    if (shape.dotted) {
        source.entries.emplace_back("finish");
        source.tables = {{"chunk_sums", shape.components * shape.chunks(), {}, true}};
    }
    source.scalars = {{"rows", static_cast<int>(shape.rows)}, {"columns", static_cast<int>(shape.columns)}};
    source.executed_operations = counts(problem).operations;
    return source;
}

Block banner(const Problem& problem, const Config& config, Target target) {
    const Shape shape(problem);
    Block block;
    block.line("// csr_spmv: y = A x{}, {} component{}{}, {}", shape.dotted ? " and x . y" : "", shape.components, shape.components == 1 ? "" : "s",
               shape.components == 1 ? ""
               : shape.interleaved   ? ", interleaved"
                                     : ", one after the other",
               to_string(shape.precision));
    block.line("// hone emit {} rows=100000 entries=2700000 --target {} --config {}", problem.class_key(), to_string(target), config.key());
    block.text("// The same text serves every matrix.");
    return block.line("// per entry: {} operations, {} bytes (compulsory), without the vectors", 2 * shape.components, shape.bytes() + 4);
}

Block parameters(const Problem& problem) {
    const Shape shape(problem);
    Block block;
    block.line("const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,");
    block.line("const real* __restrict__ x, real* __restrict__ y,{}", shape.dotted ? " real* __restrict__ dot, real* __restrict__ chunk_sums," : "");
    return block.line("int rows, int columns, int first, int last");
}

Block place(const Shape& shape) {
    return Block().line("return {};", shape.components == 1 ? "row"
                                      : shape.interleaved   ? "row * components + component"
                                                            : "wide(component) * count + row");
}

Block chunk_count() {
    return Block().line("const int chunks = (last - first + chunk_rows - 1) / chunk_rows;");
}

}  // namespace spmv

Family csr_spmv() {
    constexpr std::int64_t most_rows = std::int64_t{1} << 30;
    constexpr std::int64_t most_entries = (std::int64_t{1} << 31) - 4096;  // places are 32-bit integers, and loops go a little beyond the end
    Family family;
    family.name = "csr_spmv";
    family.summary = "product of a sparse matrix in compressed rows with one to three vectors, with dot products for conjugate gradients";
    family.source = "N. Bell, M. Garland, Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors, SC 2009";
    family.example = "csr_spmv kernel=apply_dot components=3 precision=f64 rows=35937 entries=2146689";
    family.parameters = {
        {"kernel", "apply: y = A x; apply_dot: with x . y", {"apply", "apply_dot"}, 0, 0, false, "apply"},
        {"components", "vectors that the matrix is multiplied with", {}, 1, 3, false, "1"},
        {"vectors",
         "split: one component after the other; interleaved: the components of a row together",
         {"split", "interleaved"},
         0,
         0,
         false,
         "split"},
        {"precision", "of matrix and vectors", {"f32", "f64"}, 0, 0, false, "f64"},
        {"rows", "rows of the matrix", {}, 1, most_rows, true, ""},
        {"columns", "columns of the matrix; 0: as many", {}, 0, most_rows, true, "0", [](const Problem& problem) { return problem.integer("rows"); }},
        {"entries", "words of the matrix that are kept", {}, 1, most_entries, true, ""}};
    family.scale = [](const Problem& problem) {
        const auto rows = static_cast<double>(problem.integer("rows")), columns = static_cast<double>(problem.integer("columns"));
        return Scale{
            sizes_of(problem, {"entries"}),
            {{"entries a row", static_cast<double>(problem.integer("entries")) / rows}, {"columns a row", columns == 0 ? 1 : columns / rows}}};
    };
    family.range_unit = "rows";
    family.range = [](const Problem& problem) { return problem.integer("rows"); };
    family.arrays = spmv::arrays;
    set_forms(family, {{Target::cpu, spmv::cpu_forms}, {Target::cuda, spmv::cuda_forms}});
    family.reference = spmv::reference;
    family.workload = spmv::workload;
    family.counts = spmv::counts;
    return family;
}

}  // namespace hone::inline v0_1
