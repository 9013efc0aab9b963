#include "runtime/cpu/host_object.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <string>

#include "foundation/process.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::host_object_test {
namespace {

// Writes the number of the team's threads into its array.
KernelSource team_source() {
    KernelSource source;
    source.text = R"(extern "C" void team(double* threads, int, int) {
    double count = 0;
#pragma omp parallel reduction(+ : count)
    count += 1;
    *threads = count;
}
)";
    source.precision = Precision::f64;
    source.entries = {"team"};
    source.arrays = {{"threads", Access::out, 1, "[1]", ""}};
    source.step.resize(1);
    source.step[0].entry = "team";
    return source;
}

// Two compilers bring two OpenMP libraries, one of which is not this program's.
TEST(HostObject, TeamsHaveTheCallersThreadsWhicheverCompilerMadeThem) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    int compilers = 0;
    for (const char* name : {"g++", "clang++"}) {
        if (find_program(name).empty()) continue;
        const test::EnvironmentVariable chosen("HONE_CXX", name);
        const auto compiler = make_host_compiler(cache);
        if (!compiler->missing().empty()) continue;
        ++compilers;
        const CompileOutcome outcome = compiler->compile(team_source());
        ASSERT_TRUE(outcome.ok) << outcome.failure;
        std::string reason;
        const HostObject object(outcome.code.file.string(), reason);
        ASSERT_TRUE(object) << reason;
        const int before = omp_get_max_threads();
        for (const int wanted : {3, 1, 5}) {
            omp_set_num_threads(wanted);
            double counted = 0;
            double* threads = &counted;
            int first = 0;
            int last = 1;
            std::array<void*, 3> arguments{&threads, &first, &last};
            object.launch(0, arguments.data());
            EXPECT_EQ(counted, wanted) << name;
        }
        omp_set_num_threads(before);
    }
    if (compilers == 0) GTEST_SKIP() << "there is neither g++ nor clang++ that compiles kernels";
}

}  // namespace
}  // namespace hone::host_object_test
