#include "tuner/candidate_bench.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/axpy_family.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone {
namespace {

class CandidateBenchTest : public testing::Test {
  protected:
    test::TemporaryFolder folder;
    DiskCache cache{folder.path() / "cache"};
    std::unique_ptr<Backend> backend = make_backend("cpu", cache);
    Families families = test::axpy_families({"none", "wrong"});
    Problem problem = families.parse_problem("axpy precision=f64 n=1001");
    Family family = families.of(problem);
    std::uint64_t seed = std::random_device{}();

    Config config(const std::string& text) const { return family.space(problem, backend->device().limits).parse(text); }
};

// The family works in place: every timed step adds to y. So the second verification only holds if the inputs are restored.
TEST_F(CandidateBenchTest, EveryCandidateStartsFromTheSameInputs) {
    CandidateBench bench(*backend, family, problem, seed);
    for (const char* storage : {"literal", "table", "prepared", "literal"}) {
        const Outcome outcome = bench.evaluate(config(std::string("storage=") + storage), 0, SamplingRule{});
        EXPECT_EQ(outcome.status, Status::measured) << storage << ": " << outcome.reason << " seed " << seed;
        EXPECT_LE(outcome.verification_error, outcome.tolerance) << storage << " seed " << seed;
    }
}

TEST_F(CandidateBenchTest, WrongValuesAreNotTimed) {
    CandidateBench bench(*backend, family, problem, seed);
    const Outcome outcome = bench.evaluate(config("fault=wrong"), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_TRUE(outcome.samples.empty());
    EXPECT_NEAR(outcome.verification_error, 1, 1e-6) << "seed " << seed;
}

TEST_F(CandidateBenchTest, AChangedInputIsWrongToo) {
    const auto kernel = family.kernel;
    family.kernel = [kernel](const Problem& of, const Config& with, const Limits& limits) {
        KernelSource source = kernel(of, with, limits);
        const std::string update = "y[i] += real(3) * x[i];";
        source.text.replace(source.text.find(update), update.size(), "{ y[i] += real(3) * x[i]; const_cast<real*>(x)[i] += real(1); }");
        return source;
    };
    CandidateBench bench(*backend, family, problem, seed);
    const Outcome outcome = bench.evaluate(config(""), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_NE(outcome.reason.find("x differs"), std::string::npos) << outcome.reason;
}

TEST_F(CandidateBenchTest, AWordThatIsNotWrittenIsWrong) {
    family.arrays = [](const Problem& of) {
        const std::int64_t n = of.integer("n");
        return std::vector<ArraySpec>{{"x", Access::in, n, "[n]", ""}, {"y", Access::out, n, "[n]", ""}};
    };
    CandidateBench bench(*backend, family, problem, seed);
    // y += 3 x on a poisoned y stays NaN.
    const Outcome outcome = bench.evaluate(config(""), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_EQ(outcome.verification_error, std::numeric_limits<double>::infinity());
}

TEST_F(CandidateBenchTest, APeriodHasAsManySamplesAsTheRuleSays) {
    CandidateBench bench(*backend, family, problem, seed);
    SamplingRule rule;
    rule.period = 9;
    rule.narrow = 0;
    const Outcome outcome = bench.evaluate(config(""), 0, rule);
    ASSERT_EQ(outcome.status, Status::measured) << outcome.reason;
    EXPECT_LE(outcome.step.samples, 9 + 9 / 3) << "and the warm-up that is cut off";
    EXPECT_GE(outcome.step.samples, rule.fewest);
}

PowerSource constant_watts(double watts) {
    return {"made_up", "made up", PowerSource::Kind::watts, 0, 0.5, [watts] { return std::optional(watts); }};
}

TEST_F(CandidateBenchTest, EnergyIsPowerTimesTheSecondsOfAStep) {
    CandidateBench bench(*backend, family, problem, seed, {{}, constant_watts(250), 70});
    SamplingRule rule;
    EXPECT_EQ(bench.evaluate(config(""), 0, rule).energy, std::nullopt) << "nobody asked for it";
    rule.energy_seconds = 0.03;
    const Outcome outcome = bench.evaluate(config(""), 0, rule);
    ASSERT_TRUE(outcome.energy) << outcome.reason;
    EXPECT_NEAR(outcome.energy->watts, 250, 1e-9);
    EXPECT_GT(outcome.energy->joules.median, 250 * outcome.step.minimum / 10) << "steps of the metered stretch take as long as others, or longer";
    EXPECT_GE(outcome.energy->joules.samples, 1);
    EXPECT_EQ(outcome.energy->idle_watts, 70);
    EXPECT_EQ(outcome.energy->source, "made_up");
    EXPECT_EQ(outcome.energy->resolution_watts, 0.5);
    EXPECT_GT(outcome.energy->samples_per_second, 0);
}

TEST_F(CandidateBenchTest, WhatIsClearlyWorseOrWrongIsNotMetered) {
    int read = 0;
    PowerSource counting = constant_watts(250);
    counting.read = [&read] {
        ++read;
        return std::optional(250.0);
    };
    CandidateBench bench(*backend, family, problem, seed, {{}, counting, 0});
    SamplingRule rule;
    rule.energy_seconds = 0.01;
    EXPECT_EQ(bench.evaluate(config(""), 1e-12, rule).energy, std::nullopt);
    EXPECT_EQ(bench.evaluate(config("fault=wrong"), 0, rule).energy, std::nullopt);
    EXPECT_EQ(read, 0);
}

TEST_F(CandidateBenchTest, AMeterThatSaysNothingEndsTheMeteringAndNotTheCandidate) {
    PowerSource silent = constant_watts(0);
    silent.read = []() -> std::optional<double> { return std::nullopt; };
    CandidateBench bench(*backend, family, problem, seed, {{}, silent, 0});
    SamplingRule rule;
    rule.energy_seconds = 0.01;
    const Outcome outcome = bench.evaluate(config(""), 0, rule);
    EXPECT_EQ(outcome.status, Status::measured);
    EXPECT_EQ(outcome.energy, std::nullopt);
}

TEST_F(CandidateBenchTest, TheStateOfTheDeviceIsReadOncePerSamplingPeriod) {
    int readings = 0;
    CandidateBench bench(*backend, family, problem, seed, {[&] {
        ++readings;
        return DeviceReading{.sm_megahertz = 1980};
    }});
    EXPECT_EQ(bench.evaluate(config(""), 0, SamplingRule{}).device, DeviceReading{.sm_megahertz = 1980});
    EXPECT_EQ(bench.evaluate(config("fault=wrong"), 0, SamplingRule{}).device, std::nullopt);
    EXPECT_EQ(readings, 1);
}

}  // namespace
}  // namespace hone
