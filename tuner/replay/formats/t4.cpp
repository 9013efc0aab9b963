#include "tuner/replay/formats/t4.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/replay/formats/json_slices.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double shortest_time = 1e-15;  // seconds; less than light needs for a micrometre
constexpr double longest_time = 1e9;     // thirty years
constexpr double rounding = 1e-3;        // of a mean beside the runs that it is of
constexpr std::size_t longest_t4_text = 1 << 16;

struct Invalidity {
    const char* word;
    Status status;
};
constexpr std::array<Invalidity, 6> invalidities{{{"correct", Status::measured},
                                                  {"compile", Status::compile_failed},
                                                  {"runtime", Status::launch_failed},
                                                  {"correctness", Status::wrong},
                                                  {"timeout", Status::timed_out},
                                                  {"constraints", Status::launch_failed}}};

// The word of Kernel Tuner for what breaks a rule of the device: its own T4 files call it
// "constraints".
constexpr const char* rule_broken = "InvalidConfig";

struct Cost {
    double seconds = 0;
    double unit = 1;  ///< how many make a second
};

// What Python writes where it has no number; the reader has put them in quotation marks.
bool is_no_number(const JsonPlace& place) {
    return place.is_null() || place.node().kind == JsonNode::Kind::string;
}

// A measurement's own unit; where it names none, that of the file's metadata, which is of times.
std::string unit_of(const JsonPlace& measurement, const std::string& time_unit) {
    const auto unit = measurement.find("unit");
    std::string own = unit && !unit->is_null() ? unit->string(longest_t4_text) : "";
    if (!own.empty()) return own;
    const auto name = measurement.find("name");
    return name && name->string(longest_t4_text).starts_with("time") ? time_unit : "";
}

Cost cost_of(const JsonPlace& measurement, const std::string& time_unit) {
    const std::string unit = unit_of(measurement, time_unit);
    const auto count = units_per_second(unit);
    if (!count)
        measurement.fail(unit.empty() ? "has no unit, nor is it a time with the file's metadata.timeunit" : "has the unit " + json_string(unit),
                         "only times can be replayed: nanoseconds, microseconds, milliseconds, seconds");
    return {measurement["value"].number(shortest_time * *count, longest_time * *count) / *count, *count};
}

std::string objective_of(const JsonPlace& result) {
    const auto objectives = result.find("objectives");
    return objectives && objectives->elements() > 0 ? (*objectives)[0].string(longest_t4_text) : "";
}

// The mean of the single runs, where these have a unit.
std::optional<Cost> mean_of_runs(const JsonPlace& result, const std::string& time_unit) {
    const auto unit = units_per_second(time_unit);
    const auto runs = result["times"].find("runtimes");
    if (!unit || !runs || runs->is_null()) return std::nullopt;
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < runs->elements(); ++i)
        if (!is_no_number((*runs)[i])) sum += (*runs)[i].number(0, longest_time * *unit), ++count;
    if (!(sum > 0)) return std::nullopt;
    return Cost{sum / static_cast<double>(count) / *unit, *unit};
}

// The objective's measurement if it is a time, else the first that is one, else the mean of the
// runs. Nothing where what is wanted is no number.
std::optional<Cost> read_cost(const JsonPlace& result, const std::string& time_unit) {
    const JsonPlace measurements = result["measurements"];
    const std::string wanted = objective_of(result);
    std::optional<JsonPlace> found, a_time;
    for (std::size_t i = 0; i < measurements.elements(); ++i) {
        const JsonPlace measurement = measurements[i];
        const auto name = measurement.find("name");
        if (!found && !wanted.empty() && name && name->string(longest_t4_text) == wanted) found.emplace(measurement);
        if (!a_time && units_per_second(unit_of(measurement, time_unit))) a_time.emplace(measurement);
    }
    const bool found_time = found && units_per_second(unit_of(*found, time_unit));
    if (found && is_no_number((*found)["value"])) return std::nullopt;
    if (found_time) return cost_of(*found, time_unit);
    if (a_time && wanted != "time") return is_no_number((*a_time)["value"]) ? std::nullopt : std::optional(cost_of(*a_time, time_unit));
    if (auto mean = mean_of_runs(result, time_unit); mean && wanted != "time") return mean;
    if (found) return cost_of(*found, time_unit);
    measurements.fail(wanted.empty() ? "has no time" : "has no " + wanted + ", the objective", "a correct configuration has a measured time");
}

// The single runs, when the measured time lies among them: files exist where the two have different
// units.
std::vector<double> read_runs(const JsonPlace& times, const Cost& cost) {
    std::vector<double> runs;
    const auto place = times.find("runtimes");
    if (!place || place->is_null()) return runs;
    for (std::size_t i = 0; i < place->elements(); ++i)
        if (!is_no_number((*place)[i])) runs.push_back((*place)[i].number(0, longest_time * cost.unit) / cost.unit);
    if (runs.empty()) return runs;
    const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
    if (cost.seconds < *least * (1 - rounding) || cost.seconds > *most * (1 + rounding)) runs.clear();
    return runs;
}

double read_seconds(const JsonPlace& times, std::initializer_list<const char*> names, double unit) {
    for (const char* name : names)
        if (const auto found = times.find(name); found && !is_no_number(*found)) return found->number(0, longest_time * unit) / unit;
    return 0;
}

RecordedConfiguration read_outcome_of(const JsonPlace& result, const std::string& time_unit) {
    RecordedConfiguration configuration;
    const JsonPlace place = result["invalidity"];
    const std::string& word = place.string(longest_t4_text);
    const auto* known = std::find_if(invalidities.begin(), invalidities.end(), [&](const Invalidity& row) { return word == row.word; });
    if (known == invalidities.end())
        place.fail("is " + json_string(word), "it may be correct, compile, runtime, correctness, timeout or constraints");
    if (known->status != Status::measured) {
        configuration.outcome = failure(known->status, word == "constraints" ? rule_broken : word);
        return configuration;
    }
    const std::optional<Cost> read = read_cost(result, time_unit);
    if (!read) {
        configuration.outcome = failure(Status::launch_failed, "its measurement is not a number");
        return configuration;
    }
    const Cost& cost = *read;
    const JsonPlace times = result["times"];
    configuration.cost = cost.seconds;
    configuration.outcome = measurement(cost.seconds, read_runs(times, cost));
    configuration.outcome.compile_seconds = read_seconds(times, {"compilation_time", "compilation"}, cost.unit);
    configuration.outcome.verify_seconds = read_seconds(times, {"validation"}, cost.unit);
    configuration.outcome.measure_seconds = read_seconds(times, {"benchmark"}, cost.unit);
    return configuration;
}

// The parts of a file.
struct Parts {
    std::string_view results;
    int line = 0;           // where they begin
    std::string time_unit;  // of times without a unit of their own; may be empty
};

std::string read_time_unit(std::string_view metadata, const std::string& file, int line) {
    const JsonNode node = parse_json(metadata, file, line);
    if (node.kind != JsonNode::Kind::object) return "";
    const auto unit = JsonPlace(node, file, "metadata").find("timeunit");
    return unit && !unit->is_null() ? unit->string(longest_t4_text) : "";
}

Parts read_parts(std::string_view text, const std::string& file) {
    JsonSlices members(text, file, '{', 1);
    Parts parts;
    while (members.next()) {
        if (members.name() == "results") {
            parts.results = members.text();
            parts.line = members.line();
        } else if (members.name() == "metadata") {
            parts.time_unit = read_time_unit(members.text(), file, members.line());
        }
    }
    if (members.cut()) throw Error(file, "it ends before its closing brace", "restore it from a copy");
    if (members.rest().find_first_not_of(" \t\r\n") != std::string_view::npos) throw Error(file, "something follows the closing brace", "remove it");
    return parts;
}

std::string invalidity_of(const Outcome& outcome) {
    if (outcome.reason == rule_broken) return "constraints";
    for (const auto& [word, status] : invalidities)
        if (status == outcome.status) return word;
    return "runtime";  // a crash
}

std::string result_text(const RecordedSpace& recorded, const RecordedConfiguration& configuration) {
    const std::vector<std::size_t> places = recorded.places(configuration.index);
    std::string values;
    for (std::size_t d = 0; d < places.size(); ++d)
        values +=
            fmt::format("{}{}: {}", d == 0 ? "" : ", ", json_string(recorded.parameters()[d].name), recorded.parameters()[d].written[places[d]]);
    const Outcome& outcome = configuration.outcome;
    std::string runs;
    std::string measurements;
    if (outcome.measured()) {
        for (const double sample : outcome.samples) runs += (runs.empty() ? "" : ", ") + milliseconds_json(sample);
        measurements = fmt::format(R"({{"name": "time", "value": {}, "unit": "milliseconds"}})", milliseconds_json(configuration.cost));
    }
    // The schema says compilation_time, Kernel Tuner and the methodology package compilation.
    const std::string compilation = milliseconds_json(outcome.compile_seconds);
    return fmt::format(
        R"({{"configuration": {{{}}}, "times": {{"compilation_time": {}, "compilation": {}, "benchmark": {}, "runtimes": [{}], )"
        R"("framework": 0, "search_algorithm": 0, "validation": {}}}, "invalidity": "{}", "correctness": {}, "measurements": [{}], "objectives": ["time"]}})",
        values, compilation, compilation, milliseconds_json(outcome.measure_seconds), runs, milliseconds_json(outcome.verify_seconds),
        invalidity_of(outcome), outcome.measured() ? 1 : 0, measurements);
}

}  // namespace

bool is_t4(std::string_view text) {
    try {
        JsonSlices members(text, "", '{', 1);
        while (members.next(true))
            if (members.name() == "results") return true;
    } catch (const Error&) {
        return false;  // whoever reads it says what is wrong
    }
    return false;
}

RecordedSpace parse_t4(std::string_view text, const std::string& file, const std::string& name) {
    const Parts parts = read_parts(text, file);
    std::optional<RecordedRows> rows;
    std::string objective;
    JsonSlices elements(parts.results, file, '[', parts.line);
    for (std::size_t i = 0; elements.next(); ++i) {
        const JsonNode node = parse_json(elements.text(), file, elements.line());
        const JsonPlace result(node, file, fmt::format("results[{}]", i));
        const JsonPlace values = result["configuration"];
        if (!rows) {
            std::vector<std::string> names;
            for (const auto& member : values.members()) names.push_back(member.name);
            rows.emplace(std::move(names));
            objective = objective_of(result);
        }
        if (values.members().size() != rows->names().size())
            values.fail("has other parameters than the first one", "every configuration has the same");
        std::vector<std::string> written;
        for (const auto& parameter : rows->names()) written.push_back(written_value(values[parameter]));
        const RecordedConfiguration configuration = read_outcome_of(result, parts.time_unit);
        rows->add(written, configuration.cost, configuration.outcome, result.where());
    }
    if (!rows) throw EmptySpaceError(fmt::format("{}:{}", file, parts.line), "there are no results", "there is nothing to search");
    std::vector<RecordedParameter> parameters = rows->parameters();
    check_product(parameters, file);
    RecordedColumns configurations = (*std::move(rows)).columns(parameters);
    return {{.name = name, .kernel = name, .objective = objective.empty() ? "time" : objective}, std::move(parameters), std::move(configurations)};
}

std::string t4_text(const RecordedSpace& recorded) {
    std::string text = "{\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\": \"milliseconds\"},\n\"results\": [";
    // The methodology package takes no file that begins with an invalid configuration.
    std::vector<std::int64_t> order = recorded.members();
    const auto valid = std::find_if(order.begin(), order.end(), [&](std::int64_t index) { return std::isfinite(recorded.cost(index)); });
    std::rotate(order.begin(), valid, valid + 1);
    for (const std::int64_t index : order)
        text += fmt::format("{}\n{}", index == order.front() ? "" : ",", result_text(recorded, recorded.at(index)));
    return text + "\n]}\n";
}

}  // namespace hone::inline v0_1
