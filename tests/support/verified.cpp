#include "tests/support/verified.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "tests/support/places.hpp"
#include "tests/support/verification_sources.hpp"

namespace hone::test {
namespace {

// What this program left out is said at its end.
class ProgramsKernels : public ::testing::Environment {
  public:
    void TearDown() override {
        if (kernels.known() + kernels.run() > 0)
            fmt::print("Verifications of kernels that tests name: {} known from tests/verified.txt, {} run\n", kernels.known(), kernels.run());
    }

    VerifiedKernels kernels{source_path("tests/verified.txt")};
};

// Before main: googletest finishes what is there when the tests start.
ProgramsKernels& program = *static_cast<ProgramsKernels*>(::testing::AddGlobalTestEnvironment(new ProgramsKernels));

std::string plan(const std::vector<Launch>& launches) {
    std::string text;
    for (const Launch& launch : launches)
        text += fmt::format("{} grid {} block {} range {} {} shared {} constants {}\n", launch.entry, launch.grid, launch.block, launch.range_axis,
                            launch.range_per_block, launch.shared_bytes, launch.constants);
    return text;
}

// All that the runtime takes of a source.
std::string description(const KernelSource& source) {
    std::string text = fmt::format("{} {} {}\n{}\n", to_string(source.target), to_string(source.precision), source.entries, source.text);
    for (const ArraySpec& array : source.arrays) text += fmt::format("{} {} {}\n", array.name, static_cast<int>(array.access), array.words);
    for (const TableSpec& table : source.tables) {
        text += fmt::format("{} {} {}\n", table.name, table.words, table.scratch);
        text.append(reinterpret_cast<const char*>(table.contents.data()), table.contents.size() * sizeof(double));
    }
    for (const ScalarSpec& scalar : source.scalars) text += fmt::format("{} {}\n", scalar.name, scalar.value);
    return text + fmt::format("{}\n", source.by_value) + plan(source.prepare) + plan(source.step);
}

// What one compiler makes of a text says nothing of what the other does.
const std::string& compiler() {
    static const std::string name = [] {
        const DiskCache cache(kernel_cache_folder());
        return find_host_compiler(&cache).version.find("clang") == std::string::npos ? "GCC" : "clang";
    }();
    return name;
}

// `family hash`: short enough for a list to be read, long enough that no two of some thousands are
// alike.
std::string line_of(const Limits& limits, const std::string& property, const std::vector<NamedKernel>& kernels, const std::string& file) {
    constexpr std::size_t digits = 16;
    static std::map<std::string, std::string> sources;  // of families, whose files are read once
    std::string& family_sources = sources[kernels.front().family.name];
    if (family_sources.empty()) family_sources = sha256(verification_sources(source_path(""), kernels.front().family.name));
    std::string text = property + "\n" + compiler() + "\n" + family_sources + "\n" + verification_source(source_path(""), file);
    for (const auto& [family, problem, config] : kernels)
        text += problem.key() + "\n" + config.key() + "\n" + description(family.kernel(problem, config, limits));
    return kernels.front().family.name + " " + sha256(text).substr(0, digits);
}

bool in_a_suite_of_everything() {
    const std::string suite = ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    const std::string name = suite.substr(suite.find('/') + 1);  // behind the name of an instantiation
    return name.starts_with("Slow") || name.starts_with("Gpu");
}

void record(const std::string& line) {
    const char* const path = std::getenv("HONE_TEST_RECORD");
    if (path == nullptr) return;
    std::ofstream file(path, std::ios::app);  // in one piece: other test programs write there, too
    file << line + "\n" << std::flush;
    if (!file) throw Error(path, "cannot be written", "set HONE_TEST_RECORD to a file's path");
}

}  // namespace

VerifiedKernels::VerifiedKernels(const std::filesystem::path& file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (!line.starts_with('#')) lines_.insert(line);
}

void VerifiedKernels::verify_once(const Limits& limits, const std::string& property, const std::vector<NamedKernel>& kernels,
                                  const std::function<void()>& verification, const char* file) {
    if (in_a_suite_of_everything()) return verification();
    const std::string line = line_of(limits, property, kernels, file);
    if (std::getenv("HONE_TEST_EVERYTHING") == nullptr && lines_.contains(line)) {
        ++known_;
        record(line);
        return;
    }
    verification();
    ++run_;
    if (!::testing::Test::HasFailure() && !::testing::Test::IsSkipped()) record(line);
}

void verify_once(const Limits& limits, const std::string& property, const std::vector<NamedKernel>& kernels,
                 const std::function<void()>& verification, const char* file) {
    program.kernels.verify_once(limits, property, kernels, verification, file);
}

}  // namespace hone::test
