#include "generator/families/fe_mass/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "tests/generator/families/fe_mass/meshes.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::fe_mass_test::family_test {
namespace {

Problem parse(const std::string& rest) {
    static const Families table({fe_mass()});
    return table.parse_problem("fe_mass " + rest);
}

// The matrix with all its zeros: sums over points of products of whole functions, an element at a
// time.
std::vector<double> dense(const fe::Shape& shape, const Workload& work) {
    const fe::Axis axis(shape);
    const auto* nodes = static_cast<const std::int32_t*>(work.arrays[1].data());
    std::vector<double> matrix(static_cast<std::size_t>(shape.nodes * shape.nodes));
    const auto value = [&](int point, int node) {
        double product = 1;
        for (int along = 0; along < shape.dimension; ++along, point /= shape.points_along, node /= shape.nodes_along)
            product *= axis.basis(point % shape.points_along, node % shape.nodes_along);
        return product;
    };
    for (int element = 0; element < shape.elements; ++element)
        for (int point = 0; point < shape.element_points(); ++point) {
            const double weight = work.arrays[0].values<double>()[static_cast<std::size_t>(element * shape.element_points() + point)];
            for (int i = 0; i < shape.element_nodes(); ++i)
                for (int j = 0; j < shape.element_nodes(); ++j)
                    matrix.at(static_cast<std::size_t>(nodes[element * shape.element_nodes() + i] * shape.nodes +
                                                       nodes[element * shape.element_nodes() + j])) += value(point, i) * weight * value(point, j);
        }
    return matrix;
}

TEST(FeMass, TheReferenceIsTheDenseProduct) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    for (const char* text :
         {"dimension=2 order=3 components=2 elements=4 nodes=49", "kernel=apply_dot dimension=3 order=1 points=2 components=3 elements=8 nodes=27",
          "kernel=apply_dot dimension=3 order=2 points=4 elements=3 nodes=60",
          "kernel=apply_sums dimension=3 order=2 components=2 elements=3 nodes=67", "dimension=2 order=4 points=8 elements=1 nodes=25"}) {
        const Problem problem = parse(text);
        const fe::Shape shape(problem);
        const Workload work = fe::workload(problem, seed);
        const std::vector<double> matrix = dense(shape, work);
        const auto x = work.arrays[4].values<double>(), y = work.expected[5].values<double>();
        for (int c = 0; c < shape.components; ++c) {
            double dot = 0;
            std::vector<double> sums(static_cast<std::size_t>((shape.nodes + 31) / 32), 0.0);
            for (std::int64_t row = 0; row < shape.nodes; ++row) {
                double sum = 0;
                for (std::int64_t column = 0; column < shape.nodes; ++column)
                    sum += matrix[static_cast<std::size_t>(row * shape.nodes + column)] * x[static_cast<std::size_t>(c * shape.nodes + column)];
                EXPECT_NEAR(y[static_cast<std::size_t>(c * shape.nodes + row)], sum, 1e-12) << text;
                const double product = sum * x[static_cast<std::size_t>(c * shape.nodes + row)];
                dot += product;
                sums[static_cast<std::size_t>(row / 32)] += product;
            }
            for (std::size_t chunk = 0; shape.summed && !shape.dotted && chunk < sums.size(); ++chunk) {
                EXPECT_NEAR(work.expected[6].values<double>()[static_cast<std::size_t>(c) * sums.size() + chunk], sums[chunk], 1e-12) << text;
            }
            if (shape.dotted) {
                EXPECT_NEAR(work.expected[6].values<double>()[static_cast<std::size_t>(c)], dot / static_cast<double>(shape.nodes), 1e-12) << text;
            }
        }
    }
}

// M 1 sums up to the volume, whatever the order: functions of an element sum to one.
TEST(FeMass, TheMassOfAMeshIsItsVolumeTimesItsDensity) {
    test::FreshRandom random;
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (int order = 1; order <= (dimension == 2 ? 8 : 5); ++order) {
            const test::BoxMesh mesh(dimension, order, {2, 1, 2}, random());
            const Problem problem =
                parse(fmt::format("data=vertices dimension={} order={} elements={} nodes={}", dimension, order, mesh.elements, mesh.nodes));
            const std::vector<double> y = test::mass_product(problem, mesh, std::vector<double>(static_cast<std::size_t>(mesh.nodes), 1.0));
            const double mass = std::accumulate(y.begin(), y.end(), 0.0);
            EXPECT_NEAR(mass, 3.0 * (dimension == 2 ? 2 : 4), 1e-12) << dimension << "D, order " << order;
        }
}

TEST(FeMass, TheMatrixIsSymmetric) {
    test::FreshRandom random;
    const test::BoxMesh mesh(3, 3, {2, 2, 1}, random());
    const Problem problem = parse(fmt::format("data=vertices dimension=3 order=3 elements={} nodes={}", mesh.elements, mesh.nodes));
    const auto words = [&] {
        std::vector<double> result(static_cast<std::size_t>(mesh.nodes));
        for (double& word : result) word = std::uniform_real_distribution(-1.0, 1.0)(random);
        return result;
    };
    const std::vector<double> u = words(), v = words();
    const std::vector<double> mu = test::mass_product(problem, mesh, u), mv = test::mass_product(problem, mesh, v);
    EXPECT_NEAR(std::inner_product(mu.begin(), mu.end(), v.begin(), 0.0), std::inner_product(mv.begin(), mv.end(), u.begin(), 0.0), 1e-12);
}

// Parts of the elements make parts of the matrix.
TEST(FeMass, PartsOfTheElementsAddUpToTheWhole) {
    const Problem problem = parse("kernel=apply_dot dimension=2 order=2 elements=7 nodes=45");
    test::FreshRandom random;
    const Workload work = fe::workload(problem, random());
    std::vector<std::vector<double>> y;
    for (const auto& [first, last] : {std::pair(0, 3), std::pair(3, 7)}) {
        HostArray out = work.arrays[5].copy(), dot = work.arrays[6].copy();
        std::vector<void*> pointers;
        for (const HostArray& array : work.arrays) pointers.push_back(const_cast<void*>(array.data()));
        pointers[5] = out.data(), pointers[6] = dot.data();
        fe::reference(problem, pointers, first, last);
        y.emplace_back(out.values<double>().begin(), out.values<double>().end());
        y.back().push_back(dot.values<double>()[0]);
    }
    for (std::size_t i = 0; i < 45; ++i) EXPECT_NEAR(y[0][i] + y[1][i], work.expected[5].values<double>()[i], 1e-13);
    EXPECT_NEAR(y[0][45] + y[1][45], work.expected[6].values<double>()[0], 1e-13);
}

TEST(FeMass, CountsWhatMustMove) {
    const Family family = fe_mass();
    // 64 weights and 27 nodes for each element, two vectors of three components; 4*9*3 + 4*4*3*3 +
    // 4*4*4*3 multiply-adds there and as many back.
    const Counts counts = family.counts(parse("kernel=apply_dot dimension=3 order=2 points=4 components=3 elements=100 nodes=1000"));
    EXPECT_EQ(counts.bytes, 100 * (64 * 8 + 27 * 4) + 2 * 3 * 1000 * 8);
    EXPECT_EQ(counts.operations, 3 * (100 * (4.0 * (108 + 144 + 192) + 64) + 2 * 1000));
    const Counts of_vertices = family.counts(parse("data=vertices dimension=2 order=1 points=2 precision=f32 elements=100 nodes=121"));
    EXPECT_EQ(of_vertices.bytes, 100 * (9 * 4 + 4 * 4) + 2 * 121 * 4);
}

TEST(FeMass, RefusesWhatThereIsNot) {
    const Family family = fe_mass();
    EXPECT_THROW(family.arrays(parse("dimension=2 order=3 points=3 elements=1 nodes=16")), Error);
    EXPECT_NO_THROW(family.arrays(parse("dimension=2 order=3 points=4 elements=1 nodes=16")));
    EXPECT_THROW(family.arrays(parse("dimension=3 order=8 elements=100000000 nodes=16")), Error);
    const std::vector<std::int32_t> nodes{0, 3, 1};
    EXPECT_THROW(fe::node_corners(nodes, 3), Error);
    EXPECT_THROW(fe::node_corners(std::vector<std::int32_t>{-1}, 3), Error);
}

TEST(FeMass, CornersOfNodesAreSortedAndComplete) {
    const std::vector<std::int32_t> nodes{2, 0, 2, 3, 2};
    const fe::NodeCorners corners = fe::node_corners(nodes, 5);
    EXPECT_EQ(corners.starts, (std::vector<std::int32_t>{0, 1, 1, 4, 5, 5}));
    EXPECT_EQ(corners.places, (std::vector<std::int32_t>{1, 0, 2, 4, 3}));
}

TEST(FeMass, EveryConstraintRejectsSomething) {
    const SearchSpace cuda =
        fe_mass().space(parse("kernel=apply_dot dimension=3 order=8 points=16 components=3 elements=1000 nodes=600000"), cuda_limits(90));
    const auto rejected_by = [](const SearchSpace& space, const char* text) {
        const auto rejection = space.check(space.parse(text));
        return rejection ? rejection->constraint : "";
    };
    EXPECT_EQ(rejected_by(fe_mass().space(parse("dimension=2 order=1 points=3 elements=1 nodes=4"), cuda_limits(90)), "columns=2"), "layout");
    EXPECT_EQ(rejected_by(cuda, "elements=8"), "threads");
    EXPECT_EQ(rejected_by(cuda, "elements=4,components_at_once=all,columns=1"), "shared_memory");
    EXPECT_EQ(rejected_by(cuda, "elements=1,min_blocks=4,weights=early,components_at_once=one"), "registers");
    EXPECT_EQ(rejected_by(cuda, "elements=1"), "");
    Limits narrow = cpu_limits();
    narrow.vector_bytes = 16;
    EXPECT_EQ(rejected_by(fe_mass().space(parse("dimension=2 order=1 elements=1 nodes=4"), narrow), "lanes=4"), "vector");
    Limits wide = cpu_limits();
    wide.vector_bytes = 64;
    EXPECT_EQ(rejected_by(fe_mass().space(parse("dimension=2 order=1 elements=1 nodes=4"), wide), "lanes=8"), "");
}

}  // namespace
}  // namespace hone::fe_mass_test::family_test
