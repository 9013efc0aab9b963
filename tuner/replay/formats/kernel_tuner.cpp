#include "tuner/replay/formats/kernel_tuner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/replay/formats/json_slices.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double milli = 1e3;            // milliseconds of a second
constexpr double old_failure = 1e20;     // what old files write as the time of an invalid configuration
constexpr double shortest_time = 1e-12;  // milliseconds; less than light needs for a micrometre
constexpr double longest_time = 1e12;    // thirty years
constexpr std::size_t longest_kernel_tuner_text = 1 << 16;
constexpr const char* format = "a cache file of Kernel Tuner has device_name, kernel_name, tune_params_keys, tune_params and cache";

constexpr std::array<std::pair<const char*, Status>, 6> failures{{
    {"CompilationFailedConfig", Status::compile_failed},
    {"RuntimeFailedConfig", Status::launch_failed},
    {"InvalidConfig", Status::launch_failed},
    {"NaN", Status::launch_failed},  // the reader puts these in quotation marks
    {"Infinity", Status::launch_failed},
    {"-Infinity", Status::launch_failed},
}};

// The parts of a file, as they were found.
struct Parts {
    RecordedTitle title;
    std::vector<std::string> names;
    std::vector<RecordedParameter> parameters;  ///< in the order of tune_params
    std::string_view cache;
    int cache_line = 0;
};

std::string text_or_empty(const JsonPlace& place) {
    return place.is_null() ? "" : place.string(longest_kernel_tuner_text);
}

// One objective, or a list of them since version 1.4.
std::string read_objective(const JsonPlace& place) {
    if (place.node().kind != JsonNode::Kind::array) return text_or_empty(place);
    std::string objectives;
    for (std::size_t i = 0; i < place.elements(); ++i) objectives += (i == 0 ? "" : ", ") + place[i].string(longest_kernel_tuner_text);
    return objectives;
}

std::vector<std::string> read_names(const JsonPlace& place) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < place.elements(); ++i) names.push_back(place[i].string(longest_kernel_tuner_text));
    return names;
}

std::vector<RecordedParameter> read_parameters(const JsonPlace& place) {
    std::vector<RecordedParameter> parameters;
    for (const auto& member : place.members()) {
        RecordedParameter parameter{member.name, {}};
        const JsonPlace values = place[member.name];
        for (std::size_t i = 0; i < values.elements(); ++i)
            add_value(parameter, written_value(values[i]));  // a list that names a value twice means it once
        parameters.push_back(std::move(parameter));
    }
    return parameters;
}

void read_part(Parts& parts, const std::string& name, std::string_view text, int line, const std::string& file) {
    if (name == "cache") {
        parts.cache = text;
        parts.cache_line = line;
        return;
    }
    const JsonNode node = parse_json(text, file, line);
    const JsonPlace place(node, file, name);
    if (name == "device_name") parts.title.device = text_or_empty(place);
    if (name == "kernel_name") parts.title.kernel = text_or_empty(place);
    if (name == "problem_size" && !place.is_null()) parts.title.problem_size = write_json(node);
    if (name == "objective") parts.title.objective = read_objective(place);
    if (name == "tune_params_keys") parts.names = read_names(place);
    if (name == "tune_params") parts.parameters = read_parameters(place);
}

// A parameter of that name could not be told from the field of an entry.
void refuse_field(const std::string& name, const std::string& where) {
    for (const char* field : {"time", "times", "__error__", "compile_time", "verification_time", "benchmark_time"})
        if (name == field)
            throw Error(where, "a parameter is named " + name, "Kernel Tuner has a field of that name: give the parameter another one");
}

// The parameters in the order of the keys.
std::vector<RecordedParameter> ordered(const Parts& parts, const std::string& file) {
    std::vector<RecordedParameter> parameters;
    std::set<std::string> seen;
    for (const auto& name : parts.names) {
        refuse_field(name, file);
        const auto found =
            std::find_if(parts.parameters.begin(), parts.parameters.end(), [&](const auto& parameter) { return parameter.name == name; });
        if (found == parts.parameters.end())
            throw Error(file, "tune_params has no " + name + ", which tune_params_keys names", "add its list of values");
        if (!seen.insert(name).second) throw Error(file, "tune_params_keys names " + name + " twice", "remove one");
        parameters.push_back(*found);
    }
    for (const auto& parameter : parts.parameters)
        if (!seen.contains(parameter.name))
            throw Error(file, "tune_params_keys does not name " + parameter.name + ", which tune_params has", "add it");
    return parameters;
}

Parts read_parts(std::string_view text, const std::string& file) {
    Parts parts;
    JsonSlices members(text, file, '{', 1);
    std::set<std::string> seen;
    while (members.next(true)) {
        if (!seen.insert(members.name()).second)
            throw Error(fmt::format("{}:{}", file, members.line()), members.name() + " stands twice", "remove one");
        read_part(parts, members.name(), members.text(), members.line(), file);
    }
    parts.title.cut = members.cut();
    if (!members.cut() && members.rest().find_first_not_of(" \t\r\n") != std::string_view::npos)
        throw Error(file, "something follows the closing brace", "remove it");
    if (parts.cache.empty()) throw Error(file, "it has no \"cache\"", format);
    if (parts.names.empty()) throw Error(file, "it has no \"tune_params_keys\"", format);
    return parts;
}

bool is_number(const JsonPlace& place) {
    return place.node().kind == JsonNode::Kind::integer || place.node().kind == JsonNode::Kind::real;
}

double milliseconds(const JsonPlace& place, const char* name) {
    const auto found = place.find(name);
    return found && is_number(*found) ? found->number(0, longest_time) / milli : 0;
}

std::vector<double> read_times(const JsonPlace& entry) {
    std::vector<double> samples;
    if (const auto times = entry.find("times"))
        for (std::size_t i = 0; i < times->elements(); ++i)
            if (is_number((*times)[i])) samples.push_back((*times)[i].number(0, longest_time) / milli);
    return samples;
}

Outcome invalid(const JsonPlace& error) {
    if (is_number(error)) return failure(Status::launch_failed, fmt::format("time is {}", error.node().text));
    const std::string& word = error.string(longest_kernel_tuner_text);
    for (const auto& [known, status] : failures)
        if (word == known) return failure(status, word);
    error.fail("is " + json_string(word),
               "an invalid configuration has CompilationFailedConfig, RuntimeFailedConfig or InvalidConfig as its time or its __error__");
}

// What an entry came to: its time. Where the objective is another one, a failure stands in its
// place, and there is no time then.
JsonPlace result_of(const JsonPlace& entry, const std::string& objective) {
    if (const auto time = entry.find("time")) return *time;
    const auto other = entry.find(objective);
    if (other && !is_number(*other)) return *other;
    if (other) entry.fail("has a " + objective + " and no time", "only times can be replayed");
    return entry["time"];
}

Outcome read_outcome_of(const JsonPlace& entry, const std::string& objective) {
    Outcome outcome;
    if (const auto error = entry.find("__error__"); error && !error->is_null()) {
        outcome = invalid(*error);
    } else if (const JsonPlace time = result_of(entry, objective); is_number(time) && time.node().real < old_failure) {
        outcome = measurement(time.number(shortest_time, longest_time) / milli, read_times(entry));
    } else {
        outcome = invalid(time);
    }
    outcome.compile_seconds = milliseconds(entry, "compile_time");
    outcome.verify_seconds = milliseconds(entry, "verification_time");
    outcome.measure_seconds = milliseconds(entry, "benchmark_time");
    return outcome;
}

// Whether the key holds these values. One that is spelt otherwise but equal (1.0 for 1) is as good.
bool is_key_of(const std::string& key, const std::vector<std::string>& written) {
    std::string expected;
    for (const auto& value : written) expected += (expected.empty() ? "" : ",") + python_value(value);
    if (key == expected) return true;
    std::string_view rest = key;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const std::string part(rest.substr(0, rest.find(',')));
        if ((part.size() == rest.size()) != (i + 1 == written.size())) return false;
        const std::string json = part == "True" ? "true" : part == "False" ? "false" : written_of(part);
        if (part != python_value(written[i]) && !ValuePositions({"", {json}}).find(written[i])) return false;
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    return true;
}

// What the keys of a file may hold.
class Keys {
  public:
    explicit Keys(const std::vector<RecordedParameter>& parameters) : parameters_(&parameters), positions_(parameters.begin(), parameters.end()) {
        for (const auto& parameter : parameters) {
            texts_.emplace_back();
            for (const auto& written : parameter.written) texts_.back().push_back(python_value(written));
        }
    }

    // The values in a key, as the parameters' lists have them; nothing when the key is of others. A
    // text may have commas of its own, so it is looked for; a number that is spelt otherwise ends
    // at the next comma.
    std::optional<std::vector<std::string>> values(std::string_view key) const {
        std::vector<std::string> written;
        for (std::size_t d = 0; d < texts_.size(); ++d) {
            const bool last = d + 1 == texts_.size();
            const auto ends_at = [&](std::size_t end) { return last ? end == key.size() : end < key.size() && key[end] == ','; };
            const auto found = std::find_if(texts_[d].begin(), texts_[d].end(),
                                            [&](const std::string& text) { return key.starts_with(text) && ends_at(text.size()); });
            const std::string part(found != texts_[d].end() ? std::string_view(*found) : key.substr(0, key.find(',')));
            const auto place =
                found != texts_[d].end() ? std::optional<std::size_t>(found - texts_[d].begin()) : positions_[d].find(written_of(part));
            if (!place || !ends_at(part.size())) return std::nullopt;
            written.push_back((*parameters_)[d].written[*place]);
            key.remove_prefix(part.size() + (last ? 0 : 1));
        }
        return written;
    }

  private:
    const std::vector<RecordedParameter>* parameters_;
    std::vector<ValuePositions> positions_;
    std::vector<std::vector<std::string>> texts_;  // [parameter][value]: as Python prints it
};

// The values of an entry: its own fields, or where it has none of them, those of its key.
std::vector<std::string> read_values(const JsonPlace& entry, const std::string& key, const std::vector<RecordedParameter>& parameters,
                                     const Keys& keys) {
    const bool none = std::none_of(parameters.begin(), parameters.end(), [&](const auto& parameter) { return entry.find(parameter.name); });
    if (none) {
        if (auto values = keys.values(key)) return *std::move(values);
        entry.fail("has no values, and those of its key are not in the lists of tune_params", "correct the key");
    }
    std::vector<std::string> written;
    written.reserve(parameters.size());
    for (const auto& parameter : parameters) written.push_back(written_value(entry[parameter.name]));
    if (!is_key_of(key, written)) entry.fail("does not have the values of its key", "correct either");
    return written;
}

RecordedColumns read_cache(const Parts& parts, const std::vector<RecordedParameter>& parameters, const std::string& file) {
    RecordedColumns columns;
    const RecordedIndex index(parameters);
    const Keys keys(parameters);
    const std::string objective = parts.title.objective.substr(0, parts.title.objective.find(", "));
    JsonSlices entries(parts.cache, file, '{', parts.cache_line);
    while (entries.next()) {
        const JsonNode node = parse_json(entries.text(), file, entries.line());
        const JsonPlace entry(node, file, "cache[" + json_string(entries.name()) + "]");
        const Outcome outcome = read_outcome_of(entry, objective);
        const double cost = outcome.measured() ? entry["time"].number(shortest_time, longest_time) / milli : infinity;
        columns.add(index.of(read_values(entry, entries.name(), parameters, keys), entry.where()), cost, outcome);
    }
    if (columns.size() == 0) throw EmptySpaceError(fmt::format("{}:{}", file, parts.cache_line), "the cache is empty", "there is nothing to search");
    return columns;
}

// The format's time is the mean of the times. The cost stands for it where it is that but for
// rounding, so that files come back unchanged.
std::string time_json(const RecordedConfiguration& configuration) {
    constexpr double rounding = 1e-9;
    const auto& samples = configuration.outcome.samples;
    const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
    return milliseconds_json(std::abs(mean - configuration.cost) <= rounding * configuration.cost ? configuration.cost : mean);
}

std::string failure_word(const Outcome& outcome) {
    for (const auto& [word, status] : failures)
        if (outcome.reason == word && outcome.reason.ends_with("Config")) return word;
    return outcome.status == Status::compile_failed ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

std::string entry_text(const RecordedSpace& recorded, const RecordedConfiguration& configuration, const std::vector<std::size_t>& places) {
    std::string key;
    std::string values;
    for (std::size_t d = 0; d < places.size(); ++d) {
        const auto& [name, written] = recorded.parameters()[d];
        key += (d == 0 ? "" : ",") + python_value(written[places[d]]);
        values += fmt::format("{}: {}, ", json_string(name), written[places[d]]);
    }
    const Outcome& outcome = configuration.outcome;
    std::string text = fmt::format("{}: {{{}\"time\": {}", json_string(key), values,
                                   outcome.measured() ? time_json(configuration) : json_string(failure_word(outcome)));
    if (outcome.measured()) {
        text += ", \"times\": [";
        for (const double& sample : outcome.samples) text += (&sample == outcome.samples.data() ? "" : ", ") + milliseconds_json(sample);
        text += "]";
    }
    return text + fmt::format(R"(, "compile_time": {}, "verification_time": {}, "benchmark_time": {}}})", milliseconds_json(outcome.compile_seconds),
                              milliseconds_json(outcome.verify_seconds), milliseconds_json(outcome.measure_seconds));
}

// The extents of a problem of hone's, in the order of its family; 0 is no size, it leaves one to
// the family.
std::string extents_json(const std::string& kernel, const Families& families) {
    if (!families.has(kernel.substr(0, kernel.find(' ')))) return "";
    try {
        const Problem problem = families.parse_problem(kernel);
        std::string sizes;
        for (const auto& name : problem.extents())
            if (const std::int64_t size = problem.integer(name); size != 0) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
        return sizes.empty() ? "" : "[" + sizes + "]";
    } catch (const Error&) {
        return "";  // of another version of the family
    }
}

std::string problem_size_json(const RecordedTitle& title, const Families& families) {
    if (!title.problem_size.empty()) return title.problem_size;
    const std::string extents = extents_json(title.kernel, families);
    return extents.empty() ? "\"callable\"" : extents;
}

}  // namespace

RecordedSpace parse_kernel_tuner(std::string_view text, const std::string& file, const std::string& name) {
    Parts parts = read_parts(text, file);
    const std::vector<RecordedParameter> parameters = ordered(parts, file);
    check_product(parameters, file);
    parts.title.name = name;
    RecordedColumns configurations = read_cache(parts, parameters, file);
    return {std::move(parts.title), parameters, std::move(configurations)};
}

std::string kernel_tuner_text(const RecordedSpace& recorded, const Families& families) {
    const RecordedTitle& title = recorded.title();
    std::string names;
    std::string lists;
    for (const auto& [name, written] : recorded.parameters()) {
        refuse_field(name, "Kernel Tuner's format");
        names += (names.empty() ? "" : ", ") + json_string(name);
        lists += fmt::format("{}{}: [{}]", lists.empty() ? "" : ", ", json_string(name), fmt::join(written, ", "));
    }
    std::string text = fmt::format(
        "{{\"device_name\": {},\n\"kernel_name\": {},\n\"problem_size\": {},\n\"tune_params_keys\": [{}],\n\"tune_params\": {{{}}},\n"
        "\"objective\": \"time\",\n\"cache\": {{",
        json_string(title.device), json_string(title.kernel), problem_size_json(title, families), names, lists);
    for (const std::int64_t index : recorded.members())
        text +=
            fmt::format("{}\n{}", index == recorded.members().front() ? "" : ",", entry_text(recorded, recorded.at(index), recorded.places(index)));
    return text + "}\n}\n";
}

}  // namespace hone::inline v0_1
