#include "tools/kernels/idle_tunables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "runtime/code_digest.hpp"
#include "tuner/restriction.hpp"

namespace hone::tools {
namespace {

// Drawn members, beside which each tunable is changed. One that counts only where a switch is on
// escapes so many of them once in 256 times.
constexpr std::int64_t most_members = 8;

class Comparison {
  public:
    Comparison(const Family& family, const Problem& problem, const Compiler& compiler, const Limits& limits)
        : family_(family), problem_(problem), compiler_(compiler), limits_(limits), space_(family.space(problem, limits)) {
        members_.push_back(space_.safe());
        for (const std::int64_t index : drawn_members(space_, {}, most_members - 1, 1)) members_.push_back(space_.at(index));
    }

    // Two members that differ in this tunable alone and are one kernel, if all pairs that were
    // found are; with the number of pairs.
    struct Pair {
        Config one, other;
        int pairs = 0;
    };
    std::optional<Pair> idle(const Tunable& tunable) {
        std::optional<Pair> equal;
        for (const Config& member : members_) {
            const std::optional<Config> changed = beside(member, tunable);
            if (!changed || *changed == member) continue;
            const std::string one = digest(member), other = digest(*changed);
            if (one.empty() || other.empty()) continue;
            if (one != other) return std::nullopt;
            if (!equal) equal = Pair{member, *changed, 0};
            ++equal->pairs;
        }
        return equal;
    }

  private:
    // The member with another value of the tunable: the one farthest away that the rules allow.
    std::optional<Config> beside(const Config& member, const Tunable& tunable) const {
        std::vector<Assignment> assignments = member.assignments();
        for (Assignment& assignment : assignments) {
            if (assignment.name != tunable.name) continue;
            std::vector<Value> values = tunable.values;
            if (values.back() == assignment.value) std::reverse(values.begin(), values.end());
            for (auto value = values.rbegin(); value != values.rend(); ++value) {
                if (*value == assignment.value) continue;
                const Value own = std::exchange(assignment.value, *value);
                if (Config changed(assignments); !space_.check(changed)) return changed;
                assignment.value = own;
            }
        }
        return std::nullopt;
    }

    const std::string& digest(const Config& config) {
        const auto [found, added] = digests_.try_emplace(config.key());
        if (!added) return found->second;
        const KernelSource source = family_.kernel(problem_, config, limits_);
        const CompileOutcome outcome = compiler_.compile(source);
        if (outcome.ok) found->second = code_digest(source, outcome.code.binary);
        return found->second;
    }

    const Family& family_;
    const Problem& problem_;
    const Compiler& compiler_;
    const Limits& limits_;
    SearchSpace space_;
    std::vector<Config> members_;
    std::map<std::string, std::string> digests_;  // by configuration; empty: it does not compile
};

}  // namespace

std::vector<KernelFinding> idle_tunable_findings(const KernelFolder& kernel, const Problem& problem, const Compiler& compiler, const Limits& limits) {
    std::vector<KernelFinding> findings;
    const auto& side = kernel.description().side(limits.target);
    Comparison comparison(kernel.family(), problem, compiler, limits);
    for (const Tunable& tunable : side->tunables) {
        if (tunable.values.size() < 2) continue;
        if (const auto idle = comparison.idle(tunable))
            findings.push_back({KernelFinding::Kind::mistake,
                                fmt::format("{}: the tunable {} makes no difference: {} and {} give the same code and launches (and {} other pairs)",
                                            to_string(limits.target), tunable.name, idle->one.key(), idle->other.key(), idle->pairs - 1)});
    }
    return findings;
}

}  // namespace hone::tools
