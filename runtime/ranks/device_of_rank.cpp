#include "runtime/ranks/device_of_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone {

std::string device_of_rank(const std::string& names, const Communicator& ranks) {
    std::vector<std::string> each;
    std::istringstream stream(names);
    for (std::string name; std::getline(stream, name, ',');) each.push_back(name);
    if (each.empty()) return names;
    const auto rank = static_cast<std::size_t>(ranks.local_rank());
    const std::string& name = each[rank % each.size()];
    if (ranks.local_size() == 1 || each.size() > 1 || (name != "best" && name != "cuda" && name != "gpu")) return name;
    std::string missing;
    const std::vector<Device> gpus = backends().front().devices(missing);
    return gpus.empty() ? name : fmt::format("cuda:{}", gpus[rank % gpus.size()].index);
}

int run_on_devices(const std::string& names, Communicator& ranks, const std::function<int(Communicator&)>& work) {
    const auto devices = static_cast<int>(1 + std::count(names.begin(), names.end(), ','));
    if (ranks.size() > 1 || devices == 1) return work(ranks);
    int code = 0;
    run_thread_ranks(devices, [&](Communicator& threads) {
        const int own = work(threads);
        if (threads.rank() == 0) code = own;
    });
    return code;
}

}  // namespace hone
