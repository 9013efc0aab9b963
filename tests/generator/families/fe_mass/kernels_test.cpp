// Compiled kernels of fe_mass against the reference: CPU kernels as they are, CUDA kernels through
// the emulator and on a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/generator/families/fe_mass/meshes.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/verify.hpp"

namespace hone::fe_mass_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({fe_mass()});
    return table;
}

class FeMassKernels : public test::KernelTest {
  protected:
    const char* one_of(const char* a, const char* b) { return any(0, 1) == 0 ? a : b; }

    // Elements of a box, or numbers of nodes that wrap around, and nodes without an element.
    Problem problem(int dimension, int order, int elements, const char* precision, const char* data, int components, int points = 0) {
        const int width = order * elements + 1;
        const int nodes = any(0, 2) == 0 ? any(1, 3 * width) : dimension == 2 ? width * (order + 1) : width * (order + 1) * (order + 1);
        return families().parse_problem(
            fmt::format("fe_mass kernel={} data={} dimension={} order={} points={} components={} precision={} elements={} nodes={}",
                        std::array{"apply", "apply_dot", "apply_sums"}.at(static_cast<std::size_t>(any(0, 2))), data, dimension, order, points,
                        components, precision, elements, nodes));
    }
    Problem any_problem(int dimension, int order, int elements) {
        return problem(dimension, order, elements, one_of("f32", "f64"), one_of("stored", "vertices"), any(1, 3),
                       any(0, 1) == 0 ? 0 : any(order + 1, 2 * order));
    }

    std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& of, const Config& config, std::uint64_t seed) {
        return test::stepped(backend, family, of, config, seed, 1);
    }

    void expect_no_digit_to_depend_on_the_configuration(const Problem& of);

    Family emulated_ = test::emulated(test::device_on_host(fe_mass()), cuda_limits(90));
};

// Kernels of one kind of problem, in both dimensions; the other kinds are drawn.
TEST_F(FeMassKernels, CpuKernelsEqualTheReference) {
    const Family& family = families().find("fe_mass");
    const Problem of = any_problem(any(2, 3), any(1, 4), any(1, 40));
    expect_verified(family, of, any_member(family, of));
}

TEST_F(FeMassKernels, CudaKernelsEqualTheReferenceInTheEmulator) {
    const Problem of = any_problem(any(2, 3), any(1, 3), any(1, 20));
    expect_verified(emulated_, of, any_member(emulated_, of));
}

TEST_F(FeMassKernels, NamedKernelsEqualTheReference) {
    const Family& family = families().find("fe_mass");
    for (const char* text : {"kernel=apply_dot dimension=3 order=2 points=4 components=3 precision=f64 elements=11 nodes=600",
                             "kernel=apply_sums dimension=3 order=2 points=4 components=3 precision=f64 elements=11 nodes=610",
                             "data=vertices dimension=2 order=3 precision=f32 elements=9 nodes=100"}) {
        const Problem of = families().parse_problem(std::string("fe_mass ") + text);
        test::expect_verified_once(*backend_, family, of, family.space(of, backend_->device().limits).safe(), random_);
        test::expect_verified_once(*backend_, emulated_, of, emulated_.space(of, backend_->device().limits).safe(), random_);
    }
}

// Every kind of text of the form by threads, with elements for a block and a part.
TEST_F(FeMassKernels, KernelsByThreadsEqualTheReferenceInTheEmulator) {
    for (const char* text : {"kernel=apply_dot dimension=3 order=2 points=4 components=3 precision=f64 elements=37 nodes=600",
                             "kernel=apply_sums dimension=2 order=2 components=2 precision=f64 elements=35 nodes=115",
                             "data=vertices dimension=3 order=1 components=2 precision=f32 elements=33 nodes=60",
                             "data=vertices dimension=2 order=3 precision=f64 elements=9 nodes=100"}) {
        const Problem of = families().parse_problem(std::string("fe_mass ") + text);
        const SearchSpace space = emulated_.space(of, backend_->device().limits);
        const std::string staging = of.word("data") == "stored" ? one_of(",staging=registers", ",staging=async") : "";
        const Config config = space.parse("form=threads,elements_per_block=32,node_threads=64,loads_in_flight=2,min_blocks=1" + staging);
        expect_verified(emulated_, of, config);
        if (!test::rounds_once()) continue;
        const Family& family = families().find("fe_mass");
        const std::uint64_t seed = random_();
        EXPECT_TRUE(test::same_bytes(stepped(*backend_, family, of, family.space(of, backend_->device().limits).safe(), seed),
                                     stepped(*backend_, emulated_, of, config, seed)))
            << of.key() << " seed " << seed;
    }
}

void FeMassKernels::expect_no_digit_to_depend_on_the_configuration(const Problem& of) {
    const Family& family = families().find("fe_mass");
    const std::uint64_t seed = random_();
    const std::vector<HostArray> usual = stepped(*backend_, family, of, family.space(of, backend_->device().limits).safe(), seed);
    const int threads_before = omp_get_max_threads();
    const Config config = any_member(family, of);
    for (const int threads : {1, 2}) {
        omp_set_num_threads(threads);
        EXPECT_TRUE(test::same_bytes(usual, stepped(*backend_, family, of, config, seed)))
            << of.key() << ' ' << config.key() << ", " << threads << " threads, seed " << seed;
    }
    omp_set_num_threads(threads_before);
    if (!test::rounds_once()) return;
    const Config on_cuda = any_member(emulated_, of);
    EXPECT_TRUE(test::same_bytes(usual, stepped(*backend_, emulated_, of, on_cuda, seed))) << of.key() << ' ' << on_cuda.key() << " seed " << seed;
}

TEST_F(FeMassKernels, NoDigitDependsOnTheConfiguration) {
    expect_no_digit_to_depend_on_the_configuration(any_problem(any(2, 3), any(1, 3), any(1, 20)));
}

// The L2 projection of a smooth function, by conjugate gradients with compiled products on a mesh
// that is no box: its error falls by 2^(order + 1) when edges are halved.
TEST_F(FeMassKernels, ProjectionsConvergeAsTheyShould) {
    constexpr int dimension = 2, order = 2;
    const auto function = [](double x, double y) { return std::sin(2.0 * x + 0.3) * std::cos(1.5 * y); };
    std::array<double, 2> errors{};
    for (std::size_t level = 0; level < 2; ++level) {
        const int side = level == 0 ? 3 : 6;
        test::BoxMesh mesh(dimension, order, {side, side, 1}, 0, 0.0);
        // The unit square, sheared and bent.
        for (std::size_t element = 0; element < static_cast<std::size_t>(mesh.elements); ++element)
            for (std::size_t corner = 0; corner < 4; ++corner) {
                const double x = mesh.vertices[element * 8 + corner] / side, y = mesh.vertices[element * 8 + 4 + corner] / side;
                mesh.vertices[element * 8 + corner] = x + 0.1 * y + 0.05 * x * y, mesh.vertices[element * 8 + 4 + corner] = y + 0.08 * x * x;
            }
        const Problem of = families().parse_problem(
            fmt::format("fe_mass data=vertices dimension=2 order={} precision=f64 elements={} nodes={}", order, mesh.elements, mesh.nodes));
        const fe::Shape shape(of);
        const fe::Axis axis(shape);
        const auto n = static_cast<std::size_t>(mesh.nodes);
        std::vector<HostArray> arrays = test::mass_arrays(of, mesh, std::vector<double>(n, 0.0));
        std::vector<void*> pointers;
        for (HostArray& array : arrays) pointers.push_back(array.data());
        KernelLibrary library(*backend_, Database(families()), families(), [](const std::string&) {});
        const BoundKernel product(library.kernel(of), pointers);
        // Values of a field and of the place at an element's points, their weights by the plain
        // formula, and what they add to.
        const auto for_points = [&](const auto& visit) {
            for (std::size_t element = 0; element < static_cast<std::size_t>(mesh.elements); ++element)
                for (int q = 0; q < shape.element_points(); ++q) {
                    const auto qx = static_cast<std::size_t>(q % shape.points_along), qy = static_cast<std::size_t>(q / shape.points_along);
                    const double s = axis.rule.points[qx], t = axis.rule.points[qy];
                    const double* const vx = &mesh.vertices[element * 8];
                    const double* const vy = vx + 4;
                    const auto place = [&](const double* v) { return (1 - t) * ((1 - s) * v[0] + s * v[1]) + t * ((1 - s) * v[2] + s * v[3]); };
                    const auto ds = [&](const double* v) { return (1 - t) * (v[1] - v[0]) + t * (v[3] - v[2]); };
                    const auto dt = [&](const double* v) { return (1 - s) * (v[2] - v[0]) + s * (v[3] - v[1]); };
                    const double weight = 3 * axis.rule.weights[qx] * axis.rule.weights[qy] * (ds(vx) * dt(vy) - dt(vx) * ds(vy));
                    visit(element, qx, qy, weight, function(place(vx), place(vy)));
                }
        };
        const auto node_of = [&](std::size_t element, int i) {
            return static_cast<std::size_t>(
                mesh.element_nodes[element * static_cast<std::size_t>(shape.element_nodes()) + static_cast<std::size_t>(i)]);
        };
        const auto basis = [&](std::size_t qx, std::size_t qy, int i) {
            return axis.basis(static_cast<int>(qx), i % shape.nodes_along) * axis.basis(static_cast<int>(qy), i / shape.nodes_along);
        };
        std::vector<double> u(n, 0.0), r(n, 0.0);
        for_points([&](std::size_t element, std::size_t qx, std::size_t qy, double weight, double value) {
            for (int i = 0; i < shape.element_nodes(); ++i) r[node_of(element, i)] += weight * value * basis(qx, qy, i);
        });
        std::vector<double> p = r;
        const auto dot = [](const auto& a, const auto& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); };
        double delta = dot(r, r);
        const double wanted = delta * 1e-24;
        for (int step = 0; step < 500 && delta > wanted; ++step) {
            std::copy(p.begin(), p.end(), arrays[5].values<double>().begin());
            product.launch();
            backend_->synchronise();
            const auto w = arrays[6].values<double>();
            const double alpha = delta / dot(p, w);
            for (std::size_t i = 0; i < n; ++i) u[i] += alpha * p[i], r[i] -= alpha * w[i];
            const double next = dot(r, r);
            for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / delta * p[i];
            delta = next;
        }
        ASSERT_LE(delta, wanted) << "conjugate gradients converge";
        double error = 0;
        for_points([&](std::size_t element, std::size_t qx, std::size_t qy, double weight, double value) {
            for (int i = 0; i < shape.element_nodes(); ++i) value -= basis(qx, qy, i) * u[node_of(element, i)];
            error += weight * value * value;
        });
        errors.at(level) = std::sqrt(error);
    }
    EXPECT_GT(errors[0] / errors[1], 6) << "8 in the limit";
    EXPECT_LT(errors[0] / errors[1], 10);
}

using SlowFeMassKernels = FeMassKernels;

TEST_F(SlowFeMassKernels, AllOrdersEqualTheReferenceOnTheProcessorAndInTheEmulator) {
    const Family& family = families().find("fe_mass");
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (int order = 1; order <= 8; ++order) {
            const char* data = one_of("stored", "vertices");
            for (const char* precision : {"f32", "f64"}) {
                const Problem of = problem(dimension, order, any(1, order > 4 ? 5 : 40), precision, data, any(1, 3), any(0, 1) == 0 ? 0 : 2 * order);
                expect_verified(family, of, any_member(family, of));
                expect_verified(emulated_, of, any_member(emulated_, of));
                data = one_of("stored", "vertices");
            }
        }
}

TEST_F(SlowFeMassKernels, NoDigitDependsOnManyConfigurations) {
    for (int i = 0; i < 4; ++i) expect_no_digit_to_depend_on_the_configuration(any_problem(any(2, 3), any(1, 4), any(1, 30)));
}

// What the register rule promises: a kernel within it does not live on spills.
TEST_F(SlowFeMassKernels, CudaKernelsCompileWithoutSpilling) {
    // Of two columns a thread, the compiler now and then keeps more in flight than the space's rule
    // counts.
    constexpr int few_bytes = 128;
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Limits limits = cuda_limits(90);
    const Family& family = families().find("fe_mass");
    for (const char* text :
         {"dimension=3 order=2 points=4 components=3", "dimension=3 order=4 points=8 components=3", "dimension=3 order=8 points=16",
          "dimension=2 order=4 points=8 components=2", "data=vertices dimension=3 order=4 components=3"}) {
        const Problem of = families().parse_problem(fmt::format("fe_mass kernel=apply_dot {} precision=f64 elements=4096 nodes=300000", text));
        for (const auto& config : test::sample_members(*backend_, emulated_, of, 3, random_()))
            test::expect_few_spills(*compiler, family, of, config, limits, few_bytes);
        const SearchSpace space = family.space(of, limits);
        for (const FormSpace& form : space.forms()) test::expect_few_spills(*compiler, family, of, space.entry(form), limits, few_bytes);
    }
}

using GpuFeMassKernels = test::OnGpu<FeMassKernels>;

// On the device itself: the reference's answer, and the processor's digits, whatever the
// configuration.
TEST_F(GpuFeMassKernels, RandomConfigurationsGiveTheReferencesAnswerAndTheProcessorsDigits) {
    const Family& family = families().find("fe_mass");
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (int order = 1; order <= 8; ++order) {
            const Problem of = any_problem(dimension, order, any(1, order > 4 ? 30 : 300));
            const std::uint64_t seed = random_();
            const auto on_processor = stepped(*backend_, family, of, family.space(of, backend_->device().limits).safe(), seed);
            for (const auto& config : test::sample_members(*gpu_, family, of, 2, random_())) {
                expect_verified(*gpu_, family, of, config);
                if (!test::rounds_once()) continue;
                EXPECT_TRUE(test::same_bytes(on_processor, stepped(*gpu_, family, of, config, seed))) << of.key() << ' ' << config.key();
            }
        }
}

}  // namespace
}  // namespace hone::fe_mass_test::kernels_test
