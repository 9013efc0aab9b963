#include "tuner/worker/worker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "foundation/json.hpp"
#include "foundation/process.hpp"
#include "foundation/processors.hpp"
#include "runtime/backend.hpp"
#include "runtime/power.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/worker/hanging_worker.hpp"
#include "tuner/messages.hpp"
#include "tuner/worker/child_process.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::worker_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string next_line(ChildProcess& child) {
    while (true) {
        if (auto line = child.take_line()) return *line;
        if (child.closed()) return "it ended: " + child.end();
        ChildProcess* const children[] = {&child};
        ChildProcess::wait(children, 1);
    }
}

std::string open_request(const std::string& cache) {
    return fmt::format(R"({{"do": "open", "device": "cpu", "cache": {}}})", json_string(cache));
}

std::string evaluate_request(const std::string& config) {
    return fmt::format(R"({{"do": "evaluate", "config": {}, "incumbent": 0, "sampling": {}}})", json_string(config), to_json(SamplingRule{}));
}

const std::string problem_request = R"({"do": "problem", "problem": "axpy precision=f32 n=1000", "seed": "5"})";

class WorkerTest : public testing::Test {
  protected:
    std::string ask(const std::string& request) {
        worker.send(request);
        return next_line(worker);
    }

    test::TemporaryFolder folder;
    ChildProcess worker{{"/proc/self/exe", "worker"}};
};

TEST_F(WorkerTest, AnswersEveryRequestInItsTurn) {
    EXPECT_EQ(ask(open_request(folder.path() / "cache")), "{}");
    EXPECT_THAT(ask(problem_request), HasSubstr("seconds"));
    EXPECT_THAT(ask(evaluate_request("")), HasSubstr(R"("status": "measured")"));
    EXPECT_THAT(ask(evaluate_request("fault=wrong")), HasSubstr(R"("status": "wrong")"));
}

TEST_F(WorkerTest, AnswersWhatItCannotServeWithAnErrorAndGoesOn) {
    EXPECT_THAT(ask("this is no JSON"), HasSubstr("error"));
    EXPECT_THAT(ask("{}"), HasSubstr("error"));
    EXPECT_THAT(ask(R"({"do": "dance"})"), HasSubstr("dance"));
    EXPECT_THAT(ask(evaluate_request("")), HasSubstr("no problem on a device"));
    EXPECT_THAT(ask(R"({"do": "compile", "config": ""})"), HasSubstr("no compiler"));
    EXPECT_THAT(ask(R"({"do": "ceilings"})"), HasSubstr("no device"));
    EXPECT_EQ(ask(open_request(folder.path() / "cache")), "{}");
    EXPECT_THAT(ask(R"({"do": "problem", "problem": "axpi n=3", "seed": "5"})"), HasSubstr("did you mean axpy"));
    EXPECT_THAT(ask(problem_request), Not(HasSubstr("error")));
    EXPECT_THAT(ask(evaluate_request("unroll=3")), HasSubstr("error"));
    EXPECT_THAT(ask(evaluate_request("unroll=2,fault=wrong")), HasSubstr("error")) << "not a member of the space";
}

// The processors that the threads of a process may use, by thread, as the system lists them.
std::vector<std::string> processors_of_threads(pid_t process) {
    std::vector<std::string> lists;
    for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process))) {
        std::ifstream file(thread.path() / "status");
        for (std::string line; std::getline(file, line);)
            if (line.starts_with("Cpus_allowed_list:\t")) lists.push_back(line.substr(line.find('\t') + 1));
    }
    return lists;
}

std::string open_request(const std::string& cache, const std::string& processors, int threads) {
    return fmt::format(R"({{"do": "open", "device": "cpu", "cache": {}, "processors": "{}", "threads": {}}})", json_string(cache), processors,
                       threads);
}

// Starting from a thread that is bound to one processor, as OpenMP binds it where that is asked
// for.
TEST(WorkerProcessors, KernelsRunOnThoseThatTheWorkerWasTold) {
    const std::vector<int> all = processors().numbers;
    if (all.size() < 2) GTEST_SKIP() << "there is one processor";
    const test::EnvironmentVariable unbound("OMP_PROC_BIND", std::nullopt);
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const test::TemporaryFolder folder;
    ChildProcess worker({"/proc/self/exe", "worker"});
    sched_setaffinity(0, sizeof before, &before);
    const std::string told = processor_list(all);
    const auto ask = [&](const std::string& request) {
        worker.send(request);
        return next_line(worker);
    };
    EXPECT_EQ(ask(open_request(folder.path() / "cache", told, 2)), "{}");
    EXPECT_THAT(ask(problem_request), Not(HasSubstr("error")));
    EXPECT_THAT(ask(evaluate_request("")), HasSubstr(R"("status": "measured")"));
    const std::vector<std::string> threads = processors_of_threads(worker.pid());
    EXPECT_GE(threads.size(), 2U) << "those of the kernel stay for the next one";
    EXPECT_THAT(threads, testing::Each(told));
}

TEST(WorkerProcessors, ThoseThatALauncherLeavesAreAllThatThereIs) {
    const std::vector<int> all = processors().numbers;
    const std::string taskset = find_program("taskset");
    if (all.size() < 2 || taskset.empty()) GTEST_SKIP() << "it takes two processors, and taskset";
    const test::EnvironmentVariable unbound("OMP_PROC_BIND", std::nullopt);
    const std::string left = std::to_string(all.back());
    const test::TemporaryFolder folder;
    ChildProcess worker({taskset, "--cpu-list", left, std::filesystem::read_symlink("/proc/self/exe").string(), "worker"});
    const auto ask = [&](const std::string& request) {
        worker.send(request);
        return next_line(worker);
    };
    EXPECT_THAT(ask(open_request(folder.path() / "cache", processor_list(all), 2)),
                testing::AllOf(HasSubstr("it may use processors " + left), HasSubstr("is to measure on " + processor_list(all))));
    EXPECT_EQ(ask(open_request(folder.path() / "cache", left, 1)), "{}");
    EXPECT_THAT(ask(problem_request), Not(HasSubstr("error")));
    EXPECT_THAT(ask(evaluate_request("")), HasSubstr(R"("status": "measured")"));
    EXPECT_THAT(processors_of_threads(worker.pid()), testing::Each(left));
}

TEST_F(WorkerTest, SaysWhyThereIsNoEnergyToMeasure) {
    std::string missing;
    const Device cpu = backends().back().devices(missing).front();
    if (find_power_source(cpu, missing)) GTEST_SKIP() << "this processor's energy can be measured";
    EXPECT_EQ(ask(open_request(folder.path() / "cache")), "{}");
    EXPECT_THAT(ask(R"({"do": "problem", "problem": "axpy precision=f32 n=1000", "seed": "5", "energy_seconds": 0.5})"),
                HasSubstr("cannot be measured: "));
    EXPECT_THAT(ask(problem_request), Not(HasSubstr("error")));
}

/// Running: there, and not a zombie.
bool runs(int process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string number;
    std::string name;
    std::string state;
    return (file >> number >> name >> state) && state != "Z" && state != "X";
}

TEST_F(WorkerTest, DiesWithItsParentEvenWhileACandidateHangs) {
    ChildProcess parent({"/proc/self/exe", "hang", folder.path() / "cache"});
    const int process = std::stoi(next_line(parent));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // until it is compiled
    ASSERT_TRUE(runs(process));
    parent.end();
    for (int patience = 0; runs(process) && patience < 1000; ++patience) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(runs(process));
}

}  // namespace
}  // namespace hone::worker_test

int hone::test::hang_main(const std::string& cache) {
    using namespace hone::worker_test;
    ChildProcess worker({"/proc/self/exe", "worker"});
    for (const std::string& request : {worker_test::open_request(cache), problem_request, evaluate_request("fault=none")}) {
        worker.send(request);
        next_line(worker);
    }
    worker.send(evaluate_request("fault=hang"));
    std::printf("%d\n", static_cast<int>(worker.pid()));
    std::fflush(stdout);
    next_line(worker);
    return 1;
}
