#include "generator/families/poisson7/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "tests/generator/families/poisson7/arrays.hpp"

namespace hone::poisson7_test::family_test {
namespace {

using test::PoissonArrays;

Problem parse(const std::string& rest) {
    static const Families table({poisson7()});
    return table.parse_problem("poisson7 " + rest);
}

constexpr std::array boundaries{"periodic", "dirichlet", "neumann"};
constexpr std::array coefficients{"scalar", "axis", "face"};

class Poisson7 : public ::testing::Test {
  protected:
    Poisson7() : seed_(std::random_device{}()), random_(seed_), trace_(__FILE__, __LINE__, fmt::format("seed {}", seed_)) {}
    double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }

    // Random couplings, negative as those of a positive operator.
    void set_couplings(PoissonArrays& m) {
        for (const char* name : {"cx", "cy", "cz"})
            if (m.has(name))
                for (double& value : m[name]) value = uniform(-1, -0.1);
        if (m.has("coefficients")) m["coefficients"] = {uniform(1, 2), uniform(-1, 0), uniform(-1, 0), uniform(-1, 0), uniform(0, 1)};
        if (m.has("diagonal"))
            for (double& value : m["diagonal"]) value = uniform(1, 2);
    }

    std::random_device::result_type seed_;
    std::mt19937_64 random_;
    ::testing::ScopedTrace trace_;
};

// A mode along one axis that a boundary allows, and its phase angle from cell to cell.
struct Mode {
    double angle, shift;
    bool sine;

    Mode(const std::string& boundary, int cells, int number) {
        sine = boundary == "dirichlet";
        angle = boundary == "periodic" ? 2 * M_PI * number / cells : sine ? M_PI * (number + 1) / (cells + 1) : M_PI * number / cells;
        shift = boundary == "periodic" ? 0.3 : sine ? angle : angle / 2;
    }
    double operator()(int n) const { return sine ? std::sin(angle * n + shift) : std::cos(angle * n + shift); }
    double eigenvalue(double h) const { return 4 / (h * h) * std::pow(std::sin(angle / 2), 2); }
};

TEST_F(Poisson7, ModesOfTheLaplacianAreItsEigenvectors) {
    for (const std::string boundary : boundaries)
        for (const char* kind : coefficients) {
            PoissonArrays m(parse(fmt::format("kernel=apply coefficients={} boundary={} precision=f64 nx=12 ny=7 nz=9", kind, boundary)));
            const double h = uniform(0.5, 2);
            const Mode x(boundary, 12, static_cast<int>(random_() % 6)), y(boundary, 7, static_cast<int>(random_() % 4)), z(boundary, 9, 2);
            m.set_laplacian(h);
            m.set("p", [&](int i, int j, int k) { return x(i) * y(j) * z(k); });
            m.step();
            const double eigenvalue = x.eigenvalue(h) + y.eigenvalue(h) + z.eigenvalue(h);
            double error = 0;
            m.for_cells([&](int i, int j, int k) { error = std::max(error, std::abs(m.at("w", i, j, k) - eigenvalue * m.at("p", i, j, k))); });
            EXPECT_LT(error, 40 * 0x1p-53 * 12 / (h * h)) << boundary << ' ' << kind;  // 20 roundings of terms within 12 / h^2, and the cosines'
        }
}

// Without a source, pressure is constant where nothing fixes it.
TEST_F(Poisson7, RowsAddUpToNothingWhereNothingIsFixed) {
    for (const char* boundary : {"periodic", "neumann"}) {
        PoissonArrays m(parse(fmt::format("kernel=apply coefficients=face boundary={} precision=f64 nx=6 ny=5 nz=4", boundary)));
        set_couplings(m);
        // Minus the sum of the couplings is what the operator with no diagonal makes of ones.
        std::fill(m["diagonal"].begin(), m["diagonal"].end(), 0);
        m.set("p", [](int, int, int) { return 1; });
        m.step();
        m.set("diagonal", [&](int i, int j, int k) { return -m.at("w", i, j, k); });
        m.step();
        m.for_cells([&](int i, int j, int k) { EXPECT_NEAR(m.at("w", i, j, k), 0, 1e-14) << boundary; });
        m.set("p", [&](int, int, int) { return uniform(-1, 1); });
        m.step();
        double sum = 0;
        m.for_cells([&](int i, int j, int k) { sum += m.at("w", i, j, k); });
        EXPECT_NEAR(sum, 0, 1e-12) << "columns do too, of a symmetric operator";
    }
}

TEST_F(Poisson7, TheOperatorIsSymmetric) {
    for (const char* boundary : boundaries)
        for (const char* kind : {"scalar", "face"}) {
            const Problem problem = parse(fmt::format("kernel=apply coefficients={} boundary={} precision=f64 nx=7 ny=4 nz=5", kind, boundary));
            PoissonArrays m(problem);
            set_couplings(m);
            PoissonArrays other = m;
            m.set("p", [&](int, int, int) { return uniform(-1, 1); });
            other.set("p", [&](int, int, int) { return uniform(-1, 1); });
            m.step();
            other.step();
            double difference = 0;
            m.for_cells([&](int i, int j, int k) {
                difference += m.at("w", i, j, k) * other.at("p", i, j, k) - m.at("p", i, j, k) * other.at("w", i, j, k);
            });
            EXPECT_NEAR(difference, 0, 1e-12) << boundary << ' ' << kind;
        }
}

// -Laplace of sin x sin y sin z, cells doubled: a quarter of the error.
TEST_F(Poisson7, TheLaplacianIsOfSecondOrder) {
    std::array<double, 2> errors{};
    for (const std::size_t level : {0U, 1U}) {
        const int n = level == 0 ? 12 : 24;
        PoissonArrays m(parse(fmt::format("kernel=apply coefficients=scalar boundary=periodic precision=f64 nx={0} ny={0} nz={0}", n)));
        const double h = 2 * M_PI / n;
        m.set_laplacian(h);
        m.set("p", [&](int i, int j, int k) { return std::sin(h * i) * std::sin(h * j) * std::sin(h * k); });
        m.step();
        m.for_cells([&](int i, int j, int k) { errors[level] = std::max(errors[level], std::abs(m.at("w", i, j, k) - 3 * m.at("p", i, j, k))); });
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

TEST_F(Poisson7, DirectionHalfIsThePlainRecurrence) {
    for (const char* kind : coefficients) {
        const std::string rest = fmt::format(" coefficients={} boundary=periodic precision=f64 nx=5 ny=4 nz=6", kind);
        PoissonArrays half(parse("kernel=direction" + rest));
        PoissonArrays m(parse("kernel=apply_dot" + rest));
        set_couplings(half);
        for (const char* name : {"cx", "cy", "cz", "diagonal", "coefficients"})
            if (m.has(name)) m[name] = half[name];
        for (const char* name : {"z", "p_old", "x"}) half.set(name, [&](int, int, int) { return uniform(-1, 1); });
        const double alpha = uniform(0, 1), beta = uniform(0, 1), delta = uniform(0, 1);
        half["scalars"][poisson::scalar::alpha] = alpha;
        half["scalars"][poisson::scalar::beta] = beta;
        half["scalars"][poisson::scalar::delta] = delta;
        const std::vector<double> x_old = half["x"];
        half.step();
        m.set("p", [&](int i, int j, int k) { return half.at("z", i, j, k) + beta * half.at("p_old", i, j, k); });
        m.step();
        half.for_cells([&](int i, int j, int k) {
            EXPECT_NEAR(half.at("p", i, j, k), m.at("p", i, j, k), 1e-15);
            EXPECT_NEAR(half.at("w", i, j, k), m.at("w", i, j, k), 1e-14);
        });
        for (std::size_t n = 0; n < x_old.size(); ++n) EXPECT_NEAR(half["x"][n], x_old[n] + alpha * half["p_old"][n], 1e-15);
        const double gamma = m["dot"][0];
        EXPECT_NEAR(half["scalars"][poisson::scalar::gamma], gamma, 1e-14);
        EXPECT_NEAR(half["scalars"][poisson::scalar::alpha], gamma > 0 ? delta / gamma : 0, 1e-12 * std::max(1.0, 1 / gamma / gamma));
        EXPECT_EQ(half["scalars"][poisson::scalar::breakdown], gamma > 0 ? 0 : 1);
    }
}

// z = c Q r - Q M Q r, whatever the coefficients and boundary.
TEST_F(Poisson7, ResidualHalfAppliesThePolynomial) {
    for (const char* boundary : boundaries)
        for (const char* kind : coefficients) {
            const std::string rest = fmt::format(" coefficients={} boundary={} precision=f64 nx=5 ny=3 nz=6", kind, boundary);
            PoissonArrays half(parse("kernel=residual" + rest));
            PoissonArrays m(parse("kernel=apply" + rest));
            set_couplings(m);
            for (const char* name : {"cx", "cy", "cz", "coefficients"})
                if (m.has(name)) half[name] = m[name];
            if (m.has("diagonal"))
                m.for_cells([&](int i, int j, int k) { half.at("inverse_diagonal", i, j, k) = 1 / m.at("diagonal", i, j, k); });
            else
                half["coefficients"][4] = 1 / m["coefficients"][0];
            const auto inverse = [&](int i, int j, int k) { return m.has("diagonal") ? 1 / m.at("diagonal", i, j, k) : 1 / m["coefficients"][0]; };
            for (const char* name : {"r_old", "w"}) half.set(name, [&](int, int, int) { return uniform(-1, 1); });
            constexpr double c = 2.05;
            std::vector<double>& s = half["scalars"];
            s[poisson::scalar::alpha] = uniform(0, 1), s[poisson::scalar::mean] = uniform(-1, 1), s[poisson::scalar::delta] = 0.5;
            s[poisson::scalar::own_weight] = c - 1, s[poisson::scalar::neighbour_weight] = 1, s[poisson::scalar::iterations] = 257;
            const double alpha = s[poisson::scalar::alpha], mean = s[poisson::scalar::mean];
            half.step();
            m.set("p", [&](int i, int j, int k) { return inverse(i, j, k) * half.at("r", i, j, k); });
            m.step();
            double delta = 0, square = 0;
            half.for_cells([&](int i, int j, int k) {
                EXPECT_NEAR(half.at("r", i, j, k), half.at("r_old", i, j, k) - alpha * half.at("w", i, j, k) - mean, 1e-15);
                EXPECT_NEAR(half.at("z", i, j, k), c * m.at("p", i, j, k) - inverse(i, j, k) * m.at("w", i, j, k), 1e-13) << boundary << ' ' << kind;
                delta += half.at("z", i, j, k) * half.at("r", i, j, k) / 90;
                square += half.at("r", i, j, k) * half.at("r", i, j, k) / 90;
            });
            EXPECT_NEAR(s[poisson::scalar::delta], delta, 1e-13);
            EXPECT_NEAR(s[poisson::scalar::beta], delta / 0.5, 1e-12);
            EXPECT_NEAR(half["history"][1], square, 1e-13);
            EXPECT_EQ(s[poisson::scalar::iterations], 258);
        }
}

// A layer of solid cells around a grid is its boundary: zero with the full diagonal, impermeable
// with what is left of it.
TEST_F(Poisson7, SolidCellsAreWalls) {
    for (const std::string boundary : {"dirichlet", "neumann"}) {
        PoissonArrays inner(parse("kernel=residual coefficients=axis boundary=" + boundary + " precision=f64 nx=4 ny=5 nz=3"));
        PoissonArrays walled(parse("kernel=residual coefficients=axis boundary=periodic precision=f64 nx=6 ny=7 nz=5"));
        inner.set_laplacian(1);
        walled.set_laplacian(1);
        const auto fluid = [](int n, int cells) { return n > 0 && n < cells - 1; };
        const auto is_fluid = [&](int i, int j, int k) { return fluid(i, 6) && fluid(j, 7) && fluid(k, 5); };
        walled.set("inverse_diagonal", [&](int i, int j, int k) -> double { return is_fluid(i, j, k) ? 1.0 / 6 : 0; });
        walled.set("r_old", [&](int i, int j, int k) -> double { return is_fluid(i, j, k) ? uniform(-1, 1) : 7; });
        inner.set("r_old", [&](int i, int j, int k) { return walled.at("r_old", i + 1, j + 1, k + 1); });
        // The polynomial of an impermeable wall has the smaller diagonal in M, but any positive Q
        // will do: here the same.
        for (auto* m : {&inner, &walled}) (*m)["scalars"][poisson::scalar::own_weight] = 1.05;
        for (auto* m : {&inner, &walled}) (*m)["scalars"][poisson::scalar::neighbour_weight] = boundary == "dirichlet" ? 1 : 0;
        inner.step();
        walled.step();
        inner.for_cells([&](int i, int j, int k) { EXPECT_NEAR(inner.at("z", i, j, k), walled.at("z", i + 1, j + 1, k + 1), 1e-15); });
        walled.for_cells([&](int i, int j, int k) {
            if (is_fluid(i, j, k)) return;
            EXPECT_EQ(walled.at("r", i, j, k), 0);
            EXPECT_EQ(walled.at("z", i, j, k), 0);
        });
    }
}

TEST_F(Poisson7, AnIterationMovesTwelveWordsPerCellOrTen) {
    const auto words = [](const std::string& kind) {
        const std::string rest = " coefficients=" + kind + " boundary=periodic precision=f64 nx=64 ny=64 nz=64";
        double bytes = 0;
        for (const char* kernel : {"kernel=direction", "kernel=residual"}) bytes += PoissonArrays::family().counts(parse(kernel + rest)).bytes;
        return bytes / (64 * 64 * 64 * 8);
    };
    EXPECT_NEAR(words("axis"), 12, 0.01);
    EXPECT_NEAR(words("scalar"), 10, 0.01);
}

TEST_F(Poisson7, RefusesArraysThatCannotBe) {
    const Family& family = PoissonArrays::family();
    const std::string rest = "kernel=apply coefficients=scalar boundary=periodic precision=f64 ny=4 nz=4 ";
    EXPECT_THROW(family.arrays(parse(rest + "nx=12 pitch=11")), Error);
    EXPECT_NO_THROW(family.arrays(parse(rest + "nx=12 pitch=12")));
    EXPECT_THROW(parse(rest + "nx=0"), Error);
}

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What runs untuned is what a textbook would print, whatever the problem; the tree of its sums
// stands around it.
TEST_F(Poisson7, TheSafeKernelOnCudaIsPlain) {
    constexpr std::size_t longest = 60;
    for (const std::string kernel : {"apply", "apply_dot", "direction", "residual", "direction_part", "residual_part"})
        for (const char* kind : coefficients)
            for (const char* boundary : boundaries)
                for (const char* precision : {"f32", "f64"}) {
                    const Problem problem =
                        parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=64 ny=64 nz=64", kernel, kind, boundary, precision));
                    const SearchSpace space = poisson7().space(problem, cuda_limits(90));
                    const std::string text = poisson7().kernel(problem, space.safe(), cuda_limits(90)).text;
                    const std::size_t begin = text.find("extern \"C\""), end = text.find("\n}\n", begin);
                    ASSERT_NE(end, std::string::npos);
                    EXPECT_LE(lines_of(text.substr(begin, end - begin)), longest) << text;
                    if (kernel == "apply") EXPECT_LE(lines_of(text), longest) << text;
                }
}

TEST_F(Poisson7, FormerNamesOfTunablesAreAsGoodAsTodays) {
    const Problem problem = parse("kernel=residual coefficients=scalar boundary=dirichlet precision=f32 nx=64 ny=64 nz=64");
    const SearchSpace on_gpus = poisson7().space(problem, cuda_limits(90)), on_processors = poisson7().space(problem, cpu_limits());
    EXPECT_EQ(on_gpus.parse("form=shared,planes_ahead=2,once=streaming,lead=1").key(),
              on_gpus.parse("form=shared,prefetch=2,cache_hint=streaming,max_lead=1").key());
    EXPECT_EQ(on_processors.parse("rows_ahead=8").key(), on_processors.parse("prefetch_rows=8").key());
}

}  // namespace
}  // namespace hone::poisson7_test::family_test
