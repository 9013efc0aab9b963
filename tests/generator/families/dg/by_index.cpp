#include "generator/families/elements/reference_element.hpp"
#include "tests/generator/families/logical_step.hpp"

namespace hone::dg_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

using Vector = std::array<double, 3>;
using State = std::array<double, 6>;

// The equations of family.hpp's headers on one element after the other.
class Step {
  public:
    Step(const Problem& problem, PublishedArrays& arrays)
        : a(arrays),
          equation(problem.word("equation")),
          element(
              reference_element(equation == "maxwell_2d_tm" ? Simplex::triangle : Simplex::tetrahedron, static_cast<int>(problem.integer("order")))),
          elements(problem.integer("elements")),
          fields(equation == "maxwell_3d"     ? 6
                 : equation == "acoustics_3d" ? 4
                                              : 3),
          dimension(element.dimension()) {}

    void fill(test::Draw draw) {
        const std::int64_t points = element.face_nodes();
        for (const char* name : {"q", "rhs", "res"})
            if (a.has(name) && a[name].spec().access != Access::out) for_values([&](auto k, auto f, auto i) { a[name](k, f, i) = draw(); });
        for (std::int64_t k = 0; k < elements; ++k) {
            for (std::int64_t i = 0; i < dimension * dimension && a.has("geometry"); ++i)
                a["geometry"](k, i) = draw(0.5, 1.5) * (draw() < 0 ? -1 : 1);
            for (std::int64_t i = 0; i < 3 && a.has("materials"); ++i) a["materials"](k, i) = draw(0.5, 2);
            for (std::int64_t face = 0; face <= dimension && a.has("faces"); ++face) {
                Vector normal{draw(), draw(), dimension == 3 ? draw() : 0};
                const double length = std::sqrt(dot(normal, normal));
                for (std::int64_t i = 0; i < dimension; ++i) a["faces"](k, face, i) = normal.at(static_cast<std::size_t>(i)) / length;
                a["faces"](k, face, dimension) = draw(0.5, 2);
                for (std::int64_t i = 0; i < points; ++i)
                    a["vmapP"](k, face, i) = static_cast<double>(draw.below(elements * element.nodes() + 2 * points) - 2 * points);
                for (std::int64_t i = 0; i < points; ++i) a["vmapP"](k, face, i) = std::max(a["vmapP"](k, face, i), face == 0 ? -1.0 : -2.0);
            }
        }
        for (int i = 0; i < 3 && a.has("stage"); ++i) a["stage"](i) = draw(0.1, 0.5);
    }

    void volume() {
        for_values([&](auto k, auto f, auto i) { a["rhs"](k, f, i) = volume_part(k, f, i); });
    }
    void surface() {
        const PublishedArrays lifted = surface_parts();
        PublishedArrays parts = lifted;
        for_values([&](auto k, auto f, auto i) { a["rhs"](k, f, i) = (a["rhs"](k, f, i) + parts["q"](k, f, i)) * material(k, f); });
    }
    void update(const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& rhs, const char* old, const char* next) {
        for_values([&](auto k, auto f, auto i) {
            a["res"](k, f, i) = a["stage"](0) * a["res"](k, f, i) + a["stage"](2) * rhs(k, f, i);
            a[next](k, f, i) = a[old](k, f, i) + a["stage"](1) * a["res"](k, f, i);
        });
    }
    void rk() {
        update([&](auto k, auto f, auto i) { return a["rhs"](k, f, i); }, "q", "q");
    }
    void stage() {
        PublishedArrays parts = surface_parts();
        update([&](auto k, auto f, auto i) { return (volume_part(k, f, i) + parts["q"](k, f, i)) * material(k, f); }, "q", "q_next");
    }

  private:
    template <typename Visit>
    void for_values(const Visit& visit) const {
        for (std::int64_t k = 0; k < elements; ++k)
            for (std::int64_t f = 0; f < fields; ++f)
                for (std::int64_t i = 0; i < element.nodes(); ++i) visit(k, f, i);
    }
    static double dot(const Vector& x, const Vector& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
    static Vector cross(const Vector& x, const Vector& y) {
        return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    }

    // d(field f)/d(x, y or z) at node i: geometry has r, s, t by x, y, z.
    double slope(std::int64_t k, std::int64_t f, std::int64_t i, std::int64_t x) {
        double sum = 0;
        for (std::int64_t r = 0; r < dimension && x < dimension; ++r)
            for (int m = 0; m < element.nodes(); ++m)
                sum +=
                    a["geometry"](k, r * dimension + x) * element.derivative[static_cast<std::size_t>(r)](static_cast<int>(i), m) * a["q"](k, f, m);
        return sum;
    }
    double curl(std::int64_t k, std::int64_t first, std::int64_t c, std::int64_t i) {
        const std::int64_t next = (c + 1) % 3, last = (c + 2) % 3;
        return slope(k, first + last, i, next) - slope(k, first + next, i, last);
    }
    double volume_part(std::int64_t k, std::int64_t f, std::int64_t i) {
        if (equation == "maxwell_3d") return f < 3 ? -curl(k, 3, f, i) : curl(k, 0, f - 3, i);
        if (equation == "acoustics_3d") return f == 0 ? -slope(k, 1, i, 0) - slope(k, 2, i, 1) - slope(k, 3, i, 2) : -slope(k, 0, i, f - 1);
        return f == 0 ? -slope(k, 2, i, 1) : f == 1 ? slope(k, 2, i, 0) : slope(k, 1, i, 0) - slope(k, 0, i, 1);
    }

    double impedance(std::int64_t k) { return a.has("materials") ? a["materials"](k, 2) : 1; }
    double material(std::int64_t k, std::int64_t f) {
        const std::int64_t second = equation == "maxwell_3d" ? 3 : equation == "acoustics_3d" ? 1 : 2;
        return a.has("materials") ? a["materials"](k, f < second ? 0 : 1) : 1;
    }

    // By how much the upwind flux exceeds the own one, by the fields of the Riemann problem between
    // two impedances.
    State flux(const State& own, const State& other, const Vector& n, double z, double other_z) const {
        if (equation == "acoustics_3d") {
            const double u = dot(n, {own[1], own[2], own[3]}), other_u = dot(n, {other[1], other[2], other[3]});
            const double p_star = (own[0] / z + other[0] / other_z - other_u + u) / (1 / z + 1 / other_z);
            const double u_star = (z * u + other_z * other_u - other[0] + own[0]) / (z + other_z);
            return {u - u_star, n[0] * (own[0] - p_star), n[1] * (own[0] - p_star), n[2] * (own[0] - p_star)};
        }
        const bool flat = dimension == 2;
        const auto h = [&](const State& q) { return flat ? Vector{q[0], q[1], 0} : Vector{q[0], q[1], q[2]}; };
        const auto e = [&](const State& q) { return flat ? Vector{0, 0, q[2]} : Vector{q[3], q[4], q[5]}; };
        Vector jump_h{}, jump_e{};
        for (std::size_t i = 0; i < 3; ++i) jump_h[i] = h(other)[i] - h(own)[i], jump_e[i] = e(other)[i] - e(own)[i];
        // n x E* - n x E and n x H* - n x H with E* = (Y E + Y' E' + n x [H]) / (Y + Y'), H* alike.
        const Vector turned_h = cross(n, jump_h), turned_e = cross(n, jump_e);
        Vector of_e{}, of_h{};
        for (std::size_t i = 0; i < 3; ++i) {
            of_e[i] = (jump_e[i] / other_z + turned_h[i]) / (1 / z + 1 / other_z);
            of_h[i] = (jump_h[i] * other_z - turned_e[i]) / (z + other_z);
        }
        const Vector h_rate = cross(n, of_e), e_rate = cross(n, of_h);
        if (flat) return {-h_rate[0], -h_rate[1], e_rate[2]};
        return {-h_rate[0], -h_rate[1], -h_rate[2], e_rate[0], e_rate[1], e_rate[2]};
    }

    // LIFT (Fscale flux) of all elements, in the place of q.
    PublishedArrays surface_parts() {
        PublishedArrays parts = a;
        for_values([&](auto k, auto f, auto i) { parts["q"](k, f, i) = 0; });
        const std::int64_t points = element.face_nodes();
        for (std::int64_t k = 0; k < elements; ++k)
            for (std::int64_t c = 0; c < (dimension + 1) * points; ++c) {
                const std::int64_t face = c / points;
                const int node = element.face_mask[static_cast<std::size_t>(face)][static_cast<std::size_t>(c % points)];
                const auto plus = static_cast<std::int64_t>(a["vmapP"](k, face, c % points));
                State own{}, other{};
                for (std::int64_t f = 0; f < fields; ++f) {
                    own.at(static_cast<std::size_t>(f)) = a["q"](k, f, node);
                    // A reflecting wall reverses E, or the velocity; in two dimensions E is the
                    // last field.
                    const bool turns = equation == "acoustics_3d" ? f > 0 : f >= (dimension == 2 ? 2 : 3);
                    other.at(static_cast<std::size_t>(f)) = plus >= 0    ? a["q"](plus / element.nodes(), f, plus % element.nodes())
                                                            : plus == -2 ? 0
                                                                         : (turns ? -1 : 1) * a["q"](k, f, node);
                }
                Vector normal{};
                for (std::int64_t i = 0; i < dimension; ++i) normal.at(static_cast<std::size_t>(i)) = a["faces"](k, face, i);
                const State found = flux(own, other, normal, impedance(k), plus < 0 ? impedance(k) : impedance(plus / element.nodes()));
                for (std::int64_t f = 0; f < fields; ++f)
                    for (int i = 0; i < element.nodes(); ++i)
                        parts["q"](k, f, i) +=
                            element.lift(i, static_cast<int>(c)) * a["faces"](k, face, dimension) * found.at(static_cast<std::size_t>(f));
            }
        return parts;
    }

    PublishedArrays& a;
    std::string equation;
    const ReferenceElement& element;
    std::int64_t elements;
    int fields, dimension;
};

test::LogicalStep step_of(const char* family, const std::string& further, void (Step::*run)()) {
    return {family,
            {"equation=maxwell_3d,acoustics_3d,maxwell_2d_tm order=1,2 elements=7" + further},
            [](const Problem& problem, PublishedArrays& arrays, test::Draw draw) { Step(problem, arrays).fill(draw); },
            [run](const Problem& problem, PublishedArrays& arrays) { (Step(problem, arrays).*run)(); }};
}

}  // namespace
}  // namespace hone::dg_test::by_index

namespace hone::test {

LogicalStep dg_volume_by_index() {
    using namespace dg_test::by_index;
    return step_of("dg_volume", "", &Step::volume);
}

LogicalStep dg_surface_by_index() {
    using namespace dg_test::by_index;
    return step_of("dg_surface", " materials=uniform,per_element", &Step::surface);
}

LogicalStep dg_rk_by_index() {
    using namespace dg_test::by_index;
    return step_of("dg_rk", "", &Step::rk);
}

LogicalStep dg_stage_by_index() {
    using namespace dg_test::by_index;
    return step_of("dg_stage", " materials=uniform,per_element", &Step::stage);
}

}  // namespace hone::test
