#include "tools/records/record_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "foundation/file_store.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::record_diff_test {
namespace {

using test::ask;
using testing::HasSubstr;

Record volume(int order, double seconds, double half_width = 0.001, const std::string& device = "NVIDIA H200") {
    Record record;
    record.problem = built_in_families().parse_problem(fmt::format("dg_volume equation=maxwell_3d order={} precision=f32 elements=1000", order));
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, device, "sm_90", 132, "13.0", "NVRTC 13.0"};
    record.step = {seconds, (1 - half_width) * seconds, (1 + half_width) * seconds, (1 - half_width) * seconds, 40};
    record.counts = {1e6, "elements", 5e7, 2e7};
    record.verification_error = 0;
    record.tolerance = 1e-5;
    record.strategy = "random";
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

Change change(const Record& before, const Record& after, double noise = 0.01) {
    return compare({before}, {after}, true, noise).at(0).change;
}

TEST(RecordDiff, DifferencesBeyondNoiseAreFasterOrSlowerWhereTheyAreCertain) {
    EXPECT_EQ(change(volume(3, 1e-3), volume(3, 1.05e-3)), Change::slower);
    EXPECT_EQ(change(volume(3, 1e-3), volume(3, 0.95e-3)), Change::faster);
    EXPECT_EQ(change(volume(3, 1e-3), volume(3, 1.005e-3)), Change::same);
    EXPECT_EQ(change(volume(3, 1e-3), volume(3, 1.05e-3), 0.1), Change::same);
    EXPECT_EQ(change(volume(3, 1e-3, 0.1), volume(3, 1.05e-3, 0.1)), Change::unsure);
    EXPECT_EQ(change(volume(3, 1e-3, 0), volume(3, 1.05e-3, 0)), Change::slower) << "no intervals: the medians are all there is";
}

// Half widths of 95 % intervals are 1.96 deviations of the logarithm; a difference of z combined
// deviations is certain to Phi(z).
TEST(RecordDiff, ConfidenceIsThatOfTwoNormalDistributions) {
    test::FreshRandom random;
    std::uniform_real_distribution<double> width(0.01, 0.05);
    for (const auto& [steps, expected] : std::vector<std::pair<double, double>>{{0, 0.5}, {1, 0.841345}, {1.644854, 0.95}, {-1.959964, 0.975}}) {
        const double a = width(random);
        const double b = width(random);
        Record before = volume(3, 1e-3);
        Record after = volume(3, 1e-3 * std::exp(steps * std::hypot(a, b)));
        for (const auto& [record, deviation] : {std::pair{&before, a}, {&after, b}}) {
            record->step.low = record->step.median * std::exp(-1.96 * deviation);
            record->step.high = record->step.median * std::exp(1.96 * deviation);
        }
        EXPECT_NEAR(compare({before}, {after}, true).at(0).confidence, expected, 1e-4) << steps;
    }
}

TEST(RecordDiff, SubjectsAreProblemPurposeAndDeviceOrNotTheDevice) {
    Record energy = volume(3, 1e-3);
    energy.purpose = "energy";
    const auto changes = compare({volume(2, 1e-3), volume(3, 1e-3)}, {volume(3, 1e-3), energy, volume(4, 1e-3)}, true);
    ASSERT_EQ(changes.size(), 4U);
    EXPECT_EQ(changes[0].change, Change::gone);
    EXPECT_EQ(changes[1].change, Change::same);
    EXPECT_EQ(changes[2].change, Change::appeared);
    EXPECT_EQ(changes[2].after->purpose, "energy");
    EXPECT_EQ(changes[3].change, Change::appeared);
    const Record elsewhere = volume(2, 2e-3, 0.001, "NVIDIA A100");
    EXPECT_EQ(compare({volume(2, 1e-3)}, {elsewhere}, true).size(), 2U);
    EXPECT_EQ(compare({volume(2, 1e-3)}, {elsewhere}, false).at(0).change, Change::slower);
}

TEST(RecordDiff, RecordsTunedForEnergyAreComparedByIt) {
    Record before = volume(3, 1e-3);
    before.purpose = "energy";
    before.energy = Energy{{1.0, 0.99, 1.01, 0.99, 40}, 100, 0, "nvml", 100, 0, 0};
    Record after = before;
    after.step = volume(3, 2e-3).step;
    after.energy->joules = {0.5, 0.49, 0.51, 0.49, 40};
    EXPECT_EQ(change(before, after), Change::faster);
}

TEST(RecordDiff, MeanIsGeometricOverWhatIsInBoth) {
    const auto changes = compare({volume(2, 1e-3), volume(3, 1e-3), volume(4, 1e-3)}, {volume(2, 2e-3), volume(3, 0.5e-3), volume(5, 1e-3)}, true);
    EXPECT_NEAR(mean_ratio(changes), 1, 1e-12);
    EXPECT_EQ(mean_ratio({}), 1);
}

class Folders {
  public:
    std::string with(const std::string& name, const std::vector<Record>& records) const {
        Database database(built_in_families());
        for (const Record& record : records) database.add(record);
        const auto folder = own_.folder.path() / name;
        database.merge_into(folder);
        return folder.string();
    }

  private:
    test::OwnFolders own_;
};

TEST(RecordDiff, CommandComparesFoldersFilesCheckoutsAndDevices) {
    const Folders folders;
    const std::string before = folders.with("before", {volume(2, 1e-3), volume(3, 1e-3)});
    const std::string after = folders.with("after/tuning_db/records", {volume(2, 1.05e-3), volume(3, 1e-3), volume(2, 2e-3, 0.001, "NVIDIA A100")});
    const std::string checkout = after.substr(0, after.find("/tuning_db"));
    replace_file(checkout + "/CMakePresets.json", "{\"version\": 6}\n");  // as a checkout has, and no file of records
    const test::Answer text = ask({"diff", before, checkout});
    EXPECT_EQ(text.code, Exit::ok) << text.error;
    for (const char* part : {"slower", "+5.0 %", "99.9 %", "0 faster, 1 slower, 1 same, 0 unsure, 1 new, 0 gone"})
        EXPECT_THAT(text.out, HasSubstr(part));
    EXPECT_THAT(text.out, testing::Not(HasSubstr("order=3")));
    const Json document = Json::parse(ask({"diff", before + "/nvidia_h200.json", checkout + "@NVIDIA H200", "order=2", "--json"}).out);
    EXPECT_EQ(document["changes"].size(), 1U);
    EXPECT_NEAR(document["changes"][0]["ratio"], 1.05, 1e-9);
    EXPECT_EQ(document["counts"]["slower"], 1);
    const Json devices = Json::parse(ask({"diff", checkout + "@nvidia_h200", checkout + "@nvidia_a100", "--json"}).out);
    EXPECT_EQ(devices["counts"]["slower"], 1);
    EXPECT_EQ(devices["counts"]["gone"], 1);
}

TEST(RecordDiff, CommandFailsWhereSomethingIsSlowerThanAllowed) {
    const Folders folders;
    const std::string before = folders.with("before", {volume(2, 1e-3), volume(3, 1e-3, 0.2)});
    const std::string after = folders.with("after", {volume(2, 1.05e-3), volume(3, 1.2e-3, 0.2)});
    EXPECT_EQ(ask({"diff", before, after, "--fail-if-slower", "6%"}).code, Exit::ok) << "the other one is unsure";
    const test::Answer fails = ask({"diff", before, after, "--fail-if-slower", "3%"});
    EXPECT_EQ(fails.code, Exit::nothing);
    EXPECT_THAT(fails.error, HasSubstr("1 are slower by more than 3%"));
    EXPECT_EQ(ask({"diff", after, before, "--fail-if-slower", "0%"}).code, Exit::ok);
    EXPECT_EQ(ask({"diff", after, before, "order=9"}).code, Exit::nothing);
}

// A problem above its figures, no line wider than the terminal but for words that are.
TEST(RecordDiff, CommandFitsANarrowTerminal) {
    const Folders folders;
    const std::string before = folders.with("before", {volume(2, 1e-3)});
    const std::string after = folders.with("after", {volume(2, 2e-3)});
    std::ostringstream out;
    std::ostringstream error;
    constexpr int columns = 40;
    Console console{out, error, true, columns, true, false};
    EXPECT_EQ(run({"diff", before, after}, console), Exit::ok) << error.str();
    EXPECT_THAT(out.str(), HasSubstr("1.00 ms -> 2.00 ms  +100.0 %"));
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
        if (line.find("/before") == std::string::npos && line.find("/after") == std::string::npos)
            EXPECT_LE(static_cast<int>(line.size()), columns) << line;
}

TEST(RecordDiff, CommandRefusesWhatItCannotMean) {
    const Folders folders;
    const std::string folder = folders.with("db", {volume(2, 1e-3)});
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{{{"diff", folder}, "write: hone diff BEFORE AFTER"},
                                                                              {{"diff", folder, folder + "x"}, "neither a folder nor a file"},
                                                                              {{"diff", folder, folder + "@nvidia_h20"}, "did you mean nvidia_h200?"},
                                                                              {{"diff", folder, folder, "oder=3"}, "did you mean order?"},
                                                                              {{"diff", folder, folder, "--noise", "x"}, "per cent"}};
    for (const auto& [words, expected] : cases) {
        const test::Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::wrong_input);
        EXPECT_THAT(answer.error, HasSubstr(expected));
        EXPECT_EQ(answer.out, "");
    }
}

}  // namespace
}  // namespace hone::tools::record_diff_test
