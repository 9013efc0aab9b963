#include "solvers/acoustics/wave_checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>

#include "foundation/error.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::seismic::wave_checkpoint_test {
namespace {

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

class WaveCheckpoints : public ::testing::Test {
  protected:
    WaveCheckpoints() {
        std::uniform_real_distribution<float> uniform(-1, 1);
        checkpoint_ = {identity_of(model_, {}, survey_), {0.1, 1e-300}, {{0.25, "pressure 1.pvti"}}, {7, {}, {}}};
        for (int n = 0; n < 50; ++n) checkpoint_.state.fields.push_back(static_cast<std::byte>(random_() % 256));
        checkpoint_.state.recording.assign(2, std::vector<float>(7));
        for (auto& trace : checkpoint_.state.recording)
            for (float& sample : trace) sample = uniform(random_);
        write_wave_checkpoint(file_, checkpoint_);
    }

    test::FreshRandom random_;
    Model model_ = homogeneous_model(2, {20, 30, 1}, 10, 2000, 1000);
    Survey survey_{{40}, {5, 5, 0}, {{6, 6, 0}, {7, 6, 0}}};
    test::TemporaryFolder folder_;
    std::filesystem::path file_ = folder_.path() / "checkpoint";
    WaveCheckpoint checkpoint_;
};

TEST_F(WaveCheckpoints, ComeBack) {
    const WaveCheckpoint read = read_wave_checkpoint(file_, checkpoint_.identity, 2);
    EXPECT_EQ(read.energies, checkpoint_.energies);
    EXPECT_EQ(read.series, checkpoint_.series);
    EXPECT_EQ(read.state.done, 7);
    EXPECT_EQ(read.state.fields, checkpoint_.state.fields);
    EXPECT_EQ(read.state.recording, checkpoint_.state.recording);
}

TEST_F(WaveCheckpoints, OfOtherWavesAreRefused) {
    const auto read_for = [&](const WaveIdentity& identity) { return reason([&] { read_wave_checkpoint(file_, identity, 2); }); };
    EXPECT_THAT(read_for(identity_of(model_, {.order = 4}, survey_)), ::testing::HasSubstr("its waves is order 8"));
    Model other = model_;
    other.speed[3] = 2001;
    EXPECT_THAT(read_for(identity_of(other, {}, survey_)), ::testing::HasSubstr("its model is"));
    Survey fewer = survey_;
    fewer.receivers.pop_back();
    EXPECT_THAT(read_for(identity_of(model_, {}, fewer)), ::testing::HasSubstr("its receivers is 2"));
    // How often ranks exchange is nobody's business.
    EXPECT_EQ(read_for(identity_of(model_, {.exchange_every = 3}, survey_)), "");
}

TEST_F(WaveCheckpoints, ThatAreDamagedAreRefused) {
    const auto read = [&] { return reason([&] { read_wave_checkpoint(file_, checkpoint_.identity, 2); }); };
    std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
    EXPECT_THAT(read(), ::testing::HasSubstr("damaged or cut short"));
    std::ofstream(file_) << "something else";
    EXPECT_THAT(read(), ::testing::HasSubstr("it is no acoustics checkpoint"));
    EXPECT_THAT(reason([&] { read_wave_checkpoint(folder_.path() / "none", checkpoint_.identity, 2); }), ::testing::HasSubstr("none"));
}

}  // namespace
}  // namespace hone::solvers::seismic::wave_checkpoint_test
