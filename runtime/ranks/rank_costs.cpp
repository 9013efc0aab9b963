#include "runtime/ranks/rank_costs.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <vector>

namespace hone::inline v0_1 {
namespace {

template <typename Call>
double seconds_per_call(Communicator& communicator, int calls, const Call& call) {
    call();  // connections are made by the first
    communicator.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < calls; ++n) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

double exchange_seconds(Communicator& communicator, std::size_t bytes, int calls) {
    const int size = communicator.size(), next = (communicator.rank() + 1) % size, last = (communicator.rank() + size - 1) % size;
    const std::vector<std::byte> sent(2 * bytes);
    std::vector<std::byte> received(2 * bytes);
    const std::array sends{Send{next, 0, std::span(sent).first(bytes)}, Send{last, 1, std::span(sent).last(bytes)}};
    const std::array receives{Receive{last, 0, std::span(received).first(bytes)}, Receive{next, 1, std::span(received).last(bytes)}};
    return seconds_per_call(communicator, calls, [&] {
        communicator.begin_exchange(sends, receives);
        communicator.end_exchange();
    });
}

double gather_seconds(Communicator& communicator, int words) {
    const std::vector<double> own(static_cast<std::size_t>(words));
    std::vector<double> all(own.size() * static_cast<std::size_t>(communicator.size()));
    const std::vector<int> counts = equal_counts(communicator, words);
    return seconds_per_call(communicator, 200, [&] { communicator.all_gather(own, counts, all); });
}

}  // namespace

RankCosts measure_rank_costs(Communicator& communicator) {
    RankCosts costs;
    costs.message = exchange_seconds(communicator, sizeof(double), 200);
    costs.megabyte = exchange_seconds(communicator, 1 << 20, 10);
    costs.all_gather = gather_seconds(communicator, 1);
    costs.block_sums = gather_seconds(communicator, (512 + communicator.size() - 1) / communicator.size());
    return costs;
}

std::string to_string(const RankCosts& costs) {
    return fmt::format("8 bytes to a neighbour in {:.1f} us, 1 MiB in {:.0f} us; a word of each rank to all in {:.1f} us, 512 words in {:.1f} us",
                       costs.message * 1e6, costs.megabyte * 1e6, costs.all_gather * 1e6, costs.block_sums * 1e6);
}

}  // namespace hone::inline v0_1
