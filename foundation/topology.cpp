#include "foundation/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

// The first line; empty where there is none.
std::string line_of(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// A processor's folder has a link "node3" to its NUMA node.
std::string node_of(const fs::path& processor) {
    std::error_code error;
    for (fs::directory_iterator entry(processor, error), end; !error && entry != end; entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (name.starts_with("node") && name.size() > 4) return name;
    }
    return {};
}

using Kind = std::tuple<int, std::string, std::int64_t>;  // level, kind, bytes

// By kind, the processors that share each of its caches.
void add_caches(const fs::path& processor, std::map<Kind, std::set<std::string>>& found) {
    for (int index = 0;; ++index) {
        const fs::path cache = processor / fmt::format("cache/index{}", index);
        const std::string level = line_of(cache / "level");
        if (level.empty()) return;
        std::string kind = line_of(cache / "type");
        std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        int number = 0;
        std::from_chars(level.data(), level.data() + level.size(), number);
        found[{number, kind, cache_bytes(line_of(cache / "size"))}].insert(line_of(cache / "shared_cpu_list"));
    }
}

}  // namespace

std::int64_t cache_bytes(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return 0;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    return number * (unit.starts_with('G') ? 1 << 30 : unit.starts_with('M') ? 1 << 20 : unit.starts_with('K') ? 1 << 10 : 1);
}

Topology topology_of(const std::vector<int>& processors, const fs::path& root) {
    std::set<std::string> sockets;
    std::set<std::string> nodes;
    std::map<std::pair<std::string, std::string>, int> threads_of_core;
    std::map<Kind, std::set<std::string>> caches;
    for (const int number : processors) {
        const fs::path processor = root / fmt::format("sys/devices/system/cpu/cpu{}", number);
        const std::string socket = line_of(processor / "topology/physical_package_id");
        const std::string core = line_of(processor / "topology/core_id");
        sockets.insert(socket);
        nodes.insert(node_of(processor));
        // Where the system is silent, each is a core.
        ++threads_of_core[{socket, core.empty() ? fmt::format("processor {}", number) : core}];
        add_caches(processor, caches);
    }
    Topology topology;
    topology.sockets = std::max(1, static_cast<int>(sockets.size()));
    topology.numa_nodes = std::max(1, static_cast<int>(nodes.size()));
    topology.cores = std::max(1, static_cast<int>(threads_of_core.size()));
    for (const auto& [core, threads] : threads_of_core) topology.threads_per_core = std::max(topology.threads_per_core, threads);
    for (const auto& [kind, shared] : caches) {
        const auto& [level, name, bytes] = kind;
        topology.caches.push_back({level, name, bytes, static_cast<int>(shared.size())});
    }
    return topology;
}

std::vector<std::vector<int>> shares_of(const std::vector<int>& processors, int parts, const fs::path& root) {
    // Socket, core, number; where the system is silent, the numbers alone.
    std::vector<std::tuple<std::int64_t, std::int64_t, int>> order;
    const auto read_number = [](const std::string& text) {
        std::int64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    };
    for (const int number : processors) {
        const fs::path topology = root / fmt::format("sys/devices/system/cpu/cpu{}/topology", number);
        order.emplace_back(read_number(line_of(topology / "physical_package_id")), read_number(line_of(topology / "core_id")), number);
    }
    std::sort(order.begin(), order.end());
    const std::size_t size = order.size() / static_cast<std::size_t>(parts);
    std::vector<std::vector<int>> shares(static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < size * shares.size(); ++i) shares[i / size].push_back(std::get<int>(order[i]));
    for (std::vector<int>& share : shares) std::sort(share.begin(), share.end());
    return shares;
}

}  // namespace hone::inline v0_1
