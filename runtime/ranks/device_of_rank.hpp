#pragma once

#include <functional>
#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone {

/// The device of a rank, by `names` as make_backend takes them, several by commas. The ranks of a host take them in turn. Where the name leaves it
/// open which GPU ("best", "cuda"), the ranks of a host take its GPUs in turn; several ranks may share one.
///
///     Session session(device_of_rank("best", ranks));
std::string device_of_rank(const std::string& names, const Communicator& ranks);

/// Calls `work` on `ranks`, or, where these are one rank alone and several devices are named, on a rank for each of them in a thread of this process.
/// Returns the first rank's result.
///
///     return run_ranks("waves", [&](Communicator& ranks) {
///         return run_on_devices("cuda:0,cuda:1", ranks, [&](Communicator& all) { return run(all); });
///     });
int run_on_devices(const std::string& names, Communicator& ranks, const std::function<int(Communicator&)>& work);

}  // namespace hone
