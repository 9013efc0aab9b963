#include "runtime/rapl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/fake_powercap.hpp"

namespace hone::rapl_test {
namespace {

using test::FakePowercap;
using testing::HasSubstr;

TEST(RaplCounter, AddsPackagesAndTheirMemoryAndNothingElse) {
    FakePowercap powercap;
    powercap.zone("intel-rapl:0", "package-0", 1'000'000);
    powercap.zone("intel-rapl:0:0", "core", 5);
    powercap.zone("intel-rapl:0:1", "dram", 500'000);
    powercap.zone("intel-rapl:1", "package-1", 2'000'000);
    powercap.zone("intel-rapl:2", "psys", 7);
    powercap.zone("intel-rapl-mmio:0", "package-0", 9);
    RaplCounter counter(powercap.path());
    EXPECT_EQ(counter.missing(), "");
    EXPECT_EQ(counter.zones(), "package-0, dram, package-1");
    EXPECT_EQ(counter.joules(), 0);
    powercap.set("intel-rapl:0", 1'500'000);
    powercap.set("intel-rapl:0:0", 400'000'000);
    powercap.set("intel-rapl:0:1", 500'250);
    powercap.set("intel-rapl:1", 3'000'000);
    powercap.set("intel-rapl:2", 400'000'000);
    EXPECT_NEAR(*counter.joules(), 1.50025, 1e-12);
}

TEST(RaplCounter, GoesOnWhenACounterStartsAgain) {
    FakePowercap powercap(1'000'000);
    powercap.zone("intel-rapl:0", "package-0", 900'000);
    RaplCounter counter(powercap.path());
    for (int round = 1; round <= 3; ++round) {
        powercap.set("intel-rapl:0", 400'000);
        EXPECT_NEAR(*counter.joules(), round - 0.5, 1e-12);
        powercap.set("intel-rapl:0", 900'000);
        EXPECT_NEAR(*counter.joules(), round, 1e-12);
    }
}

TEST(RaplCounter, SaysPlainlyWhyNothingCanBeRead) {
    FakePowercap powercap;
    EXPECT_THAT(RaplCounter(powercap.path()).missing(), HasSubstr("virtual machines do not show it"));
    EXPECT_THAT(RaplCounter("/absent").missing(), HasSubstr("/absent"));
    powercap.zone("intel-rapl:0", "package-0", 1);
    std::filesystem::remove(powercap.path() / "intel-rapl:0" / "energy_uj");
    RaplCounter counter(powercap.path());
    EXPECT_THAT(counter.missing(), HasSubstr("energy_uj may not be read"));
    EXPECT_EQ(counter.joules(), std::nullopt);
}

TEST(RaplCounter, AZoneThatGoesAwayReadsAsNothing) {
    FakePowercap powercap;
    powercap.zone("intel-rapl:0", "package-0", 1);
    RaplCounter counter(powercap.path());
    std::filesystem::remove_all(powercap.path() / "intel-rapl:0");
    EXPECT_EQ(counter.joules(), std::nullopt);
}

}  // namespace
}  // namespace hone::rapl_test
