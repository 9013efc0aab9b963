#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {

/// The constants that an emitted text declares (`constexpr`, `const` with a value) and that stand
/// nowhere else in it, in the order of their declarations.
std::vector<std::string> unused_constants(std::string_view text);

/// The text without them, and without those that only they needed. What a comment beside a
/// declaration says goes with what it is about: `constexpr int rows = 2, words = 4;  // of a tile,
/// of a row` keeps the half of what stays. The program is the same.
std::string without_unused_constants(std::string text);

}  // namespace hone::inline v0_1
