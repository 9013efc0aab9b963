#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cpu_products.hpp"
#include "generator/families/csr_spmv/shape.hpp"

namespace hone::benchmarks {

/// The rival of csr_spmv on the processor: oneMKL's inspector-executor, which is told the operation
/// and that it will be called a thousand times, and optimizes its handle before it is timed. The
/// library is looked for in the file that HONE_MKL names, then by the loader's own search.
class MklSpmv {
  public:
    /// Of the arrays of the family in their order. The product goes to `y`. Nothing, with `missing`
    /// saying why, where the library is not to be had.
    static std::unique_ptr<MklSpmv> make(const spmv::Shape& shape, void* const* arrays, void* y, std::string& missing);
    ~MklSpmv();

    /// One vector after the other, each with its dot product where the problem has it; several
    /// vectors at once as a dense matrix, without dot products: where they are wanted, plain
    /// parallel sums follow.
    std::vector<Way> ways();

  private:
    struct State;
    explicit MklSpmv(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone::benchmarks
