#pragma once

#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// What lies between the devices of ranks, from each to the next, by which the database knows what
/// was measured of their exchanges: "NVLink, 18 links, between processes", "PCIe, between threads",
/// "one GPU, between processes", "host memory, between processes", "network, between processes and
/// threads";
/// where it is not the same everywhere, all of it: "NVLink, 18 links + network, between processes".
/// A link of GPUs counts only where their messages go over it: else it is the hosts' memory. All
/// ranks call it, and get the same.
std::string link_name(Communicator& communicator, Backend& backend);

/// The ways of messages that work between all of these devices, apart from `best` and `peer`, which
/// stand for some of them; none between processors. All ranks call it, and get the same.
std::vector<MessageWay> message_ways(Communicator& communicator, Backend& backend);

}  // namespace hone::inline v0_1
