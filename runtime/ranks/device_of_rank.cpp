#include "runtime/ranks/device_of_rank.hpp"

#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "runtime/backend.hpp"

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

}  // namespace hone
