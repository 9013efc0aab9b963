#include "runtime/library.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <random>
#include <thread>

#include "foundation/error.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/backend_test.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::library_test {
namespace {

// x and y of one axpy on a device, with the host's copies.
class Vectors {
  public:
    Vectors(Backend& backend, const Families& families, const Problem& problem, std::uint64_t seed)
        : backend_(&backend),
          family_(&families.of(problem)),
          problem_(problem),
          workload_(family_->workload(problem, seed)),
          x_(backend, workload_.arrays[0].bytes()),
          y_(backend, workload_.arrays[1].bytes()),
          pointers_{x_.data(), y_.data()} {
        backend.copy(x_.data(), workload_.arrays[0].data(), x_.bytes());
        backend.copy(y_.data(), workload_.arrays[1].data(), y_.bytes());
        backend.synchronise();
    }

    std::span<void* const> arrays() const { return pointers_; }

    // What a step over [first, last) has to do.
    void expect_step(std::int64_t first, std::int64_t last) {
        const std::array<void*, 2> arrays{workload_.arrays[0].data(), workload_.arrays[1].data()};
        family_->reference(problem_, arrays, first, last);
        ++steps_;
    }
    // Multiplies x on both sides, as an application that changes its data.
    void double_x() {
        for (float& value : workload_.arrays[0].values<float>()) value *= 2;
        backend_->copy(x_.data(), workload_.arrays[0].data(), x_.bytes());
        backend_->synchronise();
    }
    testing::AssertionResult as_expected() const {
        HostArray y(workload_.arrays[1].precision(), workload_.arrays[1].words());
        backend_->synchronise();
        backend_->copy(y.data(), y_.data(), y.bytes());
        backend_->synchronise();
        const double error = largest_difference(y, workload_.arrays[1]);
        // With |x| <= 2 step k rounds numbers of at most 7 + 6 k, and the sum of that over the
        // steps is at most 7 times the square.
        const double allowed = (steps_ + 1) * (steps_ + 1) * workload_.tolerance;
        if (error <= allowed) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "error " << error << ", allowed " << allowed << ": " << problem_.key();
    }

  private:
    Backend* backend_;
    const Family* family_;
    Problem problem_;
    Workload workload_;
    DeviceArray x_;
    DeviceArray y_;
    std::array<void*, 2> pointers_;
    int steps_ = 0;
};

// The same tests on every backend; the parameter is its name.
class Library : public test::BackendTest {
  protected:
    Config config(const Problem& problem, const std::string& text) { return families_.of(problem).space(problem, limits()).parse(text); }
    Record record(const Problem& problem, const std::string& text) {
        return test::sample_record(families_, problem, text, backend().device().fingerprint, limits());
    }
    KernelLibrary::Warn collect() {
        return [this](const std::string& text) { warnings_.push_back(text); };
    }

    Families families_ = test::axpy_families({"none", "compile_failure", "launch_failure"});
    std::vector<std::string> warnings_;
    std::uint64_t seed_ = std::random_device{}();
};

TEST_P(Library, RunsEveryConfigurationOverTheWholeRange) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    for (const char* precision : {"f32", "f64"})
        for (const int n : {1, 2, 63, 64, 65, 1000, 4097}) {
            const Problem problem = families_.parse_problem(fmt::format("axpy precision={} n={}", precision, n));
            for (const char* text : {"storage=literal", "storage=table", "storage=prepared", "unroll=4,block=128,storage=table"}) {
                const auto kernel = library.kernel(problem, config(problem, text));
                EXPECT_FALSE(kernel->is_reference());
                EXPECT_EQ(kernel->range(), n);
                Vectors vectors(backend(), families_, problem, seed_);
                const BoundKernel bound(kernel, vectors.arrays());
                bound.launch();
                vectors.expect_step(0, n);
                EXPECT_TRUE(vectors.as_expected()) << text << ", seed " << seed_;
            }
        }
    EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_P(Library, StepsAnyPartOfTheRange) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy precision=f32 n=3000");
    std::mt19937_64 random(seed_);
    for (const char* text : {"unroll=1,block=64", "unroll=4,block=256,storage=prepared"}) {
        const auto kernel = library.kernel(problem, config(problem, text));
        Vectors vectors(backend(), families_, problem, seed_);
        const BoundKernel bound(kernel, vectors.arrays());
        for (int i = 0; i < 20; ++i) {
            const auto a = static_cast<std::int64_t>(random() % 3001);
            const auto b = static_cast<std::int64_t>(random() % 3001);
            bound.launch(std::min(a, b), std::max(a, b));
            vectors.expect_step(std::min(a, b), std::max(a, b));
        }
        for (const std::int64_t at : {0, 17, 3000}) bound.launch(at, at);
        EXPECT_TRUE(vectors.as_expected()) << text << ", seed " << seed_;
    }
}

TEST_P(Library, RefusesWrongArraysAndRanges) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy n=100");
    const auto kernel = library.kernel(problem);
    Vectors vectors(backend(), families_, problem, seed_);
    const auto arrays = vectors.arrays();
    EXPECT_THROW(kernel->launch(arrays.subspan(0, 1)), Error);
    EXPECT_THROW(kernel->launch({}), Error);
    EXPECT_THROW(BoundKernel(kernel, arrays.subspan(1)), Error);
    EXPECT_THROW(kernel->launch(arrays, -1, 10), Error);
    EXPECT_THROW(kernel->launch(arrays, 10, 9), Error);
    EXPECT_THROW(kernel->launch(arrays, 0, 101), Error);
    const BoundKernel bound(kernel, arrays);
    EXPECT_THROW(bound.launch(0, 101), Error);
    EXPECT_TRUE(vectors.as_expected()) << "a refused launch must not run";
    try {
        kernel->launch(arrays.subspan(0, 1));
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("give 2: x, y"), std::string::npos) << error.what();
    }
}

TEST_P(Library, NamesAnArrayThatIsNullMisalignedOrOverlapsAnother) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy n=100");
    const auto kernel = library.kernel(problem);
    Vectors vectors(backend(), families_, problem, seed_);
    const auto arrays = vectors.arrays();
    const auto refusal = [&](void* y) -> std::string {
        try {
            const BoundKernel bound(kernel, std::array<void*, 2>{arrays[0], y});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(arrays[1]), "");
    EXPECT_NE(refusal(nullptr).find("array 1 (y) of axpy"), std::string::npos) << refusal(nullptr);
    EXPECT_NE(refusal(nullptr).find("null"), std::string::npos) << refusal(nullptr);
    EXPECT_NE(refusal(static_cast<char*>(arrays[1]) + 1).find("array 1 (y)"), std::string::npos);
    EXPECT_NE(refusal(arrays[0]).find("it overlaps array 0 (x), and one of them is written"), std::string::npos) << refusal(arrays[0]);
    EXPECT_NE(refusal(static_cast<char*>(arrays[0]) + 16).find("it overlaps array 0 (x)"), std::string::npos) << "in part";
    const bool cuda = backend().device().fingerprint.target == Target::cuda;
    EXPECT_EQ(refusal(static_cast<char*>(arrays[1]) + sizeof(float)).find("not a multiple of 16 bytes") != std::string::npos, cuda) << "vectors";
    for (void* const y : {arrays[0], static_cast<void*>(static_cast<char*>(arrays[0]) + 16), static_cast<void*>(nullptr)})
        EXPECT_THROW(kernel->launch(std::array<void*, 2>{arrays[0], y}), Error) << "without a binding, too";
    EXPECT_TRUE(vectors.as_expected()) << "a refused binding must not run";
}

TEST_P(Library, AKernelWithTablesOfItsOwnMustBeBound) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy n=1000");
    const auto kernel = library.kernel(problem, config(problem, "storage=prepared"));
    EXPECT_TRUE(kernel->needs_binding());
    EXPECT_FALSE(library.kernel(problem, config(problem, "storage=table"))->needs_binding());
    Vectors vectors(backend(), families_, problem, seed_);
    EXPECT_THROW(kernel->launch(vectors.arrays()), Error);
    BoundKernel bound(kernel, vectors.arrays());
    bound.launch();
    vectors.expect_step(0, 1000);
    EXPECT_TRUE(vectors.as_expected()) << "seed " << seed_;
    // The table is made from x, so x may change only together with `prepare`.
    vectors.double_x();
    bound.prepare();
    bound.launch();
    vectors.expect_step(0, 1000);
    EXPECT_TRUE(vectors.as_expected()) << "seed " << seed_;
}

TEST_P(Library, TwoBindingsOfOneKernelDoNotShareTables) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy n=500");
    const auto kernel = library.kernel(problem, config(problem, "storage=prepared"));
    Vectors one(backend(), families_, problem, seed_);
    Vectors two(backend(), families_, problem, seed_ + 1);
    const BoundKernel first(kernel, one.arrays());
    BoundKernel moved(kernel, two.arrays());
    const BoundKernel second = std::move(moved);
    first.launch();
    second.launch();
    one.expect_step(0, 500);
    two.expect_step(0, 500);
    EXPECT_TRUE(one.as_expected()) << "seed " << seed_;
    EXPECT_TRUE(two.as_expected()) << "seed " << seed_;
}

TEST_P(Library, TellsHowWellTheDatabasesAnswerFits) {
    const Problem small = families_.parse_problem("axpy n=1000");
    const Problem large = families_.parse_problem("axpy n=1000000");
    Database database(families_);
    database.add(record(small, "storage=table"));
    KernelLibrary library(backend(), database, families_, collect());
    EXPECT_EQ(library.kernel(small)->match().grade, Grade::exact);
    EXPECT_EQ(library.kernel(small)->match().config, config(small, "storage=table"));
    EXPECT_EQ(library.kernel(families_.parse_problem("axpy n=4000"))->match().grade, Grade::nearest_size);
    EXPECT_EQ(library.kernel(large)->match().grade, Grade::predicted) << "too far";
    const Problem other = families_.parse_problem("axpy precision=f64 n=1000");
    EXPECT_EQ(library.kernel(other)->match().grade, Grade::predicted);
    EXPECT_EQ(library.kernel(other)->match().config, config(other, "storage=table"));
    for (const auto& problem : {small, large, other}) {
        Vectors vectors(backend(), families_, problem, seed_);
        library.kernel(problem)->launch(vectors.arrays());
        vectors.expect_step(0, problem.integer("n"));
        EXPECT_TRUE(vectors.as_expected()) << "seed " << seed_;
    }
}

TEST_P(Library, ATunedConfigurationThatDoesNotCompileGivesWayToTheSafeOne) {
    const Problem problem = families_.parse_problem("axpy n=1000");
    Database database(families_);
    database.add(record(problem, "fault=compile_failure"));
    KernelLibrary library(backend(), database, families_, collect());
    const auto kernel = library.kernel(problem);
    EXPECT_EQ(kernel->match().grade, Grade::none);
    EXPECT_EQ(kernel->match().config.word("fault"), "none");
    EXPECT_FALSE(kernel->is_reference());
    EXPECT_EQ(library.kernel(problem), kernel);
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_NE(warnings_[0].find("this candidate does not compile"), std::string::npos) << warnings_[0];
    Vectors vectors(backend(), families_, problem, seed_);
    kernel->launch(vectors.arrays());
    vectors.expect_step(0, 1000);
    EXPECT_TRUE(vectors.as_expected()) << "seed " << seed_;
}

TEST_P(Library, AConfigurationOfTheCallersOwnDoesNotGiveWay) {
    KernelLibrary library(backend(), Database(families_), families_, collect());
    const Problem problem = families_.parse_problem("axpy n=1000");
    const Config failing = config(problem, "fault=compile_failure");
    EXPECT_THROW(library.kernel(problem, failing), Error);
    EXPECT_THROW(library.kernel(problem, failing), Error);
    EXPECT_THROW(library.kernel(problem, config(problem, "unroll=2,fault=compile_failure")), Error) << "not in the space";
    EXPECT_THROW(library.kernel(problem, Config({{"unroll", std::int64_t{3}}})), Error);
    EXPECT_EQ(library.kernel(problem, config(problem, "unroll=2"))->match().config.integer("unroll"), 2);
}

TEST_P(Library, AWarmStartReadsTheDiskCache) {
    const Problem problem = families_.parse_problem("axpy n=1000");
    { KernelLibrary(backend(), Database(families_), families_).kernel(problem); }
    const auto compiled = backend().compiler().compile(families_.of(problem).kernel(problem, config(problem, ""), limits()));
    EXPECT_TRUE(compiled.ok);
    EXPECT_TRUE(compiled.code.from_cache);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Library, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Library, testing::Values("cuda"));

TEST(LibraryOnCpu, AConfigurationThatCannotBeLoadedGivesWayToo) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    if (!backend->compiler().missing().empty()) GTEST_SKIP() << backend->compiler().missing();
    const Families families = test::axpy_families({"none", "launch_failure"});
    const Problem problem = families.parse_problem("axpy n=1000");
    Database database(families);
    database.add(test::sample_record(families, problem, "fault=launch_failure", backend->device().fingerprint, backend->device().limits));
    std::vector<std::string> warnings;
    KernelLibrary library(*backend, database, families, [&](const std::string& text) { warnings.push_back(text); });
    EXPECT_EQ(library.kernel(problem)->match().config.word("fault"), "none");
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("static TLS block"), std::string::npos) << warnings[0];
}

// As of a grid whose arrays are beyond what an index reaches.
TEST(LibraryOnCpu, AProblemThatCannotBeComputedIsNoConfigurationsFault) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    Family impossible = test::axpy_families().find("axpy");
    impossible.arrays = [](const Problem& problem) -> std::vector<ArraySpec> { throw Error(problem.key(), "too large", "make it smaller"); };
    const Families families({impossible});
    std::vector<std::string> warnings;
    KernelLibrary library(*backend, Database(families), families, [&](const std::string& text) { warnings.push_back(text); });
    EXPECT_THROW(library.kernel(families.parse_problem("axpy n=10")), Error);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
}

void expect_plain_loops(const Families& families) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    std::vector<std::string> warnings;
    KernelLibrary library(*backend, Database(families), families, [&](const std::string& text) { warnings.push_back(text); });
    const std::uint64_t seed = std::random_device{}();
    for (const int n : {100, 1000}) {
        const Problem problem = families.parse_problem(fmt::format("axpy n={}", n));
        const Config prepared = families.of(problem).space(problem, backend->device().limits).parse("storage=prepared");
        for (const auto& kernel : {library.kernel(problem), library.kernel(problem, prepared)}) {
            EXPECT_TRUE(kernel->is_reference());
            EXPECT_FALSE(kernel->needs_binding());
            Vectors vectors(*backend, families, problem, seed);
            kernel->launch(vectors.arrays());
            BoundKernel(kernel, vectors.arrays()).launch(3, n / 2);
            kernel->launch(vectors.arrays(), 5, 5);
            vectors.expect_step(0, n);
            vectors.expect_step(3, n / 2);
            EXPECT_TRUE(vectors.as_expected()) << "seed " << seed;
            EXPECT_THROW(kernel->launch(vectors.arrays(), 0, n + 1), Error);
            EXPECT_THROW(kernel->launch(vectors.arrays().subspan(1)), Error);
        }
    }
    EXPECT_EQ(warnings.size(), 1U) << "once is enough";
    EXPECT_NE(warnings[0].find("reference loops"), std::string::npos) << warnings[0];
}

TEST(LibraryOnCpu, WithoutACompilerTheReferenceLoopsRun) {
    const Families families = test::axpy_families();
    const test::EnvironmentVariable chosen("HONE_CXX", "/nonexistent/c++");
    expect_plain_loops(families);
}

TEST(LibraryOnCpu, TheWarningGoesToStandardErrorByDefault) {
    const test::EnvironmentVariable chosen("HONE_CXX", "/nonexistent/c++");
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    const Families families = test::axpy_families();
    KernelLibrary library(*backend, Database(families), families);
    testing::internal::CaptureStderr();
    library.kernel(families.parse_problem("axpy n=10"));
    library.kernel(families.parse_problem("axpy n=20"));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("hone: warning: the built-in reference loops run"), 0U) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(LibraryOnCpu, AProblemBeyondTheIndicesOfARangeIsRefused) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    Family large = test::axpy_family();
    large.range = [](const Problem&) { return std::int64_t{1} << 31; };
    const Families families({large});
    KernelLibrary library(*backend, Database(families), families, [](const std::string&) {});
    EXPECT_THROW(library.kernel(families.parse_problem("axpy n=10")), Error);
}

TEST(LibraryOnCpu, ATableOfTheWrongLengthIsRefused) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    if (!backend->compiler().missing().empty()) GTEST_SKIP() << backend->compiler().missing();
    Family wrong = test::axpy_family();
    wrong.kernel = [kernel = wrong.kernel](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = kernel(problem, config, limits);
        for (auto& table : source.tables) table.contents.push_back(1);
        return source;
    };
    const Families families({wrong});
    KernelLibrary library(*backend, Database(families), families, [](const std::string&) {});
    const Problem problem = families.parse_problem("axpy n=10");
    EXPECT_THROW(library.kernel(problem, wrong.space(problem, backend->device().limits).parse("storage=table")), Error);
}

TEST(ConcurrentLibrary, AKernelIsGeneratedOnceHoweverManyThreadsAsk) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    std::atomic<int> generated{0};
    Family counting = test::axpy_family();
    counting.kernel = [&generated, kernel = counting.kernel](const Problem& problem, const Config& config, const Limits& limits) {
        ++generated;
        return kernel(problem, config, limits);
    };
    const Families families({counting});
    KernelLibrary library(*backend, Database(families), families, [](const std::string&) {});
    constexpr std::size_t thread_count = 8;
    const std::array problems{families.parse_problem("axpy n=100"), families.parse_problem("axpy precision=f64 n=100")};
    std::latch start(thread_count);
    std::vector<std::array<std::shared_ptr<const Kernel>, 2>> got(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            for (std::size_t j = 0; j < 2; ++j) got[i][(i + j) % 2] = library.kernel(problems[(i + j) % 2]);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(generated, 2);
    for (const auto& kernels : got) EXPECT_EQ(kernels, got[0]);
    EXPECT_NE(got[0][0], got[0][1]);
}

// Each thread has arrays of its own; the kernel is shared.
TEST(ConcurrentLibrary, ThreadsLaunchOneKernelAtOnce) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_backend("cpu", cache);
    const Families families = test::axpy_families();
    KernelLibrary library(*backend, Database(families), families, [](const std::string&) {});
    const Problem problem = families.parse_problem("axpy n=200");
    const auto kernel = library.kernel(problem);
    const std::uint64_t seed = std::random_device{}();
    std::vector<std::thread> threads;
    std::array<bool, 4> right{};
    for (std::size_t i = 0; i < right.size(); ++i)
        threads.emplace_back([&, i] {
            Vectors vectors(*backend, families, problem, seed + i);
            for (int step = 0; step < 10; ++step) {
                kernel->launch(vectors.arrays());
                vectors.expect_step(0, 200);
            }
            right[i] = static_cast<bool>(vectors.as_expected());
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, (std::array<bool, 4>{true, true, true, true})) << "seed " << seed;
}

}  // namespace
}  // namespace hone::library_test
