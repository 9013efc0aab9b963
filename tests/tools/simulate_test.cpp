// `hone simulate`, `hone convert` and `hone space --t1`, called as the command line calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/process.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tuner/formats/parameter_values.hpp"
#include "tuner/journal.hpp"
#include "tuner/recorded_space.hpp"
#include "tuner/strategy.hpp"
#include "tuning_db/file_store.hpp"

namespace hone::tools::simulate_test {
namespace {

using test::Answer;
using test::ask;
using ::testing::HasSubstr;

const std::string spaces = test::source_path("tests/spaces/");
const std::string small = spaces + "coulomb3d__RTX_2080_Ti__T4.json.gz";
const std::string pnpoly = spaces + "pnpoly__RTX_3090.json.gz";

TEST(SimulateCommand, PrintsATableForEachSpaceAndTheirMean) {
    const Answer answer = ask({"simulate", small, pnpoly, "--strategy", "random,local_search", "--repetitions", "4", "--evaluations", "30"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    for (const char* part : {"coulomb3d__RTX_2080_Ti__T4", "4 092 configurations, 318 of them invalid; optimum 8.71 ms", "random, exact",
                             "local_search", "mean over 2 spaces", "score from 6 to 181 evaluations"})
        EXPECT_THAT(answer.out, HasSubstr(part));
    EXPECT_EQ(answer.error, "");
}

TEST(SimulateCommand, ItsDocumentHoldsTheCurves) {
    const Answer answer = ask({"simulate", small, "--strategy", "all", "--repetitions", "3", "--json"});
    ASSERT_EQ(answer.code, Exit::ok) << answer.error;
    const auto document = nlohmann::json::parse(answer.out);
    EXPECT_EQ(document["repetitions"], 3);
    const auto& space = document["spaces"][0];
    EXPECT_EQ(space["configurations"], 210);
    EXPECT_EQ(space["strategies"].size(), strategies().size() + 1);
    for (std::size_t i = 1; i < space["strategies"].size(); ++i) {
        const auto& strategy = space["strategies"][i];
        EXPECT_EQ(strategy["strategy"], strategies()[i - 1].name);
        EXPECT_EQ(strategy["fraction_of_optimum"]["400"], 1.0) << "the space has 210 configurations";
        double before = std::numeric_limits<double>::infinity();
        for (const auto& point : strategy["best_seconds"]) {
            EXPECT_LE(point["percentile_10"], point["median"]);
            EXPECT_LE(point["median"], point["percentile_90"]);
            EXPECT_LE(point["median"].get<double>(), before);
            before = point["median"];
        }
    }
}

// A search that measured a tenth of a space finds the best of this tenth: 1.000 without a word would be taken for the optimum.
TEST(SimulateCommand, SaysThatAJournalHoldsAPartOfItsSpace) {
    const test::TemporaryFolder folder;
    JournalText journal;
    journal.run.problem = "landscape";
    journal.run.strategy = "local_search";
    journal.run.members = 400;
    for (int i = 0; i < 40; ++i)
        journal.entries.push_back({JournalEntry::Kind::evaluation, 0, i, false, "t=" + std::to_string(i), measurement(1e-3 * (1 + i), {})});
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
    EXPECT_THAT(ask({"simulate", small, "--repetitions", "3"}).out, testing::Not(HasSubstr("a part")));
}

TEST(SimulateCommand, DrawsAPicture) {
    if (find_program("gnuplot").empty()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    const std::string picture = (folder.path() / "curves.svg").string();
    const Answer answer = ask({"simulate", small, "--strategy", "random", "--repetitions", "3", "--plot", picture});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(read_file(picture, 1 << 24), HasSubstr("coulomb3d"));
}

TEST(SimulateCommand, AnswersAMistakeBeforeAnyWork) {
    for (const auto& [words, part] :
         std::vector<std::pair<std::vector<std::string>, std::string>>{{{"simulate"}, "no file is named"},
                                                                       {{"simulate", "/absent.json"}, "/absent.json"},
                                                                       {{"simulate", spaces + "README.md"}, "README.md:1: "},
                                                                       {{"simulate", small, "--strategy", "randon"}, "did you mean random?"},
                                                                       {{"simulate", small, "--repetitions", "0"}, "whole number from 1"},
                                                                       {{"simulate", small, "--repetitions", "1000000000"}, "from 1 to 100000"},
                                                                       {{"simulate", small, "--plot", "x.pdf"}, "neither .png nor .svg"},
                                                                       {{"convert", small}, "--to with one of"},
                                                                       {{"convert", small, "--to", "kernel_tunr"}, "did you mean kernel_tuner?"},
                                                                       {{"convert", "--to", "t4"}, "0 files are named"},
                                                                       {{"space", "--t1", small}, "it has no ConfigurationSpace"}}) {
        const Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::wrong_input) << testing::PrintToString(words);
        EXPECT_EQ(answer.out, "");
        EXPECT_THAT(answer.error, HasSubstr(part));
    }
}

TEST(ConvertCommand, EveryFormatIsReadAgain) {
    const test::TemporaryFolder folder;
    const RecordedSpace space = read_recorded_space(pnpoly);
    for (const char* format : {"kernel_tuner", "t4", "journal"}) {
        const std::string output = (folder.path() / (std::string(format) + ".gz")).string();
        const Answer answer = ask({"convert", pnpoly, "--to", format, "--output", output});
        ASSERT_EQ(answer.code, Exit::ok) << answer.error;
        EXPECT_THAT(answer.error, HasSubstr("4 092 configurations, 318 of them invalid"));
        EXPECT_EQ(read_recorded_space(output).costs(), space.costs()) << format;
        EXPECT_EQ(read_recorded_space(output).members(), space.members()) << format;
    }
    EXPECT_NO_THROW(nlohmann::json::parse(ask({"convert", small, "--to", "t1"}).out));
}

TEST(SpaceCommand, CountsWhatT1Describes) {
    const Answer answer = ask({"space", "--t1", spaces + "t1/dedispersion_milo.json"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("dedispersion_kernel"));
    EXPECT_THAT(answer.out, HasSubstr("11 130 of 22 272"));
    EXPECT_THAT(answer.out, HasSubstr("tile_size_x > 1 or tile_stride_x == 0"));
    EXPECT_EQ(ask({"space", "--t1", "x", "gauss_seidel_27"}).code, Exit::wrong_input);
}

}  // namespace
}  // namespace hone::tools::simulate_test
