#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

namespace spmv {

/// Rows whose products with x are summed up first; chunks are counted from the start of the range.
constexpr int chunk_rows = 32;
/// A row's partial sums: entry j of a row goes to number j modulo this.
constexpr int partial_sums = 32;

}  // namespace spmv

/// Product of a sparse matrix in compressed rows (CSR) with one to three vectors, y_c = A x_c,
/// alone or with the dot products x_c . y_c that conjugate gradients need.
///
///     csr_spmv kernel=apply_dot components=3 precision=f64 rows=274625 entries=16974593
///
/// Arrays of the application:
///  - `values` [entries]: words of the matrix, row by row.
///  - `column_indices` [entries], 32-bit integers from 0: the column of each. `row_starts` [rows + 1], 32-bit integers: where each row begins among
///    them, and where the last one ends. Rows may be empty or of any length, columns in any order. Both arrays are rounded up to whole words of the
///    problem's precision.
///  - `x`, read, and `y`, written: with vectors=split [components][columns] and [components][rows], with vectors=interleaved [columns][components]
///    and [rows][components].
///  - `dot` [components], with kernel=apply_dot: x_c . y_c / rows, for which A is square. The division keeps it of the order of the words, so that
///    one tolerance holds at every size; quotients of such sums, which are all that a solver takes of them, do not change.
///
/// A step over rows [first, last) reads all of x, and its dot products are those of these rows over
/// `rows`.
///
/// The order of all sums is fixed: the entries of a row by number modulo 32, these partial sums 16
/// apart, 8 apart and so on; rows' products with x in chunks of 32, in pairs of neighbours; chunks
/// by number modulo 1024 in double precision, these in pairs. No configuration changes a digit.
///
/// Source: N. Bell, M. Garland, Implementing Sparse Matrix-Vector Multiplication on
/// Throughput-Oriented Processors, SC 2009.
Family csr_spmv();

}  // namespace hone::inline v0_1
