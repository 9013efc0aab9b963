#pragma once

#include "interfaces/c/hone.h"
#include "tuning_db/database.hpp"

namespace hone::inline v0_1::languages {

/// A grade as hone.h numbers it, from 1.
constexpr hone_grade grade_of(Grade grade) {
    return static_cast<hone_grade>(HONE_EXACT + static_cast<int>(grade));
}

static_assert(grade_of(Grade::exact) == HONE_EXACT);
static_assert(grade_of(Grade::nearest_size) == HONE_NEAREST_SIZE);
static_assert(grade_of(Grade::same_architecture) == HONE_SAME_ARCHITECTURE);
static_assert(grade_of(Grade::predicted) == HONE_PREDICTED);
static_assert(grade_of(Grade::none) == HONE_NONE);
static_assert(grade_of(Grade::other_architecture) == HONE_OTHER_ARCHITECTURE);

}  // namespace hone::inline v0_1::languages
