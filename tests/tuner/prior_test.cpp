#include "tuner/prior.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/axpy_family.hpp"

namespace hone::prior_test {
namespace {

using test::axpy_record;
using testing::HasSubstr;

const Families& families() {
    static const Families all = test::axpy_families();
    return all;
}

Device device_of(const std::string& name, const std::string& architecture) {
    Device device;
    device.fingerprint = {Target::cuda, name, architecture, 100, "13.0", "NVRTC 13.0"};
    device.limits = cuda_limits(90);
    return device;
}

const Device h200 = device_of("NVIDIA H200", "sm_90");

TEST(Prior, PromisingMembersAreTheNearestNeighboursOnceEach) {
    Database database(families());
    database.add(axpy_record("axpy precision=f32 n=2048", "unroll=4,block=256", h200.fingerprint));
    database.add(axpy_record("axpy precision=f32 n=4096", "unroll=2,block=128", h200.fingerprint));
    database.add(axpy_record("axpy precision=f32 n=512", "unroll=4,block=256", h200.fingerprint));
    database.add(axpy_record("axpy precision=f64 n=1024", "unroll=1,block=64", h200.fingerprint));
    database.add(axpy_record("axpy precision=f32 n=1024", "storage=table", device_of("NVIDIA H100", "sm_90").fingerprint));
    const Problem problem = families().parse_problem("axpy precision=f32 n=1024");
    const auto members = promising_members(database, families(), problem, h200);
    ASSERT_EQ(members.size(), 3U) << "the safe configuration comes first anyway";
    EXPECT_THAT(members[2].config.key(), HasSubstr("unroll=2,block=128"));
    EXPECT_DOUBLE_EQ(members[0].distance, 0.25);
    EXPECT_NE(members[0].config, members[1].config);
    for (const auto& member : members) EXPECT_THAT(member.from, HasSubstr("axpy precision=f32"));
    EXPECT_EQ(promising_members(database, families(), problem, h200, 1).size(), 1U);
    EXPECT_TRUE(promising_members(Database(families()), families(), problem, h200).empty());
}

TEST(Prior, CountsEvaluationsUntilACostIsReached) {
    std::vector<JournalEntry> entries;
    const auto add = [&](double seconds, Candidate::Purpose purpose = Candidate::Purpose::search) {
        JournalEntry entry;
        entry.purpose = purpose;
        entry.outcome.step.median = seconds;
        entries.push_back(entry);
    };
    add(5);
    add(1, Candidate::Purpose::again);  // no evaluation
    add(4);
    add(3);
    add(1, Candidate::Purpose::finalist);
    EXPECT_EQ(evaluations_to_reach(entries, {}, 5), 1);
    EXPECT_EQ(evaluations_to_reach(entries, {}, 3.5), 3);
    EXPECT_EQ(evaluations_to_reach(entries, {}, 2), std::nullopt);
}

}  // namespace
}  // namespace hone::prior_test
