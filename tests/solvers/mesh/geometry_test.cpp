#include "solvers/mesh/geometry.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "generator/families/elements/reference_element.hpp"
#include "solvers/mesh/connectivity.hpp"
#include "tests/solvers/mesh/random_mesh.hpp"

namespace hone::solvers::geometry_test {
namespace {

std::vector<Mesh> random_meshes(unsigned seed) {
    std::mt19937_64 random(seed);
    return {shuffled(mapped(kuhn_box({{2, 1, 2}}), random), random), shuffled(mapped(triangle_box({{3, 2, 0}}), random), random)};
}

// What a gradient is for: derivatives of linear functions on random affine elements.
TEST(MeshGeometry, GradientsDifferentiateLinearFunctions) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    for (const Mesh& mesh : random_meshes(seed)) {
        const Geometry geometry = geometry_of(mesh);
        const ReferenceElement& element = reference_element(mesh.dimension == 3 ? Simplex::tetrahedron : Simplex::triangle, 2);
        for (int k = 0; k < mesh.size(); ++k) {
            const auto at = placed(mesh, k, element.points);
            for (std::size_t x = 0; x < static_cast<std::size_t>(mesh.dimension); ++x)
                for (std::size_t y = 0; y < static_cast<std::size_t>(mesh.dimension); ++y) {
                    double slope = 0;  // d(coordinate y)/d(coordinate x) at the first node
                    for (std::size_t a = 0; a < element.derivative.size(); ++a) {
                        double along = 0;
                        for (int m = 0; m < element.nodes(); ++m) along += element.derivative[a](0, m) * at[static_cast<std::size_t>(m)][y];
                        slope += geometry.gradients[9 * static_cast<std::size_t>(k) + 3 * a + x] * along;
                    }
                    EXPECT_NEAR(slope, x == y ? 1 : 0, 1e-11);
                }
        }
    }
}

// The divergence theorem, face by face: normals times areas add up to nothing; and across a face
// they are each other's opposites.
TEST(MeshGeometry, NormalsPointOutward) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    for (const Mesh& mesh : random_meshes(seed)) {
        const Geometry geometry = geometry_of(mesh);
        const auto neighbours = match_faces(mesh);
        const auto faces = static_cast<std::size_t>(mesh.corners());
        const double reference_measure = mesh.dimension == 3 ? 8 : 4;
        for (int k = 0; k < mesh.size(); ++k) {
            EXPECT_NEAR(geometry.jacobian[static_cast<std::size_t>(k)], signed_measure(mesh, k) / reference_measure, 1e-13);
            Point centre{};
            for (int v = 0; v < mesh.corners(); ++v)
                for (std::size_t x = 0; x < 3; ++x)
                    centre[x] += mesh.vertices[static_cast<std::size_t>(mesh.elements[static_cast<std::size_t>(k)][static_cast<std::size_t>(v)])][x] /
                                 mesh.corners();
            Point sum{};
            for (std::size_t f = 0; f < faces; ++f) {
                const std::size_t side = static_cast<std::size_t>(k) * faces + f;
                const double* const n = &geometry.normals[3 * side];
                double outward = 0;
                double length = 0;
                const Point& on = mesh.vertices[static_cast<std::size_t>(face_vertices(mesh, k, static_cast<int>(f))[0])];
                for (std::size_t x = 0; x < 3; ++x) {
                    // Fscale is the face's Jacobian over the element's: the reference faces have
                    // different sizes, which the gradients know.
                    sum[x] += n[x] * geometry.scale[side];
                    outward += n[x] * (on[x] - centre[x]);
                    length += n[x] * n[x];
                }
                EXPECT_NEAR(length, 1, 1e-13);
                // An element's centre lies 1/(d+1) of the height away from its face, and Fscale is
                // 2 over the height.
                EXPECT_NEAR(outward * geometry.scale[side], 2.0 / mesh.corners(), 1e-12);
                if (!neighbours[side].exists()) continue;
                const std::size_t other = static_cast<std::size_t>(neighbours[side].element) * faces + neighbours[side].face;
                for (std::size_t x = 0; x < 3; ++x) EXPECT_NEAR(n[x], -geometry.normals[3 * other + x], 1e-12);
            }
            EXPECT_LT(std::hypot(sum[0], sum[1], sum[2]), 1e-11 * largest_scale(geometry));
        }
    }
}

}  // namespace
}  // namespace hone::solvers::geometry_test
