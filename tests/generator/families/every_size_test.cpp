// Every form of every family at sizes of all residues of what it takes at a time: of a vector, of a
// thread, of a block. A kernel's text is of all sizes (family_contract_test), so that it is
// compiled once for all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/generator/families/on_host.hpp"
#include "tests/support/emulator.hpp"

namespace hone::every_size_test {
namespace {

bool is_grid(const std::string& family) {
    return family == "acoustics_staggered" || family == "gauss_seidel_27" || family == "poisson7" || family == "staggered_flow";
}

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const Family& family : built_in_families()) names.push_back(family.name);
    return names;
}

class EverySize : public test::KernelTest, public ::testing::WithParamInterface<std::tuple<std::string, Target>> {
  protected:
    const Family& plain() const { return built_in_families().find(std::get<0>(GetParam())); }
    Family family() const { return std::get<1>(GetParam()) == Target::cuda ? test::emulated(test::on_host(plain()), cuda_limits(90)) : plain(); }
    SearchSpace space_of(const Family& family, const Problem& problem) const { return family.space(problem, backend_->device().limits); }

    std::int64_t draw(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution(low, high)(random_); }

    // Of the parameters that are no sizes, in so far as a step of so small a problem is cheap.
    std::string draw_class() {
        std::string text = plain().name;
        for (const ProblemParameter& parameter : plain().parameters) {
            if (!parameter.words.empty()) {
                text += fmt::format(" {}={}", parameter.name, parameter.words[static_cast<std::size_t>(draw(0, std::ssize(parameter.words) - 1))]);
            } else if (!parameter.extent) {
                const bool order = parameter.name == "order", points = parameter.name == "points";
                if (points) continue;  // as many as suit the order
                text += fmt::format(" {}={}", parameter.name, draw(parameter.low, std::min<std::int64_t>(parameter.high, order ? 3 : 9)));
            }
        }
        return text;
    }

    // `size` units; in grids points along an axis, others along the rest.
    std::string extents(const std::string& of_class, std::int64_t size) {
        const std::string& name = plain().name;
        if (name == "csr_spmv") return fmt::format("rows={} entries={}", size, draw(1, std::min(size * size, 40 * size)));
        if (name == "fe_mass") return fmt::format("elements={} nodes={}", size, draw(1, 4 * size));
        if (!is_grid(name)) return fmt::format("{}={}", name.starts_with("batched") ? "batch" : name == "corner_force" ? "zones" : "elements", size);
        const bool flat = of_class.find("dimension=2") != std::string::npos;
        const std::int64_t axis = size > 40 ? 0 : draw(0, flat ? 1 : 2);
        const auto along = [&](std::int64_t one) { return one == axis ? size : draw(1, size > 40 ? 3 : 9); };
        return fmt::format("nx={} ny={}", along(0), along(1)) + (flat ? "" : fmt::format(" nz={}", along(2)));
    }

    // A problem of a size; nothing where the family refuses it, or has no kernel for it.
    std::optional<Problem> problem_of(const Family& family, const std::string& of_class, std::int64_t size) {
        try {
            const Problem problem = built_in_families().parse_problem(of_class + " " + extents(of_class, size));
            family.arrays(problem);
            space_of(family, problem);
            return problem;
        } catch (const Error&) {
            return std::nullopt;
        }
    }
    std::string draw_class_with_kernels(const Family& family) {
        for (int attempt = 0; attempt < 200; ++attempt)
            if (const std::string of_class = draw_class(); problem_of(family, of_class, 30)) return of_class;
        return "";
    }

    Config draw_of_form(const SearchSpace& space, const FormSpace& form) {
        std::string text = form.name.empty() ? "" : fmt::format("form={}", form.name);
        for (const Tunable& tunable : form.tunables) {
            const Value& value = tunable.values[static_cast<std::size_t>(draw(0, std::ssize(tunable.values) - 1))];
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", tunable.name,
                                std::visit([](const auto& held) { return fmt::format("{}", held); }, value));
        }
        return space.parse(text);
    }

    // At most `most` random members of a form, each with a value of some tunable that those before
    // do not have.
    std::vector<Config> members_of_form(const SearchSpace& space, const FormSpace& form, std::size_t most) {
        std::vector<Config> members;
        std::set<std::string> seen;
        for (int attempt = 0; attempt < 2000 && members.size() < most; ++attempt) {
            Config config = draw_of_form(space, form);
            if (space.check(config)) continue;
            const std::size_t before = seen.size();
            for (const Assignment& one : config.assignments()) seen.insert(Config({one}).key());
            if (seen.size() > before) members.push_back(std::move(config));
        }
        if (members.empty() && !space.check(space.entry(form))) members.push_back(space.entry(form));
        return members;
    }

    // Sizes with all remainders of a division by what a block takes, or of it the nearest.
    std::vector<std::int64_t> sizes(const Family& family, const Problem& problem, const Config& config) {
        std::vector<std::int64_t> result;
        for (std::int64_t size = 1; size <= 40; ++size) result.push_back(size);
        if (is_grid(plain().name)) {
            for (const std::int64_t edge : {64, 128, 256, 512, 1024})
                for (std::int64_t size = edge - 1; size <= edge + 2; ++size) result.push_back(size);
            return result;
        }
        std::int64_t block = 1;
        for (const Launch& launch : family.kernel(problem, config, backend_->device().limits).step) block = std::max(block, launch.range_per_block);
        for (std::int64_t rest = 0; rest < std::min<std::int64_t>(block, 16); ++rest) result.push_back(std::max<std::int64_t>(1, block - 8 + rest));
        for (int i = 0; i < 8 && block > 40; ++i) result.push_back(draw(41, 2 * block));
        return result;
    }

    void expect_right_at(const Family& family, const std::string& of_class, const Config& config, const std::vector<std::int64_t>& all) {
        for (const std::int64_t size : all) {
            const std::optional<Problem> problem = problem_of(family, of_class, size);
            if (!problem || space_of(family, *problem).check(config)) continue;
            expect_verified(family, *problem, config);
            if (HasFailure()) return;
        }
    }
};

TEST_P(EverySize, OfARandomFormEqualsTheReference) {
    const Family which = family();
    const std::string of_class = draw_class_with_kernels(which);
    ASSERT_FALSE(of_class.empty()) << "no problem of the family has kernels";
    const Problem problem = *problem_of(which, of_class, 30);
    const SearchSpace space = space_of(which, problem);
    const FormSpace& form = space.forms()[static_cast<std::size_t>(draw(0, std::ssize(space.forms()) - 1))];
    for (const Config& config : members_of_form(space, form, 1)) {
        std::vector<std::int64_t> some, all = sizes(which, problem, config);
        std::sample(all.begin(), all.end(), std::back_inserter(some), 3, random_);
        expect_right_at(which, of_class, config, some);
    }
}

using SlowEverySize = EverySize;
TEST_P(SlowEverySize, OfEveryFormEqualsTheReference) {
    const Family which = family();
    constexpr int classes = 2;
    for (int drawn = 0; drawn < classes && !HasFailure(); ++drawn) {
        const std::string of_class = draw_class_with_kernels(which);
        ASSERT_FALSE(of_class.empty()) << "no problem of the family has kernels";
        const Problem problem = *problem_of(which, of_class, 30);
        const SearchSpace space = space_of(which, problem);
        for (const FormSpace& form : space.forms())
            for (const Config& config : members_of_form(space, form, 2)) expect_right_at(which, of_class, config, sizes(which, problem, config));
    }
}

const auto name = [](const auto& info) { return std::get<0>(info.param) + "_" + to_string(std::get<1>(info.param)); };
const auto all = ::testing::Combine(::testing::ValuesIn(family_names()), ::testing::Values(Target::cpu, Target::cuda));
INSTANTIATE_TEST_SUITE_P(Families, EverySize, all, name);
INSTANTIATE_TEST_SUITE_P(Families, SlowEverySize, all, name);

}  // namespace
}  // namespace hone::every_size_test
