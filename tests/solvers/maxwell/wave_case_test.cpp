#include "solvers/maxwell/wave_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/mesh/boxes.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::maxwell::wave_case_test {
namespace {

using testing::HasSubstr;

class WaveCaseTest : public ::testing::Test {
  protected:
    // Kernels of a whole stage that take ten times as long as the three, for twenty elements; where
    // materials differ, for these alone.
    Database where_three_are_faster(const WaveCase& of, bool uniform) const {
        Database database(built_in_families());
        Discretisation sample(of.equation, of.order, of.mesh);
        sample.uniform = uniform;
        for (const StageForm form : {StageForm::fused, StageForm::kernels})
            for (const Problem& problem : of.problems(sample, form, 20)) {
                const Family& family = built_in_families().of(problem);
                Record record{problem, family.space(problem, backend_->device().limits).safe(), backend_->device().fingerprint};
                record.counts = family.counts(problem);
                record.step.median = record.step.low = record.step.high = record.step.minimum =
                    (form == StageForm::fused ? 1e-6 : 1e-7) * record.counts.updates;
                record.step.samples = 3;
                record.verification_error = 0;
                record.date = "2026-11-21T00:00:00Z";
                database.add(record);
            }
        return database;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

WaveCase small() {
    WaveCase of;
    of.order = 2;
    of.mesh = kuhn_box({{2, 2, 2}});
    return of;
}

TEST_F(WaveCaseTest, AllRanksTakeTheFormThatTheFirstOnesRecordsSay) {
    const WaveCase of = small();
    const Database known = where_three_are_faster(of, true), nothing(built_in_families());
    run_thread_ranks(3, [&](Communicator& ranks) {
        const bool first = ranks.rank() == 0;
        EXPECT_EQ(fastest_form(ranks, of, first ? known : nothing, *backend_), StageForm::kernels);
        EXPECT_EQ(fastest_form(ranks, of, first ? nothing : known, *backend_), StageForm::fused);
    });
}

// The problems of one medium are others than those of several.
TEST_F(WaveCaseTest, TheFormIsThatOfItsMaterials) {
    const auto alone = self_communicator();
    WaveCase of = small();
    const Database uniform = where_three_are_faster(of, true), differing = where_three_are_faster(of, false);
    EXPECT_EQ(fastest_form(*alone, of, differing, *backend_), StageForm::fused);
    of.materials["default"] = {1, 1};
    EXPECT_EQ(fastest_form(*alone, of, uniform, *backend_), StageForm::kernels) << "it is of unit";
    of.materials["default"] = {2, 1};
    EXPECT_EQ(fastest_form(*alone, of, uniform, *backend_), StageForm::fused);
    EXPECT_EQ(fastest_form(*alone, of, differing, *backend_), StageForm::kernels);
}

TEST_F(WaveCaseTest, ASpeedIsMeasuredWhateverTheMesh) {
    if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    KernelLibrary library(*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    WaveCase of = small();
    of.order = 1;
    for (const int ranks : {1, 1000}) {
        const double speed = measured_speed(of, StageForm::fused, *backend_, library, ranks);
        EXPECT_TRUE(std::isfinite(speed) && speed > 0) << speed;
    }
}

TEST_F(WaveCaseTest, MaterialsAreThoseOfTheMeshsGroups) {
    WaveCase of = small();
    of.materials["default"] = {2, 1};
    EXPECT_NO_THROW(expect_groups(of, "--material"));
    of.materials["defualt"] = {2, 1};
    try {
        expect_groups(of, "--material");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("--material defualt: box has no such group of elements"));
        EXPECT_THAT(error.what(), HasSubstr("default"));
    }
}

TEST_F(WaveCaseTest, FirstFieldsAreKnownByName) {
    const WaveCase of = small();
    EXPECT_TRUE(first_fields("cavity", of).exact);
    EXPECT_TRUE(first_fields("cylinder", of).exact);
    EXPECT_FALSE(first_fields("pulse", of).exact);
    EXPECT_EQ(first_fields("cavity", of).solution({0.3, 0.2, 0.1}, 0), cavity(wave_equation(of.equation))({0.3, 0.2, 0.1}, 0));
    EXPECT_THROW(first_fields("plain", of), Error);
}

}  // namespace
}  // namespace hone::solvers::maxwell::wave_case_test
