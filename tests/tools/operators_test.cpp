#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "generator/families/elements/reference_element.hpp"
#include "tests/tools/ask.hpp"
#include "tools/console/json.hpp"

namespace hone::tools::operators_test {
namespace {

using test::Answer;
using test::ask;
using testing::HasSubstr;

Json printed(const std::string& element, int order) {
    const Answer answer = ask({"operators", "--element", element, "--order", std::to_string(order), "--json"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    return Json::parse(answer.out);
}

double entry(const Json& matrix, std::size_t row, std::size_t column) {
    return matrix[row][column].get<double>();
}

// With what is printed alone another code can differentiate, and integrate over faces by parts:
// what LIFT is for.
TEST(OperatorsCommand, PrintsWhatAnotherCodeNeeds) {
    for (const char* const element : {"triangle", "tetrahedron"})
        for (const int order : {1, 4}) {
            SCOPED_TRACE(std::string(element) + " " + std::to_string(order));
            const Json document = printed(element, order);
            const Json& nodes = document["nodes"];
            const auto count = nodes.size();
            double volume = 0;
            for (std::size_t i = 0; i < count; ++i) {
                double slope = 0;
                for (std::size_t j = 0; j < count; ++j) {
                    slope += entry(document["Ds"], i, j) * nodes[j][1].get<double>();
                    volume += entry(document["M"], i, j);
                }
                EXPECT_NEAR(slope, 1, 1e-12);
            }
            EXPECT_NEAR(volume, std::string(element) == "triangle" ? 2 : 4.0 / 3, 1e-12);
            for (std::size_t f = 0; f < document["face_masks"].size(); ++f)
                for (const std::size_t node : document["face_masks"][f]) EXPECT_LT(node, count);
            // The integral of 1 over each face (in its own reference coordinates: 2 along an edge,
            // 2 over a triangle) is that of M LIFT.
            const std::size_t face_nodes = document["face_masks"][0].size();
            for (std::size_t f = 0; f < document["face_masks"].size(); ++f) {
                double integral = 0;
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t j = 0; j < count; ++j)
                        for (std::size_t c = 0; c < face_nodes; ++c)
                            integral += entry(document["M"], i, j) * entry(document["LIFT"], j, f * face_nodes + c);
                EXPECT_NEAR(integral, 2, 1e-11);
            }
        }
}

TEST(OperatorsCommand, IsReadable) {
    const Answer answer = ask({"operators", "--element", "tetrahedron", "--order", "2"});
    EXPECT_EQ(answer.code, Exit::ok);
    EXPECT_THAT(answer.out, HasSubstr("tetrahedron of order 2: 10 nodes, 6 on each of 4 faces"));
    EXPECT_THAT(answer.out, HasSubstr("10 x 24"));
    // The norm of Dr is 7 at order 2.
    EXPECT_THAT(answer.out, testing::ContainsRegex("Dr +10 x 10 +[0-9.]+ % +7 "));
    const Answer matrix = ask({"operators", "--element", "triangle", "--order", "1", "--matrix", "Dr"});
    EXPECT_THAT(matrix.out, HasSubstr("0.500000000000000"));
    EXPECT_EQ(matrix.out.find("node "), std::string::npos);
}

TEST(OperatorsCommand, RefusesWhatIsNot) {
    EXPECT_THAT(ask({"operators", "--element", "tetrahedorn"}).error, HasSubstr("did you mean tetrahedron?"));
    EXPECT_THAT(ask({"operators", "--matrix", "LFIT"}).error, HasSubstr("did you mean LIFT?"));
    EXPECT_THAT(ask({"operators", "--element", "triangle", "--matrix", "Dt"}).error, HasSubstr("use one of V, Dr, Ds, M, LIFT"));
    for (const char* const order : {"11", "4294967299", "9223372036854775807"})
        EXPECT_EQ(ask({"operators", "--order", order}).code, Exit::wrong_input) << order;
}

}  // namespace
}  // namespace hone::tools::operators_test
