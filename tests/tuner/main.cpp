// This test program is its own worker, so that workers know the tests' families, and its own tuning
// process to be killed.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/axpy_family.hpp"
#include "tests/tuner/replay/simulated_run.hpp"
#include "tests/tuner/worker/hanging_worker.hpp"
#include "tuner/worker/rank_team.hpp"
#include "tuner/worker/worker.hpp"

int main(int count, char** words) {
    const std::string role = count > 1 ? words[1] : "";
    if (role == "worker")
        return hone::worker_main(hone::test::axpy_families(
            {"none", "wrong", "crash", "hang", "greedy", "launch_failure", "compile_failure", "scribble", "astray", "odd", "large"}));
    if (role == "relay" && count == 5) return hone::relay_main(words[2], words[3], words[4]);
    if (role == "hang" && count == 3) return hone::test::hang_main(words[2]);
    if (role == "simulate" && count == 4) return hone::test::simulate_main(words[2], words[3]);
    testing::InitGoogleTest(&count, words);
    return RUN_ALL_TESTS();
}
