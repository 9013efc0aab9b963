#include "tests/runtime/ranks/rank_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "foundation/error.hpp"

namespace hone::test {
namespace {

void expect(bool condition, const std::string& what) {
    if (!condition) throw Error("check of a communicator", what, "mend it");
}

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

// Length and contents of the message number n between two ranks, which both of them can tell.
std::vector<std::byte> message(unsigned seed, int from, int to, int number) {
    const auto own = static_cast<unsigned>((from * 64 + to) * 64 + number) * 7919U + seed;
    constexpr std::size_t longest = 20000;  // beyond what MPI sends at once
    return random_bytes(own % 5 == 0 ? 0 : own % longest, own);
}

}  // namespace

// Everybody to everybody, itself too, several with the same tag, three times.
void check_messages(Communicator& communicator, unsigned seed) {
    constexpr int messages = 3;
    const int rank = communicator.rank();
    for (unsigned round = 0; round < 3; ++round) {
        std::vector<std::vector<std::byte>> sent, received, expected;
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (int peer = 0; peer < communicator.size(); ++peer)
            for (int number = 0; number < messages; ++number) {
                sent.push_back(message(seed + round, rank, peer, number));
                expected.push_back(message(seed + round, peer, rank, number));
                received.emplace_back(expected.back().size(), std::byte{0xAA});
            }
        std::size_t n = 0;
        for (int peer = 0; peer < communicator.size(); ++peer)
            for (int number = 0; number < messages; ++number, ++n) {
                sends.push_back({peer, number / 2, sent[n]});
                receives.push_back({peer, number / 2, received[n]});
            }
        // Between two ranks only messages of one tag keep their order.
        communicator.begin_exchange(sends, receives);
        communicator.end_exchange();
        expect(received == expected, fmt::format("rank {} has received other bytes than were sent, seed {}", rank, seed));
    }
}

void check_collectives(Communicator& communicator, unsigned seed) {
    const int rank = communicator.rank(), size = communicator.size();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 5; ++round) {
        std::vector<int> counts(static_cast<std::size_t>(size));
        for (int& count : counts) count = static_cast<int>(random() % 4 == 0 ? 0 : random() % 3000);
        std::vector<double> expected, own;
        for (int r = 0; r < size; ++r)
            for (int n = 0; n < counts[static_cast<std::size_t>(r)]; ++n) {
                // Of all kinds of bits, not-a-number among them.
                const std::uint64_t bits = random();
                double word = 0;
                std::memcpy(&word, &bits, sizeof word);
                expected.push_back(word);
                if (r == rank) own.push_back(word);
            }
        std::vector<double> all(expected.size());
        communicator.all_gather(own, counts, all);
        expect(all.empty() || std::memcmp(all.data(), expected.data(), all.size() * sizeof(double)) == 0, "gathered words differ");

        const int root = static_cast<int>(random() % static_cast<unsigned>(size));
        const std::vector<std::byte> said = random_bytes(random() % 5000, seed + 1);
        std::vector<std::byte> heard = rank == root ? said : std::vector<std::byte>(said.size());
        communicator.broadcast(heard, root);
        expect(heard == said, "broadcast bytes differ");
        const std::vector<double> first = gather_on_first(communicator, std::span<const double>(own));
        expect(rank > 0 ? first.empty()
                        : first.size() == expected.size() &&
                              (first.empty() || std::memcmp(first.data(), expected.data(), expected.size() * sizeof(double)) == 0),
               "words gathered on the first rank differ");
        communicator.barrier();
    }
    // 1 is lost beside 1e16 or not by the order: ranks in theirs.
    const double word = rank == 0 ? 1e16 : 1;
    double in_order = 1e16;
    for (int r = 1; r < size; ++r) in_order += 1;
    expect(all_reduce(communicator, Reduction::sum, word) == in_order, "the sum is not in the order of ranks");
    expect(all_reduce(communicator, Reduction::smallest, -rank) == -(size - 1), "not the smallest");
    expect(all_reduce(communicator, Reduction::largest, rank) == size - 1, "not the largest");
    expect_same_on_all_ranks(communicator, "command line", "the same");
}

}  // namespace hone::test
