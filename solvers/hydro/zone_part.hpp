#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/gather_exchange.hpp"
#include "runtime/ranks/mesh_partition.hpp"
#include "runtime/ranks/ordered_gather.hpp"
#include "solvers/hydro/discretisation.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// A rank's part of a problem on a mesh. A rank owns nodes, chunks of Discretisation::node_chunk of
/// them, and has all zones around them; what these zones do is computed on every rank that has
/// them, with the same bits. Own nodes are numbered first, in the order of the whole mesh, then
/// those of other ranks, whose accelerations come from there.
///
/// So a sum at a node is made where all of its zones are, in the order of the whole mesh: ranks
/// send values, and add nothing of each other's up.
///
///     const ZonePart part(ranks, hydro_problem("sedov", 2), 2, mesh);
///     KernelOperator on(*backend, library, part.here(), scheme, {.part = &part});
class ZonePart {
  public:
    /// Called on all ranks with the same arguments, but for the own `speed` in any unit: parts are
    /// as ranks' speeds. The communicator must outlive it. Throws Error as Discretisation does, on
    /// all ranks for more of them than chunks of nodes, and where ranks have different meshes.
    ZonePart(Communicator& communicator, const HydroProblem& problem, int order, const QuadMesh& whole, const std::string& where = "box",
             double speed = 1, Cutter cutter = Cutter::best);

    Communicator& ranks() const { return zones_.communicator(); }
    const Discretisation& here() const { return here_; }
    std::size_t own_nodes() const { return own_nodes_; }
    const std::vector<int>& own_zones() const { return own_zones_; }  ///< numbers here of those that count here in sums over zones
    std::int64_t whole_zones() const { return zones_.items(); }
    std::int64_t whole_nodes() const { return whole_nodes_; }
    const OrderedGather& chunks() const { return chunks_; }          ///< of own nodes, among all
    const std::vector<GatherLink>& links() const { return links_; }  ///< words of [component][node]

    /// Of the whole mesh, with the same digits on any number of ranks.
    double internal_energy(std::span<const double> energies) const;
    double kinetic_energy(std::span<const double> velocities) const;
    /// Of the whole mesh, on rank 0 alone; elsewhere nothing. And a part of the whole, on all.
    State whole_of(const State& here) const;
    State part_of(const State& whole) const;
    /// SHA-256 of the mesh with its masses and first state; on all ranks.
    const std::string& fingerprint() const { return fingerprint_; }

  private:
    struct Cut;
    ZonePart(Communicator& communicator, const Cut& cut, const HydroProblem& problem, int order, const QuadMesh& whole, const std::string& where);
    void link(const Cut& cut);
    std::vector<double> own_words_of_zones(std::span<const double> here, std::size_t words) const;

    Discretisation here_;
    ZoneSelection selection_;
    std::size_t own_nodes_;
    std::vector<int> own_zones_;
    std::int64_t whole_nodes_;
    OrderedGather zones_, nodes_, chunks_;
    std::vector<GatherLink> links_;
    std::string fingerprint_;
};

/// Of a problem, its mesh with masses and its first state: tells whether two runs are about the
/// same.
std::string fingerprint(std::span<const std::int32_t> zone_nodes, const State& first, std::span<const double> mass, std::span<const double> gamma);

}  // namespace hone::inline v0_1::solvers::hydro
