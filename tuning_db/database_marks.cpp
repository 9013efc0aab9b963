// What a database knows of configurations that were found wrong.
#include <algorithm>
#include <limits>
#include <utility>

#include "tuning_db/database.hpp"

namespace hone::inline v0_1 {

MergeCounts Database::insert_mark(Record mark, std::size_t place) {
    const std::string key = refutation_key(mark);
    MergeCounts counts = marks_.add(std::move(mark), place);
    if (!refuted_.insert(key).second) return counts;
    const auto refuted = [&](const Record& record) { return refutation_key(record) == key; };
    if (known_.erase(refuted) + foreign_.erase(refuted) > 0) counts = {.replaced = 1};
    return counts;
}

bool Database::is_refuted(const SearchSpace& space, const Problem& problem, Target target, const Config& config) const {
    const auto of_class = marks_.by_class.find(problem.class_key());
    return of_class != marks_.by_class.end() && std::any_of(of_class->second.begin(), of_class->second.end(), [&](std::size_t index) {
               const Record& mark = marks_.records[index];
               if (mark.device.target != target || space.completed(mark.config) != config) return false;
               const std::string about = subject(mark.problem, mark.device, "");
               return std::none_of(known_.by_subject.begin(), known_.by_subject.end(), [&](const auto& by_subject) {
                   const auto later = by_subject.find(about);
                   if (later == by_subject.end()) return false;
                   const Record& record = known_.records[later->second];
                   return record.verified_whole() && record.versions.source_hash != mark.versions.source_hash &&
                          space.completed(record.config) == config;
               });
           });
}

bool Database::is_refuted(const SearchSpace& space, const Record& record, const Config& config) const {
    return std::any_of(marks_.records.begin(), marks_.records.end(), [&](const Record& mark) {
        return mark.versions.source_hash == record.versions.source_hash &&
               subject(mark.problem, mark.device, "") == subject(record.problem, record.device, "") && space.completed(mark.config) == config;
    });
}

std::vector<Record> Database::marks_of(const WrongResult& result, const DeviceSide& device) const {
    if (known_.by_family.find(result.problem.family()) == known_.by_family.end()) return {};
    const SearchSpace space = families_->of(result.problem).space(result.problem, device.limits);
    const std::string key = device_key(device.fingerprint);
    std::vector<Record> marks;
    const Record* related = nullptr;  // would be handed out for this problem, too
    for (std::size_t i = 0; i < known_.records.size(); ++i) {
        const Record& record = known_.records[i];
        if (record.problem.class_key() != result.problem.class_key() || record.device.target != device.fingerprint.target) continue;
        if (space.completed(record.config) != result.config) continue;
        related = &record;
        // Of the record's own source, which may be another than today's: look-ups hand out the
        // configuration, and what is compiled of it today is wrong.
        if (record.problem == result.problem && known_.devices[i] == key) marks.push_back(record);
    }
    const Match match = best(result.problem, device.fingerprint, device.limits);
    const std::vector<Neighbour> near = neighbours(result.problem, device.fingerprint);
    const bool suggested = match.grade == Grade::predicted || match.grade == Grade::other_architecture;
    if (related == nullptr && suggested && match.config == result.config && !near.empty()) related = near.front().record;
    if (related == nullptr) return marks;
    Record& today = marks.emplace_back(*related);
    today.problem = result.problem;
    today.device = device.fingerprint;
    today.config = result.config;
    today.versions.source_hash = result.source_hash;
    for (Record& mark : marks) {
        mark.wrong = result.reason;
        mark.verification_error = std::numeric_limits<double>::infinity();
        mark.date = utc_date();
        // It is of whatever was tuned for.
        mark.purpose.clear();
        mark.hybrid.reset();
        mark.exchange.reset();
    }
    return marks;
}

int Database::mark_wrong(const std::filesystem::path& folder, const DeviceSide& device, const std::vector<WrongResult>& results,
                         std::chrono::milliseconds patience) const {
    Database marks(*families_);
    for (const WrongResult& result : results)
        for (const Record& mark : marks_of(result, device)) marks.add(mark);
    if (!marks.marks().empty()) marks.merge_into(folder, patience);
    return static_cast<int>(marks.marks().size());
}

}  // namespace hone::inline v0_1
