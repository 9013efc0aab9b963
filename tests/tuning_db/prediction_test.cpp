#include "tuning_db/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "generator/families/built_in_families.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tuning_db/carry_over.hpp"
#include "tuning_db/database.hpp"

namespace hone::prediction_test {
namespace {

using test::axpy_record;
using testing::HasSubstr;

const Families& families() {
    static const Families all = test::axpy_families();
    return all;
}

DeviceFingerprint device_of(const std::string& name, const std::string& architecture) {
    return {Target::cuda, name, architecture, 100, "13.0", "NVRTC 13.0"};
}

const DeviceFingerprint h200 = device_of("NVIDIA H200", "sm_90");

TEST(Prediction, NeighboursAreNearInSizeWordsAndDevice) {
    const Problem problem = families().parse_problem("axpy precision=f32 n=1024");
    const auto distance = [&](const std::string& of, const DeviceFingerprint& on) {
        return neighbour_distance(families().of(problem), axpy_record(of, "", on), problem, h200);
    };
    EXPECT_EQ(distance("axpy precision=f32 n=1024", h200), 0);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f32 n=4096", h200), 0.5);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f32 n=256", h200), 0.5);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f64 n=1024", h200), 1);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f32 n=1024", device_of("NVIDIA H100", "sm_90")), 0.5);
    const DeviceFingerprint a100 = device_of("NVIDIA A100", "sm_80");
    const Record there = axpy_record("axpy precision=f32 n=1024", "", a100);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f32 n=1024", a100), 1 + device_difference(there, h200));
    EXPECT_GT(device_difference(there, h200), 0);
    EXPECT_DOUBLE_EQ(*distance("axpy precision=f32 n=1048576", h200), 2.5);
    EXPECT_FALSE(distance("axpy precision=f32 n=536870912", h200)) << "nineteen octaves";
    DeviceFingerprint cpu = h200;
    cpu.target = Target::cpu;
    EXPECT_FALSE(distance("axpy precision=f32 n=1024", cpu));
}

TEST(Prediction, WhatIsComputedWeighsMoreThanHowExactly) {
    const std::string size = " nx=320 ny=320 nz=320";
    const auto problem = [&](const std::string& rest) { return built_in_families().parse_problem("gauss_seidel_27 " + rest + size); };
    Record record = axpy_record("axpy precision=f32 n=1024", "", h200);
    const auto distance = [&](const std::string& of) {
        record.problem = problem(of);
        return *neighbour_distance(built_in_families().find("gauss_seidel_27"), record, problem("stencil=symmetric precision=f32"), h200);
    };
    EXPECT_DOUBLE_EQ(distance("stencil=symmetric precision=f64"), 1);
    EXPECT_DOUBLE_EQ(distance("stencil=constant precision=f32"), 2);
}

TEST(Prediction, WhatIsNotVerifiedOrSharedTellsNothing) {
    const Problem problem = families().parse_problem("axpy precision=f32 n=1024");
    Record record = axpy_record("axpy precision=f32 n=1024", "", h200);
    record.verification_error = 1;
    EXPECT_FALSE(neighbour_distance(families().of(problem), record, problem, h200));
    record.verification_error = 0;
    record.hybrid = Hybrid{};
    EXPECT_FALSE(neighbour_distance(families().of(problem), record, problem, h200));
}

TEST(Prediction, AConfigurationOfAnotherSpaceBecomesTheNearestMember) {
    const Constraint small{"small", [](const Config& config) -> std::optional<std::string> {
                               if (config.integer("x") * config.integer("y") > 64) return "too many threads";
                               return std::nullopt;
                           }};
    const SearchSpace space({{"x", "", numbers({4, 8, 16, 32})}, {"y", "", numbers({1, 2, 4, 8})}, {"form", "", words({"plain", "rows"})}}, {small},
                            {{"x", std::int64_t{4}}, {"y", std::int64_t{1}}, {"form", "plain"}});
    const auto nearest = [&](std::vector<Assignment> assignments) { return nearest_member(space, Config(std::move(assignments))).value().key(); };
    EXPECT_EQ(nearest({{"x", std::int64_t{16}}, {"y", std::int64_t{4}}, {"form", "rows"}}), "x=16,y=4,form=rows") << "a member is itself";
    EXPECT_EQ(nearest({{"x", std::int64_t{24}}, {"y", std::int64_t{1}}, {"form", "rows"}}), "x=32,y=1,form=rows") << "by the ratio";
    EXPECT_EQ(nearest({{"x", std::int64_t{16}}, {"form", "tiled"}, {"depth", std::int64_t{3}}}), "x=16,y=1,form=plain")
        << "what is missing or unknown is as in the safe configuration";
    const std::string repaired = nearest({{"x", std::int64_t{32}}, {"y", std::int64_t{8}}, {"form", "rows"}});
    EXPECT_FALSE(space.check(space.parse(repaired))) << repaired;
    EXPECT_THAT(repaired, HasSubstr("form=rows")) << "a constraint costs numbers before words";
}

TEST(Prediction, AMemberIsFoundOrNothingIs) {
    // All but one of 4^8 assignments break a rule that names no values: too far for a thousand
    // tries.
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe, wish;
    for (int i = 0; i < 8; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        tunables.push_back({name, "", numbers({1, 2, 4, 8})});
        safe.push_back({name, std::int64_t{1}});
        wish.push_back({name, std::int64_t{8}});
    }
    const Constraint only_safe{"small", [&](const Config& config) -> std::optional<std::string> {
                                   return config.assignments() == safe ? std::nullopt : std::optional<std::string>("too large");
                               }};
    const SearchSpace space(tunables, {only_safe}, safe);
    EXPECT_EQ(nearest_member(space, Config(safe)), Config(safe));
    EXPECT_EQ(nearest_member(space, Config(wish)), std::nullopt);
}

TEST(Prediction, TheNearestMemberIsTheNearest) {
    // Beside all members of a space with many rules.
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    const auto drawn = [&](std::int64_t bound) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(bound)); };
    const std::vector<std::int64_t> values{1, 2, 4, 8};
    for (int round = 0; round < 20; ++round) {
        const std::int64_t product = values[static_cast<std::size_t>(drawn(4))] * 4;
        const std::int64_t sum = 4 + drawn(12);
        const Constraint few{"few", [=](const Config& c) -> std::optional<std::string> {
                                 if (c.integer("x") * c.integer("y") > product || c.integer("y") + c.integer("z") > sum) return "too many";
                                 return std::nullopt;
                             }};
        const SearchSpace space({{"x", "", numbers(values)}, {"y", "", numbers(values)}, {"z", "", numbers(values)}, {"form", "", words({"a", "b"})}},
                                {few}, {{"x", std::int64_t{1}}, {"y", std::int64_t{1}}, {"z", std::int64_t{1}}, {"form", "a"}});
        const Config wish = space.at(drawn(space.product()));
        const auto difference = [&](const Config& member) {
            double total = member.word("form") == wish.word("form") ? 0 : 1;
            for (const char* name : {"x", "y", "z"}) {
                const double ratio = static_cast<double>(member.integer(name)) / static_cast<double>(wish.integer(name));
                if (ratio != 1) total += std::max(0.25, std::abs(std::log2(ratio)) / 4);
            }
            return total;
        };
        double least = std::numeric_limits<double>::infinity();
        for (const std::int64_t index : space.members()) least = std::min(least, difference(space.at(index)));
        const auto found = nearest_member(space, wish);
        ASSERT_TRUE(found);
        EXPECT_FALSE(space.check(*found));
        EXPECT_DOUBLE_EQ(difference(*found), least) << found->key() << " for " << wish.key();
    }
}

TEST(Prediction, ANeighbourWhoseConfigurationIsNoneOfItsSpaceBreaksNothing) {
    // A file's tunables may be missing, misnamed or of the wrong kind: each form's functions read
    // them by name.
    const Limits limits = cuda_limits(90);
    for (const Family& family : built_in_families()) {
        const Problem problem = built_in_families().parse_problem(family.example);
        const SearchSpace space = family.space(problem, limits);
        for (const FormSpace& form : space.forms()) {
            const auto whole = space.entry(form).assignments();
            std::vector<std::vector<Assignment>> broken;
            for (std::size_t i = whole.size() - form.tunables.size(); i < whole.size(); ++i) {
                broken.push_back(whole);
                broken.back().erase(broken.back().begin() + static_cast<std::ptrdiff_t>(i));
                broken.push_back(whole);
                broken.back()[i].name += "_of_none";
                broken.push_back(whole);
                broken.back()[i].value = whole[i].value.index() == 0 ? Value("word") : Value(std::int64_t{1});
            }
            for (auto& assignments : broken) {
                Record record = axpy_record("axpy precision=f32 n=1024", "", h200);
                record.problem = problem;
                record.config = Config(std::move(assignments));
                const auto prediction = predict(built_in_families(), problem, limits, {{&record, 1}});
                EXPECT_TRUE(!prediction || !space.check(prediction->config)) << family.name << " " << record.config.key();
            }
        }
    }
}

TEST(Prediction, WhatSeveralNeighboursAgreeInWins) {
    const Problem problem = families().parse_problem("axpy precision=f32 n=1024");
    const SearchSpace space = families().of(problem).space(problem, cuda_limits(90));
    const std::vector<Record> records{
        axpy_record("axpy precision=f32 n=1500", "unroll=1,block=64", h200), axpy_record("axpy precision=f32 n=2048", "unroll=4,block=256", h200),
        axpy_record("axpy precision=f32 n=512", "unroll=4,block=256", h200), axpy_record("axpy precision=f64 n=1024", "unroll=2,block=128", h200)};
    std::vector<Neighbour> neighbours;
    for (const Record& record : records) neighbours.push_back({&record, *neighbour_distance(families().of(problem), record, problem, h200)});
    sort_neighbours(neighbours);
    const auto prediction = predict(families(), problem, cuda_limits(90), neighbours);
    ASSERT_TRUE(prediction);
    EXPECT_EQ(prediction->config, space.parse("unroll=4,block=256"));
    ASSERT_EQ(prediction->sources.size(), 4U);
    EXPECT_EQ(prediction->sources.front().problem, records.front().problem) << "the nearest first";
    EXPECT_EQ(prediction->sources.back().problem, records.back().problem);
    // With the nearest and the farthest alone there is no agreement: the nearest wins.
    EXPECT_EQ(predict(families(), problem, cuda_limits(90), {neighbours.front(), neighbours.back()})->config, records.front().config);
    EXPECT_EQ(predict(families(), problem, cuda_limits(90), {}), std::nullopt);
}

// A record of a problem of hone's own families.
Record tuned(const std::string& problem, const std::string& config) {
    Record record = axpy_record("axpy precision=f32 n=1024", "", h200);
    record.problem = built_in_families().parse_problem(problem);
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).parse(config);
    record.safe_seconds = 2 * record.step.median;
    return record;
}

std::optional<Prediction> predicted(const std::string& problem, const std::vector<Record>& records) {
    std::vector<Neighbour> neighbours;
    const Problem asked = built_in_families().parse_problem(problem);
    for (const Record& record : records) neighbours.push_back({&record, *neighbour_distance(built_in_families().of(asked), record, asked, h200)});
    sort_neighbours(neighbours);
    return predict(built_in_families(), built_in_families().parse_problem(problem), cuda_limits(90), neighbours);
}

TEST(Prediction, AFormThatDoesNotExistHereProposesNothing) {
    // Matrix units are all that larger products have.
    const Record small = tuned("batched_gemm m=23 n=12 k=12 batch=1000", "form=tile"),
                 large = tuned("batched_gemm m=30 n=12 k=12 batch=1000", "form=mma");
    EXPECT_FALSE(predicted("batched_gemm m=24 n=12 k=12 batch=1000", {small}));
    const auto prediction = predicted("batched_gemm m=24 n=12 k=12 batch=1000", {small, large});
    ASSERT_TRUE(prediction);
    ASSERT_EQ(prediction->sources.size(), 1U);
    EXPECT_EQ(prediction->sources.front().problem, large.problem);
}

TEST(Prediction, ProposalsThatLeaveFewWarpsCountLess) {
    // 16 elements fill a multiprocessor's shared memory with one block of four warps.
    const std::string rest = " precision=f64 elements=100000", units = "form=mma,groups_per_warp=1,elements_per_block=";
    const Record crowded = tuned("dg_volume equation=acoustics_3d order=10" + rest, units + "16");
    const Record roomy = tuned("dg_volume equation=acoustics_3d order=8" + rest, units + "8");
    const auto alone = predicted("dg_volume equation=acoustics_3d order=9" + rest, {crowded});
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->config.integer("elements_per_block"), 16);
    const auto both = predicted("dg_volume equation=acoustics_3d order=9" + rest, {crowded, roomy});
    ASSERT_TRUE(both);
    EXPECT_EQ(both->sources.front().problem, crowded.problem) << "the nearest";
    EXPECT_EQ(both->config.integer("elements_per_block"), 8);
}

TEST(Prediction, AWarpOfANeighbourIsAWarpHere) {
    // Four zones of eight points there, of four here.
    const std::string layered = "form=layered,layers=2,derivatives=staged,min_blocks=1,zones_per_block=";
    const Record record = tuned("corner_force dimension=3 order=1 zones=524288", layered + "4");
    const auto prediction = predicted("corner_force dimension=2 order=1 zones=2097152", {record});
    ASSERT_TRUE(prediction);
    EXPECT_EQ(prediction->config.word("form"), "layered");
    EXPECT_EQ(prediction->config.integer("zones_per_block"), 8);
}

TEST(Prediction, WhereASecondBlockFitsItsRegistersAreLeft) {
    // A multiprocessor has room for one such block of order 6, and for two of order 4.
    const auto problem = [](int order) { return "corner_force dimension=3 zones=2048 order=" + std::to_string(order); };
    const std::string one = "form=layered,zones_per_block=1,layers=4,derivatives=staged,min_blocks=1";
    const auto two_fit = predicted(problem(4), {tuned(problem(6), one)});
    ASSERT_TRUE(two_fit);
    EXPECT_EQ(two_fit->config.integer("layers"), 4);
    EXPECT_EQ(two_fit->config.integer("min_blocks"), 2);
    // What had room for two may have its registers here as it had them there.
    const auto two_fitted = predicted(problem(3), {tuned(problem(4), one)});
    ASSERT_TRUE(two_fitted);
    EXPECT_EQ(two_fitted->config.integer("min_blocks"), 1);
}

TEST(Prediction, WhatAFamilyCountsToTakeLongGivesWay) {
    // Eight products a block where 32 are under way, by a near neighbour: on an H200 half as fast.
    const Record near = tuned("batched_gemm form=nt b=shared m=5 n=7 k=5 batch=2082118",
                              "form=mma,matrices_per_block=8,block_m=32,block_n=16,warp_m=1,warp_n=1,chunk=8,stages=1,depth=8,epilogue=direct,"
                              "tiling=matrices,min_blocks=4");
    const std::string problem = "batched_gemm form=nt b=shared m=5 n=8 k=6 batch=913659";
    const SearchSpace space = built_in_families().of(near.problem).space(built_in_families().parse_problem(problem), cuda_limits(90));
    const auto count = [&](const Config& config) { return space.form_of(config)->count(config); };
    const Config same = *nearest_member(space, near.config);
    EXPECT_GT(count(same), 1.1 * count(space.safe()));
    const Record far = tuned("batched_gemm form=nt b=shared m=5 n=7 k=22 batch=440911", "form=mma");
    const auto prediction = predicted(problem, {near, far});
    ASSERT_TRUE(prediction);
    EXPECT_LT(count(prediction->config), count(same));
}

TEST(Prediction, NeighboursThatHardlyGainedProposeTheSafeConfiguration) {
    const Problem problem = families().parse_problem("axpy precision=f32 n=1024");
    Record record = axpy_record("axpy precision=f32 n=2048", "unroll=4,block=256", h200);
    const auto predicted = [&](double safe_seconds, double distance = 0.25) {
        record.safe_seconds = safe_seconds;
        return predict(families(), problem, cuda_limits(90), {{&record, distance}})->config;
    };
    const SearchSpace space = families().of(problem).space(problem, cuda_limits(90));
    EXPECT_EQ(predicted(1.03 * record.step.median), space.safe());
    EXPECT_EQ(predicted(1.5 * record.step.median), record.config);
    EXPECT_EQ(predicted(0), record.config) << "not known";
    EXPECT_EQ(predicted(1.1 * record.step.median), record.config);
    EXPECT_EQ(predicted(1.1 * record.step.median, 3), space.safe()) << "less than what is lost on the way";
    EXPECT_EQ(predicted(1.5 * record.step.median, 3), record.config);
}

TEST(Prediction, OfEveryShippedProblemIsAMember) {
    const Database database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    std::size_t predicted = 0;
    test::FreshRandom random;
    for (const Record& record : test::drawn(database.records(), 40, random)) {
        if (record.device.target != Target::cuda) continue;
        const SearchSpace space = built_in_families().of(record.problem).space(record.problem, cuda_limits(90));
        std::vector<Neighbour> others = database.neighbours(record.problem, record.device);
        std::erase_if(others, [&](const Neighbour& n) { return n.record->problem.class_key() == record.problem.class_key(); });
        const auto prediction = predict(built_in_families(), record.problem, cuda_limits(90), others);
        if (!prediction) continue;
        ++predicted;
        EXPECT_FALSE(space.check(prediction->config)) << record.problem.key() << " with " << prediction->config.key();
    }
    EXPECT_GT(predicted, 20U);
}

}  // namespace
}  // namespace hone::prediction_test
