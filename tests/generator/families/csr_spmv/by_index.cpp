#include "tests/generator/families/logical_step.hpp"

namespace hone::csr_spmv_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

std::int64_t columns_of(const Problem& problem) {
    return problem.integer(problem.integer("columns") == 0 ? "rows" : "columns");
}

double& entry(const Problem& problem, PublishedArray& vectors, std::int64_t row, std::int64_t component) {
    return problem.word("vectors") == "interleaved" ? vectors(row, component) : vectors(component, row);
}

void fill(const Problem& problem, PublishedArrays& a, test::Draw draw) {
    const std::int64_t rows = problem.integer("rows"), columns = columns_of(problem), entries = problem.integer("entries");
    std::vector<std::int64_t> starts{0, entries};
    for (std::int64_t row = 1; row < rows; ++row) starts.push_back(draw.below(entries + 1));
    std::sort(starts.begin(), starts.end());
    for (std::int64_t row = 0; row <= rows; ++row) a["row_starts"](row) = static_cast<double>(starts[static_cast<std::size_t>(row)]);
    for (std::int64_t i = 0; i < entries; ++i) {
        a["values"](i) = draw();
        a["column_indices"](i) = static_cast<double>(draw.below(columns));
    }
    for (std::int64_t component = 0; component < problem.integer("components"); ++component)
        for (std::int64_t column = 0; column < columns; ++column) entry(problem, a["x"], column, component) = draw();
}

void step(const Problem& problem, PublishedArrays& a) {
    const std::int64_t rows = problem.integer("rows");
    for (std::int64_t component = 0; component < problem.integer("components"); ++component) {
        double dot = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            double sum = 0;
            for (auto i = static_cast<std::int64_t>(a["row_starts"](row)); i < static_cast<std::int64_t>(a["row_starts"](row + 1)); ++i)
                sum += a["values"](i) * entry(problem, a["x"], static_cast<std::int64_t>(a["column_indices"](i)), component);
            entry(problem, a["y"], row, component) = sum;
            if (a.has("dot")) dot += sum * entry(problem, a["x"], row, component);
        }
        if (a.has("dot")) a["dot"](component) = dot / static_cast<double>(rows);
    }
}

}  // namespace
}  // namespace hone::csr_spmv_test::by_index

namespace hone::test {

LogicalStep csr_spmv_by_index() {
    using namespace csr_spmv_test::by_index;
    return {"csr_spmv",
            {"kernel=apply,apply_dot components=1,2,3 vectors=split,interleaved rows=37 entries=211",
             "components=2 vectors=split,interleaved rows=13 columns=29 entries=101"},
            fill,
            step};
}

}  // namespace hone::test
