// Captured launches: what is kept of them, what is refused, and what they are replayed with. On the
// processor and on a GPU.
#include "runtime/capture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/poisson7/family.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/library.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/failing_call.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/verify.hpp"
#include "tuner/worker/candidate_bench.hpp"

namespace hone::capture_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error))
        if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
}

std::string text_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

template <typename Function>
std::string refusal(const Function& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

// x and y of an application, on a device.
struct Arrays {
    Arrays(Backend& backend, const Workload& from) : x(backend, from.arrays[0].bytes()), y(backend, from.arrays[1].bytes()) {
        backend.copy(x.data(), from.arrays[0].data(), x.bytes());
        backend.copy(y.data(), from.arrays[1].data(), y.bytes());
        backend.synchronise();
    }
    std::array<void*, 2> pointers() const { return {x.data(), y.data()}; }
    DeviceArray x, y;
};

class CapturedLaunch : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        backend_ = test::backend_or_skip(GetParam(), cache_);
        if (!backend_) return;
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }
    Backend& backend() { return *backend_; }
    const Limits& limits() const { return backend_->device().limits; }

    // Runs one step of the application whose data these are.
    void run(const Problem& problem, const Workload& data, const std::string& pattern = "axpy") {
        const test::EnvironmentVariable ask{"HONE_CAPTURE", pattern}, where{"HONE_CAPTURE_DIR", captures().string()};
        KernelLibrary library(backend(), Database(families_), families_, [this](const std::string& text) { told_.push_back(text); });
        const Arrays arrays(backend(), data);
        const BoundKernel step(library.kernel(problem), arrays.pointers());
        step.launch();
        step.launch();
        backend().synchronise();
        HostArray y(problem.precision(), data.arrays[1].words());
        backend().copy(y.data(), arrays.y.data(), y.bytes());
        backend().synchronise();
        // Whatever becomes of the capture, the application's two steps are its own: y += 3 x,
        // twice. Each rounds at most 7 + 3 numbers of |x|, |y| <= 1.
        HostArray expected = data.arrays[1].copy();
        const std::array<void*, 2> host{const_cast<void*>(data.arrays[0].data()), expected.data()};
        for (int i = 0; i < 2; ++i) families_.of(problem).reference(problem, host, 0, problem.integer("n"));
        EXPECT_LE(largest_difference(y, expected), 4 * data.tolerance);
    }
    fs::path captures() const { return folder_.path() / "a" / "captures"; }
    fs::path file_of(const Problem& problem) const { return capture_file(captures(), problem.key()); }

    test::TemporaryFolder folder_;
    DiskCache cache_{test::kernel_cache_folder()};  // all tests run the same kernels
    std::unique_ptr<Backend> backend_;
    Families families_ = test::axpy_families({"none", "wrong"});
    const Family& family_ = *families_.begin();
    Problem problem_ = families_.parse_problem("axpy precision=f64 n=1001");
    std::uint64_t seed_ = std::random_device{}();
    std::vector<std::string> told_;
};

TEST_P(CapturedLaunch, HasWhatTheArraysHeldBeforeTheFirstStep) {
    for (const char* words : {"axpy precision=f64 n=1001", "axpy precision=f32 n=1"}) {
        const Problem problem = families_.parse_problem(words);
        const Workload data = family_.workload(problem, seed_);
        run(problem, data);
        const Capture capture = read_capture(file_of(problem));
        EXPECT_EQ(capture.problem, problem.key());
        EXPECT_EQ(capture.configuration, family_.space(problem, limits()).safe().key());
        EXPECT_EQ(capture.device, backend().device().fingerprint.name);
        EXPECT_EQ(capture.first, 0);
        EXPECT_EQ(capture.last, problem.integer("n"));
        const std::vector<HostArray> arrays = captured_arrays(capture, family_, problem);
        ASSERT_EQ(arrays.size(), 2);
        for (const std::size_t i : {0U, 1U})
            EXPECT_EQ(std::memcmp(arrays[i].data(), data.arrays[i].data(), static_cast<std::size_t>(arrays[i].bytes())), 0) << i << " seed " << seed_;
    }
    ASSERT_EQ(told_.size(), 2);
    EXPECT_THAT(told_[0], HasSubstr("captured a launch of axpy precision=f64 n=1001"));
}

TEST_P(CapturedLaunch, IsOnlyThisUsersToRead) {
    run(problem_, family_.workload(problem_, seed_));
    struct stat status {};
    for (const fs::path& file : files_below(captures())) {
        ASSERT_EQ(::stat(file.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0600) << file;
    }
    for (const fs::path& folder : {captures(), captures() / "data"}) {
        ASSERT_EQ(::stat(folder.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0700) << folder;
    }
}

TEST_P(CapturedLaunch, IsTheFirstOfItsProblem) {
    const Workload first = family_.workload(problem_, seed_);
    run(problem_, first);
    const std::string before = text_in(file_of(problem_));
    run(problem_, family_.workload(problem_, seed_ + 1));  // another process of the same application
    EXPECT_EQ(text_in(file_of(problem_)), before);
    EXPECT_EQ(told_.size(), 1);
}

TEST_P(CapturedLaunch, KeepsWhatIsTheSameOnce) {
    Workload data = family_.workload(problem_, seed_);
    data.arrays[1] = data.arrays[0].copy();
    run(problem_, data);
    EXPECT_EQ(files_below(captures() / "data").size(), 1);
    const Capture capture = read_capture(file_of(problem_));
    EXPECT_EQ(capture.arrays[0].sha256, capture.arrays[1].sha256);
}

TEST_P(CapturedLaunch, IsOfProblemsThatMatch) {
    const Workload data = family_.workload(problem_, seed_);
    for (const char* other : {"", "poisson7", "axpy precision=f32*", "axp", "*n=100"}) {
        run(problem_, data, other);
        EXPECT_FALSE(fs::exists(captures())) << other;
    }
    for (const char* same : {"axpy", "*", "axpy *n=1001", "axpy precision=f?4 *"}) {
        run(problem_, data, same);
        EXPECT_TRUE(fs::exists(file_of(problem_))) << same;
        fs::remove_all(captures());
    }
}

TEST_P(CapturedLaunch, ThatIsTooLargeIsToldAndNotKept) {
    const test::EnvironmentVariable limit{"HONE_CAPTURE_LIMIT", "15K"};
    run(problem_, family_.workload(problem_, seed_));  // two arrays of 8 008 bytes
    EXPECT_THAT(files_below(captures()), IsEmpty());
    ASSERT_EQ(told_.size(), 1);
    EXPECT_THAT(told_[0], testing::AllOf(HasSubstr("0.01602 MB"), HasSubstr("0.01536 MB are allowed"), HasSubstr("HONE_CAPTURE_LIMIT")));
    for (const char* wrong : {"none", "0", "-1", "4GB", "1e9", "99999999T", " 1"}) {
        const test::EnvironmentVariable bad{"HONE_CAPTURE_LIMIT", wrong};
        EXPECT_THAT(refusal([&] { run(problem_, family_.workload(problem_, seed_)); }), HasSubstr("is not a number of bytes")) << wrong;
    }
}

TEST_P(CapturedLaunch, OnAFullDiskLeavesNothingAndTheApplicationGoesOn) {
    const Workload data = family_.workload(problem_, seed_);
    const test::EnvironmentVariable ask{"HONE_CAPTURE", "axpy"}, where{"HONE_CAPTURE_DIR", captures().string()};
    KernelLibrary library(backend(), Database(families_), families_, [this](const std::string& text) { told_.push_back(text); });
    const auto kernel = library.kernel(problem_);  // compiled while there is room
    const Arrays arrays(backend(), data);
    {
        const test::FailingCall full(test::FailingCall::Call::write_short, ENOSPC);
        BoundKernel(kernel, arrays.pointers()).launch();
    }
    EXPECT_THAT(files_below(captures()), IsEmpty());
    ASSERT_EQ(told_.size(), 1);
    EXPECT_THAT(told_[0], testing::AllOf(HasSubstr("was not captured"), HasSubstr("ENOSPC")));
}

TEST_P(CapturedLaunch, WhereNoFolderCanBeMadeTheApplicationGoesOn) {
    fs::create_directories(captures().parent_path());
    std::ofstream(captures()) << "a file";
    run(problem_, family_.workload(problem_, seed_));
    ASSERT_EQ(told_.size(), 1);
    EXPECT_THAT(told_[0], HasSubstr("was not captured"));
}

TEST_P(CapturedLaunch, IsReplayedWithItsDataAndARoundingAsLargeAsTheyAre) {
    constexpr double larger = 1024;  // a power of two changes no digits
    Workload data = family_.workload(problem_, seed_);
    for (HostArray& array : data.arrays)
        for (double& value : array.values<double>()) value *= larger;
    data.tolerance *= larger;
    run(problem_, data);
    const Family replayed = replaying(family_, read_capture(file_of(problem_)));
    const Workload workload = replayed.workload(problem_, seed_);
    EXPECT_EQ(largest_difference(workload.arrays[0], data.arrays[0]), 0);
    // Twice what the family allows of the same numbers, whose seed is the same.
    EXPECT_NEAR(workload.tolerance, 2 * data.tolerance, 1e-6 * data.tolerance) << "seed " << seed_;
    HostArray expected = data.arrays[1].copy();
    const std::array<void*, 2> host{data.arrays[0].data(), expected.data()};
    family_.reference(problem_, host, 0, 1001);
    EXPECT_EQ(largest_difference(workload.expected[1], expected), 0);
    // Other problems have random data as ever.
    const Problem other = families_.parse_problem("axpy precision=f64 n=1000");
    EXPECT_EQ(largest_difference(replayed.workload(other, seed_).arrays[0], family_.workload(other, seed_).arrays[0]), 0);
}

TEST_P(CapturedLaunch, TellsWrongKernelsFromRightOnes) {
    run(problem_, family_.workload(problem_, seed_));
    const Family replayed = replaying(family_, read_capture(file_of(problem_)));
    CandidateBench bench(backend(), replayed, problem_, seed_);
    const SearchSpace space = family_.space(problem_, limits());
    const Outcome right = bench.evaluate(space.parse("unroll=4,storage=table"), 0, SamplingRule{});
    EXPECT_EQ(right.status, Status::measured) << right.reason << " seed " << seed_;
    EXPECT_EQ(bench.evaluate(space.parse("fault=wrong"), 0, SamplingRule{}).status, Status::wrong);
}

TEST_P(CapturedLaunch, ThatDoesNotFitOrIsDamagedIsRefused) {
    run(problem_, family_.workload(problem_, seed_));
    const fs::path file = file_of(problem_);
    const Capture capture = read_capture(file);
    const fs::path data = captures() / "data" / capture.arrays[0].sha256;
    const std::string good = text_in(data), text = text_in(file);

    std::string changed = good;
    changed[17] = static_cast<char>(changed[17] ^ 1);
    std::ofstream(data, std::ios::binary) << changed;
    EXPECT_THAT(refusal([&] { captured_arrays(capture, family_, problem_); }), HasSubstr("not what was captured"));
    std::ofstream(data, std::ios::binary) << good.substr(8);
    EXPECT_THAT(refusal([&] { captured_arrays(capture, family_, problem_); }), HasSubstr("not what was captured"));
    fs::remove(data);
    EXPECT_THAT(refusal([&] { captured_arrays(capture, family_, problem_); }), HasSubstr(capture.arrays[0].sha256));
    EXPECT_THAT(refusal([&] { captured_arrays(capture, family_, families_.parse_problem("axpy precision=f64 n=1002")); }),
                HasSubstr("array 0 is x (in) of 8008 bytes, the problem's is x (in) of 8016"));

    const auto with = [&](const std::string& piece, const std::string& other) {
        std::string wrong = text;
        const std::size_t at = wrong.find(piece);
        EXPECT_NE(at, std::string::npos) << piece;
        std::ofstream(file) << wrong.replace(at, piece.size(), other);
        return refusal([&] { read_capture(file); });
    };
    EXPECT_THAT(with("\"version\": 1", "\"version\": 2"), HasSubstr("this hone reads version 1"));
    EXPECT_THAT(with("hone capture", "something"), HasSubstr("is not a capture"));
    EXPECT_THAT(with("\"inout\"", "\"both\""), HasSubstr("in, out or inout"));
    EXPECT_THAT(with(capture.arrays[1].sha256, "../" + capture.arrays[1].sha256.substr(3)), HasSubstr("is not a SHA-256"));
    EXPECT_THAT(refusal([&] { read_captures(folder_.path() / "nowhere"); }), HasSubstr("there is no capture"));
}

// A capture that lies in a folder, without an application that wrote it.
class CaptureFile : public ::testing::Test {
  protected:
    CaptureFile() {
        const std::string data(24, 'x');
        const std::string digest = keep_data(folder_.path(), data);
        Capture capture{problem_, "unroll=1,block=64,storage=literal,fault=none", "some device", "0.1.0", 0, 3, {}, {}};
        capture.arrays = {{"x", Access::in, 24, digest}, {"y", Access::inout, 24, digest}};
        write_capture(folder_.path(), capture);
        text_ = text_in(file_);
    }

    // What a capture of this text is refused with; "" where it is taken.
    std::string refusal_of(const std::string& text) const {
        try {
            const Capture capture = parse_capture(text, file_);
            const Problem problem = captured_problem(capture, families_);
            captured_arrays(capture, families_.of(problem), problem);
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(folder_.path().string())) << "which file it is";
            return error.what();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << " of\n" << text;
        }
        return "";
    }
    std::string with(const std::string& from, const std::string& to) const {
        const std::size_t at = text_.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return std::string(text_).replace(at, from.size(), to);
    }

    test::TemporaryFolder folder_;
    Families families_ = test::axpy_families();
    std::string problem_ = families_.parse_problem("axpy precision=f64 n=3").key();
    fs::path file_ = capture_file(folder_.path(), problem_);
    std::string text_;
};

TEST_F(CaptureFile, ARangeThatTheProblemDoesNotHaveIsRefused) {
    EXPECT_EQ(refusal_of(text_), "");
    EXPECT_EQ(refusal_of(with("[0, 3]", "[1, 2]")), "");
    EXPECT_THAT(refusal_of(with("[0, 3]", "5")), HasSubstr("range: is a whole number"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[5]")), HasSubstr("range: has 1 elements"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[]")), HasSubstr("range: has 0 elements"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[0, 3, 7]")), HasSubstr("range: has 3 elements"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[0, 4]")), HasSubstr("range: it ends at 4, and the problem has 3"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[2, 1]")), HasSubstr("range[1]: is 1"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[-1, 3]")), HasSubstr("range[0]: is -1"));
    EXPECT_THAT(refusal_of(with("[0, 3]", "[0, 99999999999]")), HasSubstr("range[1]"));
}

// Every field with values of every kind: what is wrong is an Error that names the file, whatever it
// is.
TEST_F(CaptureFile, NoValueOfAFieldIsAnInternalFailure) {
    const std::vector<std::string> fields{"\"hone capture\"",
                                          "1,\n  \"problem\"",
                                          "\"axpy precision=f64 n=3\"",
                                          "\"unroll=1",
                                          "\"some device\"",
                                          "\"0.1.0\"",
                                          "[0, 3]",
                                          "0, 3",
                                          "[\n    {\"name\"",
                                          "\"x\"",
                                          "\"in\"",
                                          "24",
                                          "\"sha256\"",
                                          "\"format\"",
                                          "\"arrays\"",
                                          "\"range\""};
    const std::vector<std::string> values{"null",
                                          "true",
                                          "5",
                                          "-1",
                                          "1e300",
                                          "99999999999999999999",
                                          "0.5",
                                          "\"\"",
                                          "\"x\"",
                                          "\"\\u0000\"",
                                          "\"\\u202e\"",
                                          "[]",
                                          "[[]]",
                                          "{}",
                                          "{\"a\": {}}",
                                          "\"" + std::string(5000, 'a') + "\"",
                                          "",
                                          "NaN",
                                          "\"../../etc/passwd\"",
                                          "\"axpy n=1 n=2\"",
                                          "\"axpy precision=f64 n=99999999999\"",
                                          "\"poisson7\"",
                                          "\"ffff\""};
    for (const std::string& field : fields)
        for (const std::string& value : values) refusal_of(with(field, value));
    for (std::size_t length = 0; length + 1 < text_.size(); ++length) EXPECT_NE(refusal_of(text_.substr(0, length)), "") << length;
    std::mt19937 random(std::random_device{}());
    for (int i = 0; i < 3000; ++i) {
        std::string text = text_;
        text[random() % text.size()] = static_cast<char>(random());
        refusal_of(text);
    }
}

TEST_F(CaptureFile, DataThatAreMissingOrShortAreRefused) {
    const fs::path data = *fs::directory_iterator(folder_.path() / "data");
    std::ofstream(data, std::ios::app) << "more";
    EXPECT_THAT(refusal_of(text_), HasSubstr("has 28 bytes, 24 were captured"));
    fs::remove(data);
    EXPECT_THAT(refusal_of(text_), HasSubstr("copy the folder of captures"));
}

TEST_P(CapturedLaunch, WithAnInfiniteResultIsRefusedWithAWordWhere) {
    Workload data = family_.workload(problem_, seed_);
    run(problem_, data);  // the application's own check needs finite numbers
    Capture capture = read_capture(file_of(problem_));
    data.arrays[0].values<double>()[5] = std::numeric_limits<double>::infinity();
    capture.arrays[0].sha256 = keep_data(captures(), {static_cast<const char*>(data.arrays[0].data()), 8008});
    EXPECT_THAT(refusal([&] { replaying(family_, capture).workload(problem_, seed_); }), HasSubstr("infinite values in y"));
}

INSTANTIATE_TEST_SUITE_P(Cpu, CapturedLaunch, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, CapturedLaunch, testing::Values("cuda"));

// Of a family's own data as much is allowed as the family says, and no more than a few times that.
TEST(SlowCapturedTolerance, IsTheFamilysOwnForItsOwnData) {
    const std::uint64_t seed = std::random_device{}();
    for (const char* words :
         {"gauss_seidel_27 stencil=variable precision=f32 nx=9 ny=8 nz=7", "dg_volume equation=maxwell_3d order=2 precision=f32 elements=30",
          "dg_surface equation=maxwell_3d order=3 precision=f64 materials=uniform elements=30",
          "dg_rk equation=maxwell_3d order=2 precision=f32 elements=30",
          "dg_stage equation=maxwell_3d order=2 precision=f32 materials=uniform elements=30",
          "acoustics_staggered kernel=step dimension=2 order=8 media=array precision=f32 nx=24 ny=24",
          "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f32 nx=24 ny=9 nz=10",
          "batched_gemm m=24 n=8 k=24 b=shared precision=f64 batch=30", "batched_gemv m=24 n=8 precision=f64 batch=30",
          "corner_force dimension=2 order=2 precision=f64 zones=30", "csr_spmv kernel=apply_dot components=3 precision=f64 rows=300 entries=3000",
          "fe_mass kernel=apply_dot dimension=2 order=2 points=4 components=3 precision=f64 elements=30 nodes=150"}) {
        const Problem problem = built_in_families().parse_problem(words);
        const Family& family = built_in_families().of(problem);
        const test::TemporaryFolder folder;
        const Workload own = family.workload(problem, seed);
        const std::vector<ArraySpec> specs = family.arrays(problem);
        Capture capture;
        capture.problem = problem.key();
        capture.file = folder.path() / "capture.json";
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const std::int64_t bytes = bytes_of(specs[i], problem.precision());
            capture.arrays.push_back({specs[i].name, specs[i].access, bytes, ""});
            if (specs[i].access != Access::out)
                capture.arrays.back().sha256 =
                    keep_data(folder.path(), {static_cast<const char*>(own.arrays[i].data()), static_cast<std::size_t>(bytes)});
        }
        // With the same seed the data and the signs of the changes are the family's own. With
        // others coefficients that are drawn, as those of dg_rk's stage, change what rounding does.
        const Workload captured = replaying(family, capture).workload(problem, seed);
        EXPECT_DOUBLE_EQ(captured.tolerance, 2 * own.tolerance) << words << " seed " << seed;
        for (std::size_t i = 0; i < specs.size(); ++i)
            if (specs[i].access != Access::in)
                EXPECT_EQ(largest_difference(captured.expected[i], own.expected[i]), 0) << words << " " << specs[i].name;
    }
}

// Near convergence fields are far smaller than the quotients of their sums, whose rounding the
// fields' changes do not show.
TEST(SlowCapturedData, OfAConvergedIterationAreAllowedTheRoundingOfTheirSums) {
    const std::uint64_t seed = std::random_device()();
    const Problem problem =
        built_in_families().parse_problem("poisson7 kernel=residual coefficients=axis boundary=periodic precision=f64 nx=48 ny=40 nz=32");
    const Family& family = built_in_families().of(problem);
    const test::TemporaryFolder folder;
    Workload data = family.workload(problem, seed);
    const std::vector<ArraySpec> specs = family.arrays(problem);
    // Residuals and what is proportional to them, 2^-40 of what they were; sums of their products
    // that square of it.
    constexpr double small = 0x1p-40;
    Capture capture;
    capture.problem = problem.key();
    capture.file = folder.path() / "capture.json";
    for (std::size_t i = 0; i < specs.size(); ++i) {
        HostArray& array = data.arrays[i];
        if (specs[i].name == "r_old" || specs[i].name == "w")
            for (double& value : array.values<double>()) value *= small;
        if (specs[i].name == "scalars") {
            const std::span<double> scalars = array.values<double>();
            scalars[poisson::scalar::mean] *= small;
            scalars[poisson::scalar::gamma] *= small * small;
            scalars[poisson::scalar::delta] *= small * small;
        }
        capture.arrays.push_back({specs[i].name, specs[i].access, array.bytes(), ""});
        if (specs[i].access != Access::out)
            capture.arrays.back().sha256 =
                keep_data(folder.path(), {static_cast<const char*>(array.data()), static_cast<std::size_t>(array.bytes())});
    }
    const Workload captured = replaying(family, capture).workload(problem, seed + 1);
    ASSERT_EQ(captured.tolerances.size(), specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].access == Access::in) continue;
        double largest = 0;
        for (const double value : captured.expected[i].values<double>())
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        EXPECT_GT(captured.tolerances[i], 0x1p-53 * largest) << specs[i].name << " seed " << seed;
        EXPECT_LT(captured.tolerances[i], 1e-9 * largest) << specs[i].name << " seed " << seed;
    }
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_cpu_backend(0, cache);
    if (!backend->compiler().missing().empty()) GTEST_SKIP() << backend->compiler().missing();
    const Family replayed = replaying(family, capture);
    const auto found = test::verify(*backend, replayed, problem, family.space(problem, backend->device().limits).safe(), seed + 1);
    EXPECT_TRUE(found.passed()) << found.what << ": " << found.error << ", allowed " << found.tolerance;
}

}  // namespace
}  // namespace hone::capture_test
