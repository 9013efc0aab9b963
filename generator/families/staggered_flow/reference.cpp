#include <algorithm>
#include <array>
#include <limits>

#include "foundation/random_words.hpp"
#include "generator/families/staggered_flow/grid.hpp"

// The plain loops, cell by cell as the header says it, in double precision.

namespace hone::inline v0_1::flow {
namespace {

using Cell = std::array<std::int64_t, 3>;  // x, y, z

Cell moved(Cell cell, std::size_t axis, std::int64_t steps) {
    cell.at(axis) += steps;
    return cell;
}

template <typename Real>
class Loops {
  public:
    Loops(const Problem& problem, std::span<void* const> arrays) : grid_(problem) {
        for (std::size_t c = 0; c < 3; ++c) velocity_.at(c) = static_cast<Real*>(arrays[c]), change_.at(c) = static_cast<Real*>(arrays[3 + c]);
        if (grid_.kind != Kind::momentum) cells_ = static_cast<Real*>(arrays[6]);
        const auto* const given = static_cast<const Real*>(arrays.back());
        std::copy(given, given + number_count, numbers_.begin());
    }

    void run(std::int64_t first, std::int64_t last) const {
#pragma omp parallel for
        for (std::int64_t z = first; z < last; ++z)
            for (std::int64_t y = 0; y < grid_.ny; ++y)
                for (std::int64_t x = 0; x < grid_.nx; ++x) update({x, y, z});
    }

  private:
    double number(Number which) const {
        return numbers_.at(static_cast<std::size_t>(which));
    }

    std::size_t place(const Cell& cell) const {
        const auto around = [](std::int64_t i, std::int64_t n) { return (i + n) % n; };
        const std::int64_t z = grid_.periodic ? around(cell[2], grid_.nz) : cell[2] + 1;
        return static_cast<std::size_t>(z * grid_.plane() + around(cell[1], grid_.ny) * grid_.pitch + around(cell[0], grid_.nx));
    }
    double velocity(std::size_t component, const Cell& cell) const {
        return velocity_.at(component)[place(cell)];
    }
    double change(std::size_t component, const Cell& cell) const {
        return change_.at(component)[place(cell)];
    }

    void update(const Cell& cell) const {
        if (grid_.kind == Kind::divergence) {
            cells_[place(cell)] = static_cast<Real>(-number(Number::per_width) * outflow(cell));
            return;
        }
        for (std::size_t c = 0; c < 3; ++c) {
            if (grid_.kind == Kind::momentum) {
                double sum = 0;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    sum += number(Number::diffusion) * second_difference(c, axis, cell) -
                           number(Number::convection) * (flux(c, axis, cell) - flux(c, axis, moved(cell, axis, -1)));
                change_.at(c)[place(cell)] = static_cast<Real>(number(Number::keep) * change(c, cell) + number(Number::dt) * sum);
            } else {
                const double difference = cells_[place(cell)] - double{cells_[place(moved(cell, c, -1))]};
                velocity_.at(c)[place(cell)] =
                    static_cast<Real>(velocity(c, cell) + number(Number::share) * change(c, cell) - number(Number::per_width) * difference);
            }
        }
    }

    double second_difference(std::size_t component, std::size_t axis, const Cell& cell) const {
        return velocity(component, moved(cell, axis, -1)) - 2 * velocity(component, cell) + velocity(component, moved(cell, axis, 1));
    }
    // Four times what a component's cell loses through its side behind it along an axis.
    double flux(std::size_t component, std::size_t axis, const Cell& cell) const {
        const Cell behind = moved(cell, axis, 1);
        const double carried = velocity(component, cell) + velocity(component, behind);
        if (axis == component) return carried * carried;
        return carried * (velocity(axis, behind) + velocity(axis, moved(behind, component, -1)));
    }
    double outflow(const Cell& cell) const {
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            const Cell behind = moved(cell, c, 1);
            sum += velocity(c, behind) - velocity(c, cell) + number(Number::share) * (change(c, behind) - change(c, cell));
        }
        return sum;
    }

    Grid grid_;
    std::array<Real*, 3> velocity_{}, change_{};
    Real* cells_ = nullptr;
    std::array<double, number_count> numbers_{};
};

template <typename Real>
void fill(const Problem& problem, std::uint64_t seed, Workload& workload) {
    const Grid grid(problem);
    const std::vector<ArraySpec> specs = arrays(problem);
    std::int64_t next = 0;
    for (std::size_t a = 0; a < specs.size(); ++a) {
        const auto words = workload.arrays[a].values<Real>();
        std::fill(words.begin(), words.end(), std::numeric_limits<Real>::quiet_NaN());
        if (specs[a].access == Access::out || specs[a].name == "numbers") continue;
        for (std::int64_t row = 0; row < grid.stored_planes() * grid.ny; ++row)
            for (std::int64_t x = 0; x < grid.nx; ++x)
                words[static_cast<std::size_t>(row * grid.pitch + x)] = static_cast<Real>(random_word(seed, next++));
    }
    // Of the size that they have in stable steps of velocities up to 1.
    constexpr std::array<double, number_count> scale{0.7, 0.6, 0.1, 0.25, 0.25, 0.75};
    const auto given = workload.arrays.back().values<Real>();
    for (std::size_t n = 0; n < scale.size(); ++n) given[n] = static_cast<Real>(scale.at(n) * (1 + 0.3 * random_word(seed, next++)));
    std::vector<void*> pointers;
    for (std::size_t a = 0; a < specs.size(); ++a) {
        if (specs[a].access != Access::in) workload.expected[a] = workload.arrays[a].copy();
        pointers.push_back(specs[a].access == Access::in ? workload.arrays[a].data() : workload.expected[a].data());
    }
    reference(problem, pointers, 0, grid.nz);
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    if (problem.precision() == Precision::f32)
        Loops<float>(problem, arrays).run(first, last);
    else
        Loops<double>(problem, arrays).run(first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    const Precision precision = problem.precision();
    Workload workload;
    for (const auto& array : arrays(problem)) workload.arrays.emplace_back(precision, array.words);
    workload.expected.resize(workload.arrays.size());
    precision == Precision::f32 ? fill<float>(problem, seed, workload) : fill<double>(problem, seed, workload);
    // In units of roundoff u, of values up to 1. Divergence: a difference of velocities is up to 2
    // and errs by 2, one of changes likewise, times a share of at most 0.8 by 5 at most; their sum
    // is up to 3.6 and errs by 11, that of three axes by 33 + 7 + 11, times 1 / width by 62.
    // Momentum errs less, for it is multiplied by dt, and so does projection. The reference errs by
    // as much in double precision.
    workload.tolerance = 128 * (precision == Precision::f32 ? 0x1p-24 : 0x1p-53);
    workload.tolerance_reason = "a divergence errs by at most 62 unit roundoffs, and so does the reference";
    return workload;
}

}  // namespace hone::inline v0_1::flow
