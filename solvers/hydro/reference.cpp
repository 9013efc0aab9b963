#include "solvers/hydro/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "foundation/caught.hpp"
#include "foundation/error.hpp"
#include "solvers/hydro/energy_mass.hpp"
#include "solvers/hydro/point_physics.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

int solve_component(const CsrMatrix& matrix, const std::vector<int>& fixed, const double* b, double* x, double tolerance) {
    constexpr int most_iterations = 1000;
    const auto rows = static_cast<std::size_t>(matrix.rows());
    std::vector<double> diagonal(rows);
    for (std::size_t row = 0; row < rows; ++row)
        for (auto i = static_cast<std::size_t>(matrix.row_starts[row]); i < static_cast<std::size_t>(matrix.row_starts[row + 1]); ++i)
            if (matrix.columns[i] == static_cast<int>(row)) diagonal[row] = matrix.values[i];
    std::vector<double> r(b, b + rows);
    for (const int node : fixed) r[static_cast<std::size_t>(node)] = 0;
    std::vector<double> direction(rows);
    std::vector<double> image(rows);
    double now = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        x[row] = 0;
        direction[row] = r[row] / diagonal[row];
        now += r[row] * direction[row];
    }
    const double wanted = now * tolerance * tolerance;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
        if (now <= wanted) return iteration;
        for (std::size_t row = 0; row < rows; ++row) {
            double sum = 0;
            for (auto i = static_cast<std::size_t>(matrix.row_starts[row]); i < static_cast<std::size_t>(matrix.row_starts[row + 1]); ++i)
                sum += matrix.values[i] * direction[static_cast<std::size_t>(matrix.columns[i])];
            image[row] = sum;
        }
        for (const int node : fixed) image[static_cast<std::size_t>(node)] = 0;
        double curvature = 0;
        for (std::size_t row = 0; row < rows; ++row) curvature += direction[row] * image[row];
        const double alpha = now / curvature;
        double next = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            x[row] += alpha * direction[row];
            r[row] -= alpha * image[row];
            next += r[row] * (r[row] / diagonal[row]);
        }
        const double beta = next / now;
        for (std::size_t row = 0; row < rows; ++row) direction[row] = r[row] / diagonal[row] + beta * direction[row];
        now = next;
    }
    return -1;
}

template <std::size_t d>
class ReferenceOperator final : public Operator {
  public:
    ReferenceOperator(const Discretisation& of, double cfl, double tolerance)
        : of_(of),
          rules_{of.problem.viscosity, of.first_length, of.order, cfl},
          tolerance_(tolerance),
          stress_(of.zones() * of.points_of_zone()),
          zone_forces_(of.zones() * of.nodes_of_zone() * d),
          forces_(d * of.nodes()),
          heats_(of.zones() * of.energies_of_zone()) {
        const std::size_t n = of.energies_of_zone();
        for (std::size_t zone = 0; zone < of.zones(); ++zone) {
            const double* const own = &of.energy_mass[zone * n * n];
            const std::vector<double> inverse = inverse_of({own, n * n}, static_cast<int>(n));
            inverse_mass_.insert(inverse_mass_.end(), inverse.begin(), inverse.end());
        }
        for (State& state : states_) state = of.first;
    }

    void set(int slot, const State& state) override { at(slot) = state; }
    State get(int slot) override { return at(slot); }

    void combine(Field target, Field base, double factor, Field rate) override {
        const std::vector<double>& from = part(base);
        const std::vector<double>& slope = part(rate);
        std::vector<double>& to = part(target);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + factor * slope[i];
    }

    void accelerate(int slot, int rate) override {
        find_stress(at(slot));
        const std::size_t zones = of_.zones();
#pragma omp parallel for if (worth_a_team(zones))
        for (std::size_t zone = 0; zone < zones; ++zone) push_nodes(zone);
        std::fill(forces_.begin(), forces_.end(), 0.0);
        for (std::size_t i = 0; i < of_.zone_nodes.size(); ++i)
            for (std::size_t c = 0; c < d; ++c) forces_[c * of_.nodes() + static_cast<std::size_t>(of_.zone_nodes[i])] -= zone_forces_[i * d + c];
        reference_mass_solve(of_.velocity_mass, forces_, at(rate).velocities, tolerance_);
    }

    void heat(int slot, int moving, int rate) override {
        const State& state = at(slot);
        const std::vector<double>& velocities = at(moving).velocities;
        std::vector<double>& energies = at(rate).energies;
        const std::size_t zones = of_.zones();
        const std::size_t n = of_.energies_of_zone();
#pragma omp parallel for if (worth_a_team(zones))
        for (std::size_t zone = 0; zone < zones; ++zone) {
            work_on(zone, velocities);
            if (of_.problem.heated) add_source(zone, state.positions);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += inverse_mass_[(zone * n + i) * n + j] * heats_[zone * n + j];
                energies[zone * n + i] = sum;
            }
        }
    }

    void forget_stress() override {
        stress_kept_ = false;
    }
    void restart_estimate() override {
        estimate_ = std::numeric_limits<double>::infinity();
    }
    double estimate(int slot) override {
        find_stress(at(slot));
        return estimate_;
    }

  private:
    // A barrier costs more than a few zones do.
    bool worth_a_team(std::size_t zones) const {
        return zones * of_.points_of_zone() > 1000;
    }

    State& at(int slot) {
        return states_[static_cast<std::size_t>(slot)];
    }
    std::vector<double>& part(Field field) {
        State& state = at(field.slot);
        return field.part == Part::positions ? state.positions : field.part == Part::velocities ? state.velocities : state.energies;
    }

    // d field_row / d xi_column at a point of a zone, of a field on the nodes.
    Matrix<d> gradient(std::size_t zone, std::size_t point, const std::vector<double>& field) const {
        const std::size_t n = of_.nodes_of_zone();
        Matrix<d> result{};
        for (std::size_t node = 0; node < n; ++node) {
            const double* const slope = &of_.node_gradients[(point * n + node) * d];
            const auto number = static_cast<std::size_t>(of_.zone_nodes[zone * n + node]);
            for (std::size_t c = 0; c < d; ++c)
                for (std::size_t k = 0; k < d; ++k) result[c][k] += field[c * of_.nodes() + number] * slope[k];
        }
        return result;
    }

    void find_stress(const State& state) {
        if (stress_kept_) return;
        stress_kept_ = true;
        const std::size_t zones = of_.zones();
        double least = estimate_;
#pragma omp parallel for reduction(min : least) if (worth_a_team(zones))
        for (std::size_t zone = 0; zone < zones; ++zone) {
            for (std::size_t point = 0; point < of_.points_of_zone(); ++point) {
                const PointStress<d> found = stress_at(point_state(zone, point, state), rules_);
                stress_[zone * of_.points_of_zone() + point] = found.force;
                least = std::min(least, found.step);
            }
        }
        estimate_ = least;
    }

    PointState<d> point_state(std::size_t zone, std::size_t point, const State& state) const {
        const std::size_t index = zone * of_.points_of_zone() + point;
        const std::size_t n = of_.energies_of_zone();
        PointState<d> result;
        result.jacobian = gradient(zone, point, state.positions);
        result.velocity = gradient(zone, point, state.velocities);
        for (std::size_t i = 0; i < d * d; ++i) result.first_jacobian[i / d][i % d] = of_.first_jacobian[index * d * d + i];
        result.energy = 0;
        for (std::size_t i = 0; i < n; ++i) result.energy += of_.energy_values[point * n + i] * state.energies[zone * n + i];
        result.mass = of_.mass[index];
        result.weight = of_.weights[point];
        result.gamma = of_.gamma[zone];
        return result;
    }

    // F 1 of a zone, [node][component].
    void push_nodes(std::size_t zone) {
        const std::size_t n = of_.nodes_of_zone();
        double* const own = &zone_forces_[zone * n * d];
        std::fill(own, own + n * d, 0.0);
        for (std::size_t point = 0; point < of_.points_of_zone(); ++point) {
            const Matrix<d>& stress = stress_[zone * of_.points_of_zone() + point];
            for (std::size_t node = 0; node < n; ++node)
                for (std::size_t c = 0; c < d; ++c)
                    for (std::size_t k = 0; k < d; ++k) own[node * d + c] += stress[c][k] * of_.node_gradients[(point * n + node) * d + k];
        }
    }

    // F' v of a zone.
    void work_on(std::size_t zone, const std::vector<double>& velocities) {
        const std::size_t n = of_.energies_of_zone();
        double* const own = &heats_[zone * n];
        std::fill(own, own + n, 0.0);
        for (std::size_t point = 0; point < of_.points_of_zone(); ++point) {
            const Matrix<d>& stress = stress_[zone * of_.points_of_zone() + point];
            const Matrix<d> moved = gradient(zone, point, velocities);
            double work = 0;
            for (std::size_t c = 0; c < d; ++c)
                for (std::size_t k = 0; k < d; ++k) work += stress[c][k] * moved[c][k];
            for (std::size_t i = 0; i < n; ++i) own[i] += work * of_.energy_values[point * n + i];
        }
    }

    // The heating of the two-dimensional vortex, over the zone where it is now.
    void add_source(std::size_t zone, const std::vector<double>& positions) {
        const std::size_t n = of_.energies_of_zone();
        const std::size_t nodes = of_.nodes_of_zone();
        for (std::size_t point = 0; point < of_.points_of_zone(); ++point) {
            Point place{};
            for (std::size_t node = 0; node < nodes; ++node)
                for (std::size_t c = 0; c < d; ++c)
                    place[c] += of_.node_values[point * nodes + node] *
                                positions[c * of_.nodes() + static_cast<std::size_t>(of_.zone_nodes[zone * nodes + node])];
            const Matrix<d> j = gradient(zone, point, positions);
            const double heat = vortex_heating(place) * of_.weights[point] * (j[0][0] * j[1][1] - j[0][1] * j[1][0]);
            for (std::size_t i = 0; i < n; ++i) heats_[zone * n + i] += heat * of_.energy_values[point * n + i];
        }
    }

    const Discretisation& of_;
    PointRules rules_;
    double tolerance_;
    std::array<State, slots> states_;
    std::vector<Matrix<d>> stress_;     // [zone][point]
    std::vector<double> zone_forces_;   // [zone][node][component]
    std::vector<double> forces_;        // [component][node]
    std::vector<double> heats_;         // [zone][coefficient]
    std::vector<double> inverse_mass_;  // [zone][coefficient][coefficient]
    double estimate_ = std::numeric_limits<double>::infinity();
    bool stress_kept_ = false;
};

}  // namespace

int reference_mass_solve(const MassSystem& system, std::span<const double> b, std::span<double> x, double tolerance) {
    const auto rows = static_cast<std::size_t>(system.matrix.rows());
    std::vector<int> iterations(static_cast<std::size_t>(system.components));
    Caught caught;
#pragma omp parallel for schedule(dynamic) if (rows > 500)
    for (std::size_t c = 0; c < iterations.size(); ++c)
        caught.from([&] { iterations[c] = solve_component(system.matrix, system.fixed[c], &b[c * rows], &x[c * rows], tolerance); });
    caught.rethrow();
    if (std::find(iterations.begin(), iterations.end(), -1) != iterations.end())
        throw Error("conjugate gradients on the mass matrix", "they do not converge", "ask for a larger tolerance");
    return *std::max_element(iterations.begin(), iterations.end());
}

std::unique_ptr<Operator> make_reference_operator(const Discretisation& of, double cfl, double tolerance) {
    if (of.dimension == 2) return std::make_unique<ReferenceOperator<2>>(of, cfl, tolerance);
    return std::make_unique<ReferenceOperator<3>>(of, cfl, tolerance);
}

}  // namespace hone::inline v0_1::solvers::hydro
