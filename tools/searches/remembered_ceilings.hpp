#pragma once

#include <optional>
#include <string>

#include "runtime/ceilings.hpp"
#include "runtime/disk_cache.hpp"
#include "tuning_db/device.hpp"

namespace hone::tools {

/// Ceilings that an earlier run measured.
struct RememberedCeilings {
    Ceilings ceilings;
    std::string date;  ///< UTC
};

/// Those of a device with the processors that this process may use, as this version of hone
/// measures them. They lie in the cache of kernels: another driver, compiler or number of threads
/// has its own. Nothing where there are none.
std::optional<RememberedCeilings> remembered_ceilings(const DiskCache& cache, const DeviceFingerprint& device);

/// Keeps them for the next run.
void remember_ceilings(const DiskCache& cache, const DeviceFingerprint& device, const Ceilings& ceilings);

}  // namespace hone::tools
