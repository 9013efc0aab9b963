#include "tuner/messages.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "tuning_db/json.hpp"
#include "tuning_db/json_parts.hpp"
#include "tuning_db/json_tree.hpp"

namespace hone {
namespace {

constexpr std::size_t longest_reason = 1 << 16;

using LimitsMember = int Limits::*;
constexpr std::array<std::pair<const char*, LimitsMember>, 10> limits_members{{
    {"architecture", &Limits::architecture},
    {"max_threads_per_block", &Limits::max_threads_per_block},
    {"max_threads_per_multiprocessor", &Limits::max_threads_per_multiprocessor},
    {"registers_per_multiprocessor", &Limits::registers_per_multiprocessor},
    {"max_registers_per_thread", &Limits::max_registers_per_thread},
    {"shared_bytes_per_block", &Limits::shared_bytes_per_block},
    {"shared_bytes_per_multiprocessor", &Limits::shared_bytes_per_multiprocessor},
    {"multiprocessors", &Limits::multiprocessors},
    {"vector_bytes", &Limits::vector_bytes},
    {"cache_bytes", &Limits::cache_bytes},
}};

using ReadingMember = std::optional<double> DeviceReading::*;
constexpr std::array<std::pair<const char*, ReadingMember>, 4> reading_members{{
    {"power_watts", &DeviceReading::power_watts},
    {"sm_megahertz", &DeviceReading::sm_megahertz},
    {"memory_megahertz", &DeviceReading::memory_megahertz},
    {"temperature_celsius", &DeviceReading::temperature_celsius},
}};
constexpr double highest_reading = 1e9;  // no device's, in any of the units

double seconds(const JsonPlace& place) {
    return place.number(0, most_message_seconds);
}

// An infinite error is written as null: JSON has no infinity.
double error_or_infinity(const JsonPlace& place) {
    return place.is_null() ? std::numeric_limits<double>::infinity() : place.number(0, std::numeric_limits<double>::max());
}

template <typename Value>
std::string further(const char* name, const std::optional<Value>& value) {
    return value ? fmt::format(", \"{}\": {}", name, to_json(*value)) : "";
}

}  // namespace

std::string to_json(const Outcome& outcome) {
    std::string samples;
    for (const double sample : outcome.samples) samples += (samples.empty() ? "" : ", ") + json_number(sample);
    return fmt::format(R"({{"status": "{}", "reason": {}, "step": {}, "samples": [{}], "verification_error": {}, "tolerance": {}, )"
                       R"("compile_seconds": {}, "verify_seconds": {}, "measure_seconds": {}{}{}}})",
                       to_string(outcome.status), json_string(outcome.reason), to_json(outcome.step), samples,
                       json_number(outcome.verification_error), json_number(outcome.tolerance), json_number(outcome.compile_seconds),
                       json_number(outcome.verify_seconds), json_number(outcome.measure_seconds), further("energy", outcome.energy),
                       further("device", outcome.device));
}

std::string to_json(const DeviceReading& reading) {
    std::string reasons;
    for (const auto& reason : reading.throttle_reasons) reasons += (reasons.empty() ? "" : ", ") + json_string(reason);
    std::string text = fmt::format("{{\"throttle_reasons\": [{}]", reasons);
    for (const auto& [name, member] : reading_members)
        if (reading.*member) text += fmt::format(", \"{}\": {}", name, json_number(*(reading.*member)));
    return text + "}";
}

DeviceReading read_device_reading(const JsonPlace& place) {
    DeviceReading reading;
    for (const auto& [name, member] : reading_members)
        if (const auto value = place.find(name)) reading.*member = value->number(0, highest_reading);
    const JsonPlace reasons = place["throttle_reasons"];
    for (std::size_t i = 0; i < reasons.elements(); ++i) reading.throttle_reasons.push_back(reasons[i].string(longest_reason));
    return reading;
}

Outcome read_outcome(const JsonPlace& place) {
    Outcome outcome;
    outcome.status = parse_status(place["status"].string(32));
    outcome.reason = place["reason"].string(longest_reason);
    const JsonPlace step = place["step"];
    outcome.step = {seconds(step["median"]), seconds(step["low"]), seconds(step["high"]), seconds(step["minimum"]),
                    static_cast<int>(step["samples"].integer(0, std::numeric_limits<int>::max()))};
    const JsonPlace samples = place["samples"];
    for (std::size_t i = 0; i < samples.elements(); ++i) outcome.samples.push_back(seconds(samples[i]));
    outcome.verification_error = error_or_infinity(place["verification_error"]);
    outcome.tolerance = error_or_infinity(place["tolerance"]);
    outcome.compile_seconds = seconds(place["compile_seconds"]);
    outcome.verify_seconds = seconds(place["verify_seconds"]);
    outcome.measure_seconds = seconds(place["measure_seconds"]);
    if (const auto energy = place.find("energy")) outcome.energy = read_energy(*energy);
    if (const auto device = place.find("device")) outcome.device = read_device_reading(*device);
    return outcome;
}

std::string to_json(const Limits& limits) {
    std::string text = fmt::format(R"({{"target": "{}")", to_string(limits.target));
    for (const auto& [name, member] : limits_members) text += fmt::format(R"(, "{}": {})", name, limits.*member);
    return text + "}";
}

Limits read_limits(const JsonPlace& place) {
    Limits limits;
    limits.target = parse_target(place["target"].string(16));
    for (const auto& [name, member] : limits_members) limits.*member = static_cast<int>(place[name].integer(0, std::numeric_limits<int>::max()));
    return limits;
}

std::string to_json(const SamplingRule& rule) {
    return fmt::format(R"({{"period": {}, "fewest": {}, "narrow": {}, "worse": {}, "hopeless": {}, "most_seconds": {}, "shortest_sample": {}, )"
                       R"("energy_seconds": {}}})",
                       rule.period, rule.fewest, json_number(rule.narrow), json_number(rule.worse), json_number(rule.hopeless),
                       json_number(rule.most_seconds), json_number(rule.shortest_sample), json_number(rule.energy_seconds));
}

SamplingRule read_sampling_rule(const JsonPlace& place) {
    constexpr int most = 1'000'000;
    SamplingRule rule;
    rule.period = static_cast<int>(place["period"].integer(1, most));
    rule.fewest = static_cast<int>(place["fewest"].integer(1, most));
    rule.narrow = place["narrow"].number(0, 1);
    rule.worse = place["worse"].number(0, most);
    rule.hopeless = place["hopeless"].number(0, most);
    rule.most_seconds = seconds(place["most_seconds"]);
    rule.shortest_sample = seconds(place["shortest_sample"]);
    rule.energy_seconds = seconds(place["energy_seconds"]);
    return rule;
}

}  // namespace hone
