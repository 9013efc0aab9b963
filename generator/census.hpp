#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// The members of a space, and what each constraint takes away.
struct Census {
    /// Each configuration is counted under one constraint that it breaks.
    struct Rejected {
        std::string constraint;
        std::int64_t count = 0;
        Config example;
        std::string reason;
    };
    Members members;
    std::vector<Rejected> rejected;
};

/// Once `stop` returns true, the result has only some of the space.
Census take_census(const SearchSpace& space, const std::function<bool()>& stop = {});

/// Whether a space is large, and its constraints say what they read: then it is not walked one by
/// one but cut where a constraint can first be decided.
bool cut_early(const SearchSpace& space);

/// The census of such a space. Where few members are left they are a list. Throws Error where over
/// 2^27 are left and they make no tree of moderate size.
Census early_census(const SearchSpace& space, const std::function<bool()>& stop, bool with_rejected = true);

/// The first of a product's assignments, each tunable with so many values, that keeps all rules, as
/// levels; nothing where there is none. Throws Error where there are more than 2^62 assignments,
/// and where so many beginnings that were tried did not tell.
std::optional<std::vector<std::uint16_t>> first_member(const std::vector<std::size_t>& sizes, const std::vector<std::unique_ptr<EarlyRule>>& rules,
                                                       std::size_t most_tried = std::size_t{1} << 20);

}  // namespace hone::inline v0_1
