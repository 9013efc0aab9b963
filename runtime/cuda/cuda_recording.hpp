#pragma once

#include <functional>
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/cuda/session.hpp"

namespace hone::inline v0_1::cuda {

/// What `work` queues on the stream that it is given, as a graph. Throws Error when the driver
/// makes none of it, and what `work` throws.
std::unique_ptr<Recording> record(std::shared_ptr<const Session> session, const std::function<void(Stream)>& work);

}  // namespace hone::inline v0_1::cuda
