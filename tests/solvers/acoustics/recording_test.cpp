#include "solvers/acoustics/recording.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/acoustics/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::seismic::recording_test {
namespace {

TEST(Recording, IsResampledWithoutLoss) {
    const Ricker ricker{10};
    constexpr double dt = 0.00137;
    std::vector<std::vector<float>> steps(1);
    for (int step = 1; step * dt < 0.4; ++step) steps[0].push_back(static_cast<float>(ricker(step * dt)));
    const Recording recording = Recording::resampled(steps, dt, 2000);
    ASSERT_EQ(recording.traces.size(), 1U);
    EXPECT_EQ(recording.traces[0].size(), 200U);
    // The fourth derivative is at most 60 (pi f)^4 here; Lagrange's remainder takes 9/16 dt^4 / 4!
    // of it.
    const double allowed = 60 * std::pow(M_PI * 10, 4) * 9.0 / 16 * std::pow(dt, 4) / 24 + 1e-6;
    for (std::size_t i = 0; i < 199; ++i) EXPECT_NEAR(recording.traces[0][i], ricker(static_cast<double>(i) * 0.002), allowed) << i;
    // On the steps themselves nothing changes.
    const Recording same = Recording::resampled(steps, 0.001, 1000);
    EXPECT_EQ(same.traces[0][0], 0);
    for (std::size_t i = 0; i + 1 < same.traces[0].size(); ++i) EXPECT_EQ(same.traces[0][i + 1], steps[0][i]);
}

TEST(Recording, IsWrittenForOthers) {
    const test::TemporaryFolder folder;
    Model model = homogeneous_model(3, {8, 6, 10}, 5, 2000, 1000);
    const Survey survey{{10}, {4, 3, 1}, {{1, 2, 3}, {7, 5, 9}}};
    const Recording recording{2000, {{0, 1, 2.5F}, {3, -4, 5}}};
    write_recording_segy(folder.path() / "a.segy", recording, survey, model, "TITLE");
    const SegyFile segy = read_segy(folder.path() / "a.segy");
    EXPECT_EQ(segy.interval, 2000);
    ASSERT_EQ(segy.traces.size(), 2U);
    EXPECT_EQ(segy.traces[1].samples, recording.traces[1]);
    EXPECT_EQ(segy.traces[0].x, 7.5);
    EXPECT_EQ(segy.traces[0].y, 12.5);
    EXPECT_EQ(segy.traces[0].elevation, -17.5);
    EXPECT_EQ(segy.traces[0].source_x, 22.5);
    EXPECT_EQ(segy.traces[0].source_y, 17.5);
    EXPECT_EQ(segy.traces[0].source_depth, 7.5);
    write_recording_csv(folder.path() / "a.csv", recording);
    EXPECT_EQ(contents_of(folder.path() / "a.csv"), "seconds,receiver_1,receiver_2\n0.000000,0,3\n0.002000,1,-4\n0.004000,2.5,5\n");
    for (const auto& write : {"a.png", "b.png", "c.png", "d.vti"}) {
        const auto file = folder.path() / write;
        const std::vector<float> pressure(480, 1);
        if (file.filename() == "a.png") write_recording_png(file, recording);
        if (file.filename() == "b.png") write_snapshot_png(file, model, pressure, 3);
        if (file.filename() == "c.png") write_model_png(file, model, 3);
        if (file.filename() == "d.vti") write_snapshot_vti(*self_communicator(), folder.path(), "d", model, pressure, {0, model.cells[2]});
        EXPECT_GT(std::filesystem::file_size(file), 60U) << write;
    }
}

}  // namespace
}  // namespace hone::solvers::seismic::recording_test
