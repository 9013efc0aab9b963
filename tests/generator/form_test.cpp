#include "generator/form.hpp"

#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::form_test {
namespace {

std::vector<Form> forms() {
    const auto form = [](const char* name, std::vector<Tunable> tunables, std::vector<Assignment> safe) {
        return Form{.space = {.name = name, .tunables = std::move(tunables), .safe = std::move(safe)},
                    .resources =
                        [](const Config& config) {
                            return BlockResources{
                                .threads = config.integer("threads"), .shared_bytes = integer_or(config, "shared", 0), .registers = 32};
                        },
                    .kernel =
                        [name](const Config&) {
                            KernelSource source;
                            source.text = name;
                            return source;
                        }};
    };
    const Tunable threads{"threads", "in a block", numbers({64, 256, 1024, 2048})};
    return {form("alone", {threads}, {{"threads", 64}}),
            form("many", {threads, {"shared", "bytes", numbers({0, 1 << 16, 1 << 20})}, {"min_blocks", "in a multiprocessor", numbers({1, 2, 4})}},
                 {{"threads", 64}, {"shared", 0}, {"min_blocks", 1}})};
}

std::string rejected_by(const char* text) {
    const SearchSpace space = space_of(forms(), cuda_limits(90), "alone");
    const auto rejection = space.check(space.parse(text));
    return rejection ? rejection->constraint : "";
}

TEST(Form, WhatADeviceHoldsIsOneSetOfRules) {
    EXPECT_EQ(rejected_by("form=alone,threads=1024"), "");
    EXPECT_EQ(rejected_by("form=alone,threads=2048"), "threads") << "of a block";
    EXPECT_EQ(rejected_by("form=many,threads=1024,min_blocks=2"), "") << "2048 threads with 32 registers each";
    EXPECT_EQ(rejected_by("form=many,threads=1024,min_blocks=4"), "threads") << "of a multiprocessor";
    EXPECT_EQ(rejected_by("form=many,threads=64,shared=1048576"), "shared_memory");
    EXPECT_EQ(rejected_by("form=many,threads=64,shared=65536,min_blocks=2"), "");
    EXPECT_EQ(rejected_by("form=many,threads=64,shared=65536,min_blocks=4"), "shared_memory");
}

TEST(Form, AConfigurationHasTheKernelOfItsForm) {
    EXPECT_EQ(kernel_of(forms(), Config(std::vector<Assignment>{{"form", "many"}})).text, "many");
    EXPECT_THROW(kernel_of(forms(), Config(std::vector<Assignment>{{"form", "few"}})), Error);
    EXPECT_THROW(kernel_of(forms(), Config()), Error);
}

}  // namespace
}  // namespace hone::form_test
