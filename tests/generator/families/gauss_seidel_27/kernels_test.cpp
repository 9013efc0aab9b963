// Compiled kernels of gauss_seidel_27 against the reference: CPU kernels as they are, CUDA kernels
// through the emulator, and through NVRTC for the resources that they take. About 600 lines,
// because every form's tests share one fixture, its random grids and its oracle.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <random>
#include <tuple>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/gauss_seidel_27/family.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/gauss_seidel_27/on_host.hpp"
#include "tests/generator/families/gauss_seidel_27/oracle.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/verified.hpp"

namespace hone::gauss_seidel_27_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({gauss_seidel_27()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("gauss_seidel_27 " + rest);
}

constexpr std::array kinds{"constant", "semi_constant", "variable", "symmetric"};

constexpr std::array sizes{"nx=1 ny=1 nz=1", "nx=1 ny=1 nz=9", "nx=1 ny=6 nz=2", "nx=37 ny=1 nz=3", "nx=13 ny=17 nz=11", "nx=66 ny=4 nz=5 pitch=71"};

// One configuration of every form, so that no template is left out whatever the random ones are.
constexpr std::array cuda_forms{"form=points,edges=guarded,points_per_thread=2",
                                "form=points,edges=clamped,points_per_thread=1,block_x=16,block_y=4,z_block=4",
                                "form=rows,stencil_in=by_value,points_per_thread=2,block_y=2,z_block=4",
                                "form=rows,points_per_thread=2,block_y=2,z_block=4",
                                "form=rows,points_per_thread=4,block_y=2,z_block=2",
                                "form=walk,staging=registers,stencil_in=by_value,points_per_thread=2,warps_per_row=16",
                                "form=walk,staging=registers,stencil_in=read_only,points_per_thread=4,warps_per_row=8",
                                "form=walk,staging=bulk_1,stencil_in=read_only,points_per_thread=2,warps_per_row=16",
                                "form=walk,staging=bulk_2,stencil_in=by_value,points_per_thread=4,warps_per_row=8",
                                "form=walk,staging=registers,stencil_in=streaming,points_per_thread=2,warps_per_row=8",
                                "form=walk,staging=bulk_1,stencil_in=copied,points_per_thread=2,warps_per_row=16",
                                "form=walk,staging=bulk_1,stencil_in=by_value,points_per_thread=4,warps_per_row=8,copied_by=warp,stages=3",
                                "form=walk,staging=bulk_2,stencil_in=copied,points_per_thread=4,warps_per_row=8,copied_by=warp,stages=4",
                                "form=walk,staging=partial_sums,points_per_thread=2,warps_per_row=6",
                                "form=walk,staging=partial_sums_async,points_per_thread=4,warps_per_row=4",
                                "form=walk,staging=partial_sums,points_per_thread=4,warps_per_row=4,blocks_per_plane=3",
                                "form=walk,staging=partial_sums_async,points_per_thread=2,warps_per_row=6,blocks_per_plane=2",
                                "form=walk,staging=registers,points_per_thread=2,warps_per_row=8,blocks_per_plane=3",
                                "form=walk,staging=registers,points_per_thread=4,warps_per_row=4,blocks_per_plane=2",
                                "form=walk,staging=partial_sums,points_per_thread=2,warps_per_row=6,blocks_per_plane=0",
                                "form=walk,staging=partial_sums_async,points_per_thread=4,warps_per_row=4,blocks_per_plane=0",
                                "form=walk,staging=registers,points_per_thread=2,warps_per_row=8,blocks_per_plane=0",
                                "form=slabs,planes_per_slab=3,passes=1,points_per_thread=4,warps_per_row=6,stages=2",
                                "form=slabs,planes_per_slab=3,passes=2,points_per_thread=2,warps_per_row=12,stages=3,cache_hint=streaming",
                                "form=slabs,planes_per_slab=3,passes=1,points_per_thread=2,warps_per_row=6,stages=4,told_every=2",
                                "form=slabs,planes_per_slab=1,passes=2,points_per_thread=2,warps_per_row=6,stages=2,cache_hint=streaming",
                                "form=slabs,planes_per_slab=1,passes=1,points_per_thread=2,warps_per_row=6,stages=4",
                                "form=slabs,planes_per_slab=3,passes=2,points_per_thread=4,warps_per_row=6,stages=2,stencil_in=copied",
                                "form=slabs,planes_per_slab=3,passes=1,points_per_thread=2,warps_per_row=6,stages=2,stencil_in=copied",
                                "form=pipeline,planes_per_slab=3,points_per_thread=4,warps_per_row=5,stages=3",
                                "form=pipeline,planes_per_slab=5,points_per_thread=4,warps_per_row=3,stages=2,cache_hint=streaming",
                                "form=pipeline,planes_per_slab=1,points_per_thread=2,warps_per_row=6,stages=4",
                                "form=pipeline,planes_per_slab=3,points_per_thread=2,warps_per_row=5,stages=3,stencil_in=copied",
                                "form=pipeline,planes_per_slab=3,points_per_thread=4,warps_per_row=5,stages=2,max_lead=16",
                                "form=pipeline,planes_per_slab=1,points_per_thread=2,warps_per_row=6,stages=2,max_lead=32"};

// Those that the space has of a form; with stencils packed by colour where it has only that.
std::vector<Config> members_of(const std::string& form, const SearchSpace& space) {
    std::vector<Config> configs;
    for (const std::string layout : {"", ",layout=colour_split"}) {
        try {
            Config config = space.parse(form + layout);
            if (!space.check(config)) configs.push_back(std::move(config));
        } catch (const Error&) {
            // A value that this kind of stencil does not have.
        }
    }
    return configs;
}

std::vector<Config> forms_in(const SearchSpace& space) {
    std::vector<Config> configs;
    for (const char* form : cuda_forms)
        for (Config& config : members_of(form, space)) configs.push_back(std::move(config));
    return configs;
}

class GaussSeidel27Kernels : public test::KernelTest {
  protected:
    // A random configuration at a random size.
    void expect_cpu_configuration_verified(const char* kind, const char* precision) {
        const Family& family = families().find("gauss_seidel_27");
        const auto n = [&] { return 1 + random_() % 40; };
        const Problem problem = parse(fmt::format("stencil={} precision={} nx={} ny={} nz={}", kind, precision, n(), n(), n()));
        expect_verified(family, problem, any_member(family, problem));
    }

    void expect_random_emulated(const char* kind, const char* precision) {
        const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
        const Problem problem = parse(fmt::format("stencil={} precision={} {}", kind, precision, sizes[random_() % sizes.size()]));
        expect_verified(family, problem, any_member(family, problem));
    }
};

TEST_F(GaussSeidel27Kernels, SafeCpuKernelsEqualTheReferenceAtEverySize) {
    const Family& family = families().find("gauss_seidel_27");
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const char* size : sizes) {
                const Problem problem = parse(fmt::format("stencil={} precision={} {}", kind, precision, size));
                test::expect_verified_once(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), random_);
            }
}

TEST_F(GaussSeidel27Kernels, RandomCpuConfigurationsEqualTheReference) {
    for (const char* precision : {"f32", "f64"}) expect_cpu_configuration_verified(kinds[random_() % kinds.size()], precision);
}

// In one precision: not every form has both, and the slow tests draw it.
class GaussSeidel27Forms : public GaussSeidel27Kernels, public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, GaussSeidel27Forms, ::testing::Range(std::size_t{0}, cuda_forms.size()));
TEST_P(GaussSeidel27Forms, OfCudaEqualTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    constexpr std::array precisions{"f32", "f64"};
    std::size_t verified = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        std::vector<Config> members;
        for (std::size_t i = 0; i < 2 && members.empty(); ++i) {
            const Problem problem =
                parse(fmt::format("stencil={} precision={} nx=131 ny=9 nz=6", kinds[kind], precisions[(GetParam() + kind + i) % 2]));
            members = members_of(cuda_forms[GetParam()], family.space(problem, {}));
            for (const Config& config : members) test::expect_verified_once(*backend_, family, problem, config, random_);
        }
        verified += members.size();
    }
    EXPECT_GT(verified, 0U) << "a form of no kind of stencil";
}

// More slabs than blocks of a round, and a last one that the grid cuts off, or a last plane
// between.
TEST_F(GaussSeidel27Kernels, ManySlabsEqualTheReferenceInTheEmulator) {
    Limits limits = cuda_limits(90);
    limits.multiprocessors = 2;
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), limits);
    for (const auto& [kind, planes, passes, nz] :
         {std::tuple{"constant", 3, 1, 25}, std::tuple{"constant", 3, 1, 22}, std::tuple{"constant", 3, 2, 19}, std::tuple{"constant", 1, 1, 8},
          std::tuple{"semi_constant", 3, 1, 26}, std::tuple{"semi_constant", 3, 2, 17}}) {
        const Problem problem = parse(fmt::format("stencil={} precision=f32 nx={} ny={} nz={}", kind, 70 + random_() % 60, 7 + random_() % 4, nz));
        const std::string form = fmt::format("form=slabs,planes_per_slab={},passes={},points_per_thread=4,warps_per_row=6", planes, passes);
        expect_verified(family, problem, family.space(problem, limits).parse(form));
        if (passes > 1) continue;
        const std::string pipeline = fmt::format("form=pipeline,planes_per_slab={},points_per_thread=4,warps_per_row=3", planes);
        expect_verified(family, problem, family.space(problem, limits).parse(pipeline));
    }
}

// A row's last words may be of the boundary alone: with 30 lanes of four points, 118 points and two
// words of the boundary fill a warp.
TEST_F(GaussSeidel27Kernels, PipelinesOwnTheWholeBoundary) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    for (const int nx : {117, 118, 119, 120})
        for (const int ny : {1, 2}) {
            const Problem problem = parse(fmt::format("stencil=constant precision=f32 nx={} ny={} nz=5", nx, ny));
            expect_verified(family, problem,
                            family.space(problem, cuda_limits(90)).parse("form=pipeline,planes_per_slab=3,points_per_thread=4,warps_per_row=2"));
        }
}

TEST_F(GaussSeidel27Kernels, ARandomCudaConfigurationEqualsTheReferenceInTheEmulator) {
    expect_random_emulated(kinds[random_() % kinds.size()], random_() % 2 == 0 ? "f32" : "f64");
}

// The wave of planes has most to go wrong: blocks that end within the range, at its ends, and more
// threads than blocks.
TEST_F(GaussSeidel27Kernels, ResultsDoNotDependOnTheNumberOfThreads) {
    const Family& family = families().find("gauss_seidel_27");
    const Problem problem = parse("stencil=variable precision=f32 nx=19 ny=9 nz=21");
    const std::uint64_t seed = random_();
    const int usual = omp_get_max_threads();
    Limits limits = backend_->device().limits;
    limits.multiprocessors = 16;  // so that the space has every team
    for (const char* text : {"form=wave,z_block=2", "form=wave,z_block=4,threads=half,binding=spread",
                             "form=rows,y_block=4,z_block=2,threads=all_but_one,binding=close"}) {
        Match match;
        match.config = family.space(problem, limits).parse(text);
        test::verify_once(limits, "does not depend on the number of threads", {{family, problem, match.config}}, [&] {
            const Kernel kernel(*backend_, family, problem, match, limits);
            const Workload workload = family.workload(problem, seed);
            const HostArray& f = workload.arrays[1];
            const HostArray& stencil = workload.arrays[2];
            HostArray alone;
            for (const int threads : {1, 2, 3, 8}) {
                omp_set_num_threads(threads);
                HostArray u = workload.arrays[0].copy();
                const std::array<void*, 3> arrays{u.data(), const_cast<void*>(f.data()), const_cast<void*>(stencil.data())};
                for (int step = 0; step < 5; ++step) kernel.launch(arrays);
                if (threads == 1) alone = u.copy();
                EXPECT_EQ(std::memcmp(alone.data(), u.data(), static_cast<std::size_t>(u.bytes())), 0)
                    << text << ", " << threads << " threads, seed " << seed;
            }
        });
    }
    omp_set_num_threads(usual);
}

TEST_F(GaussSeidel27Kernels, CpuKernelsConvergeAsTheColourRecurrenceSays) {
    const Family& family = families().find("gauss_seidel_27");
    constexpr int n = 11;
    const Problem problem = parse(fmt::format("stencil=constant precision=f64 nx={0} ny={0} nz={0}", n));
    for (const char* text : {"form=wave,z_block=4", "form=rows"}) {
        Match match;
        match.config = family.space(problem, backend_->device().limits).parse(text);
        test::verify_once(backend_->device().limits, "converges as the colour recurrence says", {{family, problem, match.config}}, [&] {
            const Kernel kernel(*backend_, family, problem, match, backend_->device().limits);
            for (const bool finite_elements : {false, true}) {
                test::ModelProblem model(n, finite_elements, 16);
                const std::array<void*, 3> arrays{model.u.data(), model.f.data(), model.stencil.data()};
                for (int sweep = 1; sweep <= 20; ++sweep) {
                    kernel.launch(arrays);
                    model.advance();
                    EXPECT_LT(model.error(), 1e-12) << text << ", sweep " << sweep;
                }
            }
        });
    }
}

// A stencil by value is the one of the last preparation, for each binding by itself.
TEST_F(GaussSeidel27Kernels, AStencilByValueIsCopiedPerBindingAndByPrepare) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    const Problem problem = parse("stencil=constant precision=f64 nx=5 ny=4 nz=3");
    Match match;
    match.config = family.space(problem, {}).parse("stencil_in=by_value");
    const auto kernel = std::make_shared<const Kernel>(*backend_, family, problem, match, Limits{});
    EXPECT_TRUE(kernel->needs_binding());
    const std::uint64_t seed = random_();
    std::array data{family.workload(problem, seed), family.workload(problem, seed + 1)};
    const auto arrays_of = [](Workload& workload, HostArray& u) {
        u = workload.arrays[0].copy();
        return std::array<void*, 3>{u.data(), workload.arrays[1].data(), workload.arrays[2].data()};
    };
    std::array<HostArray, 2> u;
    BoundKernel first(kernel, arrays_of(data[0], u[0]));
    const BoundKernel second(kernel, arrays_of(data[1], u[1]));
    first.launch();
    second.launch();
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(largest_difference(u[i], data[i].expected[0]), data[i].tolerance) << "seed " << seed;
    // The application writes another stencil into its array.
    HostArray expected = u[0].copy();
    std::memcpy(data[0].arrays[2].data(), data[1].arrays[2].data(), static_cast<std::size_t>(data[0].arrays[2].bytes()));
    const std::array<void*, 3> arrays{expected.data(), data[0].arrays[1].data(), data[0].arrays[2].data()};
    family.reference(problem, arrays, 0, 3);
    first.prepare();
    first.launch();
    EXPECT_LE(largest_difference(u[0], expected), data[0].tolerance) << "seed " << seed;
}

using SlowGaussSeidel27Kernels = GaussSeidel27Kernels;

TEST_F(SlowGaussSeidel27Kernels, EveryFormOfCudaKernelEqualsTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    for (const char* kind : kinds) {
        // More points along x than one step of a warp with two colours takes.
        const Problem problem = parse(fmt::format("stencil={} precision={} nx=131 ny=9 nz=6", kind, random_() % 2 == 0 ? "f32" : "f64"));
        const SearchSpace space = family.space(problem, {});
        for (const auto& config : forms_in(space)) expect_verified(family, problem, config);
    }
}

// Planes beside the range hand over what they keep: whatever begins, ends and surrounds it. A new
// value that the next warp's first points miss changes others by a millionth of a millionth part:
// rows of several warps are in f64.
TEST_F(SlowGaussSeidel27Kernels, PartialSumsEqualTheReferenceAtEverySize) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    std::vector<std::string> cases{"precision=f64 nx=131 ny=5 nz=3"};
    for (const char* size : sizes) cases.push_back(fmt::format("precision={} {}", random_() % 2 == 0 ? "f32" : "f64", size));
    for (const std::string& text : cases) {
        const Problem problem = parse("stencil=symmetric " + text);
        if (problem.integer("pitch") % 2 == 1) continue;  // rows have no pairs
        const Config config = family.space(problem, {})
                                  .parse(fmt::format("form=walk,staging={},points_per_thread=2,warps_per_row=4",
                                                     random_() % 2 == 0 ? "partial_sums" : "partial_sums_async"));
        ASSERT_FALSE(family.space(problem, {}).check(config)) << text;
        for (int part = 0; part < 4; ++part) expect_verified(family, problem, config);
    }
}

// What a step over the range makes of the workload's u.
HostArray stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, const Workload& workload, std::int64_t first,
                  std::int64_t last) {
    Match match;
    match.config = config;
    const auto kernel = std::make_shared<const Kernel>(backend, family, problem, match, backend.device().limits);
    HostArray u = workload.arrays[0].copy();
    const std::array<void*, 3> arrays{u.data(), const_cast<void*>(workload.arrays[1].data()), const_cast<void*>(workload.arrays[2].data())};
    BoundKernel(kernel, arrays).launch(first, last);
    return u;
}

// The family with the parts of a plane in the opposite order, last one first.
Family last_part_first(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        int replaced = 0;
        for (const auto& [part, last] :
             {std::pair<std::string, std::string>{"const int part = blockIdx.y;", "const int part = walks - 1 - int(blockIdx.y);"},
              {"const int share = blockIdx.y;", "const int share = all_shares - 1 - int(blockIdx.y);"}})
            for (std::size_t found = 0; (found = source.text.find(part, found)) != std::string::npos; ++replaced)
                source.text.replace(found, part.size(), last);
        if (replaced == 0) throw Error("gauss_seidel_27", "does not say which part is a block's", "mend the test");
        return source;
    };
    return result;
}

// Blocks that share a plane do what one block does, operation for operation. The emulator's blocks
// run one after the other, so that in one of two orders whatever a part reads of another one has
// been overwritten before.
void expect_the_same_bits(Backend& backend, const Problem& problem, const std::string& form, int walks, std::uint64_t seed) {
    Limits limits = cuda_limits(90);
    limits.multiprocessors = 2 + static_cast<int>(seed / 8 % 12);  // as many equal shares
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), limits);
    const Family reversed = last_part_first(family);
    const SearchSpace space = family.space(problem, {});
    const Config alone = space.parse(form + ",blocks_per_plane=1"), shared = space.parse(fmt::format("{},blocks_per_plane={}", form, walks));
    ASSERT_FALSE(space.check(shared)) << problem.key();
    const Workload workload = family.workload(problem, seed);
    // All, all but the first plane, and any: planes beside the range are walked, too, where they
    // hand over partial sums.
    const std::int64_t planes = family.range(problem);
    std::mt19937_64 random(seed);
    const std::int64_t begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(planes));
    const std::int64_t end = begin + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(planes - begin));
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{0, planes}, {std::min<std::int64_t>(1, planes - 1), planes}, {begin, end}}) {
        const HostArray expected = stepped(backend, family, problem, alone, workload, from, to);
        for (const Family* order : {&family, &reversed}) {
            const HostArray computed = stepped(backend, *order, problem, shared, workload, from, to);
            EXPECT_EQ(std::memcmp(expected.data(), computed.data(), static_cast<std::size_t>(expected.bytes())), 0)
                << problem.key() << ' ' << shared.key() << " range [" << from << ", " << to << "), seed " << seed
                << (order == &reversed ? ", last part first" : "");
        }
        if (from == 0 && to == planes) {
            EXPECT_LE(largest_difference(expected, workload.expected[0]), workload.tolerance) << problem.key() << ", seed " << seed;
        }
    }
}

TEST_F(SlowGaussSeidel27Kernels, BlocksThatShareAPlaneGiveTheSameBits) {
    for (const auto& [rows, walks, planes] :
         {std::array{5, 2, 6}, std::array{9, 3, 5}, std::array{14, 4, 3}, std::array{29, 8, 2}, std::array{11, 0, 7}, std::array{24, 0, 4}}) {
        const std::uint64_t seed = random_();
        const Problem problem =
            parse(fmt::format("stencil=symmetric precision={} nx={} ny={} nz={}", seed % 2 == 0 ? "f32" : "f64", 2 + seed % 70, rows, planes));
        const std::string form = fmt::format("form=walk,staging={},points_per_thread={},warps_per_row=4",
                                             seed / 2 % 2 == 0 ? "partial_sums" : "partial_sums_async", seed % 2 == 0 && seed / 4 % 2 == 0 ? 4 : 2);
        expect_the_same_bits(*backend_, problem, form, walks, seed);
    }
}

// Even and odd numbers of rows with the fewest that so many blocks share, a point a row, a plane
// alone, and rows of two warps.
TEST_F(SlowGaussSeidel27Kernels, BlocksThatShareAPlaneOfAVariableStencilGiveTheSameBits) {
    struct Case {
        int points, rows, planes, walks;
    };
    bool is_double = random_() % 2 == 0;
    for (const Case& size : {Case{1, 5, 1, 2}, Case{61, 6, 4, 2}, Case{2, 9, 5, 3}, Case{130, 14, 3, 4}, Case{33, 21, 2, 6}, Case{7, 29, 2, 8},
                             Case{40, 16, 5, 0}, Case{9, 27, 3, 0}}) {
        is_double = !is_double;
        const std::uint64_t seed = random_();
        const Problem problem = parse(fmt::format("stencil=variable precision={} nx={} ny={} nz={}", is_double ? "f64" : "f32", size.points,
                                                  size.rows + static_cast<int>(seed % 2), size.planes));
        const std::string form =
            fmt::format("form=walk,staging=registers,points_per_thread={},warps_per_row=4", !is_double && seed / 2 % 2 == 0 ? 4 : 2);
        expect_the_same_bits(*backend_, problem, form, size.walks, seed);
    }
}

// Memory that processes share.
class SharedWords {
  public:
    explicit SharedWords(std::int64_t bytes)
        : bytes_(static_cast<std::size_t>(bytes)), data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (data_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~SharedWords() { munmap(data_, bytes_); }
    SharedWords(const SharedWords&) = delete;
    SharedWords& operator=(const SharedWords&) = delete;
    void* data() const { return data_; }

  private:
    std::size_t bytes_;
    void* data_;
};

// One sweep whose blocks run as processes of their own, at the same time: the largest difference
// from the reference.
double error_of_blocks_at_once(Backend& backend, const KernelSource& source, const Problem& problem, const Workload& workload) {
    KernelSource at_once = test::blocks_at_once(source);
    at_once.text.insert(0, "#undef _FORTIFY_SOURCE\n#define _FORTIFY_SOURCE 2\n");  // as Ubuntu's GCC has it
    const CompileOutcome outcome = backend.compiler().compile(at_once);
    if (!outcome.ok) throw Error("blocks at once", outcome.failure + outcome.code.log, "mend the test");
    const auto module = backend.load(outcome.code);
    const HostArray& expected = workload.expected[0];
    SharedWords u(expected.bytes());
    std::memcpy(u.data(), workload.arrays[0].data(), static_cast<std::size_t>(expected.bytes()));
    std::vector<void*> pointers{u.data(), const_cast<void*>(workload.arrays[1].data()), const_cast<void*>(workload.arrays[2].data())};
    std::list<SharedWords> tables;
    for (const auto& table : source.tables) {
        const std::int64_t bytes = table.words * bytes_per_word(source.precision);
        pointers.push_back(tables.emplace_back(bytes).data());
        std::memset(pointers.back(), 0xff, static_cast<std::size_t>(bytes));
    }
    int first = 0, last = static_cast<int>(problem.integer("nz"));
    std::vector<int> scalars;
    for (const auto& scalar : source.scalars) scalars.push_back(scalar.value);
    std::vector<void*> arguments;
    arguments.reserve(pointers.size() + scalars.size() + 2);
    for (auto& pointer : pointers) arguments.push_back(&pointer);
    for (const int array : source.by_value) arguments.push_back(const_cast<void*>(workload.arrays[static_cast<std::size_t>(array)].data()));
    for (int& scalar : scalars) arguments.push_back(&scalar);
    arguments.insert(arguments.end(), {&first, &last});
    for (const auto& launch : source.step) {
        std::vector<int> constants = launch.constants;
        std::vector<void*> all = arguments;
        for (int& constant : constants) all.push_back(&constant);
        module->launch(module->entry(launch.entry), launch.grid, launch.block, 0, {}, all.data());
    }
    return largest_difference(u.data(), expected.data(), expected.words(), source.precision);
}

// The emulator's blocks finish one after another. Here they overlap, as on a device: an odd plane
// that did not wait long enough, or wrote a row that an even plane still has to read, would give
// something else.
TEST_F(SlowGaussSeidel27Kernels, PlanesThatFollowOthersSeeWhatTheyShould) {
    const Family family = test::emulated(test::turns_on_host(gauss_seidel_27()), cuda_limits(90));
    for (const auto& [kind, config] : {std::pair{"constant", "form=slabs,planes_per_slab=3,passes=1,warps_per_row=6"},
                                       std::pair{"constant", "form=slabs,planes_per_slab=3,passes=1,warps_per_row=6,stages=3"},
                                       std::pair{"constant", "form=slabs,planes_per_slab=1,passes=1,warps_per_row=6,stages=4"},
                                       std::pair{"semi_constant", "form=slabs,planes_per_slab=3,passes=1,warps_per_row=6"},
                                       std::pair{"constant", "form=pipeline,planes_per_slab=3,warps_per_row=2,stages=3"},
                                       std::pair{"constant", "form=pipeline,planes_per_slab=1,warps_per_row=2"},
                                       std::pair{"constant", "form=pipeline,planes_per_slab=3,warps_per_row=2,max_lead=16"},
                                       std::pair{"semi_constant", "form=pipeline,planes_per_slab=5,warps_per_row=2"}}) {
        const std::uint64_t seed = random_();
        const Problem problem = parse(fmt::format("stencil={} precision=f32 nx=35 ny={} nz=12", kind, 40 + seed % 2));
        const Config whole = family.space(problem, {}).parse(fmt::format("{},points_per_thread=2", config));
        ASSERT_FALSE(family.space(problem, {}).check(whole)) << config;
        const KernelSource source = family.kernel(problem, whole, {});
        const Workload workload = family.workload(problem, seed);
        for (int repetition = 0; repetition < 3; ++repetition)
            EXPECT_LE(error_of_blocks_at_once(*backend_, source, problem, workload), workload.tolerance)
                << kind << ' ' << config << ", seed " << seed;
    }
}

TEST_F(SlowGaussSeidel27Kernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (int i = 0; i < 2; ++i) expect_random_emulated(kind, precision);
}

TEST_F(SlowGaussSeidel27Kernels, ManyRandomCpuConfigurationsEqualTheReference) {
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (int i = 0; i < 2; ++i) expect_cpu_configuration_verified(kind, precision);
}

// What the register rule promises: a kernel within it does not live on spills (ptxas leaves up to a
// few words at the very bound).
TEST_F(SlowGaussSeidel27Kernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    constexpr int few_bytes = 64;
    const Family& family = families().find("gauss_seidel_27");
    for (const int architecture : {80, 90, 100}) {
        std::unique_ptr<Compiler> compiler;
        try {
            compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        for (const char* kind : kinds)
            for (const char* precision : {"f32", "f64"}) {
                // All on the architecture at hand; on the others the fewest and the most registers.
                const std::string both = std::string(kind) + precision;
                if (architecture != 90 && both != "constantf32" && both != "variablef64") continue;
                const Problem problem = parse(fmt::format("stencil={} precision={} nx=512 ny=512 nz=512", kind, precision));
                const Limits limits = cuda_limits(architecture);
                for (const auto& config : forms_in(family.space(problem, limits))) {
                    test::expect_few_spills(*compiler, family, problem, config, limits, few_bytes);
                }
            }
    }
}

class GpuGaussSeidel27 : public GaussSeidel27Kernels {
  protected:
    void SetUp() override { backend_ = test::backend_or_skip("cuda", cache_); }
};

// Sizes with more than one warp per row in a walk, more rows than stages, and ranges that begin
// anywhere.
TEST_F(GpuGaussSeidel27, EveryFormEqualsTheReference) {
    const Family& family = families().find("gauss_seidel_27");
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const char* size : {"nx=131 ny=9 nz=6", "nx=500 ny=64 nz=5", "nx=1 ny=1 nz=1"}) {
                const Problem problem = parse(fmt::format("stencil={} precision={} {}", kind, precision, size));
                for (const auto& config : forms_in(family.space(problem, backend_->device().limits))) expect_verified(family, problem, config);
            }
}

// Ten sweeps over more planes than a device holds blocks. Both forms do the same operations; what
// compilers round differently stays within what one sweep may err, because every sweep halves it.
TEST_F(GpuGaussSeidel27, PlanesThatFollowOthersAgreeWithPlanesInTurn) {
    const Family& family = families().find("gauss_seidel_27");
    const Limits& limits = backend_->device().limits;
    const std::string slabs = "form=slabs,passes=1,warps_per_row=6,stages=2,planes_per_slab=";
    const std::string pipeline = "form=pipeline,warps_per_row=4,stages=2,planes_per_slab=";
    for (const auto& [kind, config, following] : {std::tuple{"constant", "staging=bulk_2,warps_per_row=4,stencil_in=read_only", slabs + "1"},
                                                  std::tuple{"constant", "staging=registers,warps_per_row=4,stencil_in=by_value", slabs + "3"},
                                                  std::tuple{"semi_constant", "staging=bulk_2,warps_per_row=4,stencil_in=copied", slabs + "3"},
                                                  std::tuple{"constant", "staging=bulk_2,warps_per_row=4,stencil_in=read_only", pipeline + "3"},
                                                  std::tuple{"constant", "staging=bulk_2,warps_per_row=4,stencil_in=read_only", pipeline + "1"},
                                                  std::tuple{"semi_constant", "staging=bulk_2,warps_per_row=4,stencil_in=copied", pipeline + "5"}}) {
        if (limits.architecture < 90) GTEST_SKIP() << "slabs and pipelines need bulk copies, which came with sm_90";
        const std::uint64_t seed = random_();
        const Problem problem = parse(fmt::format("stencil={} precision=f32 nx=201 ny=60 nz=1201", kind));
        const SearchSpace space = family.space(problem, limits);
        const Workload workload = family.workload(problem, seed);
        std::vector<std::vector<DeviceArray>> arrays(2);
        for (std::size_t form = 0; form < 2; ++form) {
            for (const auto& array : workload.arrays) {
                arrays[form].emplace_back(*backend_, array.bytes());
                backend_->copy(arrays[form].back().data(), array.data(), array.bytes());
            }
            Match match;
            match.config = space.parse((form == 0 ? std::string("form=walk,") + config : following) + ",points_per_thread=2");
            const auto kernel = std::make_shared<const Kernel>(*backend_, family, problem, match, limits);
            const BoundKernel step(kernel, std::array{arrays[form][0].data(), arrays[form][1].data(), arrays[form][2].data()});
            for (int sweep = 0; sweep < 10; ++sweep) step.launch();
            backend_->synchronise();
        }
        EXPECT_LE(backend_->largest_difference(arrays[0][0].data(), arrays[1][0].data(), workload.arrays[0].words(), Precision::f32),
                  workload.tolerance)
            << kind << ' ' << config << ", " << following << ", seed " << seed;
    }
}

// Ten sweeps with more blocks than a device holds at a time: those that share a plane get no other
// bits than one block, in whatever order they run.
TEST_F(GpuGaussSeidel27, BlocksThatShareAPlaneGiveTheSameBits) {
    const Family& family = families().find("gauss_seidel_27");
    const Limits& limits = backend_->device().limits;
    for (const char* precision : {"f32", "f64"})
        for (const auto& [kind, staging, planes] : {std::tuple{"symmetric", "partial_sums", 601}, std::tuple{"symmetric", "partial_sums_async", 601},
                                                    std::tuple{"variable", "registers", 301}}) {
            if (staging == std::string_view("partial_sums_async") && limits.architecture < 80) continue;
            const std::uint64_t seed = random_();
            const Problem problem = parse(fmt::format("stencil={} precision={} nx=201 ny={} nz={}", kind, precision, 60 + seed % 2, planes));
            const SearchSpace space = family.space(problem, limits);
            const Workload workload = family.workload(problem, seed);
            HostArray alone;
            for (const int walks : {1, 2, 3, 8}) {
                std::vector<DeviceArray> arrays;
                for (const auto& array : workload.arrays) {
                    arrays.emplace_back(*backend_, array.bytes());
                    backend_->copy(arrays.back().data(), array.data(), array.bytes());
                }
                Match match;
                match.config = space.parse(
                    fmt::format("form=walk,staging={},points_per_thread=2,warps_per_row=6,stencil_in=streaming,blocks_per_plane={}", staging, walks));
                const auto kernel = std::make_shared<const Kernel>(*backend_, family, problem, match, limits);
                const BoundKernel step(kernel, std::array{arrays[0].data(), arrays[1].data(), arrays[2].data()});
                for (int sweep = 0; sweep < 10; ++sweep) step.launch();
                HostArray u = workload.arrays[0].copy();
                backend_->copy(u.data(), arrays[0].data(), u.bytes());
                backend_->synchronise();
                if (walks == 1) alone = u.copy();
                EXPECT_EQ(std::memcmp(alone.data(), u.data(), static_cast<std::size_t>(u.bytes())), 0)
                    << problem.key() << ' ' << match.config.key() << ", seed " << seed;
            }
        }
}

TEST_F(GpuGaussSeidel27, RandomConfigurationsEqualTheReference) {
    const Family& family = families().find("gauss_seidel_27");
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const char* size : sizes) {
                const Problem problem = parse(fmt::format("stencil={} precision={} {}", kind, precision, size));
                for (const auto& config : test::sample_members(*backend_, family, problem, 3, random_())) expect_verified(family, problem, config);
            }
}

}  // namespace
}  // namespace hone::gauss_seidel_27_test::kernels_test
