#pragma once

#include <memory>
#include <string>

#include "generator/families/batched_gemm/shape.hpp"

namespace hone {

/// cuBLAS's strided batched products, loaded at run time: no headers of it are needed, and where it
/// is absent `reason` says why.
class BatchedCublas {
  public:
    BatchedCublas();
    ~BatchedCublas();
    BatchedCublas(const BatchedCublas&) = delete;
    BatchedCublas& operator=(const BatchedCublas&) = delete;

    bool there() const;
    const std::string& reason() const;

    /// C = op(A) op(B) for the whole batch, on the default stream. Throws std::runtime_error when
    /// cuBLAS refuses.
    void gemm(const gemm::Shape& shape, const void* a, const void* b, void* c) const;
    /// y = op(A) x for the whole batch, where n is 1, by cuBLAS's matrix-vector product.
    void gemv(const gemm::Shape& shape, const void* a, const void* x, void* y) const;

  private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::string reason_;
};

}  // namespace hone
