#pragma once

#include <array>

#include "interfaces/c/hone.h"
#include "tuning_db/database.hpp"

namespace hone::inline v0_1::languages {

/// The numbers that hone.h gives to grades, in the order of Grade: a grade that came later has a
/// later number.
inline constexpr std::array<hone_grade, grade_words.size()> grade_numbers{
    HONE_EXACT, HONE_MEASURED, HONE_NEAREST_SIZE, HONE_SAME_ARCHITECTURE, HONE_PREDICTED, HONE_OTHER_ARCHITECTURE, HONE_NONE};

constexpr hone_grade grade_of(Grade grade) {
    return grade_numbers.at(static_cast<std::size_t>(grade));
}

}  // namespace hone::inline v0_1::languages
