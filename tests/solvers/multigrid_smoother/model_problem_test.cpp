#include "solvers/multigrid_smoother/model_problem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "foundation/error.hpp"

namespace hone::solvers::model_problem_test {
namespace {

TEST(ModelProblem, TheDiscreteSolutionComesToTheContinuousOneWithOrderTwo) {
    for (const char* name : {"seven_point", "trilinear"}) {
        const double coarse = std::abs(ModelProblem(name, 31).amplitude - 1), fine = std::abs(ModelProblem(name, 63).amplitude - 1);
        EXPECT_NEAR(std::log2(coarse / fine), 2, 0.02) << name;
        EXPECT_LT(fine, 2e-3) << name;
    }
    EXPECT_THROW(ModelProblem("bilinear", 7), Error);
}

TEST(ModelProblem, TheDiscreteSolutionSolvesTheEquations) {
    for (const char* name : {"seven_point", "trilinear"}) {
        const ModelProblem problem(name, 6);
        const auto s = problem.coefficients();
        for (const auto& [x, y, z] : {std::array{1, 1, 1}, std::array{3, 2, 6}, std::array{6, 4, 5}}) {
            double sum = 0;
            for (int k = 0; k < 27; ++k)
                sum += s[static_cast<std::size_t>(k)] * problem.amplitude * problem.mode(x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
            EXPECT_NEAR(sum, problem.source * problem.mode(x, y, z), 1e-12 * std::abs(s[13])) << name;
        }
    }
}

TEST(ModelProblem, ErrorsOfTheSevenPointOperatorShrinkByTheSquaredCosine) {
    const ModelProblem problem("seven_point", 9);
    ColourErrors errors(problem);
    for (int sweep = 0; sweep < 200; ++sweep) errors.sweep();
    const double before = errors.of(7);
    errors.sweep();
    EXPECT_NEAR(errors.of(7) / before, std::pow(problem.cosine, 2), 1e-10);
    EXPECT_GE(errors.largest(), std::abs(errors.of(7)));
}

}  // namespace
}  // namespace hone::solvers::model_problem_test
