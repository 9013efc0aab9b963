#include "tuner/prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/listed_space.hpp"

namespace hone {
namespace {

constexpr double farthest = 2;
constexpr double weight_of_extents = 0.25;
constexpr double same_architecture = 0.25;
constexpr double another_architecture = 1;

double octaves(std::int64_t a, std::int64_t b) {
    return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(a, 1))) - std::log2(static_cast<double>(std::max<std::int64_t>(b, 1))));
}

const Value* find(const std::vector<Assignment>& assignments, const std::string& name) {
    const auto found = std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& a) { return a.name == name; });
    return found == assignments.end() ? nullptr : &found->value;
}

/// How different two values of a tunable are: words 1 or 0, numbers up to 1 over four octaves, and never less than a quarter.
double difference(const Value& a, const Value& b) {
    if (a == b) return 0;
    const auto* const x = std::get_if<std::int64_t>(&a);
    const auto* const y = std::get_if<std::int64_t>(&b);
    if (x == nullptr || y == nullptr) return 1;
    return std::clamp(octaves(*x, *y) / 4, 0.25, 1.0);
}

double difference(const Config& a, const Config& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.assignments().size(); ++i) sum += difference(a.assignments()[i].value, b.assignments()[i].value);
    return sum;
}

/// The nearest of a tunable's values; `fallback` for a word that it does not have, which says nothing.
const Value& nearest_value(const Tunable& tunable, const Value& wanted, const Value& fallback) {
    const auto* const number = std::get_if<std::int64_t>(&wanted);
    const Value* best = &fallback;
    double least = std::numeric_limits<double>::infinity();
    for (const Value& value : tunable.values) {
        if (value == wanted) return value;
        const auto* const other = std::get_if<std::int64_t>(&value);
        if (number == nullptr || other == nullptr || octaves(*other, *number) >= least) continue;
        least = octaves(*other, *number);
        best = &value;
    }
    return *best;
}

double device_distance(const DeviceFingerprint& a, const DeviceFingerprint& b) {
    if (device_key(a) == device_key(b)) return 0;
    return a.architecture == b.architecture ? same_architecture : another_architecture;
}

// `listed` is the space with its members enumerated, once one is looked for among them.
Config nearest_member(const SearchSpace& space, std::optional<SearchSpace>& listed, const Config& config) {
    const Config complete = space.completed(config);
    std::vector<Assignment> assignments = space.safe().assignments();
    for (std::size_t i = 0; i < assignments.size(); ++i)
        if (const Value* wanted = find(complete.assignments(), assignments[i].name))
            assignments[i].value = nearest_value(space.tunables()[i], *wanted, assignments[i].value);
    Config wish(std::move(assignments));
    if (!space.check(wish)) return wish;
    Config best = space.safe();
    double least = std::numeric_limits<double>::infinity();
    if (!listed) listed = listed_space(space);
    for (const std::int64_t index : listed->members()) {
        Config member = space.at(index);
        const double found = difference(member, wish);
        if (found >= least) continue;
        least = found;
        best = std::move(member);
    }
    return best;
}

}  // namespace

std::optional<double> neighbour_distance(const Record& record, const Problem& problem, const DeviceFingerprint& device) {
    if (record.problem.family() != problem.family() || record.device.target != device.target || record.hybrid || !record.verified())
        return std::nullopt;
    double distance = device_distance(record.device, device);
    for (const Assignment& own : problem.parameters()) {
        const Value* theirs = find(record.problem.parameters(), own.name);
        if (theirs == nullptr) return std::nullopt;
        const auto* const a = std::get_if<std::int64_t>(&own.value);
        const auto* const b = std::get_if<std::int64_t>(theirs);
        if (a == nullptr || b == nullptr) {
            distance += own.value == *theirs ? 0 : 1;
            continue;
        }
        const bool extent = std::find(problem.extents().begin(), problem.extents().end(), own.name) != problem.extents().end();
        distance += octaves(*a, *b) * (extent ? weight_of_extents : 1);
    }
    return distance <= farthest ? std::optional(distance) : std::nullopt;
}

Config nearest_member(const SearchSpace& space, const Config& config) {
    std::optional<SearchSpace> listed;
    return nearest_member(space, listed, config);
}

std::vector<Promising> promising_members(const Database& database, const Problem& problem, const Device& device, const SearchSpace& space, int most) {
    std::vector<std::pair<double, const Record*>> neighbours;
    for (const Record& record : database.records())
        if (const auto distance = neighbour_distance(record, problem, device.fingerprint)) neighbours.emplace_back(*distance, &record);
    std::stable_sort(neighbours.begin(), neighbours.end(),
                     [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : stands_before(*a.second, *b.second); });
    std::vector<Promising> members;
    std::optional<SearchSpace> listed;
    for (const auto& [distance, record] : neighbours) {
        if (static_cast<int>(members.size()) >= most) break;
        Config config = nearest_member(space, listed, record->config);
        const bool known = std::any_of(members.begin(), members.end(), [&](const Promising& m) { return m.config == config; });
        if (!known && config != space.safe()) members.push_back({std::move(config), record->problem.key() + " on " + record->device.name, distance});
    }
    return members;
}

std::optional<int> evaluations_to_reach(const std::vector<JournalEntry>& entries, const Objective& objective, double bound) {
    int evaluations = 0;
    for (const JournalEntry& entry : entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || entry.finalist || entry.again) continue;
        ++evaluations;
        if (cost(objective, entry.outcome) <= bound) return evaluations;
    }
    return std::nullopt;
}

}  // namespace hone
