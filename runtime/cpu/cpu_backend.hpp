#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// This machine's processor: one device, always there.
std::vector<Device> cpu_devices(std::string& missing);

/// The processor as a device: its memory is host memory, launches run at once on OpenMP's threads,
/// streams are ignored. Without a C++ compiler it still works, but compiles nothing
/// (`compiler().missing()` says why).
std::unique_ptr<Backend> make_cpu_backend(int index, DiskCache& cache);

}  // namespace hone::inline v0_1
