#include "tuner/replay/formats/journal_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/journal.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::inline v0_1 {
namespace {

// Names and values of a key such as `form=cells,block_x=32`.
struct Key {
    std::vector<std::string> names;
    std::vector<std::string> written;
};

Key parse_key(std::string_view key, const std::string& where) {
    Key parts;
    while (!key.empty()) {
        const std::string_view item = key.substr(0, key.find(','));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) throw Error(where, fmt::format("\"{}\" is not name=value", item), "a configuration reads a=1,b=two");
        parts.names.emplace_back(item.substr(0, equals));
        parts.written.push_back(written_of(std::string(item.substr(equals + 1))));
        key.remove_prefix(std::min(key.size(), item.size() + 1));
    }
    return parts;
}

// In columns, what a configuration has of a tunable that its form does not have.
constexpr std::string_view absent = "absent";

// The tunables of all forms, each once; or of the one form that there is. Throws Error when two
// configurations of a form have different ones.
std::vector<std::string> all_names(const std::vector<JournalEntry>& entries, const std::string& file) {
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> of_form;
    for (const auto& entry : entries) {
        const std::string where = fmt::format("{}: candidate {}", file, entry.config);
        const Key key = parse_key(entry.config, where);
        const bool has_form = !key.names.empty() && key.names.front() == form_tunable;
        const auto [own, is_new] = of_form.emplace(has_form ? key.written.front() : "", key.names);
        if (!is_new && own->second != key.names) throw Error(where, "it has other tunables than the first candidate", "a journal is of one space");
        if (is_new && of_form.size() > 1 && of_form.contains(""))
            throw Error(where, "it names a form, and others do not", "a journal is of one space");
        for (const auto& name : key.names)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

// A configuration's values for all names.
std::vector<std::string> in_columns(const Key& key, const std::vector<std::string>& names) {
    if (key.names == names) return key.written;
    std::vector<std::string> written;
    for (const auto& name : names) {
        const auto own = std::find(key.names.begin(), key.names.end(), name);
        written.push_back(own == key.names.end() ? written_of(std::string(absent)) : key.written[static_cast<std::size_t>(own - key.names.begin())]);
    }
    return written;
}

// The same configuration must come out again.
std::string key_of(const RecordedSpace& recorded, std::int64_t index) {
    const std::vector<std::size_t> places = recorded.places(index);
    std::string key;
    for (std::size_t d = 0; d < places.size(); ++d) {
        const auto& [name, written] = recorded.parameters()[d];
        const std::string plain = plain_value(written[places[d]]);
        if (plain == absent && recorded.parameters().front().name == form_tunable) continue;
        if (name.find_first_of(",=") != std::string::npos || plain.find_first_of(",=") != std::string::npos ||
            written_of(plain) != written[places[d]])
            throw Error("journal",
                        fmt::format("parameter {} has the value {}, which a configuration's key cannot hold", json_string(name), written[places[d]]),
                        "keys read a=1,b=two, without quotes: keep it in its own format, or spell the value otherwise");
        key += fmt::format("{}{}={}", key.empty() ? "" : ",", name, plain);
    }
    return key;
}

// Other tuners' files name the device alone, and nearly all of them are of GPUs.
bool is_called_as_processors_are(const std::string& device) {
    constexpr std::array words{"EPYC", "Ryzen", "Threadripper", "Xeon", "Core(TM)", "CPU", "Processor", "Neoverse", "ThunderX"};
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return device.find(word) != std::string::npos; });
}

}  // namespace

bool is_journal(std::string_view text) {
    return text.starts_with("{\"hone_journal\"");
}

RecordedSpace parse_journal_space(std::string_view text, const std::string& file, const std::string& name) {
    JournalText journal = parse_journal(text, file);
    auto& entries = journal.entries;
    // A run whose budget was spent is done, too, but not with its space, unless it went on.
    const auto is_candidate = [](const JournalEntry& entry) { return entry.kind == JournalEntry::Kind::evaluation && !is_finalist(entry); };
    const auto last = std::find_if(entries.rbegin(), entries.rend(), is_candidate);
    const bool complete = !entries.empty() && entries.back().kind == JournalEntry::Kind::done &&
                          std::none_of(entries.rbegin(), last, [](const auto& entry) { return entry.kind == JournalEntry::Kind::finish; });
    std::erase_if(entries, std::not_fn(is_candidate));
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
    std::optional<RecordedRows> rows;
    std::set<std::string> seen;
    for (const auto& entry : entries) {
        if (!seen.insert(entry.config).second) continue;  // measured again later
        const std::string where = fmt::format("{}: candidate {}", file, entry.config);
        if (!rows) rows.emplace(all_names(entries, file));
        const double cost = entry.outcome.measured() ? entry.outcome.step.median : std::numeric_limits<double>::infinity();
        if (!(cost > 0)) throw Error(where, "its median step is 0 s", "measure it again");
        rows->add(in_columns(parse_key(entry.config, where), rows->names()), cost, entry.outcome, where);
    }
    if (!rows) throw EmptySpaceError("journal " + file, "no candidate was evaluated", "leave it out: there is nothing to search");
    std::vector<RecordedParameter> parameters = rows->parameters();
    check_product(parameters, file);
    RecordedColumns configurations = (*std::move(rows)).columns(parameters);
    const RunDescription& run = journal.run;
    const bool everything = run.strategy == "exhaustive" && run.among == 0;
    return {{.name = name,
             .kernel = run.problem,
             .device = run.device.name,
             .objective = "time",
             .cut = !complete,
             .chosen_by = everything ? "" : run.strategy,
             .only = run.only,
             .members = run.members,
             .target = run.device.target},
            std::move(parameters),
            std::move(configurations)};
}

std::string journal_text(const RecordedSpace& recorded) {
    const RecordedTitle& title = recorded.title();
    JournalText journal;
    journal.run.problem = title.kernel + (title.problem_size.empty() ? "" : " problem_size=" + title.problem_size);
    journal.run.device.name = title.device;
    journal.run.device.target = title.target.value_or(is_called_as_processors_are(title.device) ? Target::cpu : Target::cuda);
    journal.run.space = space_hash(recorded.space(0), recorded.members());
    journal.run.members = recorded.whole() ? std::ssize(recorded.members()) : title.members;
    journal.run.version = HONE_VERSION;
    journal.run.strategy = title.chosen_by.empty() ? "exhaustive" : title.chosen_by;
    journal.run.only = title.only;
    for (const std::int64_t index : recorded.members())
        journal.entries.push_back(
            {JournalEntry::Kind::evaluation, 0, index, Candidate::Purpose::search, key_of(recorded, index), recorded.at(index).outcome});
    if (!title.cut) journal.entries.push_back({.kind = JournalEntry::Kind::done});
    return journal_text(journal);
}

}  // namespace hone::inline v0_1
