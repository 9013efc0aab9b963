#include "tools/records/record_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::record_list_test {
namespace {

using test::ask;
using testing::HasSubstr;
using testing::Not;

Record record_of(const std::string& problem, double seconds, double fraction) {
    Record record;
    record.problem = built_in_families().parse_problem(problem);
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    record.step = {seconds, 0.999 * seconds, 1.001 * seconds, 0.99 * seconds, 40};
    record.counts = built_in_families().of(record.problem).counts(record.problem);
    record.verification_error = 0;
    record.tolerance = 1e-5;
    record.safe_seconds = 3 * seconds;
    record.ceiling_fraction = fraction;
    record.ceiling = "memory";
    record.strategy = "surrogate";
    record.evaluations = 17;
    record.date = utc_date();
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

Record volume(int order, double seconds = 1e-3, double fraction = 0.75) {
    return record_of(fmt::format("dg_volume equation=maxwell_3d order={} precision=f32 elements=1000", order), seconds, fraction);
}

std::string listed(const std::vector<Record>& records, const RecordListing& how) {
    std::ostringstream out;
    std::ostringstream error;
    Console console{out, error};
    list_records(records, how, console);
    return out.str();
}

int widest_line(const std::string& text) {
    std::istringstream lines(text);
    int widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
    return widest;
}

TEST(RecordList, WhatAllShareIsSaidOnceAndWhatDiffersIsAColumn) {
    const std::string text = listed({volume(2), volume(3), volume(5)}, {});
    EXPECT_THAT(text, HasSubstr("dg_volume equation=maxwell_3d precision=f32"));
    EXPECT_THAT(text, HasSubstr("elements=1000\n"));
    EXPECT_EQ(text.find("maxwell_3d"), text.rfind("maxwell_3d"));
    EXPECT_THAT(text, testing::ContainsRegex("\n +order +step +of ceiling +gain +G elements/s"));
    EXPECT_THAT(text, testing::ContainsRegex("\n +5 +1.00 ms ±0.1 % +75.0 % memory +3.00x"));
}

TEST(RecordList, FiguresAreLeftOutFromTheLeastImportantOnWhereThereIsLittleRoom) {
    const std::vector<Record> records{volume(2), volume(3)};
    std::string before = listed(records, {.width = 200});
    EXPECT_THAT(before, HasSubstr("GFLOP/s"));
    for (int width = 120; width >= 25; --width) {
        const std::string text = listed(records, {.width = width});
        EXPECT_LE(widest_line(text), width);
        EXPECT_LE(text.find("GFLOP/s") == std::string::npos ? 0 : 1, before.find("GFLOP/s") == std::string::npos ? 0 : 1);
        EXPECT_THAT(text, HasSubstr("1.00 ms")) << width;
        before = text;
    }
    EXPECT_THAT(before, Not(HasSubstr("GFLOP/s")));
}

// One line per problem with time, ceiling and gain on an ordinary terminal, though a family's
// problems differ in five words.
TEST(RecordList, FamiliesAreDividedWhereTimeCeilingAndGainWouldNotFit) {
    std::vector<Record> records;
    for (const char* const equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const char* const precision : {"f32", "f64"})
            for (int order = 1; order <= 4; ++order)
                records.push_back(record_of(
                    fmt::format("dg_volume equation={} order={} precision={} elements={}", equation, order, precision, 1000 * order), 1e-3, 0.5));
    const std::string text = listed(records, {.width = 72});
    EXPECT_LE(widest_line(text), 72);
    std::size_t lines = 0;
    for (std::size_t at = text.find("x\n"); at != std::string::npos; at = text.find("x\n", at + 1)) ++lines;
    EXPECT_EQ(lines, records.size()) << text;
    EXPECT_THAT(text, HasSubstr("dg_volume precision=f32"));
    EXPECT_THAT(text, testing::ContainsRegex("50.0 % memory +3.00x"));
    // An order that was asked for is kept, and few problems make no groups.
    EXPECT_THAT(listed(records, {.width = 72, .divisible = false}), Not(HasSubstr("dg_volume precision=f32")));
    EXPECT_THAT(listed({records[0], records[4], records[8]}, {.width = 72}), Not(HasSubstr("dg_volume precision=f32")));
}

TEST(RecordList, OfShippedRecordsNoLineIsWiderThanTheTerminalAndNoProblemIsLost) {
    const Database shipped = Database::load(test::source_path("tuning_db/records"), built_in_families());
    std::vector<Record> some;
    test::FreshRandom random;
    std::sample(shipped.records().begin(), shipped.records().end(), std::back_inserter(some), 40, random);
    for (const int width : {30, 40, 60, 80, 131}) {
        const std::string text = listed(some, {.width = width, .bars = true});
        EXPECT_LE(widest_line(text), width);
        std::size_t steps = 0;
        for (std::size_t at = text.find(" ±"); at != std::string::npos; at = text.find(" ±", at + 1)) ++steps;
        EXPECT_GE(steps, 1U);
        EXPECT_LE(steps, some.size());
    }
}

TEST(RecordList, VerboseTellsTheConfigurationWithinTheWidth) {
    const RecordListing how{.width = 50, .verbose = true};
    const std::string text = listed({volume(2)}, how);
    EXPECT_LE(widest_line(text), 50);
    std::string joined;
    for (const char c : text)
        if (c != ' ' && c != '\n') joined += c;
    EXPECT_THAT(joined, HasSubstr(volume(2).config.key()));
    EXPECT_THAT(text, HasSubstr("17 candidates by surrogate"));
    EXPECT_THAT(listed({volume(2)}, {}), Not(HasSubstr(volume(2).config.key())));
}

TEST(RecordList, SaysOfWhichRanksAnExchangeIs) {
    Record record = volume(2);
    record.purpose = "exchange";
    record.exchange = Exchange{"poisson", "NVLink, 18 links, between processes", 2, Config({{"edges", std::string("ahead")}}), 2.34e-3};
    EXPECT_THAT(listed({record}, {.width = 200}), testing::AllOf(HasSubstr("poisson of 2 ranks"), Not(HasSubstr("NVLink"))));
    EXPECT_THAT(listed({record}, {.width = 200, .verbose = true}),
                HasSubstr("poisson of 2 ranks over NVLink, 18 links, between processes: edges=ahead, as usual 2.34 ms"));
}

TEST(RecordList, ColumnsAreThoseThatWereAskedFor) {
    const std::string text = listed({volume(2)}, {.columns = find_columns("safe,date")});
    EXPECT_THAT(text, HasSubstr("3.00 ms  " + utc_date().substr(0, 10)));
    EXPECT_THAT(text, Not(HasSubstr("1.00 ms")));
    EXPECT_THROW(find_columns("safe,gian"), Error);
    EXPECT_THROW(find_columns(""), Error);
}

TEST(RecordList, RemarksSayWhatToKnowBeforeTrustingARecord) {
    Record record = volume(2);
    EXPECT_EQ(remark(record), "");
    EXPECT_THAT(listed({record}, {}), Not(HasSubstr("remarks")));
    record.step.low = 0.9 * record.step.median;
    EXPECT_EQ(remark(record), "unsure");
    record.disturbed = "the machine was busy";
    record.purpose = "energy";
    EXPECT_EQ(remark(record), "disturbed, unsure, for energy");
    EXPECT_THAT(listed({record, volume(3)}, {}), HasSubstr("  disturbed, unsure, for energy\n"));
    record.verification_error = 1;
    EXPECT_THAT(remark(record), HasSubstr("not verified"));
}

TEST(RecordList, HostileTextStaysText) {
    Record record = volume(2);
    record.counts.unit = "\x1b[2Jupdates\n\t";
    record.ceiling = "mem\x1b]0;title\x07ory";
    for (const int width : {0, 24, 80}) {
        const std::string text = listed({record, volume(3)}, {.width = width});
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        EXPECT_EQ(text.find('\x07'), std::string::npos);
    }
}

TEST(RecordList, CsvHasALinePerRecordAndQuotesWhatNeedsIt) {
    Record record = volume(2);
    record.device.name = "a \"fast\", large one\nwith a line";
    const std::string text = records_csv({record, volume(3, 2e-3)});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_THAT(text, HasSubstr("\n\"a \"\"fast\"\", large one with a line\",dg_volume,"));
    EXPECT_THAT(text, HasSubstr(",0.002,"));
    EXPECT_THAT(text, HasSubstr(",\"" + record.config.key() + "\","));
}

// What `show` prints of a folder with three records of known gains, ceilings and dates.
class Shown {
  public:
    Shown() {
        Database database(built_in_families());
        const std::vector<std::tuple<int, double, double, const char*>> facts{
            {2, 1.5, 0.95, "2026-11-20T00:00:00Z"}, {3, 4, 0.6, "2026-11-22T00:00:00Z"}, {4, 2, 0.75, "2026-11-21T00:00:00Z"}};
        for (const auto& [order, times, fraction, date] : facts) {
            Record record = volume(order, 1e-3, fraction);
            record.safe_seconds = times * record.step.median;
            record.date = date;
            database.add(record);
        }
        Record unknown = volume(5, 1e-3, 0);
        unknown.ceiling.clear();
        unknown.date = "2026-11-19T00:00:00Z";
        database.add(unknown);
        database.merge_into(folder());
    }

    std::string folder() const { return (own_.folder.path() / "db").string(); }

    std::vector<int> orders(std::vector<std::string> options) const {
        options.insert(options.begin(), {"show", "--db", folder(), "--json"});
        const Json document = Json::parse(ask(options).out);
        std::vector<int> found;
        for (const Json& device : document["devices"])
            for (const Json& record : device["records"]) found.push_back(record["problem"]["parameters"]["order"]);
        return found;
    }

  private:
    test::OwnFolders own_;
};

TEST(RecordList, ShowSortsCutsAndNarrows) {
    const Shown shown;
    EXPECT_EQ(shown.orders({}), (std::vector{2, 3, 4, 5}));
    EXPECT_EQ(shown.orders({"--sort", "gain", "--top", "2"}), (std::vector{3, 5}));
    EXPECT_EQ(shown.orders({"--sort", "ceiling"}), (std::vector{2, 4, 3, 5}));
    EXPECT_EQ(shown.orders({"--sort", "age", "--top", "3"}), (std::vector{5, 2, 4}));
    EXPECT_EQ(shown.orders({"--sort", "age", "--reverse", "--top", "1"}), (std::vector{3}));
    EXPECT_EQ(shown.orders({"--below", "80%"}), (std::vector{3, 4}));
    EXPECT_EQ(shown.orders({"--below", "50"}), std::vector<int>{});
    EXPECT_THAT(ask({"show", "--db", shown.folder(), "--below", "80%"}).error, HasSubstr("1 results are left out"));
}

TEST(RecordList, ShowRefusesWhatItCannotMean) {
    const Shown shown;
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"--sort", "gian"}, "did you mean gain?"},      {{"--columns", "setp"}, "did you mean step?"}, {{"--below", "much"}, "write it in per cent"},
        {{"--below=-3%"}, "write it in per cent"},       {{"--top", "0"}, "a whole number from 1 on"},  {{"--csv", "--json"}, "choose one"},
        {{"--csv", "--columns", "step"}, "leave it out"}};
    for (const auto& [options, expected] : cases) {
        std::vector<std::string> words{"show", "--db", shown.folder()};
        words.insert(words.end(), options.begin(), options.end());
        const test::Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::wrong_input) << options.front();
        EXPECT_THAT(answer.error, HasSubstr(expected));
        EXPECT_EQ(answer.out, "");
    }
}

TEST(RecordList, ATerminalGetsColoursAndBarsWithinItsWidth) {
    const Shown shown;
    std::ostringstream out;
    std::ostringstream error;
    Console console{out, error, true, 80, true, true};
    EXPECT_EQ(run({"show", "--db", shown.folder()}, console), Exit::ok);
    EXPECT_THAT(out.str(), HasSubstr("\x1b[32m95.0 % memory\x1b[0m"));
    EXPECT_THAT(out.str(), HasSubstr("##########"));
    EXPECT_THAT(ask({"show", "--db", shown.folder()}).out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ask({"show", "--db", shown.folder()}).out, Not(HasSubstr("####")));
}

}  // namespace
}  // namespace hone::tools::record_list_test
