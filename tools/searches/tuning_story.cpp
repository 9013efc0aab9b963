#include "tools/searches/tuning_story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "foundation/error.hpp"

namespace hone::tools {
namespace {

constexpr double most_configurations = 4e18;  // an index is a 64-bit number

// A reason with every number replaced: candidates differ in these.
std::string pattern(const std::string& reason) {
    std::string result;
    for (const char c : reason) {
        const bool digit = (c >= '0' && c <= '9') || (c == '.' && result.ends_with('#'));
        if (!digit) result += c;
        if (digit && !result.ends_with('#')) result += '#';
    }
    return result;
}

struct Tally {
    std::map<std::pair<Status, std::string>, TuningStory::Failure> failures;

    void add(const Outcome& outcome) {
        auto& failure = failures[{outcome.status, pattern(outcome.reason)}];
        if (failure.count++ == 0) failure = {outcome.status, outcome.reason, 1};
    }
    std::vector<TuningStory::Failure> sorted() const {
        std::vector<TuningStory::Failure> list;
        list.reserve(failures.size());
        for (const auto& [key, failure] : failures) list.push_back(failure);
        std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
        return list;
    }
};

void add_measured(TuningStory& story, const JournalEntry& entry) {
    const double value = cost(story.objective, entry.outcome);
    // Without its energy a candidate says nothing where energy is the objective.
    if (!(value > 0) || value == std::numeric_limits<double>::infinity()) return;
    if (story.improvements.empty() || value < story.improvements.back().cost)
        story.improvements.push_back({story.evaluations, entry.elapsed, value, entry.config});
    story.measured.push_back({entry.config, value});
}

// All values that occur in configurations of one form, numbers by size.
std::vector<Tunable> tunables_of(const std::vector<Config>& configs) {
    std::vector<Tunable> tunables;
    for (const Assignment& assignment : configs.front().assignments()) tunables.push_back({assignment.name, "", {}});
    for (std::size_t d = 0; d < tunables.size(); ++d) {
        std::set<Value> values;
        for (const Config& config : configs) values.insert(config.assignments()[d].value);
        // A tunable holds numbers or words, not both.
        const bool words = std::any_of(values.begin(), values.end(), [](const Value& value) { return std::holds_alternative<std::string>(value); });
        std::set<Value> same;
        for (const Value& value : values) same.insert(words ? Value(to_string(value)) : value);
        tunables[d].values.assign(same.begin(), same.end());
    }
    return tunables;
}

bool same_names(const Config& a, const Config& b) {
    return std::equal(a.assignments().begin(), a.assignments().end(), b.assignments().begin(), b.assignments().end(),
                      [](const Assignment& x, const Assignment& y) { return x.name == y.name; });
}

// With values of the kinds that the space has.
Config fitting(const std::vector<Tunable>& tunables, const Config& config) {
    std::vector<Assignment> assignments = config.assignments();
    for (Assignment& assignment : assignments)
        for (const Tunable& tunable : tunables)
            if (tunable.name == assignment.name && std::holds_alternative<std::string>(tunable.values.front()))
                assignment.value = to_string(assignment.value);
    return Config(std::move(assignments));
}

// The space that configurations of one form show.
FormSpace shown_form(const std::vector<Config>& configs) {
    FormSpace form{.name = "", .tunables = tunables_of(configs)};
    double product = 1;
    for (const Tunable& tunable : form.tunables) product *= static_cast<double>(tunable.values.size());
    if (product > most_configurations)
        throw Error("journal", fmt::format("the values of its configurations make {:.1e} combinations", product), "name the journal of one search");
    form.safe = fitting(form.tunables, configs.front()).assignments();
    return form;
}

// Where all configurations have the same tunables, `form` is one of them like any other.
SearchSpace shown_space(const std::vector<Config>& configs) {
    if (std::all_of(configs.begin(), configs.end(), [&](const Config& config) { return same_names(configs.front(), config); })) {
        FormSpace only = shown_form(configs);
        return {std::move(only.tunables), {}, std::move(only.safe)};
    }
    std::vector<FormSpace> forms;
    for (const Config& config : configs) {
        const std::string& name = config.word(form_tunable);
        if (std::any_of(forms.begin(), forms.end(), [&](const FormSpace& form) { return form.name == name; })) continue;
        std::vector<Config> own;
        for (const Config& other : configs)
            if (same_form(other, config)) own.emplace_back(std::vector<Assignment>(other.assignments().begin() + 1, other.assignments().end()));
        forms.push_back(shown_form(own));
        forms.back().name = name;
    }
    const std::string first = forms.front().name;
    return {std::move(forms), first};
}

MeasuredSpace placed(SearchSpace space, const std::vector<Config>& configs, const std::vector<double>& costs, bool whole) {
    MeasuredSpace measured{std::move(space), {}, whole};
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        const std::int64_t index = measured.space.index_of(measured.space.completed(fitting(measured.space.tunables(), configs[i])));
        if (seen.insert(index).second) measured.costs.push_back({index, costs[i]});
    }
    return measured;
}

}  // namespace

int TuningStory::evaluations_to(double part) const {
    for (const Improvement& improvement : improvements)
        if (improvement.cost <= best() * (1 + part)) return improvement.evaluation;
    return 0;
}

double TuningStory::late_gain() const {
    const int late = evaluations - evaluations / 3;
    double before = 0;
    for (const Improvement& improvement : improvements)
        if (improvement.evaluation <= late) before = improvement.cost;
    return before > 0 ? 1 - best() / before : 0;
}

TuningStory story_of(const JournalText& journal) {
    TuningStory story;
    story.objective = parse_objective(journal.run.objective);
    Tally tally;
    std::set<std::string> seen;
    for (const JournalEntry& entry : journal.entries) {
        story.elapsed = std::max(story.elapsed, entry.elapsed);
        story.complete = entry.kind == JournalEntry::Kind::done;
        if (entry.kind != JournalEntry::Kind::evaluation) continue;
        story.compile_seconds += entry.outcome.compile_seconds;
        story.verify_seconds += entry.outcome.verify_seconds;
        story.measure_seconds += entry.outcome.measure_seconds;
        if (is_finalist(entry) || !seen.insert(entry.config).second) continue;
        ++story.evaluations;
        if (entry.outcome.measured()) {
            add_measured(story, entry);
        } else {
            tally.add(entry.outcome);
        }
        if (story.evaluations == 1 && !story.measured.empty()) story.safe = story.measured.front().cost;
    }
    std::stable_sort(story.measured.begin(), story.measured.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
    story.failures = tally.sorted();
    return story;
}

std::vector<CostBin> cost_histogram(const TuningStory& story) {
    constexpr std::array<double, 9> edges{1.01, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10};
    std::vector<CostBin> bins;
    double low = 1;
    for (const double high : edges) {
        bins.push_back({low, high, 0});
        low = high;
    }
    bins.push_back({low, std::numeric_limits<double>::infinity(), 0});
    for (const auto& measured : story.measured)
        for (CostBin& bin : bins) {
            if (measured.cost > bin.high * story.best()) continue;
            ++bin.count;
            break;
        }
    while (!bins.empty() && bins.back().count == 0) bins.pop_back();
    return bins;
}

Config config_in(const SearchSpace& space, const std::string& key) {
    return space.completed(fitting(space.tunables(), Config::parsed(key)));
}

MeasuredSpace measured_space(const TuningStory& story, const std::string& problem, const Families& families, const Limits& limits) {
    if (story.measured.empty()) return {};
    std::vector<Config> configs;
    std::vector<double> costs;
    for (const auto& measured : story.measured) {
        Config config = Config::parsed(measured.config);
        // One that has other tunables than those of its form before is of no space with them.
        const auto before = std::find_if(configs.begin(), configs.end(), [&](const Config& other) { return same_form(other, config); });
        if (before != configs.end() && !same_names(*before, config)) continue;
        configs.push_back(std::move(config));
        costs.push_back(measured.cost);
    }
    try {
        const Problem parsed = families.parse_problem(problem);
        return placed(families.of(parsed).space(parsed, limits), configs, costs, true);
    } catch (const Error&) {
        // An application's family, or a space that has changed since.
    }
    return placed(shown_space(configs), configs, costs, false);
}

std::vector<MeasuredCost> tempered(std::vector<MeasuredCost> costs) {
    constexpr double most = 5;
    if (costs.empty()) return costs;
    std::vector<double> sorted;
    sorted.reserve(costs.size());
    for (const MeasuredCost& cost : costs) sorted.push_back(cost.cost);
    std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
    const double bound = most * sorted[sorted.size() / 2];
    for (MeasuredCost& cost : costs) cost.cost = std::min(cost.cost, bound);
    return costs;
}

std::vector<Neighbour> neighbours_of(const Config& winner, const MeasuredSpace& measured, const CostModel* model) {
    const auto cost_at = [&](std::int64_t index) {
        const auto found = std::find_if(measured.costs.begin(), measured.costs.end(), [&](const MeasuredCost& cost) { return cost.index == index; });
        return found == measured.costs.end() ? 0 : found->cost;
    };
    const std::int64_t index = measured.space.index_of(winner);
    const double here = cost_at(index) > 0 ? cost_at(index) : model != nullptr ? model->predict(index).cost : 0;
    std::vector<Neighbour> neighbours;
    if (!(here > 0)) return neighbours;
    const auto& tunables = measured.space.tunables();
    const FormSpace* const form = measured.space.form_of(winner);
    if (form == nullptr) return neighbours;
    for (std::size_t d = 0; d < tunables.size(); ++d) {
        const auto own =
            std::find_if(form->tunables.begin(), form->tunables.end(), [&](const Tunable& tunable) { return tunable.name == tunables[d].name; });
        if (own == form->tunables.end()) continue;  // `form` itself, or a tunable of another form
        for (const Value& value : own->values) {
            std::vector<Assignment> assignments = winner.assignments();
            const auto changed = std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& one) { return one.name == own->name; });
            if (changed->value == value) continue;
            changed->value = value;
            const Config config(std::move(assignments));
            Neighbour neighbour{.tunable = d, .value = value};
            const std::int64_t place = measured.space.index_of(config);
            if (const double cost = cost_at(place); cost > 0) {
                neighbour.kind = Neighbour::Kind::measured;
                neighbour.ratio = cost / here;
            } else if (const auto rejection = measured.space.check(config)) {
                neighbour.reason = rejection->constraint + ": " + rejection->reason;
            } else if (model != nullptr) {
                const CostModel::Prediction prediction = model->predict(place);
                neighbour.kind = Neighbour::Kind::predicted;
                neighbour.ratio = prediction.cost / here;
                neighbour.low = prediction.low / here;
                neighbour.high = prediction.high / here;
                neighbour.improvement = prediction.improvement(here);
            } else {
                continue;
            }
            neighbours.push_back(std::move(neighbour));
        }
    }
    return neighbours;
}

}  // namespace hone::tools
