#include "runtime/ranks/rank_place.hpp"

#include <gtest/gtest.h>

#include <list>

#include "tests/support/environment.hpp"

namespace hone::rank_place_test {
namespace {

// A process that no launcher started, unless a test says so.
class RankPlaceTest : public ::testing::Test {
  protected:
    RankPlaceTest() {
        for (const char* variable :
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "SLURM_PROCID",
              "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE"})
            set(variable, {});
    }
    ~RankPlaceTest() override {
        while (!variables_.empty()) variables_.pop_back();  // what was set last goes first
    }
    void set(const char* variable, const std::optional<std::string>& value) { variables_.emplace_back(variable, value); }

  private:
    std::list<test::EnvironmentVariable> variables_;
};

TEST_F(RankPlaceTest, IsNoneWithoutALauncher) {
    EXPECT_EQ(rank_place().ranks, 0);
    EXPECT_EQ(rank_place().variable, "");
}

TEST_F(RankPlaceTest, IsThatOfOpenMpi) {
    set("OMPI_COMM_WORLD_RANK", "5");
    set("OMPI_COMM_WORLD_SIZE", "8");
    set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    const RankPlace place = rank_place();
    EXPECT_EQ(place.rank, 5);
    EXPECT_EQ(place.ranks, 8);
    EXPECT_EQ(place.on_host, 1);
    EXPECT_EQ(place.variable, "OMPI_COMM_WORLD_SIZE=8");
    EXPECT_NE(place.job, "") << "the launcher's process names it";
    set("PMIX_NAMESPACE", "prte/../x");
    EXPECT_EQ(rank_place().job, "prte_.._x") << "a plain name of a file";
}

TEST_F(RankPlaceTest, IsThatOfMpich) {
    set("PMI_RANK", "2");
    set("PMI_SIZE", "3");
    set("MPI_LOCALRANKID", "0");
    EXPECT_EQ(rank_place().ranks, 3);
    EXPECT_EQ(rank_place().rank, 2);
}

TEST_F(RankPlaceTest, IsThatOfATaskOfSrunAlone) {
    set("SLURM_PROCID", "3");
    set("SLURM_NTASKS", "4");
    set("SLURM_LOCALID", "1");
    set("SLURM_JOB_ID", "77");
    EXPECT_EQ(rank_place().ranks, 0) << "a batch script, not a task of srun";
    set("SLURM_STEP_ID", "2");
    const RankPlace place = rank_place();
    EXPECT_EQ(place.rank, 3);
    EXPECT_EQ(place.on_host, 1);
    EXPECT_EQ(place.job, "77.2");
    EXPECT_EQ(place.variable, "SLURM_NTASKS=4");
}

TEST_F(RankPlaceTest, IsNoneWhereTheVariablesMakeNoSense) {
    set("PMI_RANK", "0");
    for (const char* ranks : {"many", "", "-3", "0", "99999999999999999999"}) {
        set("PMI_SIZE", ranks);
        EXPECT_EQ(rank_place().ranks, 0) << ranks;
    }
    set("PMI_SIZE", "3");
    EXPECT_EQ(rank_place().ranks, 3);
    set("PMI_RANK", "3");
    EXPECT_EQ(rank_place().ranks, 0) << "ranks are counted from 0";
}

}  // namespace
}  // namespace hone::rank_place_test
