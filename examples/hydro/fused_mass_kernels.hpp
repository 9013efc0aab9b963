#pragma once

#include <memory>
#include <vector>

#include "examples/hydro/mass_kernels.hpp"

namespace hone::examples::hydro {

/// What a GPU has in place of MassKernels' `update` and `direction`: both in one launch, and by
/// elements what they leave at the nodes, and p . w, in the same launch. All of its blocks are on
/// the device together and wait for each other where sums over all rows are wanted, so that a row's
/// words are read once and written once. To the same digits.
///
/// By rows an iteration is the product and `iterate`; by elements `iterate` multiplies, too.
class FusedMassKernels {
  public:
    /// The product by elements, and what it reads.
    struct Product {
        KernelSource source;              ///< of fe_mass kernel=apply_dot, for CUDA
        std::vector<const void*> matrix;  ///< weights, or vertices and density, element_nodes, corner_starts, corners
    };

    /// The text for a device of these limits; `product` is null by rows. Of up to `few_rows` rows
    /// each block sums the parts of p . w up for itself, rather than wait for others' sums: two
    /// parts for each of 1024 threads.
    static KernelSource source(const Limits& limits, int components, int rows, const KernelSource* product, int few_rows = 65536);

    /// `product` is null by rows, when `MassKernels::Arrays::dot` is what the product left there.
    FusedMassKernels(Backend& backend, int components, int rows, const Product* product);
    /// The same from texts of the caller's, for tests: `of_product` is that of `product`, of which
    /// only the first launch is used.
    FusedMassKernels(Backend& backend, const KernelSource& source, int rows, const Product* product, const KernelSource& of_product);

    /// An iteration, but for the product by rows. `cooperative`: by Module::launch_together.
    void iterate(const MassKernels::Arrays& arrays, bool cooperative = false, Stream stream = {}) const;

  private:
    void multiply(const MassKernels::Arrays& arrays, Stream stream) const;

    int rows_ = 0;
    Launch own_, elements_;
    std::unique_ptr<Module> module_, product_;
    std::vector<const void*> matrix_;
    std::vector<int> product_scalars_;
    DeviceArray element_sums_, dot_sums_, dot_groups_;
};

}  // namespace hone::examples::hydro
