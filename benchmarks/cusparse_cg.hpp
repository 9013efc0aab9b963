#pragma once

#include <memory>
#include <string>

#include "runtime/backend.hpp"

namespace hone {

/// The rival of poisson7's solver: conjugate gradients on cuSPARSE and cuBLAS, as NVIDIA's own
/// example of it does: a product with a matrix in CSR with 32-bit indices, two dot products, four
/// updates of vectors an iteration. All numbers stay on the device, all work is on the default
/// stream, and the host looks at the residual every so many iterations, as ours does. The faster of
/// cuSPARSE's two algorithms for CSR is taken.
///
/// The matrix is that of -Laplace on n x n x n cells with zeros beyond (diagonal 6, couplings -1);
/// it is built on the device. The libraries are loaded at run time; declarations are our own.
class CusparseCg {
  public:
    /// Nothing, with `missing` saying why, where the libraries are not to be had.
    static std::unique_ptr<CusparseCg> make(Backend& backend, Precision precision, int n, std::string& missing);
    ~CusparseCg();

    struct Solve {
        int executed = 0;
        bool converged = false;
        double seconds = 0;   ///< of the iterations
        double residual = 0;  ///< |r| / |b| of the recurrence
    };
    /// From x = 0; `b` is on the device. Tolerance 0 executes all iterations.
    Solve solve(const void* b, double tolerance, int most_iterations, int check_every);

    double bytes_per_iteration() const;  ///< that its calls must move, each by itself
    const std::string& names() const;    ///< libraries and algorithm
    const void* solution() const;        ///< on the device, without padding

  private:
    struct State;
    explicit CusparseCg(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone
