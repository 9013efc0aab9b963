#include "tests/support/spills.hpp"

#include <gtest/gtest.h>

namespace hone::test {

void expect_few_spills(Compiler& compiler, const Family& family, const Problem& problem, const Config& config, const Limits& limits, int most_bytes) {
    const CompileOutcome outcome = compiler.compile(family.kernel(problem, config, limits));
    ASSERT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
    for (const EntryResources& entry : outcome.code.resources)
        EXPECT_LE(entry.spill_store_bytes, most_bytes) << problem.key() << ' ' << config.key() << ' ' << entry.entry << " sm_" << limits.architecture;
}

}  // namespace hone::test
