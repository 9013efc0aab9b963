#include "generator/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "foundation/error.hpp"
#include "generator/census.hpp"
#include "generator/member_tree.hpp"

namespace hone::inline v0_1 {
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

std::size_t place_of(const std::vector<Value>& values, const Value& value) {
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

// By its name, or by the one that it had.
bool is_called(const Tunable& tunable, const std::string& name) {
    return tunable.name == name || (!tunable.former_name.empty() && tunable.former_name == name);
}

bool has_value(const Tunable& tunable, const Value& value) {
    return place_of(tunable.values, value) < tunable.values.size();
}

bool all_numbers(const std::vector<Value>& values) {
    return std::all_of(values.begin(), values.end(), [](const Value& value) { return std::holds_alternative<std::int64_t>(value); });
}

// What two forms have of a tunable.
void merge(Tunable& tunable, const Tunable& other) {
    if (tunable.help != other.help || all_numbers(tunable.values) != all_numbers(other.values))
        throw Error("tunable " + tunable.name, "it means two things in two forms", "give it two names, or one explanation and one kind of values");
    for (const Value& value : other.values)
        if (!has_value(tunable, value)) tunable.values.push_back(value);
    if (all_numbers(tunable.values)) std::sort(tunable.values.begin(), tunable.values.end());
}

// The number of a form's assignments that agree in everything that a constraint reads, and in what
// stands before.
std::int64_t shared_assignments(const std::vector<Tunable>& tunables, const Constraint& constraint) {
    if (constraint.reads.empty()) return 1;
    std::size_t last = 0;
    for (const std::string& name : constraint.reads) {
        if (name == form_tunable) continue;
        const auto found = std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& tunable) { return tunable.name == name; });
        if (found == tunables.end())
            throw Error("constraint " + constraint.name, "it reads " + name + ", which is not a tunable", "mend the search space");
        last = std::max(last, static_cast<std::size_t>(found - tunables.begin()) + 1);
    }
    std::int64_t count = 1;
    for (std::size_t i = last; i < tunables.size(); ++i) count *= std::ssize(tunables[i].values);
    return count;
}

}  // namespace

SearchSpace::SearchSpace(std::vector<Tunable> tunables, std::vector<Constraint> constraints, std::vector<Assignment> safe) {
    forms_.push_back({.name = "", .tunables = std::move(tunables), .constraints = std::move(constraints), .safe = std::move(safe)});
    arrange();
    safe_ = entry(forms_.front());
    if (const auto rejection = check(safe_))
        throw Error("safe configuration " + safe_.key(), rejection->constraint + ": " + rejection->reason, "mend the family's search space");
}

SearchSpace::SearchSpace(std::vector<FormSpace> forms, const std::string& form) : forms_(std::move(forms)) {
    arrange();
    const auto own = std::find_if(forms_.begin(), forms_.end(), [&](const FormSpace& one) { return one.name == form; });
    if (own == forms_.end()) throw Error("search space", "it has no form \"" + form + "\"", "its forms are " + form_names());
    safe_ = entry(*own);
    if (const auto rejection = check(safe_))
        throw Error("safe configuration " + safe_.key(), rejection->constraint + ": " + rejection->reason, "mend the family's search space");
}

SearchSpace SearchSpace::of_members(std::vector<Tunable> tunables, Members members, std::int64_t safe) {
    std::vector<FormSpace> forms(1);
    forms.front().tunables = std::move(tunables);
    return of_members(std::move(forms), std::move(members), safe);
}

SearchSpace SearchSpace::of_members(std::vector<FormSpace> forms, Members members, std::int64_t safe) {
    if (!members.contains(safe)) throw Error("safe configuration", fmt::format("number {} is not among the members", safe), "choose one of them");
    SearchSpace space;
    space.forms_ = std::move(forms);
    for (FormSpace& form : space.forms_) form.constraints.clear();
    space.arrange();
    space.listed_ = std::move(members);
    space.safe_ = space.at(safe);
    return space;
}

void SearchSpace::arrange() {
    const bool named = forms_.size() != 1 || !forms_.front().name.empty();
    if (named) {
        Tunable form{std::string(form_tunable), "", {}};
        for (const FormSpace& one : forms_) {
            if (one.name.empty() || has_value(form, one.name)) throw Error("search space", "two forms \"" + one.name + "\"", "give each a name");
            form.help += (form.help.empty() ? "" : "; ") + one.name + ": " + one.help;
            form.values.emplace_back(one.name);
        }
        tunables_.push_back(std::move(form));
    }
    std::int64_t first = 0;
    for (const FormSpace& form : forms_) {
        Place place{.first = first};
        for (const Tunable& tunable : form.tunables) {
            if (__builtin_mul_overflow(place.product, std::ssize(tunable.values), &place.product) || place.product > largest_product - first)
                throw Error("search space", "its tunables' values have more than 2^62 combinations", "leave some values out");
            auto same = std::find_if(tunables_.begin(), tunables_.end(), [&](const Tunable& other) { return other.name == tunable.name; });
            place.tunable.push_back(static_cast<std::size_t>(same - tunables_.begin()));
            if (same == tunables_.end())
                tunables_.push_back(tunable);
            else
                merge(*same, tunable);
        }
        for (const Constraint& constraint : form.constraints) place.shared.push_back(shared_assignments(form.tunables, constraint));
        first += place.product;
        places_.push_back(std::move(place));
    }
    for (std::size_t f = 0; f < forms_.size(); ++f)
        for (std::size_t t = 0; t < forms_[f].tunables.size(); ++t) {
            std::vector<std::size_t>& levels = places_[f].levels.emplace_back();
            for (const Value& value : forms_[f].tunables[t].values) levels.push_back(place_of(tunables_[places_[f].tunable[t]].values, value));
        }
}

const FormSpace* SearchSpace::form_of(const Config& config) const {
    if (forms_.size() == 1 && forms_.front().name.empty()) return forms_.data();
    const auto& assignments = config.assignments();
    if (assignments.empty() || assignments.front().name != form_tunable) return nullptr;
    const auto found =
        std::find_if(forms_.begin(), forms_.end(), [&](const FormSpace& form) { return assignments.front().value == Value(form.name); });
    return found == forms_.end() ? nullptr : &*found;
}

Config SearchSpace::entry(const FormSpace& form) const {
    std::vector<Assignment> assignments = form.safe;
    if (!form.name.empty()) assignments.insert(assignments.begin(), {std::string(form_tunable), form.name});
    return Config(std::move(assignments));
}

std::int64_t SearchSpace::product() const {
    return places_.empty() ? 1 : places_.back().first + places_.back().product;
}

std::size_t SearchSpace::form_at(std::int64_t index) const {
    std::size_t form = 0;
    while (form + 1 < places_.size() && places_[form + 1].first <= index) ++form;
    return form;
}

std::vector<Assignment> SearchSpace::assignments(std::size_t form, std::int64_t index) const {
    const auto& tunables = forms_[form].tunables;
    const std::size_t before = own_values(forms_[form]);
    std::vector<Assignment> assignments(before + tunables.size());
    if (before > 0) assignments.front() = {std::string(form_tunable), forms_[form].name};
    index -= places_[form].first;
    for (std::size_t i = tunables.size(); i-- > 0;) {
        const auto count = std::ssize(tunables[i].values);
        assignments[before + i] = {tunables[i].name, tunables[i].values[static_cast<std::size_t>(index % count)]};
        index /= count;
    }
    return assignments;
}

Config SearchSpace::at(std::int64_t index) const {
    return forms_.empty() ? Config() : Config(assignments(form_at(index), index));
}

void SearchSpace::advance(std::size_t form, Config& config) const {
    const auto& tunables = forms_[form].tunables;
    const std::size_t before = own_values(forms_[form]);
    std::vector<Assignment> assignments = std::move(config).assignments();
    for (std::size_t i = tunables.size(); i-- > 0;) {
        const auto& values = tunables[i].values;
        const std::size_t next = place_of(values, assignments[before + i].value) + 1;
        assignments[before + i].value = values[next == values.size() ? 0 : next];
        if (next != values.size()) break;
    }
    config = Config(std::move(assignments));
}

std::string SearchSpace::form_names() const {
    std::string names;
    for (const FormSpace& form : forms_) names += (names.empty() ? "" : ", ") + form.name;
    return names;
}

Rejection SearchSpace::no_form(const Config& config) const {
    const Value* const form = config.find(form_tunable);
    if (form == nullptr) return {"form", "it does not begin with form=; the forms are " + form_names()};
    return {"form", "form=" + to_string(*form) + " is none of " + form_names()};
}

std::int64_t SearchSpace::index_of(const Config& config) const {
    const FormSpace* const form = form_of(config);
    if (form == nullptr) {
        if (forms_.empty() && config.assignments().empty()) return 0;
        throw Error("configuration " + config.key(), no_form(config).reason, "begin with form=NAME");
    }
    const std::size_t before = own_values(*form);
    if (config.assignments().size() != before + form->tunables.size())
        throw Error("configuration " + config.key(), "has another number of values than the space", "give every tunable a value");
    std::int64_t index = 0;
    for (std::size_t i = 0; i < form->tunables.size(); ++i) {
        const auto& [name, value] = config.assignments()[before + i];
        const auto& values = form->tunables[i].values;
        const std::size_t found = place_of(values, value);
        if (name != form->tunables[i].name || found == values.size())
            throw Error("configuration " + config.key(), name + "=" + to_string(value) + " is not in the space", "use one of " + list(values));
        index = index * std::ssize(values) + static_cast<std::int64_t>(found);
    }
    return places_[static_cast<std::size_t>(form - forms_.data())].first + index;
}

std::vector<std::size_t> SearchSpace::levels(std::int64_t index) const {
    std::vector<std::size_t> levels;
    for (const Tunable& tunable : tunables_) levels.push_back(tunable.values.size());
    if (forms_.empty()) return levels;
    const std::size_t form = form_at(index);
    const Place& place = places_[form];
    if (own_values(forms_[form]) > 0) levels.front() = form;
    index -= place.first;
    for (std::size_t i = place.tunable.size(); i-- > 0;) {
        const auto count = std::ssize(place.levels[i]);
        levels[place.tunable[i]] = place.levels[i][static_cast<std::size_t>(index % count)];
        index /= count;
    }
    return levels;
}

std::optional<std::int64_t> SearchSpace::index_of(const std::vector<std::size_t>& levels) const {
    if (forms_.empty()) return 0;
    const bool named = own_values(forms_.front()) > 0;
    const std::size_t form = named ? levels.front() : 0;
    if (form >= forms_.size()) return std::nullopt;
    const Place& place = places_[form];
    std::int64_t index = 0;
    for (std::size_t i = 0; i < place.tunable.size(); ++i) {
        const std::size_t found =
            static_cast<std::size_t>(std::find(place.levels[i].begin(), place.levels[i].end(), levels[place.tunable[i]]) - place.levels[i].begin());
        if (found == place.levels[i].size()) return std::nullopt;
        index = index * std::ssize(place.levels[i]) + static_cast<std::int64_t>(found);
    }
    std::size_t present = 0;
    for (std::size_t t = 0; t < tunables_.size(); ++t) present += levels[t] < tunables_[t].values.size() ? 1 : 0;
    if (present != place.tunable.size() + (named ? 1 : 0)) return std::nullopt;
    return place.first + index;
}

std::optional<Rejection> SearchSpace::value_rejection(const Config& config) const {
    const auto& assignments = config.assignments();
    const FormSpace* const form = form_of(config);
    if (form == nullptr) {
        if (forms_.empty() && assignments.empty()) return std::nullopt;
        return no_form(config);
    }
    const std::size_t before = own_values(*form);
    const auto& tunables = form->tunables;
    if (assignments.size() != before + tunables.size())
        return Rejection{"complete", fmt::format("{} values, the space has {} tunables", assignments.size(), before + tunables.size())};
    for (std::size_t i = 0; i < tunables.size(); ++i) {
        const Assignment& assignment = assignments[before + i];
        if (assignment.name != tunables[i].name)
            return Rejection{"complete", fmt::format("{} stands where {} belongs", assignment.name, tunables[i].name)};
        if (!has_value(tunables[i], assignment.value))
            return Rejection{"values", fmt::format("{}={} is none of {}", assignment.name, to_string(assignment.value), list(tunables[i].values))};
    }
    return std::nullopt;
}

std::optional<Rejection> SearchSpace::check(const Config& config) const {
    if (auto rejection = value_rejection(config)) return rejection;
    const FormSpace* const form = form_of(config);
    if (form == nullptr) return std::nullopt;  // the empty configuration of the empty space
    for (const auto& constraint : form->constraints)
        if (auto reason = constraint.violation(config)) return Rejection{constraint.name, std::move(*reason)};
    if (listed_ && !listed_->contains(index_of(config))) return Rejection{"listed", "it is not among the members"};
    return std::nullopt;
}

Config SearchSpace::completed(const Config& config) const {
    const FormSpace* form = form_of(config);
    if (form == nullptr) return translated(config);
    const auto& given = config.assignments();
    const std::size_t before = own_values(*form);
    std::vector<Assignment> assignments(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(before));
    std::size_t used = before;
    for (const auto& tunable : form->tunables) {
        if (used < given.size() && is_called(tunable, given[used].name))
            assignments.push_back({tunable.name, given[used++].value});
        else if (tunable.former)
            assignments.push_back({tunable.name, *tunable.former});
    }
    return used == given.size() ? Config(std::move(assignments)) : translated(config);
}

Config SearchSpace::translated(const Config& config) const {
    // A tunable of former times may have had the name, and a form's, too: then the form has not
    // changed.
    const FormSpace* const same = form_of(config);
    const auto form = std::find_if(forms_.begin(), forms_.end(),
                                   [&](const FormSpace& one) { return (same == nullptr || same == &one) && one.former && one.former(config); });
    if (form == forms_.end()) return config;
    std::vector<Assignment> assignments{{std::string(form_tunable), form->name}};
    for (const auto& tunable : form->tunables) {
        if (const Value* const given = config.find(tunable.former_name.empty() ? tunable.name : tunable.former_name))
            assignments.push_back({tunable.name, *given});
        else if (tunable.former)
            assignments.push_back({tunable.name, *tunable.former});
    }
    return Config(std::move(assignments));
}

void SearchSpace::walk_form(std::size_t form, std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const {
    const auto& constraints = forms_[form].constraints;
    Config config(assignments(form, first));
    for (std::int64_t index = first; index < last;) {
        std::int64_t count = 1;
        std::optional<Rejection> rejection;
        for (std::size_t i = 0; i < constraints.size(); ++i) {
            auto reason = constraints[i].violation(config);
            if (!reason) continue;
            const std::int64_t shared = places_[form].shared[i];
            count = std::min(shared - (index - places_[form].first) % shared, last - index);
            rejection = {constraints[i].name, std::move(*reason)};
            break;
        }
        visit({index, count, config, std::move(rejection)});
        index += count;
        if (index == last) break;
        if (count == 1)
            advance(form, config);
        else
            config = Config(assignments(form, index));
    }
}

void SearchSpace::walk(std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const {
    for (std::size_t form = 0; form < forms_.size(); ++form) {
        const std::int64_t begin = std::max(first, places_[form].first);
        const std::int64_t end = std::min(last, places_[form].first + places_[form].product);
        if (begin < end) walk_form(form, begin, end, visit);
    }
}

Members SearchSpace::members(const std::function<bool()>& stop) const {
    if (listed_) return *listed_;
    if (cut_early(*this)) return early_census(*this, stop, false).members;
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

std::vector<std::vector<std::int64_t>> SearchSpace::holders(const Members& members) const {
    std::vector<std::vector<std::int64_t>> holders;
    for (const Tunable& tunable : tunables_) holders.emplace_back(tunable.values.size());
    if (members.forms().empty())
        for (const std::int64_t index : members) {
            const std::vector<std::size_t> own = levels(index);
            for (std::size_t t = 0; t < own.size(); ++t)
                if (own[t] < holders[t].size()) ++holders[t][own[t]];
        }
    for (std::size_t form = 0; form < members.forms().size(); ++form) {
        const MemberTree& tree = *members.forms()[form].tree;
        const auto own = tree.holders();
        for (std::size_t t = 0; t < own.size(); ++t)
            for (std::size_t value = 0; value < own[t].size(); ++value)
                holders[places_[form].tunable[t]][places_[form].levels[t][value]] += own[t][value];
        if (own_values(forms_[form]) > 0) holders.front()[form] += tree.size();
    }
    return holders;
}

Members SearchSpace::allowed(const Members& members, const std::function<bool(std::size_t, std::size_t)>& allows) const {
    std::vector<std::vector<std::vector<bool>>> allowed(forms_.size());
    for (std::size_t form = 0; form < forms_.size(); ++form)
        for (std::size_t t = 0; t < places_[form].tunable.size(); ++t) {
            std::vector<bool>& own = allowed[form].emplace_back();
            const bool in_form = own_values(forms_[form]) == 0 || allows(0, form);
            for (const std::size_t level : places_[form].levels[t]) own.push_back(in_form && allows(places_[form].tunable[t], level));
        }
    return members.limited(allowed);
}

Members SearchSpace::with_value(const Members& members, std::size_t tunable, std::size_t value) const {
    const auto lacks = [&](std::size_t form) {
        const auto& own = places_[form].tunable;
        return tunables_[tunable].name != form_tunable && std::find(own.begin(), own.end(), tunable) == own.end();
    };
    return allowed(members, [&](std::size_t one, std::size_t level) {
        if (one == 0 && own_values(forms_.front()) > 0 && lacks(level)) return false;
        return one != tunable || level == value;
    });
}

Config SearchSpace::parse(std::string_view text) const {
    std::vector<std::pair<std::string, std::string_view>> items;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) throw Error("configuration", fmt::format("\"{}\" has no value", item), "write name=value,name=value");
        std::string name(item.substr(0, equals));
        if (std::any_of(items.begin(), items.end(), [&](const auto& other) { return other.first == name; }))
            throw Error("configuration", name + " is given twice", "give it once");
        items.emplace_back(std::move(name), item.substr(equals + 1));
    }
    // All values of a configuration of former times say which form it was.
    if (form_of(safe_) != nullptr && own_values(*form_of(safe_)) > 0) {
        std::vector<Assignment> given;
        given.reserve(items.size());
        for (const auto& [name, value] : items) given.push_back({name, parse_value(value)});
        Config whole = completed(Config(std::move(given)));
        if (form_of(whole) != nullptr && !check(whole)) return whole;
    }
    std::vector<Assignment> assignments = safe_.assignments();
    for (const auto& [name, value] : items) {
        if (name != form_tunable) continue;
        const Config wish({{name, std::string(value)}});
        const FormSpace* const form = form_of(wish);
        if (form == nullptr || form->name.empty()) continue;
        assignments = entry(*form).assignments();
    }
    const FormSpace* const form = form_of(Config(assignments));
    std::vector<std::string> names;
    names.reserve(assignments.size());
    for (const Assignment& assignment : assignments) names.push_back(assignment.name);
    for (const auto& [name, text_of_value] : items) {
        auto own = std::find(names.begin(), names.end(), name);
        for (std::size_t i = 0; own == names.end() && i < form->tunables.size(); ++i)
            if (is_called(form->tunables[i], name)) own = names.begin() + static_cast<std::ptrdiff_t>(own_values(*form) + i);
        if (own == names.end()) {
            const bool elsewhere =
                std::any_of(tunables_.begin(), tunables_.end(), [&own_name = name](const Tunable& tunable) { return tunable.name == own_name; });
            if (elsewhere)
                throw Error("configuration", fmt::format("form={} has no tunable \"{}\"", form->name, name),
                            fmt::format("it has {}; name another form with form=", fmt::join(names, ", ")));
            throw Error("configuration", fmt::format("there is no tunable \"{}\"", name),
                        did_you_mean(name, names) + fmt::format("the space has {}", fmt::join(names, ", ")));
        }
        const auto position = static_cast<std::size_t>(own - names.begin());
        const std::size_t before = own_values(*form);
        const Tunable& tunable = position < before ? tunables_.front() : form->tunables[position - before];
        Value value = parse_value(text_of_value);
        if (!has_value(tunable, value))
            throw Error("configuration", fmt::format("{}={} is not in the space", name, to_string(value)),
                        did_you_mean(to_string(value), as_strings(tunable.values)) + "use one of " + list(tunable.values));
        assignments[position].value = std::move(value);
    }
    return Config(std::move(assignments));
}

}  // namespace hone::inline v0_1
