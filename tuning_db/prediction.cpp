#include "tuning_db/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "foundation/error.hpp"
#include "generator/form.hpp"
#include "tuning_db/carry_over.hpp"
#include "tuning_db/device_models.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double weight_of_work = 2;
constexpr double weight_of_arithmetic = 0.25;
constexpr double same_architecture = 0.5;
constexpr double same_instruction_set = 0.75;
constexpr double another_architecture = 1;

// Neighbours that have a say in a prediction. By 59000 times that searches on an H100 left, 12 and
// the two distances above chose 1.06 times as fast as 8, 1 for arithmetic and 0.25 for a device, in
// the mean of 60 problems that they change.
constexpr std::size_t most_voices = 12;
// Neighbours of another architecture that are passed over, because their form does not exist here,
// before they count among those.
constexpr std::size_t most_passed = 24;
// By which a neighbour at distance 1 counts less than one at 0. Of 1 to 8, measured with the
// proposals of 84 problems' neighbours on an H200, 1 to 1.5 lost least: agreement of several says
// more than nearness.
constexpr double octaves_a_voice = 1.5;
constexpr double hardly = 1.04;  // a gain over the safe configuration that says: nothing to learn here
constexpr int most_tries = 1000;
constexpr std::int64_t warp = 32;
// How far a member's support falls with the time that its family counts for it. Counts are wrong by
// 13 % in the mean, and proposals of one problem lie up to three times apart.
constexpr double sharpness = 3;
// The distance of a neighbour that the rules of a family that counts are as good as: of 49 products
// on an H200 they had 0.92 of the tuned rate in the mean, proposals of neighbours 0.93.
constexpr double of_rules = 1;

// Some parameters say what a kernel computes at each point, beside how exactly and on how much:
// another stencil keeps other sums, another kernel reads other arrays. What is strict serves where
// less is asked, as the same kernel.
double weight_of_word(const std::string& parameter) {
    if (parameter == "kernel" || parameter == "stencil" || parameter == "result") return weight_of_work;
    return parameter == "arithmetic" ? weight_of_arithmetic : 1;
}

double octaves(std::int64_t a, std::int64_t b) {
    return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(a, 1))) - std::log2(static_cast<double>(std::max<std::int64_t>(b, 1))));
}

const Value* find(const std::vector<Assignment>& assignments, const std::string& name) {
    const auto found = std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& a) { return a.name == name; });
    return found == assignments.end() ? nullptr : &found->value;
}

// How different two values of a tunable are: words 1 or 0, numbers up to 1 over four octaves, and
// never less than a quarter.
double difference(const Value& a, const Value& b) {
    if (a == b) return 0;
    const auto* const x = std::get_if<std::int64_t>(&a);
    const auto* const y = std::get_if<std::int64_t>(&b);
    if (x == nullptr || y == nullptr) return 1;
    return std::clamp(octaves(*x, *y) / 4, 0.25, 1.0);
}

// A tunable that one of them does not have, because it is of another form, differs as much as two
// words.
double difference(const Config& a, const Config& b) {
    double sum = 0;
    for (const Assignment& own : a.assignments()) {
        const Value* const other = b.find(own.name);
        sum += other == nullptr ? 1 : difference(own.value, *other);
    }
    return sum;
}

// The nearest of a tunable's values; `fallback` for a word that it does not have, which says
// nothing.
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

double device_distance(const Record& record, const DeviceFingerprint& device) {
    if (device_key(record.device) == device_key(device)) return 0;
    if (record.device.architecture == device.architecture) return same_architecture;
    if (instruction_set(record.device) == instruction_set(device)) return same_instruction_set;
    return another_architecture + device_difference(record, device);
}

// How much a neighbour's word counts.
double voice(double distance) {
    return std::exp2(-octaves_a_voice * distance);
}

struct Alternative {
    double difference;
    const Value* value;
};

// All other values of each of a form's tunables, those that differ least from the wished one first.
// None for `form`, if the wish begins with it.
std::vector<std::vector<Alternative>> alternatives_of(const FormSpace& form, const std::vector<Assignment>& wish) {
    std::vector<std::vector<Alternative>> all(wish.size());
    const std::size_t before = wish.size() - form.tunables.size();
    for (std::size_t i = before; i < wish.size(); ++i) {
        for (const Value& value : form.tunables[i - before].values)
            if (value != wish[i].value) all[i].push_back({difference(value, wish[i].value), &value});
        std::stable_sort(all[i].begin(), all[i].end(), [](const auto& a, const auto& b) { return a.difference < b.difference; });
    }
    return all;
}

// Some of the values changed: of tunables in ascending order, each to one of its alternatives.
struct Change {
    struct Step {
        std::size_t tunable, alternative;
    };
    double difference = 0;
    int number = 0;  // of its making: decides between equals
    std::vector<Step> steps;

    bool operator<(const Change& other) const { return std::tie(other.difference, other.number) < std::tie(difference, number); }
};

bool has_form(const SearchSpace& space, const std::string& name) {
    return std::any_of(space.forms().begin(), space.forms().end(), [&](const FormSpace& form) { return form.name == name; });
}

// Threads of a block; 0 where that is not known, as of a configuration from a file that is none of
// the space's.
std::int64_t threads_of(const SearchSpace& space, const Config& config) {
    const FormSpace* const form = space.in_product(config) ? space.form_of(config) : nullptr;
    return form != nullptr && form->resources ? form->resources(config).threads : 0;
}

// A member whose block fills a warp, where the neighbour's did and carrying values over has changed
// that: four zones of eight points make a warp, four of four points leave half of its lanes idle.
// Only a tunable that leaves a thread's registers as they are says how much a block has.
Config filling_a_warp(const SearchSpace& space, Config member, std::int64_t neighbours) {
    const std::int64_t own = threads_of(space, member);
    if (own == 0 || own >= warp || neighbours < warp) return member;
    const FormSpace& form = *space.form_of(member);
    const int registers = form.resources(member).registers;
    Config best = member;
    for (const Tunable& tunable : form.tunables)
        for (const Value& value : tunable.values) {
            std::vector<Assignment> changed = member.assignments();
            for (Assignment& assignment : changed)
                if (assignment.name == tunable.name && std::holds_alternative<std::int64_t>(assignment.value)) assignment.value = value;
            Config config(std::move(changed));
            const std::int64_t threads = threads_of(space, config);
            if (threads <= warp && threads > threads_of(space, best) && form.resources(config).registers == registers && !space.check(config))
                best = std::move(config);
        }
    return best;
}

// Blocks of a member that a multiprocessor has at once; 0 where that is not known.
std::int64_t blocks_of(const SearchSpace& space, const Config& config, const Limits& limits) {
    const FormSpace* const form = space.in_product(config) ? space.form_of(config) : nullptr;
    return form != nullptr && form->resources && traits_of(limits.target).has_blocks ? resident_blocks(form->resources(config), limits) : 0;
}

// A member whose threads leave registers for a second block, where a multiprocessor has room for
// one and the neighbour's has not: there a thread may take what it likes, and here that would leave
// half of the warps out.
Config leaving_registers(const SearchSpace& space, const Config& member, std::int64_t neighbours_blocks, const Limits& limits) {
    constexpr const char* tunable = "min_blocks";
    if (neighbours_blocks != 1 || integer_or(member, tunable, 0) != 1 || blocks_of(space, member, limits) < 2) return member;
    std::vector<Assignment> changed = member.assignments();
    for (Assignment& assignment : changed)
        if (assignment.name == tunable) assignment.value = std::int64_t{2};
    Config config(std::move(changed));
    return space.check(config) ? member : config;
}

struct Proposal {
    Config config;  ///< the record's, by the names of today
    Config member;  ///< what it proposes
};

// What a record proposes `here`. Nothing where its form does not exist here: of 71 such proposals
// that were measured, made of another form, the geometric mean had 0.61 times the tuned rate, of
// 518 others 0.81. With `any_form` it is of the safe configuration's form there, or that
// configuration itself where nothing carries over.
constexpr double of_another_form = 0.61 / 0.81;
std::optional<Proposal> proposal(const SearchSpace& here, const Neighbour& neighbour, const Families& families, const Limits& limits, bool any_form) {
    const Record& record = *neighbour.record;
    const bool other_architecture = !same_instructions(record.device, limits);
    const Limits their_limits = other_architecture ? limits_of(record.device) : limits;
    SearchSpace there;
    try {
        there = families.of(record.problem).space(record.problem, their_limits);
    } catch (const Error&) {  // sizes that cannot be, from a file: nothing to learn
        return std::nullopt;
    }
    const Config complete = there.completed(record.config);
    if (gain(record) > 0 && gain(record) < hardly) return Proposal{complete, here.safe()};
    // What the search left as it was stays as it is here. That holds within the form that both
    // begin with.
    const FormSpace* const form = there.form_of(complete);
    if (form == nullptr) return std::nullopt;
    const bool same_form = has_form(here, form->name);
    if (!same_form && !any_form) return std::nullopt;
    const bool same_entry = form == there.form_of(there.safe()) && here.form_of(here.safe())->name == form->name;
    std::vector<Assignment> assignments = complete.assignments();
    for (Assignment& own : assignments) {
        const Value* untuned = same_entry ? there.safe().find(own.name) : nullptr;
        const Value* ours = here.safe().find(own.name);
        if (untuned != nullptr && ours != nullptr && own.value == *untuned) own.value = *ours;
    }
    auto member = nearest_member(here, Config(std::move(assignments)));
    if (!member) return any_form ? std::optional(Proposal{complete, here.safe()}) : std::nullopt;
    member = filling_a_warp(here, std::move(*member), threads_of(there, complete));
    member = leaving_registers(here, *member, blocks_of(there, complete, their_limits), limits);
    if (!other_architecture) return Proposal{complete, *std::move(member)};
    const double expected = (same_form ? 1 : of_another_form) * expected_gain(families, record, neighbour.distance, here, *member, limits);
    return Proposal{complete, expected < hardly ? here.safe() : *std::move(member)};
}

// What the nearest neighbours propose, and how much each counts.
struct Proposals {
    std::vector<Source> sources;
    std::vector<double> voices;
    double weights = 0, gains = 0;  // of the neighbours whose gain is known: logarithms
};

Proposals proposals_of(const SearchSpace& space, const Families& families, const Limits& limits, const std::vector<Neighbour>& neighbours,
                       bool any_form) {
    Proposals result;
    std::size_t asked = 0, passed = 0;
    for (const Neighbour& neighbour : neighbours) {
        const auto& [record, distance] = neighbour;
        if (asked++ == most_voices) break;
        if (gain(*record) > 0) {
            result.weights += voice(distance);
            result.gains += voice(distance) * std::log(std::max(gain(*record), 1.0));
        }
        auto proposed = proposal(space, neighbour, families, limits, any_form);
        if (!proposed) {
            // Forms of another architecture may be none of this one: farther neighbours are asked.
            if (!same_instructions(record->device, limits) && ++passed <= most_passed) --asked;
            continue;
        }
        result.voices.push_back(voice(distance) * held(space, proposed->member, limits));
        result.sources.push_back({record->problem, record->device.name, distance, std::move(proposed->config), std::move(proposed->member)});
    }
    return result;
}

}  // namespace

std::optional<double> neighbour_distance(const Family& family, const Record& record, const Problem& problem, const DeviceFingerprint& device,
                                         double most) {
    if (record.problem.family() != problem.family() || record.device.target != device.target || record.of_several_devices() || !record.verified())
        return std::nullopt;
    double distance = 0;
    for (const Assignment& own : problem.parameters()) {
        const Value* theirs = find(record.problem.parameters(), own.name);
        if (theirs == nullptr) return std::nullopt;
        if (own.value == *theirs || std::find(problem.extents().begin(), problem.extents().end(), own.name) != problem.extents().end()) continue;
        const auto* const a = std::get_if<std::int64_t>(&own.value);
        const auto* const b = std::get_if<std::int64_t>(theirs);
        if (a != nullptr && b != nullptr)
            distance += octaves(*a, *b);
        else
            distance += weight_of_word(own.name);
    }
    distance += scale_distance(scale_of(family, record.problem), scale_of(family, problem)).total();
    if (distance <= most) distance += device_distance(record, device);
    return distance <= most ? std::optional(distance) : std::nullopt;
}

void sort_neighbours(std::vector<Neighbour>& neighbours) {
    std::stable_sort(neighbours.begin(), neighbours.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.distance != b.distance ? a.distance < b.distance : stands_before(*a.record, *b.record);
    });
}

std::optional<Config> nearest_member(const SearchSpace& space, const Config& config) {
    const Config complete = space.completed(config);
    // Of the same form, where this space has it.
    const FormSpace* form = space.form_of(complete);
    if (form == nullptr) form = space.form_of(space.safe());
    if (form == nullptr) return space.safe();
    std::vector<Assignment> wish = space.form_of(space.safe()) == form ? space.safe().assignments() : space.entry(*form).assignments();
    const std::size_t before = wish.size() - form->tunables.size();
    for (std::size_t i = before; i < wish.size(); ++i)
        if (const Value* wanted = complete.find(wish[i].name)) wish[i].value = nearest_value(form->tunables[i - before], *wanted, wish[i].value);
    const auto alternatives = alternatives_of(*form, wish);
    // Changes in the order of their difference: a change's successors, which differ more, take a
    // later alternative of its last tunable, or one of a later tunable, too. So each comes once.
    std::priority_queue<Change> queue;
    queue.push({});
    int made = 0;
    for (int tries = 0; tries < most_tries && !queue.empty(); ++tries) {
        const Change change = queue.top();
        queue.pop();
        std::vector<Assignment> assignments = wish;
        for (const auto& [tunable, alternative] : change.steps) assignments[tunable].value = *alternatives[tunable][alternative].value;
        Config candidate(std::move(assignments));
        if (!space.check(candidate)) return candidate;
        if (!change.steps.empty()) {
            const auto& [tunable, alternative] = change.steps.back();
            if (alternative + 1 < alternatives[tunable].size()) {
                Change later = change;
                later.difference += alternatives[tunable][alternative + 1].difference - alternatives[tunable][alternative].difference;
                later.number = ++made;
                ++later.steps.back().alternative;
                queue.push(std::move(later));
            }
        }
        for (std::size_t tunable = change.steps.empty() ? 0 : change.steps.back().tunable + 1; tunable < wish.size(); ++tunable) {
            if (alternatives[tunable].empty()) continue;
            Change further = change;
            further.difference += alternatives[tunable].front().difference;
            further.number = ++made;
            further.steps.push_back({tunable, 0});
            queue.push(std::move(further));
        }
    }
    return std::nullopt;
}

std::optional<Prediction> predict(const Families& families, const Problem& problem, const Limits& limits, const std::vector<Neighbour>& neighbours) {
    const SearchSpace space = families.of(problem).space(problem, limits);
    Proposals proposals = proposals_of(space, families, limits, neighbours, false);
    // Where another architecture's forms are none of this one, they say a little all the same.
    if (proposals.sources.empty() && !neighbours.empty() && !same_instructions(neighbours.front().record->device, limits))
        proposals = proposals_of(space, families, limits, neighbours, true);
    auto& [sources, voices, weights, gains] = proposals;
    if (sources.empty()) return std::nullopt;
    if (weights > 0 && gains / weights <= lost_a_unit * sources.front().distance) return Prediction{space.safe(), std::move(sources)};
    // Rules that have chosen the safe configuration propose it as a neighbour does.
    const bool safe_too = space.form_of(space.safe())->ruled;
    std::vector<const Config*> candidates;
    candidates.reserve(sources.size() + 1);
    for (const Source& source : sources) candidates.push_back(&source.member);
    if (safe_too) candidates.push_back(&space.safe());
    double least = std::numeric_limits<double>::infinity();
    for (const Config* const candidate : candidates)
        if (const double count = counted(space, *candidate); count > 0) least = std::min(least, count);
    const Config* best = candidates.front();
    double most = 0;
    for (const Config* const candidate : candidates) {
        double support = safe_too ? voice(of_rules) / (1 + difference(*candidate, space.safe())) : 0;
        for (std::size_t i = 0; i < sources.size(); ++i) support += voices[i] / (1 + difference(*candidate, sources[i].member));
        if (const double count = counted(space, *candidate); count > 0) support *= std::pow(least / count, sharpness);
        if (support <= most) continue;
        most = support;
        best = candidate;
    }
    Config config = *best;
    return Prediction{std::move(config), std::move(sources)};
}

}  // namespace hone::inline v0_1
