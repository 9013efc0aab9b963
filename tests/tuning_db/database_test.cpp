// What look-ups answer. A little over 600 lines, because all of it is asked of the same two small
// families and the records made of them.
#include "tuning_db/database.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::database_test {
namespace {

using test::h200;
using test::h200_limits;
using test::make_record;
using test::two_families;

Problem problem(const std::string& text) {
    return two_families().parse_problem(text);
}

DeviceFingerprint h100() {
    return {Target::cuda, "NVIDIA H100 PCIe", "sm_90", 114, "12.8", "NVRTC 12.8"};
}

Match ask(const Database& database, const std::string& text) {
    return database.best(problem(text), h200(), h200_limits());
}

TEST(Database, AnEmptyOneAnswersWithTheSafeConfiguration) {
    const Match match = ask(Database(two_families()), "volume order=3 elements=1000");
    EXPECT_EQ(match.grade, Grade::none);
    EXPECT_EQ(match.config.key(), "unroll=1");
    EXPECT_FALSE(match.record);
}

TEST(Database, GradesTheAnswerByHowFarItWasFetched) {
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 1e-3, h100()));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::same_architecture);
    database.add(make_record("volume order=5 elements=4000", "unroll=3", 1e-2));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::nearest_size);
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").config.key(), "unroll=3");
    database.add(make_record("volume order=5 elements=1000", "unroll=4", 1e-3));
    const Match exact = ask(database, "volume order=5 elements=1000");
    EXPECT_EQ(exact.grade, Grade::exact);
    EXPECT_EQ(exact.config.key(), "unroll=4");
    ASSERT_TRUE(exact.record);
    EXPECT_EQ(exact.record->device, h200());
    const Match predicted = ask(database, "volume order=6 elements=1000");
    EXPECT_EQ(predicted.grade, Grade::predicted) << "another order is another kind of problem";
    EXPECT_EQ(predicted.config.key(), "unroll=4");
    EXPECT_FALSE(predicted.record) << "no record's time or rate is this problem's";
    ASSERT_FALSE(predicted.sources.empty());
    EXPECT_EQ(predicted.sources[0].problem, problem("volume order=5 elements=1000"));
}

// A member of both spaces is the same kernel.
TEST(Database, WhatWasFoundForAnotherArithmeticAnswersWhereItIsAMemberAndFaster) {
    Family family = two_families().find("volume");
    family.parameters.push_back({"arithmetic", "how products are rounded", {"strict", "free"}, 0, 0, false, "strict"});
    const auto every = family.space;
    family.space = [every](const Problem& about, const Limits& limits) {
        SearchSpace space = every(about, limits);
        if (about.word("arithmetic") == "free") return space;
        const auto strict = [](const Config& config) -> std::optional<std::string> {
            return config.integer("unroll") == 4 ? std::optional<std::string>("not strict") : std::nullopt;
        };
        return SearchSpace(space.tunables(), {{"strict", strict}}, {{"unroll", std::int64_t{1}}});
    };
    const Families families({family});
    const auto record = [&](const char* arithmetic, std::int64_t unroll, double seconds) {
        Record made = make_record("volume order=5 elements=1000", "unroll=1", seconds);
        made.problem = families.parse_problem(fmt::format("volume order=5 arithmetic={} elements=1000", arithmetic));
        made.config = Config({{"unroll", unroll}});
        return made;
    };
    const auto ask = [&](const Database& database, const char* arithmetic, int elements) {
        const Problem about = families.parse_problem(fmt::format("volume order=5 arithmetic={} elements={}", arithmetic, elements));
        return database.best(about, h200(), h200_limits());
    };
    Database database(families);
    database.add(record("strict", 2, 1e-3));
    EXPECT_EQ(ask(database, "free", 1000).config.key(), "unroll=2") << "before any prediction";
    EXPECT_EQ(ask(database, "free", 1000).grade, Grade::exact);
    database.add(record("free", 3, 2e-3));
    EXPECT_EQ(ask(database, "free", 1000).config.key(), "unroll=2");
    EXPECT_EQ(ask(database, "free", 4000).config.key(), "unroll=2") << "by updates a second";
    database.add(record("free", 4, 5e-4));
    EXPECT_EQ(ask(database, "free", 1000).config.key(), "unroll=4");
    EXPECT_EQ(ask(database, "strict", 1000).config.key(), "unroll=2") << "4 is no member";
    database.add(record("free", 5, 4e-4));
    EXPECT_EQ(ask(database, "strict", 1000).config.key(), "unroll=5");
    // A step of a quarter of the elements takes less time, and does less.
    Database sizes(families);
    Record small = record("strict", 2, 1e-3), large = record("free", 3, 2e-3);
    small.counts.updates = 1e6, large.counts.updates = 4e6;
    large.problem = families.parse_problem("volume order=5 arithmetic=free elements=4000");
    sizes.add(small);
    sizes.add(large);
    EXPECT_EQ(ask(sizes, "free", 2000).config.key(), "unroll=3") << "half a nanosecond an update, and not one";
    Record disturbed = record("strict", 5, 1e-4);
    disturbed.disturbed = "busy";
    Database other(families);
    other.add(disturbed);
    other.add(record("free", 3, 2e-3));
    EXPECT_EQ(ask(other, "free", 1000).config.key(), "unroll=3");
}

TEST(Database, SaysWhereARecordWasMeasuredWithOtherThreads) {
    const auto processor = [](int threads) { return DeviceFingerprint{Target::cpu, "AMD EPYC", "x86-64-avx2", threads, "", "GCC 12"}; };
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 1e-3, processor(16)));
    const auto match = [&](int threads) { return database.best(problem("volume order=5 elements=1000"), processor(threads), cpu_limits()); };
    EXPECT_EQ(match(16).grade, Grade::exact);
    EXPECT_EQ(match(16).note, "");
    EXPECT_EQ(match(4).grade, Grade::same_architecture) << "not as if it had been measured so";
    EXPECT_EQ(match(4).note, "measured with 16 threads, here are 4");
    database.add(make_record("volume order=5 elements=1000", "unroll=3", 2e-3, processor(1)));
    EXPECT_EQ(match(2).config.key(), "unroll=3") << "of the nearest number of threads";
    EXPECT_EQ(match(2).note, "measured with 1 thread, here are 2");
    EXPECT_EQ(ask(Database(two_families()), "volume order=3 elements=1000").note, "");
}

TEST(Database, TheSameProcessorWithOtherThreadsAnswersBeforeAnotherModel) {
    const auto processor = [](const char* name, int threads) { return DeviceFingerprint{Target::cpu, name, "x86-64-avx2", threads, "", "GCC 12"}; };
    const auto with = [&](const char* own, const char* other) {
        Database database(two_families());
        database.add(make_record("volume order=5 elements=1000", own, 2e-3, processor("AMD EPYC", 4)));
        database.add(make_record("volume order=5 elements=1000", other, 1e-3, processor("AMD Ryzen", 16)));
        return database.best(problem("volume order=5 elements=1000"), processor("AMD EPYC", 16), cpu_limits());
    };
    for (const auto& [own, other] : {std::pair{"unroll=2", "unroll=3"}, {"unroll=3", "unroll=2"}}) {
        EXPECT_EQ(with(own, other).grade, Grade::same_architecture);
        EXPECT_EQ(with(own, other).config.key(), own);
    }
}

TEST(Database, AnotherTargetDoesNotAnswerAndAnotherArchitectureSaysSo) {
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 1e-3, {Target::cpu, "NVIDIA H200", "sm_90", 132, "", ""}));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::none);
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 1e-3, {Target::cuda, "NVIDIA A100", "sm_80", 108, "12.8", "NVRTC 12.8"}));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::other_architecture);
    database.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3, h100()));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::same_architecture);
}

TEST(Database, SizesAreComparedAxisByAxisOnALogarithmicScale) {
    Database database(two_families());
    database.add(make_record("sweep precision=f32 nx=512 ny=8", "block=8", 1e-3));
    database.add(make_record("sweep precision=f32 nx=128 ny=128", "block=16", 1e-3));
    // The same product as 512 x 8, but 64 x 64 is two octaves from 128 x 128 and six from 512 x 8.
    EXPECT_EQ(ask(database, "sweep precision=f32 nx=64 ny=64").config.integer("block"), 16);
    EXPECT_EQ(ask(database, "sweep precision=f32 nx=512 ny=16").config.integer("block"), 8);
}

TEST(Database, ASizeThatIsNotNearHasASayInAPredictionAlone) {
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    EXPECT_EQ(ask(database, "volume order=5 elements=7900").grade, Grade::nearest_size);
    const Match far = ask(database, "volume order=5 elements=8100");
    EXPECT_EQ(far.grade, Grade::predicted);
    EXPECT_FALSE(far.record);
    ASSERT_EQ(far.sources.size(), 1U);
    EXPECT_EQ(far.config.key(), "unroll=3");
}

// The sizes that a family says there are, and what decides beside them.
TEST(Database, WhatSizesMakeTogetherMustBeNearlyTheSame) {
    Family family = two_families().find("sweep");
    family.scale = [](const Problem& about) {
        return Scale{sizes_of(about, {"nx"}),
                     {{"rows a column", static_cast<double>(about.integer("ny")) / static_cast<double>(about.integer("nx"))}}};
    };
    const Families families({family});
    Database database(families);
    database.add(make_record("sweep precision=f32 nx=128 ny=128", "block=16", 1e-3));
    const auto grade = [&](const char* text) { return database.best(families.parse_problem(text), h200(), h200_limits()).grade; };
    EXPECT_EQ(grade("sweep precision=f32 nx=1024 ny=1024"), Grade::nearest_size) << "three octaves of the one size";
    EXPECT_EQ(grade("sweep precision=f32 nx=128 ny=180"), Grade::nearest_size) << "less than half an octave";
    EXPECT_EQ(grade("sweep precision=f32 nx=128 ny=256"), Grade::predicted);
    EXPECT_EQ(grade("sweep precision=f32 nx=128 ny=64"), Grade::predicted);
}

TEST(Database, WhatItsSafeConfigurationBeatsAnswersForNothing) {
    Database database(two_families());
    Record beaten = make_record("volume order=5 elements=1000", "unroll=2", 1e-3);
    beaten.safe_seconds = 0.9e-3;
    database.add(beaten);
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::predicted);
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").config.key(), "unroll=1") << "the safe one";
    database.add(make_record("volume order=5 elements=2000", "unroll=3", 2e-3));
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").config.key(), "unroll=3") << "of another size";
    beaten.safe_seconds = 0.9995e-3;  // within the noise
    Database noisy(two_families());
    noisy.add(beaten);
    EXPECT_EQ(ask(noisy, "volume order=5 elements=1000").grade, Grade::exact);
    beaten.safe_seconds = 0.9e-3;
    EXPECT_TRUE(beaten_by_safe(beaten));
    beaten.device.target = Target::cpu;
    EXPECT_FALSE(beaten_by_safe(beaten)) << "other programs slow a processor down by more";
}

TEST(Database, AmongEquallyNearSizesTheOneNearerToItsCeilingGoesFirst) {
    for (const bool larger_is_better : {false, true}) {
        Database database(two_families());
        Record smaller = make_record("volume order=5 elements=500", "unroll=2", 1e-3);
        Record larger = make_record("volume order=5 elements=2000", "unroll=3", 1e-3);
        smaller.ceiling_fraction = larger_is_better ? 0.4 : 0.6;
        larger.ceiling_fraction = 0.5;
        database.add(smaller);
        database.add(larger);
        EXPECT_EQ(ask(database, "volume order=5 elements=1000").config.integer("unroll"), larger_is_better ? 3 : 2);
    }
}

TEST(Database, ACandidateThatTheSpaceRejectsAtTheProblemsOwnExtentsIsPassedOver) {
    Database database(two_families());
    database.add(make_record("sweep precision=f32 nx=128 ny=64", "block=64", 1e-3));
    database.add(make_record("sweep precision=f32 nx=512 ny=64", "block=8", 1e-3));
    const Match match = ask(database, "sweep precision=f32 nx=120 ny=64");  // 64 does not divide 120, 8 does
    EXPECT_EQ(match.grade, Grade::nearest_size);
    EXPECT_EQ(match.config.integer("block"), 8);
    const Match odd = ask(database, "sweep precision=f32 nx=127 ny=64");
    EXPECT_EQ(odd.grade, Grade::predicted);
    EXPECT_EQ(odd.config.integer("block"), 1);
}

TEST(Database, ACandidateThatTheAskingDeviceCannotHoldIsPassedOver) {
    Database database(two_families());
    database.add(make_record("sweep precision=f32 nx=128 ny=64", "block=64,depth=32,held=shared", 1e-3));  // 131072 bytes
    const Problem same = problem("sweep precision=f32 nx=128 ny=64");
    EXPECT_EQ(database.best(same, h200(), h200_limits()).grade, Grade::exact);
    Limits small = h200_limits();
    small.shared_bytes_per_block = 99 * 1024;
    const Match fitting = database.best(same, h200(), small);
    EXPECT_EQ(fitting.grade, Grade::predicted) << "the nearest member that it can hold";
    EXPECT_FALSE(two_families().of(same).space(same, small).check(fitting.config)) << fitting.config.key();
    EXPECT_EQ(fitting.config.word("held"), "shared");
}

TEST(Database, WhatWasNotVerifiedOrHasAnotherPurposeIsPassedOver) {
    Record wrong = make_record("volume order=5 elements=1000", "unroll=2", 1e-3);
    wrong.verification_error = 2 * wrong.tolerance;
    Record unknown = make_record("volume order=5 elements=2000", "unroll=2", 1e-3);
    unknown.verification_error = std::numeric_limits<double>::infinity();
    Record energy = make_record("volume order=5 elements=1000", "unroll=4", 1e-3);
    energy.purpose = "energy";
    Database database(two_families());
    for (const Record& record : {wrong, unknown, energy}) database.add(record);
    EXPECT_EQ(database.records().size(), 3U) << "one problem with two purposes is two records";
    EXPECT_EQ(ask(database, "volume order=5 elements=1000").grade, Grade::none);
}

TEST(Database, ADisturbedRecordAnswersWhereThereIsNoOther) {
    const test::TemporaryFolder own;
    const test::TemporaryFolder shipped;
    Record disturbed = make_record("volume order=5 elements=1000", "unroll=2", 1e-6);
    disturbed.disturbed = "faster than its memory";
    Database first(two_families());
    first.add(disturbed);
    first.merge_into(own.path());
    const auto folders = std::vector{own.path(), shipped.path()};
    const Match alone = ask(Database::load(folders, two_families()), "volume order=5 elements=1000");
    EXPECT_EQ(alone.grade, Grade::exact);
    EXPECT_EQ(alone.config.key(), "unroll=2");
    Database second(two_families());
    second.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    second.merge_into(shipped.path());
    const Database both = Database::load(folders, two_families());
    EXPECT_EQ(ask(both, "volume order=5 elements=1000").config.key(), "unroll=3");
    EXPECT_EQ(ask(both, "volume order=5 elements=2000").config.key(), "unroll=3") << "of equally near sizes";
    ASSERT_EQ(both.first_records().size(), 1U);
    EXPECT_EQ(both.first_records().front().config.key(), "unroll=3");
    EXPECT_EQ(second.merge_into(own.path()).replaced, 1);
}

TEST(Database, RemovesWhatIsChosenAndKeepsTheFileAsItWas) {
    const test::TemporaryFolder folder;
    Database database(two_families());
    for (const char* elements : {"1000", "2000"}) database.add(make_record(std::string("volume order=5 elements=") + elements, "unroll=2", 1e-3));
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 1e-3, h100()));
    database.merge_into(folder.path());
    const auto file = folder.path() / "nvidia_h200.json";
    const std::string before = read_file(file, 1 << 20);
    const auto none = [](const Record&) { return false; };
    EXPECT_TRUE(Database::remove_from(folder.path(), two_families(), none).empty());
    EXPECT_FALSE(std::filesystem::exists(file.string() + ".previous"));
    const auto large = [](const Record& record) { return record.problem.integer("elements") == 2000; };
    const std::vector<Record> removed = Database::remove_from(folder.path(), two_families(), large);
    ASSERT_EQ(removed.size(), 1U);
    EXPECT_EQ(removed.front().problem.integer("elements"), 2000);
    EXPECT_EQ(read_file(file.string() + ".previous", 1 << 20), before);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "nvidia_h100_pcie.json.previous")) << "that file did not change";
    EXPECT_EQ(Database::load(folder.path(), two_families()).records().size(), 2U);
    EXPECT_TRUE(Database::remove_from(folder.path() / "absent", two_families(), large).empty());
}

TEST(Database, ReplacesWhatIsAsItWasReadAndNothingElse) {
    const test::TemporaryFolder folder;
    Database database(two_families());
    const std::vector<Record> old{make_record("volume order=5 elements=1000", "unroll=2", 1e-3),
                                  make_record("volume order=5 elements=2000", "unroll=2", 1e-3),
                                  make_record("volume order=5 elements=3000", "unroll=2", 1e-3)};
    for (const Record& record : old) database.add(record);
    database.merge_into(folder.path());
    std::vector<Record> slower = old;
    for (Record& record : slower) record.step = {2e-3, 2e-3, 2e-3, 2e-3, 40};
    Database meanwhile(two_families());
    meanwhile.add(make_record("volume order=5 elements=2000", "unroll=3", 0.5e-3));
    meanwhile.merge_into(folder.path());
    EXPECT_EQ(Database::replace_in(folder.path(), two_families(), {{old[0], slower[0]}, {old[1], slower[1]}}), 1);
    const std::vector<Record> now = Database::load(folder.path(), two_families()).records();
    ASSERT_EQ(now.size(), 3U);
    EXPECT_EQ(now[0].step.median, 2e-3) << "though it is no better";
    EXPECT_EQ(now[1].config.key(), "unroll=3") << "somebody else was there before";
    EXPECT_EQ(now[2].step.median, 1e-3);
    EXPECT_THROW(Database::replace_in(folder.path(), two_families(), {{old[0], old[1]}}), Error);
    Record impossible = slower[2];
    impossible.step.median = 0;
    EXPECT_THROW(Database::replace_in(folder.path(), two_families(), {{old[2], impossible}}), Error);
    EXPECT_EQ(Database::replace_in(folder.path() / "absent", two_families(), {{old[2], slower[2]}}), 0);
}

TEST(Database, KeepsTheBetterRecordOfASubject) {
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3));
    database.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    database.add(make_record("volume order=5 elements=1000", "unroll=4", 3e-3));
    ASSERT_EQ(database.records().size(), 1U);
    EXPECT_EQ(database.records().front().config.key(), "unroll=3");
}

TEST(Database, RefusesARecordThatAFileCouldNotHold) {
    const Record good = make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    const auto refuses = [&](const std::string& what, const std::function<void(Record&)>& spoil) {
        Record record = good;
        spoil(record);
        Database database(two_families());
        try {
            database.add(record);
            ADD_FAILURE() << what << " was accepted";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
        EXPECT_TRUE(database.records().empty());
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refuses("step_seconds.median", [&](Record& r) { r.step.median = nan; });
    refuses("step_seconds.median", [](Record& r) { r.step = {}; });
    refuses("step_seconds.low", [](Record& r) { r.step.low = r.step.high; });
    refuses("step_seconds.samples", [](Record& r) { r.step.samples = 0; });
    refuses("counts.bytes", [](Record& r) { r.counts.bytes = -1; });
    refuses("verification.tolerance", [&](Record& r) { r.tolerance = nan; });
    refuses("date", [](Record& r) { r.date = "yesterday"; });
    refuses("source_hash", [](Record& r) { r.versions.source_hash = "abc"; });
    refuses("ceiling.binding", [](Record& r) { r.ceiling = "coffee"; });
    refuses("purpose", [](Record& r) { r.purpose = "two words"; });
    refuses("configuration", [](Record& r) { r.config = Config({{"unroll", std::string("2,block=3")}}); });
    refuses("date", [](Record& r) { r.further.emplace_back("date", "1"); });
    EXPECT_NO_THROW(Database(two_families()).add(good));
}

TEST(Database, AFileReadsBackAsItWasWritten) {
    const test::TemporaryFolder folder;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    Database database(two_families());
    for (int i = 0; i < 200; ++i) database.add(random());
    database.merge_into(folder.path());
    const Database again = Database::load(folder.path(), two_families());
    ASSERT_EQ(again.records().size(), database.records().size());
    std::vector<std::string> before;
    std::vector<std::string> after;
    for (const auto& record : database.records()) before.push_back(to_json(record));
    for (const auto& record : again.records()) after.push_back(to_json(record));
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
    EXPECT_EQ(database_files(folder.path()).size(), 4U) << "one file per device";
}

TEST(Database, AMergeSaysWhatBecameOfItsRecords) {
    const test::TemporaryFolder folder;
    Database first(two_families());
    first.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3));
    first.add(make_record("volume order=6 elements=1000", "unroll=2", 2e-3));
    const MergeCounts at_first = first.merge_into(folder.path());
    EXPECT_EQ(at_first.added, 2);
    Database second(two_families());
    second.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    second.add(make_record("volume order=6 elements=1000", "unroll=3", 3e-3));
    second.add(make_record("volume order=7 elements=1000", "unroll=3", 3e-3));
    const MergeCounts counts = second.merge_into(folder.path());
    EXPECT_EQ(counts.added, 1);
    EXPECT_EQ(counts.replaced, 1);
    EXPECT_EQ(counts.kept, 1);
    EXPECT_EQ(Database::load(folder.path(), two_families()).records().size(), 3U);
}

TEST(Database, MergingTheSameAgainChangesNoByteAndTouchesNoFile) {
    const test::TemporaryFolder folder;
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3));
    database.merge_into(folder.path());
    const auto path = folder.path() / "nvidia_h200.json";
    const auto time = std::filesystem::last_write_time(path) - std::chrono::hours(1);
    std::filesystem::last_write_time(path, time);
    database.merge_into(folder.path());
    Database::load(folder.path(), two_families()).merge_into(folder.path());
    EXPECT_EQ(std::filesystem::last_write_time(path), time);
}

TEST(Database, OneMoreRecordAddsALineAndChangesNoOther) {
    Database database(two_families());
    database.add(make_record("volume order=2 elements=1000", "unroll=2", 2e-3));
    database.add(make_record("volume order=10 elements=1000", "unroll=2", 2e-3));
    const std::string before = database_file_text("nvidia_h200", database.records());
    database.add(make_record("volume order=3 elements=1000", "unroll=2", 2e-3));
    const std::string after = database_file_text("nvidia_h200", database.records());
    const std::size_t added = after.find("\"order\": 3");
    EXPECT_LT(after.find("\"order\": 2"), added);
    EXPECT_LT(added, after.find("\"order\": 10")) << "numbers by size";
    // Without the new record's line, the text is the old one.
    EXPECT_EQ(after.substr(0, after.rfind('\n', added)) + after.substr(after.find('\n', added)), before);
}

TEST(Database, RecordsOfUnknownFamiliesSurviveAMerge) {
    const test::TemporaryFolder folder;
    Database full(two_families());
    full.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3));
    full.add(make_record("sweep precision=f32 nx=128 ny=64", "block=64", 1e-3));
    full.merge_into(folder.path());
    const auto path = folder.path() / "nvidia_h200.json";
    const std::string before = read_file(path, 1 << 20);

    Database partial = Database::load(folder.path(), test::volume_alone());
    EXPECT_EQ(partial.records().size(), 1U);
    EXPECT_EQ(partial.foreign_records().size(), 1U);
    EXPECT_THROW(partial.best(problem("sweep precision=f32 nx=128 ny=64"), h200(), h200_limits()), Error);
    std::filesystem::remove(path);
    partial.merge_into(folder.path());
    EXPECT_EQ(read_file(path, 1 << 20), before);

    Database other(test::volume_alone());
    other.add(make_record("volume order=6 elements=1000", "unroll=2", 2e-3));
    other.merge_into(folder.path());
    EXPECT_EQ(Database::load(folder.path(), two_families()).records().size(), 3U);
}

TEST(Database, FieldsOfANewerProgramSurviveAMerge) {
    const test::TemporaryFolder folder;
    Record record = make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    record.further = {{"joules_per_step", "0.10000000000000000001"}, {"share", R"({"cpu": [0.25, null], "gpu": "rest"})"}};
    Database database(two_families());
    database.add(record);
    database.merge_into(folder.path());
    Database more(two_families());
    more.add(make_record("volume order=6 elements=1000", "unroll=2", 2e-3));
    more.merge_into(folder.path());
    const Match match = Database::load(folder.path(), two_families()).best(record.problem, h200(), h200_limits());
    ASSERT_TRUE(match.record);
    EXPECT_EQ(match.record->further, record.further);
}

TEST(Database, AnAbsentFolderIsEmptyAndAFileInItsPlaceIsAnError) {
    const test::TemporaryFolder folder;
    EXPECT_TRUE(Database::load(folder.path() / "absent", two_families()).records().empty());
    std::ofstream(folder.path() / "file") << "x";
    EXPECT_THROW(Database::load(folder.path() / "file", two_families()), Error);
    EXPECT_THROW(Database(two_families()).merge_into(folder.path() / "file"), Error);
}

TEST(Database, AFileThatCannotBeReadStopsAMergeBeforeAnythingIsWritten) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "nvidia_h200.json") << "{";
    Database database(two_families());
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3, h100()));  // its file would be written first
    database.add(make_record("volume order=5 elements=1000", "unroll=2", 2e-3));
    EXPECT_THROW(database.merge_into(folder.path()), Error);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "nvidia_h100_pcie.json"));
    EXPECT_EQ(read_file(folder.path() / "nvidia_h200.json", 100), "{");
    std::ofstream(folder.path() / "nvidia_h200.json");
    EXPECT_THROW(database.merge_into(folder.path()), Error) << "an empty file is a broken one";
}

TEST(Database, MergesGiveTheSameInAnyOrderAndGrouping) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    const auto text = [](const Database& database) { return database_file_text("all", database.records()); };
    const auto merged = [](Database a, const Database& b) {
        a.add(b);
        return a;
    };
    for (int round = 0; round < 20; ++round) {
        std::vector<Database> parts(3, Database(two_families()));
        for (auto& part : parts)
            for (int i = 0; i < 30; ++i) part.add(i % 3 == 0 ? random.shared() : i % 3 == 1 ? random.exchanged() : random());
        const Database& a = parts[0];
        const Database& b = parts[1];
        const Database& c = parts[2];
        EXPECT_EQ(text(merged(a, b)), text(merged(b, a)));
        EXPECT_EQ(text(merged(a, a)), text(a));
        EXPECT_EQ(text(merged(merged(a, b), c)), text(merged(a, merged(b, c))));
    }
}

TEST(Database, TenThousandRecordsAreSearchedThroughTheirIndex) {
    // No clock: the space of the problem asked for may be built once only, and every answer equals
    // that of a plain search.
    Database database(two_families());
    for (std::int64_t size = 1; size <= 1000; ++size)
        for (int order = 1; order <= 10; ++order)
            database.add(make_record("volume order=" + std::to_string(order) + " elements=" + std::to_string(size * 100), "unroll=1", 1e-3));
    ASSERT_EQ(database.records().size(), 10000U);
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    for (int i = 0; i < 20; ++i) {
        const Problem asked =
            problem("volume order=" + std::to_string(1 + random.below(10)) + " elements=" + std::to_string(20 + random.below(199980)));
        const auto elements = [](const Problem& of) { return std::log2(static_cast<double>(of.integer("elements"))); };
        const auto octaves = [&](const Problem& known) { return std::abs(elements(known) - elements(asked)); };
        double nearest = std::numeric_limits<double>::infinity();
        for (const auto& record : database.records())
            if (record.problem.class_key() == asked.class_key()) nearest = std::min(nearest, octaves(record.problem));
        const Match match = database.best(asked, h200(), h200_limits());
        ASSERT_TRUE(match.record);
        EXPECT_NEAR(octaves(match.record->problem), nearest, 1e-8);
    }
}

TEST(ConcurrentDatabase, ThreadsLookUpInOneAndMergeIntoOneFolder) {
    const test::TemporaryFolder folder;
    Database shared(two_families());
    shared.add(make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    constexpr int threads = 4;
    constexpr int merges = 5;
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            for (int i = 0; i < merges; ++i) {
                EXPECT_EQ(ask(shared, "volume order=5 elements=" + std::to_string(1000 + i)).config.key(), "unroll=3");
                Database own(two_families());
                own.add(make_record("volume order=5 elements=" + std::to_string(1 + thread * merges + i), "unroll=1", 1e-3));
                own.merge_into(folder.path());
            }
        });
    for (auto& thread : running) thread.join();
    EXPECT_EQ(Database::load(folder.path(), two_families()).records().size(), std::size_t{threads * merges});
}

TEST(Database, ResultsOfTheSameMicroarchitectureAnswerBeforeThoseOfTheSameName) {
    const auto processor = [](const char* name, const char* architecture) {
        return DeviceFingerprint{Target::cpu, name, architecture, 16, "", "g++ 12.2"};
    };
    const DeviceFingerprint here = processor("Intel(R) Xeon(R) Processor", "x86-64-avx512 intel-6-207-2048k");
    const Problem problem = test::two_families().parse_problem("volume order=5 elements=1000");
    Database database(test::two_families());
    const auto add = [&](const char* config, const DeviceFingerprint& device) {
        database.add(test::make_record("volume order=5 elements=1000", config, 1e-3, device));
        return database.best(problem, here, cpu_limits());
    };
    EXPECT_EQ(add("unroll=3", processor("Apple", "aarch64-neon")).grade, Grade::other_architecture);
    EXPECT_EQ(add("unroll=1", processor("Intel(R) Xeon(R) Processor", "x86-64-avx512 intel-6-143-2048k")).grade, Grade::same_architecture)
        << "another processor of the same name";
    EXPECT_EQ(add("unroll=2", processor("Intel(R) Xeon(R) Platinum 8581C", "x86-64-avx512 intel-6-207-2048k")).config.key(), "unroll=2");
    const Match exact = add("unroll=3", here);
    EXPECT_EQ(exact.grade, Grade::exact);
    EXPECT_EQ(exact.config.key(), "unroll=3");
}

Record shared(const std::string& problem, double share, double seconds, const std::string& config = "unroll=2") {
    const DeviceFingerprint host{Target::cpu, "AMD EPYC 9B14", "x86-64-avx512", 16, "", "g++ 12.2"};
    Record record = test::make_record(problem, config, seconds);
    record.purpose = "hybrid";
    record.hybrid = Hybrid{host, test::make_record(problem, "unroll=1", seconds, host).config, share, 1, {}, {}, 0, 0};
    return record;
}

TEST(DatabaseShare, IsThatOfTheFastestPairOfTheNearestSizeFromEitherSide) {
    Database database(test::two_families());
    const Problem problem = test::two_families().parse_problem("volume order=5 elements=1000");
    const DeviceSide gpu{test::h200(), test::h200_limits()};
    const Record first = shared("volume order=5 elements=1000", 0.9, 2e-3);
    const DeviceSide host{first.hybrid->partner, cpu_limits()};
    EXPECT_EQ(database.best_share(problem, gpu, host).grade, Grade::none);
    EXPECT_EQ(database.best_share(problem, gpu, host).share, 1);
    database.add(shared("volume order=5 elements=64000", 0.6, 1e-3));
    EXPECT_EQ(database.best_share(problem, gpu, host).grade, Grade::none) << "six octaves are far";
    database.add(shared("volume order=5 elements=8000", 0.5, 1e-3));
    EXPECT_EQ(database.best_share(problem, gpu, host).grade, Grade::nearest_size);
    EXPECT_EQ(database.best_share(problem, gpu, host).share, 0.5);
    database.add(first);
    database.add(shared("volume order=5 elements=1000", 0.75, 1e-3, "unroll=3"));
    EXPECT_EQ(database.records().size(), 4U) << "another configuration is another pair";
    const Share share = database.best_share(problem, gpu, host);
    EXPECT_EQ(share.grade, Grade::exact);
    EXPECT_EQ(share.share, 0.75);
    EXPECT_EQ(share.config.key(), "unroll=3");
    EXPECT_EQ(share.partner_config.key(), "unroll=1");
    const Share turned = database.best_share(problem, host, gpu);
    EXPECT_EQ(turned.share, 0.25);
    EXPECT_EQ(turned.config.key(), "unroll=1");
    EXPECT_EQ(turned.partner_config.key(), "unroll=3");
    EXPECT_EQ(database.best_share(problem, gpu, gpu).grade, Grade::none) << "another pair";
    EXPECT_EQ(database.best(problem, gpu.fingerprint, gpu.limits).grade, Grade::none) << "a shared step says nothing about one device";
}

TEST(DatabaseShare, PassesOverWhatIsNotVerifiedOrNoMember) {
    Database database(test::two_families());
    const Problem problem = test::two_families().parse_problem("volume order=5 elements=1000");
    Record wrong = shared("volume order=5 elements=1000", 0.9, 1e-4);
    wrong.verification_error = 1;
    database.add(wrong);
    Record no_member = shared("volume order=5 elements=1000", 0.8, 1e-4);
    no_member.hybrid->partner_config = Config({{"unroll", 9}});
    database.add(no_member);
    const DeviceSide gpu{test::h200(), test::h200_limits()};
    EXPECT_EQ(database.best_share(problem, gpu, {wrong.hybrid->partner, cpu_limits()}).grade, Grade::none);
}

constexpr const char* nvlink = "NVLink, 18 links, between processes";
constexpr const char* pcie = "PCIe, between processes";

Record exchanged(const std::string& problem, const char* link, int ranks, const std::string& edges, double seconds) {
    Record record = test::make_record(problem, "unroll=2", seconds);
    record.purpose = "exchange";
    record.exchange = Exchange{"waves", link, ranks, Config({{"edges", edges}}), 2 * seconds};
    return record;
}

// What a look-up finds: its edges, or nothing.
std::string edges_for(const Database& database, const std::string& problem, const std::string& program, const char* link, int ranks,
                      Grade grade = Grade::exact) {
    const ExchangeMatch match = database.best_exchange(test::two_families().parse_problem(problem), test::h200(),
                                                       {.program = program, .link = link, .ranks = ranks, .config = {}});
    EXPECT_EQ(match.grade, match.record ? grade : Grade::none);
    return match.record ? match.record->exchange->config.word("edges") : "";
}

TEST(DatabaseExchange, IsThatOfTheProgramAndTheLink) {
    Database database(test::two_families());
    const std::string small = "volume order=5 elements=1000", large = "volume order=5 elements=64000";
    EXPECT_EQ(edges_for(database, small, "waves", nvlink, 2), "");
    database.add(exchanged(small, nvlink, 2, "ahead", 1e-3));
    database.add(exchanged(small, pcie, 2, "before", 2e-3));
    EXPECT_EQ(database.records().size(), 2U) << "two links are two subjects";
    EXPECT_EQ(edges_for(database, small, "waves", nvlink, 2), "ahead");
    EXPECT_EQ(edges_for(database, small, "waves", pcie, 2), "before");
    EXPECT_EQ(edges_for(database, small, "waves", "network, between processes", 2), "");
    EXPECT_EQ(edges_for(database, small, "flow", nvlink, 2), "") << "another program";
    EXPECT_EQ(edges_for(database, "volume order=6 elements=1000", "waves", nvlink, 2), "") << "another class";
    EXPECT_EQ(edges_for(database, large, "waves", nvlink, 2, Grade::nearest_size), "ahead");
    EXPECT_EQ(edges_for(database, small, "waves", nvlink, 8, Grade::nearest_size), "ahead") << "of other numbers of ranks where there is none";
    database.add(exchanged(large, nvlink, 8, "beside", 1e-3));
    EXPECT_EQ(edges_for(database, small, "waves", nvlink, 8, Grade::nearest_size), "beside") << "as many ranks before as many cells";
    Record wrong = exchanged(small, nvlink, 2, "serial", 1e-4);
    wrong.verification_error = 1;
    Database others(test::two_families());
    others.add(wrong);
    EXPECT_EQ(edges_for(others, small, "waves", nvlink, 2), "");
    const Problem problem = test::two_families().parse_problem(small);
    EXPECT_EQ(database.best(problem, test::h200(), test::h200_limits()).grade, Grade::none) << "what ranks exchange says nothing about one device";
    EXPECT_EQ(database.best_exchange(problem, {Target::cuda, "NVIDIA A100", "sm_80", 108, "", ""}, {.program = "waves", .link = nvlink, .config = {}})
                  .grade,
              Grade::none);
}

TEST(DatabaseExchange, AFasterOneAboutTheSameTakesThePlace) {
    const test::TemporaryFolder folder;
    const std::string problem = "volume order=5 elements=1000";
    for (const auto& [edges, seconds] : {std::pair{"ahead", 2e-3}, {"beside", 1e-3}, {"before", 3e-3}}) {
        Database one(test::two_families());
        one.add(exchanged(problem, nvlink, 2, edges, seconds));
        one.merge_into(folder.path());
    }
    EXPECT_EQ(edges_for(Database::load(folder.path(), test::two_families()), problem, "waves", nvlink, 2), "beside");
}

}  // namespace
}  // namespace hone::database_test
