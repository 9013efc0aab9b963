#include "runtime/ranks/link_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/ranks/device_mail.hpp"
#include "runtime/ranks/nccl_ranks.hpp"

namespace hone::inline v0_1 {
namespace {

// A line of each rank, on all of them.
std::vector<std::string> lines_of_all(Communicator& communicator, const std::string& own) {
    const std::vector<char> first = gather_on_first(communicator, std::span<const char>(own + "\n"));
    std::string text(first.begin(), first.end());
    broadcast_of_first(communicator, text);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

bool is_gpu(const Backend& backend) {
    return !traits_of(backend.device().fingerprint.target).host_memory;
}

// Messages to the next rank and the one before, as they go where nobody asks for a way.
DeviceMail ring(Communicator& communicator, Backend& backend, std::size_t& channels) {
    const int size = communicator.size(), next = (communicator.rank() + 1) % size, last = (communicator.rank() + size - 1) % size;
    std::vector<DeviceMail::Channel> ends{{next, 0, 1}, {last, 1, 0}};
    if (size == 2) ends = {{next, 0, 0}};  // which have one channel
    channels = ends.size();
    return {communicator, backend, ends, MessageWay::best};
}

// How messages go to the next rank.
struct Trial {
    bool by_peers = true, by_flags = true;
};

Trial try_messages(Communicator& communicator, Backend& backend) {
    std::size_t channels = 0;
    DeviceMail mail = ring(communicator, backend, channels);
    if (!is_gpu(backend)) {
        mail.agree();
        return {false, false};
    }
    mail.prepare(std::vector(channels, std::vector<DeviceMail::Sizes>{{8, 8}}));
    return {mail.way(0) == "peer", mail.has_flags(0)};
}

std::string link_to_next(Communicator& communicator, Backend& backend, const Trial& trial) {
    std::optional<DeviceMonitor> monitor;
    if (is_gpu(backend)) monitor.emplace(backend.device().index);
    const auto next = static_cast<std::size_t>((communicator.rank() + 1) % communicator.size());
    const std::vector<std::string> hosts = lines_of_all(communicator, host_name()),
                                   places = lines_of_all(communicator, monitor ? monitor->place() : std::string());
    if (hosts[next] != host_name()) return "network";
    if (!trial.by_peers) return "host memory";
    std::string link;
    if (monitor && !places[next].empty()) link = places[next] == monitor->place() ? "one GPU" : monitor->link_to(places[next]);
    return link.empty() ? "peers" : link;
}

}  // namespace

std::string link_name(Communicator& communicator, Backend& backend) {
    std::vector<std::string> links = lines_of_all(communicator, link_to_next(communicator, backend, try_messages(communicator, backend)));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    const std::string transport = communicator.transport();
    const char* const between = transport.starts_with("threads") ? "threads" : transport.ends_with("threads") ? "processes and threads" : "processes";
    return fmt::format("{}, between {}", fmt::join(links, " + "), between);
}

std::vector<MessageWay> message_ways(Communicator& communicator, Backend& backend) {
    const auto all = [&](bool here) { return all_reduce(communicator, Reduction::smallest, here ? 1 : 0) > 0; };
    const Trial trial = try_messages(communicator, backend);
    if (!all(is_gpu(backend))) return {};
    std::vector<MessageWay> ways;
    if (all(trial.by_peers && trial.by_flags)) ways = {MessageWay::copies, MessageWay::stores, MessageWay::spin};
    if (all(trial.by_peers)) ways.push_back(MessageWay::events);
    try {
        const NcclRanks nccl(communicator, backend);
        ways.push_back(MessageWay::nccl);
    } catch (const Error&) {  // on all ranks
    }
    ways.push_back(MessageWay::host);
    return ways;
}

}  // namespace hone::inline v0_1
