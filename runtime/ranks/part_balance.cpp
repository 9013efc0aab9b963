#include "runtime/ranks/part_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

PartBalance balance_parts(Communicator& communicator, double work, double seconds, double least_gain) {
    const std::array<double, 2> own{work, seconds};
    std::vector<double> all(2 * static_cast<std::size_t>(communicator.size()));
    communicator.all_gather(own, equal_counts(communicator, 2), all);
    double all_work = 0, known_speed = 0, slowest = 0;
    int known = 0;
    for (std::size_t rank = 0; rank < all.size() / 2; ++rank) {
        const double of_rank = all[2 * rank], took = all[2 * rank + 1];
        if (!(of_rank >= 0) || !(took >= 0) || !(of_rank + took < 1e300))
            throw Error(fmt::format("balance of rank {}", rank), fmt::format("{} of work in {} s", of_rank, took), "give numbers of at least 0");
        all_work += of_rank;
        slowest = std::max(slowest, took);
        if (of_rank > 0 && took > 0) known_speed += of_rank / took, ++known;
    }
    PartBalance result;
    if (known == 0) return result;
    const double mean = known_speed / known;
    result.speed = work > 0 && seconds > 0 ? work / seconds : mean;
    const double balanced = all_work / (mean * communicator.size());
    result.gain = slowest / balanced - 1;
    result.worth = communicator.size() > 1 && result.gain >= least_gain;
    return result;
}

}  // namespace hone::inline v0_1
