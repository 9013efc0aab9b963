#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/hybrid_kernel.hpp"

namespace hone::inline v0_1 {

/// A kernel of one device with its arrays, in that device's memory. The arrays are for the whole
/// range, whatever part of it the device works on.
struct TeamPart {
    std::shared_ptr<const Kernel> kernel;
    std::vector<void*> arrays;
};

/// The arrays, by number, of which the words of the second device's units are copied between the
/// devices around each launch.
struct TeamFlow {
    std::vector<std::size_t> sent;      ///< written by other work on the first device: copied to the second, before
    std::vector<std::size_t> returned;  ///< results that other work on the first device reads: from the second, after
};

/// Launches of several kernels over the same units, shared by two devices: the first computes units
/// [0, units()), the second the rest. For applications whose data live on the first device, where
/// other work reads and writes them between launches. (HybridKernel is for a step that goes on from
/// its own results, with the application's data in host memory.)
///
///     HybridTeam team(*gpu, *cpu, zones, zones);
///     const auto points = team.add(family, {gpu_kernel, gpu_arrays}, {cpu_kernel, cpu_arrays}, {.sent = {0, 1, 2}, .returned = {8, 9}});
///     team.launch(points);
///     team.set_units(balancer.units());
///
/// Every unit is computed by one device from its own words, so the result is that of one device:
/// bit for bit where both kernels do the same arithmetic. Results that are not returned stay with
/// the device that computed them, for later launches; `set_units` moves those of the units that
/// change hands. Arrays that nothing sends are constants, of which each device has its own.
///
/// A GPU works while the caller's thread does the processor's part; of two processors the first has
/// a thread of its own. A first device that is a GPU may still be at work when `launch` returns, as
/// after any launch: its stream orders what follows. Its partner's arrays are best page-locked
/// memory (Backend::allocate_pinned of the GPU's backend), from which copies need no detour. At
/// least one of the two devices is a processor.
class HybridTeam {
  public:
    /// Both must outlive the team. Throws Error for two GPUs, or units outside [0, range].
    HybridTeam(Backend& first, Backend& second, std::int64_t range, std::int64_t units);
    ~HybridTeam();
    HybridTeam(const HybridTeam&) = delete;
    HybridTeam& operator=(const HybridTeam&) = delete;

    /// A launch of the problem that both kernels compute; keeps the pointers. Result: its number.
    /// Throws Error for kernels of different problems or another range, a family whose units need
    /// their neighbours, another number of arrays, or a flow that the arrays do not have.
    std::size_t add(const Family& family, const TeamPart& first, const TeamPart& second, const TeamFlow& flow);

    std::int64_t range() const;
    std::int64_t units() const;  ///< of the first device
    void set_units(std::int64_t units);

    /// Throws what either device throws.
    void launch(std::size_t number);
    /// Sums over the launches since this was last asked; waits for the last one. `second` has what
    /// it takes to send and to return in it, `exchange` is that alone. `step` is from the beginning
    /// of each launch to the end of both parts.
    HybridStep times();

    const Transfers& moved() const;  ///< by `set_units`

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
