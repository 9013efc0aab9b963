#pragma once

#include <span>
#include <string>

#include "generator/kernel_source.hpp"
#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Measured ceilings of a device. 0: not measured, because nothing can be compiled here.
struct Ceilings {
    double copy_bytes_per_second = 0;  ///< device memory to device memory, bytes read plus bytes written
    double fma_f32 = 0;                ///< floating-point operations per second of independent FMA chains in registers; an FMA is two
    double fma_f64 = 0;
    std::string how;  ///< what was measured, in one line
};

/// Bytes that measuring the ceilings of a CPU takes at most, and those of a GPU.
inline constexpr double most_ceiling_bytes = 1.5 * (1 << 30);
inline constexpr double most_gpu_ceiling_bytes = 2.25 * (1 << 30);

/// Whether a device that was idle is as fast as it becomes, by the seconds that equal pieces of its
/// work took so far, without a pause between them: those of the last fifth of a second are equal
/// within two per cent. True after a second, whatever they are. A GPU's clock rises in steps once
/// it has work: an H200's was seen at 345 MHz when it was idle, and works at up to 1980.
///
///     std::vector<double> seconds;
///     while (!is_warm(seconds)) seconds.push_back(backend.seconds({}, work));
bool is_warm(std::span<const double> seconds);

/// Measures a device through its backend, in about a second: the better of a copy kernel and the
/// driver's own copy on buffers far beyond the caches, and chains of multiply-adds. Medians. A GPU
/// is warmed up before, as `is_warm` says. Nothing else should run on the device meanwhile. Throws
/// Error when the device refuses.
///
///     const Ceilings ceilings = measure_ceilings(*backend);
///     std::string binding;
///     const double fraction = ceiling_seconds(record.counts, precision, ceilings, binding) / record.step.median;
Ceilings measure_ceilings(Backend& backend);

/// The least seconds that `counts` can take: the larger of bytes over bandwidth and operations over
/// peak. `binding` becomes "memory" or "arithmetic". A ceiling that was not measured does not bind;
/// 0 with an empty `binding` when none was.
double ceiling_seconds(const Counts& counts, Precision precision, const Ceilings& ceilings, std::string& binding);

}  // namespace hone::inline v0_1
