#pragma once

#include <string>

#include "generator/family.hpp"

namespace hone::test {

/// A CUDA source as a CPU source that does the same: checks the logic of emitted CUDA kernels on
/// machines without a GPU.
///
/// The text is compiled as C++ behind tests/support/cuda_on_host.hpp; each launch of the plan
/// becomes an entry of its own that runs the launch's grid. Barriers, warp shuffles, static and
/// dynamic shared memory work; a barrier that some thread never reaches aborts with a message.
/// Timing, coalescing and memory ordering between blocks are not modelled, and each launch runs on
/// one core: keep the problem small.
KernelSource emulated(const KernelSource& cuda);

/// Puts includes and declarations in front of an emulated source, for what is then put into its
/// launches. Not before its first line: that takes checks of jumps away, which every header of the
/// C library would have taken over by then.
void put_in_front(KernelSource& emulated, const std::string& text);

/// An emulated source that aborts with a message when a variable's word is copied or computed with
/// before anything was written to it, which on a device may do no harm for years, and then a
/// compiler makes use of it. For texts that call their word `real`, and keep it out of warp
/// shuffles. Takes GCC 12 or newer as the host's compiler; others do not fill variables, so that
/// nothing is found.
KernelSource with_checked_words(const KernelSource& emulated);

/// The family with its CUDA configurations of `cuda` limits, to be run by the CPU backend.
///
///     const Family family = emulated(gauss_seidel_27(), cuda_limits(90));
///     EXPECT_TRUE(verify(cpu, family, problem, family.space(problem, {}).safe(), seed).ok());
Family emulated(const Family& family, const Limits& cuda);

}  // namespace hone::test
