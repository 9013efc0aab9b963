#include "runtime/ranks/exchange_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "foundation/error.hpp"
#include "runtime/ranks/device_mail.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/environment.hpp"

namespace hone::exchange_settings_test {
namespace {

using testing::HasSubstr;

std::string refusal_of(const Config& config) {
    try {
        exchange_settings(config, "record 7");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ExchangeSettings, AreWrittenAndReadAsConfigurations) {
    EXPECT_EQ(exchange_settings(Config(), "nothing"), ExchangeSettings());
    EXPECT_EQ(to_config(ExchangeSettings()), Config());
    for (const MessageWay way : {MessageWay::best, MessageWay::peer, MessageWay::copies, MessageWay::stores, MessageWay::spin, MessageWay::events,
                                 MessageWay::nccl, MessageWay::host})
        for (const EdgePlace place : {EdgePlace::before, EdgePlace::beside, EdgePlace::ahead, EdgePlace::serial})
            for (const int number : {1, 2, 64}) {
                const ExchangeSettings settings{way, place, number, number};
                EXPECT_EQ(exchange_settings(to_config(settings), "text"), settings);
            }
    EXPECT_EQ(to_config({MessageWay::stores, EdgePlace::ahead, 2, 4}).key(), "messages=stores,edges=ahead,depth=2,every=4");
}

TEST(ExchangeSettings, RefuseWhatTheyAreNot) {
    EXPECT_THAT(refusal_of(Config({{"messages", std::string("pigeon")}})), HasSubstr("record 7: \"pigeon\" is not a way of messages between GPUs"));
    EXPECT_THAT(refusal_of(Config({{"edges", std::int64_t{3}}})), HasSubstr("\"3\" is not a place for edges"));
    EXPECT_THAT(refusal_of(Config({{"depth", std::int64_t{0}}})), HasSubstr("depth is 0"));
    EXPECT_THAT(refusal_of(Config({{"depth", std::string("deep")}})), HasSubstr("depth is deep"));
    EXPECT_THAT(refusal_of(Config({{"every", std::int64_t{65}}})), HasSubstr("every is 65"));
    EXPECT_THAT(refusal_of(Config({{"colour", std::string("red")}})), HasSubstr("\"colour\" is not a tunable of exchanges"));
}

TEST(ExchangeSettings, GiveWayToTheEnvironment) {
    const test::EnvironmentVariable no_messages("HONE_MESSAGES", {}), no_edges("HONE_EDGES", {});
    const auto ranks = self_communicator();
    EXPECT_EQ(message_way(*ranks), MessageWay::best);
    EXPECT_EQ(edge_place(*ranks, EdgePlace::beside), EdgePlace::beside);
    ranks->set_exchange_settings({MessageWay::stores, EdgePlace::serial, 1, 0});
    EXPECT_EQ(message_way(*ranks), MessageWay::stores);
    EXPECT_EQ(edge_place(*ranks, EdgePlace::beside), EdgePlace::serial);
    const test::EnvironmentVariable messages("HONE_MESSAGES", "host"), edges("HONE_EDGES", "before");
    EXPECT_EQ(message_way(*ranks), MessageWay::host);
    EXPECT_EQ(edge_place(*ranks, EdgePlace::beside), EdgePlace::before);
    const test::EnvironmentVariable nonsense("HONE_EDGES", "nowhere");
    EXPECT_THROW(edge_place(*ranks, EdgePlace::beside), Error);
}

}  // namespace
}  // namespace hone::exchange_settings_test
