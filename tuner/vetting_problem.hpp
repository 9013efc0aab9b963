#pragma once

#include <cstdint>
#include <vector>

#include "generator/families.hpp"

namespace hone::inline v0_1 {

/// The problem on which candidates are verified, an application's and those of a run on processors:
/// their own, or where that has more than `most_words` words of arrays, the same with smaller
/// extents. Extents are run-time
/// arguments, so the compiled code is the same, and it must go the same ways through it: an extent
/// is reduced to its remainder modulo a power of two, plus that power, so that whole blocks, last
/// partial blocks and alignments stay what they were, for blocks of up to that many points. The
/// power is halved, slowest extent first, from 2^20 until the arrays are small enough, down to 16.
/// An extent that depends on another (a pitch) and makes the problem invalid stays as it is.
///
/// The problem itself comes back where nothing smaller would do: when the reduced problem
/// has other tunables, or its safe configuration's source differs. A candidate may still be no
/// member of the smaller problem's space: see BackgroundVetter.
Problem vetting_problem(const Families& families, const Problem& problem, const Limits& limits, std::int64_t most_words);

/// For `nearby_problems`: a plain reference takes some hundredths of a second, and grids have whole
/// blocks.
inline constexpr std::int64_t nearby_words = std::int64_t{1} << 20;

/// Problems near to this one, with at most `most_words` words of arrays, whose extents few numbers
/// divide: all primes, and all twice a prime. So they have other parities than the problem's own,
/// and last blocks that are not full. Extents are those of the problem or smaller. An extent that
/// depends on another stays as it is; a problem that cannot be made so small is left out.
std::vector<Problem> nearby_problems(const Families& families, const Problem& problem, std::int64_t most_words);

}  // namespace hone::inline v0_1
