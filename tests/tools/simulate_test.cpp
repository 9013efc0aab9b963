// `hone simulate`, `hone convert` and `hone space --t1`, called as the command line calls them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tools/console/format.hpp"
#include "tuner/journal.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuner/replay/recorded_space.hpp"
#include "tuner/strategy.hpp"

namespace hone::tools::simulate_test {
namespace {

using test::Answer;
using test::ask;
using ::testing::HasSubstr;

const std::string spaces = test::source_path("tests/spaces/");
const std::string small = spaces + "gauss_seidel_27_variable_f64.space.gz";
const std::string larger = spaces + "dg_volume_3_f64.space.gz";
const std::string largest = spaces + "dg_volume_5_f32.space.gz";

std::size_t members_of(const std::string& file) {
    return read_recorded_space(file).members().size();
}

TEST(SimulateCommand, PrintsATableForEachSpaceAndTheirMean) {
    const Answer answer = ask({"simulate", small, larger, "--strategy", "random,local_search", "--repetitions", "4", "--evaluations", "30"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    const RecordedSpace space = read_recorded_space(larger);
    for (const std::string& part : {std::string("gauss_seidel_27_variable_f64: gauss_seidel_27 stencil=variable"),
                                    fmt::format("{} configurations, {} of them invalid; optimum {}", space.members().size(),
                                                std::ssize(space.members()) - space.valid(), duration(space.optimum())),
                                    std::string("random, exact"), std::string("local_search"), std::string("mean over 2 spaces"),
                                    std::string("form=covariant,min_blocks=1,padding=1")})
        EXPECT_THAT(answer.out, HasSubstr(part));
}

// A table tells of no more evaluations than there were; a mean also of those that a space was
// exhausted by before, which its optimum stands for.
TEST(SimulateCommand, TellsOfNoMoreEvaluationsThanThereWere) {
    ASSERT_GT(members_of(small), 100U);
    ASSERT_LT(members_of(small), 200U);
    ASSERT_GT(members_of(largest), 400U);
    const auto simulated = [](std::vector<std::string> words) {
        words.insert(words.begin(), "simulate");
        words.insert(words.end(), {"--strategy", "random", "--repetitions", "2"});
        const Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::ok) << answer.error;
        return answer.out;
    };
    const std::string exhausted = simulated({small});
    EXPECT_THAT(exhausted, HasSubstr("after 100"));
    EXPECT_THAT(exhausted, testing::Not(HasSubstr("after 200")));
    const std::string both = simulated({small, largest});
    EXPECT_THAT(both.substr(both.find("mean over")), HasSubstr("after 400"));
    // Where the score needs more, more are simulated: so many that it does not.
    const auto document = nlohmann::json::parse(simulated({largest, "--evaluations", "30", "--json"}));
    const std::int64_t needed = document["spaces"][0]["score_to"];
    const std::string few = simulated({largest, "--evaluations", "30"});
    for (const std::int64_t budget : {25, 50, 100, 200, 400}) {
        const bool told = budget <= std::max<std::int64_t>(30, needed);
        EXPECT_EQ(few.find(fmt::format("after {} ", budget)) != std::string::npos, told) << needed;
        for (const auto& rows : {document["spaces"][0]["strategies"], document["mean"]})
            for (const auto& row : rows) EXPECT_EQ(row["fraction_of_optimum"][std::to_string(budget)].is_number(), told) << needed << row;
    }
}

TEST(SimulateCommand, ReadsTheSpacesOfAFolderOrOfTheEnvironment) {
    const test::TemporaryFolder folder;
    std::filesystem::copy_file(small, folder.path() / "one.space.gz");
    std::filesystem::copy_file(larger, folder.path() / "two.space.gz");
    replace_file(folder.path() / "README.md", "no space");
    const std::vector<std::string> options{"--strategy", "random", "--repetitions", "2", "--evaluations", "25", "--json"};
    const auto names = [&](std::vector<std::string> words) {
        words.insert(words.end(), options.begin(), options.end());
        const Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::ok) << answer.error;
        std::vector<std::string> read;
        const auto document = nlohmann::json::parse(answer.out);
        for (const auto& space : document["spaces"]) read.push_back(space["name"]);
        return read;
    };
    EXPECT_EQ(names({"simulate", folder.path().string()}), (std::vector<std::string>{"one", "two"}));
    {
        const test::EnvironmentVariable spaces_folder("HONE_SPACES", folder.path().string());
        EXPECT_EQ(names({"simulate"}), (std::vector<std::string>{"one", "two"}));
        EXPECT_EQ(names({"simulate", small}), std::vector<std::string>{"gauss_seidel_27_variable_f64"});
    }
    std::filesystem::remove(folder.path() / "one.space.gz");
    std::filesystem::remove(folder.path() / "two.space.gz");
    EXPECT_THAT(ask({"simulate", folder.path().string()}).error, HasSubstr("has no measured spaces"));
}

TEST(SimulateCommand, PassesOverWhatHoldsNothingToSearch) {
    const test::TemporaryFolder folder;
    const std::string empty = (folder.path() / "a.jsonl").string(), failed = (folder.path() / "b.jsonl").string();
    JournalText journal;
    journal.run.problem = "gauss_seidel_27 stencil=constant";
    replace_file(empty, journal_text(journal));
    journal.entries.push_back(
        {JournalEntry::Kind::evaluation, 1, 0, Candidate::Purpose::search, "block_x=32", failure(Status::compile_failed, "made up")});
    replace_file(failed, journal_text(journal));
    const std::vector<std::string> options{"--strategy", "random", "--repetitions", "2", "--json"};
    const auto simulated = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "simulate");
        words.insert(words.end(), options.begin(), options.end());
        return ask(words);
    };
    EXPECT_EQ(simulated({empty}).code, Exit::wrong_input) << "there is no other";
    EXPECT_EQ(simulated({folder.path().string()}).code, Exit::nothing);
    std::filesystem::copy_file(small, folder.path() / "c.space.gz");
    const Answer answer = simulated({folder.path().string()});
    ASSERT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_EQ(nlohmann::json::parse(answer.out)["spaces"].size(), 1U);
    EXPECT_THAT(answer.error, testing::AllOf(HasSubstr(empty + " is passed over: "), HasSubstr(failed + " is passed over: ")));
}

TEST(SimulateCommand, SaysWhereRunsGotStuck) {
    const std::vector<std::string> words{"simulate", larger, "--strategy", "random", "--repetitions", "5", "--evaluations", "30", "--stuck", "20"};
    const Answer answer = ask(words);
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("Where the runs stood after 20 evaluations"));
    std::vector<std::string> with_json = words;
    with_json.emplace_back("--json");
    const auto space = nlohmann::json::parse(ask(with_json).out)["spaces"][0];
    int repetitions = 0;
    for (const auto& stuck : space["strategies"][1]["stuck"]) {
        repetitions += stuck["repetitions"].get<int>();
        EXPECT_EQ(stuck["excess"] == 0.0, stuck["differs_in"].empty());
        EXPECT_THAT(stuck["configuration"].get<std::string>(), HasSubstr("form=covariant"));
    }
    EXPECT_EQ(repetitions, 5);
    EXPECT_GT(space["strategies"][1]["score_error"], 0.0);
    EXPECT_FALSE(space["strategies"][0].contains("score_error")) << "random search is exact";
}

TEST(SimulateCommand, ItsDocumentHoldsTheCurves) {
    const Answer answer = ask({"simulate", small, "--strategy", "all", "--repetitions", "3", "--json"});
    ASSERT_EQ(answer.code, Exit::ok) << answer.error;
    const auto document = nlohmann::json::parse(answer.out);
    EXPECT_EQ(document["repetitions"], 3);
    const auto& space = document["spaces"][0];
    EXPECT_EQ(space["configurations"], members_of(small));
    EXPECT_EQ(space["strategies"].size(), strategies().size() + 1);
    for (std::size_t i = 1; i < space["strategies"].size(); ++i) {
        const auto& strategy = space["strategies"][i];
        EXPECT_EQ(strategy["strategy"], strategies()[i - 1].name);
        EXPECT_EQ(strategy["fraction_of_optimum"]["400"], 1.0) << "the space has fewer configurations";
        double before = std::numeric_limits<double>::infinity();
        for (const auto& point : strategy["best_seconds"]) {
            EXPECT_LE(point["percentile_10"], point["median"]);
            EXPECT_LE(point["median"], point["percentile_90"]);
            EXPECT_LE(point["median"].get<double>(), before);
            before = point["median"];
        }
    }
}

// A search that measured a tenth of a space finds the best of this tenth: 1.000 without a word
// would be taken for the optimum.
TEST(SimulateCommand, SaysThatAJournalHoldsAPartOfItsSpace) {
    const test::TemporaryFolder folder;
    JournalText journal;
    journal.run.problem = "landscape";
    journal.run.strategy = "local_search";
    journal.run.members = 400;
    for (int i = 0; i < 40; ++i)
        journal.entries.push_back(
            {JournalEntry::Kind::evaluation, 0, i, Candidate::Purpose::search, "t=" + std::to_string(i), measurement(1e-3 * (1 + i), {})});
    journal.entries.push_back({.kind = JournalEntry::Kind::done});
    const std::string file = (folder.path() / "part.jsonl").string();
    replace_file(file, journal_text(journal));
    const Answer answer = ask({"simulate", file, "--repetitions", "3"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("This is 10 % of the space (40 of 400 configurations), chosen by the run's own search (local_search)"));
    EXPECT_THAT(answer.error, HasSubstr("holds a part of its space only"));
    const auto space = nlohmann::json::parse(ask({"simulate", file, "--repetitions", "3", "--json"}).out)["spaces"][0];
    EXPECT_EQ(space["whole"], false);
    EXPECT_DOUBLE_EQ(space["coverage"], 0.1);

    journal.run.members = 0;
    replace_file(file, journal_text(journal));
    EXPECT_THAT(ask({"simulate", file, "--repetitions", "3"}).out, HasSubstr("This is a part of the space, and not known how large a one"));
    EXPECT_EQ(nlohmann::json::parse(ask({"simulate", file, "--repetitions", "3", "--json"}).out)["spaces"][0]["coverage"], nullptr);
    journal.run.members = 40;
    replace_file(file, journal_text(journal));
    EXPECT_THAT(ask({"simulate", file, "--repetitions", "3"}).out, testing::Not(HasSubstr("a part")));
}

TEST(SimulateCommand, SaysWhenRunsEndThatWaitForAGain) {
    const Answer answer = ask({"simulate", larger, "--strategy", "surrogate,random", "--repetitions", "3", "--until", "1%"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("Runs that ended when hardly 1 % seemed left to gain"));
    const auto space = nlohmann::json::parse(
        ask({"simulate", larger, "--strategy", "surrogate,random", "--repetitions", "3", "--until", "1%", "--json"}).out)["spaces"][0];
    EXPECT_GT(space["strategies"][1]["until"]["ended"], 0);
    EXPECT_GT(space["strategies"][1]["until"]["fraction_of_optimum"], 0.9);
    EXPECT_EQ(space["strategies"][2]["until"]["ended"], 0) << "random search has no model";
}

TEST(SimulateCommand, DrawsAPicture) {
    if (find_program("gnuplot").empty()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    const std::string picture = (folder.path() / "curves.svg").string();
    const Answer answer = ask({"simulate", small, "--strategy", "random", "--repetitions", "3", "--plot", picture});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(read_file(picture, 1 << 24), HasSubstr("gauss"));
}

TEST(SimulateCommand, AnswersAMistakeBeforeAnyWork) {
    const test::EnvironmentVariable no_spaces("HONE_SPACES", std::nullopt);
    for (const auto& [words, part] :
         std::vector<std::pair<std::vector<std::string>, std::string>>{{{"simulate"}, "no file is named"},
                                                                       {{"simulate", "/absent.json"}, "/absent.json"},
                                                                       {{"simulate", spaces + "README.md"}, "README.md:1: "},
                                                                       {{"simulate", small, "--strategy", "randon"}, "did you mean random?"},
                                                                       {{"simulate", small, "--repetitions", "0"}, "whole number from 1"},
                                                                       {{"simulate", small, "--until", "100"}, "write it as 1% or 0.5%"},
                                                                       {{"simulate", small, "--repetitions", "1000000000"}, "from 1 to 100000"},
                                                                       {{"simulate", small, "--plot", "x.pdf"}, "neither .png nor .svg"},
                                                                       {{"convert", small}, "--to with one of"},
                                                                       {{"convert", small, "--to", "kernel_tunr"}, "did you mean kernel_tuner?"},
                                                                       {{"convert", "--to", "t4"}, "0 files are named"},
                                                                       {{"space", "--t1", spaces + "README.md"}, "README.md:1: "}}) {
        const Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::wrong_input) << testing::PrintToString(words);
        EXPECT_EQ(answer.out, "");
        EXPECT_THAT(answer.error, HasSubstr(part));
    }
}

TEST(ConvertCommand, EveryFormatIsReadAgain) {
    const test::TemporaryFolder folder;
    const RecordedSpace space = read_recorded_space(larger);
    for (const char* format : {"kernel_tuner", "t4", "journal", "space"}) {
        const std::string output = (folder.path() / (std::string(format) + ".gz")).string();
        const Answer answer = ask({"convert", larger, "--to", format, "--output", output});
        ASSERT_EQ(answer.code, Exit::ok) << answer.error;
        EXPECT_THAT(answer.error, HasSubstr(fmt::format("{} configurations, {} of them invalid", space.members().size(),
                                                        std::ssize(space.members()) - space.valid())));
        const RecordedSpace again = read_recorded_space(output);
        EXPECT_EQ(again.members().size(), space.members().size()) << format;
        EXPECT_EQ(again.valid(), space.valid()) << format;
        if (std::string(format) == "space") EXPECT_EQ(again.costs(), space.costs());
    }
    EXPECT_TRUE(nlohmann::json::accept(ask({"convert", small, "--to", "t1"}).out));
}

// Members counted by hand: of 4 x 3 x 2 configurations, those with at most 256 threads, and padding
// with shared memory only.
TEST(SpaceCommand, CountsWhatT1Describes) {
    const Answer answer = ask({"space", "--t1", spaces + "t1/tiled_sum.json"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    int members = 0;
    for (const int x : {16, 32, 64, 128})
        for (const int y : {1, 4, 8})
            for (const bool shared : {false, true})
                for (const int padding : {0, 1}) members += x * y <= 256 && (shared || padding == 0) ? 1 : 0;
    EXPECT_THAT(answer.out, HasSubstr("tiled_sum"));
    EXPECT_THAT(answer.out, HasSubstr(fmt::format("{} of 48", members)));
    EXPECT_THAT(answer.out, HasSubstr("shared or padding == 0"));
    EXPECT_EQ(ask({"space", "--t1", "x", "gauss_seidel_27"}).code, Exit::wrong_input);
}

}  // namespace
}  // namespace hone::tools::simulate_test
