#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Products of many small matrices of one size with vectors: y_i = A_i x_i or A_i^T x_i, or y_i =
/// alpha op(A_i) x_i + beta y_i, with m x n matrices, m and n from 1 to 512, f32 and f64. Reading
/// the matrices once is nearly all that there is to do.
///
///     batched_gemv m=81 n=8 precision=f64 batch=131072
///
/// Matrices are column-major, m x n as they lie in memory. With form=n x has n words and y has m,
/// with form=t the other way round; with x=shared all products have the same x. Everything else
/// (distances, update=scale, beta = 0) is as for batched_gemm.
///
/// Arrays of the application: `a`, `x` (read), `y` (written; with update=scale also read), and with
/// update=scale `factors` [2] = alpha, beta.
Family batched_gemv();

}  // namespace hone::inline v0_1
