#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// What an application does around hone's kernels, in a few small ones of its own, compiled by the
/// backend's compiler for whatever device it is: values beyond walls, a source, receivers.
class EdgeKernels {
  public:
    /// The kernels' text, for tests. The same body serves both targets.
    static KernelSource source(Target target, Precision precision);

    /// Throws Error with the compiler's reason when they do not compile.
    EdgeKernels(Backend& backend, Precision precision);

    /// A field that is mirrored at the walls at both ends of an axis.
    struct Mirror {
        void* first = nullptr;  ///< the word of cell (0, 0, 0)
        int cells = 0;          ///< along the axis
        int stride = 0;         ///< words from one to the next along it
        int across = 1;         ///< cells along the first other axis
        int across_stride = 1;
        int others = 1;  ///< and along the second
        int others_stride = 1;
        int depth = 0;          ///< how many values beyond a wall
        int low = 0, high = 0;  ///< 1: even, -1: odd, 0: left as it is
        bool on_faces = false;  ///< values lie on left faces, so that one lies on each wall: there an odd field is 0
    };
    /// What `record` takes, for the same launch.
    struct Receivers {
        const void *field = nullptr, *places = nullptr;
        void* traces = nullptr;
        int count = 0;
    };
    /// A word to which a step's amount is added.
    struct Source {
        void *word = nullptr, *amounts = nullptr;  ///< null: there is none
    };
    /// Several mirrored fields, on the device, and receivers: no one may read what another one
    /// writes.
    struct Mirrors {
        DeviceArray plans;
        int items = 0;
    };
    /// `adds_apart`: no mirror reads the source's word.
    static Mirrors mirrors(Backend& backend, const std::vector<Mirror>& all, const Receivers& receivers, bool adds_apart = false);
    /// All in one launch, a value beyond a wall to a thread; receivers hear a step's, none where it
    /// is -1. The source adds its amount of it first; at most one mirror may read its word, once,
    /// and no receiver.
    void mirror(const Mirrors& of, int step, const Source& source) const;

    /// field[place] += amounts[step], on the device.
    void inject(void* field, const void* places, const void* amounts, int step, Stream stream = {}) const;
    /// traces[step * count + i] = field[places[i]].
    void record(void* field, const void* places, void* traces, int count, int step) const;

  private:
    void launch(int entry, void* field, const void* places, void* words, int items, std::vector<int> constants, Stream stream = {}) const;

    Target target_;
    std::unique_ptr<Module> module_;
    int mirror_ = 0, inject_ = 0, record_ = 0;
};

}  // namespace hone::inline v0_1::solvers::seismic
