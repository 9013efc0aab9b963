#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cpu_products.hpp"
#include "benchmarks/device_bench.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone::benchmarks {

/// What a library's route to a volume right-hand side consists of: the derivatives, d Np x (fields
/// K), are the product of the stacked d Np x Np operator with the fields, Np x (fields K), all
/// column-major; then the chain rule at every node.
DeviceArray stacked_operator(Backend& backend, const dg::Shape& shape);
/// Of the chain rule's texts: the words that rivals/dg_chain_rule expects before it, and this file.
std::string chain_rule_text(const dg::Shape& shape);

/// That route on the processor, by each library that is there: by chunks of elements whose
/// derivatives stay in a thread's L1 or L2 cache, or one product of all threads for the
/// whole mesh. `problem` is of dg_volume.
class ProductRoute {
  public:
    ProductRoute(Backend& backend, const DeviceProblem& problem);

    std::vector<Way> ways();
    const void* rhs() const { return rhs_.data(); }
    std::int64_t words() const { return shape_.words() * shape_.elements; }

  private:
    struct Chunks;
    void chain_rule(const void* derivatives, int first, int last) const;
    void run(const Chunks& chunks, const ThreadProduct& whole, const ThreadProduct& rest) const;
    gemm::Shape product_of(int elements) const;
    const char* fields_of(int element) const;

    const DeviceProblem& problem_;
    dg::Shape shape_;
    DeviceArray rhs_;
    DeviceArray operator_;
    DeviceArray derivatives_;  ///< of the whole mesh, of which chunks use a part for each thread
    std::unique_ptr<Module> module_;
    int entry_ = 0;
};

}  // namespace hone::benchmarks
