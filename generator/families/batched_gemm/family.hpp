#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Products of many small matrices of one size: C_i = op(A_i) op(B_i), or C_i = alpha op(A_i)
/// op(B_i) + beta C_i, with m, n and k from 1 to 512, f32 and f64.
///
///     batched_gemm m=81 n=8 k=64 b=shared precision=f64 batch=32768
///
/// op(A) is m x k and op(B) k x n; `form` says which of them lie transposed in memory (nn, nt, tn,
/// tt, the letter of A first). With b=shared all products have the same B. Matrices are
/// column-major, as in BLAS, and follow each other at equal distances; `gap_a`, `gap_b` and `gap_c`
/// are the words between the end of one and the start of the next, whose content is neither read
/// nor written.
///
/// Arrays of the application: `a`, `b` (read), `c` (written; with update=scale also read), and with
/// update=scale `factors` [2] = alpha, beta. They start at multiples of 16 bytes. As in BLAS, C is
/// not read where beta is 0, so that it may hold anything.
///
/// Source: J. Dongarra and others, Design of a Batched BLAS, Numerical Linear Algebra Group,
/// Manchester 2016; the layout is that of strided batches.
Family batched_gemm();

}  // namespace hone::inline v0_1
