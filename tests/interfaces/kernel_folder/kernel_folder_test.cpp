#include "interfaces/kernel_folder/kernel_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "foundation/random_words.hpp"
#include "generator/families.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/library.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/support/running_time.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/verify.hpp"
#include "tuner/worker/candidate_bench.hpp"

namespace hone::kernel_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

fs::path example(const std::string& name) {
    return test::source_path("examples/kernels/" + name);
}

void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

// A copy of an example that a test may change.
class Copy {
  public:
    explicit Copy(const std::string& name) : path_(folder_.path() / name) { fs::copy(example(name), path_); }
    const fs::path& path() const { return path_; }
    void replace(const std::string& file, const std::string& piece, const std::string& other) const {
        std::ostringstream text;
        text << std::ifstream(path_ / file).rdbuf();
        std::string changed = text.str();
        const std::size_t at = changed.find(piece);
        ASSERT_NE(at, std::string::npos) << piece;
        write(path_ / file, changed.replace(at, piece.size(), other));
    }

  private:
    TemporaryFolder folder_;
    fs::path path_;
};

// What each example computes, at a size that few numbers divide.
struct Example {
    std::string name, problem;
};
const std::vector<Example>& examples() {
    static const std::vector<Example> all{{"jacobi", "jacobi size=67"},
                                          {"jacobi", "jacobi precision=f32 size=34"},
                                          {"transpose", "transpose rows=67 columns=35"},
                                          {"transpose", "transpose precision=f64 rows=1 columns=130"},
                                          {"ell", "ell rows=333 width=5"},
                                          {"ell", "ell precision=f32 rows=1 width=1"},
                                          {"reduction", "reduction n=100003"},
                                          {"convolution", "convolution radius=1 width=67 height=9"},
                                          {"nbody", "nbody n=131"},
                                          {"statistics", "statistics rows=17 columns=43"},
                                          {"statistics", "statistics rows=1 columns=1"},
                                          {"saxpy", "saxpy problem_size_x=1003"},
                                          {"saxpy", "saxpy problem_size_x=1"}};
    return all;
}

class KernelFolders : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    test::EnvironmentVariable cache_place_{"HONE_CACHE", test::kernel_cache_folder()};  // where references are compiled into
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

// Kernels of the emulator are called with the range always.
KernelSource with_range(KernelSource cuda, const kernel_folder::Description& description) {
    if (description.range.given() || description.wrapped) return cuda;
    std::string declared, names;
    for (const ArraySpec& array : cuda.arrays) {
        const ValueType type = value_type_of(array, cuda.precision);
        declared += fmt::format("{}{}* {}, ", array.access == Access::in ? "const " : "",
                                type == ValueType::i32   ? "int"
                                : type == ValueType::f32 ? "float"
                                                         : "double",
                                array.name);
        names += array.name + ", ";
    }
    for (const TableSpec& table : cuda.tables) declared += "real* " + table.name + ", ", names += table.name + ", ";
    for (const ScalarSpec& scalar : cuda.scalars) declared += "int " + scalar.name + ", ", names += scalar.name + ", ";
    names.resize(names.size() - 2);
    for (Launch& launch : cuda.step) {
        cuda.text += fmt::format("extern \"C\" __global__ void {0}_ranged({1}int, int) {{ {0}({2}); }}\n", launch.entry, declared, names);
        launch.entry += "_ranged";
    }
    return cuda;
}

TEST_F(KernelFolders, ExamplesEqualTheirReferences) {
    test::FreshRandom random;
    for (const Example& one : examples()) {
        const KernelFolder kernel(example(one.name));
        const Families families({kernel.family()});
        const Problem problem = families.parse_problem(one.problem);
        for (const Config& config : test::sample_members(*backend_, kernel.family(), problem, 1, 1)) {
            const auto found = test::verify(*backend_, kernel.family(), problem, config, random());
            EXPECT_TRUE(found.passed()) << found.what << ": " << found.error << ", allowed " << found.tolerance;
        }
    }
}

TEST_F(KernelFolders, APartOfARangeIsSteppedAlone) {
    const KernelFolder kernel(example("ell"));
    const Problem problem = Families({kernel.family()}).parse_problem("ell rows=333 width=5");
    const auto found =
        test::verify(*backend_, kernel.family(), problem, kernel.family().space(problem, backend_->device().limits).safe(), 3, 17, 300);
    EXPECT_TRUE(found.passed()) << found.what << ": " << found.error;
}

// The folder's family with its CUDA kernels, which the emulator runs on the processor.
Family on_emulator(const KernelFolder& kernel) {
    const Limits cuda = cuda_limits(90);
    Family family = kernel.family();
    family.space = [kernel, cuda](const Problem& problem, const Limits&) { return kernel.family().space(problem, cuda); };
    family.kernel = [kernel, cuda](const Problem& problem, const Config& config, const Limits&) {
        return test::emulated(with_range(kernel.family().kernel(problem, config, cuda), kernel.description()));
    };
    return family;
}

// What a tuning run does with a candidate: verified, then timed for a moment.
Outcome evaluated(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed) {
    SamplingRule moment;
    moment.fewest = moment.period = 3;
    moment.most_seconds = 0.01;
    return CandidateBench(backend, family, problem, seed).evaluate(config, 0, moment);
}

TEST_F(KernelFolders, CudaKernelsOfExamplesAreVerifiedAndTimedOnTheEmulator) {
    for (const Example& one : examples()) {
        const Family family = on_emulator(KernelFolder(example(one.name)));
        const Problem problem = Families({family}).parse_problem(one.problem);
        const Outcome outcome = evaluated(*backend_, family, problem, family.space(problem, {}).safe(), 7);
        EXPECT_EQ(outcome.status, Status::measured) << one.problem << ": " << outcome.reason;
        EXPECT_TRUE(outcome.code);
        EXPECT_GT(outcome.step.median, 0) << one.problem;
    }
}

// As the community's tuner has it: the array is an argument, and lies in constant memory besides.
TEST_F(KernelFolders, AWrappedKernelsConstantArraysAreTheArgumentsOfEachStep) {
    const TemporaryFolder folder;
    write(folder.path() / "family.json", R"({
  "name": "filtered", "summary": "of a test", "wrapped": true, "example": "n=1000",
  "parameters": [{"name": "precision", "words": ["f32", "f64"], "default": "f32"}, {"name": "n", "from": 1, "to": 1000000}],
  "arguments": [{"name": "y", "access": "out", "extents": ["n"]}, {"name": "x", "access": "in", "extents": ["n"], "fill": "random"},
                {"name": "weights", "access": "in", "memory": "constant", "extents": ["3", "5"], "fill": "random"},
                {"name": "shifts", "access": "in", "memory": "constant", "type": "int", "extents": ["7"], "fill": {"random": [0, 100]}},
                {"name": "count", "value": "n"}],
  "cuda": {"source": "kernel.cu", "tunables": [{"name": "block", "values": [32, 64]}],
           "launches": [{"grid": ["(n + block - 1) // block"], "block": ["block"]}]},
  "counts": {"operations": "n"}, "reference": {"source": "reference.cpp"}, "tolerance": {"value": "512 * roundoff", "reason": "a product and a sum up to 101, in both"}})");
    write(folder.path() / "kernel.cu", R"(
__constant__ real weights[3][5];
__constant__ int shifts[16];
__global__ void filtered(real* out, const real* in, real* unused, int* unused_too, int n)
{
    const int i = blockIdx.x * block + threadIdx.x;
    if (i < n) out[i] = in[i] * weights[i % 3][i % 5] + shifts[i % 7];
}
)");
    write(folder.path() / "reference.cpp", R"(
void reference(real* y, const real* x, const real* weights, const int* shifts, int n)
{
    for (int i = 0; i < n; ++i) y[i] = x[i] * weights[i % 3 * 5 + i % 5] + shifts[i % 7];
}
)");
    const KernelFolder kernel(folder.path());
    for (const char* precision : {"f32", "f64"}) {
        const Family family = on_emulator(kernel);
        const Problem problem = Families({family}).parse_problem(fmt::format("filtered precision={} n=1001", precision));
        for (const std::uint64_t seed : {1U, 2U}) {
            const Outcome outcome = evaluated(*backend_, family, problem, family.space(problem, {}).safe(), seed);
            EXPECT_EQ(outcome.status, Status::measured) << precision << ": " << outcome.reason;
        }
    }
}

using SlowKernelFolders = KernelFolders;

TEST_F(SlowKernelFolders, AnyMembersOfTheExamplesSpacesAreVerifiedAndTimedOnBothTargets) {
    const std::uint64_t seed = std::random_device()();
    for (const Example& one : examples()) {
        const KernelFolder kernel(example(one.name));
        for (const Family& family : {kernel.family(), on_emulator(kernel)}) {
            const Problem problem = Families({family}).parse_problem(one.problem);
            for (const Config& config : test::sample_members(*backend_, family, problem, 3, seed)) {
                const Outcome outcome = evaluated(*backend_, family, problem, config, seed);
                EXPECT_EQ(outcome.status, Status::measured) << one.problem << " " << config.key() << " seed " << seed << ": " << outcome.reason;
            }
        }
    }
}

TEST(KernelFoldersNvrtc, CudaKernelsOfExamplesCompile) {
    DiskCache cache(test::kernel_cache_folder());
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const Example& one : examples()) {
        const KernelFolder kernel(example(one.name));
        const Problem problem = Families({kernel.family()}).parse_problem(one.problem);
        const SearchSpace space = kernel.family().space(problem, cuda_limits(90));
        const CompileOutcome outcome = compiler->compile(kernel.family().kernel(problem, space.safe(), cuda_limits(90)));
        EXPECT_TRUE(outcome.ok) << one.name << ": " << outcome.failure << "\n" << outcome.code.log;
    }
}

// An oracle that shares nothing with the folder: the five points from the formula, on data made
// here.
TEST_F(KernelFolders, TheReferenceOfAFolderIsItsFunction) {
    const KernelFolder kernel(example("jacobi"));
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=9");
    constexpr int pitch = 11;
    std::vector<double> u(pitch * pitch), f(u), next(u.size(), -7);
    for (std::size_t i = 0; i < u.size(); ++i)
        u[i] = random_word(5, static_cast<std::int64_t>(i)), f[i] = random_word(6, static_cast<std::int64_t>(i));
    kernel.family().reference(problem, std::vector<void*>{u.data(), f.data(), next.data()}, 0, 1);
    for (int y = 0; y < pitch; ++y)
        for (int x = 0; x < pitch; ++x) {
            const auto at = [&](int dy, int dx) { return static_cast<std::size_t>((y + dy) * pitch + x + dx); };
            const bool inside = x > 0 && y > 0 && x < pitch - 1 && y < pitch - 1;
            const double expected = inside ? 0.25 * (u[at(0, -1)] + u[at(0, 1)] + u[at(-1, 0)] + u[at(1, 0)]) + 0.25 * f[at(0, 0)] : -7;
            EXPECT_NEAR(next[at(0, 0)], expected, 1e-15) << y << " " << x;
        }
}

TEST_F(KernelFolders, DataAreFreshWithinTheirBoundsAndOutputsPoisoned) {
    const KernelFolder kernel(example("ell"));
    const Problem problem = Families({kernel.family()}).parse_problem("ell precision=f64 rows=101 width=3");
    const Workload one = kernel.family().workload(problem, 1), other = kernel.family().workload(problem, 2);
    EXPECT_GT(largest_difference(one.arrays[0], other.arrays[0]), 0);
    EXPECT_EQ(largest_difference(one.arrays[0], kernel.family().workload(problem, 1).arrays[0]), 0);
    EXPECT_NE(one.arrays[0].values<double>()[0], one.arrays[2].values<double>()[0]);
    const auto* columns = static_cast<const std::int32_t*>(one.arrays[1].data());
    EXPECT_EQ(one.arrays[1].words(), 152);  // 303 integers in words of eight bytes
    for (int i = 0; i < 303; ++i) EXPECT_TRUE(columns[i] >= 0 && columns[i] < 101) << columns[i];
    for (const double word : one.arrays[0].values<double>()) EXPECT_TRUE(word >= -1 && word < 1) << word;
    EXPECT_TRUE(std::isnan(one.arrays[3].values<double>()[50]));
    EXPECT_FALSE(std::isnan(one.expected[3].values<double>()[50]));
    EXPECT_EQ(one.tolerance, 18 * 0x1p-53);
}

TEST_F(KernelFolders, ArraysMayHaveTypesOfTheirOwn) {
    const KernelFolder kernel(example("statistics"));
    const Problem problem = Families({kernel.family()}).parse_problem("statistics rows=3 columns=5");
    const std::vector<ArraySpec> specs = kernel.family().arrays(problem);
    EXPECT_EQ(problem.precision(), Precision::f64);
    EXPECT_EQ(specs[0].words, 8);
    EXPECT_EQ(bytes_of(specs[0], problem.precision()), 60);
    EXPECT_EQ(bytes_of(specs[2], problem.precision()), 12);
    EXPECT_EQ(kernel.family().counts(problem).bytes, 60 + 24 + 12);
    const Workload data = kernel.family().workload(problem, 4);
    const auto* const table = static_cast<const float*>(data.arrays[0].data());
    const auto* const mean = static_cast<const double*>(data.expected[1].data());
    const auto* const positive = static_cast<const std::int32_t*>(data.expected[2].data());
    for (int row = 0; row < 3; ++row) {
        const std::span of_row(table + static_cast<std::ptrdiff_t>(row) * 5, 5);
        EXPECT_EQ(positive[row], std::count_if(of_row.begin(), of_row.end(), [](float value) { return value > 0; }));
        EXPECT_DOUBLE_EQ(mean[row], std::accumulate(of_row.begin(), of_row.end(), 0.0) / 5);
    }
    EXPECT_EQ(static_cast<const std::int32_t*>(data.arrays[2].data())[0], static_cast<std::int32_t>(0x80808080));
    ASSERT_EQ(data.tolerances.size(), 3U);
    EXPECT_EQ(data.tolerances[2], 0) << "integers are exact";
    EXPECT_EQ(data.tolerances[1], data.tolerance);
}

TEST_F(KernelFolders, AWrongIntegerIsFound) {
    const Copy copy("statistics");
    copy.replace("kernel.cpp", "positive[row] = counts[0]", "positive[row] = counts[0] + (row == 2)");
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("statistics rows=3 columns=5");
    CandidateBench bench(*backend_, kernel.family(), problem, 1);
    const Outcome outcome = bench.evaluate(kernel.family().space(problem, backend_->device().limits).safe(), 0, SamplingRule{});
    EXPECT_EQ(outcome.status, Status::wrong);
    EXPECT_THAT(outcome.reason, HasSubstr("positive differs"));
}

TEST_F(KernelFolders, TheLibraryFindsAKernelByItsPlainName) {
    const KernelFolder kernel(example("jacobi"));
    const Families families({kernel.family()});
    const Problem problem = families.parse_problem("jacobi size=8");
    EXPECT_THAT(problem.key(), HasSubstr("jacobi:"));
    KernelLibrary library(*backend_, Database(families), families);
    EXPECT_EQ(library.kernel(problem)->match().grade, Grade::none);
    Record record;
    record.problem = problem;
    record.config = kernel.family().space(problem, backend_->device().limits).parse("tile_y=16");
    record.device = backend_->device().fingerprint;
    record.step = {1e-3, 1e-3, 1e-3, 1e-3, 9};
    record.counts = kernel.family().counts(problem);
    record.verification_error = 0;
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    Database database(families);
    database.add(record);
    EXPECT_EQ(database.best(problem, backend_->device().fingerprint, backend_->device().limits).grade, Grade::exact);
    // The same kernel after a change: what was tuned before is kept, and not handed out.
    const Copy copy("jacobi");
    copy.replace("kernel.cpp", "/ 4", "* real(0.25)");
    const KernelFolder changed(copy.path());
    EXPECT_NE(changed.family().name, kernel.family().name);
    TemporaryFolder folder;
    database.merge_into(folder.path());
    const Families now({changed.family()});
    const Database read = Database::load(folder.path(), now);
    EXPECT_EQ(read.foreign_records().size(), 1U);
    EXPECT_EQ(read.best(now.parse_problem("jacobi size=8"), backend_->device().fingerprint, backend_->device().limits).grade, Grade::none);
}

// Sources for other tuners give tunables values of their own where no tuner does.
TEST_F(KernelFolders, ASourceThatDefinesATunableItselfDoesNotCompileButUnderTheUsualConditions) {
    const auto compiled = [&](const std::string& folder, const std::string& file, const std::string& piece, const std::string& before) {
        const Copy copy(folder);
        copy.replace(file, piece, before + piece);
        const KernelFolder kernel(copy.path());
        const Problem problem = Families({kernel.family()}).parse_problem(kernel.family().example);
        const Limits& limits = backend_->device().limits;
        const SearchSpace space = kernel.family().space(problem, limits);
        return backend_->compiler().compile(kernel.family().kernel(problem, space.safe(), limits));
    };
    for (const auto& [folder, file, piece, tunable] : {std::array{"saxpy", "kernel.cpp", "void saxpy", "chunk"},
                                                       {"jacobi", "kernel.cpp", "void jacobi", "tile_y"},
                                                       {"transpose", "kernel.cpp", "void transpose", "inner_rows"},
                                                       {"convolution", "kernel.cpp", "void convolution", "radius"},
                                                       {"ell", "kernel.cpp.in", "void ell", "chunk"},
                                                       {"convolution", "reference.cpp", "void reference", "radius"}}) {
        const bool reference = std::string(file) == "reference.cpp";
        for (const std::string& own : {fmt::format("#undef {0}\n#define {0} 7\n", tunable), fmt::format("#define {} 7\n", tunable)}) {
            if (reference) continue;
            const CompileOutcome outcome = compiled(folder, file, piece, own);
            EXPECT_FALSE(outcome.ok) << folder << " " << tunable;
            EXPECT_THAT(outcome.failure, HasSubstr(fmt::format("the source defines {} itself", tunable)));
        }
        const CompileOutcome guarded = compiled(folder, file, piece, fmt::format("#ifndef {0}\n#define {0} 7\n#undef {0}\n#endif\n", tunable));
        EXPECT_TRUE(guarded.ok) << folder << " " << tunable << ": " << guarded.failure;
    }
    const CompileOutcome tuner = compiled("saxpy", "kernel.cpp", "void saxpy", "#ifndef kernel_tuner\n#define chunk 7\n#endif\n");
    EXPECT_TRUE(tuner.ok) << tuner.failure;
    const CompileOutcome constant = compiled("saxpy", "kernel.cpp", "void saxpy", "#undef chunk\nconstexpr int chunk = 7;\n#define chunk chunk\n");
    EXPECT_FALSE(constant.ok);
}

TEST_F(KernelFolders, AnEntryWithOtherArgumentsDoesNotCompile) {
    const Copy copy("jacobi");
    copy.replace("kernel.cpp", "const real* f, real* next, int size", "real* next, const real* f, int size");
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=8");
    const Limits& limits = backend_->device().limits;
    const CompileOutcome outcome =
        backend_->compiler().compile(kernel.family().kernel(problem, kernel.family().space(problem, limits).safe(), limits));
    EXPECT_FALSE(outcome.ok);
    EXPECT_THAT(outcome.code.log, HasSubstr("void jacobi(const real* u, const real* f, real* next, int size)"));
}

TEST_F(KernelFolders, AReferenceThatDoesNotCompileSaysWhyAndHowItIsCalled) {
    const Copy copy("jacobi");
    copy.replace("reference.cpp", "next[i] =", "nothing[i] =");
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=8");
    try {
        kernel.family().workload(problem, 1);
        FAIL() << "it compiled";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("nothing"));
        EXPECT_THAT(error.what(), HasSubstr("void reference(const real* u, const real* f, real* next, int size)"));
    }
}

TEST_F(KernelFolders, AnswersMayBeStoredAndInputsToo) {
    const Copy copy("transpose");
    copy.replace("family.json", R"("fill": "random")", R"("fill": {"file": "a.bin"})");
    copy.replace("family.json", R"("extents": ["columns", "rows"]})", R"("extents": ["columns", "rows"], "expected": "b.bin"})");
    copy.replace("family.json", R"({"source": "reference.cpp"})", R"({"stored": true})");
    const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 4, 2, 5, 3, 6};
    const auto bytes = [](const std::vector<float>& words) { return std::string(reinterpret_cast<const char*>(words.data()), 4 * words.size()); };
    write(copy.path() / "a.bin", bytes(a));
    write(copy.path() / "b.bin", bytes(b));
    const KernelFolder kernel(copy.path());
    const Families families({kernel.family()});
    const Problem problem = families.parse_problem("transpose rows=2 columns=3");
    const Config safe = kernel.family().space(problem, backend_->device().limits).safe();
    EXPECT_TRUE(test::verify(*backend_, kernel.family(), problem, safe, 1).passed());
    write(copy.path() / "b.bin", bytes({1, 4, 2, 5, 3, 7}));
    EXPECT_FALSE(test::verify(*backend_, kernel.family(), problem, safe, 1).passed());
    EXPECT_THROW(kernel.family().workload(families.parse_problem("transpose rows=2 columns=4"), 1), Error);
    EXPECT_THROW(kernel.family().reference(problem, {}, 0, 1), Error);
}

TEST_F(KernelFolders, AReferenceMayBeALibrarysFunction) {
    // Any shared object will do: one that hone compiled has the function too.
    const KernelFolder plain(example("transpose"));
    KernelSource source;
    source.precision = Precision::f32;
    source.text =
        "extern \"C\" void turned(const float* a, float* b, int rows, int columns)\n"
        "{ for (int y = 0; y < rows; ++y) for (int x = 0; x < columns; ++x) b[x * rows + y] = a[y * columns + x]; }\n"
        "extern \"C\" void unused(int, int) {}\n";
    source.entries = {"unused"};
    source.step.resize(1);
    source.step[0].entry = "unused";
    const CompileOutcome outcome = backend_->compiler().compile(source);
    ASSERT_TRUE(outcome.ok) << outcome.code.log;
    const Copy copy("transpose");
    write(copy.path() / "libturned.so", outcome.code.binary);
    copy.replace("family.json", R"({"source": "reference.cpp"})", R"({"library": "libturned.so", "entry": "turned"})");
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("transpose rows=17 columns=5");
    const Config safe = kernel.family().space(problem, backend_->device().limits).safe();
    EXPECT_TRUE(test::verify(*backend_, kernel.family(), problem, safe, 1).passed());
    copy.replace("family.json", R"("entry": "turned")", R"("entry": "absent")");
    EXPECT_THROW(KernelFolder(copy.path()).family().workload(problem, 1), Error);
}

constexpr const char* python_formula = R"py(
def reference(next, u, f, size, precision="f64", **others):
    assert precision in ("f32", "f64") and others["first"] == 0 and others["last"] == 1
    for y in range(1, size + 1):
        for x in range(1, size + 1):
            next[y, x] = (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x] + f[y, x]) / 4
)py";

TEST_F(KernelFolders, AReferenceMayBeAPythonFunction) {
    if (find_program("python3").empty()) GTEST_SKIP() << "there is no python3";
    const Copy copy("jacobi");
    write(copy.path() / "formula.py", python_formula);
    copy.replace("family.json", R"({"source": "reference.cpp"})", R"({"python": "formula.py"})");
    const KernelFolder kernel(copy.path()), plain(example("jacobi"));
    for (const char* words : {"jacobi size=13", "jacobi precision=f32 size=1"}) {
        const Problem problem = Families({kernel.family()}).parse_problem(words);
        const Config safe = kernel.family().space(problem, backend_->device().limits).safe();
        const auto found = test::verify(*backend_, kernel.family(), problem, safe, 1);
        EXPECT_TRUE(found.passed()) << words << ": " << found.error << ", allowed " << found.tolerance;
        // Another path to the same numbers: the reference in C++.
        const Workload python = kernel.family().workload(problem, 5);
        const Workload other = plain.family().workload(Families({plain.family()}).parse_problem(words), 5);
        EXPECT_LE(largest_difference(python.expected[2], other.expected[2]), python.tolerance) << words;
    }
}

TEST_F(KernelFolders, WhatAPythonFunctionDoesWrongIsTold) {
    if (find_program("python3").empty()) GTEST_SKIP() << "there is no python3";
    for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
             {"def reference(u, nxt):\n    pass\n", "reference has a parameter nxt; hone knows precision, size, first, last, u, f, next"},
             {"def other():\n    pass\n", "there is no function reference"},
             {"def reference(*arrays):\n    pass\n", "is called by names"},
             {"def reference(u):\n    u[0, 0] = 1\n", "read"},
             {"def reference(next):\n    raise ValueError('of my own')\n", "of my own"},
             {"def reference(next:\n", "SyntaxError"}}) {
        const Copy copy("jacobi");
        write(copy.path() / "formula.py", text);
        copy.replace("family.json", R"({"source": "reference.cpp"})", R"({"python": "formula.py"})");
        const KernelFolder kernel(copy.path());
        const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=3");
        try {
            kernel.family().workload(problem, 1);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(told)) << text;
        }
    }
    const Copy copy("jacobi");
    write(copy.path() / "formula.py", python_formula);
    copy.replace("family.json", R"({"source": "reference.cpp"})", R"({"python": "formula.py"})");
    const test::EnvironmentVariable absent{"HONE_PYTHON", "/absent/python"};
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=3");
    EXPECT_THROW(kernel.family().workload(problem, 1), Error);
}

TEST(KernelFolder, ConstraintsAreToldInTheirOwnSentenceAndTheDevicesLimitsAreKept) {
    const KernelFolder kernel(example("jacobi"));
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=8");
    const SearchSpace space = kernel.family().space(problem, cuda_limits(90));
    const auto few = space.check(space.parse("block_x=32,block_y=1"));
    ASSERT_TRUE(few);
    EXPECT_EQ(few->reason, "32 threads are few for a block, take 64 or more");
    const auto many = space.check(space.parse("block_x=256,block_y=8"));
    ASSERT_TRUE(many);
    EXPECT_THAT(many->reason, HasSubstr("2048 threads in a block of jacobi, the device has 1024"));
}

// 10^10 configurations, of which rules of launches, of shared memory and of the folder leave some.
TEST(KernelFolder, ALargeSpaceIsCutByItsRulesAndLaunches) {
    const TemporaryFolder folder;
    std::string tunables, block = "t0 * t1", shared = "0";
    for (int i = 0; i < 10; ++i) {
        tunables += fmt::format(R"({}{{"name": "t{}", "values": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]}})", i == 0 ? "" : ", ", i);
        if (i > 4) shared += fmt::format(" + t{} * word_bytes", i);
    }
    const std::string description =
        R"({"name": "large", "summary": "of a test", "parameters": [{"name": "n", "from": 1, "to": 1000000}],
              "arguments": [{"name": "x", "access": "out", "extents": ["n"]}],
              "cuda": {"source": "large.cu", "tunables": [)" +
        tunables + R"(],
                       "constraints": [{"rule": "t2 * t3 * t4 == 8", "why": "{t2 * t3 * t4} is not 8"},
                                       {"rule": "t5 == t9 and t6 <= t0", "why": "as it is"},
                                       {"rule": "t7 * t8 >= 512 * 512", "why": "few"}],
                       "launches": [{"grid": ["n // 1"], "block": [")" +
        block + R"(", "t6"], "shared_bytes": ")" + shared + R"("}]},
              "counts": {"operations": 1}, "reference": {"source": "reference.cpp"}, "tolerance": {"value": 0, "reason": "a test"}})";
    for (const char* source : {"large.cu", "reference.cpp"}) write(folder.path() / source, "// nothing\n");
    write(folder.path() / "family.json", description);
    test::RunningTime time;
    const KernelFolder kernel(folder.path());
    const Problem problem = Families({kernel.family()}).parse_problem("large n=8");
    const SearchSpace space = kernel.family().space(problem, cuda_limits(90));
    const Members members = space.members();
    EXPECT_LT(time.seconds(), 3);
    // Three powers of two that make 8: 10 ways. t7 = t8 = 512; bytes: t5, t6 and t9 = t5 at most.
    std::size_t expected = 0;
    const std::vector<std::int64_t> values{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    for (const std::int64_t t0 : values)
        for (const std::int64_t t1 : values)
            for (const std::int64_t t6 : values)
                for (const std::int64_t t5 : values)
                    if (t6 <= t0 && t0 * t1 * t6 <= 1024 && 8 * (2 * t5 + t6 + 1024) <= cuda_limits(90).shared_bytes_per_block) expected += 10;
    EXPECT_EQ(members.size(), expected);
    for (std::size_t i = 0; i < members.size(); i += 1 + members.size() / 50) EXPECT_EQ(space.check(space.at(members[i])), std::nullopt);
}

TEST(KernelFolder, ASourceIsToldByMacrosAndItsLinesKeepTheirNumbers) {
    const KernelFolder kernel(example("transpose"));
    const Problem problem = Families({kernel.family()}).parse_problem("transpose rows=8 columns=9");
    const SearchSpace space = kernel.family().space(problem, cpu_limits());
    const KernelSource source = kernel.family().kernel(problem, space.parse("inner=rows"), cpu_limits());
    EXPECT_THAT(source.text, HasSubstr("#define tile_x 8\n"));
    EXPECT_THAT(source.text, HasSubstr("#define inner_rows 1\n#define inner_columns 0\n"));
    EXPECT_THAT(source.text, HasSubstr("using real = float;\n"));
    EXPECT_THAT(source.text, HasSubstr("#line 1 \"transpose/kernel.cpp\"\n#include <algorithm>\n"));
    EXPECT_EQ(source.scalars.size(), 2U);
}

TEST(KernelFolder, AWordIsAMacroToo) {
    const KernelFolder kernel(example("transpose"));
    const Problem problem = Families({kernel.family()}).parse_problem("transpose rows=8 columns=9");
    const SearchSpace space = kernel.family().space(problem, cpu_limits());
    EXPECT_THAT(kernel.family().kernel(problem, space.parse("inner=rows"), cpu_limits()).text, HasSubstr("#define inner rows\n"));
}

TEST(KernelFolder, ATemplateIsToldByConstantsAndHonesTeamsAreChosenWithIt) {
    const KernelFolder kernel(example("ell"));
    const Problem problem = Families({kernel.family()}).parse_problem("ell rows=8 width=3");
    Limits limits = cpu_limits();
    limits.multiprocessors = 8;
    const SearchSpace space = kernel.family().space(problem, limits);
    const KernelSource source = kernel.family().kernel(problem, space.parse("threads=half"), limits);
    EXPECT_THAT(source.text, HasSubstr("constexpr int width = 3;\nconstexpr int chunk = 64;\n"));
    EXPECT_THAT(source.text, HasSubstr("num_threads"));
    EXPECT_THAT(source.text, Not(HasSubstr("#define")));
    EXPECT_EQ(kernel.family().range(problem), 8);
}

// Who is handed a folder may read all of it before it runs.
TEST_F(KernelFolders, AFileThatLeadsOutOfTheFolderIsRefused) {
    const auto moved_out = [](const Copy& copy, const std::string& file) {
        const fs::path outside = copy.path().parent_path() / ("outside_" + file);
        fs::rename(copy.path() / file, outside);
        fs::create_symlink(outside, copy.path() / file);
    };
    const auto error_of = [](const auto& action) -> std::string {
        try {
            action();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    for (const auto& [folder, file] : {std::pair{"jacobi", "kernel.cpp"},
                                       {"jacobi", "kernel.cu"},
                                       {"jacobi", "reference.cpp"},
                                       {"jacobi", "family.json"},
                                       {"saxpy", "saxpy.t1.json"},
                                       {"saxpy", "saxpy.cu"}}) {
        const Copy copy(folder);
        moved_out(copy, file);
        EXPECT_THAT(error_of([&] { KernelFolder{copy.path()}; }), AllOf(HasSubstr(file), HasSubstr("outside of the kernel folder"))) << file;
    }
    for (const char* reference : {"python", "library"}) {
        const Copy copy("jacobi");
        copy.replace("family.json", R"({"source": "reference.cpp"})", fmt::format(R"({{"{}": "reference.cpp"}})", reference));
        const KernelFolder read(copy.path());
        moved_out(copy, "reference.cpp");
        EXPECT_THAT(error_of([&] { read.family().workload(Families({read.family()}).parse_problem("jacobi size=8"), 1); }),
                    HasSubstr("outside of the kernel folder"));
    }
    const Copy data("jacobi");
    data.replace("family.json", R"("fill": "random")", R"("fill": {"file": "u.bin"})");
    write(data.path() / "u.bin", std::string(100 * 8, '\0'));
    moved_out(data, "u.bin");
    const KernelFolder filled(data.path());
    EXPECT_THAT(error_of([&] { filled.family().workload(Families({filled.family()}).parse_problem("jacobi size=8"), 1); }),
                HasSubstr("outside of the kernel folder"));
    const Copy inside("jacobi");
    fs::rename(inside.path() / "kernel.cpp", inside.path() / "kept.cpp");
    fs::create_symlink("kept.cpp", inside.path() / "kernel.cpp");
    EXPECT_NO_THROW(KernelFolder{inside.path()});
    const Copy pipe("jacobi");
    fs::remove(pipe.path() / "kernel.cpp");
    ASSERT_EQ(mkfifo((pipe.path() / "kernel.cpp").c_str(), S_IRUSR | S_IWUSR), 0);
    EXPECT_THAT(error_of([&] { KernelFolder{pipe.path()}; }), HasSubstr("it is not a regular file"));
}

TEST_F(KernelFolders, ASourceMayBeginWithAByteOrderMark) {
    const Copy copy("jacobi");
    for (const char* file : {"kernel.cpp", "kernel.cu", "reference.cpp"}) {
        std::ostringstream text;
        text << std::ifstream(copy.path() / file).rdbuf();
        write(copy.path() / file, "\xEF\xBB\xBF" + text.str());
    }
    const KernelFolder kernel(copy.path());
    const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=8");
    EXPECT_THAT(kernel.family().kernel(problem, kernel.family().space(problem, cuda_limits(90)).safe(), cuda_limits(90)).text,
                Not(HasSubstr("\xEF")));
    const Outcome outcome = evaluated(*backend_, kernel.family(), problem, kernel.family().space(problem, backend_->device().limits).safe(), 7);
    EXPECT_EQ(outcome.status, Status::measured) << outcome.reason;
    write(copy.path() / "kernel.cpp", std::string("\xFF\xFEv\0o\0", 6));
    EXPECT_THROW(KernelFolder{copy.path()}, Error);
}

TEST(KernelFolder, AFolderWithoutItsFileOrWithAWrongExampleIsRefused) {
    TemporaryFolder empty;
    EXPECT_THROW(KernelFolder{empty.path()}, Error);
    EXPECT_THROW(KernelFolder{empty.path() / "absent"}, Error);
    const Copy copy("transpose");
    copy.replace("family.json", "rows=300", "rows=0");
    EXPECT_THROW(KernelFolder{copy.path()}, Error);
}

}  // namespace
}  // namespace hone::kernel_folder_test
