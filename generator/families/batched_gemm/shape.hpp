#pragma once

#include <cstdint>
#include <string>

#include "generator/problem.hpp"

namespace hone::inline v0_1::gemm {

/// The numbers of a batched_gemm problem that reference and kernels need. All matrices are
/// column-major without padding inside.
struct Shape {
    explicit Shape(const Problem& problem)
        : m(static_cast<int>(problem.integer("m"))),
          n(static_cast<int>(problem.integer("n"))),
          k(static_cast<int>(problem.integer("k"))),
          transposed_a(problem.word("form")[0] == 't'),
          transposed_b(problem.word("form")[1] == 't'),
          shared_b(problem.word("b") == "shared"),
          scaled(problem.word("update") == "scale"),
          precision(problem.precision()),
          batch(problem.integer("batch")),
          gap_a(problem.integer("gap_a")),
          gap_b(problem.integer("gap_b")),
          gap_c(problem.integer("gap_c")) {}

    int m, n, k;
    bool transposed_a, transposed_b;
    bool shared_b;  ///< one B for the whole batch
    bool scaled;    ///< C = alpha op(A) op(B) + beta C, not C = op(A) op(B)
    Precision precision;
    std::int64_t batch;
    std::int64_t gap_a, gap_b, gap_c;  ///< words between the end of one matrix and the start of the next

    std::int64_t stride_a() const { return std::int64_t{m} * k + gap_a; }
    std::int64_t stride_b() const { return shared_b ? 0 : std::int64_t{k} * n + gap_b; }
    std::int64_t stride_c() const { return std::int64_t{m} * n + gap_c; }
    // Compulsory traffic: words of every product, and words that all products share.
    std::int64_t words_of_each() const { return std::int64_t{m} * k + (scaled ? 2 : 1) * std::int64_t{m} * n + (shared_b ? 0 : std::int64_t{k} * n); }
    std::int64_t words_of_all() const { return shared_b ? std::int64_t{k} * n : 0; }
    bool packed() const { return gap_a == 0 && gap_b == 0 && gap_c == 0; }

    // Where op(A)(row, l) and op(B)(l, column) lie: row * a_row() + l * a_inner(), l * b_inner() +
    // column * b_column().
    int a_row() const { return transposed_a ? k : 1; }
    int a_inner() const { return transposed_a ? 1 : m; }
    int b_inner() const { return transposed_b ? n : 1; }
    int b_column() const { return transposed_b ? 1 : k; }

    int bytes() const { return bytes_per_word(precision); }
    /// Values in 16 bytes.
    int vector_width() const { return 16 / bytes(); }
    const char* real() const { return precision == Precision::f32 ? "float" : "double"; }
};

}  // namespace hone::inline v0_1::gemm
