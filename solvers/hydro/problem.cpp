#include "solvers/hydro/problem.hpp"

#include <cmath>
#include <map>
#include <numbers>

#include "foundation/error.hpp"
#include "foundation/value.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

using std::numbers::pi;

HydroProblem sedov(int dimension) {
    HydroProblem problem{"sedov", dimension, dimension == 2 ? 0.8 : 0.6, {}};
    problem.box.zones = dimension == 2 ? std::array{16, 16, 1} : std::array{8, 8, 8};
    problem.blast = dimension == 2 ? 1 : 2;
    return problem;
}

HydroProblem triple_point(int dimension) {
    HydroProblem problem{"triple-point", dimension, 3, {}};
    problem.box.zones = {28, 12, 6};
    problem.box.high = {7, 3, 1.5};
    const auto upper_gas = [](const Point& at) { return at[0] > 1 && at[1] > 1.5; };
    problem.gamma = [](const Point& at) { return at[0] > 1 && at[1] <= 1.5 ? 1.4 : 1.5; };
    problem.density = [upper_gas](const Point& at) { return upper_gas(at) ? 0.125 : 1.0; };
    problem.energy = [density = problem.density, gamma = problem.gamma](const Point& at) {
        return (at[0] > 1 ? 0.1 : 1.0) / (density(at) * (gamma(at) - 1));
    };
    return problem;
}

HydroProblem taylor_green(int dimension) {
    HydroProblem problem{"taylor-green", dimension, 0.75, {}};
    problem.box.zones = dimension == 2 ? std::array{16, 16, 1} : std::array{4, 4, 4};
    problem.viscosity = false;
    problem.heated = dimension == 2;
    problem.gamma = [](const Point&) { return 5.0 / 3; };
    problem.energy = [dimension](const Point& at) {
        const double plane = std::cos(2 * pi * at[0]) + std::cos(2 * pi * at[1]);
        const double pressure = dimension == 2 ? 1 + plane / 4 : 100 + ((std::cos(2 * pi * at[2]) + 2) * plane - 2) / 16;
        return pressure / (5.0 / 3 - 1);
    };
    problem.velocity = [dimension](const Point& at) {
        const double along = dimension == 2 ? 1 : std::cos(pi * at[2]);
        return Point{std::sin(pi * at[0]) * std::cos(pi * at[1]) * along, -std::cos(pi * at[0]) * std::sin(pi * at[1]) * along, 0};
    };
    return problem;
}

HydroProblem sod(int dimension) {
    HydroProblem problem{"sod", dimension, 0.2, {}};
    problem.box.zones = {64, 1, 1};
    problem.box.high = {1, 1.0 / 64, 1.0 / 64};
    problem.density = [](const Point& at) { return at[0] < 0.5 ? 1 : 0.125; };
    problem.energy = [](const Point& at) { return at[0] < 0.5 ? 2.5 : 2; };
    return problem;
}

// Walls where the axes are; the outer sides fall in with the gas.
HydroProblem noh(int dimension) {
    HydroProblem problem{"noh", dimension, 0.6, {}};
    problem.box.zones = dimension == 2 ? std::array{16, 16, 1} : std::array{6, 6, 6};
    constexpr int free_side = 4;
    problem.box.attributes = {{{1, free_side}, {2, free_side}, {3, free_side}}};
    problem.gamma = [](const Point&) { return 5.0 / 3; };
    problem.velocity = [](const Point& at) {
        const double radius = std::hypot(at[0], at[1], at[2]);
        return radius > 0 ? Point{-at[0] / radius, -at[1] / radius, -at[2] / radius} : Point{};
    };
    return problem;
}

using Maker = HydroProblem (*)(int);
const std::map<std::string, Maker>& makers() {
    static const std::map<std::string, Maker> all{
        {"sedov", sedov}, {"triple-point", triple_point}, {"taylor-green", taylor_green}, {"sod", sod}, {"noh", noh}};
    return all;
}

}  // namespace

HydroProblem hydro_problem(const std::string& name, int dimension) {
    const auto maker = makers().find(name);
    if (maker == makers().end())
        throw Error("problem " + name, "there is no such problem", hone::did_you_mean(name, hydro_problem_names()) + "see --help");
    if (dimension != 2 && dimension != 3) throw Error("dimension of " + name, "it is " + std::to_string(dimension), "use 2 or 3");
    HydroProblem problem = maker->second(dimension);
    problem.box.dimension = dimension;
    return problem;
}

std::vector<std::string> hydro_problem_names() {
    std::vector<std::string> names;
    for (const auto& [name, maker] : makers()) names.push_back(name);
    return names;
}

double vortex_heating(const Point& at) {
    return 3 * pi / 8 * (std::cos(3 * pi * at[0]) * std::cos(pi * at[1]) - std::cos(pi * at[0]) * std::cos(3 * pi * at[1]));
}

const std::vector<KnownRun>& known_runs() {
    static const std::vector<KnownRun> runs{
        {"sedov", 2, {16, 16, 1}, 1, 0.8, 1154, true, 4.6303396053e+01},       {"sedov", 3, {8, 8, 8}, 2, 0.6, 560, true, 1.3408616722e+02},
        {"triple-point", 2, {28, 12, 1}, 0, 3, 2872, true, 5.6547039096e+01},  {"taylor-green", 2, {16, 16, 1}, 0, 0.75, 339, true, 4.9695537349e+01},
        {"taylor-green", 3, {4, 4, 4}, 0, 0.75, 1041, true, 3.3909635545e+03}, {"sedov", 2, {2, 2, 1}, 1, 0.6, 5, false, 3.508254945225794},
        {"sedov", 2, {2, 2, 1}, 1, 0.6, 15, false, 2.756444596823211},         {"sedov", 3, {2, 2, 2}, 1, 0.6, 5, false, 6.695818592962833},
        {"sedov", 3, {2, 2, 2}, 1, 0.6, 20, false, 4.267902387082487}};
    return runs;
}

}  // namespace hone::inline v0_1::solvers::hydro
