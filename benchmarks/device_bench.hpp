#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/timed_kernels.hpp"
#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "runtime/library.hpp"

namespace hone {

/// What the device benchmarks share: a backend, tuned kernels and the ceilings of this device,
/// measured in this run.
///
/// Environment: HONE_DEVICE and HONE_DB, as benchmarks/program.hpp reads them.
class DeviceBench {
  public:
    static DeviceBench& instance();

    Backend& backend() { return *backend_; }
    KernelLibrary& library() { return *library_; }
    const Ceilings& ceilings() const { return ceilings_; }
    /// Of STREAM's triad, a = b + s c in f64, counted as STREAM counts it (24 bytes a point,
    /// without the line that a store may fetch first): the best of several passes over arrays of
    /// four last-level caches each. On the processor; 0 elsewhere.
    double triad_bytes_per_second() const { return triad_; }

  private:
    DeviceBench();
    DiskCache cache_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<KernelLibrary> library_;
    Ceilings ceilings_;
    double triad_ = 0;
};

/// Compiles kernels on all cores: `compile` is called for every number below `count`. An Error is
/// left to the row that needs the kernel.
void compile_side_by_side(std::size_t count, const std::function<void(std::size_t)>& compile);

/// Fills device memory with random words of a precision, made once and repeated on the device
/// itself, so that gigabytes are set up in no time. Another seed has other words.
void fill_randomly(Backend& backend, const DeviceArray& array, Precision precision, std::uint64_t seed);

/// A kernel of a library as a part of a comparison.
TimedKernel timed_kernel(const std::string& name, const Kernel& kernel);

/// What a problem's arrays hold: its workload, or random words that the device repeats itself. The
/// latter take no time, where gigabytes of a workload take seconds. They are for kernels whose step
/// may be repeated with any words, and whose time does not depend on them.
enum class Words { workload, random };

/// A problem's arrays on the device, with its tuned kernel bound to them.
class DeviceProblem {
  public:
    explicit DeviceProblem(const std::string& problem, Words words = Words::workload);

    const Problem& problem() const { return problem_; }
    const Counts& counts() const { return counts_; }
    const Kernel& kernel() const { return *kernel_; }
    /// As a part of a comparison, by its family's name or another.
    TimedKernel timed(const std::string& name = "") const { return timed_kernel(name.empty() ? problem_.family() : name, *kernel_); }
    void* array(std::size_t index) const { return arrays_[index].data(); }
    void step() { bound_->launch(); }

  private:
    Problem problem_;
    Counts counts_;
    std::vector<DeviceArray> arrays_;
    std::shared_ptr<const Kernel> kernel_;
    std::unique_ptr<BoundKernel> bound_;
};

/// Median seconds of each contender's step, measured alternately so that all meet the same clocks:
/// `rounds` rounds of one sample each after one warm-up round. A sample is as many steps as make at
/// least a millisecond.
std::vector<double> measure_in_turns(Backend& backend, const std::vector<std::function<void()>>& contenders, int rounds);

/// Configurations of a problem on the same arrays, to be measured in turns. Arrays that hold
/// integers are the workload's, which is there then; any words do for the others: no time depends
/// on them.
class Contenders {
  public:
    Contenders(const Problem& problem, const std::optional<Workload>& workload, const std::vector<Config>& configs);
    /// Median seconds of each one's step, in the order of `configs` (measure_in_turns).
    std::vector<double> measure(int rounds) const;

  private:
    std::vector<DeviceArray> arrays_;
    std::vector<std::unique_ptr<BoundKernel>> kernels_;
};

/// The rival that a kernel is compared with.
struct Rival {
    double seconds = 0;                     ///< 0: there is none
    std::vector<TimedKernel> kernels = {};  ///< of hone's own, where it consists of such: as rivals
};

/// Reports the tuned kernel's median as the benchmark's time, with the counters hone always gives:
/// rates from counted work, % of the ceiling, on the processor also % of STREAM's triad, the
/// rival's time and the ratio rival / ours, marked where a kernel of either is not tuned
/// (`untuned_note`). The label says how each kernel was found: the problem's own, the rival's, and
/// `others` that were timed beside them.
void report(benchmark::State& state, const DeviceProblem& problem, double seconds, const Rival& rival, const std::vector<TimedKernel>& others = {});

}  // namespace hone
