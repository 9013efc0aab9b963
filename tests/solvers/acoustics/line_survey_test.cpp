#include "solvers/acoustics/line_survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::solvers::seismic::line_survey_test {
namespace {

using testing::HasSubstr;

Model model_of(int dimension) {
    return homogeneous_model(dimension, {40, dimension == 3 ? 30 : 20, dimension == 3 ? 20 : 1}, 10, 2000, 1000);
}

TEST(LineSurvey, IsInTheMiddleUnlessItIsAskedForElsewhere) {
    const Survey flat = survey_of({.ricker = {15}}, model_of(2));
    EXPECT_EQ(flat.ricker.frequency, 15);
    EXPECT_EQ(flat.source, (Cell{20, 4, 0}));
    ASSERT_EQ(flat.receivers.size(), 10U) << "one in four cells";
    EXPECT_EQ(flat.receivers.front(), (Cell{2, 4, 0}));
    EXPECT_EQ(flat.receivers.back(), (Cell{38, 4, 0}));
    EXPECT_EQ(survey_of({}, model_of(3)).source, (Cell{20, 15, 4}));
    EXPECT_EQ(survey_of({}, homogeneous_model(2, {40, 3, 1}, 10, 2000, 1000)).source, (Cell{20, 2, 0})) << "the deepest there is";
}

TEST(LineSurvey, MetresBecomeTheCellsAroundThem) {
    const Survey survey = survey_of({.source = {0, 299.9, 55}, .receivers = 2, .receiver_depth = 7}, model_of(3));
    EXPECT_EQ(survey.source, (Cell{0, 29, 5}));
    EXPECT_EQ(survey.receivers, (std::vector<Cell>{{10, 29, 7}, {30, 29, 7}}));
}

TEST(LineSurvey, RefusesPlacesThatAreNotInTheModel) {
    const auto refusal = [](int dimension, const std::vector<double>& source) -> std::string {
        try {
            survey_of({.source = source}, model_of(dimension), "--source");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal(2, {1, 2, 3}), HasSubstr("--source: 3 numbers; give 2: x and depth"));
    EXPECT_THAT(refusal(3, {1, 2}), HasSubstr("give 3: x, y and depth"));
    EXPECT_THAT(refusal(2, {1, -2}), HasSubstr("-2 m lie outside of the model; give 0 m to below 200 m"));
    EXPECT_THAT(refusal(2, {400, 1}), HasSubstr("400 m lie outside"));
    EXPECT_THAT(refusal(2, {std::numeric_limits<double>::quiet_NaN(), 1}), HasSubstr("lie outside"));
}

TEST(Wall, IsReadAsItIsNamed) {
    EXPECT_EQ(parse_wall("absorbing"), Wall::absorbing);
    EXPECT_EQ(parse_wall("rigid"), Wall::rigid);
    EXPECT_EQ(parse_wall("free"), Wall::free_surface);
    EXPECT_THROW(parse_wall("open"), Error);
    WaveSettings settings;
    settings.set_walls(3, Wall::free_surface, Wall::rigid);
    for (const int axis : {0, 1, 2})
        for (const int end : {0, 1})
            EXPECT_EQ(settings.walls[static_cast<std::size_t>(axis)][static_cast<std::size_t>(end)],
                      axis == 2 && end == 0 ? Wall::free_surface : Wall::rigid);
}

}  // namespace
}  // namespace hone::solvers::seismic::line_survey_test
