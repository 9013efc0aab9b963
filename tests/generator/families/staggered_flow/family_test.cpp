// The reference against mathematics: what a discretisation on a staggered grid conserves, and
// modes whose answer is known.
#include "generator/families/staggered_flow/family.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::staggered_flow_test::family_test {
namespace {

using flow::Number;

// A periodic box with plain arrays, and the family's reference on it.
class Box {
  public:
    Box(int nx, int ny, int nz) : n_{nx, ny, nz} {
        for (auto& array : arrays_) array.assign(cells(), 0.0);
    }

    std::size_t cells() const { return static_cast<std::size_t>(n_[0] * n_[1] * n_[2]); }
    std::vector<double>& velocity(std::size_t c) { return arrays_.at(c); }
    std::vector<double>& change(std::size_t c) { return arrays_.at(3 + c); }
    std::vector<double>& pressure() { return arrays_.at(6); }
    double& number(Number which) { return numbers_.at(static_cast<std::size_t>(which)); }
    std::size_t at(int x, int y, int z) const { return static_cast<std::size_t>((z * n_[1] + y) * n_[0] + x); }

    void run(const std::string& kernel) {
        const Families families({staggered_flow()});
        const Problem problem = families.parse_problem(
            fmt::format("staggered_flow kernel={} precision=f64 nx={} ny={} nz={} pitch={}", kernel, n_[0], n_[1], n_[2], n_[0]));
        std::vector<void*> pointers;
        for (std::size_t a = 0; a < (kernel == "momentum" ? 6U : 7U); ++a) pointers.push_back(arrays_.at(a).data());
        pointers.push_back(numbers_.data());
        families.of(problem).reference(problem, pointers, 0, n_[2]);
    }
    // -divergence of the velocities.
    std::vector<double> divergence() {
        number(Number::per_width) = 1;
        run("divergence");
        return pressure();
    }

  private:
    std::array<int, 3> n_;
    std::array<std::vector<double>, 7> arrays_;
    std::array<double, flow::number_count> numbers_{};
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

class StaggeredFlow : public ::testing::Test {
  protected:
    void fill(std::vector<double>& words) {
        for (double& word : words) word = std::uniform_real_distribution<>(-1, 1)(random_);
    }
    // The curl of a random field on the edges: its divergence vanishes.
    void fill_without_divergence(Box& box, int nx, int ny, int nz) {
        std::array<std::vector<double>, 3> edge;
        for (auto& words : edge) words.resize(box.cells()), fill(words);
        const auto of = [&](std::size_t c, int x, int y, int z) { return edge.at(c)[box.at((x + nx) % nx, (y + ny) % ny, (z + nz) % nz)]; };
        for (int z = 0; z < nz; ++z)
            for (int y = 0; y < ny; ++y)
                for (int x = 0; x < nx; ++x) {
                    const std::size_t at = box.at(x, y, z);
                    box.velocity(0)[at] = of(2, x, y + 1, z) - of(2, x, y, z) - of(1, x, y, z + 1) + of(1, x, y, z);
                    box.velocity(1)[at] = of(0, x, y, z + 1) - of(0, x, y, z) - of(2, x + 1, y, z) + of(2, x, y, z);
                    box.velocity(2)[at] = of(1, x + 1, y, z) - of(1, x, y, z) - of(0, x, y + 1, z) + of(0, x, y, z);
                }
    }

    test::FreshRandom random_;
};

TEST_F(StaggeredFlow, ConvectionConservesMomentumAndEnergy) {
    constexpr int nx = 7, ny = 5, nz = 6;
    Box box(nx, ny, nz);
    fill_without_divergence(box, nx, ny, nz);
    for (const double value : box.divergence()) EXPECT_NEAR(value, 0, 1e-13);
    box.number(Number::dt) = 1, box.number(Number::convection) = 0.25;
    box.run("momentum");
    double power = 0, size = 0;
    for (const std::size_t c : {0, 1, 2}) {
        double sum = 0;
        for (const double value : box.change(c)) sum += value;
        EXPECT_NEAR(sum, 0, 1e-11) << "momentum of component " << c;
        power += product(box.velocity(c), box.change(c));
        size += product(box.change(c), box.change(c));
    }
    EXPECT_NEAR(power, 0, 1e-11);
    EXPECT_GT(size, 10) << "something is carried";
}

TEST_F(StaggeredFlow, DiffusionDampsAModeAsTheSecondDifferenceDoes) {
    constexpr int n = 12;
    for (const std::size_t component : {0, 1, 2})
        for (const int axis : {0, 1, 2}) {
            Box box(n, n, n);
            const auto mode = [&](int x, int y, int z) {
                return std::sin(2 * std::numbers::pi * 2 * std::array{x, y, z}.at(static_cast<std::size_t>(axis)) / n);
            };
            fill(box.change(component));
            const std::vector<double> before = box.change(component);
            box.number(Number::keep) = -0.5, box.number(Number::dt) = 0.2, box.number(Number::diffusion) = 0.3;
            for (int z = 0; z < n; ++z)
                for (int y = 0; y < n; ++y)
                    for (int x = 0; x < n; ++x) box.velocity(component)[box.at(x, y, z)] = mode(x, y, z);
            box.run("momentum");
            const double damping = 4 * std::pow(std::sin(std::numbers::pi * 2 / n), 2);
            for (int z = 0; z < n; ++z)
                for (int y = 0; y < n; ++y)
                    for (int x = 0; x < n; ++x)
                        EXPECT_NEAR(box.change(component)[box.at(x, y, z)], -0.5 * before[box.at(x, y, z)] - 0.2 * 0.3 * damping * mode(x, y, z),
                                    1e-14);
        }
}

// A wave of one component that a uniform flow along an axis carries.
TEST_F(StaggeredFlow, AUniformFlowCarriesAWave) {
    constexpr int n = 10;
    constexpr double speed = 0.7, theta = 2 * std::numbers::pi / n;
    for (const std::size_t axis : {0, 1, 2})
        for (const std::size_t component : {0, 1, 2}) {
            if (component == axis) continue;
            Box box(n, n, n);
            box.number(Number::dt) = 1, box.number(Number::convection) = 0.25;
            std::fill(box.velocity(axis).begin(), box.velocity(axis).end(), speed);
            const auto phase = [&](int x, int y, int z) { return theta * std::array{x, y, z}.at(axis); };
            for (int z = 0; z < n; ++z)
                for (int y = 0; y < n; ++y)
                    for (int x = 0; x < n; ++x) box.velocity(component)[box.at(x, y, z)] = std::sin(phase(x, y, z));
            box.run("momentum");
            // -speed times the central difference, which is cos(phase) sin(theta).
            for (int z = 0; z < n; ++z)
                for (int y = 0; y < n; ++y)
                    for (int x = 0; x < n; ++x)
                        EXPECT_NEAR(box.change(component)[box.at(x, y, z)], -speed * std::cos(phase(x, y, z)) * std::sin(theta), 1e-14);
        }
}

// The gradient is the negative transpose of the divergence.
TEST_F(StaggeredFlow, ProjectionIsTheTransposeOfDivergence) {
    Box box(6, 7, 4);
    for (const std::size_t c : {0, 1, 2}) fill(box.velocity(c));
    const std::vector<double> inflow = box.divergence();
    Box other(6, 7, 4);
    fill(other.pressure());
    other.number(Number::per_width) = 1;
    other.run("projection");
    double sum = 0;
    for (const std::size_t c : {0, 1, 2}) sum += product(box.velocity(c), other.velocity(c));
    EXPECT_NEAR(product(inflow, other.pressure()), -sum, 1e-12);
    EXPECT_GT(product(inflow, inflow), 1);
}

// The share of the changes is in both: the divergence is that of what projection adds it to.
TEST_F(StaggeredFlow, DivergenceAndProjectionTakeTheSameShareOfTheChanges) {
    Box box(5, 6, 7);
    for (const std::size_t c : {0, 1, 2}) fill(box.velocity(c)), fill(box.change(c));
    box.number(Number::share) = 0.4, box.number(Number::per_width) = 3;
    box.run("divergence");
    const std::vector<double> foreseen = box.pressure();
    std::fill(box.pressure().begin(), box.pressure().end(), 0.0);
    box.run("projection");
    box.number(Number::share) = 0;
    box.run("divergence");
    for (std::size_t i = 0; i < foreseen.size(); ++i) EXPECT_NEAR(box.pressure()[i], foreseen[i], 1e-13);
}

TEST_F(StaggeredFlow, RefusesRowsThatAreTooShort) {
    const Families families({staggered_flow()});
    const Problem problem = families.parse_problem("staggered_flow kernel=momentum precision=f64 nx=20 ny=4 nz=4 pitch=19");
    try {
        families.of(problem).arrays(problem);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("pitch is 19; a row has 20 words"));
    }
}

}  // namespace
}  // namespace hone::staggered_flow_test::family_test
