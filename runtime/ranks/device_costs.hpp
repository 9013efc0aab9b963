#pragma once

#include <string>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/device_mail.hpp"

namespace hone::inline v0_1 {

/// Times of messages between the GPUs of ranks that do nothing else, for one way of sending them;
/// both ways at once with the next rank and the one before.
struct DeviceCosts {
    std::string missing;          ///< why there is no such way; empty: there is
    double message = 0;           ///< seconds of 8 bytes until this rank's device has them, which the host waits for
    double face = 0;              ///< the same of 2 MiB: a face of 512^2 in f64
    double queued_face = 0;       ///< and where the host waits for many of them at once
    double one_way = 0;           ///< the same where only every second rank sends one, and gets nothing back
    double bytes_per_second = 0;  ///< of 64 MiB, of each message
    double gathering = 0;         ///< seconds until every device has two words of every rank, where the host waits for many such at once
    double gathering_blocks = 0;  ///< the same of 256: what sums in a fixed order take
};

/// Takes some ten milliseconds. All ranks call it. `way` is copies, stores, spin, nccl or host.
DeviceCosts measure_device_costs(Communicator& communicator, Backend& backend, MessageWay way);

/// Of all ways: "copies: 8 bytes in 9.1 us, 2 MiB in 17 us (in a row 11 us, one way 8.1 us), 64 MiB
/// at 380.0 GB/s, 2 words of all in 9 us, 256 in 9.5 us; stores: ...; nccl: none (...); host: ...".
std::string device_costs_text(Communicator& communicator, Backend& backend);

}  // namespace hone::inline v0_1
