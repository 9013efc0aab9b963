#include "solvers/output/vtk_elements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::vtk_elements_test {
namespace {

using testing::HasSubstr;

// The order of nodes is VTK's own: sums over nodes i of (i + 1) (b0 + 11 b1 + 121 b2), as VTK 9.7's
// vtkHigherOrderTriangle and vtkHigherOrderTetra give them by BarycentricIndex for orders 1 to 10.
TEST(VtkElementNodes, AreInVtksOrder) {
    const std::array<std::array<long, 10>, 2> sums{{{35, 200, 753, 2155, 5107, 10653, 20220, 35655, 59328, 94172},
                                                    {519, 4578, 24802, 93230, 280305, 725376, 1681620, 3572253, 7065969, 13173192}}};
    for (const int dimension : {2, 3})
        for (int order = 1; order <= 10; ++order) {
            SCOPED_TRACE(std::to_string(dimension) + " " + std::to_string(order));
            const auto lattice = vtk_lattice(dimension, order);
            EXPECT_EQ(std::set(lattice.begin(), lattice.end()).size(), lattice.size());
            long sum = 0;
            for (std::size_t i = 0; i < lattice.size(); ++i) {
                EXPECT_GE(std::min({lattice[i][0], lattice[i][1], lattice[i][2]}), 0);
                EXPECT_LE(lattice[i][0] + lattice[i][1] + lattice[i][2], order);
                sum += static_cast<long>(i + 1) * (lattice[i][0] + 11 * lattice[i][1] + 121 * lattice[i][2]);
            }
            EXPECT_EQ(sum, sums[static_cast<std::size_t>(dimension - 2)][static_cast<std::size_t>(order - 1)]);
        }
}

// Where nodes of a square and a cube of third order come: VTK 9.7.2 reads files in this order back
// to the cells' parametric places.
TEST(VtkElementNodes, OfSquaresAndCubesAreInVtksOrder) {
    const auto square = vtk_cube_lattice(2, 3);
    using Node = std::array<int, 3>;
    EXPECT_EQ(square, (std::vector<Node>{{0, 0, 0},
                                         {3, 0, 0},
                                         {3, 3, 0},
                                         {0, 3, 0},
                                         {1, 0, 0},
                                         {2, 0, 0},
                                         {3, 1, 0},
                                         {3, 2, 0},
                                         {1, 3, 0},
                                         {2, 3, 0},
                                         {0, 1, 0},
                                         {0, 2, 0},
                                         {1, 1, 0},
                                         {2, 1, 0},
                                         {1, 2, 0},
                                         {2, 2, 0}}));
    const auto cube = vtk_cube_lattice(3, 3);
    ASSERT_EQ(cube.size(), 64U);
    EXPECT_EQ(cube[6], (Node{3, 3, 3}));
    EXPECT_EQ(cube[8 + 8], (Node{1, 0, 3}));
    EXPECT_EQ(cube[8 + 16 + 5], (Node{0, 3, 2})) << "the third edge upwards, as before VTK 9.1";
    EXPECT_EQ(cube[32 + 1], (Node{0, 2, 1}));
    EXPECT_EQ(cube[32 + 12 + 3], (Node{2, 3, 2}));
    EXPECT_EQ(cube[32 + 16 + 2], (Node{1, 2, 0}));
    EXPECT_EQ(cube[56 + 5], (Node{2, 1, 2}));
    for (const int dimension : {2, 3})
        for (int order = 1; order <= 8; ++order) {
            const auto lattice = vtk_cube_lattice(dimension, order);
            const auto count = static_cast<std::size_t>((order + 1) * (order + 1) * (dimension == 3 ? order + 1 : 1));
            EXPECT_EQ(lattice.size(), count);
            EXPECT_EQ(std::set(lattice.begin(), lattice.end()).size(), count);
        }
}

TEST(VtkElementNodes, FileHoldsCellsAndFields) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "two.vtu";
    const std::vector<std::array<double, 3>> points(2 * 10, {1, 2, 3});
    std::vector<double> values(points.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * static_cast<double>(i);
    VtkElements elements(3, 2, points);
    elements.field("p", {values});
    elements.field("u", {values, values, values});
    const std::vector<double> materials{7, 8};
    elements.element_field("material", materials);
    EXPECT_THROW(elements.field("short", {std::span<const double>(values).first(3)}), Error);
    elements.write(file);
    const std::string text = read_file(file, 1 << 20);
    EXPECT_THAT(text, HasSubstr("<Piece NumberOfPoints=\"20\" NumberOfCells=\"2\">"));
    EXPECT_THAT(text, HasSubstr("Name=\"u\" NumberOfComponents=\"3\""));
    // The first appended array is p: its length in bytes, then its values in single precision.
    const std::size_t data = text.find("\n_") + 2;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + data, sizeof bytes);
    EXPECT_EQ(bytes, 20 * sizeof(float));
    float third = 0;
    std::memcpy(&third, text.data() + data + sizeof bytes + 2 * sizeof third, sizeof third);
    EXPECT_EQ(third, 1.0F);
    EXPECT_THROW(elements.write(folder.path() / "absent" / "two.vtu"), Error);
}

}  // namespace
}  // namespace hone::solvers::vtk_elements_test
