#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solvers/hydro/fused_mass_kernels.hpp"
#include "solvers/hydro/zone_part.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// FusedMassKernels on several ranks, whose GPUs reach each other's memory (PeerArrays): an
/// iteration is the product of elements and one launch, whose blocks wait for those of all ranks
/// where sums over all rows are wanted, and which stores the next direction where other ranks have
/// copies of it. Neither hosts nor streams take part. To the same digits.
///
/// Only for ranks with a GPU each that nobody else uses: all blocks of all ranks must be there
/// together.
class FusedRankKernels {
  public:
    /// A row's place among the copies of a rank: of component c at place + c * stride.
    struct Border {
        std::int32_t row = 0, rank = 0, place = 0, stride = 0;
    };
    /// What a rank has: rows are numbered own ones first, vectors are [component][stride].
    struct Part {
        int components = 0, own = 0, stride = 0;
        int rank = 0, ranks = 0;
        std::int64_t whole_rows = 0;
        std::vector<std::int32_t> shares;  ///< numbers, of all, of own chunks of MassKernels::chunk_rows rows
        std::vector<Border> border;        ///< what others have copies of
    };
    /// Of a rank of a mesh; all ranks call it together.
    static Part part_of(const ZonePart& part);
    /// What each rank's array has, in words from its begin: the direction p, then sums of chunks of
    /// all ranks, then flags.
    struct Places {
        std::int64_t dots = 0, squares = 0, flags = 0, words = 0;
    };
    /// `stride`: the longest of any rank.
    static Places places(int components, int stride, std::int64_t whole_rows, int ranks);
    /// The own array, and where the device finds all of them; 0 at first.
    struct Memory {
        void* own = nullptr;
        const void* all = nullptr;
    };
    /// Device pointers, as MassKernels'. The direction is at the begin of the own array.
    struct Arrays {
        const void *q, *held;
        void *w, *dot, *x, *r, *scalars;
    };

    /// A block keeps its sums of dot products until all are found where they take up to
    /// `most_kept_bytes` of the 48 KB that a block may have without asking for more.
    static KernelSource source(const Limits& limits, const Part& part, const KernelSource& product, int most_kept_bytes = 40960);

    FusedRankKernels(Backend& backend, const Part& part, const Places& places, Memory memory, const FusedMassKernels::Product& product);
    /// The same for other limits, and from texts of the caller's, for tests.
    FusedRankKernels(Backend& backend, const Limits& limits, const KernelSource& source, const Part& part, const Places& places, Memory memory,
                     const FusedMassKernels::Product& product, const KernelSource& of_product);

    /// The next iteration, by all ranks alike. At its end the copies of p here are there, those of
    /// x are not. `cooperative`: by Module::launch_together.
    void iterate(const Arrays& arrays, bool cooperative = false, Stream stream = {});

  private:
    int own_rows_, stride_, rank_, ranks_, whole_rows_;
    Places places_;
    Memory memory_;
    Launch own_;
    std::unique_ptr<Module> module_;
    ElementProduct product_;
    DeviceArray groups_, shares_, border_starts_, border_;
    int epoch_ = 0;
};

}  // namespace hone::inline v0_1::solvers::hydro
