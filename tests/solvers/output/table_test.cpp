#include "solvers/output/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::table_test {
namespace {

std::string written(const Table& table) {
    const test::TemporaryFolder folder;
    write_csv(folder.path() / "table.csv", table);
    std::ifstream stream(folder.path() / "table.csv");
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(Table, IsALineOfNamesAndALineForEachRow) {
    EXPECT_EQ(written({{"step", "time", "energy"}, {{0, 0, 1}, {20, 0.1, -2.5e-30}}}), "step,time,energy\n0,0,1\n20,0.1,-2.5e-30\n");
    EXPECT_EQ(written({{"time"}, {}}), "time\n");
}

TEST(Table, NumbersAreReadBackAsTheyWere) {
    test::FreshRandom random;
    std::uniform_real_distribution<> exponent(-300, 300);
    for (int i = 0; i < 100; ++i) {
        const double number = std::pow(10.0, exponent(random));
        std::istringstream lines(written({{"number"}, {{number}}}));
        std::string line;
        std::getline(lines, line);
        std::getline(lines, line);
        EXPECT_EQ(std::stod(line), number) << line;
    }
}

TEST(Table, CurvesAreColumnsOverAnother) {
    const Table table{{"step", "time", "inner", "outer"}, {{0, 0.5, 1, 10}, {1, 0.75, 2, 20}}};
    const auto curves = table.curves("time", {"outer", "inner"});
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0].name, "outer");
    EXPECT_EQ(curves[0].points, (std::vector<std::pair<double, double>>{{0.5, 10}, {0.75, 20}}));
    EXPECT_EQ(curves[1].name, "inner");
    EXPECT_EQ(curves[1].points, (std::vector<std::pair<double, double>>{{0.5, 1}, {0.75, 2}}));
    EXPECT_THROW(table.curves("time", {"middle"}), Error);
    EXPECT_THROW(table.curves("place", {"inner"}), Error);
}

TEST(Table, RefusesAPlaceThatIsNone) {
    EXPECT_THROW(write_csv("/nowhere/at/all.csv", {}), Error);
}

}  // namespace
}  // namespace hone::solvers::table_test
