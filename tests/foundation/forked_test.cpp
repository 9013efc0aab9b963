#include "foundation/forked.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/library.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::forked_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What `work` is refused with in a child that is forked here. A child that hangs is killed.
std::string refusal_in_a_child(const std::function<void()>& work) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        std::string text = "nothing is refused";
        try {
            work();
        } catch (const Error& error) {
            text = error.what();
        }
        _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text(4096, ' ');
    const ssize_t length = read(ends[0], text.data(), text.size());
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
}

class Forked : public ::testing::Test {
  protected:
    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path()};
};

// OpenMP's threads are its parent's: a launch would wait for them for ever.
TEST_F(Forked, AChildThatLaunchesIsRefusedWithASentence) {
    const auto backend = make_backend("cpu", cache_);
    const Families families = test::axpy_families();
    const Database none(families);
    KernelLibrary library(*backend, none, families);
    const auto kernel = library.kernel(families.parse_problem("axpy n=100000"));
    std::vector<float> x(100000, 1), y(100000, 2);
    const std::array<void*, 2> arrays{x.data(), y.data()};
    kernel->launch(arrays);
    EXPECT_EQ(refusal_in_a_child([] {}), "nothing is refused");
    const auto sentence =
        AllOf(HasSubstr("forked from process " + std::to_string(getpid())), HasSubstr("neither threads nor devices live on"), HasSubstr("spawn"));
    EXPECT_THAT(refusal_in_a_child([&] { kernel->launch(arrays); }), sentence);
    const BoundKernel bound(kernel, arrays);
    EXPECT_THAT(refusal_in_a_child([&] { bound.launch(); }), sentence);
    EXPECT_THAT(refusal_in_a_child([&] { make_backend("cpu", cache_); }), sentence);
    std::vector<char> much(1 << 22), more(1 << 22);
    EXPECT_THAT(refusal_in_a_child([&] { backend->copy(much.data(), more.data(), 1 << 22); }), sentence);
    kernel->launch(arrays);  // here everything is as it was
}

}  // namespace
}  // namespace hone::forked_test
