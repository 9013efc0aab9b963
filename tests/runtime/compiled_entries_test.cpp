// All kinds of text that hone hands to NVRTC, compiled where it is installed: does the code have
// the kernels that the launch plan names?
#include "runtime/compiled_entries.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/compiler.hpp"
#include "runtime/elf_symbols.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::compiled_entries_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class NvrtcEntries : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            compiler_ = make_nvrtc_compiler("sm_90", cache_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }

    // The safe configuration's kernel has the kernels of its plan, and no other.
    void expect_the_plans_kernels(const Family& family) {
        const Problem problem = Families({family}).parse_problem(family.example);
        const Limits limits = cuda_limits(90);
        const KernelSource source = family.kernel(problem, family.space(problem, limits).safe(), limits);
        std::set<std::string> planned(source.entries.begin(), source.entries.end());
        for (const auto* plan : {&source.prepare, &source.step})
            for (const Launch& launch : *plan) planned.insert(launch.entry);
        ASSERT_FALSE(planned.empty());
        const CompileOutcome outcome = compiler_->compile(source);
        ASSERT_TRUE(outcome.ok) << family.name << ": " << outcome.failure << "\n" << outcome.code.log;
        std::set<std::string> compiled, reported;
        for (const ElfSymbol& symbol : elf_symbols(outcome.code.binary))
            if (symbol.is_entry) compiled.insert(symbol.name);
        for (const EntryResources& entry : outcome.code.resources) reported.insert(entry.entry);
        EXPECT_EQ(compiled, planned) << family.name;
        EXPECT_EQ(reported, planned) << family.name;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Compiler> compiler_;
};

TEST_F(NvrtcEntries, OfHonesFamiliesAreThoseOfTheirPlans) {
    for (const Family& family : built_in_families()) expect_the_plans_kernels(family);
}

TEST_F(NvrtcEntries, OfTheExampleFoldersAreThoseOfTheirPlans) {
    int wrapped = 0, templates = 0;
    for (const auto& folder : fs::directory_iterator(test::source_path("examples/kernels"))) {
        const KernelFolder kernel(folder.path());
        if (!kernel.description().cuda) continue;
        wrapped += kernel.description().wrapped ? 1 : 0;
        templates += kernel.description().cuda->is_template() ? 1 : 0;
        expect_the_plans_kernels(kernel.family());
    }
    EXPECT_GE(wrapped, 1);
    EXPECT_GE(templates, 1);
}

// A wrapped kernel with all that may stand in one: several launches with constants, scratch,
// numbers of all types, constant memory, attributes of kernels, functions of its own, a range;
// plain, and as a template.
constexpr const char* wrapped_family = R"({
  "name": "rich", "summary": "of a test", "wrapped": true, "example": "n=1000",
  "parameters": [{"name": "precision", "words": ["f32", "f64"], "default": "f64"}, {"name": "n", "from": 1, "to": 1000000}],
  "arguments": [{"name": "x", "access": "in", "extents": ["n"], "fill": "random"},
                {"name": "a", "type": "double", "value": "0.5"}, {"name": "b", "type": "unsigned", "value": "7"},
                {"name": "c", "type": "long long", "value": "n"}, {"name": "d", "type": "real", "value": "2"},
                {"name": "k", "access": "in", "type": "int", "extents": ["n"], "fill": {"random": [0, "n - 1"]}},
                {"name": "weights", "access": "in", "memory": "constant", "extents": ["4"], "fill": "random"},
                {"name": "y", "access": "out", "extents": ["n"]}],
  "range": {"unit": "values", "length": "n"},
  "cuda": {"source": "SOURCE", "tunables": [{"name": "block", "values": [64, 128]}], "scratch": [{"name": "parts", "extent": "n"}],
           "launches": [{"entry": "first_half", "grid": ["(n + block - 1) // block"], "block": ["block"], "constants": [3],
                         "range_axis": "x", "range_per_block": "block"},
                        {"entry": "second_half", "grid": ["(n + block - 1) // block"], "block": ["block"],
                         "range_axis": "x", "range_per_block": "block"}]},
  "counts": {"operations": 0}, "reference": {"source": "reference.cpp"}, "tolerance": {"value": 0, "reason": "a test"}})";

constexpr const char* wrapped_source = R"(
struct Pair { float low, high; };
__device__ __constant__ real weights[4];
__constant__ float others[2] = {1, 2};
template <typename word>
__device__ __forceinline__ word scaled(word value, int i) { return value * weights[i & 3] + others[i & 1]; }
__global__ void unused(float* z) { z[0] = 1; }
extern "C" __global__ __launch_bounds__(block, 2) void first_half(real* x, const double a, unsigned b, long long c, real d, const int* k,
                                                                 const real* table, real* __restrict__ y, real* parts, int first, int last, int shift)
{
    __shared__ real tile[block];
    const int i = first + blockIdx.x * block + threadIdx.x;
    if (i < last) tile[threadIdx.x] = scaled(x[i], shift) + a + b;
    __syncthreads();
    if (i < last) parts[i] = tile[threadIdx.x] + c;
}
static __global__ void __launch_bounds__(block) second_half(const real* const x, double a, unsigned int b, long long c, real d, const int* k,
                                                           real* table, real* y, const real* parts, int first, int last)
{
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) y[i] = parts[i] * d + x[k[i]];
}
)";

TEST_F(NvrtcEntries, OfWrappedKernelsOfAllKindsAreThoseOfTheirPlans) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "reference.cpp") << "void reference() {}\n";
    for (const auto& [file, head] : {std::pair{"kernel.cu", ""}, {"kernel.cu.in", "//@ constants\n"}}) {
        std::string family = wrapped_family;
        std::ofstream(folder.path() / "family.json") << family.replace(family.find("SOURCE"), 6, file);
        std::ofstream(folder.path() / file) << head << wrapped_source;
        const KernelFolder kernel(folder.path());
        expect_the_plans_kernels(kernel.family());
    }
}

TEST_F(NvrtcEntries, OfAKernelOfAnotherNameAreMissed) {
    for (const char* name : {"jacobi", "saxpy", "ell"}) {
        const test::TemporaryFolder folder;
        const fs::path path = folder.path() / name;
        fs::copy(test::source_path(std::string("examples/kernels/") + name), path);
        for (const auto& file : fs::directory_iterator(path)) {
            std::stringstream text;
            text << std::ifstream(file.path()).rdbuf();
            std::string changed = text.str();
            const std::string head = std::string(name) + "(", other = std::string("another_") + head;
            for (std::size_t at = changed.find(head); at != std::string::npos; at = changed.find(head, at + other.size()))
                changed.replace(at, head.size(), other);
            if (file.path().string().find("kernel") != std::string::npos || file.path().extension() == ".cu") std::ofstream(file.path()) << changed;
        }
        const KernelFolder kernel(path);
        const Problem problem = Families({kernel.family()}).parse_problem(kernel.family().example);
        const Limits limits = cuda_limits(90);
        const CompileOutcome outcome = compiler_->compile(kernel.family().kernel(problem, kernel.family().space(problem, limits).safe(), limits));
        EXPECT_FALSE(outcome.ok) << name;
        EXPECT_THAT(outcome.failure, kernel.description().wrapped ? HasSubstr("\"saxpy\" is undefined")
                                                                  : HasSubstr(fmt::format("no kernel of the name {0}; it has another_{0}", name)));
    }
}

}  // namespace
}  // namespace hone::compiled_entries_test
