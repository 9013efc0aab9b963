#include "tuning_db/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"

namespace hone::places_test {
namespace {

namespace fs = std::filesystem;

using test::EnvironmentVariable;
using test::h200;
using test::h200_limits;
using test::make_record;
using test::two_families;

class Places : public testing::Test {
  protected:
    fs::path named() const { return folder_.path() / "named"; }
    fs::path own() const { return folder_.path() / "data" / "hone" / "db"; }
    static void put(const fs::path& folder, const std::string& problem, const std::string& config, double seconds) {
        Database database(two_families());
        database.add(make_record(problem, config, seconds));
        database.merge_into(folder);
    }
    static Match ask(const Database& database, const std::string& text) {
        return database.best(two_families().parse_problem(text), h200(), h200_limits());
    }

    test::TemporaryFolder folder_;
    EnvironmentVariable database_{"HONE_DB", named().string()};
    EnvironmentVariable data_{"XDG_DATA_HOME", (folder_.path() / "data").string()};
};

TEST_F(Places, AreTheNamedFolderThenTheUsersThenWhatShips) {
    std::vector<fs::path> folders;
    for (const Place& place : record_places()) folders.push_back(place.folder);
    EXPECT_EQ(folders, (std::vector<fs::path>{named(), own(), test::source_path("tuning_db/records")}));
    EXPECT_EQ(own_records(), named());
    EXPECT_EQ(own_records("another"), "another");
    const EnvironmentVariable unset("HONE_DB", std::nullopt);
    EXPECT_EQ(record_places().size(), 2U);
    EXPECT_EQ(own_records(), own());
    const EnvironmentVariable relative("XDG_DATA_HOME", "data");
    const EnvironmentVariable home("HOME", "/home/somebody");
    EXPECT_EQ(own_records(), "/home/somebody/.local/share/hone/db");
    const EnvironmentVariable homeless("HOME", std::nullopt);
    EXPECT_EQ(record_places().size(), 1U);
    EXPECT_THROW(own_records(), Error);
}

TEST_F(Places, WhatTheUserTunedIsFoundByEveryProgram) {
    const EnvironmentVariable unset("HONE_DB", std::nullopt);
    put(own(), "volume order=5 elements=1000", "unroll=3", 1e-3);
    const Match match = ask(known_records(two_families()), "volume order=5 elements=1000");
    EXPECT_EQ(match.grade, Grade::exact);
    EXPECT_EQ(match.config.key(), "unroll=3");
    EXPECT_EQ(match.folder, own());
}

TEST_F(Places, AnEarlierFolderGoesFirstAmongEquallyNearAnswersOnly) {
    const std::string asked = "volume order=5 elements=1000";
    put(own(), asked, "unroll=2", 1e-3);
    put(named(), "volume order=5 elements=64000", "unroll=3", 1e-3);
    EXPECT_EQ(ask(known_records(two_families()), asked).config.key(), "unroll=2") << "the exact answer, wherever it lies";
    put(named(), asked, "unroll=4", 5e-3);
    const Database both = known_records(two_families());
    EXPECT_EQ(ask(both, asked).config.key(), "unroll=4") << "measured here, though another machine promises less time";
    EXPECT_EQ(ask(both, asked).folder, named());
    EXPECT_EQ(both.records().size(), 3U);
    EXPECT_EQ(both.first_records().size(), 2U);
    EXPECT_EQ(ask(known_records(two_families(), own()), asked).config.key(), "unroll=2") << "a folder that is named is read alone";
}

TEST_F(Places, AnAnswerThatDoesNotFitGivesWayToALaterFolders) {
    const std::string asked = "volume order=5 elements=1000";
    Record unverified = make_record(asked, "unroll=4", 1e-4);
    unverified.verification_error = 1;
    Database database(two_families());
    database.add(unverified);
    database.merge_into(named());
    put(own(), asked, "unroll=2", 1e-3);
    EXPECT_EQ(ask(known_records(two_families()), asked).config.key(), "unroll=2");
}

TEST_F(Places, ANamedFolderThatIsMissingIsToldOf) {
    std::vector<std::string> warnings;
    const Database database = known_records(two_families(), {}, [&](const std::string& text) { warnings.push_back(text); });
    EXPECT_THAT(warnings, testing::ElementsAre(testing::AllOf(testing::HasSubstr("HONE_DB"), testing::HasSubstr(named().string()))));
    try {
        known_records(two_families(), folder_.path() / "absent");
        FAIL() << "a folder that is named must be there";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr((folder_.path() / "absent").string()));
    }
}

}  // namespace
}  // namespace hone::places_test
