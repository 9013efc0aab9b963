#include "tests/support/coverage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "runtime/backend.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/statements.hpp"
#include "tests/support/verify.hpp"

namespace hone::test {
namespace {

using Position = std::pair<int, int>;  // line, column

enum class Run { nowhere, never, executed };

// A stretch of source with a count of its own, as clang's coverage mapping has it, or one that the
// preprocessor leaves out.
struct Region {
    Position begin, end;
    Run run;
};

// Runs a program; its output goes to a file, since run_process keeps only so much.
void run(const std::vector<std::string>& arguments, const std::filesystem::path& output) {
    const int file = open(output.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    pid_t child = 0;
    const int error = start_process(arguments, {-1, file, file}, child, Group::parents);
    close(file);
    int status = -1;
    if (error != 0 || waitpid(child, &status, 0) != child || status != 0)
        throw Error(arguments[0], fmt::format("failed ({}, {})", error, status), "run it by hand: " + fmt::format("{}", fmt::join(arguments, " ")));
}

// The functions of an object, each with its regions; those of a template once for every instance.
std::vector<std::vector<Region>> functions_of(const std::filesystem::path& object, const std::vector<std::string>& profiles,
                                              const std::filesystem::path& folder) {
    const std::string merged = (folder / "merged.profdata").string();
    const std::filesystem::path exported = folder / "coverage.json";
    std::vector<std::string> merge{find_program("llvm-profdata"), "merge", "-o", merged};
    merge.insert(merge.end(), profiles.begin(), profiles.end());
    run(merge, folder / "merge.log");
    run({find_program("llvm-cov"), "export", "-instr-profile", merged, object.string()}, exported);
    std::ifstream stream(exported);
    const nlohmann::json report = nlohmann::json::parse(stream);
    std::vector<std::vector<Region>> functions;
    for (const auto& function : report.at("data").at(0).at("functions")) {
        std::vector<Region> regions;
        for (const auto& region : function.at("regions")) {
            enum Kind { code, expansion, left_out };
            const bool of_the_file = region.at(5) == 0;
            const int kind = region.at(7);
            if (!of_the_file || (kind != code && kind != left_out)) continue;
            const Run run = kind == left_out ? Run::nowhere : region.at(4).get<std::uint64_t>() > 0 ? Run::executed : Run::never;
            regions.push_back({{region.at(0), region.at(1)}, {region.at(2), region.at(3)}, run});
        }
        functions.push_back(std::move(regions));
    }
    return functions;
}

// By the smallest region around it: that which begins last.
Run run_of(const std::vector<Region>& function, const Position& at) {
    const Region* innermost = nullptr;
    for (const Region& region : function)
        if (region.begin <= at && at < region.end && (innermost == nullptr || innermost->begin <= region.begin)) innermost = &region;
    return innermost == nullptr ? Run::nowhere : innermost->run;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// With clang's own jumps for the emulator's fibers: the C library's are intercepted by the address
// sanitizer of this program, which makes a system call for each of millions.
Family with_builtin_jumps(Family family) {
    family.kernel = [plain = family.kernel](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = plain(problem, config, limits);
        for (const auto& [intercepted, own] :
             {std::pair{"_setjmp(", "__builtin_setjmp((void**)"}, std::pair{"_longjmp(", "__builtin_longjmp((void**)"}})
            for (std::size_t at = source.text.find(intercepted); at != std::string::npos;
                 at = source.text.find(intercepted, at + std::string_view(own).size()))
                source.text.replace(at, std::string_view(intercepted).size(), own);
        return source;
    };
    return family;
}

}  // namespace

std::string missing_for_coverage() {
    for (const char* program : {"clang++", "llvm-cov", "llvm-profdata"})
        if (find_program(program).empty()) return fmt::format("there is no {} on this machine: apt install clang llvm", program);
    return {};
}

Coverage coverage_of(const Family& given, const std::vector<Problem>& problems, const Config& config, const std::string& emitted,
                     const std::filesystem::path& folder) {
    const Family family = with_builtin_jumps(given);
    // clang takes more options from the environment; without optimisation, which would only take
    // time.
    const EnvironmentVariable compiler("HONE_CXX", "clang++"), options("CCC_OVERRIDE_OPTIONS", "# O0 +-fprofile-instr-generate +-fcoverage-mapping");
    DiskCache cache(folder / "kernels");
    const auto backend = make_cpu_backend(0, cache);
    const std::uint64_t seed = std::random_device{}();
    std::vector<std::string> profiles;
    for (const Problem& problem : problems)
        for (const std::int64_t last : {std::int64_t{-1}, std::int64_t{1}}) {  // of a part some blocks and threads have nothing to do
            profiles.push_back((folder / fmt::format("profile_{}", profiles.size())).string());
            const EnvironmentVariable output("LLVM_PROFILE_FILE", profiles.back());
            const Verification verification = verify(*backend, family, problem, config, seed, 0, last);
            EXPECT_TRUE(verification.passed()) << verification.what << ": error " << verification.error << ", allowed " << verification.tolerance;
        }
    const KernelSource source = family.kernel(problems.at(0), config, backend->device().limits);
    const std::filesystem::path object = folder / "kernel.so";
    std::ofstream(object, std::ios::binary) << backend->compiler().compile(source).code.binary;
    const auto functions = functions_of(object, profiles, folder);

    const std::vector<std::string> lines = lines_of(source.text), own_lines = lines_of(emitted);
    const std::set<std::string> own(own_lines.begin(), own_lines.end());
    const auto before = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), own_lines.at(0)) - lines.begin());  // an emulator's
    Coverage coverage;
    for (const Statement& statement : statements_of(source.text)) {
        const std::size_t number = static_cast<std::size_t>(statement.line) - 1;
        const std::string& line = lines[number];
        if (number < before || !own.contains(line)) continue;
        Run run = Run::nowhere;
        for (const auto& function : functions) run = std::max(run, run_of(function, {statement.line, statement.column}));
        if (run == Run::nowhere) continue;
        ++coverage.statements;
        coverage.executed += run == Run::executed ? 1 : 0;
        if (run == Run::never)
            coverage.left.push_back(fmt::format("{}: {}", number + 1 - before, line.substr(static_cast<std::size_t>(statement.column) - 1)));
    }
    return coverage;
}

}  // namespace hone::test
