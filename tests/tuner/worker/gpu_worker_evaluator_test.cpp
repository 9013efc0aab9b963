// The tuning worker on a real GPU: what a faulty kernel does to its context stays with its
// candidate. Skipped, saying why, where there is no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "foundation/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/power.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/objective.hpp"
#include "tuner/tuning_run.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::gpu_worker_evaluator_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class GpuWorkerEvaluator : public testing::Test {
  protected:
    void SetUp() override {
        std::string missing;
        const std::vector<Device> devices = backends().front().devices(missing);
        if (devices.empty()) GTEST_SKIP() << missing;
        settings.device = devices.front();
        settings.cache = folder.path() / "cache";
        settings.grace = 5;
        DiskCache cache(settings.cache);
        if (const auto gpu = test::backend_or_skip("cuda", cache)) {
            missing = gpu->compiler().missing();
            if (!missing.empty()) GTEST_SKIP() << missing;
        }
    }

    Outcome evaluate(WorkerEvaluator& evaluator, const std::string& text) const {
        const SearchSpace space = family.space(problem, settings.device.limits);
        const Config config = space.parse(text);
        const Candidate candidate{space.index_of(config), config};
        evaluator.prepare(candidate);
        return evaluator.evaluate(candidate, 0, [] { return false; }).value();
    }

    void expect_measured(WorkerEvaluator& evaluator, const std::string& text, const std::string& after) const {
        const Outcome outcome = evaluate(evaluator, text);
        EXPECT_EQ(outcome.status, Status::measured) << text << " after " << after << ": " << outcome.reason << " seed " << seed;
        EXPECT_LE(outcome.verification_error, outcome.tolerance) << text << " after " << after << " seed " << seed;
        EXPECT_GT(outcome.step.median, 0) << text << " after " << after;
    }

    test::TemporaryFolder folder;
    Families families = test::axpy_families({"none", "wrong", "crash", "hang", "launch_failure", "compile_failure"});
    Problem problem = families.parse_problem("axpy precision=f64 n=1000003");
    const Family& family = families.of(problem);
    WorkerSettings settings;
    std::uint64_t seed = std::random_device{}();
};

TEST_F(GpuWorkerEvaluator, AnIllegalAccessCostsItsCandidateAndTheNextHaveANewContext) {
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    expect_measured(evaluator, "", "nothing");
    for (int repetition = 0; repetition < 2; ++repetition) {
        const Outcome crash = evaluate(evaluator, "fault=crash");
        EXPECT_THAT(crash.status, AnyOf(Status::launch_failed, Status::crashed)) << to_string(crash.status) << ": " << crash.reason;
        EXPECT_NE(crash.reason, "");
        EXPECT_TRUE(crash.samples.empty());
        expect_measured(evaluator, "storage=table,unroll=2", "an illegal access");
        expect_measured(evaluator, "storage=prepared,block=256", "an illegal access and a good candidate");
    }
}

TEST_F(GpuWorkerEvaluator, AKernelThatNeverEndsIsKilledAndTheNextAreMeasured) {
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    expect_measured(evaluator, "", "nothing");
    const Outcome hang = evaluate(evaluator, "fault=hang");
    EXPECT_EQ(hang.status, Status::timed_out) << to_string(hang.status) << ": " << hang.reason;
    EXPECT_THAT(hang.reason, HasSubstr("no answer within"));
    expect_measured(evaluator, "unroll=4,block=128", "a kernel that hung");
}

TEST_F(GpuWorkerEvaluator, OtherFaultsLeaveTheWorkerAsItIs) {
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    expect_measured(evaluator, "", "nothing");
    const Outcome wrong = evaluate(evaluator, "fault=wrong");
    EXPECT_EQ(wrong.status, Status::wrong) << wrong.reason;
    EXPECT_THAT(wrong.reason, HasSubstr("y differs from the reference by 1"));
    const Outcome launch = evaluate(evaluator, "fault=launch_failure");
    EXPECT_EQ(launch.status, Status::launch_failed) << to_string(launch.status) << ": " << launch.reason;
    const Outcome compile = evaluate(evaluator, "fault=compile_failure");
    EXPECT_EQ(compile.status, Status::compile_failed);
    EXPECT_THAT(compile.reason, HasSubstr("this candidate does not compile"));
    expect_measured(evaluator, "storage=table", "these");
}

TEST_F(GpuWorkerEvaluator, AWholeRunWithEveryFaultFindsItsWinner) {
    WorkerEvaluator evaluator(settings);
    TuningOptions options;
    options.strategy = "exhaustive";
    options.folder = folder.path();
    const TuningResult result = tune(family, problem, settings.device, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(result.record->config.word("fault"), "none");
    EXPECT_LE(result.record->verification_error, result.record->tolerance);
    auto counts = result.progress.counts;
    EXPECT_EQ(counts[Status::measured], result.progress.members - 5);
    EXPECT_EQ(counts[Status::wrong], 1);
    EXPECT_EQ(counts[Status::timed_out], 1);
    EXPECT_EQ(counts[Status::compile_failed], 1);
    EXPECT_EQ(counts[Status::launch_failed] + counts[Status::crashed], 2);
}

TEST_F(GpuWorkerEvaluator, TellsTheStateOfTheDeviceAndTheEnergyOfAStep) {
    std::string missing;
    const auto source = find_power_source(settings.device, missing);
    if (!source) GTEST_SKIP() << missing;
    settings.sampling = sampling_for(parse_objective("energy"), {});
    problem = families.parse_problem("axpy precision=f64 n=50000000");
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    const Outcome outcome = evaluate(evaluator, "block=256");
    ASSERT_EQ(outcome.status, Status::measured) << outcome.reason << " seed " << seed;
    ASSERT_TRUE(outcome.device);
    EXPECT_GT(outcome.device->sm_megahertz.value_or(0), 100);
    EXPECT_GT(outcome.device->temperature_celsius.value_or(0), 10);
    ASSERT_TRUE(outcome.energy) << source->detail;
    // Between the least that any board draws and more than any: units would be wrong by powers of
    // ten.
    EXPECT_GT(outcome.energy->watts, 5) << source->detail;
    EXPECT_LT(outcome.energy->watts, 3000) << source->detail;
    EXPECT_GT(outcome.energy->idle_watts, 1) << source->detail;
    // The stretch under the meter and the sampling period are the same steps: joules are watts
    // times seconds, up to clocks and gaps between batches.
    const double seconds = outcome.energy->joules.median / outcome.energy->watts;
    EXPECT_GT(seconds, 0.5 * outcome.step.median);
    EXPECT_LT(seconds, 3 * outcome.step.median);
    std::printf("%s: %.1f W (idle %.1f W), %.4f J a step of %.3f ms, meter renewed every %.1f ms\n", source->detail.c_str(), outcome.energy->watts,
                outcome.energy->idle_watts, outcome.energy->joules.median, 1e3 * outcome.step.median, 1e3 * outcome.energy->resolution_seconds);
}

}  // namespace
}  // namespace hone::gpu_worker_evaluator_test
