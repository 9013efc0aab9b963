#include "foundation/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/places.hpp"

namespace hone::threads_test {
namespace {

TEST(ConcurrentThreads, ReachTheirCallerWithWhatTheyThrow) {
    std::atomic<int> ran = 0;
    Threads threads;
    for (int i = 0; i < 4; ++i)
        threads.start([&ran, i] {
            ++ran;
            if (i % 2 == 1) throw std::runtime_error("from a thread");
        });
    EXPECT_THROW(threads.join(), std::runtime_error);
    EXPECT_EQ(ran, 4);
    threads.start([&ran] { ++ran; });
    EXPECT_NO_THROW(threads.join());
    EXPECT_EQ(ran, 5);
    Threads left;  // nobody joins
    left.start([] { throw 1; });
}

TEST(Caught, CarriesOneOfALoopsExceptions) {
    Caught caught;
#pragma omp parallel for
    for (int i = 0; i < 100; ++i)
        caught.from([&] {
            if (i > 50) throw std::bad_alloc();
        });
    EXPECT_TRUE(caught.any());
    EXPECT_THROW(caught.rethrow(), std::bad_alloc);
    EXPECT_FALSE(caught.any());
    caught.rethrow();
}

// Where a thread is started otherwise, its function catches everything itself.
TEST(Threads, AreStartedByWhatCarriesTheirExceptions) {
    const std::vector<std::string> known{"foundation/threads.hpp",
                                         "runtime/power.cpp",
                                         "runtime/power.hpp",
                                         "runtime/hybrid_thread.hpp",
                                         "tuner/worker/rank_team.hpp",
                                         "tuner/online/early_worker.hpp",
                                         "tuner/online/early_worker.cpp",
                                         "tuner/online/background_vetter.hpp",
                                         "tuner/online/background_vetter.cpp"};
    const std::vector<std::string> starts{"std::thread ", "std::thread(", "std::thread>", "std::thread{", "std::jthread", "std::async"};
    const std::filesystem::path root = test::source_path("");
    for (const char* folder : {"generator", "tuning_db", "runtime", "tuner", "tools"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const std::string name = std::filesystem::relative(entry.path(), root).string();
            if ((!name.ends_with(".cpp") && !name.ends_with(".hpp")) || std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::stringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            for (const std::string& one : starts)
                EXPECT_EQ(text.str().find(one), std::string::npos) << name << " starts a thread: use Threads (foundation/threads.hpp)";
        }
}

}  // namespace
}  // namespace hone::threads_test
