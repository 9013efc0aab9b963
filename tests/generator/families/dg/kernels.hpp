#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "tests/generator/families/dg/volume/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"

namespace hone::test {

/// What tests of the compiled kernels of a dg family that works on faces have in common. A suite
/// derives from it and names its family.
class DgKernels : public KernelTest {
  protected:
    explicit DgKernels(const Family& family) : families_({family}) {}

    const Family& family() const { return *families_.begin(); }
    Problem parse(const std::string& rest) const { return families_.parse_problem(family().name + " " + rest); }

    void expect_verified_on_cpu(const std::string& rest, const std::string& text) {
        const Problem problem = parse(rest);
        test::expect_verified_once(*backend_, family(), problem, member(family().space(problem, backend_->device().limits), text), random_);
    }

    int any_order(int highest = 10) { return 1 + static_cast<int>(random_() % static_cast<unsigned>(highest)); }

    // A random problem of an order: equation, precision and, where the family knows them,
    // materials.
    std::string random_problem(int order) {
        std::string text = fmt::format("order={}", order);
        for (const ProblemParameter& parameter : family().parameters)
            if (!parameter.words.empty()) text += fmt::format(" {}={}", parameter.name, parameter.words[random_() % parameter.words.size()]);
        return text;
    }

    // A random problem of an order with a random configuration, at sizes below, at and beyond a
    // block.
    void expect_random_verified_on(Backend& backend, const Family& which, int order, const std::vector<int>& sizes) {
        const std::string rest = random_problem(order);
        const auto at = [&](int elements) { return parse(fmt::format("{} elements={}", rest, elements)); };
        const Config config = sample_members(backend, which, at(1), 1, random_()).back();
        for (const int elements : sizes) expect_verified(backend, which, at(elements), config);
    }
    void expect_random_verified_on_cpu(int order) { expect_random_verified_on(*backend_, family(), order, {1, 2, 71}); }
    void expect_random_verified_on_gpu(int order) {
        const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
        if (!cuda) return;
        for (int i = 0; i < 4; ++i) expect_random_verified_on(*cuda, family(), order, {1, 2, 1371});
    }

    void expect_emulated(const std::string& rest, const std::string& text) {
        const Family on_host = emulated(without_assembly(family()), cuda_limits(90));
        const Problem problem = parse(rest);
        test::expect_verified_once(*backend_, on_host, problem, member(on_host.space(problem, {}), text), random_);
    }
    void expect_random_emulated(int order) {
        expect_random_verified_on(*backend_, emulated(without_assembly(family()), cuda_limits(90)), order, {5});
    }

    struct Representative {
        const char* problem;
        const char* config;
    };
    // What the register rule promises: a kernel within it does not live on spills (ptxas leaves up
    // to a few words at the very bound).
    void expect_few_spills(const std::vector<Representative>& representatives) {
        constexpr int few_bytes = 160;
        for (const int architecture : {80, 90, 100}) {
            std::unique_ptr<Compiler> compiler;
            try {
                compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache_);
            } catch (const Error& error) {
                GTEST_SKIP() << error.what();
            }
            const Limits limits = cuda_limits(architecture);
            for (std::size_t i = 0; i < representatives.size(); i += architecture == 90 ? 1 : 3) {
                if (architecture < 90 && std::string(representatives[i].config).find("mma") != std::string::npos) continue;  // came with sm_90
                const Problem problem = parse(std::string(representatives[i].problem) + " elements=1000");
                const Config config = member(family().space(problem, limits), representatives[i].config);
                test::expect_few_spills(*compiler, family(), problem, config, limits, few_bytes);
            }
        }
    }

    Families families_;
};

}  // namespace hone::test
