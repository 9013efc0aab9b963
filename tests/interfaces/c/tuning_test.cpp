// Tuning through the C interface, ahead and beside an application's steps. Candidates run in
// processes of this program.
#include <chrono>

#include "tests/interfaces/c/c_session.hpp"

namespace hone::tuning_test {
namespace {

using test::CWorkload;
using test::small_problem;
using testing::HasSubstr;

class CTuning : public test::CSession {
  protected:
    test::EnvironmentVariable worker_{"HONE_WORKER", "/proc/self/exe"};
};
using SlowCTuning = CTuning;

hone_tuning_options options_for(std::int64_t evaluations) {
    hone_tuning_options options{};
    options.size = sizeof options;
    options.evaluations = evaluations;
    return options;
}

TEST_F(CTuning, RefusesOptionsThatMakeNoSense) {
    hone_tuning_options options = options_for(-1);
    expect_refused(hone_session_tune(session_, small_problem, &options, nullptr), HONE_BAD_ARGUMENT, {"options->evaluations is -1"});
    options = options_for(1);
    options.seconds = -2;
    expect_refused(hone_session_tune(session_, small_problem, &options, nullptr), HONE_BAD_ARGUMENT, {"options->seconds is -2"});
    options = options_for(1);
    options.strategy = "guessing";
    expect_refused(hone_session_tune(session_, small_problem, &options, nullptr), HONE_ERROR, {"guessing"});
    options = options_for(1);
    expect_refused(hone_session_tune(session_, nullptr, &options, nullptr), HONE_BAD_ARGUMENT, {"problem is null"});
    expect_refused(hone_session_tune(session_, "gauss_seidel_27 nx=1", &options, nullptr), HONE_ERROR, {"gauss_seidel_27"});
    hone_tuning_result result{};
    expect_refused(hone_session_tune(session_, small_problem, &options, &result), HONE_BAD_ARGUMENT, {"result->size is 0"});
}

TEST_F(CTuning, SaysWhereCandidatesWouldRun) {
    const test::EnvironmentVariable worker("HONE_WORKER", (folder_.path() / "no_such_program").string());
    expect_refused(hone_session_tune(session_, small_problem, nullptr, nullptr), HONE_ERROR, {"there is no hone program", "HONE_WORKER"});
}

TEST_F(CTuning, StepsWithTheKnownConfigurationWhereNothingIsToBeTried) {
    const CWorkload workload(small_problem, seed_);
    hone_online_options options{};
    options.size = sizeof options;
    options.disabled = 1;
    options.verify_reduced = 1;
    hone_online* online = nullptr;
    ASSERT_EQ(hone_online_open(session_, small_problem, workload.arrays.data(), workload.count(), &options, &online), HONE_OK) << hone_last_error();
    EXPECT_EQ(hone_online_step(online, nullptr), HONE_OK) << hone_last_error();
    workload.expect_stepped();
    hone_online_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_online_describe(online, &info), HONE_OK) << hone_last_error();
    EXPECT_EQ(info.steps, 1);
    EXPECT_EQ(info.evaluations, 0);
    EXPECT_STREQ(info.verified_on, "");
    EXPECT_THAT(info.configuration, HasSubstr("vector_bytes="));
    EXPECT_THAT(info.report, HasSubstr(info.configuration));
    EXPECT_EQ(hone_online_prepare(online, nullptr), HONE_OK);
    EXPECT_EQ(hone_online_finish(online), HONE_OK);
    EXPECT_EQ(hone_online_close(online), HONE_OK);
    expect_refused(hone_online_step(online, nullptr), HONE_BAD_HANDLE, {"the online tuner is closed"});

    options.bound = 1.5;
    expect_refused(hone_online_open(session_, small_problem, workload.arrays.data(), workload.count(), &options, &online), HONE_BAD_ARGUMENT,
                   {"options->bound is 1.5"});
    hone_array small = workload.arrays[0];
    small.count = 1;
    expect_refused(hone_online_open(session_, small_problem, &small, 1, nullptr, &online), HONE_BAD_ARGUMENT, {"1 arrays", "u, f"});
}

TEST_F(SlowCTuning, KeepsTheWinnerAndLooksItUp) {
    struct Told {
        int calls = 0;
        std::string last;
    } told;
    hone_tuning_options options = options_for(4);
    options.progress = [](const hone_progress* progress, void* data) {
        auto& seen = *static_cast<Told*>(data);
        seen.last = progress->status;
        seen.calls += progress->finals == 0 ? 1 : 0;
        EXPECT_EQ(progress->evaluations, seen.calls) << "the finals measure no further candidates";
        EXPECT_GT(progress->members, 4);
        EXPECT_THAT(progress->configuration, HasSubstr("vector_bytes="));
        return 0;
    };
    options.data = &told;
    hone_tuning_result result{};
    result.size = sizeof result;
    hone_kernel* const before = kernel(small_problem);
    ASSERT_EQ(hone_session_tune(session_, small_problem, &options, &result), HONE_OK) << hone_last_error();
    EXPECT_EQ(told.calls, 4);
    EXPECT_EQ(told.last, "measured");
    EXPECT_EQ(result.evaluations, 4);
    EXPECT_EQ(result.interrupted, 0);
    EXPECT_GT(result.seconds, 0);
    EXPECT_GT(result.safe_seconds, 0);

    hone_kernel* const after = kernel(small_problem);
    EXPECT_NE(after, before);
    hone_kernel_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_kernel_describe(after, &info), HONE_OK) << hone_last_error();
    EXPECT_EQ(info.grade, HONE_EXACT);
    EXPECT_STREQ(info.configuration, result.configuration);
    ASSERT_EQ(hone_kernel_describe(before, &info), HONE_OK) << "a kernel that was handed out stays";
    const CWorkload workload(small_problem, seed_);
    hone_bound* const sweep = bind(after, workload);
    EXPECT_EQ(hone_bound_launch(sweep, nullptr), HONE_OK);
    workload.expect_stepped();
    hone_bound_close(sweep);
}

TEST_F(SlowCTuning, TheSafeConfigurationAloneIsNotKept) {
    const auto told = [&](std::int64_t evaluations) {
        hone_tuning_options options = options_for(evaluations);
        options.progress = [](const hone_progress*, void*) { return 1; };
        testing::internal::CaptureStderr();
        EXPECT_EQ(hone_session_tune(session_, small_problem, &options, nullptr), HONE_OK) << hone_last_error();
        hone_kernel_info info{};
        info.size = sizeof info;
        EXPECT_EQ(hone_kernel_describe(kernel(small_problem), &info), HONE_OK) << hone_last_error();
        EXPECT_EQ(info.grade, HONE_UNTUNED);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(told(1000), HasSubstr("what was found is not kept"));
    EXPECT_EQ(told(1), "") << "no more was asked for";
}

TEST_F(SlowCTuning, EndsWhenTheCallerSaysSo) {
    hone_tuning_options options = options_for(1000);
    options.progress = [](const hone_progress* progress, void*) { return progress->evaluations == 2 ? 1 : 0; };
    hone_tuning_result result{};
    result.size = sizeof result;
    ASSERT_EQ(hone_session_tune(session_, small_problem, &options, &result), HONE_OK) << hone_last_error();
    EXPECT_EQ(result.interrupted, 1);
    EXPECT_EQ(result.evaluations, 2);
    options.progress = nullptr;
    options.stop = [](void*) { return 1; };
    expect_refused(hone_session_tune(session_, "gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=9 nz=11", &options, nullptr), HONE_NO_RESULT,
                   {"tuning found nothing"});
}

TEST_F(SlowCTuning, TriesCandidatesBesideSteps) {
    const CWorkload workload(small_problem, seed_);
    hone_online_options options{};
    options.size = sizeof options;
    options.bound = 0.9;  // the test need not wait for much time to be spent
    options.verify_reduced = 1;
    hone_online* online = nullptr;
    ASSERT_EQ(hone_online_open(session_, small_problem, workload.arrays.data(), workload.count(), &options, &online), HONE_OK) << hone_last_error();
    hone_online_info info{};
    info.size = sizeof info;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    for (int step = 0; info.evaluations == 0 && std::chrono::steady_clock::now() < end; ++step) {
        ASSERT_EQ(hone_online_step(online, nullptr), HONE_OK) << hone_last_error();
        if (step == 0) workload.expect_stepped();
        if (step % 1000 != 0) continue;
        ASSERT_EQ(hone_online_describe(online, &info), HONE_OK);
    }
    EXPECT_GT(info.evaluations, 0) << info.report;
    EXPECT_EQ(hone_online_close(online), HONE_OK);
}

}  // namespace
}  // namespace hone::tuning_test
