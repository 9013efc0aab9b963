#pragma once

#include "generator/family.hpp"

namespace hone::test {

/// A CUDA source as a CPU source that does the same: checks the logic of emitted CUDA kernels on machines without a GPU.
///
/// The text is compiled as C++ behind tests/support/cuda_on_host.hpp; each launch of the plan becomes an entry of its own that runs the launch's
/// grid. Barriers, warp shuffles, static and dynamic shared memory work; a barrier that some thread never reaches aborts with a message. Timing,
/// coalescing and memory ordering between blocks are not modelled, and each launch runs on one core: keep the problem small.
KernelSource emulated(const KernelSource& cuda);

/// The family with its CUDA configurations of `cuda` limits, to be run by the CPU backend.
///
///     const Family family = emulated(gauss_seidel_27(), cuda_limits(90));
///     EXPECT_TRUE(verify(cpu, family, problem, family.space(problem, {}).safe(), seed).ok());
Family emulated(const Family& family, const Limits& cuda);

}  // namespace hone::test
