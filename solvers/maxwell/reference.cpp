#include "solvers/maxwell/reference.hpp"

#include <array>

#include "foundation/caught.hpp"
#include "solvers/maxwell/runge_kutta.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

using Vector = std::array<double, 3>;

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A point's fields whatever the equation: H and E, or p in `scalar` and the velocity in `first`.
struct State {
    Vector first{}, second{};
    double scalar = 0;
};

// Of one equation: where its stored fields are in a State.
class Places {
  public:
    explicit Places(const WaveEquation& equation) : equation_(equation) {}

    double& at(State& state, int field) const {
        if (!equation_.maxwell) return field == 0 ? state.scalar : state.first[static_cast<std::size_t>(field - 1)];
        if (equation_.dimension == 2) return field == 2 ? state.second[2] : state.first[static_cast<std::size_t>(field)];
        return field < 3 ? state.first[static_cast<std::size_t>(field)] : state.second[static_cast<std::size_t>(field - 3)];
    }

  private:
    const WaveEquation& equation_;
};

struct Impedances {
    double own, other;
};

State minus(const State& a, const State& b) {
    State result = a;
    for (std::size_t x = 0; x < 3; ++x) result.first[x] -= b.first[x], result.second[x] -= b.second[x];
    result.scalar -= b.scalar;
    return result;
}

// How the fields just behind a wall differ from those before it.
State jump_at(const WaveEquation& equation, int boundary, const State& own, const Vector& n) {
    State jump;
    if (boundary == Discretisation::absorbing) return minus(jump, own);
    for (std::size_t x = 0; x < 3; ++x) {
        jump.second[x] = -2 * own.second[x];
        if (!equation.maxwell) jump.first[x] = -2 * dot(n, own.first) * n[x];
    }
    return jump;
}

State flux(const WaveEquation& equation, const State& jump, const Vector& n, const Impedances& z) {
    State result;
    const double sum = z.own + z.other;
    if (!equation.maxwell) {
        const double normal = dot(n, jump.first);
        result.scalar = (jump.scalar - z.other * normal) / sum;
        for (std::size_t x = 0; x < 3; ++x) result.first[x] = n[x] * z.own * (z.other * normal - jump.scalar) / sum;
        return result;
    }
    const Vector n_h = cross(n, jump.first);
    const Vector n_e = cross(n, jump.second);
    for (std::size_t x = 0; x < 3; ++x) {
        const double h = jump.first[x] - n[x] * dot(n, jump.first);
        const double e = jump.second[x] - n[x] * dot(n, jump.second);
        result.first[x] = z.own * (z.other * h - n_e[x]) / sum;
        result.second[x] = (e + z.other * n_h[x]) / sum;
    }
    return result;
}

class Element {
  public:
    Element(const Discretisation& of, const std::vector<double>& materials, std::span<const double> q, std::int64_t k)
        : of_(of), materials_(materials), q_(q), k_(k), places_(*of.equation), d_(static_cast<std::size_t>(of.mesh.dimension)) {}

    std::vector<State> right_hand_side() const {
        std::vector<State> rhs;
        rhs.reserve(static_cast<std::size_t>(of_.nodes()));
        for (int n = 0; n < of_.nodes(); ++n) rhs.push_back(volume(n));
        for (int f = 0; f < of_.element->faces(); ++f)
            for (int i = 0; i < of_.element->face_nodes(); ++i) add_surface(rhs, f, i);
        for (State& state : rhs) scale(state);
        return rhs;
    }

  private:
    double value(std::int64_t node, int field) const {
        const std::int64_t count = of_.nodes();
        return q_[static_cast<std::size_t>((node / count * of_.equation->field_count() + field) * count + node % count)];
    }

    State state(std::int64_t node) const {
        State result;
        for (int f = 0; f < of_.equation->field_count(); ++f) places_.at(result, f) = value(node, f);
        return result;
    }

    // d/dx, d/dy, d/dz of all fields at a node of this element.
    std::array<State, 3> slopes(int node) const {
        std::array<State, 3> result;
        for (int f = 0; f < of_.equation->field_count(); ++f)
            for (std::size_t a = 0; a < d_; ++a) {
                double along = 0;
                for (int m = 0; m < of_.nodes(); ++m) along += of_.element->derivative[a](node, m) * value(k_ * of_.nodes() + m, f);
                for (std::size_t x = 0; x < d_; ++x)
                    places_.at(result[x], f) += of_.geometry[(static_cast<std::size_t>(k_) * d_ + a) * d_ + x] * along;
            }
        return result;
    }

    State volume(int node) const {
        const auto d = slopes(node);
        State rhs;
        for (std::size_t x = 0; x < 3; ++x) {
            const std::size_t y = (x + 1) % 3;
            const std::size_t z = (x + 2) % 3;
            if (of_.equation->maxwell) {
                rhs.first[x] = -(d[y].second[z] - d[z].second[y]);
                rhs.second[x] = d[y].first[z] - d[z].first[y];
            } else {
                rhs.scalar -= d[x].first[x];
                rhs.first[x] = -d[x].scalar;
            }
        }
        return rhs;
    }

    double impedance(std::int64_t element) const { return materials_[3 * static_cast<std::size_t>(element) + 2]; }

    void add_surface(std::vector<State>& rhs, int face, int point) const {
        const int points = of_.element->face_nodes();
        const auto side = static_cast<std::size_t>(k_ * of_.element->faces() + face);
        const double* const measures = &of_.faces[side * (d_ + 1)];
        Vector n{};
        std::copy_n(measures, d_, n.begin());
        const State own = state(k_ * of_.nodes() + of_.element->face_mask[static_cast<std::size_t>(face)][static_cast<std::size_t>(point)]);
        const std::int64_t behind = of_.neighbour[side * static_cast<std::size_t>(points) + static_cast<std::size_t>(point)];
        const State jump = behind < 0 ? jump_at(*of_.equation, static_cast<int>(behind), own, n) : minus(state(behind), own);
        const Impedances z{impedance(k_), behind < 0 ? impedance(k_) : impedance(behind / of_.nodes())};
        State through = flux(*of_.equation, jump, n, z);
        for (int node = 0; node < of_.nodes(); ++node)
            for (int f = 0; f < of_.equation->field_count(); ++f)
                places_.at(rhs[static_cast<std::size_t>(node)], f) +=
                    of_.element->lift(node, face * points + point) * measures[d_] * places_.at(through, f);
    }

    // By the inverse of what the time derivative is multiplied by.
    void scale(State& rhs) const {
        const double* const words = &materials_[3 * static_cast<std::size_t>(k_)];
        const bool maxwell = of_.equation->maxwell;
        rhs.scalar *= words[0];
        for (double& part : rhs.first) part *= words[maxwell ? 0 : 1];
        for (double& part : rhs.second) part *= words[1];
    }

    const Discretisation& of_;
    const std::vector<double>& materials_;
    std::span<const double> q_;
    std::int64_t k_;
    Places places_;
    std::size_t d_;
};

}  // namespace

void reference_right_hand_side(const Discretisation& of, std::span<const double> q, std::span<double> rhs) {
    const std::vector<double> materials = of.material_words();
    const Places places(*of.equation);
    const int fields = of.equation->field_count();
    constexpr std::int64_t worth_a_team = 64;
    const std::int64_t elements = of.size();
    Caught caught;
#pragma omp parallel for schedule(static) if (elements >= worth_a_team)
    for (std::int64_t k = 0; k < elements; ++k) {
        caught.from([&] {
            std::vector<State> states = Element(of, materials, q, k).right_hand_side();
            for (int f = 0; f < fields; ++f)
                for (int n = 0; n < of.nodes(); ++n)
                    rhs[static_cast<std::size_t>((k * fields + f) * of.nodes() + n)] = places.at(states[static_cast<std::size_t>(n)], f);
        });
    }
    caught.rethrow();
}

void reference_steps(const Discretisation& of, std::vector<double>& q, double dt, int steps) {
    std::vector<double> rhs(q.size());
    std::vector<double> res(q.size(), 0.0);
    for (int step = 0; step < steps; ++step)
        for (const RungeKuttaStage& stage : runge_kutta) {
            reference_right_hand_side(of, q, rhs);
            for (std::size_t i = 0; i < q.size(); ++i) {
                res[i] = stage.a * res[i] + dt * rhs[i];
                q[i] += stage.b * res[i];
            }
        }
}

}  // namespace hone::inline v0_1::solvers::maxwell
