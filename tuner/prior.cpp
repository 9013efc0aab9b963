#include "tuner/prior.hpp"

#include <algorithm>
#include <optional>

namespace hone::inline v0_1 {

std::vector<Promising> promising_members(const Database& database, const Families& families, const Problem& problem, const Device& device, int most) {
    const auto prediction = predict(families, problem, device.limits, database.neighbours(problem, device.fingerprint));
    if (!prediction) return {};
    std::vector<Source> sources = prediction->sources;
    std::stable_partition(sources.begin(), sources.end(), [&](const Source& source) { return source.member == prediction->config; });
    const Config safe = families.of(problem).space(problem, device.limits).safe();
    std::vector<Promising> members;
    for (Source& source : sources) {
        if (static_cast<int>(members.size()) >= most) break;
        const bool known = std::any_of(members.begin(), members.end(), [&](const Promising& m) { return m.config == source.member; });
        if (!known && source.member != safe)
            members.push_back({std::move(source.member), source.problem.key() + " on " + source.device, source.distance});
    }
    return members;
}

std::optional<int> evaluations_to_reach(const std::vector<JournalEntry>& entries, const Objective& objective, double bound) {
    int evaluations = 0;
    for (const JournalEntry& entry : entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || entry.purpose != Candidate::Purpose::search) continue;
        ++evaluations;
        if (cost(objective, entry.outcome) <= bound) return evaluations;
    }
    return std::nullopt;
}

}  // namespace hone::inline v0_1
