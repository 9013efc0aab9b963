#include "generator/config.hpp"

#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::config_test {
namespace {

TEST(Config, KeyIsWhatOneTypes) {
    const Config config({{"block_x", std::int64_t{32}}, {"staging", std::string("caches")}});
    EXPECT_EQ(config.key(), "block_x=32,staging=caches");
    EXPECT_EQ(Config().key(), "");
}

TEST(Config, IsReadFromItsKey) {
    for (const char* key : {"block_x=32,staging=caches", "form=points", ""}) EXPECT_EQ(Config::parsed(key).key(), key);
    EXPECT_EQ(Config::parsed("block_x=32").integer("block_x"), 32);
    for (const char* other : {"block_x", "=32", "block_x=32,,staging=caches"}) EXPECT_THROW(Config::parsed(other), Error) << other;
}

TEST(Config, ValuesAreReadByNameAndTypeAndErrorsNameTheConfiguration) {
    const Config config({{"block_x", std::int64_t{32}}, {"staging", std::string("caches")}});
    EXPECT_EQ(config.integer("block_x"), 32);
    EXPECT_EQ(config.word("staging"), "caches");
    EXPECT_THROW(config.word("block_x"), Error);
    try {
        config.integer("block_y");
        ADD_FAILURE() << "a tunable that is not there was read";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(config.key()), std::string::npos) << error.what();
    }
}

TEST(Config, ComparesByItsAssignments) {
    const Config a({{"u", std::int64_t{1}}});
    const Config b({{"u", std::int64_t{2}}});
    EXPECT_EQ(a, Config({{"u", std::int64_t{1}}}));
    EXPECT_NE(a, b);
    EXPECT_LT(a, b);
}

}  // namespace
}  // namespace hone::config_test
