#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// The inverse of a block-diagonal matrix, such as the mass matrix of discontinuous energies: one
/// symmetric positive definite block of n x n for each zone, inverted once on the host and
/// multiplied with by the family batched_gemv.
///
///     BlockInverse inverse(*backend, library, 27, blocks);
///     inverse.apply(work, rate);
class BlockInverse {
  public:
    /// `blocks` are [zones][n][n], n at most 512. Backend and library must outlive this. Throws
    /// Error for a block that is not positive definite, naming its zone.
    /// `configuration` stands in place of what the library would choose.
    BlockInverse(Backend& backend, KernelLibrary& library, int n, std::span<const double> blocks, const std::string& configuration = "");

    /// The problem of the product with so many blocks.
    static Problem problem(int n, std::int64_t zones);

    /// x = inverse of the matrix times b; device arrays [zones][n], different ones.
    void apply(const void* b, void* x) const;

    int zones() const { return zones_; }

  private:
    int zones_;
    DeviceArray inverses_;
    std::shared_ptr<const Kernel> kernel_;
};

/// The inverse of a symmetric positive definite matrix [n][n], by its Cholesky factor; nothing
/// where it is not positive definite. Source: G. H. Golub, C. F. Van Loan, Matrix Computations, 4th
/// edition, 4.2.
std::vector<double> inverse_of(std::span<const double> block, int n);

}  // namespace hone::inline v0_1::solvers::hydro
