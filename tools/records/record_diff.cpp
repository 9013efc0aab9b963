#include "tools/records/record_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace hone::tools {
namespace {

constexpr double certain = 0.95;

const Statistics& cost(const Record& record) {
    return record.purpose == "energy" && record.energy ? record.energy->joules : record.step;
}

// Standard deviation of the median's logarithm: half a 95 % interval is 1.96 of them.
double deviation(const Statistics& statistics) {
    constexpr double deviations = 1.96;
    if (statistics.low <= 0 || statistics.high <= statistics.low) return 0;
    return std::log(statistics.high / statistics.low) / 2 / deviations;
}

double confidence(const Statistics& before, const Statistics& after) {
    const double spread = std::hypot(deviation(before), deviation(after));
    if (spread <= 0) return 0;
    const double steps = std::abs(std::log(after.median / before.median)) / spread;
    return 0.5 * std::erfc(-steps / std::sqrt(2.0));
}

Change judged(const RecordChange& change, double noise) {
    if (std::abs(std::log(change.ratio)) <= std::log1p(noise)) return Change::same;
    // Without intervals there is no more to go by than the medians.
    if (change.confidence > 0 && change.confidence < certain) return Change::unsure;
    return change.ratio < 1 ? Change::faster : Change::slower;
}

std::string key(const Record& record, bool by_device) {
    std::string key = record.problem.key() + "\n" + record.purpose + "\n" + (by_device ? device_key(record.device) : "");
    if (record.hybrid) key += "\n" + device_key(record.hybrid->partner) + "\n" + record.config.key() + "\n" + record.hybrid->partner_config.key();
    if (record.exchange) key += fmt::format("\n{}\n{}\n{}", record.exchange->program, record.exchange->link, record.exchange->ranks);
    return key;
}

RecordChange change_between(const Record& before, const Record& after, double noise) {
    RecordChange change{Change::same, before, after};
    change.ratio = cost(after).median / cost(before).median;
    change.confidence = confidence(cost(before), cost(after));
    change.change = judged(change, noise);
    change.other_configuration = before.config != after.config;
    change.other_source = !change.other_configuration && before.versions.source_hash != after.versions.source_hash;
    return change;
}

}  // namespace

std::string name_of(Change change) {
    switch (change) {
        case Change::faster:
            return "faster";
        case Change::slower:
            return "slower";
        case Change::same:
            return "same";
        case Change::unsure:
            return "unsure";
        case Change::appeared:
            return "new";
        case Change::gone:
            return "gone";
    }
    return "";
}

std::vector<RecordChange> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool by_device, double noise) {
    std::map<std::string, std::pair<const Record*, const Record*>> subjects;
    for (const Record& record : before) subjects[key(record, by_device)].first = &record;
    for (const Record& record : after) subjects[key(record, by_device)].second = &record;
    std::vector<RecordChange> changes;
    changes.reserve(subjects.size());
    for (const auto& [subject, pair] : subjects) {
        const auto& [old, now] = pair;
        if (now == nullptr) {
            changes.push_back({Change::gone, *old, std::nullopt});
        } else if (old == nullptr) {
            changes.push_back({Change::appeared, std::nullopt, *now});
        } else {
            changes.push_back(change_between(*old, *now, noise));
        }
    }
    const auto record_of = [](const RecordChange& change) -> const Record& { return change.after ? *change.after : *change.before; };
    std::stable_sort(changes.begin(), changes.end(),
                     [&](const RecordChange& a, const RecordChange& b) { return stands_before(record_of(a), record_of(b)); });
    return changes;
}

double mean_ratio(const std::vector<RecordChange>& changes) {
    double sum = 0;
    int count = 0;
    for (const RecordChange& change : changes) {
        if (change.ratio <= 0) continue;
        sum += std::log(change.ratio);
        ++count;
    }
    return count > 0 ? std::exp(sum / count) : 1;
}

}  // namespace hone::tools
