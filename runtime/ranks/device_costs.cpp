#include "runtime/ranks/device_costs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <vector>

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t small_message = 8;
constexpr std::int64_t large_message = 4 << 20;

double seconds_per_exchange(Communicator& communicator, Backend& backend, DeviceMail& mail, std::size_t channels, std::int64_t bytes, int calls) {
    const DeviceArray message(backend, bytes);
    backend.fill(message.data(), 0, bytes);
    const std::vector sizes(channels, std::vector<DeviceMail::Sizes>{{bytes, bytes}});
    const auto exchange = [&] {
        mail.prepare(sizes);
        for (std::size_t channel = 0; channel < channels; ++channel) backend.copy(mail.out(channel, 0), message.data(), bytes);
        mail.send();
        mail.receive();
        for (std::size_t channel = 0; channel < channels; ++channel) backend.copy(message.data(), mail.in(channel, 0), bytes);
        backend.synchronise();
    };
    exchange();  // connections are made by the first
    communicator.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < calls; ++n) exchange();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

std::string text(const DeviceCosts& costs) {
    if (!costs.missing.empty()) return "none (" + costs.missing + ")";
    return fmt::format("{} bytes in {:.1f} us, {} MiB at {:.1f} GB/s", small_message, costs.message * 1e6, large_message >> 20,
                       costs.bytes_per_second * 1e-9);
}

}  // namespace

DeviceCosts measure_device_costs(Communicator& communicator, Backend& backend, MessageWay way) {
    const int size = communicator.size(), next = (communicator.rank() + 1) % size, last = (communicator.rank() + size - 1) % size;
    const std::vector<DeviceMail::Channel> channels{{next, 0, 1}, {last, 1, 0}};
    // Peers that do not work are found out, not asked for: that would end the run.
    DeviceMail mail(communicator, backend, channels, way == MessageWay::host ? MessageWay::host : MessageWay::best);
    DeviceCosts costs;
    costs.message = seconds_per_exchange(communicator, backend, mail, channels.size(), small_message, 100);
    for (std::size_t channel = 0; channel < channels.size(); ++channel)
        if (way == MessageWay::peer && mail.way(channel) != "peer") costs.missing = mail.why_not_peer(channel);
    const double lacking = all_reduce(communicator, Reduction::largest, costs.missing.empty() ? 0 : 1);
    if (lacking > 0 && costs.missing.empty()) costs.missing = "not between all ranks";
    if (lacking > 0) return costs;
    costs.bytes_per_second =
        static_cast<double>(large_message) / seconds_per_exchange(communicator, backend, mail, channels.size(), large_message, 10);
    return costs;
}

std::string device_costs_text(Communicator& communicator, Backend& backend) {
    const DeviceCosts peer = measure_device_costs(communicator, backend, MessageWay::peer),
                      host = measure_device_costs(communicator, backend, MessageWay::host);
    return fmt::format("peer: {}; host: {}", text(peer), text(host));
}

}  // namespace hone::inline v0_1
