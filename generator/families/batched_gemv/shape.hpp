#pragma once

#include <utility>
#include <vector>

#include "generator/families/batched_gemm/shape.hpp"

namespace hone::inline v0_1::gemv {

/// A product with a vector is one with a matrix of one column: what batched_gemm says of layout,
/// reference, data and counts holds here, too.
inline Problem as_gemm(const Problem& problem) {
    const bool transposed = problem.word("form") == "t";
    std::vector<Assignment> parameters{{"form", transposed ? "tn" : "nn"},
                                       {"b", problem.word("x")},
                                       {"update", problem.word("update")},
                                       {"precision", problem.word("precision")},
                                       {"m", problem.integer(transposed ? "n" : "m")},
                                       {"n", std::int64_t{1}},
                                       {"k", problem.integer(transposed ? "m" : "n")},
                                       {"batch", problem.integer("batch")},
                                       {"gap_a", problem.integer("gap_a")},
                                       {"gap_b", problem.integer("gap_x")},
                                       {"gap_c", problem.integer("gap_y")}};
    return {"batched_gemm", std::move(parameters), {"batch", "gap_a", "gap_b", "gap_c"}};
}

/// The numbers of a batched_gemv problem.
struct Shape {
    explicit Shape(const Problem& problem)
        : m(static_cast<int>(problem.integer("m"))), n(static_cast<int>(problem.integer("n"))), of(as_gemm(problem)) {}

    int m, n;  ///< of A as it lies in memory
    gemm::Shape of;

    bool transposed() const { return of.transposed_a; }
};

}  // namespace hone::inline v0_1::gemv
