#include "tools/console/completion.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tools/console/command.hpp"

namespace hone::tools::completion_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// What bash offers for the last of these words, in a folder without files.
std::vector<std::string> offered(const std::vector<std::string>& words) {
    const test::TemporaryFolder folder;
    std::string line;
    for (const std::string& word : words) line += " '" + word + "'";
    replace_file(folder.path() / "ask",
                 fmt::format("{}\nmkdir {}/empty && cd {}/empty\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_hone\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                             bash_completion(), folder.path().string(), folder.path().string(), line, words.size() - 1));
    const ProcessResult result = run_process({find_program("bash"), (folder.path() / "ask").string()}, 20);
    EXPECT_TRUE(result.ok()) << result.failure() << result.output;
    std::istringstream stream(result.output);
    std::vector<std::string> found;
    for (std::string word; stream >> word;) found.push_back(word);
    return found;
}

TEST(Completion, BashOffersCommandsOptionsFamiliesParametersAndValues) {
    if (find_program("bash").empty()) GTEST_SKIP() << "there is no bash";
    EXPECT_THAT(offered({"hone", "sho"}), testing::ElementsAre("show"));
    EXPECT_THAT(offered({"hone", ""}), Contains("tune"));
    EXPECT_THAT(offered({"hone", ""}), Not(Contains("worker")));
    EXPECT_THAT(offered({"hone", "show", "--be"}), testing::ElementsAre("--below"));
    EXPECT_THAT(offered({"hone", "show", "--sort", ""}), testing::UnorderedElementsAre("gain", "ceiling", "rate", "age"));
    EXPECT_THAT(offered({"hone", "tune", "dg_vol"}), testing::ElementsAre("dg_volume"));
    EXPECT_THAT(offered({"hone", "tune", "dg_volume", "equat"}), testing::ElementsAre("equation="));
    EXPECT_THAT(offered({"hone", "tune", "dg_volume", "equation", "="}), Contains("maxwell_3d"));
    EXPECT_THAT(offered({"hone", "tune", "dg_volume", "equation", "=", "max"}), testing::IsSupersetOf({"maxwell_3d", "maxwell_2d_tm"}));
    EXPECT_THAT(offered({"hone", "tune", "dg_volume", "elements", "=", ""}), testing::IsEmpty());
    EXPECT_THAT(offered({"hone", "db", "val"}), testing::ElementsAre("validate"));
    EXPECT_THAT(offered({"hone", "completion", "f"}), testing::ElementsAre("fish"));
}

TEST(Completion, FishOffersCommandsFamiliesAndOptions) {
    const std::string fish = find_program("fish");
    if (fish.empty()) GTEST_SKIP() << "there is no fish";
    const test::TemporaryFolder folder;
    replace_file(folder.path() / "hone.fish", fish_completion());
    const std::string ask = "source " + (folder.path() / "hone.fish").string() +
                            "; complete -C 'hone sho'; complete -C 'hone plot gr'; complete -C 'hone tune dg_vol'; complete -C 'hone show --be'";
    const test::EnvironmentVariable home("HOME", folder.path().string().c_str());
    const ProcessResult result = run_process({fish, "--no-config", "-c", ask}, 20);
    EXPECT_TRUE(result.ok()) << result.failure() << result.output;
    for (const char* const offered : {"show\t", "greenup", "dg_volume", "--below\t"}) EXPECT_THAT(result.output, HasSubstr(offered));
}

TEST(Completion, EveryTextHasEveryCommandAndOption) {
    for (const std::string& text : {bash_completion(), zsh_completion(), fish_completion(), manual_page("1.2.3")})
        for (const Command& command : commands()) {
            if (command.hidden) {
                EXPECT_THAT(text, Not(HasSubstr("hone " + command.name)));
                continue;
            }
            EXPECT_THAT(text, HasSubstr(command.name));
            Options options(command.name);
            command.declare(options);
            for (const auto& option : options.descriptions()) {
                std::string escaped;
                for (const char c : option.name) escaped += c == '-' ? "\\-" : std::string(1, c);
                EXPECT_TRUE(text.find(option.name) != std::string::npos || text.find(escaped) != std::string::npos)
                    << command.name << " " << option.name;
            }
        }
}

// Shells and groff read their texts themselves, where they are installed.
TEST(Completion, IsAcceptedByWhatReadsIt) {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "text").string();
    const auto expect_read = [&](const std::string& text, const std::string& program, const std::vector<std::string>& options) {
        if (find_program(program).empty()) return;
        replace_file(file, text);
        std::vector<std::string> words{find_program(program)};
        words.insert(words.end(), options.begin(), options.end());
        words.push_back(file);
        const ProcessResult result = run_process(words, 20);
        EXPECT_TRUE(result.ok()) << program << ": " << result.failure();
        EXPECT_THAT(result.output, Not(HasSubstr("warning"))) << program;
        EXPECT_THAT(result.output, Not(HasSubstr("error"))) << program;
    };
    expect_read(bash_completion(), "bash", {"-n"});
    expect_read(zsh_completion(), "zsh", {"-n"});
    expect_read(fish_completion(), "fish", {"-n"});
    expect_read(manual_page("1.2.3"), "groff", {"-man", "-Tutf8", "-wall", "-z"});
}

TEST(Completion, ManualSaysWhatTheHelpSays) {
    const std::string page = manual_page("1.2.3");
    EXPECT_THAT(page, HasSubstr("hone 1.2.3"));
    EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS"));
    EXPECT_THAT(page, HasSubstr("\\fBHONE_DB\\fR"));
    EXPECT_THAT(page, HasSubstr("\\fB\\-v, \\-\\-verbose\\fR"));
}

TEST(Completion, CommandPrintsOrWritesOne) {
    EXPECT_EQ(test::ask({"completion", "bash"}).out, bash_completion());
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "hone.fish";
    EXPECT_EQ(test::ask({"completion", "fish", "--output", file.string()}).code, Exit::ok);
    EXPECT_EQ(read_file(file, 1 << 20), fish_completion());
    EXPECT_THAT(test::ask({"completion", "fih"}).error, HasSubstr("did you mean fish?"));
    EXPECT_EQ(test::ask({"completion"}).code, Exit::wrong_input);
}

}  // namespace
}  // namespace hone::tools::completion_test
