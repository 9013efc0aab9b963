#include "runtime/cpu/compiled_headers.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "foundation/process.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::compiled_headers_test {
namespace {

namespace fs = std::filesystem;

KernelSource source_of(const std::string& text) {
    KernelSource source;
    source.text = text;
    source.precision = Precision::f64;
    source.entries = {"map"};
    source.arrays = {{"x", Access::inout, 4, "[4]", ""}};
    source.step.resize(1);
    source.step[0].entry = "map";
    return source;
}

const std::string includes = "#include <cstdint>\n#include <cstddef>\n";
const std::string body = "extern \"C\" void map(double* x, int first, int last) {\n    for (std::int64_t i = first; i < last; ++i) x[i] += 1;\n}\n";

TEST(CompiledHeaders, ATextsLeadingIncludesAreItsHeaders) {
    EXPECT_EQ(leading_includes("// a kernel\n\n#include <vector>\n#include <array>  \nint x;\n#include <cmath>\n"),
              "#include <vector>\n#include <array>\n");
    EXPECT_EQ(leading_includes("#include <vector>\n#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\nint x;\n"),
              "#include <vector>\n#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n");
    EXPECT_EQ(leading_includes("#include <vector>\n#ifdef A\nint x;\n#endif\n"), "#include <vector>\n") << "no condition is left open";
    EXPECT_EQ(leading_includes("#include <vector>\n#endif\n#include <array>\n"), "#include <vector>\n");
    EXPECT_EQ(leading_includes("#include \"own.hpp\"\n#include <vector>\n"), "");
    EXPECT_EQ(leading_includes("int x;\n#include <vector>\n"), "");
    EXPECT_EQ(leading_includes("#include <vector>"), "#include <vector>\n");
    EXPECT_EQ(leading_includes(""), "");
}

class SlowCompiledHeaders : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (find_program(GetParam()).empty()) GTEST_SKIP() << "there is no " << GetParam();
        compiler = make_host_compiler(cache);
        if (!compiler->missing().empty()) GTEST_SKIP() << compiler->missing();
    }
    std::int64_t entries() const { return std::distance(fs::directory_iterator(cache.folder()), {}); }

    test::TemporaryFolder folder;
    test::EnvironmentVariable chosen{"HONE_CXX", GetParam()};
    DiskCache cache{folder.path() / "cache"};
    std::unique_ptr<Compiler> compiler;
};

TEST_P(SlowCompiledHeaders, TheSecondKernelMakesThemAndTheCodeStaysTheSame) {
    const auto makes = make_host_compiler(cache, 120, HeaderUse::makes_compiled);
    const std::string text = includes + body;
    ASSERT_TRUE(makes->compile(source_of(text)).ok);
    const std::int64_t before = entries();
    const CompileOutcome second = makes->compile(source_of(text + "// another one\n"));
    ASSERT_TRUE(second.ok) << second.failure << second.code.log;
    EXPECT_EQ(entries(), before + 2) << "the headers, and the kernel";
    DiskCache elsewhere(folder.path() / "elsewhere");
    const CompileOutcome plain = make_host_compiler(elsewhere)->compile(source_of(text + "// another one\n"));
    EXPECT_EQ(second.code.binary.size(), plain.code.binary.size());
    // Another process only uses them: its first kernel has them already, and it makes none of its
    // own.
    const auto uses = make_host_compiler(cache, 120, HeaderUse::uses_compiled);
    for (const char* line : {"// third\n", "// fourth\n"}) EXPECT_TRUE(uses->compile(source_of(text + line)).ok);
    for (const char* line : {"// fifth\n", "// sixth\n"}) EXPECT_TRUE(uses->compile(source_of("#include <cstdint>\n" + body + line)).ok);
    EXPECT_EQ(entries(), before + 6);
}

TEST_P(SlowCompiledHeaders, AKernelThatFailsSaysWhatItSaysWithoutThem) {
    const auto makes = make_host_compiler(cache, 120, HeaderUse::makes_compiled);
    for (const char* line : {"", "// again\n"}) ASSERT_TRUE(makes->compile(source_of(includes + body + line)).ok);
    const std::string wrong = includes + "void f() { nothing_there(); }\n" + body;
    const CompileOutcome with = makes->compile(source_of(wrong));
    const CompileOutcome without = compiler->compile(source_of(wrong));
    EXPECT_FALSE(with.ok);
    EXPECT_EQ(with.failure, without.failure);
}

TEST_P(SlowCompiledHeaders, HeadersThatLeaveTheCacheAreParsedAgain) {
    const auto makes = make_host_compiler(cache, 120, HeaderUse::makes_compiled);
    for (const char* line : {"", "// again\n"}) ASSERT_TRUE(makes->compile(source_of(includes + body + line)).ok);
    for (const auto& entry : fs::directory_iterator(cache.folder())) fs::remove(entry.path());
    const CompileOutcome outcome = makes->compile(source_of(includes + body + "// third\n"));
    EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
}

INSTANTIATE_TEST_SUITE_P(, SlowCompiledHeaders, testing::Values("g++", "clang++"));

}  // namespace
}  // namespace hone::compiled_headers_test
