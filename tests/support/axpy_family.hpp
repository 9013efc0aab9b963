#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::test {

/// The smallest family that has everything: `axpy precision=f32 n=1000` is y += 3 x for cpu and
/// cuda, in two launches (even and odd elements), with the range counting elements.
///
/// Tunables (the text for the cpu does not depend on the first two): `unroll` (1, 2, 4), `block`
/// (64, 128, 256 threads), `storage` of the factor (literal; table: a constant table; prepared: a
/// table of 3 x that the kernel makes from x), and `fault`, one of `faults`: none, wrong (adds 1
/// too much), crash (writes to address 8), hang (never ends), launch_failure (the device refuses
/// it), compile_failure; on the cpu also greedy (lays claim to sixteen terabytes, and crashes when
/// refused), exit (with 0), print, scribble (into every open file), fork, escape (fork into another
/// session), close (every file), kill and stop (its process), overwrite and underwrite (beyond the
/// end and the beginning of y), astray (far beyond the end), odd (adds 1 where n is), large (from
/// n=16384 on it leaves out two thirds of the elements, three times as fast). Faults come with
/// unroll=1, block=64 and storage=literal only. The safe configuration is unroll=1, block=64,
/// storage=literal, fault=none.
Family axpy_family(const std::vector<std::string>& faults = {"none"});

/// That family alone.
Families axpy_families(const std::vector<std::string>& faults = {"none"});

/// A verified result of one of its problems: 1 ms a step with a configuration
/// ("unroll=4,block=256"; the rest as in the safe one) on a device.
Record axpy_record(const std::string& problem, const std::string& config, const DeviceFingerprint& device);

}  // namespace hone::test
