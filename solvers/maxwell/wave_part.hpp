#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/gather_exchange.hpp"
#include "runtime/ranks/mesh_partition.hpp"
#include "runtime/ranks/ordered_gather.hpp"
#include "solvers/maxwell/discretisation.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// A rank's part of a mesh with nodes: its own elements, first those with a neighbour on another
/// rank, and behind them copies of these neighbours, of which the kernels read the nodes on the
/// shared faces. One rank has the whole mesh, in its order.
///
///     const WavePart part(ranks, "maxwell_3d", 5, mesh, {}, "box");
///     WaveSolver solver(*backend, library, part, Precision::f64, StageForm::fused);
class WavePart {
  public:
    /// Called on all ranks with the same arguments, but for the own `speed` in any unit: parts are
    /// as ranks' speeds. The communicator must outlive it. Throws Error as Discretisation does, on
    /// all ranks for more of them than elements, and where ranks have different meshes or
    /// materials.
    WavePart(Communicator& communicator, const std::string& equation, int order, const Mesh& whole,
             const std::map<std::string, Material>& materials = {}, const std::string& where = "mesh", double speed = 1,
             Cutter cutter = Cutter::best);

    Communicator& ranks() const { return elements_.communicator(); }
    /// Of own elements and copies. Time step, and whether all materials are alike, are those of the
    /// whole mesh.
    const Discretisation& here() const { return here_; }
    int own() const { return own_; }                          ///< elements
    int boundary() const { return boundary_; }                ///< of these, with a neighbour on another rank
    std::int64_t whole() const { return elements_.items(); }  ///< elements of all ranks
    /// Words of all fields at all nodes of the whole mesh.
    std::int64_t unknowns() const { return whole() * here_.equation->field_count() * here_.nodes(); }
    const std::string& fingerprint() const { return fingerprint_; }  ///< of the whole mesh and its materials
    const std::vector<GatherLink>& links() const { return links_; }  ///< words of [element][field][node]
    const OrderedGather& elements() const { return elements_; }      ///< own elements among all

    /// As Discretisation has them, of the whole mesh, with the same digits on any number of ranks.
    double energy(std::span<const double> q) const;
    double error(std::span<const double> q, const Discretisation::Solution& solution, double time) const;

    /// Arrays of words [element][field][node] one after the other: of the whole mesh, on rank 0
    /// alone, from those of its parts; and of this part, its copies too, from those of the whole.
    std::vector<std::byte> whole_of(std::span<const std::byte> here, int word_bytes) const;
    std::vector<std::byte> part_of(std::span<const std::byte> whole, int word_bytes) const;

  private:
    struct Cut;
    WavePart(Communicator& communicator, const Cut& cut, const std::string& equation, int order, const Mesh& whole,
             const std::map<std::string, Material>& materials, const std::string& where);
    void link(const Cut& cut);

    Discretisation here_;
    int own_, boundary_;
    std::vector<std::int64_t> numbers_;  // of all elements here, in the whole mesh
    OrderedGather elements_;
    std::vector<GatherLink> links_;
    std::string fingerprint_;
};

}  // namespace hone::inline v0_1::solvers::maxwell
