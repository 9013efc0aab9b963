#include "foundation/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::array targets{
    TargetTraits{.target = Target::cuda, .name = "cuda", .has_blocks = true, .has_monitor = true, .is_numbered = true},
    TargetTraits{.target = Target::cpu, .name = "cpu", .host_memory = true, .shares_processors = true},
};

}  // namespace

const TargetTraits& traits_of(Target target) {
    return *std::find_if(targets.begin(), targets.end(), [target](const TargetTraits& row) { return row.target == target; });
}

std::string to_string(Target target) {
    return std::string(traits_of(target).name);
}

Target parse_target(std::string_view text) {
    std::vector<std::string_view> names;
    for (const TargetTraits& row : targets) {
        if (row.name == text) return row.target;
        names.push_back(row.name);
    }
    throw Error("target", fmt::format("\"{}\" is not a target", text), fmt::format("use {}", fmt::join(names, " or ")));
}

}  // namespace hone::inline v0_1
