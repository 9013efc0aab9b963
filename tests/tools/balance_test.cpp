// `hone balance` and what `hone lookup` knows afterwards, with the processor as both devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/command.hpp"
#include "tools/console/json.hpp"

namespace hone::tools::balance_test {
namespace {

using test::Answer;
using test::ask;
using testing::HasSubstr;

const std::string problem = "gauss_seidel_27 stencil=constant precision=f32 nx=30 ny=20 nz=24";

Answer answer_to(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return ask(words);
}

TEST(SlowBalanceCommand, FindsAShareThatLookupKnows) {
    const test::OwnFolders own;
    // Results of one device may ship for this processor, of shared steps none.
    const Json before = Json::parse(answer_to("lookup " + problem + " --device cpu --partner cpu --json").out)["matches"][0];
    EXPECT_EQ(before["hybrid"]["grade"], "none");
    const Answer found = answer_to("balance " + problem + " --devices cpu,cpu --period 5 --periods 100 --sweep 2 --energy --json");
    ASSERT_EQ(found.code, Exit::ok) << found.error;
    const Json document = Json::parse(found.out);
    EXPECT_TRUE(document["settled"]);
    EXPECT_EQ(document["sweep"].size(), 3U);
    EXPECT_EQ(document["energy"].size(), 3U);
    EXPECT_EQ(document["periods"][0]["share"], 1.0);
    EXPECT_THAT(found.error, HasSubstr("share"));
    const double share = document["share"];
    EXPECT_TRUE(0 <= share && share <= 1);

    const Answer known = answer_to("lookup " + problem + " --device cpu --partner cpu --json");
    EXPECT_EQ(known.code, Exit::ok) << known.error;
    const Json match = Json::parse(known.out)["matches"][0];
    EXPECT_EQ(match["hybrid"]["grade"], "exact");
    EXPECT_DOUBLE_EQ(match["hybrid"]["share"], share);
    EXPECT_EQ(match["grade"], before["grade"]) << "a shared step says nothing about one device";
    EXPECT_THAT(answer_to("lookup " + problem + " --device cpu --partner cpu").out, HasSubstr("the rest on cpu"));

    // The next run begins there, so its first period is its last unless something changed
    // meanwhile.
    const Answer again = answer_to("balance " + problem + " --devices cpu,cpu --period 5 --periods 1");
    EXPECT_THAT(again.out, HasSubstr("settled in 1"));
    EXPECT_THAT(again.out, HasSubstr("largest error"));
}

TEST(BalanceCommand, RefusesWrongWordsBeforeItStarts) {
    const test::OwnFolders own;
    for (const auto& [rest, expected] : {std::pair<std::string, std::string>{"--devices cpu", "two devices"},
                                         {"--devices cpu,cpu,cpu", "two devices"},
                                         {"--devices cpu,npu", "npu"},
                                         {"--devices cpu,cpu --period 2", "--period"},
                                         {"--devices cpu,cpu --config z_blok=2", "z_block"}}) {
        const Answer answer = answer_to("balance " + problem + " " + rest);
        EXPECT_EQ(answer.code, Exit::wrong_input) << rest << answer.error;
        EXPECT_THAT(answer.error, HasSubstr(expected)) << rest;
    }
    const Answer nowhere = answer_to("balance " + problem + " --devices cpu,cpu --db /proc/absent/db");
    EXPECT_EQ(nowhere.code, Exit::wrong_input);
    EXPECT_THAT(nowhere.error, testing::StartsWith("hone: /proc/absent: the folder cannot be made"));
}

}  // namespace
}  // namespace hone::tools::balance_test
