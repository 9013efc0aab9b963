#pragma once

namespace hone::inline v0_1 {

/// Called by whoever opens a device. From then on children that this process forks are known as
/// such. Throws as expect_not_forked does.
void open_in_this_process();

/// Throws Error in a process that was forked from one that had opened a device: threads of OpenMP
/// and contexts of CUDA do not live on there, and a launch would wait for them for ever. Costs a
/// look at one word.
void expect_not_forked();

/// The same question, for what must not throw.
bool is_forked() noexcept;

}  // namespace hone::inline v0_1
