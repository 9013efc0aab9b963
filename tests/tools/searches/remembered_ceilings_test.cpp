#include "tools/searches/remembered_ceilings.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace hone::tools::remembered_ceilings_test {
namespace {

const DeviceFingerprint h200{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};

TEST(RememberedCeilings, AreThoseOfTheDeviceWithItsSoftware) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    EXPECT_FALSE(remembered_ceilings(cache, h200));
    const Ceilings measured{4.2e12, 6.4e13, 3.3e13, "a \"test\""};
    remember_ceilings(cache, h200, measured);
    const auto found = remembered_ceilings(cache, h200);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ceilings.copy_bytes_per_second, measured.copy_bytes_per_second);
    EXPECT_EQ(found->ceilings.fma_f32, measured.fma_f32);
    EXPECT_EQ(found->ceilings.fma_f64, measured.fma_f64);
    EXPECT_EQ(found->ceilings.how, measured.how);
    EXPECT_EQ(found->date.size(), std::string("2026-11-28T00:00:00Z").size());
    for (const auto change : {0, 1, 2, 3}) {
        DeviceFingerprint other = h200;
        if (change == 0) other.name = "NVIDIA H100";
        if (change == 1) other.driver = "13.1";
        if (change == 2) other.compiler = "NVRTC 12.8";
        if (change == 3) other.units = 78;
        EXPECT_FALSE(remembered_ceilings(cache, other)) << change;
    }
    remember_ceilings(cache, h200, {1e12, 0, 0, "later"});
    EXPECT_EQ(remembered_ceilings(cache, h200)->ceilings.copy_bytes_per_second, 1e12) << "the last ones";
}

}  // namespace
}  // namespace hone::tools::remembered_ceilings_test
