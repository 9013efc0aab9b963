// dg_surface without compiling anything: the reference against the literature's formulas and
// physics, counts, workload, search space, text.
#include "generator/families/dg/surface/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/dg/random_mesh.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone::dg_surface_test::family_test {
namespace {

const Families& families() {
    static const Families table({dg_surface()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("dg_surface " + rest);
}

const Family& family() {
    return families().find("dg_surface");
}

TEST(DgSurface, CountsTheOperationsAndBytesOfTheDefinition) {
    const Counts maxwell = family().counts(parse("equation=maxwell_3d order=3 precision=f64 elements=10"));
    EXPECT_EQ(maxwell.operations, 10 * (48 * 20 * 10 + 264 * 10 + 6 * 20));
    EXPECT_EQ(maxwell.bytes, 10 * (8 * (3 * 6 * 20 + 16) + 4 * 40));
    const Counts acoustics = family().counts(parse("equation=acoustics_3d order=4 precision=f32 materials=per_element elements=1"));
    EXPECT_EQ(acoustics.operations, 32 * 35 * 15 + 88 * 15 + 4 * 35);
    EXPECT_EQ(acoustics.bytes, 4 * (4 * 34 + 2 * 4 * 35 + 16 + 3 + 60));  // one of the 35 nodes lies within, and no surface reads it
    const Counts flat = family().counts(parse("equation=maxwell_2d_tm order=2 precision=f32 elements=1"));
    EXPECT_EQ(flat.operations, 18 * 6 * 3 + 69 * 3 + 3 * 6);
    EXPECT_EQ(flat.bytes, 4 * (3 * 3 * 6 + 9 + 9));
}

TEST(DgSurface, RefusesMeshesWhoseNodesNoIntegerCounts) {
    const Problem problem = parse("equation=maxwell_3d order=10 precision=f32 elements=8000000");
    EXPECT_THROW(family().arrays(problem), Error);
}

// Two elements of order 1 with constant states, the same normal and Fscale at every face: what the
// reference adds to rhs, integrated over element 0 and divided by the faces' areas, is the flux
// between the states.
struct TwoStates {
    explicit TwoStates(const std::string& equation, bool materials)
        : problem(parse(fmt::format("equation={} order=1 precision=f64 materials={} elements=2", equation, materials ? "per_element" : "uniform"))),
          shape(problem),
          normal{0.48, 0.6, 0.64} {
        if (shape.dimension == 2) normal = {0.6, 0.8, 0};
        for (const ArraySpec& array : family().arrays(problem)) arrays.emplace_back(Precision::f64, array.words);
        const auto faces = arrays[1].values<double>();
        for (std::size_t i = 0; i < faces.size(); ++i) {
            const auto part = i % static_cast<std::size_t>(shape.face_words());
            faces[i] = part == static_cast<std::size_t>(shape.dimension) ? scale : normal[part];
        }
        set_neighbour(-3);
    }

    // Of element 0: a boundary, or element 1 for -3.
    void set_neighbour(int boundary) {
        auto* const vmap = static_cast<int*>(arrays[2].data());
        for (int i = 0; i < 2 * shape.face_points(); ++i) vmap[i] = boundary == -3 ? shape.nodes : boundary;
    }

    std::vector<double> flux(const std::vector<double>& own, const std::vector<double>& other) {
        const auto q = arrays[0].values<double>();
        for (int k = 0; k < 2; ++k)
            for (int i = 0; i < shape.words(); ++i)
                q[static_cast<std::size_t>(k * shape.words() + i)] = (k == 0 ? own : other)[static_cast<std::size_t>(i / shape.nodes)];
        for (double& value : arrays.back().values<double>()) value = 0;
        std::vector<void*> pointers;
        for (HostArray& array : arrays) pointers.push_back(array.data());
        family().reference(problem, pointers, 0, 1);
        const auto rhs = arrays.back().values<double>();
        std::vector<double> result;
        for (int f = 0; f < shape.fields; ++f) {
            double integral = 0;
            for (int n = 0; n < shape.nodes; ++n)
                for (int m = 0; m < shape.nodes; ++m) integral += shape.reference().mass(n, m) * rhs[static_cast<std::size_t>(f * shape.nodes + m)];
            result.push_back(integral / (2.0 * shape.faces * scale));
        }
        return result;
    }

    Problem problem;
    dg::Shape shape;
    std::array<double, 3> normal;
    double scale = 1.7;
    std::vector<HostArray> arrays;
};

std::vector<double> random_state(std::size_t fields, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> state(fields);
    for (double& value : state) value = uniform(random);
    return state;
}

std::array<double, 3> cross(const std::array<double, 3>& a, const double* b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The fluxes as the literature writes them, for unit materials: with [q] plus minus minus.
std::vector<double> textbook_flux(const std::string& equation, const std::array<double, 3>& n, const std::vector<double>& jump) {
    const double* const d = jump.data();
    std::vector<double> flux;
    if (equation == "acoustics_3d") {
        const double du = n[0] * d[1] + n[1] * d[2] + n[2] * d[3];
        return {(d[0] - du) / 2, n[0] * (du - d[0]) / 2, n[1] * (du - d[0]) / 2, n[2] * (du - d[0]) / 2};
    }
    if (equation == "maxwell_2d_tm") {
        const double hx = -d[0];  // here differences are minus minus plus
        const double hy = -d[1];
        const double ez = -d[2];
        const double along = n[0] * hx + n[1] * hy;
        return {(n[1] * ez + along * n[0] - hx) / 2, (-n[0] * ez + along * n[1] - hy) / 2, (-n[0] * hy + n[1] * hx - ez) / 2};
    }
    for (int group = 0; group < 2; ++group) {
        const double* const own = d + 3 * group;
        const auto turned = cross(n, d + 3 * (1 - group));
        const double along = n[0] * own[0] + n[1] * own[1] + n[2] * own[2];
        for (std::size_t i = 0; i < 3; ++i) flux.push_back(((group == 0 ? -1 : 1) * turned[i] + own[i] - n[i] * along) / 2);
    }
    return flux;
}

class DgSurfaceReference : public ::testing::TestWithParam<const char*> {
  protected:
    std::uint64_t seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
};
INSTANTIATE_TEST_SUITE_P(Equations, DgSurfaceReference, ::testing::Values("maxwell_3d", "acoustics_3d", "maxwell_2d_tm"));

TEST_P(DgSurfaceReference, HasTheTextbooksFluxInsideAndAtBoundaries) {
    TwoStates states(GetParam(), false);
    const auto fields = static_cast<std::size_t>(states.shape.fields);
    const std::vector<double> own = random_state(fields, random_);
    const std::vector<double> other = random_state(fields, random_);
    const auto expect_flux = [&](const std::vector<double>& jump) {
        const std::vector<double> computed = states.flux(own, other);
        const std::vector<double> exact = textbook_flux(GetParam(), states.normal, jump);
        for (std::size_t f = 0; f < fields; ++f) EXPECT_NEAR(computed[f], exact[f], 1e-13) << "field " << f << " seed " << seed_;
    };
    std::vector<double> jump;
    for (std::size_t f = 0; f < fields; ++f) jump.push_back(other[f] - own[f]);
    expect_flux(jump);
    // A conductor turns E around, a rigid wall u.
    states.set_neighbour(-1);
    const std::set<std::string> turned{"Ex", "Ey", "Ez", "u", "v", "w"};
    for (std::size_t f = 0; f < fields; ++f) jump[f] = turned.contains(states.shape.what->fields[f]) ? -2 * own[f] : 0;
    expect_flux(jump);
    states.set_neighbour(-2);
    for (std::size_t f = 0; f < fields; ++f) jump[f] = -own[f];
    expect_flux(jump);
}

// A wave that runs along the normal out of the own element, which fills it alone: fields of
// amplitude 1 in a medium of impedance z.
std::vector<double> outgoing_wave(const std::string& equation, const std::array<double, 3>& n, double z) {
    if (equation == "acoustics_3d") return {1, n[0] / z, n[1] / z, n[2] / z};
    // E is any unit vector across n, and H = n x E / Z.
    if (equation == "maxwell_2d_tm") return {n[1] / z, -n[0] / z, 1};
    const double length = std::hypot(n[0], n[1]);
    const std::array<double, 3> e{n[1] / length, -n[0] / length, 0};
    const auto h = cross(n, e.data());
    return {h[0] / z, h[1] / z, h[2] / z, e[0], e[1], e[2]};
}

// At an interface a wave of amplitude 1 lets 2 Z+ / (Z- + Z+) of its electric field (pressure)
// through, and H (velocity) is that over Z+: Fresnel at normal incidence. The flux is what turns
// the own state into that.
TEST_P(DgSurfaceReference, TransmitsWhatFresnelSaysBetweenMaterials) {
    TwoStates states(GetParam(), true);
    const bool maxwell = states.shape.what->maxwell;
    std::uniform_real_distribution<double> uniform(0.3, 3);
    const std::array<double, 2> a{uniform(random_), uniform(random_)};
    const std::array<double, 2> b{uniform(random_), uniform(random_)};
    std::array<double, 2> z{};
    const auto materials = states.arrays[3].values<double>();
    for (std::size_t k = 0; k < 2; ++k) {  // a: mu or rho, b: eps or c
        z[k] = maxwell ? std::sqrt(a[k] / b[k]) : a[k] * b[k];
        materials[3 * k] = maxwell ? 1 / a[k] : a[k] * b[k] * b[k];
        materials[3 * k + 1] = maxwell ? 1 / b[k] : 1 / a[k];
        materials[3 * k + 2] = z[k];
    }
    const std::vector<double> wave = outgoing_wave(GetParam(), states.normal, z[0]);
    const std::vector<double> nothing(wave.size(), 0);
    const double transmitted = 2 * z[1] / (z[0] + z[1]);
    // [E] - 1 and [H] Z- / Z+ - 1 of the own amplitude; a jump of E acts on H and the other way
    // round.
    const double electric = transmitted - 1;
    const double magnetic = transmitted * z[0] / z[1] - 1;
    std::vector<double> exact;
    for (std::size_t f = 0; f < wave.size(); ++f) {
        const bool first = static_cast<int>(f) < states.shape.what->second_group;
        // n x (n x E / Z) = -E / Z, so that -n x E jumps by -Z H, and n x H by -E / Z; likewise u
        // by p / Z and p by Z u.
        const double other_quantity = first == maxwell ? electric : magnetic;
        const double factor = first == maxwell ? -z[0] : -1 / z[0];
        exact.push_back(factor * wave[f] * other_quantity * materials[first ? 0 : 1]);
    }
    const std::vector<double> computed = states.flux(wave, nothing);
    for (std::size_t f = 0; f < wave.size(); ++f) EXPECT_NEAR(computed[f], exact[f], 1e-12) << "field " << f << " seed " << seed_;
    // Nothing comes back where the wave may leave, whatever the material.
    states.set_neighbour(-2);
    for (const double value : states.flux(wave, nothing)) EXPECT_NEAR(value, 0, 1e-12);
}

// Every orientation of a face is another order of its nodes, and they are what turning the face's
// corners gives.
TEST(DgRandomMesh, OrientsFacesInEveryWay) {
    for (const char* equation : {"maxwell_3d", "maxwell_2d_tm"}) {
        const dg::Shape shape(parse(fmt::format("equation={} order=5 elements=1", equation)));
        const auto& element = shape.reference();
        std::set<std::vector<int>> all;
        for (int orientation = 0; orientation < dg::orientations(shape); ++orientation) {
            const std::vector<int> met = dg::oriented_face(shape, orientation);
            all.insert(met);
            EXPECT_EQ(std::set<int>(met.begin(), met.end()).size(), static_cast<std::size_t>(shape.face_nodes));
            // Distances between nodes stay the same when corners change places, on the equilateral
            // face; here on the first face, (r, s).
            const auto distance = [&](int i, int j) {
                const auto& p = element.points[static_cast<std::size_t>(element.face_mask[0][static_cast<std::size_t>(i)])];
                const auto& q = element.points[static_cast<std::size_t>(element.face_mask[0][static_cast<std::size_t>(j)])];
                const double r = p[0] - q[0];
                const double s = shape.dimension == 3 ? p[1] - q[1] : 0;
                return r * r + r * s + s * s;
            };
            for (std::size_t i = 0; i < met.size(); ++i)
                for (std::size_t j = 0; j < i; ++j)
                    ASSERT_NEAR(distance(static_cast<int>(i), static_cast<int>(j)), distance(met[i], met[j]), 1e-12) << orientation;
        }
        EXPECT_EQ(std::ssize(all), dg::orientations(shape));
    }
}

TEST(DgSurface, WorkloadRepeatsItsDataSetsWithTheirAnswers) {
    for (const char* rest : {"equation=maxwell_3d order=1 precision=f64 materials=per_element elements=1300",
                             "equation=acoustics_3d order=2 precision=f32 elements=700", "equation=maxwell_2d_tm order=2 precision=f64 elements=5"}) {
        const Problem problem = parse(rest);
        Workload workload = family().workload(problem, 3);
        std::vector<void*> pointers;
        for (HostArray& array : workload.arrays) pointers.push_back(array.data());
        const HostArray before = workload.arrays.back().copy();
        family().reference(problem, pointers, 0, family().range(problem));
        EXPECT_EQ(largest_difference(workload.arrays.back(), workload.expected.back()), 0) << rest;
        EXPECT_GT(largest_difference(workload.arrays.back(), before), 1000 * workload.tolerance);
    }
}

TEST(DgSurface, WorkloadHasBoundariesAndNeighboursWithinTheMesh) {
    const Problem problem = parse("equation=maxwell_3d order=2 precision=f32 elements=600");
    Workload workload = family().workload(problem, 11);
    const auto* const vmap = static_cast<const int*>(workload.arrays[2].data());
    std::set<int> boundaries;
    for (int i = 0; i < 600 * 24; ++i) {
        ASSERT_GE(vmap[i], -2);
        ASSERT_LT(vmap[i], 600 * 10);
        if (vmap[i] < 0) boundaries.insert(vmap[i]);
    }
    EXPECT_EQ(boundaries, (std::set<int>{-2, -1}));
}

TEST(DgSurfaceSpace, HasManyMembersAndFewEnoughToEnumerate) {
    for (const Problem& problem :
         families().parse_problems("dg_surface equation=maxwell_3d,acoustics_3d,maxwell_2d_tm order=1..10 precision=f32,f64 elements=1000"))
        for (const Limits& limits : {cpu_limits(), cuda_limits(80), cuda_limits(90), cuda_limits(120)}) {
            const SearchSpace space = family().space(problem, limits);
            EXPECT_FALSE(space.check(space.safe()).has_value());
            EXPECT_LE(space.product(), 30000) << problem.key();  // `hone space` counts twice as many in 30 ms
        }
    const auto members = [](const char* rest, const Limits& limits) { return family().space(parse(rest), limits).members().size(); };
    EXPECT_GE(members("equation=maxwell_3d order=3 elements=1", cuda_limits(90)), 200U);
    EXPECT_GE(members("equation=acoustics_3d order=9 precision=f64 elements=1", cuda_limits(90)), 100U);
    EXPECT_GE(members("equation=maxwell_2d_tm order=3 elements=1", cpu_limits()), 50U);
}

TEST(DgSurfaceSpace, RejectsBeforeCompilationWithTheReason) {
    const Problem problem = parse("equation=maxwell_3d order=7 precision=f32 elements=1");
    const SearchSpace space = family().space(problem, cuda_limits(90));
    const auto rejection = [&](const char* text) { return space.check(space.parse(text)).value_or(Rejection{"none", ""}).constraint; };
    EXPECT_EQ(rejection("elements_per_block=4"), "none");
    EXPECT_EQ(rejection("elements_per_block=32"), "threads");
    EXPECT_EQ(rejection("operator=shared,min_blocks=3"), "shared_memory");
    EXPECT_EQ(rejection("elements_per_block=16,elements_per_thread=4,nodes_per_thread=4,unroll=4,min_blocks=3"), "registers");
    const SearchSpace flat = family().space(parse("equation=maxwell_2d_tm order=1 precision=f32 elements=1"), cuda_limits(90));
    EXPECT_EQ(flat.check(flat.parse("elements_per_block=32,copy_width=2")).value_or(Rejection{"none", ""}).constraint, "copies");
    EXPECT_EQ(flat.check(flat.parse("elements_per_block=8")).value_or(Rejection{"none", ""}).constraint, "tile");
}

TEST(DgSurfaceText, DoesNotDependOnTheNumberOfElements) {
    for (const Limits& limits : {cpu_limits(), cuda_limits(90)}) {
        const Problem small = parse("equation=maxwell_3d order=4 precision=f32 elements=1");
        const Problem large = parse("equation=maxwell_3d order=4 precision=f32 elements=1000000");
        const Config safe = family().space(small, limits).safe();
        EXPECT_EQ(family().kernel(small, safe, limits).text, family().kernel(large, safe, limits).text);
    }
}

}  // namespace
}  // namespace hone::dg_surface_test::family_test
