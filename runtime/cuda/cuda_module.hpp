#pragma once

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/cuda/session.hpp"

namespace hone::inline v0_1::cuda {

/// Loads a cubin. Shared memory beyond 48 KiB is asked for at the first launch of an entry that
/// needs it. Any thread may look entries up and launch. Throws Error when the driver refuses the
/// code.
std::unique_ptr<Module> load_module(std::shared_ptr<const Session> session, const CompiledCode& code);

}  // namespace hone::inline v0_1::cuda
