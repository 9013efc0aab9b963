#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/block.hpp"
#include "generator/family.hpp"

namespace hone::inline v0_1::acoustics {

enum class Kind { pressure, velocity, step };

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// A problem of the family, with its layout. Throws Error for a 2D problem with planes, a pitch
/// that is too short, arrays that no machine holds, several time steps in one pass of anything but
/// a whole step, and such a step in place in 2D.
struct Grid {
    explicit Grid(const Problem& problem);

    Kind kind;
    int dimension;
    int half;  ///< M: half the order
    bool array_media;
    bool absorbing;  ///< there are arrays of damping factors
    bool in_place;   ///< a step that leaves its results where it found its fields
    int levels;      ///< time steps of one pass
    Precision precision;
    std::int64_t nx, ny, nz;
    std::int64_t pitch;  ///< words from one row to the next

    std::int64_t word() const { return bytes_per_word(precision); }
    const char* real() const { return precision == Precision::f32 ? "float" : "double"; }
    int reach() const { return 2 * half - 1; }  ///< cells by which a step reads further than it writes
    /// Words of a row before its first cell: whole lines of 128 bytes.
    std::int64_t left() const {
        const std::int64_t line = 128 / word();
        return (levels * reach() + line - 1) / line * line;
    }
    std::int64_t ghost() const { return 2 * half * levels; }           ///< rows and planes around the cells
    std::int64_t extension() const { return (levels - 1) * reach(); }  ///< cells around the others that the first of the time steps computes too
    std::int64_t plane() const { return (ny + 2 * ghost()) * pitch; }
    std::int64_t words() const { return dimension == 2 ? plane() : (nz + 2 * ghost()) * plane(); }
    std::int64_t points() const { return nx * ny * nz; }
    std::int64_t layers() const { return dimension == 2 ? ny : nz; }                ///< length of the range
    std::int64_t layer_stride() const { return dimension == 2 ? pitch : plane(); }  ///< words from one layer to the next
    /// Of a cell, or of a ghost of it.
    std::int64_t position(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return (dimension == 2 ? 0 : (z + ghost()) * plane()) + (y + ghost()) * pitch + left() + x;
    }
};

/// c_1 ... c_M. They follow from making the difference exact for polynomials of degree 2 M.
std::vector<double> weights(int half);

/// The velocities' names in order of axes, {"u", "v"} or {"u", "v", "w"}; their media are "bx",
/// "by", "bz".
std::vector<std::string> velocities(const Grid& grid);

/// How far beyond the cells, and their extension, an array is read: along one axis at a time.
struct Reach {
    std::array<int, 3> before{}, after{};
};

/// Contents of an array: a word for every cell, one word for all, or factors along an axis: of its
/// faces, then of its centres.
enum class Shape { cells, scalar, damping };

/// One array of a problem, and what of it is read.
struct Field {
    ArraySpec array;
    Reach reach;  ///< of cells that are read
    Shape shape = Shape::cells;
    int axis = 0;  ///< of damping factors
};
std::vector<Field> fields(const Problem& problem);

/// Words of a row of damping factors, and those before cell 0: along x as a row of the cells',
/// along the others one for each layer and its ghosts.
std::int64_t damping_words(const Grid& grid, int axis);
std::int64_t damping_start(const Grid& grid, int axis);

/// Parts of the family, each in the file of its name.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);

/// The part of a source that both targets share: arrays, scalars, operations.
KernelSource common_source(const Problem& problem, Target target);
/// The comment at the head of an emitted kernel, the same for all extents.
Block banner(const Problem& problem, const Config& config, Target target);
/// Parameters of an entry point, in the order of the arrays; `further` ones behind them.
Block parameters(const Problem& problem, const std::vector<std::string>& further = {});
/// constexpr real weight(int m): c_m, for a number that the compiler knows.
Block weight_function(const Grid& grid, const std::string& qualifiers);

}  // namespace hone::inline v0_1::acoustics
