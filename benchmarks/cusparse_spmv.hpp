#pragma once

#include <memory>
#include <string>

#include "generator/families/csr_spmv/shape.hpp"
#include "runtime/backend.hpp"

namespace hone {

/// The rival of csr_spmv: cuSPARSE's product with a matrix in CSR with 32-bit indices, and cuBLAS's
/// dot products where the problem has them, on the default stream with all numbers on the device.
/// Of all ways that compute the same the fastest is taken: one vector after the other, or all at
/// once as a dense matrix, each with every algorithm that cuSPARSE has for CSR.
class CusparseSpmv {
  public:
    /// Of the arrays of the family in their order; the product goes to an array of the rival's own.
    /// Nothing, with `missing` saying why, where the libraries are not to be had.
    static std::unique_ptr<CusparseSpmv> make(Backend& backend, const spmv::Shape& shape, void* const* arrays, std::string& missing);
    ~CusparseSpmv();

    void multiply();
    const void* y() const;
    const std::string& name() const;  ///< the way that was chosen

  private:
    struct State;
    explicit CusparseSpmv(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone
