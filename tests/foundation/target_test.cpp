#include "foundation/target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::target_test {
namespace {

TEST(Target, EveryTargetHasARowOfItsOwn) {
    for (const Target target : {Target::cuda, Target::cpu}) {
        EXPECT_EQ(traits_of(target).target, target);
        EXPECT_EQ(parse_target(to_string(target)), target);
    }
    EXPECT_TRUE(traits_of(Target::cuda).has_blocks);
    EXPECT_TRUE(traits_of(Target::cpu).host_memory);
}

TEST(Target, AWordThatIsNoneIsRefusedWithThoseThatAre) {
    try {
        parse_target("rocket");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("\"rocket\" is not a target; use cuda or cpu"));
    }
}

}  // namespace
}  // namespace hone::target_test
