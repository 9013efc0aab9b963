#include "foundation/processors.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <fstream>

#include "foundation/cgroup.hpp"
#include "foundation/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::processors_test {
namespace {

namespace fs = std::filesystem;

ProcessorFacts sixteen() {
    ProcessorFacts facts;
    for (int number = 0; number < 16; ++number) facts.allowed.push_back(number);
    facts.of_machine = 16;
    return facts;
}

TEST(Processors, AllOfTheMachineAreUsedWhereNothingLimitsThem) {
    const Processors found = decide_processors(sixteen());
    EXPECT_EQ(found.numbers.size(), 16U);
    EXPECT_EQ(found.usable, 16);
    EXPECT_EQ(found.threads, 16);
    EXPECT_TRUE(found.limits.empty());
}

TEST(Processors, EveryLimitIsObeyedAndNamed) {
    using Reasons = std::vector<std::string>;
    ProcessorFacts facts = sixteen();
    facts.num_threads = "4,2";
    EXPECT_EQ(decide_processors(facts).threads, 4);
    EXPECT_EQ(decide_processors(facts).usable, 16) << "compilers are no threads of OpenMP";
    EXPECT_EQ(decide_processors(facts).limits, Reasons{"OMP_NUM_THREADS=4,2"});
    facts.thread_limit = 3;
    EXPECT_EQ(decide_processors(facts).threads, 3);
    facts = sixteen();
    facts.quota = 1.5;
    EXPECT_EQ(decide_processors(facts).threads, 1);
    EXPECT_EQ(decide_processors(facts).usable, 1);
    EXPECT_EQ(decide_processors(facts).limits, Reasons{"cgroup quota 1.5 processors"});
    facts = sixteen();
    facts.allowed = {3};
    facts.num_threads = "16";
    EXPECT_EQ(decide_processors(facts).threads, 1) << "sixteen threads on one processor measure their turns";
    EXPECT_EQ(decide_processors(facts).limits, Reasons{"bound to processors 3 by the launcher"});
    facts.placement = {"OMP_PLACES={3}"};
    EXPECT_EQ(decide_processors(facts).limits, Reasons{"bound to processors 3 by the launcher or by OMP_PLACES={3}"});
    facts.num_threads = "many";
    EXPECT_EQ(decide_processors(facts).threads, 1);
}

TEST(Processors, ThreadsThatStayOnOnePlaceAreAsManyAsItsProcessors) {
    ProcessorFacts facts = sixteen();
    facts.binding = "close";
    facts.first_place = 2;
    EXPECT_EQ(decide_processors(facts).threads, 16);
    EXPECT_EQ(decide_processors(facts).binding, "close");
    facts.binding = "primary";
    EXPECT_EQ(decide_processors(facts).threads, 2);
    EXPECT_EQ(decide_processors(facts).limits, std::vector<std::string>{"OMP_PROC_BIND=master: all threads stay on the first one's place"});
    facts.first_place = 16;
    EXPECT_EQ(decide_processors(facts).threads, 16);
    EXPECT_TRUE(decide_processors(facts).limits.empty());
}

TEST(Processors, AListIsWrittenInRanges) {
    EXPECT_EQ(processor_list({0, 1, 2, 3, 8}), "0-3,8");
    EXPECT_EQ(processor_list({5}), "5");
    EXPECT_EQ(processor_list({0, 2, 4}), "0,2,4");
}

TEST(Processors, AChildOfABoundThreadMayRunOnAllAndTheThreadStaysBound) {
    const std::string all = processor_list(processors().numbers);
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors().numbers.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const ProcessResult child = run_process({"/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"}, 30);
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    sched_setaffinity(0, sizeof before, &before);
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
    EXPECT_EQ(child.output, "Cpus_allowed_list:\t" + all + "\n");
}

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

TEST(Cgroup, TheLeastOfAGroupAndThoseAboveItCounts) {
    const test::TemporaryFolder root;
    EXPECT_EQ(cgroup_limits(root.path()).processors, 0);
    EXPECT_EQ(cgroup_limits(root.path()).memory_bytes, 0);
    write(root.path() / "proc/self/cgroup", "0::/a/b\n");
    write(root.path() / "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    write(root.path() / "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    write(root.path() / "sys/fs/cgroup/a/b/memory.max", "1048576\n");
    EXPECT_EQ(cgroup_limits(root.path()).processors, 1.5);
    EXPECT_EQ(cgroup_limits(root.path()).memory_bytes, 1 << 20);
}

TEST(Cgroup, TheFirstVersionIsReadToo) {
    const test::TemporaryFolder root;
    write(root.path() / "proc/self/cgroup", "4:memory:/c\n1:cpu,cpuacct:/c\n");
    write(root.path() / "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "400000\n");
    write(root.path() / "sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
    write(root.path() / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write(root.path() / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write(root.path() / "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(cgroup_limits(root.path()).processors, 4);
    EXPECT_EQ(cgroup_limits(root.path()).memory_bytes, 0);
    write(root.path() / "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1048576\n");
    write(root.path() / "sys/fs/cgroup/memory/c/memory.usage_in_bytes", "524288\n");
    write(root.path() / "sys/fs/cgroup/memory/c/memory.stat", "inactive_file 1\ntotal_inactive_file 262144\n");
    EXPECT_EQ(cgroup_limits(root.path()).memory_bytes, 1 << 20);
    EXPECT_EQ(cgroup_limits(root.path()).memory_left, 3 << 18);
}

}  // namespace
}  // namespace hone::processors_test
