#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The devices of a run of `hone tune`, all of one kind.
struct TuningDevices {
    Device device;                    ///< what is tuned for, and the first of them
    std::vector<WorkerPlace> places;  ///< of the workers; none: `device` alone, with all processors of this process
    std::optional<Team> team;         ///< of a CPU kernel, where it is not all processors of this process
};

/// The devices of a list: "cuda:0,cuda:1", "cuda:all", "cpu,cpu". A GPU stands there once. A CPU
/// stands there as often as it is to be divided: "cpu,cpu" are halves of the processors, whole
/// cores as far as it goes, and what is tuned for is a process with half of the threads. Throws
/// Error for a list that makes no sense, for GPUs of several kinds, and for more parts than
/// processors; MissingError for a device that is not here.
TuningDevices find_tuning_devices(const std::string& list);

}  // namespace hone::tools
