// Commands called directly, without a process of their own: quick, and every family's and command's text is looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "generator/families.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/command.hpp"
#include "tools/json.hpp"

namespace hone::tools {
namespace {

using test::Answer;
using test::ask;
using testing::HasSubstr;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::vector<std::string> with(const std::string& command, const std::string& rest) {
    return words_of(command + " " + rest);
}

const std::string stencil = "gauss_seidel_27 stencil=constant precision=f32 nx=64 ny=64 nz=64";
const std::string volume = "dg_volume equation=maxwell_3d order=3 precision=f64 elements=1000";

TEST(Commands, OverviewNamesEveryCommandAndExitCode) {
    const Answer answer = ask({});
    EXPECT_EQ(answer.code, Exit::ok);
    for (const auto& command : commands())
        EXPECT_EQ(answer.out.find("\n  " + command.name + " ") != std::string::npos, !command.hidden) << command.name;
    EXPECT_EQ(ask({"--help"}).out, answer.out);
    EXPECT_EQ(ask({"help"}).out, answer.out);
    EXPECT_THAT(ask({"--version"}).out, HasSubstr("hone "));
}

TEST(Commands, HelpTeachesWithExamples) {
    for (const auto& command : commands()) {
        const Answer answer = ask({command.name, "--help"});
        EXPECT_EQ(answer.code, Exit::ok);
        EXPECT_EQ(ask({"help", command.name}).out, answer.out);
        Options options(command.name);
        command.declare(options);
        for (const auto& name : options.names()) EXPECT_THAT(answer.out, HasSubstr(name));
        EXPECT_TRUE(command.hidden || !command.examples.empty()) << command.name;
        for (const auto& [line, explanation] : command.examples) EXPECT_THAT(answer.out, HasSubstr("hone " + line));
    }
}

// The manual is kept up to date by this test.
TEST(Commands, ManualNamesEveryCommandAndOption) {
    std::ostringstream text;
    text << std::ifstream(HONE_SOURCE_FOLDER "/docs/command-line.md").rdbuf();
    for (const auto& command : commands()) {
        if (command.hidden) continue;
        EXPECT_THAT(text.str(), HasSubstr("## hone " + command.name));
        Options options(command.name);
        command.declare(options);
        for (const auto& name : options.names()) EXPECT_THAT(text.str(), HasSubstr("`" + name)) << command.name;
    }
}

// A message of an example that does not parse would teach the wrong thing.
TEST(Commands, ExamplesUseOptionsAndFamiliesThatExist) {
    for (const auto& command : commands())
        for (const auto& [line, explanation] : command.examples) {
            std::vector<std::string> words = words_of(line.substr(0, line.find(" >")));
            ASSERT_EQ(words.front(), command.name);
            words.erase(words.begin());
            Options options(command.name);
            const Action action = command.declare(options);
            EXPECT_NO_THROW(options.parse(words)) << line;
        }
}

TEST(Commands, AnswersAMisspeltWordWithTheNearest) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"spaec", "did you mean space?"},
        {"lokup " + stencil, "did you mean lookup?"},
        {"space gaus_seidel_27 stencil=constant", "did you mean gauss_seidel_27?"},
        {"space gauss_seidel_27 stencl=constant", "did you mean stencil?"},
        {"space gauss_seidel_27 stencil=constnt precision=f32 nx=8 ny=8 nz=8", "did you mean constant?"},
        {"space " + stencil + " --devcie cpu", "did you mean --device?"},
        {"space " + stencil + " --device cpv", "did you mean cpu?"},
        {"emit " + stencil + " --target cpu --config y_blok=4", "did you mean y_block?"},
        {"families dg_volum", "did you mean dg_volume?"}};
    for (const auto& [line, expected] : cases) {
        const Answer answer = ask(words_of(line));
        EXPECT_EQ(answer.code, Exit::wrong_input) << line;
        EXPECT_THAT(answer.error, HasSubstr(expected)) << line;
        EXPECT_EQ(answer.out, "") << line;
    }
}

TEST(Commands, FamiliesListsParametersAsTextAndJson) {
    const Answer text = ask({"families"});
    const Json document = Json::parse(ask({"families", "--json"}).out);
    ASSERT_FALSE(document["families"].empty());
    for (const auto& family : built_in_families()) {
        EXPECT_THAT(text.out, HasSubstr(family.name + ": "));
        EXPECT_THAT(text.out, HasSubstr(family.example));
    }
    EXPECT_EQ(std::ssize(document["families"]), std::distance(built_in_families().begin(), built_in_families().end()));
}

TEST(Commands, SpaceCountsAddUp) {
    for (const std::string target : {"--target cpu", "--target cuda --arch sm_80", "--target cuda --arch sm_100"})
        for (const auto& problem : {stencil, volume}) {
            const Json document = Json::parse(ask(with("space", problem + " --json " + target)).out);
            const Json& space = document["spaces"].at(0);
            std::int64_t rejected = 0;
            for (const auto& row : space["rejected"]) {
                rejected += row["count"].get<std::int64_t>();
                EXPECT_NE(row["reason"], "");
            }
            EXPECT_EQ(space["members"].get<std::int64_t>() + rejected, space["product"].get<std::int64_t>()) << problem << target;
            EXPECT_GT(space["members"], 0);
        }
}

TEST(Commands, SpaceListsPagesOfMembers) {
    const auto list = [](const std::string& rest) {
        return Json::parse(ask(with("space", stencil + " --target cuda --list --json " + rest)).out)["spaces"][0]["list"];
    };
    EXPECT_EQ(list("--limit 5").size(), 5U);
    EXPECT_EQ(list("--limit 5")[3], list("--limit 2 --skip 3")[0]);
    EXPECT_EQ(list("--skip 100000000").size(), 0U);
}

TEST(Commands, SpaceExplainsAConfiguration) {
    const auto explain = [](const std::string& config) {
        const Answer answer = ask(with("space", stencil + " --target cuda --json --config " + config));
        return Json::parse(answer.out)["spaces"][0]["explained"][0];
    };
    EXPECT_TRUE(explain("block_x=32")["member"]);
    const Json rejected = explain("block_x=128,block_y=16");  // 2048 threads
    EXPECT_FALSE(rejected["member"]);
    EXPECT_THAT(rejected["rejected"]["reason"].get<std::string>(), HasSubstr("2048"));
}

TEST(Commands, EmitPrintsTheSourceAndNothingElse) {
    for (const std::string target : {"--target cpu", "--target cuda --arch sm_90"}) {
        const Answer answer = ask(with("emit", volume + " " + target));
        EXPECT_EQ(answer.code, Exit::ok);
        EXPECT_EQ(answer.error, "");
        EXPECT_EQ(ask(with("emit", volume + " " + target)).out, answer.out);
        const Json document = Json::parse(ask(with("emit", volume + " --json " + target)).out);
        EXPECT_EQ(document["text"], answer.out);
        EXPECT_FALSE(document["step"].empty());
        EXPECT_THAT(ask(with("emit", volume + " --plan " + target)).out, HasSubstr("one time step"));
    }
}

TEST(Commands, EmitRefusesWhatIsNoMember) {
    const Answer answer = ask(with("emit", stencil + " --target cuda --config block_x=128,block_y=16"));
    EXPECT_EQ(answer.code, Exit::wrong_input);
    EXPECT_THAT(answer.error, HasSubstr("2048 threads"));
}

TEST(Commands, TargetOptionsThatContradictAreRefused) {
    EXPECT_EQ(ask(with("space", stencil + " --device cpu --target cuda")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --target cpu --arch sm_90")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --target cuda --arch hopper")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --device cuda:x")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --device cuda:977")).code, Exit::missing);
}

TEST(Commands, DevicesAndDoctorAnswerInJson) {
    const test::OwnFolders own;
    const Answer devices = ask({"devices", "--json"});
    EXPECT_EQ(devices.code, Exit::ok);  // the processor is always there
    EXPECT_GE(Json::parse(devices.out)["devices"].size(), 1U);
    const Answer doctor = ask({"doctor", "--json"});
    EXPECT_EQ(doctor.code, Exit::ok);
    for (const auto& finding : Json::parse(doctor.out)["findings"])
        EXPECT_TRUE(finding["found"] == true || !finding["remedy"].get<std::string>().empty()) << finding["what"];
}

TEST(Commands, EmptyDatabaseIsAnAnswerWithoutResult) {
    const test::OwnFolders own;
    EXPECT_EQ(ask({"show"}).code, Exit::nothing);
    const Answer shown = ask({"show", "--json"});
    EXPECT_EQ(shown.code, Exit::nothing);
    EXPECT_TRUE(Json::parse(shown.out)["devices"].empty());
    const Answer found = ask(with("lookup", stencil + " --device cpu --json"));
    EXPECT_EQ(found.code, Exit::nothing);
    EXPECT_EQ(Json::parse(found.out)["matches"][0]["grade"], "none");
    EXPECT_EQ(ask({"show", "--db", (own.folder.path() / "absent").string()}).code, Exit::wrong_input);
}

TEST(Commands, TuneRefusesWrongWordsBeforeItStarts) {
    const test::OwnFolders own;
    const std::vector<std::pair<std::string, std::string>> cases{{"--budget 5x", "30s"},
                                                                 {"--budget 0s", "no time"},
                                                                 {"--strategy randm", "did you mean random?"},
                                                                 {"--samples 2", "from 6"},
                                                                 {"--evaluations -3", "--evaluations"}};
    for (const auto& [rest, expected] : cases) {
        const Answer answer = ask(with("tune", stencil + " --device cpu " + rest));
        EXPECT_EQ(answer.code, Exit::wrong_input) << rest;
        EXPECT_THAT(answer.error, HasSubstr(expected)) << rest;
    }
}

}  // namespace
}  // namespace hone::tools
