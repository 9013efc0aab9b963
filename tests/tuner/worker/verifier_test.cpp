#include "tuner/worker/verifier.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/library.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/vetting_problem.hpp"

namespace hone::verifier_test {
namespace {

using testing::HasSubstr;

// Kernels of y += 3 x that are right in their first step.
class VerifierTest : public testing::Test {
  protected:
    // The verdict on many steps of a kernel that does `statement` for each element, too; and after
    // many calls.
    StepVerdict repeated(const std::string& statement, double seconds = 5) {
        Family other = family;
        other.kernel = [this, &statement](const Problem& of, const Config& with, const Limits& limits) {
            KernelSource source = family.kernel(of, with, limits);
            const std::string update = "y[i] += real(3) * x[i];";
            source.text.replace(source.text.find(update), update.size(), "{ " + update + statement + " }");
            return source;
        };
        Verifier verifier(*backend, other, problem, seed);
        verifier.place();
        verifier.add_other_data(seed + 1);
        Match match;
        match.config = other.space(problem, backend->device().limits).safe();
        const auto kernel = std::make_shared<const Kernel>(*backend, other, problem, match, backend->device().limits);
        const StepVerdict verdict = verifier.repeated(kernel, seconds);
        if (!verdict.right()) return verdict;
        verifier.restore_from(0);
        BoundKernel bound(kernel, verifier.pointers());
        return verifier.later_step(bound, 32, seconds);
    }
    // Of each step, in the thread that has the first element: its number.
    static std::string counted(const std::string& statement) { return "if (i == 0) { static int calls = 0; ++calls; " + statement + " }"; }

    DiskCache cache{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend = make_backend("cpu", cache);
    Families families = test::axpy_families();
    Problem problem = families.parse_problem("axpy precision=f64 n=1001");
    Family family = families.of(problem);
    std::uint64_t seed = std::random_device{}();
};

TEST_F(VerifierTest, WhatIsRightInEveryStepIsRight) {
    const StepVerdict verdict = repeated("");
    EXPECT_TRUE(verdict.right()) << verdict.wrong << " seed " << seed;
}

TEST_F(VerifierTest, WhatGoesWrongFromSomeCallOnIsFound) {
    for (const int first : {4, 33, 100}) {
        const StepVerdict verdict = repeated(counted(fmt::format("if (calls >= {}) y[0] += real(1);", first)));
        EXPECT_THAT(verdict.wrong, HasSubstr("y differs from the reference")) << first;
    }
}

TEST_F(VerifierTest, WhatIsWrongInOneStepAloneIsFound) {
    for (const int step : {2, 7, 31}) EXPECT_FALSE(repeated(counted(fmt::format("if (calls == {}) y[0] += real(1);", step))).right()) << step;
}

TEST_F(VerifierTest, WhatIsWrongByChanceIsFound) {
    // In one step of four: in 32 steps one kernel of ten thousand would pass.
    const StepVerdict verdict = repeated(fmt::format(
        "if (i == 7) {{ static unsigned chance = {}u; chance = chance * 1664525u + 1013904223u; if (chance >> 30 == 0) y[i] += real(1); }}",
        static_cast<std::uint32_t>(seed)));
    EXPECT_FALSE(verdict.right()) << "seed " << seed;
}

// It returns what it computed first: right for as long as the data are the same.
TEST_F(VerifierTest, AnAnswerThatIsKeptIsFound) {
    const StepVerdict verdict =
        repeated("{ static real kept[2000]; static bool has[2000]; if (!has[i]) { has[i] = true; kept[i] = y[i]; } y[i] = kept[i]; }");
    EXPECT_THAT(verdict.wrong, HasSubstr("in step 2, from other inputs, y differs from the reference"));
}

TEST_F(VerifierTest, AnInputThatALaterStepChangesIsFound) {
    EXPECT_THAT(repeated(counted("if (calls == 5) const_cast<real*>(x)[0] += real(1);")).wrong, HasSubstr("x differs from the reference"));
}

TEST_F(VerifierTest, AWritePastAnEndInALaterStepIsFound) {
    EXPECT_THAT(repeated(counted("if (calls == 6) y[n] = real(1);")).wrong, HasSubstr("it wrote past the end of array y"));
}

// An output of which every other value is written.
Family halves(const Family& family, const std::string& value) {
    Family other = family;
    other.arrays = [](const Problem& of) {
        const std::int64_t n = of.integer("n");
        return std::vector<ArraySpec>{{"x", Access::in, n, "[n]", ""}, {"y", Access::out, n, "[n]", ""}};
    };
    other.workload = [family](const Problem& of, std::uint64_t seed) {
        Workload workload = family.workload(of, seed);
        workload.arrays[1].poison();
        workload.expected[1] = workload.arrays[1].copy();
        for (std::int64_t i = 0; i < of.integer("n"); i += 2) workload.expected[1].set_word(i, workload.arrays[0].word(i));
        return workload;
    };
    other.kernel = [other, family, value](const Problem& of, const Config& with, const Limits& limits) {
        KernelSource source = family.kernel(of, with, limits);
        source.arrays = other.arrays(of);
        const std::string update = "y[i] += real(3) * x[i];";
        source.text.replace(source.text.find(update), update.size(), value);
        return source;
    };
    return other;
}

TEST_F(VerifierTest, WhatDependsOnMemoryThatNobodyWroteIsFoundThoughNanHidesIt) {
    const Family plain = std::exchange(family, Family());
    const auto verdict_on = [&](const std::string& value) {
        const Family other = halves(plain, value);
        Verifier verifier(*backend, other, problem, seed);
        verifier.place();
        verifier.add_other_data(seed + 1);
        Match match;
        match.config = other.space(problem, backend->device().limits).safe();
        return verifier.repeated(std::make_shared<const Kernel>(*backend, other, problem, match, backend->device().limits), 1);
    };
    EXPECT_EQ(verdict_on("if (i % 2 == 0) y[i] = x[i];").wrong, "");
    EXPECT_THAT(verdict_on("if (i % 2 == 0) y[i] = __builtin_fmax(y[i], x[i]);").wrong, HasSubstr("in step 2, from other inputs, y differs"));
    EXPECT_THAT(verdict_on("y[i] = i % 2 == 0 ? x[i] : real(0) / real(0);").wrong, HasSubstr("y differs")) << "it writes what the reference does not";
}

// Of devices that let anybody write anywhere.
TEST(VerifierOnADevice, FindsThatItsCopiesWereWritten) {
    test::FakeMachine machine;
    const auto gpu = machine.backend();
    const Families families = test::axpy_families();
    const Problem problem = families.parse_problem("axpy precision=f64 n=1001");
    Verifier verifier(*gpu, families.of(problem), problem, 1);
    EXPECT_TRUE(verifier.intact()) << "nothing lies there yet";
    verifier.place();
    verifier.add_other_data(2);
    ASSERT_TRUE(verifier.intact());
    int kept = 0;
    for (const auto& [memory, bytes] : machine.state().device_memory) {
        char& byte = static_cast<char*>(memory)[bytes / 2];
        byte = static_cast<char>(byte ^ 4);
        if (!verifier.intact()) ++kept;
        byte = static_cast<char>(byte ^ 4);
        EXPECT_TRUE(verifier.intact());
    }
    EXPECT_EQ(kept, 2 + 2 * 3) << "guards of two arrays; x, y and what y has to be, of both data";
}

TEST_F(VerifierTest, AGpuWithoutRoomForOtherDataIsVerifiedWithTheFirst) {
    test::FakeMachine machine;
    const auto gpu = machine.backend();
    Verifier verifier(*gpu, family, problem, seed);
    verifier.place();
    const std::size_t before = machine.state().device_memory.size();
    constexpr int out_of_memory = 2;
    machine.state().failures["cuMemAlloc_v2"] = out_of_memory;
    verifier.add_other_data(seed + 1);
    machine.state().failures.clear();
    EXPECT_EQ(machine.state().device_memory.size(), before);
    EXPECT_TRUE(verifier.intact());
}

// What is left as it was has to be told from what is written, in every family's data: the reference
// itself, from outputs that are poisoned with numbers.
TEST(SlowVerifierOfFamilies, TakesReferencesFromOutputsPoisonedWithNumbers) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    int families = 0;
    for (const Family& family : built_in_families()) {
        const Problem problem = built_in_families().parse_problem(family.example);
        const std::vector<Problem> nearby = nearby_problems(built_in_families(), problem, 1 << 14);
        if (nearby.empty()) continue;
        ++families;
        const Problem& small = nearby.front();
        Verifier verifier(*backend, family, small, 1);
        verifier.place();
        verifier.add_other_data(2);
        Match match;
        match.config = family.space(small, backend->device().limits).safe();
        const StepVerdict verdict =
            verifier.repeated(std::make_shared<const Kernel>(Kernel::reference(*backend, family, small, match, backend->device().limits)), 0);
        EXPECT_TRUE(verdict.right()) << small.key() << ": " << verdict.wrong;
    }
    EXPECT_GE(families, 9) << "of twelve";
}

}  // namespace
}  // namespace hone::verifier_test
