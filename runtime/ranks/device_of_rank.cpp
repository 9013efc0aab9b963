#include "runtime/ranks/device_of_rank.hpp"

#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {
namespace {

std::vector<std::string> each_of(const std::string& names) {
    std::vector<std::string> each;
    std::istringstream stream(names);
    for (std::string name; std::getline(stream, name, ',');) each.push_back(name);
    return each;
}

std::string device_of_rank(const std::string& names, int rank_on_host, bool alone) {
    const std::vector<std::string> each = each_of(names);
    if (each.empty()) return names;
    const auto rank = static_cast<std::size_t>(rank_on_host);
    const std::string& name = each[rank % each.size()];
    if (alone || each.size() > 1 || (name != "best" && name != "cuda" && name != "gpu")) return name;
    std::string missing;
    const std::vector<Device> gpus = backends().front().devices(missing);
    return gpus.empty() ? name : fmt::format("cuda:{}", gpus[rank % gpus.size()].index);
}

}  // namespace

std::string device_of_rank(const std::string& names, const Communicator& ranks) {
    return device_of_rank(names, ranks.local_rank(), ranks.local_size() == 1);
}

int devices_of_process(const std::string& names, const Communicator& processes) {
    const int devices = static_cast<int>(each_of(names).size()), among = processes.local_size(), own = processes.local_rank();
    return devices <= among ? 1 : devices * (own + 1) / among - devices * own / among;
}

std::string device_of_rank(const std::string& names, int rank_on_host) {
    return device_of_rank(names, rank_on_host, false);
}

}  // namespace hone::inline v0_1
