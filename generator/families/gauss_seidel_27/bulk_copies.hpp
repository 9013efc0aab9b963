#pragma once

#include <algorithm>
#include <cstdint>

#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/limits.hpp"

namespace hone::inline v0_1::gauss_seidel {

/// Whether rows' addresses allow bulk copies.
inline bool rows_can_be_copied(const Grid& grid) {
    constexpr std::int64_t alignment = 16;
    return grid.pitch * grid.word_bytes() % alignment == 0;
}

/// What bulk copies bring of a grid's rows.
struct CopiedRows {
    explicit CopiedRows(const Grid& grid)
        : sector_words(sector_bytes / grid.word_bytes()),
          row_words(std::min((grid.nx + 2 + sector_words - 1) / sector_words * sector_words, grid.pitch)),
          pitch(grid.pitch) {}

    /// Words of so many rows, one after the other, without the padding after the last one.
    std::int64_t words_of(std::int64_t rows) const { return (rows - 1) * pitch + row_words; }

    static constexpr std::int64_t sector_bytes = 32;  // what memory is read in
    std::int64_t sector_words;
    std::int64_t row_words;  ///< of a row: whole sectors
    std::int64_t pitch;
};

}  // namespace hone::inline v0_1::gauss_seidel
