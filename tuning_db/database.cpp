#include "tuning_db/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tuning_db/carry_over.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::inline v0_1 {
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

// The problems that differ from this one in their arithmetic alone. A configuration that is a
// member of both spaces is the same kernel, such as a strict one that serves where less is asked.
std::vector<Problem> of_other_arithmetic(const Family& family, const Problem& problem) {
    std::vector<Problem> others;
    for (const ProblemParameter& parameter : family.parameters) {
        if (parameter.name != "arithmetic") continue;
        for (const std::string& word : parameter.words) {
            if (word == problem.word(parameter.name)) continue;
            std::vector<Assignment> values = problem.parameters();
            for (Assignment& value : values)
                if (value.name == parameter.name) value.value = word;
            others.emplace_back(problem.family(), std::move(values), problem.extents());
        }
    }
    return others;
}

// Whether what was found for another arithmetic answers better than a problem's own. Equally good
// grades go by times, which disturbed measurements do not tell.
bool answers_better(const Match& other, const Match& own) {
    if (other.grade != own.grade) return other.grade < own.grade;
    if (!other.record->disturbed.empty()) return false;
    const auto seconds_per_update = [](const Record& record) { return record.step.median / std::max(record.counts.updates, 1.0); };
    return seconds_per_update(*other.record) < seconds_per_update(*own.record);
}

// Of a record of the very problem.
Grade own_grade(const Record& record) {
    return record.found == found_at_first_use ? Grade::measured : Grade::exact;
}

}  // namespace

// A record that may answer, with what decides the order of trying; smaller goes first.
struct Database::Candidate {
    Grade grade = Grade::none;
    bool other_architecture = false;  // the same instruction set in another microarchitecture
    double distance = 0;
    bool disturbed = false;
    std::size_t place = 0;  // position of its folder
    bool other_model = false;
    double units = 0;
    double lost = 0;                // part of the ceiling's rate that was not reached
    double seconds_per_update = 0;  // where no ceiling was measured
    std::size_t index = 0;          // of the record
    const Record* record = nullptr;

    bool operator<(const Candidate& other) const {
        const auto rank = [](const Candidate& c) {
            return std::tie(c.grade, c.other_architecture, c.distance, c.other_model, c.units, c.disturbed, c.place, c.lost, c.seconds_per_update,
                            c.record->problem.key());
        };
        return rank(*this) < rank(other);
    }
};

MergeCounts Database::Table::add(Record record, std::size_t place) {
    if (by_subject.size() <= place) by_subject.resize(place + 1);
    const auto [position, is_new] = by_subject[place].try_emplace(subject(record), records.size());
    if (!is_new) {
        Record& present = records[position->second];
        if (!better(record, present)) return {.kept = 1};
        present = std::move(record);
        return {.replaced = 1};
    }
    by_class[record.problem.class_key()].push_back(records.size());
    by_family[record.problem.family()].push_back(records.size());
    devices.push_back(device_key(record.device));
    places.push_back(place);
    records.push_back(std::move(record));
    return {.added = 1};
}

int Database::Table::erase(const std::function<bool(const Record&)>& chosen) {
    if (std::none_of(records.begin(), records.end(), chosen)) return 0;
    Table rest;
    int erased = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (chosen(records[i]))
            ++erased;
        else
            rest.add(std::move(records[i]), places[i]);
    }
    *this = std::move(rest);
    return erased;
}

MergeCounts Database::insert(Record record, std::size_t place) {
    if (!record.wrong.empty()) return insert_mark(std::move(record), place);
    if (!refuted_.empty() && refuted_.contains(refutation_key(record))) return {.kept = 1};
    Table& table = families_->has(record.problem.family()) ? known_ : foreign_;
    return table.add(std::move(record), place);
}

Database Database::load(const fs::path& folder, const Families& families) {
    return load(std::vector<fs::path>{folder}, families);
}

Database Database::load(const std::vector<fs::path>& folders, const Families& families) {
    Database database(families);
    database.folders_ = folders;
    for (std::size_t place = 0; place < folders.size(); ++place)
        for (const auto& path : database_files(folders[place]))
            for (Record& record : read_database_file(path, families).records) database.insert(std::move(record), place);
    return database;
}

std::vector<Record> Database::first_records() const {
    std::vector<Record> first;
    std::unordered_map<std::string, std::size_t> positions;
    for (const auto& record : known_.records) {
        const auto [position, is_new] = positions.try_emplace(subject(record), first.size());
        if (is_new)
            first.push_back(record);
        else if (record.disturbed.empty() && !first[position->second].disturbed.empty())
            first[position->second] = record;
    }
    return first;
}

Database Database::with_todays_names() const {
    Database today(*families_);
    today.folders_ = folders_;
    for (const Table* table : {&known_, &foreign_, &marks_})
        for (std::size_t i = 0; i < table->records.size(); ++i)
            today.insert(hone::with_todays_names(table->records[i], *families_), table->places[i]);
    return today;
}

void Database::add(const Record& record) {
    // Through its own text, so that whatever is in a database can be written and read back.
    insert(record_from_json(to_json(record), *families_, "record of " + record.problem.key()));
}

void Database::add(const Database& other) {
    for (const auto& record : other.known_.records) insert(record);
    for (const auto& record : other.foreign_.records) insert(record);
    for (const auto& mark : other.marks_.records) insert(mark);
}

std::vector<Database::Candidate> Database::candidates(const Problem& problem, const DeviceFingerprint& device) const {
    std::vector<Candidate> found;
    const auto of_class = known_.by_class.find(problem.class_key());
    if (of_class == known_.by_class.end()) return found;
    const std::string key = device_key(device);
    const Family& family = families_->of(problem);
    const Scale asked = scale_of(family, problem);
    for (const std::size_t index : of_class->second) {
        const Record& record = known_.records[index];
        const bool same_device = known_.devices[index] == key;
        if (!may_answer(record, device) || beaten_by_safe(record)) continue;
        if (!same_device && instruction_set(record.device) != instruction_set(device)) continue;
        const ScaleDistance apart = scale_distance(scale_of(family, record.problem), asked);
        if (!apart.near()) continue;
        Candidate candidate;
        candidate.distance = rounded_distance(apart.total());
        if (same_device)
            candidate.grade = record.problem == problem && record.verified_on.empty() ? own_grade(record) : Grade::nearest_size;
        else
            candidate.grade = Grade::same_architecture;
        candidate.disturbed = !record.disturbed.empty();
        candidate.place = known_.places[index];
        candidate.other_architecture = record.device.architecture != device.architecture;
        candidate.other_model = record.device.name != device.name;
        candidate.units = same_device ? 0 : units_distance(record.device, device);
        candidate.lost = 1 - record.ceiling_fraction;
        candidate.seconds_per_update = record.step.median / std::max(record.counts.updates, 1.0);
        candidate.index = index;
        candidate.record = &record;
        found.push_back(candidate);
    }
    return found;
}

Match Database::match(Grade grade, Config config, std::size_t index, const DeviceFingerprint& device) const {
    const std::size_t place = known_.places[index];
    const Record& record = known_.records[index];
    std::string note = other_threads(record, device);
    if (!record.verified_on.empty()) note += fmt::format("{}verified on {} only", note.empty() ? "" : "; ", record.verified_on);
    Match match{grade, config, record, place < folders_.size() ? folders_[place] : fs::path(), std::move(note), {}};
    match.record->config = std::move(config);  // by the names of today
    return match;
}

Match Database::best(const Problem& problem, const DeviceFingerprint& device, const Limits& limits) const {
    const Family& family = families_->of(problem);
    const SearchSpace space = family.space(problem, limits);
    const auto may_run = [&](Grade grade, const Record& record, const Problem& about, const Config& config) {
        const bool own = grade <= Grade::measured && about == problem;
        if (!own && is_refuted(space, problem, device.target, config)) return false;
        if (grade > Grade::measured && is_refuted(space, about, device.target, config)) return false;
        return !is_refuted(space, record, config) && !space.check(config);
    };
    const auto recorded = [&](const Problem& about) -> std::optional<Match> {
        // The common case needs no list of candidates.
        const std::string key = subject(about, device, "");
        for (const auto& by_subject : known_.by_subject) {
            const auto own = by_subject.find(key);
            if (own == by_subject.end()) continue;
            const Record& record = known_.records[own->second];
            if (!may_answer(record, device) || !record.verified_on.empty() || beaten_by_safe(record) || !record.disturbed.empty()) continue;
            Config config = space.completed(record.config);
            if (may_run(Grade::exact, record, about, config)) return match(own_grade(record), std::move(config), own->second, device);
        }
        std::vector<Candidate> queue = candidates(about, device);
        // A heap, because the first few decide, however many there are.
        const auto later = [](const Candidate& a, const Candidate& b) { return b < a; };
        std::make_heap(queue.begin(), queue.end(), later);
        while (!queue.empty()) {
            const Candidate& candidate = queue.front();
            Config config = space.completed(candidate.record->config);
            if (may_run(candidate.grade, *candidate.record, about, config)) return match(candidate.grade, std::move(config), candidate.index, device);
            std::pop_heap(queue.begin(), queue.end(), later);
            queue.pop_back();
        }
        return std::nullopt;
    };
    std::optional<Match> found = recorded(problem);
    for (const Problem& about : of_other_arithmetic(family, problem)) {
        std::optional<Match> other = recorded(about);
        if (other && (!found || answers_better(*other, *found))) found = std::move(other);
    }
    if (found) return *std::move(found);
    std::vector<Neighbour> near = neighbours(problem, device);
    std::erase_if(near, [&](const Neighbour& n) { return !may_answer(*n.record, device); });
    const auto others = std::stable_partition(near.begin(), near.end(),
                                              [&](const Neighbour& n) { return instruction_set(n.record->device) == instruction_set(device); });
    const std::vector<Neighbour> of_others(others, near.end());
    near.erase(others, near.end());
    // Whichever is nearer goes first.
    const bool others_first = !of_others.empty() && (near.empty() || of_others.front().distance < near.front().distance);
    for (const bool ask_others : {others_first, !others_first}) {
        if (ask_others) {
            if (auto match = of_other_architecture(problem, device, limits, space, of_others)) return *std::move(match);
            continue;
        }
        auto prediction = predict(*families_, problem, limits, near);
        if (prediction && !is_refuted(space, problem, device.target, prediction->config))
            return {Grade::predicted, std::move(prediction->config), std::nullopt, {}, {}, std::move(prediction->sources)};
    }
    return {Grade::none, space.safe(), std::nullopt, {}, {}, {}};
}

std::optional<Match> Database::of_other_architecture(const Problem& problem, const DeviceFingerprint& device, const Limits& limits,
                                                     const SearchSpace& space, const std::vector<Neighbour>& near) const {
    const Family& family = families_->of(problem);
    for (const auto& [record, distance] : near) {
        if (record->problem.class_key() != problem.class_key() || beaten_by_safe(*record)) continue;
        if (!scale_distance(scale_of(family, record->problem), scale_of(family, problem)).near()) continue;
        Config config = space.completed(record->config);
        if (space.check(config) || is_refuted(space, problem, device.target, config) || is_refuted(space, record->problem, device.target, config))
            continue;
        if (expected_gain(*families_, *record, distance, space, config, limits) < 1) continue;
        return match(Grade::other_architecture, std::move(config), static_cast<std::size_t>(record - known_.records.data()), device);
    }
    auto prediction = predict(*families_, problem, limits, near);
    if (!prediction || is_refuted(space, problem, device.target, prediction->config)) return std::nullopt;
    return Match{Grade::other_architecture, std::move(prediction->config), std::nullopt, {}, {}, std::move(prediction->sources)};
}

std::vector<Neighbour> Database::neighbours(const Problem& problem, const DeviceFingerprint& device) const {
    std::vector<Neighbour> found;
    const auto of_family = known_.by_family.find(problem.family());
    if (of_family == known_.by_family.end()) return found;
    const Family& family = families_->of(problem);
    // Far ones are better than none: most of their gain counts as lost.
    for (const double most : {farthest_neighbour, 4 * farthest_neighbour}) {
        for (const std::size_t index : of_family->second)
            if (const auto distance = neighbour_distance(family, known_.records[index], problem, device, most))
                found.push_back({&known_.records[index], *distance});
        if (!found.empty()) break;
    }
    sort_neighbours(found);
    return found;
}

Share Database::best_share(const Problem& problem, const DeviceSide& device, const DeviceSide& partner) const {
    const Family& family = families_->of(problem);
    const SearchSpace space = family.space(problem, device.limits);
    const SearchSpace partner_space = family.space(problem, partner.limits);
    const std::string key = device_key(device.fingerprint);
    const std::string partner_key = device_key(partner.fingerprint);
    const Scale asked = scale_of(family, problem);
    Share best{Grade::none,
               1,
               this->best(problem, device.fingerprint, device.limits).config,
               this->best(problem, partner.fingerprint, partner.limits).config,
               std::nullopt,
               std::nullopt};
    // Distance, whether disturbed, folder: smaller is better.
    std::tuple<double, bool, std::size_t> best_rank;
    const auto of_class = known_.by_class.find(problem.class_key());
    if (of_class == known_.by_class.end()) return best;
    for (const std::size_t index : of_class->second) {
        const Record& record = known_.records[index];
        if (!record.hybrid || !record.verified()) continue;
        const std::string other = device_key(record.hybrid->partner);
        const bool forwards = known_.devices[index] == key && other == partner_key;
        if (!forwards && !(known_.devices[index] == partner_key && other == key)) continue;
        const ScaleDistance apart = scale_distance(scale_of(family, record.problem), asked);
        if (!apart.near()) continue;
        const std::tuple rank{rounded_distance(apart.total()), !record.disturbed.empty(), known_.places[index]};
        if (best.record && std::tie(best_rank, best.record->step.high) <= std::tie(rank, record.step.high)) continue;
        const Config config = space.completed(forwards ? record.config : record.hybrid->partner_config);
        const Config partner_config = partner_space.completed(forwards ? record.hybrid->partner_config : record.config);
        Record named = record;  // by the names of today
        named.config = forwards ? config : partner_config;
        named.hybrid->partner_config = forwards ? partner_config : config;
        const Hybrid known = forwards ? *named.hybrid : turned(named);
        const Share share{record.problem == problem ? Grade::exact : Grade::nearest_size, known.share, config, partner_config, named, known};
        if (space.check(share.config) || partner_space.check(share.partner_config)) continue;
        if (is_refuted(space, problem, device.fingerprint.target, config)) continue;
        if (is_refuted(partner_space, problem, partner.fingerprint.target, partner_config)) continue;
        best = share;
        best_rank = rank;
    }
    return best;
}

ExchangeMatch Database::best_exchange(const Problem& problem, const DeviceFingerprint& device, const Exchange& about) const {
    const std::string key = device_key(device);
    const Family& family = families_->of(problem);
    const Scale asked = scale_of(family, problem);
    ExchangeMatch best;
    // Numbers of ranks apart, distance, whether disturbed, folder: smaller is better.
    std::tuple<double, double, bool, std::size_t> best_rank;
    const auto of_class = known_.by_class.find(problem.class_key());
    if (of_class == known_.by_class.end()) return best;
    for (const std::size_t index : of_class->second) {
        const Record& record = known_.records[index];
        if (!record.exchange || !record.verified() || known_.devices[index] != key) continue;
        if (record.exchange->program != about.program || record.exchange->link != about.link) continue;
        const double ranks_apart = std::abs(std::log2(static_cast<double>(record.exchange->ranks) / about.ranks));
        const std::tuple rank{rounded_distance(ranks_apart), rounded_distance(scale_distance(scale_of(family, record.problem), asked).total()),
                              !record.disturbed.empty(), known_.places[index]};
        if (best.record && std::tie(best_rank, best.record->step.high) <= std::tie(rank, record.step.high)) continue;
        const bool exact = record.problem == problem && record.exchange->ranks == about.ranks;
        best = {exact ? Grade::exact : Grade::nearest_size, record};
        best_rank = rank;
    }
    return best;
}

MergeCounts Database::merge_into(const fs::path& folder, std::chrono::milliseconds patience) const {
    make_folders(folder);
    std::map<fs::path, std::vector<const Record*>> of_file;
    for (const Table* table : {&known_, &foreign_, &marks_})
        for (std::size_t i = 0; i < table->records.size(); ++i) of_file[folder / (table->devices[i] + ".json")].push_back(&table->records[i]);

    const FolderLock lock(folder, patience);
    MergeCounts counts;
    std::vector<FileContents> changed;
    for (const auto& [path, news] : of_file) {
        Database merged(*families_);
        std::string present;
        std::error_code status;
        if (fs::symlink_status(path, status).type() != fs::file_type::not_found) {
            DatabaseFile file = read_database_file(path, *families_);
            for (Record& record : file.records) merged.insert(hone::with_todays_names(std::move(record), *families_));
            present = std::move(file.text);
        }
        for (const Record* record : news) {
            const MergeCounts one = merged.insert(hone::with_todays_names(*record, *families_));
            counts = {counts.added + one.added, counts.replaced + one.replaced, counts.kept + one.kept};
        }
        std::vector<Record> all = std::move(merged.known_.records);
        for (Table* others : {&merged.foreign_, &merged.marks_}) std::move(others->records.begin(), others->records.end(), std::back_inserter(all));
        std::string text = database_file_text(path.stem().string(), all);
        if (text != present) changed.push_back({path, std::move(text)});
    }
    replace_files(changed);
    return counts;
}

std::vector<Record> Database::remove_from(const fs::path& folder, const Families& families, const std::function<bool(const Record&)>& chosen,
                                          std::chrono::milliseconds patience) {
    std::vector<Record> removed;
    if (database_files(folder).empty()) return removed;
    const FolderLock lock(folder, patience);
    std::vector<FileContents> changed;
    for (const auto& path : database_files(folder)) {
        DatabaseFile file = read_database_file(path, families);
        std::vector<Record> rest;
        const std::size_t before = removed.size();
        for (auto& record : file.records) (chosen(record) ? removed : rest).push_back(std::move(record));
        if (removed.size() == before) continue;
        changed.push_back({path.string() + ".previous", std::move(file.text)});
        changed.push_back({path, database_file_text(file.device, rest)});
    }
    replace_files(changed);
    return removed;
}

int Database::replace_in(const fs::path& folder, const Families& families, const std::vector<std::pair<Record, Record>>& replacements,
                         std::chrono::milliseconds patience) {
    std::map<std::string, const std::pair<Record, Record>*> of_subject;
    Database checks(families);  // a record that no file could hold is refused before any file is touched
    for (const auto& replacement : replacements) {
        if (subject(replacement.first) != subject(replacement.second))
            throw Error("database " + folder.string(),
                        "a record of " + replacement.first.problem.key() + " was to be replaced by one of " + replacement.second.problem.key(),
                        "this is a mistake in hone: report it");
        checks.add(replacement.second);
        of_subject[subject(replacement.first)] = &replacement;
    }
    int replaced = 0;
    if (replacements.empty() || database_files(folder).empty()) return replaced;
    const FolderLock lock(folder, patience);
    std::vector<FileContents> changed;
    for (const auto& path : database_files(folder)) {
        DatabaseFile file = read_database_file(path, families);
        const int before = replaced;
        for (Record& record : file.records) {
            const auto found = of_subject.find(subject(record));
            if (found == of_subject.end() || to_json(record) != to_json(found->second->first)) continue;
            record = found->second->second;
            ++replaced;
        }
        if (replaced != before) changed.push_back({path, database_file_text(file.device, file.records)});
    }
    replace_files(changed);
    return replaced;
}

}  // namespace hone::inline v0_1
