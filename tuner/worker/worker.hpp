#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"

namespace hone::inline v0_1 {

/// The body of a worker process: answers one JSON line on standard output for each JSON line on
/// standard input, until that is closed.
///
/// A program that tunes calls it for its own hidden sub-command, so that it can start itself as its
/// worker (see WorkerSettings::command):
///
///     if (argc > 1 && std::string(argv[1]) == "worker") return hone::worker_main(hone::built_in_families());
///
/// It dies with its parent and leaves Ctrl-C to it. Requests, each with `"do"`:
///
/// | do | further members | answer |
/// |---|---|---|
/// | open | device ("cpu", "cuda:0"), cache (folder), processors ("0-3"), threads (both optional) | {} |
/// | load_compiler | | {}: NVRTC is loaded, for whatever GPU is to come |
/// | open_compiler | architecture ("sm_90"; empty: the CPU), limits, cache, timeout (seconds), headers ("makes"; absent: uses) | {} |
/// | problem | problem (key), seed, energy_seconds (absent: 0, none) | {"seconds", "reference_seconds"}: data and expected answers are made |
/// | place | | {}: they lie on the device |
/// | compile | config (key) | {"ok", "failure", "seconds"}: code lies in the disk cache, or why there is none |
/// | evaluate | config, incumbent (seconds, 0: none), sampling, source, finalist (0 or 1; both optional) | {"outcome", "broken"} |
/// | ceilings | | {"copy_bytes_per_second", "fma_f32", "fma_f64", "how"} |
///
/// `headers`: see HeaderUse. `broken`: the device must be opened anew, in a new process.
/// `processors`: that its kernels must run on; a worker that may use others refuses. `threads`: of
/// its kernels on the CPU, and of what it computes on the host.
/// `energy_seconds`: energy will be wanted, so the meter is looked for and the idle device metered.
/// `source`: SHA-256 that the kernel's text must have. `finalist`: it may be stored, see
/// CandidateBench.
///
/// A request that cannot be served is answered by {"error": why}, with "machine_at_fault": 1 where
/// no request of the kind can be (MachineError). What kernels or libraries print on standard output
/// goes to standard error.
int worker_main(const Families& families);

}  // namespace hone::inline v0_1
