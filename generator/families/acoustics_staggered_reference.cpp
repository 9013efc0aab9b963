#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "generator/families/acoustics_staggered_grid.hpp"
#include "generator/random_words.hpp"

// The plain loops over cells, in double precision, and random data for them. Shares the layout with the generator, and nothing else.

namespace hone::acoustics {
namespace {

constexpr std::int64_t worth_sharing = 20000;  // cells: fewer are done before the threads have begun

// The weights as printed in the literature.
std::span<const double> printed_weights(int half) {
    static constexpr std::array order_4{9.0 / 8, -1.0 / 24};
    static constexpr std::array order_8{1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168};
    static constexpr std::array order_16{41409225.0 / 33554432, -3578575.0 / 33554432, 3864861.0 / 167772160, -1254825.0 / 234881024,
                                         325325.0 / 301989888,  -61425.0 / 369098752,  7425.0 / 436207616,    -143.0 / 167772160};
    if (half == 2) return order_4;
    return half == 4 ? std::span<const double>(order_8) : std::span<const double>(order_16);
}

// A problem's arrays by role. In place, what is written is what is read.
template <typename Real>
struct Arrays {
    const Real* p = nullptr;
    std::array<const Real*, 3> velocity{};
    const Real* kappa = nullptr;
    std::array<const Real*, 3> b{};
    Real* p_new = nullptr;
    std::array<Real*, 3> velocity_new{};

    Arrays(const Grid& grid, std::span<void* const> arrays) {
        std::size_t next = 0;
        const auto take = [&] { return static_cast<Real*>(arrays[next++]); };
        const auto axes = static_cast<std::size_t>(grid.dimension);
        p = p_new = take();
        for (std::size_t axis = 0; axis < axes; ++axis) velocity[axis] = velocity_new[axis] = take();
        if (grid.kind != Kind::velocity) kappa = take();
        if (grid.kind != Kind::pressure)
            for (std::size_t axis = 0; axis < axes; ++axis) b[axis] = axis == 0 || grid.array_media ? take() : b[0];
        if (grid.kind != Kind::step) return;
        p_new = take();
        for (std::size_t axis = 0; axis < axes; ++axis) velocity_new[axis] = take();
    }
};

template <typename Real>
class Cells {
  public:
    Cells(const Grid& grid, std::span<void* const> arrays)
        : grid_(grid), arrays_(grid, arrays), weights_(printed_weights(grid.half)), stride_{1, grid.pitch, grid.plane()} {}

    // The new velocity at the left face, along `axis`, of the cell at `at`.
    double velocity(std::size_t axis, std::int64_t at) const {
        double sum = 0;
        for (std::int64_t m = 1; m <= grid_.half; ++m)
            sum += weight(m) * (value(arrays_.p, at + (m - 1) * stride_[axis]) - value(arrays_.p, at - m * stride_[axis]));
        return value(arrays_.velocity[axis], at) - value(arrays_.b[axis], grid_.array_media ? at : 0) * sum;
    }

    // The new pressure of the cell at `at`, from velocities face(axis, position).
    template <typename Face>
    double pressure(std::int64_t at, const Face& face) const {
        double sum = 0;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid_.dimension); ++axis)
            for (std::int64_t m = 1; m <= grid_.half; ++m)
                sum += weight(m) * (face(axis, at + m * stride_[axis]) - face(axis, at + (1 - m) * stride_[axis]));
        return value(arrays_.p, at) - value(arrays_.kappa, grid_.array_media ? at : 0) * sum;
    }

    void advance_velocity(std::size_t axis, std::int64_t at) const { arrays_.velocity_new[axis][at] = static_cast<Real>(velocity(axis, at)); }
    void advance_pressure(std::int64_t at) const {
        const auto face = [&](std::size_t axis, std::int64_t there) { return value(arrays_.velocity[axis], there); };
        arrays_.p_new[at] = static_cast<Real>(pressure(at, face));
    }
    // The same from new velocities, which are not rounded in between.
    void advance_pressure(std::int64_t at, const std::array<std::unique_ptr<double[]>, 3>& faces) const {
        const auto face = [&](std::size_t axis, std::int64_t there) { return faces[axis][static_cast<std::size_t>(there)]; };
        arrays_.p_new[at] = static_cast<Real>(pressure(at, face));
    }

  private:
    double weight(std::int64_t m) const { return weights_[static_cast<std::size_t>(m - 1)]; }
    static double value(const Real* array, std::int64_t at) { return static_cast<double>(array[at]); }

    const Grid& grid_;
    Arrays<Real> arrays_;
    std::span<const double> weights_;
    std::array<std::int64_t, 3> stride_;
};

// Calls visit(position) for the cells of the layers [first, last), and along one axis for some before and behind them.
template <typename Visit>
void for_cells(const Grid& grid, std::int64_t first, std::int64_t last, const Reach& reach, const Visit& visit) {
    std::array<std::int64_t, 3> begin{0, 0, 0}, end{grid.nx, grid.ny, grid.nz};
    const auto slow = static_cast<std::size_t>(grid.dimension - 1);
    begin[slow] = first, end[slow] = last;
    for (std::size_t axis = 0; axis < 3; ++axis) begin[axis] -= reach.before[axis], end[axis] += reach.after[axis];
#pragma omp parallel for collapse(2) if (grid.points() > worth_sharing)
    for (std::int64_t z = begin[2]; z < end[2]; ++z)
        for (std::int64_t y = begin[1]; y < end[1]; ++y)
            for (std::int64_t x = begin[0]; x < end[0]; ++x) visit(grid.position(x, y, z));
}

template <typename Real>
void advance(const Grid& grid, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Cells<Real> cells(grid, arrays);
    const auto axes = static_cast<std::size_t>(grid.dimension);
    if (grid.kind != Kind::pressure)
        for_cells(grid, first, last, {}, [&](std::int64_t at) {
            for (std::size_t axis = 0; axis < axes; ++axis) cells.advance_velocity(axis, at);
        });
    if (grid.kind == Kind::pressure) for_cells(grid, first, last, {}, [&](std::int64_t at) { cells.advance_pressure(at); });
    if (grid.kind != Kind::step) return;
    // All new velocities that the pressures need, also beyond the cells.
    std::array<std::unique_ptr<double[]>, 3> faces;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        faces[axis] = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(grid.words()));
        Reach reach;
        reach.before[axis] = grid.half - 1;
        reach.after[axis] = grid.half;
        for_cells(grid, first, last, reach, [&](std::int64_t at) { faces[axis][static_cast<std::size_t>(at)] = cells.velocity(axis, at); });
    }
    for_cells(grid, first, last, {}, [&](std::int64_t at) { cells.advance_pressure(at, faces); });
}

// Whether a word is read or written: a cell, or a ghost within reach along one axis.
bool used(const Grid& grid, const Reach& reach, const std::array<std::int64_t, 3>& at) {
    const std::array<std::int64_t, 3> extent{grid.nx, grid.ny, grid.nz};
    int outside = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (at[axis] >= 0 && at[axis] < extent[axis]) continue;
        if (at[axis] < -reach.before[axis] || at[axis] >= extent[axis] + reach.after[axis]) return false;
        ++outside;
    }
    return outside <= 1;
}

// Random words in [low, high) where the field is used, NaN elsewhere, so that a kernel that reads it shows it.
template <typename Real>
void fill(const Grid& grid, const Field& field, std::uint64_t seed, Real* values) {
    constexpr Real unused = std::numeric_limits<Real>::quiet_NaN();
    const bool medium = field.array.name[0] == 'k' || field.array.name[0] == 'b';
    const double low = medium ? 0.125 : -1, high = medium ? 0.25 : 1;
    const auto random = [&](std::int64_t word) { return static_cast<Real>((low + high) / 2 + (high - low) / 2 * random_word(seed, word)); };
    if (field.scalar) {
        values[0] = random(0);
        return;
    }
    const std::int64_t ghost = grid.ghost(), planes = grid.dimension == 2 ? 0 : ghost;
    const bool written_only = field.array.access == Access::out;
#pragma omp parallel for collapse(2) if (grid.points() > worth_sharing)
    for (std::int64_t z = -planes; z < grid.nz + planes; ++z)
        for (std::int64_t y = -ghost; y < grid.ny + ghost; ++y)
            for (std::int64_t x = -grid.left(); x < grid.pitch - grid.left(); ++x) {
                const std::int64_t word = grid.position(x, y, z);
                values[word] = !written_only && used(grid, field.reach, {x, y, z}) ? random(word) : unused;
            }
}

template <typename Real>
void fill(const Problem& problem, const Grid& grid, std::uint64_t seed, Workload& workload) {
    std::vector<void*> pointers;
    for (const auto& field : fields(problem)) {
        HostArray& array = workload.arrays.emplace_back(grid.precision, field.array.words);
        fill(grid, field, mixed(seed + workload.arrays.size()), array.values<Real>().data());
        workload.expected.push_back(field.array.access == Access::in ? HostArray() : array.copy());
        pointers.push_back(field.array.access == Access::in ? array.data() : workload.expected.back().data());
    }
    reference(problem, pointers, 0, grid.layers());
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Grid grid(problem);
    if (grid.precision == Precision::f32)
        advance<float>(grid, arrays, first, last);
    else
        advance<double>(grid, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    const Grid grid(problem);
    Workload workload;
    if (grid.precision == Precision::f32)
        fill<float>(problem, grid, seed, workload);
    else
        fill<double>(problem, grid, seed, workload);
    // Fields lie within 1, media within 1/4. A difference along one axis is a sum of M weighted differences, of magnitude s = 2 sum |c_m| < 3, and a
    // term of it is rounded at most 2 + M times; the product with the medium and the update add 2 more.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    const double medium = 0.25, difference = 3, m = grid.half, axes = grid.dimension;
    const double velocity = 1 + medium * difference, velocity_error = grid.kind == Kind::pressure ? 0 : (m + 4) * unit * velocity;
    const double largest = grid.kind == Kind::step ? velocity : 1;
    const double pressure_error = (axes * m + 4) * unit * (1 + medium * axes * difference * largest) + medium * axes * difference * velocity_error;
    // Twice: the reference, in f64, errs as much.
    workload.tolerance = 2 * (grid.kind == Kind::velocity ? velocity_error : pressure_error);
    workload.tolerance_reason =
        "M + 4 roundings of velocities and dimension * M + 4 of pressures, of values within 1 plus medium 1/4 times differences within 3 per axis; "
        "the step's pressure inherits the velocities' errors; doubled for the reference";
    return workload;
}

}  // namespace hone::acoustics
