#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "foundation/file_store.hpp"
#include "generator/tidy.hpp"
#include "tests/support/golden_cases.hpp"
#include "tests/tools/ask.hpp"

namespace hone::tools::banner_test {
namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
}

// Whoever meets a kernel in a program can make it again. (Those for the processor depend on how
// many there are.)
TEST(Banner, TheCommandInAKernelsHeaderMakesItAgain) {
    int kernels = 0;
    for (const test::GoldenCase& golden : test::read_golden_cases()) {
        if (golden.target != Target::cuda) continue;
        SCOPED_TRACE(golden.file());
        const std::string text = test::emit_golden(golden).source.text;
        const std::string command = command_of(text), program = "hone ";
        ASSERT_TRUE(command.starts_with(program));
        const test::Answer answer = test::ask(words_of(command.substr(program.size())));
        EXPECT_EQ(answer.code, Exit::ok) << answer.error;
        EXPECT_TRUE(answer.out == text);
        ++kernels;
    }
    EXPECT_GT(kernels, 0);
}

}  // namespace
}  // namespace hone::tools::banner_test
