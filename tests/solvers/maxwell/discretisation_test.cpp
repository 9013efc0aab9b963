#include "solvers/maxwell/discretisation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "foundation/error.hpp"
#include "solvers/maxwell/reference.hpp"
#include "tests/solvers/mesh/random_mesh.hpp"

namespace hone::solvers::maxwell::discretisation_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Mesh box_mesh(const std::string& equation, int n) {
    return wave_equation(equation).dimension == 3 ? kuhn_box({{n, n, n}}) : triangle_box({{n, n, 0}});
}

// The energy of the cavity is known, and it swings between the fields.
TEST(WaveDiscretisation, MeasuresEnergyAndError) {
    for (const auto& [name, energy] : {std::pair("maxwell_3d", 1.0), std::pair("maxwell_2d_tm", 0.5), std::pair("acoustics_3d", 0.5)}) {
        SCOPED_TRACE(name);
        const Discretisation of(name, 6, box_mesh(name, 3));
        const auto solution = cavity(*of.equation);
        for (const double time : {0.0, 0.3}) {
            const auto q = of.interpolated(solution, time);
            EXPECT_NEAR(of.energy(q), energy, 2e-3);
            EXPECT_EQ(of.error(q, solution, time), 0);
        }
        const auto still = of.interpolated(solution, 0);
        const std::vector<double> nothing(still.size(), 0.0);
        EXPECT_NEAR(of.error(nothing, solution, 0), std::sqrt(2 * energy), 2e-3);
    }
}

// Continuous polynomials have no jumps: on random affine elements in random orientations the
// right-hand side is their derivatives.
TEST(WaveDiscretisation, ReferenceIsExactForPolynomials) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Discretisation of("acoustics_3d", 3, shuffled(mapped(kuhn_box({{3, 3, 3}}), random), random));
    const auto fields = [](const Point& x, double) {
        return Discretisation::Fields{x[0] * x[0] * x[1] - x[2], x[0] * x[1] * x[2], x[1] * x[1] * x[1], x[0] + x[2] * x[2], 0, 0};
    };
    const auto slopes = [](const Point& x, double) {
        return Discretisation::Fields{-(x[1] * x[2] + 3 * x[1] * x[1] + 2 * x[2]), -2 * x[0] * x[1], -x[0] * x[0], 1, 0, 0};
    };
    const auto q = of.interpolated(fields, 0);
    const auto expected = of.interpolated(slopes, 0);
    std::vector<double> rhs(q.size());
    reference_right_hand_side(of, q, rhs);
    const auto per_element = static_cast<std::size_t>(of.equation->field_count() * of.nodes());
    const auto per_side = static_cast<std::size_t>(of.element->face_nodes());
    int inner = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(of.size()); ++k) {
        bool boundary = false;
        for (std::size_t f = 0; f < 4; ++f) boundary = boundary || of.neighbour[(4 * k + f) * per_side] < 0;
        if (boundary) continue;
        ++inner;
        for (std::size_t i = k * per_element; i < (k + 1) * per_element; ++i) EXPECT_NEAR(rhs[i], expected[i], 1e-10);
    }
    EXPECT_GT(inner, 0);
}

// The table of an independent solver, by plain loops; kernels do the larger rows in
// solver_test.cpp.
TEST(SlowWaveDiscretisation, ReferenceHasTheKnownErrors) {
    for (const KnownError& known : known_errors) {
        if (known.cells > 4 || known.order > (wave_equation(known.equation).dimension == 3 ? 2 : 3)) continue;
        const Discretisation of(known.equation, known.order, box_mesh(known.equation, known.cells));
        const auto solution = cavity(*of.equation);
        auto q = of.interpolated(solution, 0);
        const int steps = static_cast<int>(std::ceil(known.time / of.stable_step()));
        reference_steps(of, q, known.time / steps, steps);
        EXPECT_NEAR(of.error(q, solution, known.time) / known.error, 1, 0.01) << known.equation;
    }
}

// Where two media meet, the exact reflection of a plane wave: (Z2 - Z1) / (Z2 + Z1) of the electric
// field, 2 Z2 / (Z2 + Z1) goes through.
TEST(SlowWaveDiscretisation, MediaReflectAsTheyShould) {
    Box box{{16, 1, 0}, {-2, 0, 0}, {2, 0.25, 0}, {Boundary::absorbing, Boundary::periodic, Boundary::periodic}};
    Mesh mesh = triangle_box(box);
    mesh.materials = {"left", "right"};
    for (int k = 0; k < mesh.size(); ++k) mesh.material[static_cast<std::size_t>(k)] = k / 2 >= 8 ? 1 : 0;
    constexpr double z = 1.5;       // impedance on the right
    constexpr double speed = 0.75;  // likewise
    const Discretisation of("maxwell_2d_tm", 4, mesh, {{"left", {1, 1}}, {"right", {1 / (z * speed), z / speed}}});
    const auto pulse_at = [](double distance) { return std::exp(-16 * distance * distance); };
    // A pulse that travels to the right: Hy = -Ez / Z.
    auto q = of.interpolated([&](const Point& x, double) { return Discretisation::Fields{0, -pulse_at(x[0] + 1), pulse_at(x[0] + 1), 0, 0, 0}; }, 0);
    constexpr double time = 1.9;
    const int steps = static_cast<int>(std::ceil(time / of.stable_step()));
    reference_steps(of, q, time / steps, steps);
    const double reflection = (z - 1) / (z + 1);
    const auto solution = [&](const Point& x, double t) {
        const double back = reflection * pulse_at(x[0] - 1 + t);
        const double on = (1 + reflection) * pulse_at((x[0] - speed * (t - 1)) / speed);
        return x[0] < 0 ? Discretisation::Fields{0, back, back, 0, 0, 0} : Discretisation::Fields{0, -on / z, on, 0, 0, 0};
    };
    // Nodes on the interface belong to either side; the pulses have left it.
    EXPECT_LT(of.error(q, solution, time), 0.02 * of.error(std::vector<double>(q.size(), 0.0), solution, time));
}

TEST(WaveDiscretisation, RefusesWhatDoesNotGoTogether) {
    EXPECT_THAT([] { wave_equation("maxwell_4d"); }, ThrowsMessage<Error>(HasSubstr("did you mean maxwell_3d?")));
    EXPECT_THAT([] { Discretisation("maxwell_3d", 3, triangle_box({{2, 2, 0}})); }, ThrowsMessage<Error>(HasSubstr("it consists of triangles")));
    EXPECT_THROW(Discretisation("maxwell_3d", 11, kuhn_box({{1, 1, 1}})), Error);
    Mesh mesh = kuhn_box({{1, 1, 1}});
    mesh.materials = {"glass"};
    EXPECT_THAT([&] { Discretisation("maxwell_3d", 3, mesh); }, ThrowsMessage<Error>(HasSubstr("element 1 belongs to the group \"glass\"")));
    EXPECT_THROW(Discretisation("maxwell_3d", 3, mesh, {{"glass", {-1, 1}}}), Error);
    EXPECT_FALSE(Discretisation("maxwell_3d", 3, mesh, {{"glass", {2, 1}}}).uniform);
    EXPECT_THROW(cylinder_mode(wave_equation("acoustics_3d")), Error);
}

}  // namespace
}  // namespace hone::solvers::maxwell::discretisation_test
