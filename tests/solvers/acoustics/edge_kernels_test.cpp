#include "solvers/acoustics/edge_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::seismic::edge_kernels_test {
namespace {

struct Line {
    int cells, depth, low, high;
    bool on_faces;
};

// The continued line, by what the words mean: a word beyond a wall is the one as far inside, by its
// sign.
std::vector<double> continued(const std::vector<double>& line, int before, const Line& plan) {
    std::vector<double> result = line;
    const auto at = [&](int i) -> double& { return result[static_cast<std::size_t>(before + i)]; };
    const auto inside = [&](int i) { return line[static_cast<std::size_t>(before + i)]; };
    for (int k = plan.on_faces ? 1 : 0; k < plan.depth; ++k) {
        if (plan.low != 0) at(plan.on_faces ? -k : -1 - k) = plan.low * inside(k);
        if (plan.high != 0) at(plan.cells + k) = plan.high * inside(plan.on_faces ? plan.cells - k : plan.cells - 1 - k);
    }
    if (plan.on_faces && plan.low == -1) at(0) = 0;
    if (plan.on_faces && plan.high == -1) at(plan.cells) = 0;
    return result;
}

// Both texts: the processor's, and the GPU's run on the processor.
TEST(EdgeKernels, BothTargetsMirrorInjectAndRecord) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_cpu_backend(0, cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (const Target target : {Target::cpu, Target::cuda}) {
        KernelSource source = EdgeKernels::source(target, Precision::f64);
        // Of a grid of 2 blocks with 3 threads.
        for (Launch& launch : source.step) launch.grid = {2, 1, 1}, launch.block = {3, 1, 1};
        if (target == Target::cuda) source = test::emulated(source);
        const CompileOutcome outcome = backend->compiler().compile(source);
        ASSERT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
        const auto module = backend->load(outcome.code);
        const auto launch = [&](std::size_t number, double* field, const long long* places, double* words, int items, std::vector<int> constants) {
            int first = 0;
            std::vector<void*> arguments{&field, &places, &words, &first, &items};
            for (int& constant : constants) arguments.push_back(&constant);
            module->launch(module->entry(source.step[number].entry), {2, 1, 1}, {3, 1, 1}, 0, {}, arguments.data());
        };
        for (const Line& plan : {Line{9, 4, 1, -1, false}, Line{9, 4, -1, 1, true}, Line{5, 5, 0, 1, false}, Line{6, 3, -1, 0, true}}) {
            // Lines along the slow axis of a field of 2 x 20 x 4 words, of which 3 x 2 are
            // mirrored.
            constexpr int before = 6, stride = 4, across = 3, layers = 2, plane = 80;
            std::vector<double> field(layers * plane);
            for (double& word : field) word = static_cast<double>(random());
            // In the same launch two lines of another field, along its fast axis.
            std::vector<double> rows(40);
            for (double& word : rows) word = static_cast<double>(random());
            const std::vector<double> rows_before = rows;
            const Line other{7, 3, -1, 1, !plan.on_faces};
            // And receivers.
            std::vector<double> heard(20), traces(21, -1);
            for (double& word : heard) word = static_cast<double>(random());
            const std::vector<long long> places{3, 19, 3, 0, 7, 8, 9};
            // A source in a cell that one line continues, or nobody reads.
            std::vector<double> amounts{10, 20, 30}, expected = field, expected_heard = heard;
            const bool apart = plan.low == 0;
            const std::size_t cell = (before + 1) * stride + 1;
            double* const excited = apart ? &heard[5] : &field[cell];
            (apart ? expected_heard[5] : expected[cell]) += amounts[1];
            const EdgeKernels::Mirrors all = EdgeKernels::mirrors(
                *backend,
                {{field.data() + before * stride, plan.cells, stride, across, 1, layers, plane, plan.depth, plan.low, plan.high, plan.on_faces},
                 {rows.data() + before, other.cells, 1, 2, 20, 1, 0, other.depth, other.low, other.high, other.on_faces}},
                {heard.data(), places.data(), traces.data(), 7}, apart);
            launch(0, excited, static_cast<const long long*>(all.plans.data()), amounts.data(), all.items, {1});
            for (std::size_t n = 0; n < traces.size(); ++n)
                EXPECT_EQ(traces[n], n < 7 || n >= 14 ? -1 : heard[static_cast<std::size_t>(places[n - 7])]) << n;
            EXPECT_EQ(heard, expected_heard) << to_string(target);
            for (std::ptrdiff_t row : {0, 20})
                EXPECT_EQ(std::vector<double>(rows.begin() + row, rows.begin() + row + 20),
                          continued({rows_before.begin() + row, rows_before.begin() + row + 20}, before, other))
                    << to_string(target);
            for (int layer = 0; layer < layers; ++layer)
                for (int x = 0; x < stride; ++x) {
                    std::vector<double> line, found;
                    for (int i = 0; i < 20; ++i) {
                        line.push_back(expected[static_cast<std::size_t>(layer * plane + i * stride + x)]);
                        found.push_back(field[static_cast<std::size_t>(layer * plane + i * stride + x)]);
                    }
                    EXPECT_EQ(found, x < across ? continued(line, before, plan) : line) << to_string(target);
                }
        }
        std::vector<double> field(20, 1), words{5, 6, 7}, traces(21, -1);
        const std::vector<long long> places{3, 19, 3, 0, 7, 8, 9};
        launch(1, field.data(), places.data(), words.data(), 1, {2});
        EXPECT_EQ(field[3], 8);
        field[19] = 4;
        launch(2, field.data(), places.data(), traces.data(), 7, {1});
        EXPECT_EQ(std::vector<double>(traces.begin() + 7, traces.begin() + 14), (std::vector<double>{8, 4, 8, 1, 1, 1, 1}));
        EXPECT_EQ(traces[6], -1);
        EXPECT_EQ(traces[14], -1);
    }
}

TEST(EdgeKernels, CompileForAGpu) {
    DiskCache cache(test::kernel_cache_folder());
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const CompileOutcome outcome = nvrtc->compile(EdgeKernels::source(Target::cuda, precision));
        ASSERT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
        EXPECT_EQ(outcome.code.resources.size(), 3U);
        for (const EntryResources& entry : outcome.code.resources) EXPECT_EQ(entry.spill_store_bytes, 0) << entry.entry;
    }
}

}  // namespace
}  // namespace hone::solvers::seismic::edge_kernels_test
