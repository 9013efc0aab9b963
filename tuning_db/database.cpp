#include "tuning_db/database.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "generator/error.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/file_store.hpp"
#include "tuning_db/json.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

// Sums of logarithms that differ by rounding only are the same distance.
double rounded_distance(double distance) {
    constexpr double grid = 1e-9;
    return std::round(distance / grid);
}

double units_distance(const DeviceFingerprint& a, const DeviceFingerprint& b) {
    return std::abs(std::log2(std::max(a.units, 1)) - std::log2(std::max(b.units, 1)));
}

bool may_answer(const Record& record, const DeviceFingerprint& device) {
    return record.verified() && record.purpose.empty() && record.device.target == device.target;
}

// A shared step as its partner sees it.
Hybrid turned(const Record& record) {
    const Hybrid& of = *record.hybrid;
    return {record.device, record.config, 1 - of.share, of.granularity, of.partner_cost, of.own_cost, of.partner_seconds, of.own_seconds};
}

}  // namespace

std::string to_string(Grade grade) {
    switch (grade) {
        case Grade::exact:
            return "exact";
        case Grade::nearest_size:
            return "nearest_size";
        case Grade::same_architecture:
            return "same_architecture";
        case Grade::none:
            return "none";
    }
    return "none";
}

// A record that may answer, with what decides the order of trying; smaller goes first.
struct Database::Candidate {
    Grade grade = Grade::none;
    double distance = 0;
    bool other_model = false;
    double units = 0;
    double lost = 0;                // part of the ceiling's rate that was not reached
    double seconds_per_update = 0;  // where no ceiling was measured
    const Record* record = nullptr;

    bool operator<(const Candidate& other) const {
        const auto rank = [](const Candidate& c) {
            return std::tie(c.grade, c.distance, c.other_model, c.units, c.lost, c.seconds_per_update, c.record->problem.key());
        };
        return rank(*this) < rank(other);
    }
};

MergeCounts Database::Table::add(const Record& record) {
    const auto [place, is_new] = by_subject.try_emplace(subject(record), records.size());
    if (!is_new) {
        Record& present = records[place->second];
        if (!better(record, present)) return {.kept = 1};
        present = record;
        return {.replaced = 1};
    }
    by_class[record.problem.class_key()].push_back(records.size());
    devices.push_back(device_key(record.device));
    records.push_back(record);
    return {.added = 1};
}

MergeCounts Database::insert(const Record& record) {
    return (knows(*families_, record.problem.family()) ? known_ : foreign_).add(record);
}

Database Database::load(const fs::path& folder, const Families& families) {
    Database database(families);
    for (const auto& path : database_files(folder))
        for (const auto& record : read_database_file(path, families).records) database.insert(record);
    return database;
}

void Database::add(const Record& record) {
    // Through its own text, so that whatever is in a database can be written and read back.
    insert(record_from_json(to_json(record), *families_, "record of " + record.problem.key()));
}

void Database::add(const Database& other) {
    for (const auto& record : other.known_.records) insert(record);
    for (const auto& record : other.foreign_.records) insert(record);
}

std::vector<Database::Candidate> Database::candidates(const Problem& problem, const DeviceFingerprint& device) const {
    std::vector<Candidate> found;
    const auto of_class = known_.by_class.find(problem.class_key());
    if (of_class == known_.by_class.end()) return found;
    const std::string key = device_key(device);
    for (const std::size_t index : of_class->second) {
        const Record& record = known_.records[index];
        const bool same_device = known_.devices[index] == key;
        if (!may_answer(record, device) || !(same_device || record.device.architecture == device.architecture)) continue;
        Candidate candidate;
        candidate.distance = rounded_distance(extent_distance(problem, record.problem));
        if (same_device)
            candidate.grade = record.problem == problem ? Grade::exact : Grade::nearest_size;
        else
            candidate.grade = Grade::same_architecture;
        candidate.other_model = record.device.name != device.name;
        candidate.units = same_device ? 0 : units_distance(record.device, device);
        candidate.lost = 1 - record.ceiling_fraction;
        candidate.seconds_per_update = record.step.median / std::max(record.counts.updates, 1.0);
        candidate.record = &record;
        found.push_back(candidate);
    }
    return found;
}

Match Database::best(const Problem& problem, const DeviceFingerprint& device, const Limits& limits) const {
    const SearchSpace space = families_->of(problem).space(problem, limits);
    // The common case needs no list of candidates.
    if (const auto own = known_.by_subject.find(subject(problem, device, "")); own != known_.by_subject.end()) {
        const Record& record = known_.records[own->second];
        const Config config = space.completed(record.config);
        if (may_answer(record, device) && !space.check(config)) return {Grade::exact, config, record};
    }
    std::vector<Candidate> queue = candidates(problem, device);
    // A heap, because the first few decide, however many there are.
    const auto later = [](const Candidate& a, const Candidate& b) { return b < a; };
    std::make_heap(queue.begin(), queue.end(), later);
    while (!queue.empty()) {
        const Candidate& candidate = queue.front();
        const Config config = space.completed(candidate.record->config);
        if (!space.check(config)) return {candidate.grade, config, *candidate.record};
        std::pop_heap(queue.begin(), queue.end(), later);
        queue.pop_back();
    }
    return {Grade::none, space.safe(), std::nullopt};
}

Share Database::best_share(const Problem& problem, const DeviceSide& device, const DeviceSide& partner) const {
    const Family& family = families_->of(problem);
    const SearchSpace space = family.space(problem, device.limits);
    const SearchSpace partner_space = family.space(problem, partner.limits);
    const std::string key = device_key(device.fingerprint);
    const std::string partner_key = device_key(partner.fingerprint);
    Share best{Grade::none,
               1,
               this->best(problem, device.fingerprint, device.limits).config,
               this->best(problem, partner.fingerprint, partner.limits).config,
               std::nullopt,
               std::nullopt};
    double best_distance = 0;
    const auto of_class = known_.by_class.find(problem.class_key());
    if (of_class == known_.by_class.end()) return best;
    for (const std::size_t index : of_class->second) {
        const Record& record = known_.records[index];
        if (!record.hybrid || !record.verified()) continue;
        const std::string other = device_key(record.hybrid->partner);
        const bool forwards = known_.devices[index] == key && other == partner_key;
        if (!forwards && !(known_.devices[index] == partner_key && other == key)) continue;
        const double distance = rounded_distance(extent_distance(problem, record.problem));
        if (best.record && std::tie(best_distance, best.record->step.high) <= std::tie(distance, record.step.high)) continue;
        const Hybrid known = forwards ? *record.hybrid : turned(record);
        const Config config = space.completed(forwards ? record.config : record.hybrid->partner_config);
        const Config partner_config = partner_space.completed(known.partner_config);
        const Share share{record.problem == problem ? Grade::exact : Grade::nearest_size, known.share, config, partner_config, record, known};
        if (space.check(share.config) || partner_space.check(share.partner_config)) continue;
        best = share;
        best_distance = distance;
    }
    return best;
}

MergeCounts Database::merge_into(const fs::path& folder) const {
    std::error_code status;
    fs::create_directories(folder, status);
    if (status) throw Error(folder.string(), "it cannot be made: " + status.message(), "name a folder that can be written");
    std::map<fs::path, std::vector<const Record*>> of_file;
    for (const Table* table : {&known_, &foreign_})
        for (std::size_t i = 0; i < table->records.size(); ++i) of_file[folder / (table->devices[i] + ".json")].push_back(&table->records[i]);

    const FolderLock lock(folder);
    MergeCounts counts;
    std::map<fs::path, std::string> changed;
    for (const auto& [path, news] : of_file) {
        Database merged(*families_);
        std::string present;
        if (fs::symlink_status(path, status).type() != fs::file_type::not_found) {
            DatabaseFile file = read_database_file(path, *families_);
            for (const auto& record : file.records) merged.insert(record);
            present = std::move(file.text);
        }
        for (const Record* record : news) {
            const MergeCounts one = merged.insert(*record);
            counts = {counts.added + one.added, counts.replaced + one.replaced, counts.kept + one.kept};
        }
        std::vector<Record> all = merged.records();
        all.insert(all.end(), merged.foreign_records().begin(), merged.foreign_records().end());
        std::string text = database_file_text(path.stem().string(), std::move(all));
        if (text != present) changed.emplace(path, std::move(text));
    }
    for (const auto& [path, text] : changed) replace_file(path, text);
    return counts;
}

}  // namespace hone
