#include "generator/families/corner_force/reference.hpp"
#include "generator/families/elements/tensor_element.hpp"
#include "tests/generator/families/logical_step.hpp"

namespace hone::corner_force_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

using Square = std::array<std::array<double, 3>, 3>;

// V. Dobrev and others, and the viscosity of Laghos, on one zone.
class Zone {
  public:
    Zone(const Problem& problem, PublishedArrays& arrays, std::int64_t number)
        : a(arrays),
          zone(number),
          d(static_cast<int>(problem.integer("dimension"))),
          order(static_cast<int>(problem.integer("order"))),
          element(tensor_element(order)) {}

    void fill(test::Draw draw) {
        for (int c = 0; c < d; ++c)
            for (int i = 0; i < power(order + 1); ++i) {
                const auto place = element.nodes[static_cast<std::size_t>(part(i, c, order + 1))];
                if (a.has("x")) a["x"](zone, c, i) = place * (1 + 0.2 * c) + 0.03 * draw();
                for (const char* name : {"v", "w"})
                    if (a.has(name)) a[name](zone, c, i) = draw();
            }
        for (int q = 0; q < power(2 * order); ++q)
            for (int i = 0; i < d; ++i)
                for (int j = 0; j < d; ++j) {
                    if (a.has("initial_inverse")) a["initial_inverse"](zone, i, j, q) = (i == j ? 1 : 0) + 0.2 * draw();
                    if (a.has("stress") && a["stress"].spec().access == Access::in) a["stress"](zone, i, j, q) = draw();
                }
        if (!a.has("x")) return;
        for (int j = 0; j < power(order); ++j) a["e"](zone, j) = draw(0.5, 1);
        for (int q = 0; q < power(2 * order); ++q) a["mass"](zone, q) = draw(0.5, 1) * weight(q);
        a["gamma"](zone) = draw(1.2, 2);
        const std::array settings{0.4, 0.5, 2.0, 0.5};
        for (std::size_t i = 0; i < settings.size(); ++i) a["settings"](i) = settings.at(i);
    }

    void run() {
        std::vector<Square> stress;
        double rate = 0;
        for (int q = 0; q < power(2 * order); ++q) {
            stress.push_back(a.has("x") ? stress_at(q, rate) : Square{});
            for (int c = 0; c < d; ++c)
                for (int g = 0; g < d; ++g) {
                    if (!a.has("stress")) continue;
                    double& kept = a["stress"](zone, c, g, q);
                    if (a.has("x"))
                        kept = stress.back().at(at(c)).at(at(g));
                    else
                        stress.back().at(at(c)).at(at(g)) = kept;
                }
        }
        if (a.has("dt")) a["dt"](zone) = a["settings"](1) / rate;
        for (int c = 0; c < d; ++c)
            for (int i = 0; i < power(order + 1); ++i) {
                double force = 0;
                for (int q = 0; q < power(2 * order); ++q) force += row(stress, c, i, q);
                if (a.has("force")) a["force"](zone, c, i) = force;
                for (int j = 0; j < power(order) && a.has("corner"); ++j) {
                    double sum = 0;
                    for (int q = 0; q < power(2 * order); ++q) sum += row(stress, c, i, q) * energy_basis(q, j);
                    a["corner"](zone, j, c, i) = sum;
                }
            }
        for (int j = 0; j < power(order) && a.has("work"); ++j) {
            double sum = 0;
            for (int q = 0; q < power(2 * order); ++q)
                for (int c = 0; c < d; ++c)
                    for (int i = 0; i < power(order + 1); ++i) sum += row(stress, c, i, q) * energy_basis(q, j) * a["w"](zone, c, i);
            a["work"](zone, j) = sum;
        }
    }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    int power(int n) const { return d == 2 ? n * n : n * n * n; }
    static int part(int i, int axis, int along) {
        for (; axis > 0; --axis) i /= along;
        return i % along;
    }
    // d phi_i / d xi_g at point q.
    double slope(int q, int i, int g) const {
        double value = 1;
        for (int axis = 0; axis < d; ++axis) value *= (axis == g ? element.slope : element.basis)(part(q, axis, 2 * order), part(i, axis, order + 1));
        return value;
    }
    double energy_basis(int q, int j) const {
        double value = 1;
        for (int axis = 0; axis < d; ++axis) value *= element.bernstein(part(q, axis, 2 * order), part(j, axis, order));
        return value;
    }
    double weight(int q) const {
        double value = 1;
        for (int axis = 0; axis < d; ++axis) value *= element.weights[at(part(q, axis, 2 * order))];
        return value;
    }
    double row(const std::vector<Square>& stress, int c, int i, int q) const {
        double sum = 0;
        for (int g = 0; g < d; ++g) sum += stress[at(q)].at(at(c)).at(at(g)) * slope(q, i, g);
        return sum;
    }
    Square gradient(const char* field, int q) {
        Square value{};
        for (int c = 0; c < d; ++c)
            for (int g = 0; g < d; ++g)
                for (int i = 0; i < power(order + 1); ++i) value.at(at(c)).at(at(g)) += a[field](zone, c, i) * slope(q, i, g);
        return value;
    }
    template <typename Entry>
    Square square(const Entry& entry) const {
        Square result{};
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j) result.at(at(i)).at(at(j)) = entry(at(i), at(j));
        return result;
    }
    Square product(const Square& x, const Square& y) const {
        return square([&](std::size_t i, std::size_t j) { return x.at(i)[0] * y[0].at(j) + x.at(i)[1] * y[1].at(j) + x.at(i)[2] * y[2].at(j); });
    }
    std::vector<double> words(const Square& x) const {
        std::vector<double> result;
        for (int i = 0; i < d; ++i) result.insert(result.end(), x.at(at(i)).begin(), x.at(at(i)).begin() + d);
        return result;
    }

    // w |J| sigma J^-T at a point; and the largest rate of the points so far.
    Square stress_at(int q, double& rate) {
        Square j = gradient("x", q);
        if (d == 2) j[2][2] = 1;
        const auto minor = [&](std::size_t r, std::size_t c) {
            return j.at((r + 1) % 3).at((c + 1) % 3) * j.at((r + 2) % 3).at((c + 2) % 3) -
                   j.at((r + 1) % 3).at((c + 2) % 3) * j.at((r + 2) % 3).at((c + 1) % 3);
        };
        const double det = j[0][0] * minor(0, 0) + j[0][1] * minor(0, 1) + j[0][2] * minor(0, 2);
        const Square inverse = square([&](std::size_t r, std::size_t c) { return minor(c, r) / det; });
        const Square velocity = product(gradient("v", q), inverse);
        const Square strain = square([&](std::size_t r, std::size_t c) { return (velocity.at(r).at(c) + velocity.at(c).at(r)) / 2; });
        const corner::Eigenpair compression = corner::smallest_eigenpair(words(strain).data(), d);
        double length = 0;
        for (int i = 0; i < d; ++i) {
            double stretched = 0;
            for (int l = 0; l < d; ++l)
                for (int g = 0; g < d; ++g) stretched += j.at(at(i)).at(at(g)) * a["initial_inverse"](zone, g, l, q) * compression.vector[l];
            length += stretched * stretched;
        }
        const double h = a["settings"](0) * std::sqrt(length), rho = a["mass"](zone, q) / (weight(q) * det);
        double energy = 0;
        for (int l = 0; l < power(order); ++l) energy += energy_basis(q, l) * a["e"](zone, l);
        const double gamma = a["gamma"](zone), sound = std::sqrt(gamma * (gamma - 1) * energy);
        // The random data have an eigenvalue far from 0.
        const double viscosity =
            a["settings"](2) * rho * h * h * std::abs(compression.value) + (compression.value < 0 ? a["settings"](3) * rho * h * sound : 0);
        const Square sigma =
            square([&](std::size_t r, std::size_t c) { return viscosity * strain.at(r).at(c) - (r == c ? (gamma - 1) * rho * energy : 0); });
        const double h_min = corner::smallest_singular_value(words(j).data(), d) / order;
        rate = std::max(rate, sound / h_min + 2.5 * viscosity / (rho * h_min * h_min));
        return square([&](std::size_t c, std::size_t g) {
            return weight(q) * det * (sigma.at(c)[0] * inverse.at(g)[0] + sigma.at(c)[1] * inverse.at(g)[1] + sigma.at(c)[2] * inverse.at(g)[2]);
        });
    }

    PublishedArrays& a;
    std::int64_t zone;
    int d, order;
    const TensorElement& element;
};

}  // namespace
}  // namespace hone::corner_force_test::by_index

namespace hone::test {

LogicalStep corner_force_by_index() {
    using corner_force_test::by_index::Zone;
    return {"corner_force",
            {"result=products,points,corner,energy dimension=2,3 order=1,2 zones=3"},
            [](const Problem& problem, PublishedArrays& arrays, Draw draw) {
                for (std::int64_t zone = 0; zone < problem.integer("zones"); ++zone) Zone(problem, arrays, zone).fill(draw);
            },
            [](const Problem& problem, PublishedArrays& arrays) {
                for (std::int64_t zone = 0; zone < problem.integer("zones"); ++zone) Zone(problem, arrays, zone).run();
            }};
}

}  // namespace hone::test
