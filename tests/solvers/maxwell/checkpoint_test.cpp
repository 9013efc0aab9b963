#include "solvers/maxwell/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/maxwell/wave_run.hpp"
#include "solvers/mesh/boxes.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::maxwell::checkpoint_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Checkpoint sample() {
    Checkpoint checkpoint{
        "maxwell_3d", 3, "f64", "abc", "fused", {{"dg_rk", "threads=all,binding=none"}}, 17, 0.1 / 3, {{0, 1.5}, {0.1, 1.0 / 7}}, {}};
    for (int i = 0; i < 1000; ++i) checkpoint.state.push_back(static_cast<std::byte>(i % 251));
    return checkpoint;
}

TEST(WaveCheckpoint, ComesBackAsItWas) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "run.checkpoint";
    write_checkpoint(file, sample());
    EXPECT_EQ(read_checkpoint(file), sample());
    Checkpoint other = sample();
    other.order = 4;
    EXPECT_NO_THROW(require_same(sample(), sample(), file));
    EXPECT_THAT([&] { require_same(sample(), other, file); }, ThrowsMessage<Error>(HasSubstr("its order is 3, that of this run 4")));
}

TEST(WaveCheckpoint, DamageIsSeen) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "run.checkpoint";
    write_checkpoint(file, sample());
    const std::string good = read_file(file, 1 << 20);
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 23) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        replace_file(file, bad);
        EXPECT_THROW(read_checkpoint(file), Error) << at;
        replace_file(file, good.substr(0, at));
        EXPECT_THROW(read_checkpoint(file), Error) << at;
    }
    std::string newer = good;
    newer.replace(newer.find("checkpoint 1"), 12, "checkpoint 2");
    replace_file(file, newer);
    EXPECT_THAT([&] { read_checkpoint(file); }, ThrowsMessage<Error>(HasSubstr("another version")));
}

// An interrupted run that goes on ends with the bits of one that was not: the files of both are the
// same.
TEST(WaveCheckpoint, RestartContinuesBitIdentically) {
    const TemporaryFolder folder;
    const int usual_threads = omp_get_max_threads();
    omp_set_num_threads(1);  // steps of small boxes are shorter than what a barrier takes on a busy machine
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    KernelLibrary library(*backend, Database(built_in_families()), built_in_families());
    const Discretisation of("acoustics_3d", 2, kuhn_box({{2, 2, 2}}));
    const auto first = of.interpolated(cavity(*of.equation), 0);
    for (const StageForm form : {StageForm::kernels, StageForm::fused}) {
        const auto run = [&](WaveRunSettings settings, const std::string& name) {
            settings.time = 0.4;
            settings.checkpoint = folder.path() / name;
            WaveSolver solver(*backend, library, of, Precision::f32, form);
            return run_waves(solver, of, Precision::f32, form, first, settings);
        };
        const WaveRunResult whole = run({}, "whole");
        ASSERT_GT(whole.steps, 6);
        for (const std::int64_t stop : {std::int64_t{1}, whole.steps / 2}) {
            EXPECT_EQ(run({.checkpoint_every = 2, .stop_after = stop}, "cut").done, stop);
            const WaveRunResult rest = run({.restart = folder.path() / "cut"}, "rest");
            EXPECT_EQ(rest.first, stop);
            EXPECT_EQ(rest.energy, whole.energy);
            EXPECT_EQ(read_file(folder.path() / "rest", 1 << 24), read_file(folder.path() / "whole", 1 << 24)) << to_string(form) << " from " << stop;
        }
        EXPECT_THROW(run({.step_part = 0.25, .restart = folder.path() / "cut"}, "other"), Error) << "another time step";
    }
    omp_set_num_threads(usual_threads);
}

}  // namespace
}  // namespace hone::solvers::maxwell::checkpoint_test
