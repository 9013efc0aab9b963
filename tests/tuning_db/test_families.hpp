#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::test {

/// Two small families without kernels: all that a database asks of one is its problems and its
/// search space.
///
/// `sweep precision=f32|f64 stencil=... nx=... ny=...`: tunables block, depth, held. `block` must
/// divide nx; `held=shared` needs block * depth * 64 bytes of the device's shared memory. Safe:
/// block=1,depth=1,held=caches.
/// `volume order=1..10 elements=...`: one tunable `unroll`, at most the order; formerly `columns`.
const Families& two_families();

/// The second of them alone: to it the other's records are foreign.
const Families& volume_alone();

DeviceFingerprint h200();
Limits h200_limits();

/// A complete, verified record of `problem` (as on the command line) with the configuration and the
/// median time given.
Record make_record(const std::string& problem, const std::string& config, double median, const DeviceFingerprint& device = h200());

/// Random records of `sweep` and `volume` on a few devices, every field filled; configurations are
/// members of their device's space.
class RandomRecords {
  public:
    explicit RandomRecords(std::uint64_t seed) : engine_(seed) {}
    Record operator()();
    /// One about a step that two devices share.
    Record shared();
    /// Of a step that ranks took together.
    Record exchanged();
    Energy energy(double seconds);
    std::int64_t below(std::int64_t bound);
    double uniform(double low, double high);

  private:
    std::mt19937_64 engine_;
};

}  // namespace hone::test
