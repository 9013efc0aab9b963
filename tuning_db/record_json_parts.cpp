#include "tuning_db/record_json_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "foundation/json.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {

using namespace json_bounds;

namespace {

std::string value_json(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    return json_string(std::get<std::string>(value));
}

}  // namespace

std::string assignments_json(const std::vector<Assignment>& assignments) {
    std::string text;
    for (const auto& assignment : assignments)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_string(assignment.name), value_json(assignment.value));
    return "{" + text + "}";
}

// A name or word as it can stand in a key such as `block_x=32,block_y=8`.
const std::string& plain_word(const JsonPlace& place, const std::string& word) {
    const auto plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("_-+.:/").find(c) != std::string_view::npos;
    };
    if (word.empty() || word.size() > longest_name || !std::all_of(word.begin(), word.end(), plain))
        place.fail("is or has a name that is not a plain word", "use letters, digits and _-+.:/ only");
    return word;
}

std::vector<Assignment> read_assignments(const JsonPlace& place) {
    std::vector<Assignment> assignments;
    for (const auto& member : place.members()) {
        const JsonPlace value = place[plain_word(place, member.name)];
        if (member.kind == JsonNode::Kind::integer) {
            assignments.push_back({member.name, member.integer});
        } else if (member.kind == JsonNode::Kind::string) {
            assignments.push_back({member.name, plain_word(value, member.text)});
        } else {
            value.fail("is neither a whole number nor a word", "a parameter has one of these");
        }
    }
    return assignments;
}

DeviceFingerprint read_device(const JsonPlace& place) {
    place.only({"target", "name", "architecture", "units", "driver", "compiler"});
    DeviceFingerprint device;
    const std::string target = place["target"].string(longest_name);
    if (target != to_string(Target::cpu) && target != to_string(Target::cuda)) place["target"].fail("is " + json_string(target), "use cuda or cpu");
    device.target = parse_target(target);
    device.name = place["name"].string(longest_text);
    device.architecture = place["architecture"].string(longest_name);
    device.units = static_cast<int>(place["units"].integer(0, 1'000'000));
    device.driver = place["driver"].string(longest_text);
    device.compiler = place["compiler"].string(longest_text);
    return device;
}

Statistics read_statistics(const JsonPlace& place, double least, double most) {
    place.only({"median", "low", "high", "minimum", "samples"});
    Statistics step;
    step.median = place["median"].number(least, most);
    step.low = place["low"].number(least, step.median);
    step.high = place["high"].number(step.median, most);
    step.minimum = place["minimum"].number(least, step.median);
    step.samples = static_cast<int>(place["samples"].integer(1, most_samples));
    return step;
}

Counts read_counts(const JsonPlace& place) {
    place.only({"updates", "unit", "operations", "bytes"});
    Counts counts;
    counts.updates = place["updates"].number(0, most_work);
    counts.unit = place["unit"].string(longest_name);
    counts.operations = place["operations"].number(0, most_work);
    counts.bytes = place["bytes"].number(0, most_work);
    return counts;
}

namespace {

std::string cost_json(const AffineCost& cost) {
    return fmt::format(R"({{"a": {}, "b": {}, "sigma": {}, "samples": {}}})", json_number(cost.a), json_number(cost.b), json_number(cost.sigma),
                       cost.samples);
}

AffineCost read_cost(const JsonPlace& place) {
    place.only({"a", "b", "sigma", "samples"});
    AffineCost cost;
    cost.a = place["a"].number(0, longest_step);
    cost.b = place["b"].number(0, longest_step);
    cost.sigma = place["sigma"].number(0, highest_fraction);
    cost.samples = static_cast<int>(place["samples"].integer(0, most_samples));
    return cost;
}

// A field that stands for "not measured" by its absence.
double optional_number(const JsonPlace& place, const char* name, double least, double most) {
    const auto found = place.find(name);
    return found ? found->number(least, most) : 0;
}

std::string optional_json(const char* name, double number) {
    return number == 0 ? std::string() : fmt::format(", {}: {}", json_string(name), json_number(number));
}

}  // namespace

Energy read_energy(const JsonPlace& place) {
    place.only({"joules", "watts", "idle_watts", "source", "samples_per_second", "resolution_seconds", "resolution_watts"});
    Energy energy;
    energy.joules = read_statistics(place["joules"], least_joules, most_joules);
    energy.watts = place["watts"].number(0, most_watts);
    energy.idle_watts = optional_number(place, "idle_watts", 0, most_watts);
    energy.source = plain_word(place["source"], place["source"].string(longest_name));
    energy.samples_per_second = place["samples_per_second"].number(0, 1e9);
    energy.resolution_seconds = optional_number(place, "resolution_seconds", 0, longest_step);
    energy.resolution_watts = optional_number(place, "resolution_watts", 0, most_watts);
    return energy;
}

Team read_team(const JsonPlace& place) {
    place.only({"processors", "binding"});
    Team team;
    const JsonPlace processors = place["processors"];
    team.processors = processors.string(longest_text);
    if (team.processors.empty() || team.processors.find_first_not_of("0123456789,-") != std::string::npos)
        processors.fail("is " + json_string(team.processors), "write processors as 0-3,8");
    team.binding = plain_word(place["binding"], place["binding"].string(longest_name));
    return team;
}

Conditions read_conditions(const JsonPlace& place) {
    place.only({"sm_megahertz", "memory_megahertz", "temperature_celsius", "throttle_reasons", "busy"});
    const auto number = [&](const char* name, std::optional<double>& value, double most) {
        if (const auto found = place.find(name)) value = found->number(0, most);
    };
    Conditions conditions;
    number("sm_megahertz", conditions.sm_megahertz, most_megahertz);
    number("memory_megahertz", conditions.memory_megahertz, most_megahertz);
    number("temperature_celsius", conditions.temperature_celsius, most_celsius);
    if (const auto reasons = place.find("throttle_reasons")) {
        if (reasons->elements() > most_reasons) reasons->fail("has too many elements", fmt::format("{} at most belong here", most_reasons));
        for (std::size_t i = 0; i < reasons->elements(); ++i) conditions.throttle_reasons.push_back((*reasons)[i].string(longest_name));
    }
    if (const auto busy = place.find("busy")) conditions.busy = busy->string(longest_text);
    return conditions;
}

std::uint64_t read_seed(const JsonPlace& place) {
    const std::string& text = place.string(longest_name);
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [read, status] = std::from_chars(text.data(), end, seed);
    if (status != std::errc{} || read != end) place.fail("is " + json_string(text), "it must be a whole number in quotes");
    return seed;
}

Hybrid read_hybrid(const JsonPlace& place) {
    place.only({"partner", "configuration", "share", "granularity", "cost", "partner_cost", "seconds_alone", "partner_seconds_alone"});
    Hybrid hybrid;
    hybrid.partner = read_device(place["partner"]);
    hybrid.partner_config = Config(read_assignments(place["configuration"]));
    hybrid.share = place["share"].number(0, 1);
    hybrid.granularity = place["granularity"].integer(1, 1'000'000'000);
    hybrid.own_cost = read_cost(place["cost"]);
    hybrid.partner_cost = read_cost(place["partner_cost"]);
    hybrid.own_seconds = optional_number(place, "seconds_alone", shortest_step, longest_step);
    hybrid.partner_seconds = optional_number(place, "partner_seconds_alone", shortest_step, longest_step);
    return hybrid;
}

Exchange read_exchange(const JsonPlace& place) {
    place.only({"program", "link", "ranks", "configuration", "usual_seconds"});
    Exchange exchange;
    exchange.program = plain_word(place["program"], place["program"].string(longest_name));
    exchange.link = place["link"].string(longest_text);
    if (exchange.link.empty()) place["link"].fail("has no name", "say what lies between the ranks");
    exchange.ranks = static_cast<int>(place["ranks"].integer(2, most_ranks));
    exchange.config = Config(read_assignments(place["configuration"]));
    exchange.usual_seconds = optional_number(place, "usual_seconds", shortest_step, longest_step);
    return exchange;
}

std::vector<Assignment> written_parameters(const Problem& problem) {
    std::vector<Assignment> parameters = problem.parameters();
    for (auto& [name, value] : parameters)
        if (Value number = parse_value(to_string(value)); to_string(number) == to_string(value)) value = std::move(number);
    return parameters;
}

std::string to_json(const Problem& problem) {
    return fmt::format(R"({{"family": {}, "parameters": {}}})", json_string(problem.family()), assignments_json(written_parameters(problem)));
}

std::string to_json(const Config& config) {
    return assignments_json(config.assignments());
}

std::string to_json(const DeviceFingerprint& device) {
    return fmt::format(R"({{"target": "{}", "name": {}, "architecture": {}, "units": {}, "driver": {}, "compiler": {}}})", to_string(device.target),
                       json_string(device.name), json_string(device.architecture), device.units, json_string(device.driver),
                       json_string(device.compiler));
}

std::string to_json(const Statistics& step) {
    return fmt::format(R"({{"median": {}, "low": {}, "high": {}, "minimum": {}, "samples": {}}})", json_number(step.median), json_number(step.low),
                       json_number(step.high), json_number(step.minimum), step.samples);
}

std::string to_json(const Counts& counts) {
    return fmt::format(R"({{"updates": {}, "unit": {}, "operations": {}, "bytes": {}}})", json_number(counts.updates), json_string(counts.unit),
                       json_number(counts.operations), json_number(counts.bytes));
}

std::string to_json(const Energy& energy) {
    return fmt::format(R"({{"joules": {}, "watts": {}{}, "source": {}, "samples_per_second": {}{}{}}})", to_json(energy.joules),
                       json_number(energy.watts), optional_json("idle_watts", energy.idle_watts), json_string(energy.source),
                       json_number(energy.samples_per_second), optional_json("resolution_seconds", energy.resolution_seconds),
                       optional_json("resolution_watts", energy.resolution_watts));
}

std::string to_json(const Conditions& conditions) {
    std::string text;
    const auto add = [&](const char* name, const std::string& value) { text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name, value); };
    if (conditions.sm_megahertz) add("sm_megahertz", json_number(*conditions.sm_megahertz));
    if (conditions.memory_megahertz) add("memory_megahertz", json_number(*conditions.memory_megahertz));
    if (conditions.temperature_celsius) add("temperature_celsius", json_number(*conditions.temperature_celsius));
    std::string reasons;
    for (const std::string& reason : conditions.throttle_reasons) reasons += (reasons.empty() ? "" : ", ") + json_string(reason);
    if (!reasons.empty()) add("throttle_reasons", "[" + reasons + "]");
    if (!conditions.busy.empty()) add("busy", json_string(conditions.busy));
    return "{" + text + "}";
}

std::string to_json(const Team& team) {
    return fmt::format(R"({{"processors": {}, "binding": {}}})", json_string(team.processors), json_string(team.binding));
}

std::string to_json(const Hybrid& hybrid) {
    return fmt::format(R"({{"partner": {}, "configuration": {}, "share": {}, "granularity": {}, "cost": {}, "partner_cost": {}{}{}}})",
                       to_json(hybrid.partner), to_json(hybrid.partner_config), json_number(hybrid.share), hybrid.granularity,
                       cost_json(hybrid.own_cost), cost_json(hybrid.partner_cost), optional_json("seconds_alone", hybrid.own_seconds),
                       optional_json("partner_seconds_alone", hybrid.partner_seconds));
}

std::string to_json(const Exchange& exchange) {
    return fmt::format(R"({{"program": {}, "link": {}, "ranks": {}, "configuration": {}{}}})", json_string(exchange.program),
                       json_string(exchange.link), exchange.ranks, to_json(exchange.config), optional_json("usual_seconds", exchange.usual_seconds));
}

}  // namespace hone::inline v0_1
