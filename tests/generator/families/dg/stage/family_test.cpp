// dg_stage and dg_rk without compiling anything: counts, the reference against the separate
// kernels' references, workloads, search spaces, plans.
#include "generator/families/dg/stage/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "generator/families/dg/rk/family.hpp"
#include "generator/families/dg/surface/family.hpp"
#include "generator/families/dg/volume/family.hpp"
#include "generator/families/elements/reference_element.hpp"

namespace hone::dg_stage_test::family_test {
namespace {

const Families& families() {
    static const Families table({dg_stage(), dg_volume(), dg_surface(), dg_rk()});
    return table;
}

Problem parse(const std::string& problem) {
    return families().parse_problem(problem);
}

TEST(DgRk, CountsTheOperationsAndBytesOfTheDefinition) {
    const Counts counts = families().find("dg_rk").counts(parse("dg_rk equation=acoustics_3d order=2 precision=f64 elements=7"));
    EXPECT_EQ(counts.operations, 7 * 5 * 40);
    EXPECT_EQ(counts.bytes, 7 * 8 * 5 * 40);
}

TEST(DgStage, CountsTheSumOfItsPartsAndTheBytesOfTheWhole) {
    const Counts counts = families().find("dg_stage").counts(parse("dg_stage equation=maxwell_3d order=3 precision=f64 elements=10"));
    EXPECT_EQ(counts.operations, 10 * ((36 * 400 + 66 * 20) + (48 * 200 + 2640 + 120) + 5 * 120));
    EXPECT_EQ(counts.bytes, 10 * (8 * (4 * 120 + 9 + 16) + 4 * 40));
}

// One step of a family's reference on arrays in host memory.
void step(const std::string& problem, const std::vector<void*>& arrays) {
    const Problem parsed = parse(problem);
    const Family& family = families().of(parsed);
    family.reference(parsed, arrays, 0, family.range(parsed));
}

// The whole stage is what the three kernels do one after the other, on data that the stage's
// workload makes.
class DgStageReference : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Equations, DgStageReference, ::testing::Values("maxwell_3d", "acoustics_3d"));
TEST_P(DgStageReference, IsVolumeThenSurfaceThenUpdate) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::string rest = fmt::format("equation={} order=3 precision=f64", GetParam());
    const Problem problem = parse(fmt::format("dg_stage {} materials=per_element elements=41", rest));
    Workload workload = families().find("dg_stage").workload(problem, seed);
    auto& arrays = workload.arrays;  // q, geometry, faces, vmapP, materials, stage, res, q_next
    HostArray rhs(Precision::f64, arrays[0].words());
    HostArray q = arrays[0].copy();
    HostArray res = arrays[6].copy();
    step(fmt::format("dg_volume {} elements=41", rest), {arrays[0].data(), arrays[1].data(), rhs.data()});
    step(fmt::format("dg_surface {} materials=per_element elements=41", rest),
         {arrays[0].data(), arrays[2].data(), arrays[3].data(), arrays[4].data(), rhs.data()});
    step(fmt::format("dg_rk {} elements=41", rest), {rhs.data(), arrays[5].data(), res.data(), q.data()});
    EXPECT_LE(largest_difference(res, workload.expected[6]), workload.tolerance);
    EXPECT_LE(largest_difference(q, workload.expected[7]), workload.tolerance);
    EXPECT_GT(largest_difference(q, arrays[0]), 1000 * workload.tolerance);
}

TEST(DgStage, WorkloadRepeatsItsDataSetsWithTheirAnswers) {
    for (const char* text :
         {"dg_stage equation=maxwell_3d order=1 precision=f64 materials=per_element elements=1300",
          "dg_stage equation=maxwell_2d_tm order=2 precision=f32 elements=700", "dg_rk equation=acoustics_3d order=1 elements=600"}) {
        const Problem problem = parse(text);
        const Family& family = families().of(problem);
        Workload workload = family.workload(problem, 5);
        std::vector<void*> pointers;
        for (HostArray& array : workload.arrays) pointers.push_back(array.data());
        family.reference(problem, pointers, 0, family.range(problem));
        for (std::size_t i = 0; i < pointers.size(); ++i)
            if (workload.expected[i].words() != 0) {
                EXPECT_EQ(largest_difference(workload.arrays[i], workload.expected[i]), 0) << text;
            }
    }
}

TEST(DgStageSpace, HasManyMembersOfEveryFormAndFewEnoughToEnumerate) {
    for (const Problem& problem : families().parse_problems("dg_stage equation=maxwell_3d,acoustics_3d,maxwell_2d_tm order=1..10 precision=f32,f64 "
                                                            "elements=1000"))
        for (const Limits& limits : {cpu_limits(), cuda_limits(80), cuda_limits(90), cuda_limits(120)}) {
            const SearchSpace space = families().find("dg_stage").space(problem, limits);
            EXPECT_FALSE(space.check(space.safe()).has_value());
            EXPECT_LE(space.product(), 225000) << problem.key();  // `hone space` counts a third as many in 30 ms
        }
    for (const int order : {1, 4, 10}) {
        const Problem problem = parse(fmt::format("dg_stage equation=maxwell_3d order={} precision=f64 elements=1", order));
        for (const Limits& limits : {cpu_limits(), cuda_limits(90)}) {
            const SearchSpace space = families().find("dg_stage").space(problem, limits);
            std::set<std::string> forms;
            const auto members = space.members();
            for (const std::int64_t index : members) forms.insert(space.at(index).word("form"));
            for (const char* fused : {"_separate", "_surface_update", "_whole"})
                EXPECT_TRUE(forms.contains((limits.target == Target::cpu ? "vector" : "tile") + std::string(fused))) << problem.key() << fused;
            EXPECT_GE(members.size(), 50U) << problem.key();
        }
    }
}

// From the first statement on: the comment before it names the configuration.
std::string code(const Family& family, const Problem& problem, const Config& config, const Limits& limits) {
    const std::string text = family.kernel(problem, config, limits).text;
    return text.substr(text.find("\nusing real"));
}

TEST(DgStageSpace, NoFormIgnoresATunable) {
    for (const char* text :
         {"dg_stage equation=maxwell_3d order=1 precision=f32 elements=100", "dg_surface equation=maxwell_3d order=4 precision=f64 elements=9",
          "dg_rk equation=acoustics_3d order=2 precision=f64 elements=100"}) {
        const Problem problem = parse(text);
        const Family& family = families().of(problem);
        for (const Limits& limits : {cpu_limits(), cuda_limits(90)}) {
            const SearchSpace space = family.space(problem, limits);
            for (const FormSpace& form : space.forms()) {
                const Config entry = space.entry(form);
                const std::string before = code(family, problem, entry, limits);
                for (std::size_t t = 0; t < form.tunables.size(); ++t)
                    for (const Value& value : form.tunables[t].values) {
                        std::vector<Assignment> others = entry.assignments();
                        others[t + 1].value = value;
                        const Config changed(std::move(others));
                        if (changed == entry || space.check(changed)) continue;
                        EXPECT_NE(code(family, problem, changed, limits), before) << changed.key();
                    }
            }
        }
    }
}

// Configurations of the time before the families had forms, as records and users have them.
TEST(DgStageSpace, TranslatesFormerConfigurations) {
    const auto translated = [](const char* problem, const Limits& limits, const char* former) {
        const Problem parsed = parse(problem);
        const SearchSpace space = families().of(parsed).space(parsed, limits);
        const Config config = space.parse(former);
        EXPECT_FALSE(space.check(config)) << config.key();
        return config.key();
    };
    const char* const low = "dg_stage equation=maxwell_3d order=2 precision=f32 elements=1";
    EXPECT_EQ(
        translated(low, cuda_limits(90),
                   "fused=whole,form=covariant,traces=shared,elements_per_block=32,nodes_per_thread=2,elements_per_thread=1,operator=immediate,"
                   "unroll=6,copy_width=4,min_blocks=3"),
        "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=6,basis=nodal,lift=fluxes,copy_width=4,min_blocks=3,asked_ahead=0");
    EXPECT_EQ(
        translated(low, cuda_limits(90),
                   "fused=whole,form=cartesian,traces=shared,elements_per_block=16,nodes_per_thread=2,elements_per_thread=1,operator=shared,"
                   "unroll=4,copy_width=4,min_blocks=1"),
        "form=tile_whole,algebra=cartesian,traces=shared,elements_per_block=16,nodes_per_thread=2,elements_per_thread=1,operator=shared,unroll=4,"
        "copy_width=4,min_blocks=1");
    EXPECT_EQ(
        translated("dg_stage equation=maxwell_3d order=7 precision=f64 elements=1", cuda_limits(90),
                   "fused=whole,form=covariant,traces=memory,mapping=mma,elements_per_block=8,nodes_per_thread=1,elements_per_thread=1,"
                   "operator=global,unroll=2,copy_width=2,min_blocks=1"),
        "form=mma_whole,algebra=covariant,lift=fluxes,gathers=loads,basis=nodal,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2,"
        "min_blocks=1");
    EXPECT_EQ(translated("dg_stage equation=maxwell_3d order=7 precision=f32 arithmetic=f32_accurate elements=1", cuda_limits(90),
                         "fused=surface_update,form=covariant,traces=memory,mapping=tf32,elements_per_block=32,nodes_per_thread=1,elements_per_"
                         "thread=4,operator=global,unroll=1,copy_width=4,min_blocks=1"),
              "form=tf32_surface_update,algebra=covariant,elements_per_block=32,groups_per_warp=4,unrolled_steps=1,copy_width=4,min_blocks=1");
    EXPECT_EQ(translated(low, cpu_limits(),
                         "fused=separate,form=cartesian,lanes=4,vectors_per_tile=1,elements_per_tile=2,elements_per_block=8,unroll=1,threads=all,"
                         "binding=none"),
              "form=vector_separate,algebra=cartesian,lanes=4,vectors_per_tile=1,elements_per_tile=2,elements_per_block=8,unroll=1,threads=all,"
              "binding=none");
    EXPECT_EQ(translated("dg_rk equation=maxwell_3d order=2 precision=f32 elements=1", cuda_limits(90),
                         "elements_per_block=8,block=128,copy_width=4,min_blocks=2"),
              "form=stream,elements_per_block=8,block=128,copy_width=4,min_blocks=2");
    // Without the team's tunables they are of the time before these.
    EXPECT_EQ(translated("dg_rk equation=maxwell_3d order=2 precision=f32 elements=1", cpu_limits(), "elements_per_block=64"),
              "form=stream,elements_per_block=64,threads=all,binding=none");
}

TEST(DgRkSpace, RejectsBlocksOfIdleThreadsAndCopiesThatDoNotFit) {
    const SearchSpace space = families().find("dg_rk").space(parse("dg_rk equation=maxwell_2d_tm order=1 precision=f64 elements=1"), cuda_limits(90));
    const auto rejection = [&](const char* text) { return space.check(space.parse(text)).value_or(Rejection{"none", ""}).constraint; };
    EXPECT_EQ(rejection("elements_per_block=64,block=64"), "none");
    EXPECT_EQ(rejection("elements_per_block=1,block=64"), "idle threads");
    EXPECT_EQ(rejection("copy_width=2"), "none") << "across elements";
    EXPECT_EQ(rejection("copy_width=4"), "copies") << "of 32 bytes";
    EXPECT_EQ(rejection("elements_per_block=1,copy_width=2"), "copies") << "of 9 words";
}

// What the fused forms save is launches and the scratch array between them.
TEST(DgStageText, HasALaunchPerUnfusedPart) {
    const Problem problem = parse("dg_stage equation=maxwell_3d order=2 precision=f32 elements=1000");
    const Family& family = families().find("dg_stage");
    for (const Limits& limits : {cpu_limits(), cuda_limits(90)}) {
        const SearchSpace space = family.space(problem, limits);
        const std::string way = limits.target == Target::cpu ? "form=vector_" : "form=tile_";
        const auto source = [&](const char* fused) { return family.kernel(problem, space.parse(way + fused), limits); };
        EXPECT_EQ(source("separate").step.size(), 3U);
        EXPECT_EQ(source("surface_update").step.size(), 2U);
        EXPECT_EQ(source("whole").step.size(), 1U);
        EXPECT_EQ(source("separate").tables.size(), 3U);
        EXPECT_EQ(source("whole").tables.size(), 2U);
        EXPECT_EQ(source("whole").text.find("rhs"), std::string::npos);
        EXPECT_GT(source("separate").executed_operations, source("whole").executed_operations);  // it adds volume and surface in memory
    }
}

// The numbers of `name[..][..] = {...};` in a text.
std::vector<double> numbers_of(const std::string& text, const std::string& name) {
    const std::size_t begin = text.find("= {", text.find(name + "["));
    const std::string body = text.substr(begin + 3, text.find("};", begin) - begin - 3);
    const std::regex number("-?[0-9]+(\\.[0-9]*(e[-+][0-9]+)?)?");
    std::vector<double> values;
    for (std::sregex_iterator match(body.begin(), body.end(), number), end; match != end; ++match) values.push_back(std::stod(match->str()));
    return values;
}

// Coefficients in the code are those of the element to a few roundings of the largest, and few:
// symmetries make most of them equal.
TEST(DgStageText, HasTheOperatorsWithoutTheirNoiseInTheCode) {
    const Problem problem = parse("dg_stage equation=maxwell_3d order=3 precision=f64 elements=1000");
    const SearchSpace space = families().find("dg_stage").space(problem, cuda_limits(90));
    const std::string text =
        families().find("dg_stage").kernel(problem, space.parse("form=immediate_whole,elements_per_block=32"), cuda_limits(90)).text;
    const ReferenceElement& element = reference_tetrahedron(3);
    const auto expect_equal = [&](const std::string& name, int columns, const auto& matrix, std::size_t most_sizes) {
        const std::vector<double> values = numbers_of(text, name);
        ASSERT_EQ(values.size(), static_cast<std::size_t>(20 * columns));
        double largest = 0;
        for (int c = 0; c < columns; ++c)
            for (int n = 0; n < 20; ++n) largest = std::max(largest, std::abs(matrix(n, c)));
        std::set<double> sizes;
        for (int c = 0; c < columns; ++c)
            for (int n = 0; n < 20; ++n) {
                const double value = values[static_cast<std::size_t>(20 * c + n)];
                EXPECT_NEAR(value, matrix(n, c), 1e-15 * largest) << name << " " << n << " " << c;
                sizes.insert(std::abs(value));
            }
        EXPECT_LE(sizes.size(), most_sizes) << name;
    };
    expect_equal("Ds", 20, element.derivative[1], 26);
    expect_equal("LIFT", 40, element.lift, 40);  // 36, and what would have changed by more
}

// Launches of one configuration share its tile, but none pays for what another needs: the update
// streams in full vectors, and shared memory is that of the pass's own operands.
TEST(DgStageText, EveryLaunchTakesWhatItNeeds) {
    const Problem problem = parse("dg_stage equation=acoustics_3d order=2 precision=f32 elements=1000");
    const Family& family = families().find("dg_stage");
    const SearchSpace space = family.space(problem, cuda_limits(90));
    const KernelSource separate =
        family.kernel(problem, space.parse("form=tile_separate,nodes_per_thread=1,operator=shared,elements_per_block=4"), cuda_limits(90));
    const KernelSource whole =
        family.kernel(problem, space.parse("form=tile_whole,nodes_per_thread=1,operator=shared,elements_per_block=4"), cuda_limits(90));
    EXPECT_NE(separate.step[0].shared_bytes, separate.step[1].shared_bytes);
    EXPECT_EQ(separate.step[2].shared_bytes, 0);
    EXPECT_GE(whole.step[0].shared_bytes, std::max(separate.step[0].shared_bytes, separate.step[1].shared_bytes));
    EXPECT_EQ(separate.step[0].block[0], 40);
    EXPECT_EQ(separate.step[2].block[0], 256);
    EXPECT_EQ(separate.step[2].range_per_block, (4 * 256 * 4 + 39) / 40);
}

}  // namespace
}  // namespace hone::dg_stage_test::family_test
