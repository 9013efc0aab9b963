#include "runtime/ranks/ordered_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

OrderedGather::OrderedGather(Communicator& communicator, std::span<const std::int64_t> own)
    : communicator_(communicator), own_(own.begin(), own.end()) {
    std::vector<double> sizes(static_cast<std::size_t>(communicator.size()));
    const auto size = static_cast<double>(own.size());
    communicator.all_gather({&size, 1}, equal_counts(communicator, 1), sizes);
    for (const double count : sizes) counts_.push_back(static_cast<int>(count));
    // Whole numbers to 2^53 are doubles, too.
    const std::vector<double> numbers(own.begin(), own.end());
    std::vector<double> all(std::accumulate(counts_.begin(), counts_.end(), std::size_t{0},
                                            [](std::size_t sum, int count) { return sum + static_cast<std::size_t>(count); }));
    communicator.all_gather(numbers, counts_, all);
    std::vector<bool> seen(all.size());
    for (const double number : all) {
        const auto item = static_cast<std::int64_t>(number);
        if (item < 0 || item >= std::ssize(all) || seen[static_cast<std::size_t>(item)])
            throw Error("items of all ranks", fmt::format("item {} is no rank's, two ranks' or beyond the last of {}", item, all.size()),
                        "give every item to one rank");
        seen[static_cast<std::size_t>(item)] = true;
        order_.push_back(item);
    }
}

void OrderedGather::check(std::size_t words, std::size_t items, int words_of_item) const {
    if (words_of_item < 1 || words != items * static_cast<std::size_t>(words_of_item))
        throw Error("gathering words of items", fmt::format("{} words", words), fmt::format("there are {} items of {} words", items, words_of_item));
}

std::vector<double> OrderedGather::ordered(std::span<const double> by_rank, int words) const {
    const auto width = static_cast<std::size_t>(words);
    std::vector<double> result(by_rank.size());
    for (std::size_t n = 0; n < order_.size(); ++n) std::copy_n(&by_rank[n * width], width, &result[static_cast<std::size_t>(order_[n]) * width]);
    return result;
}

std::vector<double> OrderedGather::all(std::span<const double> own, int words) const {
    check(own.size(), own_.size(), words);
    std::vector<int> counts = counts_;
    for (int& count : counts) count *= words;
    std::vector<double> by_rank(order_.size() * static_cast<std::size_t>(words));
    communicator_.all_gather(own, counts, by_rank);
    return ordered(by_rank, words);
}

std::vector<double> OrderedGather::on_first(std::span<const double> own, int words) const {
    check(own.size(), own_.size(), words);
    std::vector<double> by_rank;
    std::vector<Receive> receives;
    if (communicator_.rank() == 0) {
        by_rank.resize(order_.size() * static_cast<std::size_t>(words));
        std::size_t at = 0;
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const std::size_t count = static_cast<std::size_t>(counts_[static_cast<std::size_t>(rank)]) * static_cast<std::size_t>(words);
            receives.push_back({rank, 0, std::as_writable_bytes(std::span(by_rank).subspan(at, count))});
            at += count;
        }
    }
    const Send send{0, 0, std::as_bytes(own)};
    communicator_.begin_exchange({&send, 1}, receives);
    communicator_.end_exchange();
    return by_rank.empty() ? by_rank : ordered(by_rank, words);
}

std::vector<double> OrderedGather::own_of(std::span<const double> all, int words) const {
    check(all.size(), order_.size(), words);
    std::vector<double> result;
    result.reserve(own_.size() * static_cast<std::size_t>(words));
    for (const std::int64_t item : own_) {
        const auto begin = all.subspan(static_cast<std::size_t>(item) * static_cast<std::size_t>(words), static_cast<std::size_t>(words));
        result.insert(result.end(), begin.begin(), begin.end());
    }
    return result;
}

double sum_by_halves(std::span<const double> values) {
    constexpr std::size_t few = 32;  // summed one after another, which costs less than to divide them
    if (values.size() <= few) return std::accumulate(values.begin(), values.end(), 0.0);
    const std::size_t half = values.size() / 2;
    return sum_by_halves(values.first(half)) + sum_by_halves(values.subspan(half));
}

double ordered_sum(const OrderedGather& items, std::span<const double> own) {
    return sum_by_halves(items.all(own));
}

}  // namespace hone::inline v0_1
