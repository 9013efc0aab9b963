#include "generator/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "generator/error.hpp"

namespace hone {
namespace {

std::string list(const std::vector<Value>& values) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : ", ") + to_string(value);
    return text;
}

std::vector<std::string> as_strings(const std::vector<Value>& values) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const auto& value : values) texts.push_back(to_string(value));
    return texts;
}

bool has_value(const Tunable& tunable, const Value& value) {
    return std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end();
}

}  // namespace

SearchSpace::SearchSpace(std::vector<Tunable> tunables, std::vector<Constraint> constraints, std::vector<Assignment> safe)
    : tunables_(std::move(tunables)), constraints_(std::move(constraints)), safe_(std::move(safe)) {
    if (const auto rejection = check(safe_))
        throw Error("safe configuration " + safe_.key(), rejection->constraint + ": " + rejection->reason, "mend the family's search space");
}

SearchSpace SearchSpace::of_members(std::vector<Tunable> tunables, std::shared_ptr<const std::vector<std::int64_t>> members, std::int64_t safe) {
    if (!std::binary_search(members->begin(), members->end(), safe))
        throw Error("safe configuration", fmt::format("number {} is not among the members", safe), "choose one of them");
    SearchSpace space;
    space.tunables_ = std::move(tunables);
    space.listed_ = std::move(members);
    space.safe_ = space.at(safe);
    return space;
}

std::int64_t SearchSpace::product() const {
    std::int64_t count = 1;
    for (const auto& tunable : tunables_) count *= static_cast<std::int64_t>(tunable.values.size());
    return count;
}

Config SearchSpace::at(std::int64_t index) const {
    std::vector<Assignment> assignments(tunables_.size());
    for (std::size_t i = tunables_.size(); i-- > 0;) {
        const auto count = static_cast<std::int64_t>(tunables_[i].values.size());
        assignments[i] = {tunables_[i].name, tunables_[i].values[static_cast<std::size_t>(index % count)]};
        index /= count;
    }
    return Config(std::move(assignments));
}

void SearchSpace::advance(Config& config) const {
    std::vector<Assignment> assignments = std::move(config).assignments();
    for (std::size_t i = tunables_.size(); i-- > 0;) {
        const auto& values = tunables_[i].values;
        const auto next = std::find(values.begin(), values.end(), assignments[i].value) + 1;
        assignments[i].value = next == values.end() ? values.front() : *next;
        if (next != values.end()) break;
    }
    config = Config(std::move(assignments));
}

std::int64_t SearchSpace::index_of(const Config& config) const {
    if (config.assignments().size() != tunables_.size())
        throw Error("configuration " + config.key(), "has another number of values than the space", "give every tunable a value");
    std::int64_t index = 0;
    for (std::size_t i = 0; i < tunables_.size(); ++i) {
        const auto& [name, value] = config.assignments()[i];
        const auto& values = tunables_[i].values;
        const auto found = std::find(values.begin(), values.end(), value);
        if (name != tunables_[i].name || found == values.end())
            throw Error("configuration " + config.key(), name + "=" + to_string(value) + " is not in the space", "use one of " + list(values));
        index = index * static_cast<std::int64_t>(values.size()) + (found - values.begin());
    }
    return index;
}

std::optional<Rejection> SearchSpace::check(const Config& config) const {
    const auto& assignments = config.assignments();
    if (assignments.size() != tunables_.size())
        return Rejection{"complete", fmt::format("{} values, the space has {} tunables", assignments.size(), tunables_.size())};
    for (std::size_t i = 0; i < tunables_.size(); ++i) {
        if (assignments[i].name != tunables_[i].name)
            return Rejection{"complete", fmt::format("{} stands where {} belongs", assignments[i].name, tunables_[i].name)};
        if (!has_value(tunables_[i], assignments[i].value))
            return Rejection{"values",
                             fmt::format("{}={} is none of {}", assignments[i].name, to_string(assignments[i].value), list(tunables_[i].values))};
    }
    if (auto rejection = violation(config)) return rejection;
    if (listed_ && !std::binary_search(listed_->begin(), listed_->end(), index_of(config))) return Rejection{"listed", "it is not among the members"};
    return std::nullopt;
}

std::optional<Rejection> SearchSpace::violation(const Config& config) const {
    for (const auto& constraint : constraints_)
        if (auto reason = constraint.violation(config)) return Rejection{constraint.name, std::move(*reason)};
    return std::nullopt;
}

Config SearchSpace::completed(const Config& config) const {
    const auto& given = config.assignments();
    if (given.size() >= tunables_.size()) return config;
    std::vector<Assignment> assignments;
    assignments.reserve(tunables_.size());
    std::size_t used = 0;
    for (const auto& tunable : tunables_) {
        if (used < given.size() && given[used].name == tunable.name)
            assignments.push_back(given[used++]);
        else if (tunable.former)
            assignments.push_back({tunable.name, *tunable.former});
    }
    return used == given.size() ? Config(std::move(assignments)) : config;
}

std::int64_t SearchSpace::sharing(std::int64_t index, std::size_t values) const {
    std::int64_t count = 1;
    for (std::size_t i = values; i < tunables_.size(); ++i) count *= static_cast<std::int64_t>(tunables_[i].values.size());
    return count - index % count;
}

void SearchSpace::walk(std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const {
    LookupNotes notes;
    Config config = at(first);
    for (std::int64_t index = first; index < last;) {
        std::int64_t count = 1;
        std::optional<Rejection> rejection;
        for (const auto& constraint : constraints_) {
            notes.clear();
            auto reason = constraint.violation(config);
            if (!reason) continue;
            count = std::min(sharing(index, notes.values()), last - index);
            rejection = {constraint.name, std::move(*reason)};
            break;
        }
        visit({index, count, config, std::move(rejection)});
        index += count;
        if (index == last) break;
        if (count == 1)
            advance(config);
        else
            config = at(index);
    }
}

std::vector<std::int64_t> SearchSpace::members(const std::function<bool()>& stop) const {
    if (listed_) return *listed_;
    const std::int64_t count = product();
    constexpr std::int64_t piece = 65536;
    std::vector<std::vector<std::int64_t>> of_pieces(static_cast<std::size_t>((count + piece - 1) / piece));
    std::exception_ptr failure;  // must not leave the parallel loop
#pragma omp parallel for schedule(dynamic) if (count > piece)
    for (std::int64_t first = 0; first < count; first += piece) try {
            if (stop && stop()) continue;
            walk(first, std::min(first + piece, count), [&](const Run& run) {
                if (!run.rejection) of_pieces[static_cast<std::size_t>(first / piece)].push_back(run.first);
            });
        } catch (...) {
#pragma omp critical(hone_search_space_members)
            failure = std::current_exception();
        }
    if (failure) std::rethrow_exception(failure);
    std::vector<std::int64_t> indices;
    for (const auto& of_piece : of_pieces) indices.insert(indices.end(), of_piece.begin(), of_piece.end());
    return indices;
}

Config SearchSpace::parse(std::string_view text) const {
    std::vector<Assignment> assignments = safe_.assignments();
    std::vector<std::string> names;
    for (const auto& tunable : tunables_) names.push_back(tunable.name);
    std::vector<bool> given(names.size());
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) throw Error("configuration", fmt::format("\"{}\" has no value", item), "write name=value,name=value");
        const std::string name(item.substr(0, equals));
        const auto position = std::find(names.begin(), names.end(), name) - names.begin();
        if (position == std::ssize(names))
            throw Error("configuration", fmt::format("there is no tunable \"{}\"", name),
                        did_you_mean(name, names) + fmt::format("the space has {}", fmt::join(names, ", ")));
        if (given[static_cast<std::size_t>(position)]) throw Error("configuration", name + " is given twice", "give it once");
        given[static_cast<std::size_t>(position)] = true;
        const auto& tunable = tunables_[static_cast<std::size_t>(position)];
        Value value = parse_value(item.substr(equals + 1));
        if (!has_value(tunable, value))
            throw Error("configuration", fmt::format("{}={} is not in the space", name, to_string(value)),
                        did_you_mean(to_string(value), as_strings(tunable.values)) + "use one of " + list(tunable.values));
        assignments[static_cast<std::size_t>(position)].value = std::move(value);
    }
    return Config(std::move(assignments));
}

std::vector<Value> numbers(std::vector<std::int64_t> values) {
    return {values.begin(), values.end()};
}

std::vector<Value> words(std::vector<std::string> values) {
    return {values.begin(), values.end()};
}

}  // namespace hone
