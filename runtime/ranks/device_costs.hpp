#pragma once

#include <string>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/device_mail.hpp"

namespace hone::inline v0_1 {

/// What messages between the GPUs of ranks take by one way, when they do nothing else, both ways at once with the next rank and the one before.
struct DeviceCosts {
    std::string missing;          ///< why there is no such way; empty: there is
    double message = 0;           ///< seconds of 8 bytes until this rank's device has them
    double bytes_per_second = 0;  ///< of 4 MiB, of each message
};

/// Takes some ten milliseconds. All ranks call it. `way` is peer or host.
DeviceCosts measure_device_costs(Communicator& communicator, Backend& backend, MessageWay way);

/// Of both ways: "peer: 8 bytes in 9.1 us, 4 MiB at 180.0 GB/s; host: 8 bytes in 21.0 us, 4 MiB at 12.0 GB/s".
std::string device_costs_text(Communicator& communicator, Backend& backend);

}  // namespace hone::inline v0_1
