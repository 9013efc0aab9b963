#include "tuner/messages.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "foundation/json.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/record_json_parts.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t longest_reason = 1 << 16;

// One list of members per type, for its writer and its reader both. It takes the whole type apart:
// a member that is added to the type and not to its list does not compile. `visit` gets each
// member's name, and what a reader needs to know of its range.

struct Range {
    double low;
    double high;
};
constexpr int most_integer = std::numeric_limits<int>::max();
constexpr Range any_integer{0, most_integer};
constexpr Range some_seconds{0, most_message_seconds};
constexpr Range some_pace{1e-6, 1e6};
constexpr Range any_reading{0, 1e9};  // beyond every device's, in any of the units
constexpr Range to_infinity{0, std::numeric_limits<double>::infinity()};

template <typename Whole, typename Visit>
requires std::same_as<std::remove_const_t<Whole>, Limits>
void members(Whole& limits, const Visit& visit) {
    auto& [target, architecture, block_threads, resident_threads, registers, thread_registers, block_shared, shared, multiprocessors, core_threads,
           vector, cache, compiler] = limits;
    visit("target", target, Range{});
    visit("architecture", architecture, any_integer);
    visit("max_threads_per_block", block_threads, any_integer);
    visit("max_threads_per_multiprocessor", resident_threads, any_integer);
    visit("registers_per_multiprocessor", registers, any_integer);
    visit("max_registers_per_thread", thread_registers, any_integer);
    visit("shared_bytes_per_block", block_shared, any_integer);
    visit("shared_bytes_per_multiprocessor", shared, any_integer);
    visit("multiprocessors", multiprocessors, any_integer);
    visit("threads_per_core", core_threads, any_integer);
    visit("vector_bytes", vector, any_integer);
    visit("cache_bytes", cache, any_integer);
    visit("compiler", compiler, any_integer);
}

template <typename Whole, typename Visit>
requires std::same_as<std::remove_const_t<Whole>, SamplingRule>
void members(Whole& rule, const Visit& visit) {
    constexpr double most = 1e6;
    auto& [period, fewest, narrow, worse, hopeless, most_seconds, shortest_sample, energy_seconds] = rule;
    visit("period", period, Range{1, most});
    visit("fewest", fewest, Range{1, most});
    visit("narrow", narrow, Range{0, 1});
    visit("worse", worse, Range{0, most});
    visit("hopeless", hopeless, Range{0, most});
    visit("most_seconds", most_seconds, some_seconds);
    visit("shortest_sample", shortest_sample, some_seconds);
    visit("energy_seconds", energy_seconds, some_seconds);
}

template <typename Whole, typename Visit>
requires std::same_as<std::remove_const_t<Whole>, DeviceReading>
void members(Whole& reading, const Visit& visit) {
    auto& [power, sm, memory, temperature, reasons] = reading;
    visit("throttle_reasons", reasons, Range{});
    visit("power_watts", power, any_reading);
    visit("sm_megahertz", sm, any_reading);
    visit("memory_megahertz", memory, any_reading);
    visit("temperature_celsius", temperature, any_reading);
}

template <typename Whole, typename Visit>
requires std::same_as<std::remove_const_t<Whole>, Statistics>
void members(Whole& statistics, const Visit& visit) {
    auto& [median, low, high, minimum, samples] = statistics;
    visit("median", median, some_seconds);
    visit("low", low, some_seconds);
    visit("high", high, some_seconds);
    visit("minimum", minimum, some_seconds);
    visit("samples", samples, any_integer);
}

template <typename Whole, typename Visit>
requires std::same_as<std::remove_const_t<Whole>, Outcome>
void members(Whole& outcome, const Visit& visit) {
    auto& [status, reason, step, samples, energy, device, measured_on, pace, code, verified_on, error, tolerance, compile_seconds, verify_seconds,
           measure_seconds] = outcome;
    visit("status", status, Range{});
    visit("reason", reason, Range{});
    visit("step", step, some_seconds);
    visit("samples", samples, some_seconds);
    visit("verification_error", error, to_infinity);
    visit("tolerance", tolerance, to_infinity);
    visit("compile_seconds", compile_seconds, some_seconds);
    visit("verify_seconds", verify_seconds, some_seconds);
    visit("measure_seconds", measure_seconds, some_seconds);
    visit("energy", energy, Range{});
    visit("device", device, Range{});
    visit("measured_on", measured_on, Range{});
    visit("pace", pace, some_pace);
    visit("code", code, Range{});
    visit("verified_on", verified_on, Range{});
}

template <typename Whole>
std::string object_json(const Whole& whole);
template <typename Whole>
Whole read_object(const JsonPlace& place);

std::string value_json(int value) {
    return std::to_string(value);
}
// An infinite error is written as null: JSON has no infinity.
std::string value_json(double value) {
    return json_number(value);
}
std::string value_json(const std::string& value) {
    return json_string(value);
}
std::string value_json(Target target) {
    return json_string(to_string(target));
}
std::string value_json(Status status) {
    return json_string(to_string(status));
}
std::string value_json(const Statistics& statistics) {
    return object_json(statistics);
}
std::string value_json(const Energy& energy) {
    return to_json(energy);
}
std::string value_json(const DeviceReading& reading) {
    return object_json(reading);
}
template <typename Element>
std::string value_json(const std::vector<Element>& elements) {
    std::string text;
    for (const auto& element : elements) text += (text.empty() ? "" : ", ") + value_json(element);
    return "[" + text + "]";
}

void read_value(const JsonPlace& place, int& value, Range range) {
    value = static_cast<int>(place.integer(static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)));
}
void read_value(const JsonPlace& place, double& value, Range range) {
    const bool infinite = std::isinf(range.high);
    value = infinite && place.is_null() ? range.high : place.number(range.low, infinite ? std::numeric_limits<double>::max() : range.high);
}
void read_value(const JsonPlace& place, std::string& value, Range /*unused*/) {
    value = place.string(longest_reason);
}
void read_value(const JsonPlace& place, Target& target, Range /*unused*/) {
    target = parse_target(place.string(16));
}
void read_value(const JsonPlace& place, Status& status, Range /*unused*/) {
    status = parse_status(place.string(32));
}
void read_value(const JsonPlace& place, Statistics& statistics, Range /*unused*/) {
    statistics = read_object<Statistics>(place);
}
void read_value(const JsonPlace& place, Energy& energy, Range /*unused*/) {
    energy = read_energy(place);
}
void read_value(const JsonPlace& place, DeviceReading& reading, Range /*unused*/) {
    reading = read_object<DeviceReading>(place);
}
template <typename Element>
void read_value(const JsonPlace& place, std::vector<Element>& elements, Range range) {
    elements.resize(place.elements());
    for (std::size_t i = 0; i < elements.size(); ++i) read_value(place[i], elements[i], range);
}

// What was not measured is left out.
template <typename Value>
void append(std::string& text, const char* name, const Value& value) {
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name, value_json(value));
}
template <typename Value>
void append(std::string& text, const char* name, const std::optional<Value>& value) {
    if (value) append(text, name, *value);
}

template <typename Value>
void read_member(const JsonPlace& whole, const char* name, Value& value, Range range) {
    read_value(whole[name], value, range);
}
template <typename Value>
void read_member(const JsonPlace& whole, const char* name, std::optional<Value>& value, Range range) {
    if (const auto place = whole.find(name)) read_value(*place, value.emplace(), range);
}

template <typename Whole>
std::string object_json(const Whole& whole) {
    std::string text;
    members(whole, [&](const char* name, const auto& value, Range /*unused*/) { append(text, name, value); });
    return "{" + text + "}";
}

template <typename Whole>
Whole read_object(const JsonPlace& place) {
    Whole whole;
    members(whole, [&](const char* name, auto& value, Range range) { read_member(place, name, value, range); });
    return whole;
}

}  // namespace

std::string to_json(const Outcome& outcome) {
    return object_json(outcome);
}

Outcome read_outcome(const JsonPlace& place) {
    return read_object<Outcome>(place);
}

std::string to_json(const DeviceReading& reading) {
    return object_json(reading);
}

DeviceReading read_device_reading(const JsonPlace& place) {
    return read_object<DeviceReading>(place);
}

std::string to_json(const Limits& limits) {
    return object_json(limits);
}

Limits read_limits(const JsonPlace& place) {
    return read_object<Limits>(place);
}

std::string to_json(const SamplingRule& rule) {
    return object_json(rule);
}

SamplingRule read_sampling_rule(const JsonPlace& place) {
    return read_object<SamplingRule>(place);
}

}  // namespace hone::inline v0_1
