#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "foundation/random_words.hpp"
#include "foundation/repeated_words.hpp"
#include "generator/families/acoustics_staggered/grid.hpp"

// The plain loops over cells, in double precision, and random data for them. Shares the layout with
// the generator, and nothing else.

namespace hone::inline v0_1::acoustics {
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
    std::array<const Real*, 3> damping{};
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
        for (std::size_t axis = 0; grid.absorbing && axis < axes; ++axis) damping[axis] = take();
        if (grid.kind != Kind::step || grid.in_place) return;
        p_new = take();
        for (std::size_t axis = 0; axis < axes; ++axis) velocity_new[axis] = take();
    }
};

// Neighbouring cells of a row along x: so few that a sum for each of them stays in the nearest
// cache.
constexpr std::int64_t longest_stretch = 512;
struct Stretch {
    std::int64_t x, y, z;  // the first
    std::int64_t cells;
};
using Words = std::array<double, longest_stretch>;

// Old and new values of a time step: of any numbers, so that those between the steps of a pass are
// not rounded.
template <typename From>
struct State {
    From* p;
    std::array<From*, 3> velocity;
};

template <typename Real>
class Cells {
  public:
    Cells(const Grid& grid, const Arrays<Real>& arrays)
        : grid_(grid), arrays_(arrays), weights_(printed_weights(grid.half)), stride_{1, grid.pitch, grid.plane()} {}

    // The new velocities at the left faces of the cells along `axis`.
    template <typename From, typename To>
    void velocity(const State<From>& old, std::size_t axis, const Stretch& cells, To* next) const {
        const std::int64_t at = grid_.position(cells.x, cells.y, cells.z);
        Words sum, medium, factor;
        set(cells, 0, sum);
        add_differences(old.p + at, stride_[axis], cells, sum);
        take_medium(arrays_.b[axis], cells, medium);
        set(cells, 1, factor);
        damp(axis, cells, 0, factor);
        const From* const velocity = old.velocity[axis] + at;
        To* const result = next + at;
#pragma omp simd
        for (std::int64_t i = 0; i < cells.cells; ++i)
            result[i] = static_cast<To>(factor[word(i)] * (static_cast<double>(velocity[i]) - medium[word(i)] * sum[word(i)]));
    }

    // The new pressures of the cells, from new velocities.
    template <typename From, typename Faces, typename To>
    void pressure(const State<From>& old, const State<Faces>& faces, const Stretch& cells, To* next) const {
        const std::int64_t at = grid_.position(cells.x, cells.y, cells.z);
        Words sum, medium, factor;
        set(cells, 0, sum);
        set(cells, 1, factor);
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid_.dimension); ++axis) {
            add_differences(faces.velocity[axis] + at + stride_[axis], stride_[axis], cells, sum);
            damp(axis, cells, 1, factor);
        }
        take_medium(arrays_.kappa, cells, medium);
        const From* const pressure = old.p + at;
        To* const result = next + at;
#pragma omp simd
        for (std::int64_t i = 0; i < cells.cells; ++i)
            result[i] = static_cast<To>(factor[word(i)] * (static_cast<double>(pressure[i]) - medium[word(i)] * sum[word(i)]));
    }

  private:
    static std::size_t word(std::int64_t i) {
        return static_cast<std::size_t>(i);
    }
    static void set(const Stretch& cells, double value, Words& words) {
        std::fill_n(words.begin(), cells.cells, value);
    }

    // sum[i] += c_1 (a[i] - a[i - stride]) + c_2 (a[i + stride] - a[i - 2 stride]) + ...
    template <typename From>
    void add_differences(const From* a, std::int64_t stride, const Stretch& cells, Words& sum) const {
        for (std::int64_t m = 1; m <= grid_.half; ++m) {
            const double weight = weights_[word(m - 1)];
            const From *ahead = a + (m - 1) * stride, *behind = a - m * stride;
#pragma omp simd
            for (std::int64_t i = 0; i < cells.cells; ++i) sum[word(i)] += weight * (static_cast<double>(ahead[i]) - static_cast<double>(behind[i]));
        }
    }

    void take_medium(const Real* medium, const Stretch& cells, Words& words) const {
        if (grid_.array_media)
            std::copy_n(medium + grid_.position(cells.x, cells.y, cells.z), cells.cells, words.begin());
        else
            set(cells, medium[0], words);
    }

    // Times the damping factors along an axis: of faces (row 0) or of centres (row 1).
    void damp(std::size_t axis, const Stretch& cells, std::int64_t row, Words& factor) const {
        if (!grid_.absorbing) return;
        const int number = static_cast<int>(axis);
        const Real* const along = arrays_.damping[axis] + row * damping_words(grid_, number) + damping_start(grid_, number);
        for (std::int64_t i = 0; i < cells.cells; ++i)
            factor[word(i)] *= static_cast<double>(axis == 0 ? along[cells.x + i] : along[axis == 1 ? cells.y : cells.z]);
    }

    const Grid& grid_;
    const Arrays<Real>& arrays_;
    std::span<const double> weights_;
    std::array<std::int64_t, 3> stride_;
};

// Calls visit(stretch) for the cells of the layers [first, last) and `extension` around them, and
// along one axis for some before and behind.
template <typename Visit>
void for_cells(const Grid& grid, std::int64_t first, std::int64_t last, std::int64_t extension, const Reach& reach, const Visit& visit) {
    std::array<std::int64_t, 3> begin{0, 0, 0}, end{grid.nx, grid.ny, grid.nz};
    const auto slow = static_cast<std::size_t>(grid.dimension - 1);
    begin[slow] = first, end[slow] = last;
    for (std::size_t axis = 0; axis <= slow; ++axis) begin[axis] -= extension + reach.before[axis], end[axis] += extension + reach.after[axis];
#pragma omp parallel for collapse(2) if (grid.points() > worth_sharing)
    for (std::int64_t z = begin[2]; z < end[2]; ++z)
        for (std::int64_t y = begin[1]; y < end[1]; ++y)
            for (std::int64_t x = begin[0]; x < end[0]; x += longest_stretch) visit(Stretch{x, y, z, std::min(longest_stretch, end[0] - x)});
}

// Values of a time step in double precision, wherever an array of the problem has a word.
class Unrounded {
  public:
    explicit Unrounded(const Grid& grid) : p_(Precision::f64, grid.words()) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dimension); ++axis) velocity_[axis] = HostArray(Precision::f64, grid.words());
    }
    State<double> state() {
        State<double> state{p_.values<double>().data(), {}};
        for (std::size_t axis = 0; axis < velocity_.size(); ++axis) state.velocity[axis] = velocity_[axis].values<double>().data();
        return state;
    }

  private:
    HostArray p_;
    std::array<HostArray, 3> velocity_;
};

// One time step of the cells and some around them, with all the new velocities that their pressures
// need.
template <typename Real, typename From>
void advance_unrounded(const Grid& grid, const Cells<Real>& cells, const State<From>& old, const State<double>& next, std::int64_t first,
                       std::int64_t last, std::int64_t extension) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dimension); ++axis) {
        Reach reach;
        reach.before[axis] = grid.half - 1;
        reach.after[axis] = grid.half;
        for_cells(grid, first, last, extension, reach, [&](const Stretch& stretch) { cells.velocity(old, axis, stretch, next.velocity[axis]); });
    }
    for_cells(grid, first, last, extension, {}, [&](const Stretch& stretch) { cells.pressure(old, next, stretch, next.p); });
}

// In place, not rounded before the last time step. Around the cells stays what the last step that
// came there made of it.
template <typename Real>
void advance_in_place(const Grid& grid, const Arrays<Real>& arrays, const Cells<Real>& cells, std::int64_t first, std::int64_t last) {
    Unrounded unrounded(grid);
    const State<double> state = unrounded.state();
    std::vector<std::pair<Real*, double*>> fields{{arrays.p_new, state.p}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dimension); ++axis)
        fields.emplace_back(arrays.velocity_new[axis], state.velocity[axis]);
    for (const auto& [rounded, values] : fields) std::copy_n(rounded, grid.words(), values);
    for (int level = 0; level < grid.levels; ++level)
        advance_unrounded(grid, cells, state, state, first, last, (grid.levels - 1 - level) * grid.reach());
    for (const auto& [rounded, values] : fields)
        std::transform(values, values + grid.words(), rounded, [](double value) { return static_cast<Real>(value); });
}

template <typename Real>
void advance(const Grid& grid, std::span<void* const> pointers, std::int64_t first, std::int64_t last) {
    const Arrays<Real> arrays(grid, pointers);
    const Cells<Real> cells(grid, arrays);
    const State<const Real> old{arrays.p, arrays.velocity};
    const auto axes = static_cast<std::size_t>(grid.dimension);
    if (grid.kind == Kind::velocity)
        for_cells(grid, first, last, 0, {}, [&](const Stretch& stretch) {
            for (std::size_t axis = 0; axis < axes; ++axis) cells.velocity(old, axis, stretch, arrays.velocity_new[axis]);
        });
    if (grid.kind == Kind::pressure)
        for_cells(grid, first, last, 0, {}, [&](const Stretch& stretch) { cells.pressure(old, old, stretch, arrays.p_new); });
    if (grid.kind != Kind::step) return;
    if (grid.in_place) return advance_in_place(grid, arrays, cells, first, last);
    Unrounded one(grid);
    std::optional<Unrounded> other;
    advance_unrounded(grid, cells, old, one.state(), first, last, grid.extension());
    for (int level = 1; level < grid.levels; ++level) {
        if (!other) other.emplace(grid);
        advance_unrounded(grid, cells, one.state(), other->state(), first, last, (grid.levels - 1 - level) * grid.reach());
        std::swap(one, *other);
    }
    for_cells(grid, first, last, 0, {}, [&, next = one.state()](const Stretch& stretch) {
        const std::int64_t at = grid.position(stretch.x, stretch.y, stretch.z);
        const auto round = [&](const double* from, Real* to) {
            std::transform(from + at, from + at + stretch.cells, to + at, [](double value) { return static_cast<Real>(value); });
        };
        round(next.p, arrays.p_new);
        for (std::size_t axis = 0; axis < axes; ++axis) round(next.velocity[axis], arrays.velocity_new[axis]);
    });
}

// The words of a row that are read or written, from the first to behind the last: of cells, their
// extension, and ghosts within reach of these along one axis.
std::pair<std::int64_t, std::int64_t> used_part(const Grid& grid, const Reach& reach, std::int64_t y, std::int64_t z) {
    const std::int64_t extension = grid.extension();
    // 0: a cell or its extension, 1: within reach of these, 2: further away.
    const auto distance = [&](std::int64_t at, std::int64_t begin, std::int64_t end, std::size_t axis) {
        if (at >= begin && at < end) return 0;
        return at >= begin - reach.before[axis] && at < end + reach.after[axis] ? 1 : 2;
    };
    const std::int64_t deep = grid.dimension == 3 ? extension : 0;
    const int outside = distance(y, -extension, grid.ny + extension, 1) + distance(z, -deep, grid.nz + deep, 2);
    if (outside > 1) return {0, 0};
    if (outside == 1) return {-extension, grid.nx + extension};
    return {-extension - reach.before[0], grid.nx + extension + reach.after[0]};
}

// The largest medium of the random data: media times differences shall not let a field grow much in
// the time steps of a pass.
double largest_medium(const Grid& grid) {
    return 0.25 / grid.levels;
}

// Factors of the faces and centres that a kernel needs, NaN elsewhere.
template <typename Real>
void fill_damping(const Grid& grid, const Field& field, std::uint64_t seed, Real* values) {
    const std::int64_t words = damping_words(grid, field.axis), start = damping_start(grid, field.axis), extension = grid.extension();
    const std::array extents{grid.nx, grid.ny, grid.nz};
    const std::int64_t end = extents[static_cast<std::size_t>(field.axis)] + extension;
    const bool step = grid.kind == Kind::step;
    for (std::int64_t row = 0; row < 2; ++row) {
        const bool faces = row == 0, read = grid.kind != (faces ? Kind::pressure : Kind::velocity);
        const std::int64_t before = faces && step ? grid.half - 1 : 0, after = faces && step ? grid.half : 0;
        for (std::int64_t i = -start; i < words - start; ++i) {
            const std::int64_t word = row * words + start + i;
            const bool needed = read && i >= -extension - before && i < end + after;
            values[word] = needed ? static_cast<Real>(0.75 + 0.25 * random_word(seed, word)) : std::numeric_limits<Real>::quiet_NaN();
        }
    }
}

// Random words in [low, high) where the field is used, NaN elsewhere, so that a kernel that reads
// it shows it.
template <typename Real>
void fill(const Grid& grid, const Field& field, std::uint64_t seed, Real* values) {
    if (field.shape == Shape::damping) return fill_damping(grid, field, seed, values);
    constexpr Real unused = std::numeric_limits<Real>::quiet_NaN();
    const bool medium = field.array.name[0] == 'k' || field.array.name[0] == 'b';
    const double high = medium ? largest_medium(grid) : 1, low = medium ? high / 2 : -1;
    const auto random = [&](std::int64_t word) { return (low + high) / 2 + (high - low) / 2 * random_word(seed, word); };
    if (field.shape == Shape::scalar) {
        values[0] = static_cast<Real>(random(0));
        return;
    }
    const RepeatedWords<Real> words(grid.words(), random);
    const std::int64_t ghost = grid.ghost(), planes = grid.dimension == 2 ? 0 : ghost;
#pragma omp parallel for collapse(2) if (grid.points() > worth_sharing)
    for (std::int64_t z = -planes; z < grid.nz + planes; ++z)
        for (std::int64_t y = -ghost; y < grid.ny + ghost; ++y) {
            const std::int64_t row = grid.position(0, y, z);
            const auto [begin, end] = used_part(grid, field.reach, y, z);
            std::fill(values + row - grid.left(), values + row + begin, unused);
            words.copy(row + begin, end - begin, values + row + begin);
            std::fill(values + row + end, values + row - grid.left() + grid.pitch, unused);
        }
}

template <typename Real>
void fill(const Problem& problem, const Grid& grid, std::uint64_t seed, Workload& workload) {
    std::vector<void*> pointers;
    for (const auto& field : fields(problem)) {
        HostArray& array = workload.arrays.emplace_back(grid.precision, field.array.words);
        if (field.array.access == Access::out)
            array.poison();
        else
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
    // Fields lie within 1, media within 1/4 or, for several time steps, less. A difference along
    // one axis is a sum of M weighted differences, of magnitude s = 2 sum |c_m| < 3, and a term of
    // it is rounded at most 2 + M times; the product with the medium and the update add 2 more,
    // damping another 3. What a field errs by before a step it hands on as it hands on its values.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    const double medium = largest_medium(grid), difference = 3, m = grid.half, axes = grid.dimension, damping = grid.absorbing ? 3 : 0;
    double velocity = 1, velocity_error = 0, pressure = 1, pressure_error = 0;
    for (int level = 0; level < grid.levels; ++level) {
        if (grid.kind != Kind::pressure) {
            velocity_error += medium * difference * pressure_error;
            velocity += medium * difference * pressure;
            velocity_error += (m + 4 + damping) * unit * velocity;
        }
        if (grid.kind == Kind::velocity) continue;
        pressure_error += medium * axes * difference * velocity_error;
        pressure += medium * axes * difference * velocity;
        pressure_error += (axes * m + 4 + damping) * unit * pressure;
    }
    // Twice: the reference, in f64, errs as much.
    workload.tolerance = 2 * std::max(velocity_error, pressure_error);
    workload.tolerance_reason =
        "M + 4 roundings of velocities and dimension * M + 4 of pressures (3 more where damped), of values within 1 plus medium times differences "
        "within 3 per axis, with medium 1/4 over the time steps of a pass; each step inherits the errors before it; doubled for the reference";
    return workload;
}

}  // namespace hone::inline v0_1::acoustics
