#include "tuner/worker/candidate_bench.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <string>
#include <utility>

#include "foundation/error.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/failing_call.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/vetting_problem.hpp"

namespace hone::candidate_bench_test {
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

    // A candidate that does more than it should: `statement` for every element. SIZE is the number
    // of these, in the text.
    Outcome evaluate_with(const std::string& statement, bool finalist = false) const {
        Family other = family;
        other.kernel = [this, &statement](const Problem& of, const Config& with, const Limits& limits) {
            KernelSource source = family.kernel(of, with, limits);
            const std::string update = "y[i] += real(3) * x[i];";
            std::string text = "{ " + update + statement + " }";
            if (const std::size_t size = text.find("SIZE"); size != std::string::npos) text.replace(size, 4, std::to_string(of.integer("n")));
            source.text.replace(source.text.find(update), update.size(), text);
            return source;
        };
        CandidateBench bench(*backend, other, problem, seed);
        bench.verify_finalists_on(nearby_problems(families, problem, 1 << 18));
        return bench.evaluate(config(""), 0, SamplingRule{}, finalist);
    }

    Config config(const std::string& text) const { return family.space(problem, backend->device().limits).parse(text); }
};

// The family works in place: every timed step adds to y. So the second verification only holds if
// the inputs are restored.
TEST_F(CandidateBenchTest, EveryCandidateStartsFromTheSameInputs) {
    CandidateBench bench(*backend, family, problem, seed);
    for (const char* storage : {"literal", "table", "prepared", "literal"}) {
        const Outcome outcome = bench.evaluate(config(std::string("storage=") + storage), 0, SamplingRule{});
        EXPECT_EQ(outcome.status, Status::measured) << storage << ": " << outcome.reason << " seed " << seed;
        EXPECT_LE(outcome.verification_error, outcome.tolerance) << storage << " seed " << seed;
    }
}

TEST_F(CandidateBenchTest, AnInputThatALaterStepChangesIsRestoredForTheNextCandidate) {
    Family other = family;
    other.kernel = [this](const Problem& of, const Config& with, const Limits& limits) {
        KernelSource source = family.kernel(of, with, limits);
        if (with.word("storage") != "table") return source;
        const std::string update = "y[i] += factor[0] * x[i];";
        source.text.replace(source.text.find(update), update.size(),
                            "{ " + update + " static int steps = 0; if (i == 0 && ++steps == 2) const_cast<real*>(x)[n / 2] += 1; }");
        return source;
    };
    CandidateBench bench(*backend, other, problem, seed);
    for (const char* storage : {"literal", "table", "prepared", "literal", "table"}) {
        const Outcome outcome = bench.evaluate(config(std::string("storage=") + storage), 0, SamplingRule{});
        EXPECT_EQ(outcome.status, Status::measured) << storage << ": " << outcome.reason << " seed " << seed;
    }
}

TEST_F(CandidateBenchTest, AFullDiskIsNoVerdict) {
    CandidateBench bench(*backend, family, problem, seed);
    bench.place();
    {
        const test::FailingCall failing(test::FailingCall::Call::write_short, ENOSPC);
        EXPECT_THROW(bench.evaluate(config(""), 0, SamplingRule{}), MachineError);
    }
    const Outcome outcome = bench.evaluate(config(""), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::measured) << outcome.reason << " seed " << seed;
}

TEST_F(CandidateBenchTest, WrongValuesAreNotTimed) {
    CandidateBench bench(*backend, family, problem, seed);
    const Outcome outcome = bench.evaluate(config("fault=wrong"), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_TRUE(outcome.samples.empty());
    EXPECT_NEAR(outcome.verification_error, 1, 1e-6) << "seed " << seed;
}

TEST_F(CandidateBenchTest, AChangedInputIsWrongToo) {
    const Outcome outcome = evaluate_with("const_cast<real*>(x)[i] += real(1);");
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_NE(outcome.reason.find("x differs"), std::string::npos) << outcome.reason;
}

TEST_F(CandidateBenchTest, AWritePastAnEndIsWrongAndSaysOfWhichArray) {
    struct Slip {
        int n;
        const char* word;
        const char* where;
    };
    constexpr int large = 600'000;  // fills large pages
    for (const auto& [n, word, where] :
         {Slip{1001, "y[n]", "past the end of array y"}, Slip{1001, "y[n + 1000]", "past the end of array y"},
          Slip{1001, "y[-2000]", "before the beginning of array y"}, Slip{1001, "const_cast<real*>(x)[n]", "past the end of array x"},
          Slip{large, "y[n]", "past the end of array y"}, Slip{large, "y[-1]", "before the beginning of array y"}}) {
        problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
        // What it reads there is what it writes, plus a little.
        const Outcome outcome = evaluate_with(std::string("if (i == 0) ") + word + " += real(1e-3);");
        EXPECT_EQ(outcome.status, Status::wrong) << word;
        EXPECT_EQ(outcome.reason, std::string("it wrote ") + where);
        EXPECT_TRUE(outcome.samples.empty());
    }
}

TEST_F(CandidateBenchTest, AWritePastAnEndOfALaterStepIsFoundToo) {
    const Outcome outcome = evaluate_with("static int steps = 0; if (i == 0 && ++steps == 3) y[n] = real(7);");
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_EQ(outcome.reason, "it wrote past the end of array y");
    EXPECT_TRUE(outcome.samples.empty());
    EXPECT_EQ(outcome.step, Statistics());
    EXPECT_EQ(evaluate_with("").status, Status::measured) << "the next one finds guards that are whole";
}

// A smaller bench verifies first: what is wrong in large arrays alone is found where it would
// count.
TEST_F(CandidateBenchTest, WhatIsFasterThanTheIncumbentIsVerifiedOnTheWholeProblemToo) {
    const std::string update = "y[i] += real(3) * x[i];";
    bool slips = true;
    Family other = family;
    other.kernel = [&](const Problem& of, const Config& with, const Limits& limits) {
        KernelSource source = family.kernel(of, with, limits);
        if (slips) source.text.replace(source.text.find(update), update.size(), "{ " + update + " if (i == 1000) y[i] += real(1); }");
        return source;
    };
    CandidateBench bench(*backend, other, problem, seed);
    bench.verify_first_on(std::make_unique<Verifier>(*backend, other, families.parse_problem("axpy precision=f64 n=101"), seed));
    const double slower = 1e3, faster = 1e-12;  // seconds of an incumbent
    EXPECT_EQ(bench.evaluate(config(""), 0, SamplingRule{}).status, Status::wrong) << "without an incumbent";
    const Outcome best = bench.evaluate(config(""), slower, SamplingRule{});
    EXPECT_EQ(best.status, Status::wrong);
    EXPECT_NE(best.reason.find("y differs"), std::string::npos) << best.reason;
    EXPECT_TRUE(best.samples.empty());
    const Outcome behind = bench.evaluate(config(""), faster, SamplingRule{});
    EXPECT_EQ(behind.status, Status::measured) << behind.reason << " seed " << seed;
    EXPECT_LE(behind.verification_error, behind.tolerance);
    EXPECT_FALSE(behind.samples.empty());
    slips = false;
    for (const double incumbent : {slower, faster, 0.0}) {
        const Outcome outcome = bench.evaluate(config(""), incumbent, SamplingRule{});
        EXPECT_EQ(outcome.status, Status::measured) << incumbent << ": " << outcome.reason << " seed " << seed;
    }
}

TEST_F(CandidateBenchTest, WhatIsWrongOnTheSmallerProblemIsNotTimed) {
    CandidateBench bench(*backend, family, problem, seed);
    bench.verify_first_on(std::make_unique<Verifier>(*backend, family, families.parse_problem("axpy precision=f64 n=101"), seed));
    const Outcome outcome = bench.evaluate(config("fault=wrong"), 1e3, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_TRUE(outcome.samples.empty());
    EXPECT_EQ(bench.evaluate(config(""), 1e3, SamplingRule{}).status, Status::measured);
}

TEST_F(CandidateBenchTest, FinalistsThatGoWrongLaterAreWrong) {
    for (const int call : {8, 40}) {
        const std::string late = "if (i == 0) { static int calls = 0; if (++calls >= " + std::to_string(call) + ") y[0] += real(1); }";
        const Outcome outcome = evaluate_with(late, true);
        EXPECT_EQ(outcome.status, Status::wrong) << call;
        EXPECT_NE(outcome.reason.find("y differs from the reference"), std::string::npos) << outcome.reason;
        EXPECT_TRUE(outcome.samples.empty());
        EXPECT_EQ(evaluate_with(late).status, Status::measured) << "the search is as fast as it was";
    }
}

TEST_F(CandidateBenchTest, FinalistsThatAreWrongAtOtherParitiesAreWrong) {
    for (const int n : {1000, 1001}) {
        problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
        for (const char* const bad : {"n % 2 == 0", "n % 2 == 1", "n % 4 == 2"}) {
            const Outcome outcome = evaluate_with(std::string("if (i == n - 1 && ") + bad + ") y[i] += real(1);", true);
            EXPECT_EQ(outcome.status, Status::wrong) << n << " " << bad;
        }
        EXPECT_EQ(evaluate_with("", true).status, Status::measured) << n;
    }
    problem = families.parse_problem("axpy precision=f64 n=1000");
    // Also where the size is a number in the text, as in kernels that are called by a wrapper.
    const std::string reason = evaluate_with("if (i == 0 && SIZE % 2 == 1) y[i] += real(1);", true).reason;
    EXPECT_NE(reason.find("n=997: y differs from the reference by 1"), std::string::npos) << reason;
    EXPECT_EQ(evaluate_with("static_assert(SIZE % 8 == 0);", true).status, Status::measured) << "it does not compile at other sizes";
}

TEST_F(CandidateBenchTest, ARightFinalistIsMeasuredInEveryRound) {
    CandidateBench bench(*backend, family, problem, seed);
    bench.verify_first_on(std::make_unique<Verifier>(*backend, family, families.parse_problem("axpy precision=f64 n=101"), seed));
    bench.verify_finalists_on(nearby_problems(families, problem, 1 << 18));
    EXPECT_EQ(bench.evaluate(config("storage=prepared"), 1e3, SamplingRule{}).status, Status::measured);
    for (int round = 0; round < 2; ++round)
        for (const char* storage : {"table", "prepared"}) {
            const Outcome outcome = bench.evaluate(config(std::string("storage=") + storage), 0, SamplingRule{}, true);
            EXPECT_EQ(outcome.status, Status::measured) << storage << ": " << outcome.reason << " seed " << seed;
            EXPECT_LE(outcome.verification_error, outcome.tolerance);
            EXPECT_FALSE(outcome.samples.empty());
        }
    EXPECT_TRUE(bench.intact());
}

TEST_F(CandidateBenchTest, ArraysLieAsAnApplicationsDo) {
    const std::string x = "reinterpret_cast<unsigned long>(x)", y = "reinterpret_cast<unsigned long>(y)";
    const std::string misaligned = "(" + x + " | " + y + ") % 256 != 0", same_place = x + " % 4096 == " + y + " % 4096";
    for (const auto& [n, misplaced] : {std::pair(1001, misaligned), std::pair(600'000, misaligned + " || " + same_place)}) {
        problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
        const Outcome outcome = evaluate_with("if (" + misplaced + ") y[i] += real(1);");
        EXPECT_EQ(outcome.status, Status::measured) << outcome.reason;
    }
}

TEST_F(CandidateBenchTest, AProblemThatNeedsMoreMemoryThanThereIsIsRefusedBeforeAnythingIsAllocated) {
    family.arrays = [](const Problem&) {
        constexpr std::int64_t much = std::int64_t{1} << 50;
        return std::vector<ArraySpec>{{"x", Access::in, much, "[n]", ""}, {"y", Access::inout, much, "[n]", ""}};
    };
    family.workload = [](const Problem&, std::uint64_t) -> Workload {
        ADD_FAILURE() << "data were made";
        return {};
    };
    EXPECT_THROW(CandidateBench(*backend, family, problem, seed), Error);
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

// While an application keeps a GPU busy every wait is for a turn.
TEST_F(CandidateBenchTest, FewSamplesAreQueuedBeforeTheFirstIsWaitedFor) {
    test::FakeMachine machine;
    const auto gpu = machine.backend();
    family.arrays = [](const Problem& of) { return std::vector<ArraySpec>{{"x", Access::in, of.integer("n"), "[n]", ""}}; };
    family.workload = [](const Problem& of, std::uint64_t) {
        Workload workload;
        workload.arrays.emplace_back(of.precision(), of.integer("n"));
        workload.expected.emplace_back(of.precision(), 0);
        return workload;
    };
    family.kernel = [](const Problem& of, const Config&, const Limits&) {  // that changes nothing, which is right
        KernelSource source;
        source.text = "extern \"C\" __global__ void nothing(const float* x, int first, int last) {}";
        source.target = Target::cuda;
        source.arrays = {{"x", Access::in, of.integer("n"), "[n]", ""}};
        source.entries = {"nothing"};
        source.step.emplace_back().entry = "nothing";
        return source;
    };
    CandidateBench bench(*gpu, family, problem, seed);
    SamplingRule rule;
    rule.period = 3;
    const Outcome outcome = bench.evaluate(config(""), 0, rule);
    ASSERT_EQ(outcome.status, Status::measured) << outcome.reason;
    EXPECT_EQ(outcome.samples.size(), 3U);
    std::string order;
    for (const std::string& call : machine.state().calls)
        order += call == "cuLaunchKernel" ? "L" : call == "cuEventRecord" ? "R" : call.find("Synchronize") != std::string::npos ? "W" : "";
    EXPECT_NE(order.find("LRLRRLRRLRW"), std::string::npos) << order;
}

class GpuCandidateBench : public CandidateBenchTest {
  protected:
    void SetUp() override { backend = test::backend_or_skip("cuda", cache); }
};

TEST_F(GpuCandidateBench, AWritePastAnEndIsWrongAndSaysOfWhichArray) {
    for (const int n : {1001, 600'000}) {
        problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
        EXPECT_EQ(evaluate_with("").status, Status::measured);
        EXPECT_EQ(evaluate_with("if (i == 0) y[n] += real(1e-3);").reason, "it wrote past the end of array y");
        EXPECT_EQ(evaluate_with("if (i == 0) y[-1] += real(1e-3);").reason, "it wrote before the beginning of array y");
    }
}

}  // namespace
}  // namespace hone::candidate_bench_test
