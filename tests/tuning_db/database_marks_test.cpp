// What a database does with results that were found wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/places.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::database_marks_test {
namespace {

using test::h200;
using test::h200_limits;
using test::make_record;
using test::two_families;
using testing::HasSubstr;

const std::string asked = "volume order=5 elements=1000";

Match ask(const Database& database, const std::string& text = asked) {
    return database.best(two_families().parse_problem(text), h200(), h200_limits());
}

Record mark_of(Record record) {
    record.wrong = "rhs differs by 2";
    record.verification_error = std::numeric_limits<double>::infinity();
    record.purpose.clear();
    return record;
}

WrongResult wrong(const std::string& config, const std::string& problem = asked, const std::string& hash = std::string(64, 'a')) {
    const Problem parsed = two_families().parse_problem(problem);
    const SearchSpace space = two_families().of(parsed).space(parsed, h200_limits());
    return {parsed, space.parse(config), hash, "rhs differs by 2"};
}

class DatabaseMarks : public testing::Test {
  protected:
    std::filesystem::path folder() const { return folder_.path() / "db"; }
    static void put(const std::filesystem::path& folder, const std::vector<Record>& records) {
        Database database(two_families());
        for (const Record& record : records) database.add(record);
        database.merge_into(folder);
    }
    Database loaded() const { return Database::load(folder(), two_families()); }
    int mark(const std::vector<WrongResult>& results) const { return mark_wrong(two_families(), folder(), {h200(), h200_limits()}, results); }

    test::TemporaryFolder folder_;
};

TEST_F(DatabaseMarks, AResultThatIsMarkedAnswersNoMoreInWhateverOrderTheTwoCome) {
    const Record fast = make_record(asked, "unroll=4", 1e-4);
    std::vector<Record> all{fast, mark_of(fast), make_record(asked, "unroll=2", 1e-3)};
    std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) { return to_json(a) < to_json(b); });
    std::string text;
    do {
        Database database(two_families());
        for (const Record& record : all) database.add(record);
        // The other one gave way to the refuted one where it came before; it comes once more.
        database.add(make_record(asked, "unroll=2", 1e-3));
        const Match match = ask(database);
        EXPECT_EQ(match.grade, Grade::exact);
        EXPECT_EQ(match.config.key(), "unroll=2");
        EXPECT_EQ(database.marks().size(), 1U);
        const test::TemporaryFolder here;
        database.merge_into(here.path());
        const std::string now = read_file(database_files(here.path()).front(), 1 << 20);
        EXPECT_TRUE(text.empty() || now == text);
        text = now;
    } while (std::next_permutation(all.begin(), all.end(), [](const Record& a, const Record& b) { return to_json(a) < to_json(b); }));
    EXPECT_THAT(text, HasSubstr(R"("wrong": "rhs differs by 2")"));
}

TEST_F(DatabaseMarks, NoMergeBringsItBack) {
    const Record fast = make_record(asked, "unroll=4", 1e-4);
    put(folder(), {fast, make_record("volume order=5 elements=2000", "unroll=3", 1e-3)});
    const std::filesystem::path other = folder_.path() / "other";
    put(other, {fast});
    ASSERT_EQ(mark({wrong("unroll=4")}), 1);
    EXPECT_NE(ask(loaded()).config.key(), "unroll=4");
    EXPECT_EQ(loaded().records().size(), 1U) << "the other size's";
    const MergeCounts counts = Database::load(other, two_families()).merge_into(folder());
    EXPECT_EQ(counts.kept, 1);
    EXPECT_NE(ask(loaded()).config.key(), "unroll=4");
    // And where the mark is merged, the record goes.
    loaded().merge_into(other);
    const Database merged = Database::load(other, two_families());
    EXPECT_NE(ask(merged).config.key(), "unroll=4");
    EXPECT_EQ(merged.marks().size(), 1U);
    EXPECT_EQ(mark({wrong("unroll=4")}), 0) << "nobody would be handed it";
}

TEST_F(DatabaseMarks, ASlowerRightResultTakesThePlaceAndAChangedSourceMayStandAgain) {
    put(folder(), {make_record(asked, "unroll=4", 1e-4)});
    mark({wrong("unroll=4")});
    put(folder(), {make_record(asked, "unroll=1", 1e-2)});
    EXPECT_EQ(ask(loaded()).config.key(), "unroll=1");
    EXPECT_EQ(ask(loaded()).grade, Grade::exact);
    Record mended = make_record(asked, "unroll=4", 1e-3);
    put(folder(), {mended});
    EXPECT_EQ(ask(loaded()).config.key(), "unroll=1") << "the same source is wrong still";
    mended.versions.source_hash = std::string(64, 'b');
    put(folder(), {mended});
    EXPECT_EQ(ask(loaded()).config.key(), "unroll=4");
    EXPECT_EQ(ask(loaded(), "volume order=5 elements=1500").config.key(), "unroll=4") << "and carries to other sizes again";
}

TEST_F(DatabaseMarks, OfARecordOfAnotherSourceBothSourcesAreRefuted) {
    put(folder(), {make_record(asked, "unroll=4", 1e-4)});
    EXPECT_EQ(mark({wrong("unroll=4", asked, std::string(64, 'b'))}), 2);
    Record today = make_record(asked, "unroll=4", 1e-4);
    put(folder(), {today});
    today.versions.source_hash = std::string(64, 'b');
    put(folder(), {today});
    EXPECT_EQ(ask(loaded()).grade, Grade::none);
}

TEST_F(DatabaseMarks, WhateverItWasTunedForIsMarked) {
    Record energy = make_record(asked, "unroll=4", 1e-4);
    energy.purpose = "energy";
    test::RandomRecords random(1);
    energy.energy = random.energy(1e-4);
    put(folder(), {make_record(asked, "unroll=4", 1e-4), energy});
    EXPECT_EQ(mark({wrong("unroll=4")}), 1);
    EXPECT_TRUE(loaded().records().empty());
    put(folder(), {energy});
    EXPECT_TRUE(loaded().records().empty());
}

TEST_F(DatabaseMarks, WhatIsWrongAtOneSizeIsCarriedToNoOther) {
    put(folder(), {make_record("volume order=5 elements=900", "unroll=4", 1e-4)});
    ASSERT_EQ(ask(loaded()).grade, Grade::nearest_size);
    ASSERT_EQ(mark({wrong("unroll=4")}), 1) << "its record is of another size, and it would be handed out here";
    EXPECT_EQ(ask(loaded()).grade, Grade::none);
    EXPECT_EQ(ask(loaded(), "volume order=5 elements=1100").grade, Grade::none);
    EXPECT_EQ(ask(loaded(), "volume order=5 elements=900").grade, Grade::exact) << "it was verified there";
    put(folder(), {make_record("volume order=5 elements=800", "unroll=3", 1e-4)});
    EXPECT_EQ(ask(loaded()).config.key(), "unroll=3");
}

TEST_F(DatabaseMarks, NorIsItPredicted) {
    put(folder(), {make_record("volume order=6 elements=1000", "unroll=4", 1e-4)});
    ASSERT_EQ(ask(loaded()).grade, Grade::predicted);
    ASSERT_EQ(ask(loaded()).config.key(), "unroll=4");
    EXPECT_EQ(mark({wrong("unroll=4")}), 1);
    EXPECT_EQ(ask(loaded()).grade, Grade::none);
}

TEST_F(DatabaseMarks, HideWhatReadOnlyPlacesHave) {
    const test::EnvironmentVariable named("HONE_DB", folder().string());
    const test::EnvironmentVariable data("XDG_DATA_HOME", (folder_.path() / "data").string());
    const std::filesystem::path own = folder_.path() / "data" / "hone" / "db";
    put(own, {make_record(asked, "unroll=4", 1e-4)});
    ASSERT_EQ(ask(known_records(two_families())).config.key(), "unroll=4");
    EXPECT_EQ(mark({wrong("unroll=4")}), 1) << "in the folder that is written to";
    EXPECT_EQ(database_files(folder()).size(), 1U);
    EXPECT_EQ(ask(known_records(two_families())).grade, Grade::none);
    EXPECT_EQ(ask(Database::load(own, two_families())).grade, Grade::exact) << "which stays as it was";
}

TEST_F(DatabaseMarks, OfUnknownFamiliesSurviveAMergeAndRefuteThere) {
    const Record record = make_record("sweep precision=f32 nx=64 ny=64", "block=8", 1e-4);
    put(folder(), {record, mark_of(record)});
    Database others(test::volume_alone());
    others.add(record);
    others.add(Database::load(folder(), test::volume_alone()));
    const std::filesystem::path third = folder_.path() / "third";
    others.merge_into(third);
    const DatabaseFile file = read_database_file(database_files(third).front(), test::volume_alone());
    ASSERT_EQ(file.records.size(), 1U);
    EXPECT_EQ(file.records.front().wrong, "rhs differs by 2");
}

TEST_F(DatabaseMarks, AreNoAnswerForAProgramThatDoesNotKnowThem) {
    const Record mark = mark_of(make_record(asked, "unroll=4", 1e-4));
    std::string text = to_json(mark);
    const std::string member = R"("wrong": "rhs differs by 2")";
    text.replace(text.find(member), member.size(), R"("unknown": 1)");
    EXPECT_FALSE(record_from_json(text, two_families(), "here").verified());
}

TEST_F(DatabaseMarks, GiveTheirReason) {
    std::string text = to_json(mark_of(make_record(asked, "unroll=4", 1e-4)));
    text.replace(text.find("rhs differs by 2"), std::string("rhs differs by 2").size(), "");
    EXPECT_THROW(record_from_json(text, two_families(), "here"), Error);
}

// ---- Records that were verified at a smaller size only.

TEST(DatabaseVerifiedOn, ASmallerSizeIsNotExactAndSaysSo) {
    Record smaller = make_record(asked, "unroll=4", 1e-4);
    smaller.verified_on = "volume order=5 elements=24";
    EXPECT_EQ(record_from_json(to_json(smaller), two_families(), "here").verified_on, smaller.verified_on);
    Database database(two_families());
    database.add(smaller);
    const Match match = ask(database);
    EXPECT_EQ(match.grade, Grade::nearest_size);
    EXPECT_EQ(match.config.key(), "unroll=4");
    EXPECT_EQ(match.note, "verified on volume order=5 elements=24 only");
    database.add(make_record("volume order=5 elements=1001", "unroll=3", 1e-4));
    EXPECT_EQ(ask(database).config.key(), "unroll=4") << "no other size is nearer";
    const Record whole = make_record(asked, "unroll=2", 1e-3);
    EXPECT_TRUE(better(whole, smaller));
    EXPECT_FALSE(better(smaller, whole));
    database.add(whole);
    EXPECT_EQ(ask(database).grade, Grade::exact);
    EXPECT_EQ(ask(database).config.key(), "unroll=2");
    EXPECT_EQ(ask(database).note, "");
}

}  // namespace
}  // namespace hone::database_marks_test
