#include "tuner/online/early_worker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>
#include <utility>

#include "foundation/error.hpp"
#include "tests/support/descendants.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/worker/process_tree.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::early_worker_test {
namespace {

class EarlyWorkerTest : public testing::Test {
  protected:
    EarlyWorkerTest() {
        settings.worker = {"/proc/self/exe", "worker"};
        settings.cache = folder.path();
    }
    static Device gpu(int index) {
        Device device;
        device.limits = cuda_limits(90);
        device.index = index;
        return device;
    }
    /// What a tuner's thread gets of `early`: its worker's process, or -1.
    static pid_t taken(EarlyWorker& early, const Device& device) {
        pid_t process = -1;
        early.run(device, [&](OpenedWorker worker) { process = worker.process ? worker.process->pid() : -1; }).join();
        return process;
    }

    test::TemporaryFolder folder;
    OnlineSettings settings;
};

TEST_F(EarlyWorkerTest, IsTakenOnceByATunerOfItsDevice) {
    test::Descendants descendants;
    EarlyWorker early("cuda:1", settings);
    EXPECT_GT(taken(early, gpu(1)), 0);
    EXPECT_EQ(taken(early, gpu(1)), -1) << "it is gone";
    EXPECT_TRUE(descendants.gone());
}

TEST_F(EarlyWorkerTest, IsDroppedByATunerOfAnother) {
    test::Descendants descendants;
    EarlyWorker other("gpu", settings);
    EXPECT_EQ(taken(other, gpu(1)), -1);
    EarlyWorker best("best", settings);
    Device processors;
    processors.limits.target = Target::cpu;
    EXPECT_EQ(taken(best, processors), -1);
    EXPECT_TRUE(descendants.gone());
}

TEST_F(EarlyWorkerTest, EndsWithItsWorkerWhenNobodyTakesIt) {
    test::Descendants descendants;
    { const EarlyWorker early("best", settings); }
    EXPECT_TRUE(descendants.gone());
}

// A tuner kills what its thread has started, in any state.
TEST_F(EarlyWorkerTest, ItsWorkerIsAChildOfTheThreadThatTakesIt) {
    EarlyWorker early("cuda", settings);
    std::promise<int> thread;
    std::string end;
    std::thread taker = early.run(gpu(0), [&](OpenedWorker worker) {
        ASSERT_TRUE(worker.process);
        thread.set_value(static_cast<int>(gettid()));
        ChildProcess* const process = worker.process.get();
        while (!process->closed()) {
            ChildProcess::wait({&process, 1}, 0.1);
            process->take_line();
        }
        end = process->end();
    });
    kill_children_of_thread(thread.get_future().get());
    taker.join();
    EXPECT_NE(end.find("signal 9"), std::string::npos) << end;
}

TEST_F(EarlyWorkerTest, OfProcessorsStartsNothingAndOfNoDeviceThrows) {
    Device processors;
    processors.limits.target = Target::cpu;
    EarlyWorker early("cpu", settings);
    EXPECT_EQ(taken(early, processors), -1);
    EXPECT_THROW(EarlyWorker("gpuu", settings), Error);
}

}  // namespace
}  // namespace hone::early_worker_test
