// Candidates that do to their process what they should not.
#include "tests/campaign/candidates.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "runtime/backend.hpp"
#include "tests/campaign/campaign.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/descendants.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::test {

const std::vector<std::string>& hostile_faults() {
    static const std::vector<std::string> all{"none",   "wrong", "crash", "hang", "exit",      "print",      "scribble", "fork",
                                              "escape", "close", "kill",  "stop", "overwrite", "underwrite", "astray"};
    return all;
}

namespace {

// Those that are right all the same: what they print goes elsewhere, and what they start ends with
// the worker.
bool harmless(const std::string& fault) {
    return fault == "none" || fault == "print" || fault == "fork" || fault == "escape";
}

TEST(CampaignCandidates, EachCostsItselfAlone) {
    std::mt19937_64 random = fresh_random();
    const OwnFolders own;
    std::string missing;
    const Families families = axpy_families(hostile_faults());
    const Problem problem = families.parse_problem("axpy precision=f64 n=10001");
    WorkerSettings settings;
    settings.device = backends().back().devices(missing).front();
    settings.cache = own.folder.path() / "cache";
    settings.grace = 1;
    const SearchSpace space = families.of(problem).space(problem, settings.device.limits);
    std::map<std::string, int> outcomes;
    int candidates = 0;
    Descendants descendants;
    {
        WorkerEvaluator evaluator(settings);
        evaluator.begin(problem, random(), 0.2);
        const auto evaluate = [&](const std::string& text) {
            const Config config = space.parse(text);
            const Candidate candidate{space.index_of(config), config};
            evaluator.prepare(candidate);
            return evaluator.evaluate(candidate, 0, [] { return false; }).value();
        };
        ASSERT_EQ(evaluate("").status, Status::measured);
        std::vector<std::string> faults = hostile_faults();
        while (candidates < static_cast<int>(times(4 * hostile_faults().size()))) {
            std::shuffle(faults.begin(), faults.end(), random);
            for (const std::string& fault : faults) {
                const Outcome outcome = evaluate("fault=" + fault);
                EXPECT_EQ(outcome.measured(), harmless(fault)) << fault << ": " << outcome.reason;
                ++outcomes[to_string(outcome.status)];
                ++candidates;
                const Outcome next = evaluate("storage=table");
                ASSERT_EQ(next.status, Status::measured) << "after " << fault << ": " << next.reason;
            }
        }
    }
    EXPECT_TRUE(descendants.gone()) << "what a candidate started outlived its worker";
    std::string kinds;
    for (const auto& [name, number] : outcomes) kinds += fmt::format(", {} {}", number, name);
    count(fmt::format("candidates: {} hostile ones{}; 0 took another with them", candidates, kinds));
}

}  // namespace
}  // namespace hone::test
