#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/acoustics_staggered/grid.hpp"

namespace hone::test {

/// One time step of some kernel on a problem's arrays.
using AcousticStep = std::function<void(const Problem&, const std::vector<void*>& arrays)>;

/// A step of a problem in single precision on values in double precision, so that one box serves
/// both.
inline AcousticStep in_its_precision(const AcousticStep& step, const std::function<std::vector<ArraySpec>(const Problem&)>& specs) {
    return [=](const Problem& problem, const std::vector<void*>& arrays) {
        if (problem.precision() == Precision::f64) return step(problem, arrays);
        const std::vector<ArraySpec> fields = specs(problem);
        std::vector<std::vector<float>> singles;
        std::vector<void*> pointers;
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const double* const values = static_cast<double*>(arrays[i]);
            pointers.push_back(singles.emplace_back(values, values + fields[i].words).data());
        }
        step(problem, pointers);
        for (std::size_t i = 0; i < arrays.size(); ++i)
            if (fields[i].access != Access::in) std::copy(singles[i].begin(), singles[i].end(), static_cast<double*>(arrays[i]));
    };
}

/// Waves in a box with rigid walls, in double precision: fields, media and mirrored values around
/// them, advanced by whatever kernels are given.
class RigidBox {
  public:
    explicit RigidBox(const Problem& step_problem) : grid(step_problem), extent{grid.nx, grid.ny, grid.nz} {
        const auto words = static_cast<std::size_t>(grid.words());
        const std::size_t media_words = grid.array_media ? words : 1;
        p.resize(words);
        p_next.resize(words);
        kappa.resize(media_words);
        for (std::size_t axis = 0; axis < axes(); ++axis)
            for (auto* field : {&velocity, &velocity_next}) (*field)[axis].resize(words);
        for (auto& medium : b) medium.resize(media_words);
        for (std::size_t axis = 0; grid.absorbing && axis < axes(); ++axis)
            damping[axis].assign(2 * static_cast<std::size_t>(acoustics::damping_words(grid, static_cast<int>(axis))), 1.0);
    }

    std::size_t axes() const { return static_cast<std::size_t>(grid.dimension); }
    std::size_t position(std::int64_t x, std::int64_t y, std::int64_t z) const { return static_cast<std::size_t>(grid.position(x, y, z)); }

    template <typename Visit>
    void for_cells(const Visit& visit) const {
        for (std::int64_t z = 0; z < grid.nz; ++z)
            for (std::int64_t y = 0; y < grid.ny; ++y)
                for (std::int64_t x = 0; x < grid.nx; ++x) visit(std::array{x, y, z}, position(x, y, z));
    }

    /// Fills what lies around the cells: even in all axes, but odd along `normal`, whose values lie
    /// on the left faces and vanish on the wall.
    void mirror(std::vector<double>& field, int normal, bool odd) const {
        const std::int64_t ghost = grid.ghost(), planes = grid.dimension == 3 ? ghost : 0;
        for (std::int64_t z = -planes; z < grid.nz + planes; ++z)
            for (std::int64_t y = -ghost; y < grid.ny + ghost; ++y)
                for (std::int64_t x = -ghost; x < grid.nx + ghost; ++x) {
                    std::array<std::int64_t, 3> at{x, y, z};
                    double sign = 1;
                    for (int axis = 0; axis < grid.dimension; ++axis) {
                        const std::int64_t n = extent[static_cast<std::size_t>(axis)];
                        std::int64_t& i = at[static_cast<std::size_t>(axis)];
                        i = ((i % (2 * n)) + 2 * n) % (2 * n);
                        if (axis != normal) {
                            i = std::min(i, 2 * n - 1 - i);
                        } else if (i == n) {
                            sign *= odd ? 0 : 1, i = 0;
                        } else if (i > n) {
                            sign *= odd ? -1 : 1, i = 2 * n - i;
                        }
                    }
                    field[position(x, y, z)] = sign * field[position(at[0], at[1], at[2])];
                }
    }
    void mirror_velocities() {
        for (std::size_t axis = 0; axis < axes(); ++axis) mirror(velocity[axis], static_cast<int>(axis), true);
    }
    void mirror_media() {
        if (grid.array_media) mirror(kappa, -1, false);
        for (std::size_t axis = 0; grid.array_media && axis < axes(); ++axis) mirror(b[axis], static_cast<int>(axis), false);
    }

    /// One step by the kernel for whole steps.
    void advance(const Problem& step_problem, const AcousticStep& step) {
        mirror(p, -1, false);
        mirror_velocities();
        std::vector<void*> arrays = inputs();
        arrays.push_back(kappa.data());
        add_media(arrays);
        add_damping(arrays);
        if (acoustics::Grid(step_problem).in_place) return step(step_problem, arrays);
        arrays.push_back(p_next.data());
        for (std::size_t axis = 0; axis < axes(); ++axis) arrays.push_back(velocity_next[axis].data());
        step(step_problem, arrays);
        std::swap(p, p_next);
        std::swap(velocity, velocity_next);
    }
    /// The same by the other two.
    void advance(const Problem& velocity_problem, const Problem& pressure_problem, const AcousticStep& step) {
        mirror(p, -1, false);
        std::vector<void*> arrays = inputs();
        add_media(arrays);
        add_damping(arrays);
        step(velocity_problem, arrays);
        mirror_velocities();
        arrays = inputs();
        arrays.push_back(kappa.data());
        add_damping(arrays);
        step(pressure_problem, arrays);
    }

    acoustics::Grid grid;
    std::array<std::int64_t, 3> extent;
    std::vector<double> p, p_next, kappa;
    std::array<std::vector<double>, 3> velocity, velocity_next, b;
    std::array<std::vector<double>, 3> damping;  // of an absorbing problem: ones, for faces and centres along each axis

  private:
    std::vector<void*> inputs() {
        std::vector<void*> arrays{p.data()};
        for (std::size_t axis = 0; axis < axes(); ++axis) arrays.push_back(velocity[axis].data());
        return arrays;
    }
    void add_damping(std::vector<void*>& arrays) {
        for (std::size_t axis = 0; grid.absorbing && axis < axes(); ++axis) arrays.push_back(damping[axis].data());
    }
    void add_media(std::vector<void*>& arrays) {
        for (std::size_t axis = 0; axis < (grid.array_media ? axes() : 1); ++axis) arrays.push_back(b[axis].data());
    }
};

/// p = cos(a pi x) cos(b pi y) [cos(c pi z)] cos(w t) in the unit box, which solves the discrete
/// scheme exactly when every wave number k is replaced by K(k) = (2 / h) sum of c_m sin((2m-1) k h
/// / 2) and w = (2 / dt) asin(dt / 2 |K|); the velocities are (K / s) sin(...) cos(...) sin(w t),
/// half a step apart, with s = (2 / dt) sin(w dt / 2). kappa = b = 1. Every weight counts.
class StandingWave {
  public:
    /// `courant`: dt / h.
    StandingWave(const RigidBox& box, const std::vector<double>& weights, double courant) : box_(box), h_(1.0 / static_cast<double>(box.grid.nx)) {
        const double dt = courant * h_;
        const std::array modes{3.0, 2.0, 1.0};
        double sum = 0;
        for (std::size_t axis = 0; axis < box.axes(); ++axis) {
            k_[axis] = modes[axis] * M_PI;
            discrete_[axis] = discrete_wave_number(weights, k_[axis], h_);
            sum += discrete_[axis] * discrete_[axis];
        }
        omega_ = 2 / dt * std::asin(dt / 2 * std::sqrt(sum));
        scale_ = 2 / dt * std::sin(omega_ * dt / 2);
        dt_ = dt;
    }

    static double discrete_wave_number(const std::vector<double>& weights, double k, double h) {
        double sum = 0;
        for (std::size_t m = 0; m < weights.size(); ++m) sum += weights[m] * std::sin((2 * static_cast<double>(m) + 1) * k * h / 2);
        return 2 / h * sum;
    }

    double pressure(const std::array<std::int64_t, 3>& cell, double steps) const { return shape(cell, 3) * std::cos(omega_ * dt_ * steps); }
    double velocity(std::size_t axis, const std::array<std::int64_t, 3>& cell, double steps) const {
        return discrete_[axis] / scale_ * shape(cell, axis) * std::sin(omega_ * dt_ * steps);
    }

    /// The state after `steps` steps: velocities lag half a step behind.
    void set(RigidBox& box, double steps) const {
        box.for_cells([&](const auto& cell, std::size_t at) {
            box.p[at] = pressure(cell, steps);
            for (std::size_t axis = 0; axis < box.axes(); ++axis) box.velocity[axis][at] = velocity(axis, cell, steps - 0.5);
        });
    }
    double error(const RigidBox& box, double steps) const {
        double largest = 0;
        box.for_cells([&](const auto& cell, std::size_t at) {
            largest = std::max(largest, std::abs(box.p[at] - pressure(cell, steps)));
            for (std::size_t axis = 0; axis < box.axes(); ++axis)
                largest = std::max(largest, std::abs(box.velocity[axis][at] - velocity(axis, cell, steps - 0.5)));
        });
        return largest;
    }

  private:
    // The product of cosines at the centre, or with the sine at the left face along `normal`.
    double shape(const std::array<std::int64_t, 3>& cell, std::size_t normal) const {
        double product = 1;
        for (std::size_t axis = 0; axis < box_.axes(); ++axis) {
            const auto i = static_cast<double>(cell[axis]);
            product *= axis == normal ? std::sin(k_[axis] * h_ * i) : std::cos(k_[axis] * h_ * (i + 0.5));
        }
        return product;
    }

    const RigidBox& box_;
    double h_, dt_ = 0, omega_ = 0, scale_ = 0;
    std::array<double, 3> k_{}, discrete_{};
};

}  // namespace hone::test
