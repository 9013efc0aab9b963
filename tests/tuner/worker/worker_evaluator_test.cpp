#include "tuner/worker/worker_evaluator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/processors.hpp"
#include "runtime/backend.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/worker/full_disk.hpp"
#include "tuner/tuning_run.hpp"

namespace hone::worker_evaluator_test {
namespace {

const std::vector<std::string> faults{"none", "wrong", "crash", "hang", "greedy", "launch_failure", "compile_failure", "astray", "odd"};

Device cpu_device() {
    std::string missing;
    return backends().back().devices(missing).front();
}

class WorkerEvaluatorTest : public testing::Test {
  protected:
    WorkerEvaluatorTest() {
        settings.device = cpu_device();
        settings.cache = folder.path() / "cache";
        settings.grace = 5;
        seed = std::random_device{}();
    }

    Candidate candidate(const std::string& text) const {
        const SearchSpace space = family.space(problem, settings.device.limits);
        const Config config = space.parse(text);
        return {space.index_of(config), config};
    }

    Outcome evaluate(WorkerEvaluator& evaluator, const std::string& text) const {
        const Candidate chosen = candidate(text);
        evaluator.prepare(chosen);
        return evaluator.evaluate(chosen, 0, [] { return false; }).value();
    }

    test::TemporaryFolder folder;
    Families families = test::axpy_families(faults);
    Problem problem = families.parse_problem("axpy precision=f64 n=10001");
    const Family& family = families.of(problem);
    WorkerSettings settings;
    std::uint64_t seed = 0;
};

TEST_F(WorkerEvaluatorTest, MeasuresAndVerifiesTheSafeConfiguration) {
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    const Outcome outcome = evaluate(evaluator, "");
    EXPECT_EQ(outcome.status, Status::measured) << outcome.reason << " seed " << seed;
    EXPECT_LE(outcome.verification_error, outcome.tolerance);
    EXPECT_GT(outcome.tolerance, 0);
    EXPECT_GT(outcome.step.median, 0);
    EXPECT_EQ(outcome.step, summarise(outcome.samples));
    EXPECT_GT(outcome.compile_seconds, 0);
    EXPECT_GT(outcome.measure_seconds, 0);
    EXPECT_GT(evaluator.waiting().setup, 0);
    EXPECT_GT(evaluator.waiting().reference, 0);
    EXPECT_GE(evaluator.waiting().compile, 0);
}

using SlowWorkerEvaluator = WorkerEvaluatorTest;

TEST_F(SlowWorkerEvaluator, TheCeilingsCanBeMeasuredAmidAProblem) {
    const test::EnvironmentVariable sanitizer("ASAN_OPTIONS", "handle_segv=0");
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    ASSERT_EQ(evaluate(evaluator, "fault=crash").status, Status::crashed) << "it took the worker with it; seed " << seed;
    const auto ceilings = evaluator.ceilings();
    ASSERT_TRUE(ceilings);
    EXPECT_GT(ceilings->copy_bytes_per_second, 0);
    EXPECT_EQ(evaluate(evaluator, "").status, Status::measured) << "the problem is still there";
}

TEST_F(SlowWorkerEvaluator, TheCeilingsCanBeMeasuredBeforeAnyProblem) {
    // A worker's time begins when it is started, not when the machine was: this machine has been up
    // for longer.
    settings.setup_timeout = 30;
    const auto ceilings = WorkerEvaluator(settings).ceilings();
    ASSERT_TRUE(ceilings);
    EXPECT_GT(ceilings->copy_bytes_per_second, 0);
}

TEST_F(SlowWorkerEvaluator, FinalsTakeMoreSamplesThanTheSearch) {
    // Steps of a few milliseconds, as many samples as asked for: times never lie within so narrow
    // an interval.
    problem = families.parse_problem("axpy precision=f64 n=4000000");
    settings.sampling.period = 30;
    settings.sampling.narrow = 0;
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 10);
    const Outcome safe = evaluate(evaluator, "");
    Candidate chosen = candidate("storage=table");
    evaluator.prepare(chosen);
    const Outcome searched = evaluator.evaluate(chosen, 0, [] { return false; }).value();
    chosen.purpose = Candidate::Purpose::finalist;
    const Outcome final = evaluator.evaluate(chosen, 0, [] { return false; }).value();
    EXPECT_GE(searched.step.samples, settings.sampling.fewest - settings.sampling.fewest / 4) << "less what is warm-up";
    if (safe.step.median > 0.05 / 20) EXPECT_LT(searched.samples.size(), final.samples.size()) << safe.step.median;
}

TEST_F(WorkerEvaluatorTest, SurvivesEveryFaultAndSaysWhatItWas) {
    using testing::HasSubstr;
    // The address sanitizer would turn the candidate's segmentation fault into an ordinary exit of
    // the worker.
    const test::EnvironmentVariable sanitizer("ASAN_OPTIONS", "handle_segv=0");
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    ASSERT_EQ(evaluate(evaluator, "").status, Status::measured) << "seed " << seed;
    const Outcome wrong = evaluate(evaluator, "fault=wrong");
    EXPECT_EQ(wrong.status, Status::wrong);
    EXPECT_THAT(wrong.reason, HasSubstr("y differs from the reference by 1"));
    const Outcome crash = evaluate(evaluator, "fault=crash");
    EXPECT_EQ(crash.status, Status::crashed);
    EXPECT_THAT(crash.reason, HasSubstr("signal 11"));
    const Outcome hang = evaluate(evaluator, "fault=hang");
    EXPECT_EQ(hang.status, Status::timed_out);
    EXPECT_THAT(hang.reason, HasSubstr("no answer within"));
    const Outcome greedy = evaluate(evaluator, "fault=greedy");
    EXPECT_EQ(greedy.status, Status::crashed) << "it got more memory than there is";
    EXPECT_THAT(greedy.reason, HasSubstr("signal"));
    const Outcome launch = evaluate(evaluator, "fault=launch_failure");
    EXPECT_EQ(launch.status, Status::launch_failed);
    EXPECT_THAT(launch.reason, HasSubstr("static TLS block"));
    const Outcome compile = evaluate(evaluator, "fault=compile_failure");
    EXPECT_EQ(compile.status, Status::compile_failed);
    EXPECT_THAT(compile.reason, HasSubstr("this candidate does not compile"));
    EXPECT_EQ(evaluate(evaluator, "storage=prepared,unroll=2").status, Status::measured);
}

TEST_F(WorkerEvaluatorTest, AFullDiskEndsARunWithoutAVerdictAndItGoesOnOnceThereIsRoom) {
    settings.compile_processes = 1;  // else a large machine has compiled all of them by then
    const test::FullDisk disk(folder.path());
    TuningOptions options;
    options.strategy = "exhaustive";
    options.only = "fault=none";
    options.folder = folder.path();
    int evaluations = 0;
    TuningHooks hooks;
    hooks.progress = [&](const TuningProgress&, const Candidate&, const Outcome& outcome) {
        EXPECT_EQ(outcome.status, Status::measured) << outcome.reason << " seed " << seed;
        if (++evaluations == 1) disk.fill();
    };
    {
        WorkerEvaluator evaluator(settings);
        EXPECT_THROW(tune(family, problem, settings.device, evaluator, options, hooks), MachineError) << "seed " << seed;
    }
    disk.make_room();
    hooks.progress = [&](const TuningProgress&, const Candidate&, const Outcome&) {};
    options.resume = true;
    WorkerEvaluator evaluator(settings);
    const TuningResult result = tune(family, problem, settings.device, evaluator, options, hooks);
    EXPECT_TRUE(result.record) << result.why_none;
    EXPECT_GE(result.progress.replayed, 1);
    EXPECT_EQ(result.progress.counts.at(Status::measured), result.progress.members);
}

TEST_F(WorkerEvaluatorTest, ACompilerThatIsGoneEndsARunWithoutAVerdictToo) {
    settings.compile_processes = 1;  // else a large machine has compiled all of them by then
    const std::filesystem::path script = folder.path() / "c++";
    const std::string real = find_host_compiler(nullptr).path;
    std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] && echo gone 1 && exit\n[ -e " << folder.path() / "gone"
                          << " ] && exit 127\nexec " << real << " \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const test::EnvironmentVariable chosen("HONE_CXX", script.string());
    TuningOptions options;
    options.strategy = "exhaustive";
    options.only = "fault=none";
    options.folder = folder.path();
    TuningHooks hooks;
    hooks.progress = [&](const TuningProgress&, const Candidate&, const Outcome& outcome) {
        EXPECT_EQ(outcome.status, Status::measured) << outcome.reason << " seed " << seed;
        std::ofstream(folder.path() / "gone") << "x";
    };
    {
        WorkerEvaluator evaluator(settings);
        EXPECT_THROW(tune(family, problem, settings.device, evaluator, options, hooks), MachineError) << "seed " << seed;
    }
    std::filesystem::remove(folder.path() / "gone");
    hooks.progress = [&](const TuningProgress&, const Candidate&, const Outcome&) {};
    options.resume = true;
    WorkerEvaluator evaluator(settings);
    const TuningResult result = tune(family, problem, settings.device, evaluator, options, hooks);
    EXPECT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(result.progress.counts.at(Status::measured), result.progress.members);
}

TEST_F(WorkerEvaluatorTest, ACandidateThatWritesIntoTheAnswersCostsItselfAlone) {
    const Families own = test::axpy_families({"none", "scribble"});
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    ASSERT_EQ(evaluate(evaluator, "").status, Status::measured) << "seed " << seed;
    const Config config = own.of(problem).space(problem, settings.device.limits).parse("fault=scribble");
    const Candidate scribbling{0, config};
    evaluator.prepare(scribbling);
    const Outcome outcome = evaluator.evaluate(scribbling, 0, [] { return false; }).value();
    EXPECT_EQ(outcome.status, Status::crashed);
    EXPECT_THAT(outcome.reason, testing::HasSubstr("into the worker's answers"));
    EXPECT_EQ(evaluate(evaluator, "storage=table").status, Status::measured);
}

TEST_F(WorkerEvaluatorTest, ServesOneProblemAfterAnother) {
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    EXPECT_EQ(evaluate(evaluator, "storage=table").status, Status::measured);
    problem = families.parse_problem("axpy precision=f32 n=333");
    evaluator.begin(problem, seed + 1, 1);
    EXPECT_EQ(evaluate(evaluator, "storage=prepared").status, Status::measured) << "seed " << seed;
}

TEST_F(WorkerEvaluatorTest, StopsWhenAskedWhileACandidateHangs) {
    settings.grace = 600;
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    ASSERT_EQ(evaluate(evaluator, "").status, Status::measured);
    const Candidate hanging = candidate("fault=hang");
    evaluator.prepare(hanging);
    EXPECT_FALSE(evaluator.evaluate(hanging, 0, [] { return true; }).has_value()) << "while it is compiled";
    const auto begin = std::chrono::steady_clock::now();
    const auto stop = [begin] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(3); };
    EXPECT_FALSE(evaluator.evaluate(hanging, 0, stop).has_value()) << "while it runs";
    EXPECT_EQ(evaluate(evaluator, "storage=table").status, Status::measured) << "a new worker goes on";
}

TEST_F(WorkerEvaluatorTest, WhatIsWrongTakesItsWorkerWithItAndTheNextAreRight) {
    const test::EnvironmentVariable sanitizer("ASAN_OPTIONS", "handle_segv=0");
    const auto starts = folder.path() / "starts";
    settings.command.front() = std::filesystem::read_symlink(settings.command.front()).string();  // the shell has another "self"
    settings.command = {"/bin/sh", "-c", fmt::format("echo >> {}; exec {}", starts.string(), fmt::join(settings.command, " "))};
    settings.compile_processes = 1;
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    ASSERT_EQ(evaluate(evaluator, "").status, Status::measured) << "seed " << seed;
    const auto begun = std::filesystem::file_size(starts);
    EXPECT_EQ(evaluate(evaluator, "fault=launch_failure").status, Status::launch_failed);
    EXPECT_EQ(evaluate(evaluator, "storage=table").status, Status::measured);
    EXPECT_EQ(std::filesystem::file_size(starts), begun) << "what never ran";
    EXPECT_EQ(evaluate(evaluator, "fault=wrong").status, Status::wrong);
    EXPECT_EQ(evaluate(evaluator, "storage=prepared").status, Status::measured);
    EXPECT_EQ(std::filesystem::file_size(starts), begun + 1);
    const Outcome astray = evaluate(evaluator, "fault=astray");
    EXPECT_EQ(astray.status, Status::crashed) << "it wrote where nothing is";
    EXPECT_EQ(evaluate(evaluator, "").status, Status::measured);
}

// As `hone verify` and `hone replay` want it; the search does not.
TEST_F(WorkerEvaluatorTest, FinalistsAreVerifiedAtOtherSizesAndSoIsEverythingWhereThatIsAsked) {
    const auto evaluated = [&](bool finalist) {
        WorkerEvaluator evaluator(settings);
        evaluator.begin(problem, seed, 1);
        Candidate chosen = candidate("fault=odd");
        if (finalist) chosen.purpose = Candidate::Purpose::finalist;
        evaluator.prepare(chosen);
        return evaluator.evaluate(chosen, 0, [] { return false; }).value();
    };
    problem = families.parse_problem("axpy precision=f64 n=10000");
    EXPECT_EQ(evaluated(false).status, Status::measured);
    EXPECT_THAT(evaluated(true).reason, testing::HasSubstr("n=9973: y differs from the reference by 1"));
    settings.strict = true;
    EXPECT_EQ(evaluated(false).status, Status::wrong);
}

TEST_F(WorkerEvaluatorTest, WhatItsProcessesLeaveBehindGoesWithIt) {
    const auto place = folder.path() / "temporary";
    const auto begun = folder.path() / "begun";
    const auto compiler = folder.path() / "c++";
    std::filesystem::create_directory(place);
    std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = --version ] && echo sleeper 1.0 || { touch " << begun << "; exec sleep 600; }\n";
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    const test::EnvironmentVariable chosen("HONE_CXX", compiler.string());
    const test::EnvironmentVariable temporary("TMPDIR", place.string());
    {
        WorkerEvaluator evaluator(settings);
        evaluator.begin(problem, seed, 1);
        const Candidate waiting = candidate("");
        evaluator.prepare(waiting);
        EXPECT_FALSE(evaluator.evaluate(waiting, 0, [&] { return std::filesystem::exists(begun); }).has_value());
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << "one folder for all of them";
    }
    EXPECT_TRUE(std::filesystem::is_empty(place));
}

TEST_F(WorkerEvaluatorTest, AWorkerIsToldTheProcessorsAndThreadsOfTheRun) {
    // A program that writes down what it is told first; it stands for the compilers, too.
    const auto heard = folder.path() / "heard";
    settings.command = {"/bin/sh", "-c", "head -n 1 >> " + heard.string()};
    settings.device.limits.multiprocessors = 3;
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    EXPECT_THROW(evaluate(evaluator, ""), Error) << "it ends without an answer";
    EXPECT_THAT(read_file(heard, 1 << 20),
                testing::HasSubstr(fmt::format(R"("processors": "{}", "threads": 3)", processor_list(processors().numbers))));
}

TEST_F(WorkerEvaluatorTest, AProgramThatIsNoWorkerIsAnError) {
    settings.command = {"/bin/false"};
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    EXPECT_THROW(evaluate(evaluator, ""), Error);
    settings.command = {"/no/such/program"};
    WorkerEvaluator absent(settings);
    EXPECT_THROW(absent.begin(problem, seed, 1), Error);
}

// Two workers on the same processors, as two devices would be.
TEST_F(SlowWorkerEvaluator, TwoDevicesShareCandidatesAndTheFirstAloneHasTheFinals) {
    const test::EnvironmentVariable sanitizer("ASAN_OPTIONS", "handle_segv=0");
    settings.places = {{.name = "first"}, {.name = "second"}};
    WorkerEvaluator evaluator(settings);
    TuningOptions options;
    options.strategy = "exhaustive";
    options.folder = folder.path();
    std::map<std::string, int> measured_on;
    std::set<std::string> finals_on;
    TuningHooks hooks;
    hooks.progress = [&](const TuningProgress&, const Candidate& chosen, const Outcome& outcome) {
        if (outcome.status == Status::compile_failed) return;
        ++measured_on[outcome.measured_on.value_or("nowhere")];
        if (is_finalist(chosen)) finals_on.insert(outcome.measured_on.value_or("nowhere"));
        if (chosen.config.word("fault") == "crash") EXPECT_EQ(outcome.status, Status::crashed) << "its worker was killed";
    };
    const TuningResult result = tune(family, problem, settings.device, evaluator, options, hooks);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(result.record->config.word("fault"), "none");
    EXPECT_EQ(result.record->measured_on, "first");
    EXPECT_EQ(finals_on, std::set<std::string>{"first"});
    EXPECT_EQ(measured_on.size(), 2U);
    EXPECT_GT(measured_on["second"], 0);
    EXPECT_EQ(evaluator.devices(), 2);
    EXPECT_EQ(result.progress.evaluations, result.progress.members) << "each candidate was had once";
}

TEST_F(SlowWorkerEvaluator, AFurtherDeviceThatIsGoneTakesNoPartAndTheRunSaysSo) {
    std::vector<std::string> complaints;
    settings.places = {{.name = "first"}, {.name = "second", .command = [] { return std::vector<std::string>{"/bin/false"}; }}};
    settings.complain = [&](const std::string& text) { complaints.push_back(text); };
    settings.further_compilers = {[] { return std::vector<std::string>{"/bin/false"}; }};
    WorkerEvaluator evaluator(settings);
    evaluator.begin(problem, seed, 1);
    EXPECT_EQ(evaluate(evaluator, "").status, Status::measured) << "seed " << seed;
    EXPECT_EQ(evaluate(evaluator, "storage=table").status, Status::measured);
    EXPECT_EQ(evaluator.devices(), 1);
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_THAT(complaints.front(), testing::HasSubstr("second takes no further part: the worker ended"));
}

// Of two hosts the second one's disk fills up once it has measured a candidate.
TEST_F(SlowWorkerEvaluator, AFullDiskOfAnotherHostCostsItsDeviceAlone) {
    const std::string worker = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string until_full =
        "coproc W { exec " + worker +
        " worker; }; measured=0; while read -r request; do case $request in *evaluate*) measured=$((measured + 1));; esac; "
        "if [ $measured -gt 1 ]; then echo '{\"error\": \"no room on host b\", \"machine_at_fault\": 1}'; "
        "else echo \"$request\" >&${W[1]}; read -r answer <&${W[0]}; echo \"$answer\"; fi; done";
    std::vector<std::string> complaints;
    settings.places = {{.name = "first"}, {.name = "second", .command = [&] { return std::vector<std::string>{"/bin/bash", "-c", until_full}; }}};
    settings.complain = [&](const std::string& text) { complaints.push_back(text); };
    WorkerEvaluator evaluator(settings);
    TuningOptions options;
    options.strategy = "exhaustive";
    options.only = "fault=none";
    options.folder = folder.path();
    TuningHooks hooks;
    hooks.progress = [&](const TuningProgress&, const Candidate& chosen, const Outcome& outcome) {
        EXPECT_EQ(outcome.status, Status::measured) << chosen.config.key() << ": " << outcome.reason;
    };
    const TuningResult result = tune(family, problem, settings.device, evaluator, options, hooks);
    EXPECT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(result.progress.evaluations, result.progress.members);
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_THAT(complaints.front(), testing::HasSubstr("second takes no further part: no room on host b"));
    EXPECT_EQ(evaluator.devices(), 1);
}

TEST_F(WorkerEvaluatorTest, AWholeRunRecordsEveryFault) {
    WorkerEvaluator evaluator(settings);
    TuningOptions options;
    options.strategy = "exhaustive";
    options.folder = folder.path();
    const TuningResult result = tune(family, problem, settings.device, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(result.record->config.word("fault"), "none");
    EXPECT_LE(result.record->verification_error, result.record->tolerance);
    EXPECT_GT(result.record->safe_seconds, 0);
    EXPECT_EQ(result.progress.evaluations, result.progress.members);
    for (const Status status : {Status::compile_failed, Status::launch_failed, Status::timed_out})
        EXPECT_EQ(result.progress.counts.at(status), 1) << to_string(status);
    EXPECT_EQ(result.progress.counts.at(Status::wrong), 2);
    EXPECT_EQ(result.progress.counts.at(Status::crashed), 3);
    EXPECT_EQ(result.progress.counts.at(Status::measured), result.progress.members - 8);
    EXPECT_GT(result.progress.measuring_share(), 0);
}

}  // namespace
}  // namespace hone::worker_evaluator_test
