#include "solvers/acoustics/checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::solvers::seismic::checks_test {
namespace {

constexpr double dt = 0.001;

// What receivers of a homogeneous medium hear, `late` by some seconds.
std::vector<std::vector<float>> exact(const Model& model, const Survey& survey, double late) {
    std::vector<std::vector<float>> recording;
    for (const Cell& receiver : survey.receivers) {
        recording.emplace_back();
        const double away = std::hypot(receiver[0] - survey.source[0], receiver[1] - survey.source[1]) * model.spacing;
        for (int step = 1; step <= 400; ++step)
            recording.back().push_back(static_cast<float>(exact_pressure(2, survey.ricker, model.speed[0], away, step * dt - late)));
    }
    return recording;
}

const Survey survey{{20}, {10, 5, 0}, {{20, 5, 0}, {35, 30, 0}}};

TEST(AcousticChecks, FindWhatIsNotFinite) {
    EXPECT_TRUE(check_finite({{1, 2}}, {3}).good);
    EXPECT_FALSE(check_finite({{1, 2}}, {std::numeric_limits<float>::infinity()}).good);
    EXPECT_FALSE(check_finite({{1, 2}, {std::numeric_limits<float>::quiet_NaN()}}, {3}).good);
}

TEST(AcousticChecks, FindGrowingEnergy) {
    EXPECT_TRUE(check_energy({4, 4, 3, 1}, "f64").good);
    EXPECT_TRUE(check_energy({}, "f64").good);
    EXPECT_FALSE(check_energy({4, 4.01, 3}, "f32").good);
    EXPECT_FALSE(check_energy({4, std::numeric_limits<double>::quiet_NaN()}, "f32").good);
    EXPECT_FALSE(check_energy({1, 1 + 1e-6}, "f64").good);
}

TEST(AcousticChecks, FindArrivalsAtTheWrongTime) {
    const Model model = homogeneous_model(2, {40, 40, 1}, 10, 2000, 1000);
    EXPECT_TRUE(check_arrivals(exact(model, survey, 0), dt, model, survey).good);
    EXPECT_FALSE(check_arrivals(exact(model, survey, 0.1), dt, model, survey).good);
    EXPECT_FALSE(check_arrivals(exact(model, survey, -0.1), dt, model, survey).good);
    EXPECT_FALSE(check_arrivals({std::vector<float>(400), std::vector<float>(400)}, dt, model, survey).good) << "silence";
}

TEST(AcousticChecks, CompareWithTheExactSolutionWhereThereIsOne) {
    const Model model = homogeneous_model(2, {40, 40, 1}, 10, 2000, 1000);
    const auto with = [&](double late) { return check_exact(exact(model, survey, late), dt, model, {}, survey); };
    ASSERT_TRUE(with(0));
    EXPECT_TRUE(with(0)->good);
    EXPECT_FALSE(with(0.002)->good);
    WaveSettings rigid;
    rigid.walls[1][0] = Wall::rigid;
    EXPECT_FALSE(check_exact(exact(model, survey, 0), dt, model, rigid, survey)->good) << "without the echo";
    Model layered = model;
    layered.speed[0] = 2001;
    EXPECT_FALSE(check_exact(exact(model, survey, 0), dt, layered, {}, survey));
}

TEST(AcousticChecks, SayThatThereIsNothingToCompareYet) {
    const Model model = homogeneous_model(2, {40, 40, 1}, 10, 2000, 1000);
    const auto check = check_exact(std::vector<std::vector<float>>(survey.receivers.size(), std::vector<float>(1)), dt, model, {}, survey);
    ASSERT_TRUE(check);
    EXPECT_TRUE(check->good);
    EXPECT_EQ(check->text.find("inf"), std::string::npos) << check->text;
}

}  // namespace
}  // namespace hone::solvers::seismic::checks_test
