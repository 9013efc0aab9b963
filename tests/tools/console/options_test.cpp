#include "tools/console/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::tools::options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct OptionsTest : testing::Test {
    OptionsTest() {
        options.words("FAMILY key=value...", words, "a problem");
        options.text("device", device, "NAME", "a device");
        options.list("config", configs, "NAME=VALUE,...", "a configuration");
        options.number("seed", seed, "N", "a seed", 1);
        options.flag("json", json, "one document");
    }
    std::string error(const std::vector<std::string>& arguments) {
        try {
            options.parse(arguments);
        } catch (const Error& found) {
            return found.what();
        }
        return "";
    }
    std::vector<std::string> words;
    std::string device = "best";
    std::vector<std::string> configs;
    std::int64_t seed = 7;
    bool json = false;
    Options options{"probe"};
};

TEST_F(OptionsTest, ReadsEveryKindInAnyOrder) {
    options.parse({"fam", "--json", "a=1,2", "--config", "x=1,y=2", "--device=cuda:1", "b=1..3", "--config", "x=3", "--seed", "12"});
    EXPECT_THAT(words, ElementsAre("fam", "a=1,2", "b=1..3"));
    EXPECT_THAT(configs, ElementsAre("x=1,y=2", "x=3"));
    EXPECT_EQ(device, "cuda:1");
    EXPECT_EQ(seed, 12);
    EXPECT_TRUE(json);
}

TEST_F(OptionsTest, KeepsWhatIsNotGiven) {
    options.parse({});
    EXPECT_EQ(device, "best");
    EXPECT_EQ(seed, 7);
    EXPECT_FALSE(json);
    EXPECT_TRUE(words.empty());
}

TEST_F(OptionsTest, NamesTheNearestOption) {
    EXPECT_THAT(error({"--devcie", "cpu"}), HasSubstr("did you mean --device?"));
    EXPECT_THAT(error({"fam", "--jsno"}), HasSubstr("did you mean --json?"));
    EXPECT_THAT(error({"--sede=3"}), HasSubstr("did you mean --seed?"));
}

TEST_F(OptionsTest, RefusesWhatHasNoSense) {
    EXPECT_EQ(error({"--device"}), "probe: --device has no value; write --device NAME; see 'hone probe --help'");
    EXPECT_THAT(error({"--device", "--json"}), HasSubstr("--device has no value"));
    EXPECT_THAT(error({"--device="}), HasSubstr("--device has no value"));
    EXPECT_THAT(error({"fam", "--config"}), HasSubstr("write --config NAME=VALUE,...;"));
    EXPECT_THAT(error({"--device", "cpu", "--device=cuda"}), HasSubstr("--device is given 2 times; give it once"));
    EXPECT_THAT(error({"--json=7x"}), HasSubstr("--json takes no value; write --json alone"));
    EXPECT_THAT(error({"--seed", "seven"}), HasSubstr("whole number from 1"));
    EXPECT_THAT(error({"--seed", "0"}), HasSubstr("whole number from 1"));
    EXPECT_THAT(error({"--seed", "99999999999999999999"}), HasSubstr("whole number"));
}

TEST_F(OptionsTest, EveryMistakeNamesTheHelp) {
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"--device"}, {"--seed", "1", "--seed", "2"}, {"--json=1"}, {"--sede", "3"}, {"--seed", "x"}, {"-j"}, {"--seed"}, {"--json="}})
        EXPECT_THAT(error(arguments), HasSubstr("see 'hone probe --help'")) << testing::PrintToString(arguments);
}

TEST(Options, RefusesWordsWhereNoneAreTaken) {
    Options options("devices");
    EXPECT_THROW(options.parse({"cpu"}), Error);
}

TEST_F(OptionsTest, HelpNamesEveryOption) {
    const std::string help = options.help();
    for (const auto& name : options.names()) EXPECT_THAT(help, HasSubstr(name));
    EXPECT_THAT(help, HasSubstr("FAMILY key=value..."));
    EXPECT_THAT(help, HasSubstr("may be repeated"));
}

}  // namespace
}  // namespace hone::tools::options_test
