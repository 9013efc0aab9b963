#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/grid_partition.hpp"

namespace hone::inline v0_1 {

/// Where the cells of a rank's block lie in its arrays. Strides and origin count words of
/// `word_bytes`.
struct HaloLayout {
    std::array<std::int64_t, 3> strides{1, 0, 0};  ///< from a cell to the next along x, y, z
    std::int64_t origin = 0;                       ///< words before the first own cell: what the halo takes
    int word_bytes = 8;
    int layers = 1;  ///< of cells beyond a face, for stencils that reach as far
    /// Cells near faces are done before the interior begins, not only launched ahead of it, where
    /// nothing else is asked for (edge_place in device_mail.hpp).
    bool edges_before = false;
};

/// A field of an exchange of which fewer layers travel than the layout has.
struct HaloField {
    void* data = nullptr;
    int layers = 1;  ///< those next to the faces
};

/// Brings the neighbours' cells into the layers around a rank's block of a structured grid, in two
/// halves, so that work which needs none of them runs in between. Faces only: what lies beyond
/// edges and corners is left alone, as star-shaped stencils do not read it; and so is what lies
/// beyond the grid's own ends.
///
///     HaloExchange halo(communicator, backend, partition, {.strides = {1, pitch, pitch * ny}, .origin = pitch * ny});
///     const Stream edges = halo.fork();
///     step.launch(first, first + 1, edges);
///     step.launch(last - 1, last, edges);
///     halo.begin(std::array<void*, 1>{w});   // own cells of w next to the faces are read here
///     step.launch(first + 1, last - 1);
///     halo.end();                            // w's halo is there
///
/// On a GPU everything of an exchange has a stream of its own, and the default stream goes on
/// meanwhile.
///
/// Faces whose cells lie in one piece are sent from where they are, others are packed. A GPU's go
/// by a DeviceMail: into the memory of the neighbour's GPU where that works, else through
/// page-locked host memory. A kernel packs them there, word by word: blocks that are cut along the
/// slowest axis, with whole rows (their padding, too) for cells, need none.
class HaloExchange {
  public:
    /// All must outlive it. Throws Error for a partition of another number of ranks, a block that
    /// is thinner than the layers which a neighbour wants of it, or a GPU's face that is not in one
    /// piece and has words of neither 4 nor 8 bytes.
    HaloExchange(Communicator& communicator, Backend& backend, const GridPartition& partition, const HaloLayout& layout);
    ~HaloExchange();
    HaloExchange(const HaloExchange&) = delete;
    HaloExchange& operator=(const HaloExchange&) = delete;

    /// For the cells near faces: the exchange's stream, or the default one where edges come before
    /// the interior. What is queued on it now runs after what was queued on the
    /// default stream before.
    Stream fork();
    /// All fields at once, as what was queued on the default stream and on the exchange's leaves
    /// them. Own cells within `layers` of a face must not change until `end`, nor may halos be
    /// written or read. `behind`, if given, queues work that is not sent on the stream that it
    /// gets, and may write halos before what arrives.
    void begin(std::span<void* const> fields, const std::function<void(Stream)>& behind = {});
    /// Begins an exchange of so many layers of each field. Throws Error for more than the layout's.
    void begin(std::span<const HaloField> fields, const std::function<void(Stream)>& behind = {});
    /// What is queued on the default stream from now on finds the halos, and what was queued on the
    /// exchange's stream.
    void end();

    /// Bytes that this rank sends of each field.
    std::int64_t bytes_per_field() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
