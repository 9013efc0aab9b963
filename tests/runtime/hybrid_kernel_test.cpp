// A step shared by two backends equals the step of one: bit for bit here, where both compile the
// same source.
#include "runtime/hybrid_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::hybrid_kernel_test {
namespace {

std::shared_ptr<const Kernel> kernel_on(Backend& backend, const Problem& problem) {
    const Family& family = built_in_families().of(problem);
    const Limits& limits = backend.device().limits;
    Match match;
    match.config = family.space(problem, limits).safe();
    if (!backend.compiler().missing().empty()) return std::make_shared<const Kernel>(Kernel::reference(backend, family, problem, match, limits));
    return std::make_shared<const Kernel>(backend, family, problem, match, limits);
}

std::vector<void*> pointers(std::vector<HostArray>& arrays) {
    std::vector<void*> all;
    for (auto& array : arrays) all.push_back(array.data());
    return all;
}

std::vector<HostArray> copies(const std::vector<HostArray>& arrays) {
    std::vector<HostArray> all;
    for (const auto& array : arrays) all.push_back(array.copy());
    return all;
}

class SlowHybridKernel : public ::testing::Test {
  protected:
    Problem parse(const std::string& text) const { return built_in_families().parse_problem(text); }
    HybridSide side(Backend& backend, const Problem& problem) const { return {&backend, kernel_on(backend, problem)}; }

    // Of all tests: what one has compiled the next one has ready.
    static DiskCache& cache() {
        static const TemporaryFolder folder;
        static DiskCache made(folder.path());
        return made;
    }

    std::unique_ptr<Backend> one_ = make_backend("cpu", cache());
    std::unique_ptr<Backend> two_ = make_backend("cpu", cache());
    std::uint64_t seed_ = std::random_device{}();
};

void expect_same(const Problem& problem, const std::vector<HostArray>& found, const std::vector<HostArray>& expected) {
    const auto specs = built_in_families().of(problem).arrays(problem);
    for (std::size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(largest_difference(found[i], expected[i]), 0) << specs[i].name;
}

TEST_F(SlowHybridKernel, GivesTheResultOfOneDeviceWhereverItIsDividedAndWhenTheShareMoves) {
    for (const char* text :
         {"gauss_seidel_27 stencil=constant precision=f32 nx=21 ny=9 nz=15", "gauss_seidel_27 stencil=variable precision=f64 nx=9 ny=8 nz=10",
          "dg_volume equation=maxwell_3d order=2 precision=f64 elements=37"}) {
        const Problem problem = parse(text);
        const Family& family = built_in_families().of(problem);
        SCOPED_TRACE(testing::Message() << text << ", seed " << seed_);
        std::mt19937_64 random(seed_);
        const Workload workload = family.workload(problem, seed_);
        std::vector<HostArray> alone = copies(workload.arrays);
        std::vector<HostArray> shared = copies(workload.arrays);
        const HybridSide first = side(*one_, problem);
        const BoundKernel single(first.kernel, pointers(alone));
        HybridKernel hybrid(family, first, side(*two_, problem), pointers(shared), first.kernel->range());
        const auto splits = hybrid.range() / hybrid.granularity() + 1;
        for (int round = 0; round < 8; ++round) {
            const auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(splits + 1));
            const std::int64_t units = std::min(hybrid.range(), drawn * hybrid.granularity());
            SCOPED_TRACE(testing::Message() << "round " << round << " with " << units);
            hybrid.set_units(units);
            EXPECT_EQ(hybrid.units(), units);
            for (std::uint64_t steps = random() % 3; steps > 0; --steps) {
                const HybridStep times = hybrid.step();
                single.launch();
                EXPECT_EQ(times.first > 0, units > 0);
                EXPECT_EQ(times.second > 0, units < hybrid.range());
                EXPECT_GE(times.step, std::max(times.first, times.second));
                const bool one_alone = units == 0 || units == hybrid.range();
                EXPECT_EQ(times.exchange > 0, !one_alone && hybrid.bytes_per_unit() > 0) << "one device alone waits for nobody";
            }
            if (random() % 2 == 0) continue;
            hybrid.gather();
            expect_same(problem, shared, alone);
        }
        hybrid.step();
        single.launch();
        hybrid.gather();
        expect_same(problem, shared, alone);
    }
}

// The smallest problem of a family that has some units: the first of every choice.
Problem small_problem(const Family& family) {
    std::string text = family.name;
    for (const auto& parameter : family.parameters) {
        constexpr std::int64_t extent = 14;
        const std::int64_t number = parameter.extent ? std::clamp(extent, parameter.low, parameter.high) : parameter.low;
        const std::string chosen = !parameter.words.empty() ? parameter.words.front() : std::to_string(number);
        text += " " + parameter.name + "=" + (parameter.extent && !parameter.fallback.empty() ? parameter.fallback : chosen);
    }
    return built_in_families().parse_problem(text);
}

TEST_F(SlowHybridKernel, WorksForEveryFamilyThatSaysHowItsStepIsDivided) {
    for (const Family& family : built_in_families()) {
        if (!family.partition) continue;
        const Problem problem = small_problem(family);
        SCOPED_TRACE(testing::Message() << problem.key() << ", seed " << seed_);
        const Limits& limits = one_->device().limits;
        Match match;
        match.config = family.space(problem, limits).safe();
        const auto loops = std::make_shared<const Kernel>(Kernel::reference(*one_, family, problem, match, limits));
        const Workload workload = family.workload(problem, seed_);
        std::vector<HostArray> shared = copies(workload.arrays);
        const std::int64_t granularity = family.partition(problem).granularity;
        HybridKernel hybrid(family, {one_.get(), loops}, {two_.get(), loops}, pointers(shared), loops->range() / 2 / granularity * granularity);
        ASSERT_GT(hybrid.units(), 0);
        hybrid.step();
        hybrid.gather();
        const auto specs = family.arrays(problem);
        for (std::size_t i = 0; i < specs.size(); ++i) {
            if (specs[i].access == Access::in) continue;
            EXPECT_LE(largest_difference(shared[i], workload.expected[i]), workload.tolerance) << specs[i].name;
        }
    }
}

TEST_F(SlowHybridKernel, TakesArraysAnewAfterTheApplicationChangedThem) {
    const Problem problem = parse("gauss_seidel_27 stencil=constant precision=f64 nx=7 ny=6 nz=8");
    const Family& family = built_in_families().of(problem);
    const Workload workload = family.workload(problem, seed_);
    std::vector<HostArray> arrays = copies(workload.arrays);
    HybridKernel hybrid(family, side(*one_, problem), side(*two_, problem), pointers(arrays), 4);
    for (int i = 0; i < 3; ++i) hybrid.step();
    for (std::size_t i = 0; i < arrays.size(); ++i)
        std::memcpy(arrays[i].data(), workload.arrays[i].data(), static_cast<std::size_t>(arrays[i].bytes()));
    hybrid.scatter();
    hybrid.step();
    hybrid.gather();
    EXPECT_LE(largest_difference(arrays[0], workload.expected[0]), workload.tolerance);
}

TEST_F(SlowHybridKernel, MovesAndExchangesWhatChangesHandsAndNoMore) {
    const Problem problem = parse("gauss_seidel_27 stencil=constant precision=f64 nx=7 ny=6 nz=20");
    const Family& family = built_in_families().of(problem);
    Workload workload = family.workload(problem, seed_);
    HybridKernel hybrid(family, side(*one_, problem), side(*two_, problem), pointers(workload.arrays), 20);
    const std::int64_t plane = hybrid.bytes_per_unit();
    EXPECT_EQ(plane, family.arrays(problem)[0].slices.words_per_unit * 8);
    hybrid.step();
    EXPECT_EQ(hybrid.exchanged().bytes, 0);
    hybrid.set_units(14);
    EXPECT_EQ(hybrid.moved().bytes, (6 + 1) * plane) << "six planes, and the one below that they read";
    hybrid.set_units(16);
    EXPECT_EQ(hybrid.moved().bytes, (7 + 2 + 2) * plane) << "two planes, and two above";
    hybrid.step();
    hybrid.step();
    EXPECT_EQ(hybrid.exchanged().bytes, 2 * 3 * plane) << "two planes down, one up, each step";
    EXPECT_GT(hybrid.exchanged().seconds, 0);
}

TEST_F(SlowHybridKernel, RefusesWhatCannotBeShared) {
    const Problem problem = parse("gauss_seidel_27 stencil=constant precision=f32 nx=7 ny=6 nz=8");
    const Problem other = parse("gauss_seidel_27 stencil=constant precision=f32 nx=7 ny=6 nz=9");
    const Family& family = built_in_families().of(problem);
    Workload workload = family.workload(problem, seed_);
    const HybridSide first = side(*one_, problem);
    const HybridSide second = side(*two_, problem);
    const std::vector<void*> arrays = pointers(workload.arrays);
    EXPECT_THROW(HybridKernel(family, first, side(*two_, other), arrays, 4), Error);
    EXPECT_THROW(HybridKernel(family, first, second, arrays, 3), Error) << "not a pair of planes";
    EXPECT_THROW(HybridKernel(family, first, second, arrays, 10), Error);
    EXPECT_THROW(HybridKernel(family, first, second, std::vector(arrays.begin(), arrays.end() - 1), 4), Error);
    Family whole = family;
    whole.partition = nullptr;
    EXPECT_THROW(HybridKernel(whole, first, second, arrays, 4), Error);
    HybridKernel hybrid(family, first, second, arrays, 4);
    EXPECT_THROW(hybrid.set_units(5), Error);
    EXPECT_THROW(hybrid.set_units(-2), Error);
    EXPECT_NO_THROW(hybrid.set_units(8));
}

}  // namespace
}  // namespace hone::hybrid_kernel_test
