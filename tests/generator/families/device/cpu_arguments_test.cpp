// Numbers that compilers need not know are arguments of CPU kernels: configurations that differ in
// nothing else are one text.
#include "generator/families/device/cpu_arguments.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "generator/families/built_in_families.hpp"
#include "generator/tidy.hpp"

namespace hone::cpu_arguments_test {
namespace {

struct Case {
    const char* problem;
    std::vector<std::string> arguments;  // tunables that are no part of the text
};

const std::vector<Case> cases{
    {"acoustics_staggered kernel=step dimension=2 order=4 precision=f32 nx=4096 ny=4096", {"x_block", "layers_per_block", "prefetch_bytes"}},
    {"acoustics_staggered kernel=velocity dimension=3 order=8 precision=f64 nx=64 ny=64 nz=64",
     {"x_block", "y_block", "layers_per_block", "prefetch_bytes"}},
    {"acoustics_staggered kernel=step dimension=3 order=4 update=in_place precision=f32 nx=64 ny=64 nz=64", {"y_block", "prefetch_bytes"}},
    {"acoustics_staggered kernel=step dimension=2 order=8 levels=4 precision=f32 nx=512 ny=512", {"x_block", "layers_per_block", "prefetch_bytes"}},
    {"gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96", {"y_block", "z_block"}},
    {"gauss_seidel_27 stencil=variable precision=f64 nx=96 ny=96 nz=96", {"y_block", "z_block"}}};

TEST(CpuArguments, ConfigurationsThatDifferInNothingElseAreOneText) {
    Limits limits = cpu_limits();
    limits.multiprocessors = 16;
    limits.cache_bytes = std::int64_t{1} << 21;
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const Case& one : cases) {
        const Problem problem = built_in_families().parse_problem(one.problem);
        const Family& family = built_in_families().of(problem);
        const SearchSpace space = family.space(problem, limits);
        int compared = 0;
        const auto compare = [&](const Config& config, const std::string& name) {
            const KernelSource source = family.kernel(problem, config, limits);
            for (const Tunable& tunable : space.tunables()) {
                if (tunable.name != name) continue;
                for (const Value& value : tunable.values) {
                    const std::string before = name + "=" + to_string(*config.find(name)), after = name + "=" + to_string(value);
                    std::string key = config.key();
                    key.replace(key.find(before), before.size(), after);
                    if (before == after || space.check(space.parse(key))) continue;
                    const KernelSource other = family.kernel(problem, space.parse(key), limits);
                    EXPECT_EQ(code_of(other.text), code_of(source.text)) << key << ", seed " << seed;
                    EXPECT_NE(other.step.front().constants, source.step.front().constants) << key << ", seed " << seed;
                    ++compared;
                }
            }
        };
        for (int draw = 0; draw < 200 && compared < 12; ++draw) {
            const auto index = std::uniform_int_distribution<std::int64_t>(0, space.product() - 1)(random);
            const Config config = space.at(index);
            if (space.check(config)) continue;
            const std::string& name = one.arguments[random() % one.arguments.size()];
            if (config.find(name) != nullptr) compare(config, name);
        }
        EXPECT_GT(compared, 0) << one.problem << ", seed " << seed;
    }
}

}  // namespace
}  // namespace hone::cpu_arguments_test
