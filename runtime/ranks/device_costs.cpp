#include "runtime/ranks/device_costs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/ranks/device_gather.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t small_message = 8, face = 2 << 20, large_message = 64 << 20;
// Of each rank: what a plain sum over ranks needs, and one whose bits do not know how many they are
// (poisson of 512^3 on two).
constexpr int few_words = 2, sums_of_blocks = 256;

// Of `calls` calls, which the host waits for one by one or all at once.
double seconds_of(Communicator& communicator, Backend& backend, int calls, bool in_a_row, const std::function<void()>& call) {
    // Connections are made by the first; and a GPU and its links that did nothing for a while take
    // some milliseconds to wake up.
    for (int n = 0; n < calls; ++n) call();
    backend.synchronise();
    communicator.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < calls; ++n) {
        call();
        if (!in_a_row || n + 1 == calls) backend.synchronise();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

double seconds_per_exchange(Communicator& communicator, Backend& backend, DeviceMail& mail, std::size_t channels, std::int64_t bytes, int calls,
                            bool in_a_row = false, bool one_way = false) {
    const DeviceArray message(backend, bytes);
    backend.fill(message.data(), 0, bytes);
    std::vector sizes(channels, std::vector<DeviceMail::Sizes>{{bytes, bytes}});
    if (one_way) {
        // From a rank of even number to the one behind it.
        const bool sends = communicator.rank() % 2 == 0;
        for (auto& pieces : sizes) pieces = {{0, 0}};
        if (sends && communicator.rank() + 1 < communicator.size()) sizes.front().front().out = bytes;
        if (!sends) sizes.back().front().in = bytes;
    }
    std::vector<DeviceMail::Words> words;
    for (std::size_t channel = 0; channel < channels; ++channel) words.push_back({channel, 0, message.data()});
    return seconds_of(communicator, backend, calls, in_a_row, [&] {
        mail.prepare(sizes);
        mail.send(words);
        mail.receive(words);
    });
}

double seconds_per_gathering(Communicator& communicator, Backend& backend, MessageWay way, int words, int calls) {
    const std::int64_t bytes = words * static_cast<std::int64_t>(sizeof(double));
    const DeviceArray own(backend, bytes);
    backend.fill(own.data(), 0, bytes);
    DeviceGather gather(communicator, backend, std::vector<std::int64_t>(static_cast<std::size_t>(communicator.size()), bytes), way);
    return seconds_of(communicator, backend, calls, true, [&] { gather.gather(own.data()); });
}

std::string text(const DeviceCosts& costs) {
    if (!costs.missing.empty()) return "none (" + costs.missing + ")";
    return fmt::format(
        "{} bytes in {:.1f} us, {} MiB in {:.1f} us (in a row {:.1f} us, one way {:.1f} us), {} MiB at {:.1f} GB/s, {} words of all in {:.1f} us, {} "
        "in {:.1f} us",
        small_message, costs.message * 1e6, face >> 20, costs.face * 1e6, costs.queued_face * 1e6, costs.one_way * 1e6, large_message >> 20,
        costs.bytes_per_second * 1e-9, few_words, costs.gathering * 1e6, sums_of_blocks, costs.gathering_blocks * 1e6);
}

}  // namespace

DeviceCosts measure_device_costs(Communicator& communicator, Backend& backend, MessageWay way) {
    const int size = communicator.size(), next = (communicator.rank() + 1) % size, last = (communicator.rank() + size - 1) % size;
    // Two ranks have one channel.
    std::vector<DeviceMail::Channel> channels{{next, 0, 1}, {last, 1, 0}};
    if (size == 2) channels = {{next, 0, 0}};
    DeviceCosts costs;
    const bool by_peers = way == MessageWay::copies || way == MessageWay::stores || way == MessageWay::spin;
    if (by_peers) {
        // Peers that do not work are found out, not asked for: that would end the run.
        DeviceMail trial(communicator, backend, channels, MessageWay::best);
        trial.prepare(std::vector(channels.size(), std::vector<DeviceMail::Sizes>{{small_message, small_message}}));
        for (std::size_t channel = 0; channel < channels.size(); ++channel) {
            if (trial.way(channel) != "peer")
                costs.missing = trial.why_not_peer(channel);
            else if (way != MessageWay::copies && !trial.has_flags(channel))
                costs.missing = "only between processes whose streams can wait for words of memory";
        }
        const double lacking = all_reduce(communicator, Reduction::largest, costs.missing.empty() ? 0 : 1);
        if (lacking > 0 && costs.missing.empty()) costs.missing = "not between all ranks";
        if (lacking > 0) return costs;
    }
    DeviceMail mail(communicator, backend, channels, way);
    try {
        costs.message = seconds_per_exchange(communicator, backend, mail, channels.size(), small_message, 100);
    } catch (const Error& error) {  // on all ranks, where there is no NCCL
        if (way != MessageWay::nccl) throw;
        costs.missing = error.what();
        return costs;
    }
    costs.face = seconds_per_exchange(communicator, backend, mail, channels.size(), face, 50);
    costs.queued_face = seconds_per_exchange(communicator, backend, mail, channels.size(), face, 50, true);
    costs.one_way = seconds_per_exchange(communicator, backend, mail, channels.size(), face, 50, true, true);
    costs.bytes_per_second =
        static_cast<double>(large_message) / seconds_per_exchange(communicator, backend, mail, channels.size(), large_message, 5);
    costs.gathering = seconds_per_gathering(communicator, backend, way, few_words, 100);
    costs.gathering_blocks = seconds_per_gathering(communicator, backend, way, sums_of_blocks, 100);
    return costs;
}

std::string device_costs_text(Communicator& communicator, Backend& backend) {
    const auto of = [&](MessageWay way) { return text(measure_device_costs(communicator, backend, way)); };
    const std::string copies = of(MessageWay::copies), stores = of(MessageWay::stores), spin = of(MessageWay::spin), nccl = of(MessageWay::nccl),
                      host = of(MessageWay::host);
    return fmt::format("copies: {}; stores: {}; spin: {}; nccl: {}; host: {}", copies, stores, spin, nccl, host);
}

}  // namespace hone::inline v0_1
