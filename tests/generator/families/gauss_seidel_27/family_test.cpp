#include "generator/families/gauss_seidel_27/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/tidy.hpp"
#include "tests/generator/families/gauss_seidel_27/oracle.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::gauss_seidel_27_test::family_test {
namespace {

const Families& families() {
    static const Families table({gauss_seidel_27()});
    return table;
}

constexpr std::array kinds{"constant", "semi_constant", "variable", "symmetric"};

Problem problem(const std::string& stencil, const std::string& precision, int nx, int ny, int nz) {
    return families().parse_problem(fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, precision, nx, ny, nz));
}

// Every kind of stencil in both precisions, at sizes with all that is odd about them.
std::vector<Problem> problems() {
    std::vector<Problem> all;
    for (const char* stencil : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const auto& n : {std::array{1, 1, 1}, std::array{1, 1, 7}, std::array{7, 5, 3}, std::array{64, 2, 9}, std::array{8192, 1, 1}})
                all.push_back(problem(stencil, precision, n[0], n[1], n[2]));
    return all;
}

std::vector<Limits> devices() {
    std::vector<Limits> all{cpu_limits()};
    for (const int architecture : {70, 75, 80, 86, 89, 90, 100, 120}) all.push_back(cuda_limits(architecture));
    return all;
}

TEST(GaussSeidel27, TheSafeConfigurationIsAMemberAtEverySizeOnEveryDevice) {
    const Family family = gauss_seidel_27();
    for (const auto& p : problems())
        for (const auto& limits : devices()) {
            const SearchSpace space = family.space(p, limits);
            EXPECT_FALSE(space.check(space.safe())) << p.key() << " on sm_" << limits.architecture;
            EXPECT_FALSE(family.kernel(p, space.safe(), limits).text.empty());
        }
}

// A rule that never rejects anything would be dead, and one that rejects everything would be wrong.
// Many forms need little of what the rules that all forms share limit: a made-up device with little
// of it shows that those rules ask each form for its needs.
TEST(SlowGaussSeidel27, EveryConstraintRejectsSomethingAndSaysWhy) {
    const Family family = gauss_seidel_27();
    Limits many_processors = cpu_limits();
    many_processors.multiprocessors = 16;
    Limits small_device = cuda_limits(90);
    small_device.max_threads_per_multiprocessor = 1024;
    small_device.shared_bytes_per_multiprocessor = 4 * 1024;
    for (const auto& limits : {many_processors, small_device}) {
        std::set<std::string> idle;
        std::set<std::string> used;
        for (const auto& p : {problem("variable", "f64", 33, 5, 5),
                              families().parse_problem("gauss_seidel_27 stencil=constant precision=f32 nx=61 ny=5 nz=5 pitch=63"),
                              families().parse_problem("gauss_seidel_27 stencil=semi_constant precision=f64 nx=700 ny=5 nz=5 pitch=702"),
                              problem("symmetric", "f32", 33, 5, 5)}) {
            const SearchSpace space = family.space(p, limits);
            for (const FormSpace& form : space.forms())
                for (const auto& constraint : form.constraints) idle.insert(form.name + ": " + constraint.name);
            std::int64_t members = 0;
            // A stride that is a prime to all numbers of values: every value of every tunable in
            // many combinations, in a seventh of the time.
            for (std::int64_t index = 0; index < space.product(); index += 7) {
                const Config config = space.at(index);
                const auto rejection = space.check(config);
                if (!rejection) ++members;
                const FormSpace& form = *space.form_of(config);
                for (const auto& constraint : form.constraints)
                    if (const auto reason = constraint.violation(config)) {
                        used.insert(form.name + ": " + constraint.name);
                        EXPECT_GT(reason->size(), 10U) << constraint.name;
                    }
            }
            EXPECT_GT(members, 1);
        }
        for (const std::string& rule : used) idle.erase(rule);
        EXPECT_EQ(idle, std::set<std::string>{});
    }
}

TEST(SlowGaussSeidel27, EveryFormHasMembersOnEveryArchitecture) {
    const Family family = gauss_seidel_27();
    for (const char* stencil : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const int architecture : {75, 90}) {
                const SearchSpace space = family.space(problem(stencil, precision, 96, 96, 96), cuda_limits(architecture));
                std::set<std::string> forms;
                std::set<std::string> shared;
                for (const auto index : space.members()) {
                    const Config config = space.at(index);
                    const std::string staging = config.find("staging") == nullptr ? "" : " " + config.word("staging");
                    forms.insert(config.word("form") + staging);
                    if (config.find("blocks_per_plane") != nullptr && config.integer("blocks_per_plane") > 1)
                        shared.insert(fmt::format("{}{}", staging, config.integer("blocks_per_plane")));
                }
                std::set<std::string> expected{"points", "rows", "walk registers"};
                if (stencil == std::string("symmetric")) {
                    expected = {"points", "walk registers", "walk partial_sums"};
                    if (architecture >= 80) expected.insert("walk partial_sums_async");
                } else if (stencil != std::string("variable") && architecture >= 90) {
                    expected.insert({"walk bulk_1", "walk bulk_2", "slabs", "pipeline"});
                }
                EXPECT_EQ(forms, expected) << stencil << ' ' << precision << " on sm_" << architecture;
                std::set<std::string> expected_shared;
                for (const int walks : {2, 3, 4, 6, 8}) {
                    if (stencil == std::string("variable")) expected_shared.insert(fmt::format(" registers{}", walks));
                    if (stencil != std::string("symmetric")) continue;
                    expected_shared.insert(fmt::format(" partial_sums{}", walks));
                    if (architecture >= 80) expected_shared.insert(fmt::format(" partial_sums_async{}", walks));
                }
                EXPECT_EQ(shared, expected_shared) << stencil << ' ' << precision << " on sm_" << architecture;
            }
}

// Each block that shares a plane has two steps of two rows at least, of (ny + 1) / 2 + 1.
TEST(GaussSeidel27, BlocksShareAPlaneThatHasRowsForAll) {
    const Family family = gauss_seidel_27();
    for (const auto& [rows, most] : {std::pair{1, 1}, std::pair{4, 1}, std::pair{5, 2}, std::pair{8, 2}, std::pair{9, 3}, std::pair{13, 4},
                                     std::pair{28, 6}, std::pair{29, 8}, std::pair{320, 8}}) {
        for (const auto& [kind, staging] : {std::pair{"symmetric", "partial_sums"}, std::pair{"variable", "registers"}}) {
            const SearchSpace space = family.space(problem(kind, "f32", 40, rows, 5), cuda_limits(90));
            for (const int walks : {1, 2, 3, 4, 6, 8}) {
                const auto rejection = space.check(
                    space.parse(fmt::format("form=walk,staging={},warps_per_row=4,points_per_thread=2,blocks_per_plane={}", staging, walks)));
                EXPECT_EQ(!rejection, walks <= most) << kind << ", " << rows << " rows, " << walks << " blocks";
                if (rejection) {
                    EXPECT_EQ(rejection->constraint, "shared_planes") << rejection->reason;
                }
            }
        }
    }
}

// So `--config form=walk,staging=partial_sums` is enough where nothing speaks against it.
TEST(GaussSeidel27, AWalkIsEnteredWithNoMoreWarpsThanItsRowsNeed) {
    const Family family = gauss_seidel_27();
    for (const char* kind : kinds)
        for (const char* precision : {"f32", "f64"})
            for (const int n : {1, 40, 53, 54, 200}) {
                const SearchSpace space = family.space(problem(kind, precision, n, 8, 8), cuda_limits(90));
                for (const Value& staging : space.form_of(space.parse("form=walk"))->tunables.front().values) {
                    const auto rejection = space.check(space.parse("form=walk,staging=" + to_string(staging)));
                    EXPECT_FALSE(rejection) << kind << ' ' << precision << " nx=" << n << ' ' << to_string(staging) << ": " << rejection->constraint
                                            << ": " << rejection->reason;
                }
            }
}

TEST(GaussSeidel27, SymmetricStencilsWithoutPartialSumsHaveABlockPerPlane) {
    const Family family = gauss_seidel_27();
    const SearchSpace space = family.space(problem("symmetric", "f32", 40, 40, 5), cuda_limits(90));
    EXPECT_FALSE(space.check(space.parse("form=walk,staging=registers,blocks_per_plane=1")));
    const auto rejection = space.check(space.parse("form=walk,staging=registers,blocks_per_plane=2"));
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->constraint, "shared_planes") << rejection->reason;
}

// Records and journals from before planes were shared, and from before there were forms.
TEST(GaussSeidel27, FormerConfigurationsAreOfTheFormThatTheyWere) {
    const auto translated = [](const char* stencil, const Limits& limits, const std::string& text) {
        const SearchSpace space = gauss_seidel_27().space(problem(stencil, "f32", 40, 40, 40), limits);
        std::vector<Assignment> assignments;
        std::string_view rest = text;
        while (!rest.empty()) {
            const std::string_view item = rest.substr(0, rest.find(','));
            assignments.push_back({std::string(item.substr(0, item.find('='))), parse_value(item.substr(item.find('=') + 1))});
            rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        }
        const Config config = space.completed(Config(std::move(assignments)));
        EXPECT_FALSE(space.check(config)) << text;
        return config.key();
    };
    const std::string rest = "stencil_in=read_only,edges=clamped,min_blocks=2,layout=natural";
    EXPECT_EQ(
        translated("symmetric", cuda_limits(90), "colours_per_pass=4,staging=registers,block_x=32,block_y=4,z_block=2,points_per_thread=2," + rest),
        "form=walk,staging=registers,warps_per_row=4,points_per_thread=2,stencil_in=read_only,min_blocks=2,blocks_per_plane=1");
    EXPECT_EQ(translated("variable", cuda_limits(90),
                         "colours_per_pass=2,staging=cache,block_x=32,block_y=4,z_block=4,points_per_thread=2," + rest + ",walks=1"),
              "form=rows,block_y=4,z_block=4,points_per_thread=2,stencil_in=read_only,min_blocks=2");
    EXPECT_EQ(translated("constant", cpu_limits(), "colours_per_pass=8,y_block=256,z_block=4,vector_bytes=16,threads=all,binding=none"),
              "form=wave,z_block=4,vector_bytes=16,threads=all,binding=none");
    const auto today = [](const char* stencil, const char* text) {
        return gauss_seidel_27().space(problem(stencil, "f32", 40, 40, 40), cuda_limits(90)).parse(text).key();
    };
    EXPECT_EQ(today("variable", "form=walk,walks=2"), today("variable", "form=walk,blocks_per_plane=2"));
    EXPECT_EQ(today("constant", "form=pipeline,lead=16"), today("constant", "form=pipeline,max_lead=16"));
}

TEST(GaussSeidel27, RowsStartOnALineUnlessThePitchIsGiven) {
    const Family family = gauss_seidel_27();
    EXPECT_EQ(family.arrays(problem("constant", "f32", 30, 1, 1))[0].words, 3 * 3 * 32);
    EXPECT_EQ(family.arrays(problem("constant", "f32", 31, 1, 1))[0].words, 3 * 3 * 64);
    EXPECT_EQ(family.arrays(problem("variable", "f64", 15, 2, 3))[2].words, 27 * 3 * 2 * 32);
    EXPECT_EQ(family.arrays(problem("symmetric", "f64", 15, 2, 3))[2].words, 14 * 5 * 4 * 32);
    const std::string given = "gauss_seidel_27 stencil=constant precision=f32 nx=31 ny=1 nz=1 pitch=";
    EXPECT_EQ(family.arrays(families().parse_problem(given + "33"))[0].words, 3 * 3 * 33);
    EXPECT_THROW(family.arrays(families().parse_problem(given + "32")), Error);
    EXPECT_THROW(family.arrays(problem("variable", "f64", 8192, 8192, 8192)), Error);
}

TEST(GaussSeidel27, CountsCompulsoryWork) {
    const Family family = gauss_seidel_27();
    const double points = 10.0 * 20 * 30;
    EXPECT_EQ(family.counts(problem("constant", "f32", 10, 20, 30)).bytes, 4 * (3 * points + 27));
    EXPECT_EQ(family.counts(problem("semi_constant", "f32", 10, 20, 30)).bytes, 4 * (3 * points + 27 * 20 * 30));
    EXPECT_EQ(family.counts(problem("variable", "f64", 10, 20, 30)).bytes, 8 * 30 * points);
    EXPECT_EQ(family.counts(problem("symmetric", "f32", 10, 20, 30)).bytes, 4 * 17 * points);
    EXPECT_EQ(family.counts(problem("variable", "f64", 10, 20, 30)).operations, 53 * points);
    EXPECT_EQ(family.counts(problem("constant", "f32", 10, 20, 30)).updates, points);
}

// Reduced to every 11th configuration (a prime to all numbers of values), which is still every
// value of every tunable.
TEST(GaussSeidel27, MembersRenderWithoutHolesAndIndependentlyOfTheSize) {
    const Family family = gauss_seidel_27();
    test::FreshRandom random;
    for (const auto& limits : {cpu_limits(), cuda_limits(90)})
        for (const char* stencil : kinds) {
            const Problem small = problem(stencil, "f32", 62, 9, 5);
            const Problem large = problem(stencil, "f32", 510, 300, 400);
            const SearchSpace space = family.space(small, limits);
            const int stride = limits.target == Target::cpu ? test::tries(1, 5) : test::tries(11, 101);
            for (auto index = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(stride)); index < space.product(); index += stride) {
                const Config config = space.at(index);
                if (space.check(config)) continue;
                const KernelSource source = family.kernel(small, config, limits);
                EXPECT_EQ(source.text.find("//@"), std::string::npos);
                EXPECT_TRUE(command_of(source.text).ends_with("--config " + config.key()));
                EXPECT_EQ(source.text, family.kernel(large, config, limits).text) << config.key();
                for (const auto& launch : source.step) EXPECT_NE(source.text.find(" " + launch.entry + "("), std::string::npos);
                for (const auto& launch : source.prepare) EXPECT_NE(source.text.find(" " + launch.entry + "("), std::string::npos);
            }
        }
}

// One interior point among 26 boundary points, of which one is 1 at a time; every coefficient is
// another. Written down as family.hpp says it.
TEST(GaussSeidel27, CoefficientKIsThatOfTheNeighbourWithTheOffsetsThatMakeIt) {
    const Family family = gauss_seidel_27();
    constexpr int pitch = 5, plane = 3 * pitch;
    constexpr int point = plane + pitch + 1;  // (1, 1, 1)
    for (const std::string kind : kinds) {
        const Problem p = families().parse_problem(fmt::format("gauss_seidel_27 stencil={} precision=f64 nx=1 ny=1 nz=1 pitch={}", kind, pitch));
        for (int dz = -1; dz <= 1; ++dz)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    const int number = 9 * (dz + 1) + 3 * (dy + 1) + (dx + 1);
                    const int offset = dz * plane + dy * pitch + dx;
                    std::vector<double> u(3 * plane), f(3 * plane), stencil(static_cast<std::size_t>(family.arrays(p)[2].words));
                    // Where coefficient k is kept: of a symmetric stencil those before the centre
                    // are the other half of a neighbour's.
                    const auto at = [&](int k, int to) -> double& {
                        std::int64_t word = k;
                        if (kind == "variable") word = k * pitch + 1;
                        if (kind == "symmetric") word = k < 13 ? (13 - k) * 3 * plane + point + to : (k - 13) * 3 * plane + point;
                        return stencil[static_cast<std::size_t>(word)];
                    };
                    for (int z = -1; z <= 1; ++z)
                        for (int y = -1; y <= 1; ++y)
                            for (int x = -1; x <= 1; ++x) {
                                const int k = 9 * (z + 1) + 3 * (y + 1) + (x + 1);
                                at(k, z * plane + y * pitch + x) = k == 13 ? 0.5 : k + 1;
                            }
                    u[static_cast<std::size_t>(point + offset)] = 1;
                    f[point] = 100;
                    void* arrays[] = {u.data(), f.data(), stencil.data()};
                    family.reference(p, arrays, 0, 1);
                    EXPECT_EQ(u[point], number == 13 ? 50 : (100 - (number + 1)) * 0.5) << kind << ", offsets " << dx << ' ' << dy << ' ' << dz;
                }
    }
}

// The reference follows the exact solution of the model problem through its sweeps: A (1 - E_c) sin
// sin sin at the points of colour c.
TEST(GaussSeidel27, TheReferenceConvergesAsTheColourRecurrenceSays) {
    const Family family = gauss_seidel_27();
    for (const int n : {1, 2, 7, 12})
        for (const bool finite_elements : {false, true}) {
            const Problem p = problem("constant", "f64", n, n, n);
            test::ModelProblem model(n, finite_elements, family.arrays(p)[0].words / ((n + 2) * (n + 2)));
            for (int sweep = 1; sweep <= 10; ++sweep) {
                void* arrays[] = {model.u.data(), model.f.data(), model.stencil.data()};
                family.reference(p, arrays, 0, n);
                model.advance();
                EXPECT_LT(model.error(), 1e-12) << "n = " << n << ", sweep " << sweep;
            }
        }
}

// Symmetric storage is a way to write down a variable stencil: coefficient k < 13 of a point is
// number 26 - k of its neighbour.
TEST(GaussSeidel27, TheReferenceReadsSymmetricStorageAsTheVariableStencilThatItMeans) {
    const Family family = gauss_seidel_27();
    constexpr int nx = 6, ny = 5, nz = 4, pitch = 9;
    const auto with = [&](const char* kind) {
        return families().parse_problem(fmt::format("gauss_seidel_27 stencil={} precision=f64 nx={} ny={} nz={} pitch={}", kind, nx, ny, nz, pitch));
    };
    const std::uint64_t seed = std::random_device{}();
    const Workload half = family.workload(with("symmetric"), seed);
    HostArray all(Precision::f64, family.arrays(with("variable"))[2].words);
    const auto stored = half.arrays[2].values<double>();
    const auto written = all.values<double>();
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x)
                for (int dz = -1; dz <= 1; ++dz)
                    for (int dy = -1; dy <= 1; ++dy)
                        for (int dx = -1; dx <= 1; ++dx) {
                            const int k = 9 * dz + 3 * dy + dx + 13;
                            // The point of the pair that comes first in memory keeps the
                            // coefficient.
                            const int owner =
                                k < 13 ? ((z + 1 + dz) * (ny + 2) + y + 1 + dy) * pitch + x + 1 + dx : ((z + 1) * (ny + 2) + y + 1) * pitch + x + 1;
                            written[static_cast<std::size_t>(((k * nz + z) * ny + y) * pitch + x + 1)] =
                                stored[static_cast<std::size_t>(std::abs(k - 13) * (nz + 2) * (ny + 2) * pitch + owner)];
                        }
    HostArray u = half.arrays[0].copy();
    HostArray f = half.arrays[1].copy();
    const std::array<void*, 3> arrays{u.data(), f.data(), all.data()};
    family.reference(with("variable"), arrays, 0, nz);
    EXPECT_EQ(largest_difference(u, half.expected[0]), 0) << "seed " << seed;
}

TEST(GaussSeidel27, TheAsymptoticRateOfTheSevenPointStencilIsTheSquaredCosine) {
    test::ModelProblem model(9, false, 11);
    for (int sweep = 0; sweep < 200; ++sweep) model.advance();
    const double before = model.colour_error(7);
    model.advance();
    EXPECT_NEAR(model.colour_error(7) / before, std::pow(std::cos(M_PI / 10), 2), 1e-10);
}

TEST(GaussSeidel27, ARangeStepsItsPlanesOnly) {
    const Family family = gauss_seidel_27();
    const std::uint64_t seed = std::random_device{}();
    const Problem p = problem("variable", "f64", 5, 6, 7);
    const Workload workload = family.workload(p, seed);
    const std::int64_t plane = workload.arrays[0].words() / 9;
    for (const auto& [first, last] : {std::pair{0, 0}, std::pair{2, 3}, std::pair{3, 7}}) {
        HostArray u = workload.arrays[0].copy();
        HostArray f = workload.arrays[1].copy();
        HostArray stencil = workload.arrays[2].copy();
        void* pointers[] = {u.data(), f.data(), stencil.data()};
        family.reference(p, pointers, first, last);
        for (std::int64_t z = 0; z < 9; ++z) {
            const auto changed = [&](std::int64_t word) {
                const double now = u.values<double>()[static_cast<std::size_t>(z * plane + word)];
                return now == now && now != workload.arrays[0].values<double>()[static_cast<std::size_t>(z * plane + word)];
            };
            std::int64_t count = 0;
            for (std::int64_t word = 0; word < plane; ++word) count += changed(word);
            EXPECT_EQ(count, z > first && z <= last ? 5 * 6 : 0) << "plane " << z << " of range " << first << ".." << last << ", seed " << seed;
        }
    }
}

TEST(GaussSeidel27, WorkloadsAreFreshDeterministicAndPoisoned) {
    const Family family = gauss_seidel_27();
    const std::uint64_t seed = std::random_device{}();
    for (const auto& p : problems()) {
        if (p.integer("nx") > 100) continue;
        const Workload workload = family.workload(p, seed);
        const Workload again = family.workload(p, seed);
        const Workload other = family.workload(p, seed + 1);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(largest_difference(workload.arrays[i], again.arrays[i]), 0) << p.key() << ", seed " << seed;
            // One value alone may be the same in single precision.
            if (p.integer("nz") > 1) {
                EXPECT_GT(largest_difference(workload.arrays[i], other.arrays[i]), 0) << p.key() << ", seed " << seed;
            }
        }
        // The step moves the field by far more than the tolerance, though one point alone may lie
        // by chance where it goes; and leaves no NaN where a value belongs.
        if (p.integer("nz") > 1) {
            EXPECT_GT(largest_difference(workload.arrays[0], workload.expected[0]), 1000 * workload.tolerance) << p.key() << ", seed " << seed;
        }
        EXPECT_TRUE(std::isfinite(largest_difference(workload.arrays[0], workload.expected[0])));
        EXPECT_GT(workload.tolerance, 0);
        EXPECT_EQ(workload.expected[1].words(), 0);
        EXPECT_EQ(workload.expected[2].words(), 0);
    }
}

}  // namespace
}  // namespace hone::gauss_seidel_27_test::family_test
