// hone tune on several ranks, each a process with a processor of its own, as srun would start them;
// one of them is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "foundation/processors.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"

namespace hone::test::tuning_ranks_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using tools::Json;

// A space of 4608 members, so that no search has come to its end when ranks find out that one of
// them is silent: with 90, as gauss_seidel_27 has, a fast machine had them all before.
std::vector<std::string> tune(const std::string& until, const std::string& limit) {
    return {"tune", "acoustics_staggered", "kernel=step", "dimension=3", "order=4", "precision=f32", "nx=40",  "ny=36",    "nz=32",  "--device",
            "cpu",  "--samples",           "6",           "--seed",      "3",       "--strategy",    "random", "--resume", "--json", until,
            limit};
}

// What this thread starts runs on this processor.
class OnProcessor {
  public:
    explicit OnProcessor(int number) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(number), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OnProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
    OnProcessor(const OnProcessor&) = delete;
    OnProcessor& operator=(const OnProcessor&) = delete;

  private:
    cpu_set_t before_{};
};

std::string journal_in(const fs::path& folder) {
    std::ostringstream text;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder / "journals", none)) text << std::ifstream(entry.path()).rdbuf();
    return text.str();
}

int candidates_in(const std::string& journal) {
    int count = 0;
    for (std::size_t at = journal.find("\"candidate\""); at != std::string::npos; at = journal.find("\"candidate\"", at + 1)) ++count;
    return count;
}

// The ranks of one step of srun.
std::vector<std::unique_ptr<HoneProcess>> start_ranks(int ranks, const std::string& step, const std::vector<std::string>& arguments) {
    const EnvironmentVariable open("OMPI_COMM_WORLD_SIZE", {}), hydra("PMI_SIZE", {}), space("PMIX_NAMESPACE", {});
    const EnvironmentVariable tasks("SLURM_NTASKS", std::to_string(ranks)), job("SLURM_JOB_ID", "7"), name("SLURM_STEP_ID", step);
    const EnvironmentVariable threads("OMP_NUM_THREADS", {}), binding("OMP_PROC_BIND", {});
    std::vector<std::unique_ptr<HoneProcess>> started;
    for (int rank = 0; rank < ranks; ++rank) {
        const OnProcessor where(processors().numbers[static_cast<std::size_t>(rank)]);
        const EnvironmentVariable number("SLURM_PROCID", std::to_string(rank)), local("SLURM_LOCALID", std::to_string(rank));
        started.push_back(std::make_unique<HoneProcess>(arguments));
    }
    return started;
}

TEST(SlowTuningRanks, ARankThatIsKilledCostsItsCandidateAndNothingElse) {
    const int ranks = std::min(3, static_cast<int>(processors().numbers.size()));
    if (ranks < 2) GTEST_SKIP() << "each rank takes a processor of its own, and there is one";
    const OwnFolders own;
    const fs::path database = own.folder.path() / "db";
    std::string kept;
    {
        const auto processes = start_ranks(ranks, "0", tune("--budget", "20m"));
        std::string before;
        for (int tenths = 0; tenths < 1800 && before.find("\"rank 1 ") == std::string::npos; ++tenths) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            before = journal_in(database);
        }
        ASSERT_THAT(before, HasSubstr("\"rank 1 ")) << "nothing was measured there\n" << processes[0]->error();
        before.erase(before.rfind('\n') + 1);  // a line may be on its way
        processes[1]->send(SIGKILL);
        EXPECT_EQ(processes[1]->wait(30), -SIGKILL);
        ASSERT_TRUE(processes[0]->wait_for("takes no further part", 120)) << processes[0]->error();
        EXPECT_THAT(processes[0]->error(), testing::ContainsRegex("rank 1 [^\n]*takes no further part: [^\n]*silent"));
        const int then = candidates_in(journal_in(database));
        for (int tenths = 0; tenths < 600 && candidates_in(journal_in(database)) == then; ++tenths)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_GT(candidates_in(journal_in(database)), then) << "the run goes on without it\n" << processes[0]->error();
        processes[0]->send(SIGINT);
        EXPECT_EQ(processes[0]->wait(120), 4) << processes[0]->error();
        for (int rank = 2; rank < ranks; ++rank)
            EXPECT_EQ(processes[static_cast<std::size_t>(rank)]->wait(60), 0) << "it was told that the run is over";
        kept = journal_in(database);
        EXPECT_THAT(kept, StartsWith(before));
    }
    // One rank goes on with it, and repeats nothing.
    const int done = candidates_in(kept);
    const auto alone = start_ranks(1, "1", tune("--evaluations", std::to_string(done + 2)));
    ASSERT_EQ(alone[0]->wait(), 0) << alone[0]->error();
    const Json search = Json::parse(alone[0]->out())["results"][0]["search"];
    EXPECT_EQ(search["replayed"], done) << search.dump();
    EXPECT_EQ(search["evaluations"], done + 2) << search.dump();
    EXPECT_THAT(journal_in(database), StartsWith(kept));
}

}  // namespace
}  // namespace hone::test::tuning_ranks_test
