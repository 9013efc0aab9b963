#include "tuning_db/carry_over.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/device_models.hpp"

namespace hone::carry_over_test {
namespace {

const Database& shipped() {
    static const Database database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    return database;
}

// The problems that ship with results of one device alone.
std::vector<Problem> problems_of(Target target) {
    std::vector<Problem> problems;
    for (const Record& record : shipped().records())
        if (record.purpose.empty() && record.device.target == target) problems.push_back(record.problem);
    std::sort(problems.begin(), problems.end());
    problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
    return problems;
}

// Those records that are of one device.
Database records_of(const std::string& device) {
    Database database(built_in_families());
    for (const Record& record : shipped().records())
        if (record.device.name == device) database.add(record);
    return database;
}

DeviceFingerprint processor(const std::string& architecture, int threads) {
    return {Target::cpu, "a processor", architecture, threads, "", ""};
}

// Whether a device can compute a problem at all: some need what it has not.
std::optional<SearchSpace> space_on(const Problem& problem, const Limits& limits) {
    try {
        return built_in_families().of(problem).space(problem, limits);
    } catch (const Error&) {
        return std::nullopt;
    }
}

// Each problem is answered by a member of the device's space that is not expected to be slower than
// the safe configuration.
void expect_answers(const DeviceFingerprint& device, const std::vector<Problem>& problems) {
    const Limits limits = limits_of(device);
    std::map<std::string, int> found;
    for (const Problem& problem : problems) {
        const auto space = space_on(problem, limits);
        if (!space) continue;
        SCOPED_TRACE(problem.key() + " on " + device.name + " " + device.architecture);
        const Match match = shipped().best(problem, device, limits);
        EXPECT_FALSE(space->check(match.config)) << match.config.key();
        ++found[match.record ? "record" : to_string(match.grade)];
        EXPECT_EQ(match.grade, Grade::other_architecture);
        EXPECT_TRUE(match.record.has_value() != !match.sources.empty()) << "it says where it is from";
        if (match.record) {
            EXPECT_GE(expected_gain(built_in_families(), *match.record, 0, *space, match.config, limits), 1) << match.config.key();
        }
    }
    for (const auto& [what, times] : found) testing::Test::RecordProperty(device.name + " " + what, times);
}

TEST(CarryOver, EveryShippedProblemIsAnsweredOnEveryModelWithoutRecords) {
    test::FreshRandom random;
    for (const DeviceModel& model : device_models())
        if (model.limits.architecture != 90) expect_answers(model.device, test::drawn(problems_of(Target::cuda), 25, random));
}

TEST(CarryOver, EveryShippedProblemIsAnsweredOnEveryKindOfProcessor) {
    test::FreshRandom random;
    for (const char* architecture : {"x86-64-avx2 amd-23-49-512k", "x86-64-sse2", "aarch64-neon", "aarch64-sve"})
        for (const int threads : {1, 4, 64}) expect_answers(processor(architecture, threads), test::drawn(problems_of(Target::cpu), 8, random));
}

// How the records of one model answer for another of the same architecture: for each of its
// problems, and with what part of its own rate, where both are known.
struct LeftOut {
    int problems = 0, scored = 0;
    double log_score = 0;
    double score() const { return std::exp(log_score / std::max(scored, 1)); }
};

LeftOut leave_out(const std::string& asked, const std::string& known, std::size_t few) {
    const Database theirs = records_of(known), own = records_of(asked);
    test::FreshRandom random;
    LeftOut result;
    for (const Record& record : test::drawn(own.records(), few, random)) {
        if (!record.purpose.empty() || beaten_by_safe(record)) continue;
        SCOPED_TRACE(record.problem.key());
        ++result.problems;
        const Limits limits = limits_of(record.device);
        const Match match = theirs.best(record.problem, record.device, limits);
        EXPECT_NE(match.grade, Grade::none);
        const SearchSpace space = built_in_families().of(record.problem).space(record.problem, limits);
        EXPECT_FALSE(space.check(match.config)) << match.config.key();
        // Times are known of two members: the one that was found, and the safe one.
        const bool found = match.config == space.completed(record.config), safe = match.config == space.safe() && record.safe_seconds > 0;
        if (!found && !safe) continue;
        ++result.scored;
        result.log_score += std::log(found ? 1 : record.step.median / record.safe_seconds);
    }
    return result;
}

TEST(CarryOver, EachOfTwoModelsAnswersForTheOther) {
    const std::string h100 = "NVIDIA H100 80GB HBM3", h200 = "NVIDIA H200";
    for (const auto& [asked, known] : {std::pair{h100, h200}, std::pair{h200, h100}}) {
        const LeftOut result = leave_out(asked, known, 60);
        EXPECT_GT(result.problems, 30);
        EXPECT_GT(result.scored, 3);
        RecordProperty(asked + " scored", result.scored);
        RecordProperty(asked + " score", std::to_string(result.score()));
        EXPECT_GE(result.score(), 0.8) << asked << ", " << result.scored << " scored";
    }
}

DeviceFingerprint gpu(const std::string& model) {
    return find_model(model)->device;
}

// A result of the family `sweep`, twice as fast as its safe configuration.
Record sweep(const std::string& config, const std::string& model) {
    return test::make_record("sweep precision=f32 nx=128 ny=128", config, 1e-3, gpu(model));
}

Match ask(const Database& database, const std::string& model, const std::string& problem = "sweep precision=f32 nx=128 ny=128") {
    return database.best(test::two_families().parse_problem(problem), gpu(model), limits_of(gpu(model)));
}

TEST(CarryOver, ARecordAnswersWhereThisSpaceHasItsConfiguration) {
    Database database(test::two_families());
    database.add(sweep("block=64,depth=16,held=shared", "H200"));
    const Match match = ask(database, "RTX 4090");
    EXPECT_EQ(match.grade, Grade::other_architecture);
    EXPECT_EQ(match.config.key(), "block=64,depth=16,held=shared");
    ASSERT_TRUE(match.record);
    EXPECT_EQ(match.record->device.name, "NVIDIA H200");
}

TEST(CarryOver, ElseTheNearestMemberAnswers) {
    // 131072 bytes of shared memory, where a block may have 101376.
    Database database(test::two_families());
    database.add(sweep("block=64,depth=32,held=shared", "H200"));
    const Match match = ask(database, "RTX 4090");
    EXPECT_EQ(match.grade, Grade::other_architecture);
    EXPECT_FALSE(match.record);
    ASSERT_EQ(match.sources.size(), 1U);
    EXPECT_EQ(match.config.word("held"), "shared");
    EXPECT_EQ(match.config.integer("block") * match.config.integer("depth"), 1024);
}

TEST(CarryOver, OwnResultsGoFirstUnlessTheOtherOnesAreNearer) {
    Database database(test::two_families());
    database.add(sweep("block=32", "H200"));
    database.add(test::make_record("sweep precision=f64 nx=128 ny=128", "block=16", 1e-3, gpu("A100")));
    EXPECT_EQ(ask(database, "A100").grade, Grade::predicted) << "another precision is as near as another architecture of equal limits";
    EXPECT_EQ(ask(database, "A100", "sweep precision=f32 stencil=variable nx=128 ny=128").grade, Grade::predicted);
    Database far(test::two_families());
    far.add(sweep("block=32", "H200"));
    far.add(test::make_record("sweep precision=f64 stencil=variable nx=128 ny=128", "block=16", 1e-3, gpu("A100")));
    EXPECT_EQ(ask(far, "A100").grade, Grade::other_architecture);
    EXPECT_EQ(ask(far, "A100", "sweep precision=f64 stencil=variable nx=128 ny=128").grade, Grade::exact);
}

TEST(CarryOver, TheDeviceThatIsLimitedAlikeGoesFirst) {
    // 53 operations for 16 bytes: arithmetic in f64 limits an RTX 3090, memory an H200.
    Database database(test::two_families());
    const std::string problem = "sweep precision=f64 nx=128 ny=128";
    database.add(test::make_record(problem, "block=32", 1e-3, gpu("H200")));
    database.add(test::make_record(problem, "block=16", 1e-3, gpu("RTX 3090")));
    EXPECT_EQ(ask(database, "RTX 4090", problem).config.key(), "block=16,depth=1,held=caches");
    EXPECT_EQ(ask(database, "A100", problem).config.key(), "block=32,depth=1,held=caches");
    const Record record = test::make_record(problem, "", 1e-3, gpu("H200"));
    EXPECT_GT(device_difference(record, gpu("RTX 4090")), 0.4);
    EXPECT_LT(device_difference(record, gpu("B200")), 0.1);
}

TEST(CarryOver, NothingIsHandedOutThatIsExpectedToBeSlowerThanSafe) {
    const Problem problem = built_in_families().parse_problem("dg_volume equation=acoustics_3d order=10 precision=f64 elements=100000");
    const Family& family = built_in_families().of(problem);
    const DeviceFingerprint h200 = gpu("H200"), a40 = gpu("A40");
    const SearchSpace there = family.space(problem, limits_of(h200)), here = family.space(problem, limits_of(a40));
    Record record = test::make_record("volume order=3 elements=1000", "", 1e-3, h200);
    record.problem = problem;
    record.config = there.safe();
    // A member that leaves fewer warps here than the safe one does.
    std::optional<Config> worse;
    test::FreshRandom random;
    const Members members = here.members();
    for (int i = 0; i < 2000 && !worse; ++i) {
        const Config config = here.at(members[static_cast<std::size_t>(random() % members.size())]);
        if (held(here, config, limits_of(a40)) < 0.5 * held(here, here.safe(), limits_of(a40))) worse = config;
    }
    ASSERT_TRUE(worse);
    record.config = *worse;
    const double ratio = held(here, *worse, limits_of(a40)) / held(here, here.safe(), limits_of(a40));
    record.config = there.safe();  // which holds there what the safe one does
    record.safe_seconds = 0;       // not known: what the two hold decides
    EXPECT_LT(expected_gain(built_in_families(), record, 2, here, *worse, limits_of(a40)), 1);
    EXPECT_GT(expected_gain(built_in_families(), record, 2, here, here.safe(), limits_of(a40)), 1);
    for (const double gained : {1.2, 5.0}) {
        record.safe_seconds = gained * record.step.median;
        EXPECT_NEAR(expected_gain(built_in_families(), record, 0, here, *worse, limits_of(a40)), gained * ratio, 1e-9);
        EXPECT_LT(expected_gain(built_in_families(), record, 2, here, *worse, limits_of(a40)), gained * ratio);
    }
}

TEST(CarryOver, ALosingRecordOfAnotherArchitectureGivesTheSafeConfiguration) {
    Database database(test::two_families());
    Record record = sweep("block=64,depth=4,held=shared", "H200");
    record.safe_seconds = 1.01 * record.step.median;
    database.add(record);
    const Match match = ask(database, "RTX 4090");
    EXPECT_EQ(match.config.key(), "block=1,depth=1,held=caches") << "it gained less than what is lost on the way";
    EXPECT_EQ(match.grade, Grade::other_architecture);
}

}  // namespace
}  // namespace hone::carry_over_test
