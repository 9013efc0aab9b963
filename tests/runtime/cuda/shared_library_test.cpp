#include "runtime/cuda/shared_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::cuda::shared_library_test {
namespace {

using test::EnvironmentVariable;
using testing::Contains;
using testing::HasSubstr;

const std::string fake_driver = test::fake_driver_folder() + "/libcuda.so.1";

TEST(SharedLibrary, TakesTheFirstThatLoads) {
    const SharedLibrary library({"/absent/first.so", fake_driver, "/absent/last.so"});
    ASSERT_TRUE(library) << library.reason();
    EXPECT_EQ(std::filesystem::canonical(library.path()), std::filesystem::canonical(fake_driver));
    int (*init)(unsigned) = nullptr;
    EXPECT_TRUE(library.bind("cuInit", init));
    EXPECT_NE(init, nullptr);
    EXPECT_FALSE(library.bind("cuNothing", init));
    EXPECT_EQ(init, nullptr);
}

TEST(SharedLibrary, GivesTheFirstReasonWhenNoneLoads) {
    const SharedLibrary library({"/absent/first.so", "/absent/last.so"});
    EXPECT_FALSE(library);
    EXPECT_THAT(library.reason(), HasSubstr("/absent/first.so"));
    int (*init)(unsigned) = nullptr;
    EXPECT_FALSE(library.bind("cuInit", init));
    EXPECT_FALSE(SharedLibrary());
}

TEST(LibraryCandidates, AreOfOneFolderWhereTheUserSaysSo) {
    const EnvironmentVariable only("HONE_CUDA_LIBRARIES", "/somewhere");
    const LibraryCandidates candidates = library_candidates();
    EXPECT_THAT(candidates.driver, testing::ElementsAre("/somewhere/libcuda.so.1"));
    EXPECT_THAT(candidates.nvml, testing::ElementsAre("/somewhere/libnvidia-ml.so.1"));
    EXPECT_THAT(candidates.nvrtc, testing::Each(testing::StartsWith("/somewhere/libnvrtc.so")));
}

TEST(LibraryCandidates, AreTheLoadersFirstThenTheToolkits) {
    const test::TemporaryFolder toolkit;
    std::filesystem::create_directory(toolkit.path() / "lib64");
    const EnvironmentVariable everywhere("HONE_CUDA_LIBRARIES", std::nullopt);
    const EnvironmentVariable path("CUDA_PATH", toolkit.path().string());
    const LibraryCandidates candidates = library_candidates();
    EXPECT_EQ(candidates.driver.front(), "libcuda.so.1");
    EXPECT_EQ(candidates.nvrtc.front(), "libnvrtc.so.13");
    EXPECT_THAT(candidates.nvrtc, Contains((toolkit.path() / "lib64/libnvrtc.so.13").string()));
    // The toolkit's stubs answer every call with an error.
    EXPECT_THAT(candidates.driver, testing::Not(Contains(HasSubstr("stubs"))));
}

}  // namespace
}  // namespace hone::cuda::shared_library_test
