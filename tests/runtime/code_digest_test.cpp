#include "runtime/code_digest.hpp"

#include <gtest/gtest.h>

namespace hone::code_digest_test {
namespace {

KernelSource launching() {
    KernelSource source;
    source.text = "of one configuration";
    source.step.resize(1);
    source.step[0].entry = "step";
    source.step[0].block = {64, 1, 1};
    source.tables = {{"scratch", 10, {}, true}};
    return source;
}

TEST(CodeDigest, IsOfTheCodeAndOfHowItIsLaunched) {
    const std::string digest = code_digest(launching(), "code");
    EXPECT_EQ(digest.size(), 16U);
    KernelSource other = launching();
    other.text = "of another configuration";
    EXPECT_EQ(code_digest(other, "code"), digest) << "what the text says besides is not executed";
    EXPECT_NE(code_digest(other, "other code"), digest);
    const auto differs = [&](const auto& change) {
        KernelSource changed = launching();
        change(changed);
        return code_digest(changed, "code") != digest;
    };
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].block[0] = 32; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].grid[1] = 2; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].shared_bytes = 8; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].constants = {1}; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].range_per_block = 2; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step[0].entry = "other"; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.step.push_back(source.step[0]); }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.prepare = source.step; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.tables[0].words = 11; }));
    EXPECT_TRUE(differs([](KernelSource& source) { source.tables[0].contents = {1}; }));
}

}  // namespace
}  // namespace hone::code_digest_test
