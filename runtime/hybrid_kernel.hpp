#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "generator/family.hpp"
#include "runtime/library.hpp"

namespace hone::inline v0_1 {

/// One of the two devices of a shared step, with its kernel of the problem. Both must outlive what
/// is made of them.
struct HybridSide {
    Backend* backend = nullptr;
    std::shared_ptr<const Kernel> kernel;
};

/// The times of one shared step, in seconds.
struct HybridStep {
    double first = 0;     ///< of the first device's kernels; 0 where it had nothing to do
    double second = 0;    ///< of the second's
    double exchange = 0;  ///< of the exchange at the interface, after both
    double step = 0;      ///< of all, as the caller's clock saw it
};

/// Copies between the devices, since the kernel was made.
struct Transfers {
    std::int64_t bytes = 0;
    double seconds = 0;
};

/// One time step of a problem, shared by two devices: the first computes units [0, units()) of the
/// range, the second the rest. For every family that says how its step is divided
/// (Family::partition).
///
/// Bound to arrays of the application in host memory. A CPU computes in these very arrays (of two
/// CPUs the second does); any other device has copies of them, in which only the part that it works
/// on is current. So between `gather` and the next `step` the host arrays hold the result, at other
/// times just a CPU's part. After each step the devices exchange what the other one will read at
/// the interface; a change of the share moves only the units that change hands.
///
/// A GPU works while the caller's thread does the CPU's part; of two CPUs the first has a thread of
/// its own. A share of nothing or everything leaves the other device and all exchange out. The
/// result is that of a single device: bit for bit where both kernels do the same arithmetic.
///
///     HybridKernel hybrid(family, {gpu.get(), gpu_kernel}, {cpu.get(), cpu_kernel}, std::array<void*, 3>{u, f, stencil}, planes);
///     for (int i = 0; i < 40; ++i) times.push_back(hybrid.step());
///     hybrid.set_units(balancer.units());
///     ...
///     hybrid.gather();
class HybridKernel {
  public:
    /// The first device begins with `units` units. Throws Error for kernels of different problems,
    /// a family whose step cannot be shared, or another number of arrays. Keeps the pointers, not
    /// the span; uploads and prepares as `scatter` does.
    HybridKernel(const Family& family, const HybridSide& first, const HybridSide& second, std::span<void* const> arrays, std::int64_t units);
    ~HybridKernel();
    HybridKernel(HybridKernel&&) noexcept;
    HybridKernel& operator=(HybridKernel&&) noexcept;

    std::int64_t range() const;
    std::int64_t granularity() const;  ///< `set_units` takes multiples of it, or the whole range
    std::int64_t units() const;        ///< of the first device

    /// One time step on both; returns when it is done, exchange included. An error of either device
    /// is thrown here.
    HybridStep step();
    /// Gives the first device so many units. Throws Error for what is no multiple of the
    /// granularity within the range.
    void set_units(std::int64_t units);
    /// Writes the devices' parts of all results into the host arrays.
    void gather();
    /// Takes all arrays from the host anew, after the application changed some. They must be whole:
    /// gathered, or not from here; and `set_units`, which moves earlier results into them, must not
    /// come between the change and this.
    void scatter();

    const Transfers& exchanged() const;  ///< by steps
    const Transfers& moved() const;      ///< by `set_units`
    /// Bytes that change devices with one unit.
    std::int64_t bytes_per_unit() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
