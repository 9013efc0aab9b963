#include "runtime/ranks/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

void check_message(const Communicator& communicator, int peer, int tag) {
    if (peer < 0 || peer >= communicator.size())
        throw Error("exchange of messages", fmt::format("there is no rank {}", peer), fmt::format("ranks are 0 to {}", communicator.size() - 1));
    if (tag < 0 || tag > largest_tag) throw Error("exchange of messages", fmt::format("tag {}", tag), fmt::format("use 0 to {}", largest_tag));
}

}  // namespace

std::vector<int> equal_counts(const Communicator& communicator, int count) {
    std::vector<int> counts(static_cast<std::size_t>(communicator.size()));
    std::fill(counts.begin(), counts.end(), count);
    return counts;
}

void check_all_gather(const Communicator& communicator, std::size_t own, std::span<const int> counts, std::size_t all) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    if (std::ssize(counts) != communicator.size() || std::any_of(counts.begin(), counts.end(), [](int count) { return count < 0; }))
        throw Error("gathering from all ranks", fmt::format("{} counts", counts.size()),
                    fmt::format("give one for each of {} ranks, none negative", communicator.size()));
    const auto expected = std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                                          [](std::size_t sum, int count) { return sum + static_cast<std::size_t>(count); });
    if (own != static_cast<std::size_t>(counts[rank]) || all != expected)
        throw Error("gathering from all ranks", fmt::format("{} words of rank {} and place for {}", own, rank, all),
                    fmt::format("the counts ask for {} and {}", counts[rank], expected));
}

void check_exchange(const Communicator& communicator, std::span<const Send> sends, std::span<const Receive> receives) {
    for (const Send& send : sends) check_message(communicator, send.to, send.tag);
    for (const Receive& receive : receives) check_message(communicator, receive.from, receive.tag);
}

void check_length(const Communicator& communicator, const Receive& expected, std::size_t bytes) {
    if (bytes != expected.bytes.size())
        throw Error("exchange of messages",
                    fmt::format("rank {} sends {} bytes with tag {}, rank {} expects {}", expected.from, bytes, expected.tag, communicator.rank(),
                                expected.bytes.size()),
                    "sender and receiver must agree");
}

double all_reduce(Communicator& communicator, Reduction reduction, double own) {
    std::vector<double> all(static_cast<std::size_t>(communicator.size()));
    communicator.all_gather({&own, 1}, equal_counts(communicator, 1), all);
    switch (reduction) {
        case Reduction::sum:
            return std::accumulate(all.begin() + 1, all.end(), all.front());
        case Reduction::smallest:
            return *std::min_element(all.begin(), all.end());
        case Reduction::largest:
            return *std::max_element(all.begin(), all.end());
    }
    return own;
}

std::vector<std::byte> gather_on_first(Communicator& communicator, std::span<const std::byte> own) {
    std::vector<double> lengths(static_cast<std::size_t>(communicator.size()));
    const auto own_length = static_cast<double>(own.size());  // exact below 2^53
    communicator.all_gather({&own_length, 1}, equal_counts(communicator, 1), lengths);
    std::vector<std::byte> all;
    std::vector<Receive> receives;
    if (communicator.rank() == 0) {
        all.resize(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), 0.0)));
        std::copy(own.begin(), own.end(), all.begin());
        std::size_t begin = own.size();
        for (int rank = 1; rank < communicator.size(); ++rank) {
            const auto length = static_cast<std::size_t>(lengths[static_cast<std::size_t>(rank)]);
            receives.push_back({rank, 0, std::span(all).subspan(begin, length)});
            begin += length;
        }
    }
    std::vector<Send> sends;
    if (communicator.rank() > 0) sends.push_back({0, 0, own});
    communicator.begin_exchange(sends, receives);
    communicator.end_exchange();
    return all;
}

void expect_same_on_all_ranks(Communicator& communicator, const std::string& what, const std::string& text) {
    std::string first = text;
    broadcast_of_first(communicator, first);
    if (text != first)
        throw Error(fmt::format("rank {}", communicator.rank()), fmt::format("its {} is \"{}\", rank 0's is \"{}\"", what, text, first),
                    "start all ranks alike");
    communicator.barrier();
}

}  // namespace hone::inline v0_1
