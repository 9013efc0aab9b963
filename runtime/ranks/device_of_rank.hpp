#pragma once

#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// The device of a rank, by `names` as make_backend takes them, several by commas. The ranks of a
/// host take them in turn. Where the name leaves it open which GPU ("best", "cuda"), the ranks of a
/// host take its GPUs in turn; several ranks may share one.
///
///     Session session(device_of_rank("best", ranks));
std::string device_of_rank(const std::string& names, const Communicator& ranks);

/// How many of these devices are for threads of this process: a host's processes share a list that
/// is longer than they are many, the next ones to each (device_of_rank gives each thread its own);
/// else one.
int devices_of_process(const std::string& names, const Communicator& processes);

/// The device of a rank, by its number among the ranks of its host.
std::string device_of_rank(const std::string& names, int rank_on_host);

}  // namespace hone::inline v0_1
