// The n-th call about a file fails, in each way in which it may.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "foundation/process.hpp"
#include "tests/campaign/campaign.hpp"
#include "tests/campaign/journal_writer.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

struct Fault {
    Call call = Call::open;
    int number = 0;
    int error = 0;

    std::string text() const { return fmt::format("{}:{}:{}", call_names[static_cast<std::size_t>(call)], number, error); }
};

// How each of them fails in practice; 0 of a write: half of it is written, then the disk is full.
const std::map<Call, std::vector<int>>& errors() {
    static const std::map<Call, std::vector<int>> all{
        {Call::open, {EACCES, EINTR, EIO, EMFILE, ENOENT, ENOSPC, EROFS}},
        {Call::write, {0, EDQUOT, EINTR, EIO, ENOSPC}},
        {Call::pwrite, {EIO, ENOSPC}},
        {Call::read, {EINTR, EIO}},
        {Call::fsync, {EINVAL, EIO, ENOSPC}},
        {Call::fdatasync, {EIO, ENOSPC}},
        {Call::rename, {EACCES, EIO, ENOSPC}},
        {Call::link, {EIO, ENOSPC}},
        {Call::unlink, {EACCES, EIO}},
        {Call::ftruncate, {EINTR, EIO}},
        {Call::mkdir, {EACCES, ENOSPC, EROFS}},
        {Call::rmdir, {EIO}},
        {Call::flock, {EINTR, EINVAL, EIO, ENOLCK, ENOSYS}},
        {Call::lock, {EINTR, EINVAL, EIO, ENOLCK, ENOSYS}},
        {Call::close, {EDQUOT, EIO}},
    };
    return all;
}

/// All faults that the calls of a run without any allow.
std::vector<Fault> faults_of(const std::vector<LoggedCall>& calls) {
    std::map<Call, int> numbers;
    std::vector<Fault> faults;
    for (const LoggedCall& call : calls) {
        if (call.event.call == Call::mark) continue;
        const int number = ++numbers[call.event.call];
        for (const int error : errors().at(call.event.call)) faults.push_back({call.event.call, number, error});
    }
    return faults;
}

bool was_injected(const fs::path& log) {
    for (const LoggedCall& call : read_log(log))
        if (call.event.injected != 0) return true;
    return false;
}

/// The lines of the run's journal that it was told to be on the disk. Those of its session log,
/// beside the journals, need not outlive a power cut.
std::vector<std::string> lines_kept(const std::vector<LoggedCall>& calls) {
    std::vector<std::string> kept;
    std::string line;
    for (const LoggedCall& call : calls) {
        if (fs::path(call.path).parent_path().filename() != "journals" || call.event.error != 0) continue;
        if (call.event.call == Call::write) line += call.more;
        if (call.event.call == Call::ftruncate) line.clear();
        if (call.event.call == Call::fdatasync) kept.push_back(std::exchange(line, ""));
    }
    return kept;
}

/// A folder of the round's own.
class FaultTest : public testing::Test {
  protected:
    // Success, no result, wrong input or a file that cannot be used, or the machine lacks
    // something: never a crash, never "hone itself failed".
    static void expect_an_answer(int code, const std::string& error) {
        EXPECT_TRUE(code >= 0 && code <= 3) << "exit code " << code << ": " << error;
        if (code != 0) {
            EXPECT_NE(error, "");
        }
    }

    // An empty folder, and no log yet.
    void begin_in(const fs::path& folder) const {
        fs::remove_all(folder);
        fs::remove(log);
        fs::create_directories(folder);
    }

    // Those of the run that was logged, in random order.
    std::vector<Fault> logged_faults() {
        std::vector<Fault> faults = faults_of(read_log(log));
        std::shuffle(faults.begin(), faults.end(), random);
        return faults;
    }

    OwnFolders own;
    MadeRecords made{own.folder.path() / "from"};
    fs::path log = own.folder.path() / "log";
    std::mt19937_64 random = fresh_random();
    // What was not synchronised must not be taken for kept. A folder may have nothing to
    // synchronise (EINVAL).
    static bool must_be_reported(const Fault& fault) { return (fault.call == Call::fsync || fault.call == Call::fdatasync) && fault.error != EINVAL; }

    int rounds_made = 0;
    int injected = 0;
    int reported = 0;
};

using CampaignFaults = FaultTest;

TEST_F(CampaignFaults, OfAMergeLoseNothing) {
    const fs::path database = own.folder.path() / "faulty" / "db";
    const std::vector<MadeRecords::Batch> batches{made.make(3), made.make(2)};
    const auto merge = [&](const MadeRecords::Batch& batch) { return HoneRun({"db", "merge", database.string(), batch.folder.string()}); };
    const auto start = [&](bool present) {
        begin_in(database.parent_path());
        if (present) {
            ASSERT_EQ(merge(batches[0]).code, 0);
        }
    };
    std::map<bool, std::vector<Fault>> faults;
    for (const bool present : {false, true}) {
        start(present);
        const Preload preload({database.parent_path(), log, "db", ""});
        ASSERT_EQ(merge(batches[1]).code, 0);
        faults[present] = logged_faults();
        ASSERT_GT(faults[present].size(), 20U);
    }
    const std::size_t all = faults[false].size() + faults[true].size();
    for (const std::size_t wanted = std::min(all, times(400)); static_cast<std::size_t>(rounds_made) < wanted; ++rounds_made) {
        const bool present = faults[false].empty() || (!faults[true].empty() && draw(random, 2) == 0);
        const Fault fault = faults[present].back();
        faults[present].pop_back();
        SCOPED_TRACE(fault.text() + (present ? " of a merge into a database" : " of a first merge"));
        start(present);
        const std::vector<std::string> before = present ? batches[0].subjects : std::vector<std::string>();
        int code = 0;
        {
            const Preload preload({database.parent_path(), log, "db", fault.text()});
            const HoneRun run = merge(batches[1]);
            code = run.code;
            expect_an_answer(run.code, run.error);
        }
        injected += was_injected(log) ? 1 : 0;
        reported += code != 0 ? 1 : 0;
        if (must_be_reported(fault)) {
            EXPECT_NE(code, 0);
        }
        const std::vector<std::string> found = subjects_in(database);
        ASSERT_EQ(lost(before, found), std::vector<std::string>());
        const std::size_t news = batches[1].subjects.size() - lost(batches[1].subjects, found).size();
        ASSERT_TRUE(news == batches[1].subjects.size() || (code != 0 && news == 0)) << news << " new records, exit code " << code;
        // Without a fault all is as if there had been none.
        ASSERT_EQ(merge(batches[1]).code, 0);
        ASSERT_EQ(lost(batches[1].subjects, subjects_in(database)), std::vector<std::string>());
        const HoneRun valid({"db", "validate", database.string()});
        ASSERT_EQ(valid.code, 0) << valid.out;
    }
    count(fmt::format("faults of merges: {} of {} possible, {} calls failed, {} reported, 0 records lost", rounds_made, all, injected, reported));
}

TEST_F(CampaignFaults, OfAJournalLoseNoEvaluation) {
    const fs::path folder = own.folder.path() / "faulty" / "journals";
    const fs::path journal = folder / "journal.jsonl";
    const auto write = [&](const char* first) { return run_process({"/proc/self/exe", "journal", journal.string(), first}, 60); };
    const auto start = [&] {
        begin_in(folder.parent_path());
        ASSERT_TRUE(write("100").ok());  // which a faulty run puts aside
    };
    start();
    const std::string earlier = evaluations_in(journal);
    std::vector<Fault> faults;
    {
        const Preload preload({folder.parent_path(), log, "journal", ""});
        ASSERT_TRUE(write("0").ok());
        faults = logged_faults();
        ASSERT_GT(faults.size(), 20U);
    }
    const std::size_t all = faults.size();
    for (const std::size_t wanted = std::min(all, times(400)); static_cast<std::size_t>(rounds_made) < wanted; ++rounds_made) {
        const Fault fault = faults.back();
        faults.pop_back();
        SCOPED_TRACE(fault.text());
        start();
        ProcessResult run;
        {
            const Preload preload({folder.parent_path(), log, "journal", fault.text()});
            run = write("0");
        }
        EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2) << run.failure() << run.output;
        EXPECT_EQ(run.signal, 0);
        reported += run.ok() ? 0 : 1;
        if (must_be_reported(fault)) {
            EXPECT_FALSE(run.ok());
        }
        injected += was_injected(log) ? 1 : 0;
        const std::string acknowledged = run.output.substr(0, run.output.find_first_not_of("0123456789 "));
        bool first_there = false;
        bool all_there = acknowledged.empty();
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (text_of(entry.path()).find('\n') == std::string::npos) continue;  // nothing was acknowledged of it
            const std::string found = evaluations_in(entry.path());
            first_there = first_there || found == earlier;
            all_there = all_there || (entry.path() == journal && found.compare(0, acknowledged.size(), acknowledged) == 0);
        }
        ASSERT_TRUE(first_there) << "the journal of the run before is lost";
        ASSERT_TRUE(all_there) << "lost of: " << acknowledged;
        // Without a fault the next run goes on.
        ASSERT_TRUE(write("0").ok());
    }
    count(
        fmt::format("faults of journals: {} of {} possible, {} calls failed, {} reported, 0 evaluations lost", rounds_made, all, injected, reported));
}

// The cache of compiled kernels is only there to save time: what it cannot keep is compiled again.
TEST_F(CampaignFaults, OfTheCacheCostOnlyTime) {
    const fs::path cache = own.folder.path() / "faulty" / "cache";
    const fs::path code = own.folder.path() / "kernel.so";
    const EnvironmentVariable variable("HONE_CACHE", cache.string());
    const auto compile = [&] {
        fs::remove(code);
        return HoneRun({"compile", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=16", "--device", "cpu", "--output",
                        code.string()});
    };
    const auto start = [&] { begin_in(cache.parent_path()); };
    start();
    std::vector<Fault> faults;
    std::string expected;
    {
        const Preload preload({cache.parent_path(), log, "compile", ""});
        ASSERT_EQ(compile().code, 0);
        expected = text_of(code);
        faults = logged_faults();
        ASSERT_GT(faults.size(), 20U);
    }
    const std::size_t all = faults.size();
    for (const std::size_t wanted = std::min(all, times(200)); static_cast<std::size_t>(rounds_made) < wanted; ++rounds_made) {
        const Fault fault = faults.back();
        faults.pop_back();
        SCOPED_TRACE(fault.text());
        start();
        {
            const Preload preload({cache.parent_path(), log, "compile", fault.text()});
            const HoneRun run = compile();
            expect_an_answer(run.code, run.error);
            reported += run.code != 0 ? 1 : 0;
            if (run.code == 0) {
                EXPECT_EQ(text_of(code).size(), expected.size());
            }
        }
        injected += was_injected(log) ? 1 : 0;
        // What the faulty run left is either whole or not used.
        const HoneRun again = compile();
        ASSERT_EQ(again.code, 0) << again.error;
        ASSERT_EQ(text_of(code).size(), expected.size());
    }
    count(
        fmt::format("faults of the cache: {} of {} possible, {} calls failed, {} reported, 0 kernels spoiled", rounds_made, all, injected, reported));
}

TEST_F(CampaignFaults, OfTuningLoseNoEvaluation) {
    const fs::path database = own.folder.path() / "faulty" / "db";
    const auto tune = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = tune_command({"--evaluations", "2", "--db", database.string()});
        words.insert(words.end(), more.begin(), more.end());
        return HoneRun(words);
    };
    const auto start = [&] { begin_in(database.parent_path()); };
    start();
    ASSERT_EQ(tune({}).code, 0);  // so that the kernels are compiled
    start();
    std::vector<Fault> faults;
    {
        const Preload preload({database.parent_path(), log, "tune", ""});
        ASSERT_EQ(tune({}).code, 0);
        faults = logged_faults();
        ASSERT_GT(faults.size(), 20U);
    }
    const std::size_t all = faults.size();
    std::size_t lines = 0;
    for (const std::size_t wanted = std::min(all, times(60)); static_cast<std::size_t>(rounds_made) < wanted; ++rounds_made) {
        const Fault fault = faults.back();
        faults.pop_back();
        SCOPED_TRACE(fault.text());
        start();
        {
            const Preload preload({database.parent_path(), log, "tune", fault.text()});
            const HoneRun run = tune({});
            expect_an_answer(run.code, run.error);
            reported += run.code != 0 ? 1 : 0;
        }
        injected += was_injected(log) ? 1 : 0;
        const std::vector<std::string> kept = lines_kept(read_log(log));
        const HoneRun resumed = tune({"--resume"});
        ASSERT_EQ(resumed.code, 0) << resumed.error;
        const std::string journal = text_of(fs::directory_iterator(database / "journals")->path());
        for (const std::string& line : kept) ASSERT_NE(journal.find(line), std::string::npos) << line;
        lines += kept.size();
        ASSERT_EQ(subjects_in(database).size(), 1U);
    }
    EXPECT_GT(lines, 0U);
    count(fmt::format("faults of tuning: {} of {} possible, {} calls failed, {} reported, {} lines of journals looked for, 0 lost", rounds_made, all,
                      injected, reported, lines));
}

}  // namespace
}  // namespace hone::test
