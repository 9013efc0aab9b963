#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/hydro/mass_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// The part of a product by elements that leaves what each has for its nodes: the first launch of
/// fe_mass kernel=apply_dot, for CUDA.
class ElementProduct {
  public:
    /// `matrix`: weights, or vertices and density, element_nodes, corner_starts, corners.
    ElementProduct(Backend& backend, KernelSource source, std::vector<const void*> matrix);

    void launch(const void* p, const void* w, const void* dot, Stream stream = {}) const;
    int elements() const { return scalars_.front(); }
    const void* corner_starts() const { return matrix_[matrix_.size() - 2]; }
    const void* corners() const { return matrix_.back(); }
    const void* sums() const { return sums_.data(); }
    void* dot_sums() const { return dot_sums_.data(); }  ///< place for sums of the dot product, which it leaves alone

  private:
    Launch elements_;
    std::unique_ptr<Module> module_;
    std::vector<const void*> matrix_;
    std::vector<int> scalars_;
    DeviceArray sums_, dot_sums_;
};

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
    /// each block sums the parts of p . w up for itself, rather than wait for others' sums: a part
    /// for each of 1024 threads.
    static KernelSource source(const Limits& limits, int components, int rows, const KernelSource* product, int few_rows = usual_few_rows);
    static constexpr int usual_few_rows = 32768;
    /// The same but for its kernels, which are the caller's, and the arguments of their one entry.
    static KernelSource source_of(const Limits& limits, int components, int rows, const KernelSource* product, bool alone, const std::string& kernels,
                                  const std::string& entry);
    /// The block of its launches that has a row.
    static int block_of(const Limits& limits, int rows, int row);
    /// Words of what its blocks add p . w up in.
    static std::int64_t group_words(int components) { return std::int64_t{components} * 32; }

    /// `product` is null by rows, when `MassKernels::Arrays::dot` is what the product left there.
    FusedMassKernels(Backend& backend, int components, int rows, const Product* product);
    /// The same from texts of the caller's, for tests: `of_product` is that of `product`, of which
    /// only the first launch is used.
    FusedMassKernels(Backend& backend, const KernelSource& source, int rows, const Product* product, const KernelSource& of_product);

    /// An iteration, but for the product by rows. `cooperative`: by Module::launch_together.
    void iterate(const MassKernels::Arrays& arrays, bool cooperative = false, Stream stream = {}) const;

  private:
    static constexpr int most_components = 3;

    int rows_ = 0;
    Launch own_;
    std::unique_ptr<Module> module_;
    std::optional<ElementProduct> product_;
    DeviceArray dot_groups_;
};

}  // namespace hone::inline v0_1::solvers::hydro
