#include "tests/support/verification_sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::verification_sources_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class VerificationSources : public ::testing::Test {
  protected:
    VerificationSources() {
        write("generator/families/heat/reference.cpp",
              "#include \"generator/families/heat/layout.hpp\"\n#include \"generator/families/heat/kernel.hpp\"\nreference\n");
        write("generator/families/heat/layout.hpp", "layout\n");
        write("generator/families/heat/layout.cpp", "numbers\n");
        write("generator/families/heat/family.cpp", "#include \"generator/form.hpp\"\nfamily\n");
        write("generator/families/heat/kernel.hpp", "#include \"generator/form.hpp\"\nkernel\n");
        write("generator/families/heat/kernel.cpp", "#include \"generator/block.hpp\"\nkernel\n");
        write("generator/workload.cpp", "comparison\n");
        write("tests/support/verify.cpp", "verification\n");
    }
    void write(const std::string& file, const std::string& text) const {
        const fs::path path = folder_.path() / file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    std::string sources(const std::string& family = "heat") const { return test::verification_sources(folder_.path(), family); }

    test::TemporaryFolder folder_;
};

TEST_F(VerificationSources, ChangeWithWhateverAKernelIsComparedWithAndBy) {
    std::set<std::string> seen{sources()};
    for (const char* file : {"generator/families/heat/reference.cpp", "generator/families/heat/layout.hpp", "generator/families/heat/layout.cpp",
                             "generator/families/heat/family.cpp", "generator/workload.cpp", "tests/support/verify.cpp"}) {
        std::ofstream(folder_.path() / file, std::ios::app) << "more\n";
        EXPECT_TRUE(seen.insert(sources()).second) << file;
    }
}

TEST_F(VerificationSources, StayTheSameWithCommentsAndWithWhatMakesKernels) {
    const std::string before = sources();
    EXPECT_THAT(before, HasSubstr("-O3"));
    write("generator/families/heat/kernel.cpp", "#include \"generator/block.hpp\"\nanother kernel\n");
    write("generator/families/heat/kernel.hpp", "#include \"generator/form.hpp\"\nanother kernel\n");
    write("generator/families/heat/layout.hpp", "// A comment.\n\n    layout\n");
    write("generator/families/cold/reference.cpp", "of another family\n");
    EXPECT_EQ(sources(), before);
}

TEST_F(VerificationSources, OfATestAreFoundByTheNameThatACompilerGives) {
    write("tests/heat_test.cpp", "// Says what.\n  test\n");
    for (const char* prefix : {"", "/somewhere/else/", "../../"})
        EXPECT_EQ(test::verification_source(folder_.path(), prefix + std::string("tests/heat_test.cpp")), "test\n");
    EXPECT_THROW(test::verification_source(folder_.path(), "tests/cold_test.cpp"), Error);
}

TEST(VerificationSourcesOfFamilies, HaveTheirReferencesAndTolerances) {
    std::set<std::string> all;
    for (const Family& family : built_in_families()) {
        const std::string text = test::verification_sources(test::source_path(""), family.name);
        for (const char* piece : {"family.reference = ", "family.workload = ", "tolerance", "largest_difference("})
            EXPECT_THAT(text, HasSubstr(piece)) << family.name;
        EXPECT_TRUE(all.insert(text).second) << family.name << " has those of another family";
    }
}

}  // namespace
}  // namespace hone::verification_sources_test
