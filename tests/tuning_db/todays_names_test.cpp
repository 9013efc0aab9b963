#include "tuning_db/todays_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "foundation/file_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::todays_names_test {
namespace {

using test::h200;
using test::make_record;
using test::two_families;

const std::string asked = "volume order=5 elements=1000";

// As it was written when `unroll` was called `columns`.
Record former(const std::string& problem, std::int64_t columns, double median) {
    Record record = make_record(problem, fmt::format("unroll={}", columns), median);
    record.config = Config({{"columns", columns}});
    return record;
}

Match ask(const Database& database) {
    return database.best(two_families().parse_problem(asked), h200(), test::h200_limits());
}

TEST(TodaysNames, AreThoseOfItsFamilyAndNothingElseChanges) {
    const Record record = former(asked, 4, 1e-4);
    Record expected = record;
    expected.config = Config({{"unroll", std::int64_t{4}}});
    EXPECT_EQ(to_json(with_todays_names(record, two_families())), to_json(expected));
    EXPECT_EQ(to_json(with_todays_names(expected, two_families())), to_json(expected));
}

TEST(TodaysNames, OfAShareAreThoseOfBothSides) {
    test::RandomRecords random(std::random_device{}());
    Record shared = random.shared();
    shared.problem = two_families().parse_problem(asked);
    shared.config = shared.hybrid->partner_config = Config({{"columns", std::int64_t{2}}});
    const Record today = with_todays_names(shared, two_families());
    EXPECT_EQ(today.config.key(), "unroll=2");
    EXPECT_EQ(today.hybrid->partner_config.key(), "unroll=2");
}

TEST(TodaysNames, WhatIsNotKnownHereStaysAsItStands) {
    Record record = make_record("sweep precision=f32 nx=64 ny=64", "block=8", 1e-4);
    EXPECT_EQ(to_json(with_todays_names(record, test::volume_alone())), to_json(record)) << "another program's family";
    record = former(asked, 4, 1e-4);
    record.device.architecture = "sm_x";
    EXPECT_EQ(to_json(with_todays_names(record, two_families())), to_json(record)) << "a device that nobody knows";
    record = former(asked, 4, 1e-4);
    record.config = Config({{"columns", std::int64_t{4}}, {"newer", std::int64_t{1}}});
    EXPECT_EQ(to_json(with_todays_names(record, two_families())), to_json(record)) << "of a newer hone";
}

TEST(TodaysNames, AreShownWhileLookUpsReadEither) {
    Database database(two_families());
    database.add(former(asked, 4, 1e-4));
    EXPECT_EQ(ask(database).config.key(), "unroll=4");
    EXPECT_EQ(database.records().front().config.key(), "columns=4");
    EXPECT_EQ(database.with_todays_names().records().front().config.key(), "unroll=4");
}

TEST(TodaysNames, AMergeWritesThemOfWhatWasThereToo) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "nvidia_h200.json";
    replace_file(path, database_file_text("nvidia_h200", {former(asked, 4, 1e-4)}));
    Database news(two_families());
    news.add(former("volume order=6 elements=1000", 3, 1e-4));
    news.merge_into(folder.path());
    const std::string text = read_file(path, 1 << 20);
    EXPECT_EQ(text.find("columns"), std::string::npos) << text;
    EXPECT_EQ(read_database_file(path, two_families()).records.size(), 2U);
    // The same result under both names is one.
    const MergeCounts counts = Database::load(folder.path(), two_families()).merge_into(folder.path());
    EXPECT_EQ(counts.kept, 2);
    EXPECT_EQ(read_file(path, 1 << 20), text);
}

// A mark of before the renaming beside a shipped record of after it, and the other way round.
TEST(TodaysNames, AMarkRefutesUnderEitherName) {
    const Record then = former(asked, 4, 1e-4);
    const Record now = with_todays_names(then, two_families());
    for (const auto& [right, wrong] : {std::pair{then, now}, {now, then}}) {
        Database database(two_families());
        database.add(right);
        ASSERT_EQ(ask(database).grade, Grade::exact);
        Record mark = wrong;
        mark.wrong = "rhs differs by 2";
        database.add(mark);
        EXPECT_EQ(ask(database).grade, Grade::none);
        Record mended = right;
        mended.versions.source_hash = std::string(64, 'b');
        Database again(two_families());
        again.add(mark);
        again.add(mended);
        EXPECT_EQ(ask(again).grade, Grade::exact) << "another source";
    }
}

}  // namespace
}  // namespace hone::todays_names_test
