#include "tuning_db/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "foundation/processors.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

// Major, minor, patch of "1.20.3"; what is no number counts as 0.
std::array<int, 3> version_numbers(std::string_view text) {
    std::array<int, 3> numbers{};
    for (int& number : numbers) {
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (status != std::errc{}) return numbers;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty() || text.front() != '.') return numbers;
        text.remove_prefix(1);
    }
    return numbers;
}

// Exponents of seconds and of joules, by purpose: those of the objectives in tuner/objective.hpp,
// "weighted_0.3" being seconds^0.7 joules^0.3.
std::pair<double, double> exponents(const std::string& purpose) {
    const std::string_view weighted = "weighted_";
    if (purpose == "energy") return {0, 1};
    if (purpose == "energy_delay") return {1, 1};
    double weight = 0;
    if (purpose.rfind(weighted, 0) == 0) std::from_chars(purpose.data() + weighted.size(), purpose.data() + purpose.size(), weight);
    return {1 - weight, weight};
}

// Upper bound of what was tuned for. Without the energy that it is about, a record comes last.
double cost(const Record& record) {
    const auto [seconds, joules] = exponents(record.purpose);
    if (joules == 0) return record.step.high;
    if (!record.energy) return std::numeric_limits<double>::infinity();
    return std::pow(record.step.high, seconds) * std::pow(record.energy->joules.high, joules);
}

// Number of the 1 % step of the logarithmic scale on which the cost lies.
double cost_step(const Record& record) {
    constexpr double noise = 1.01;
    return std::floor(std::log(cost(record)) / std::log(noise));
}

// What a mark, or a step of several devices, is about beside problem, device and purpose.
std::string further_subject(const Record& record) {
    if (!record.wrong.empty()) return "\nwrong\n" + refutation_key(record);
    if (record.exchange) return fmt::format("\n{}\n{}\n{}", record.exchange->program, record.exchange->link, record.exchange->ranks);
    if (!record.hybrid) return "";
    return "\n" + device_key(record.hybrid->partner) + "\n" + record.config.key() + "\n" + record.hybrid->partner_config.key();
}

// Choices among numbers are kept as words: "16" stands behind "4".
bool value_before(const Value& a, const Value& b) {
    const auto* const left = std::get_if<std::string>(&a);
    const auto* const right = std::get_if<std::string>(&b);
    if (left == nullptr || right == nullptr || *left == *right) return a < b;
    const Value left_number = parse_value(*left);
    const Value right_number = parse_value(*right);
    return left_number != right_number ? left_number < right_number : *left < *right;
}

bool parameters_before(const Problem& a, const Problem& b) {
    const auto before = [](const Assignment& left, const Assignment& right) {
        return left.name != right.name ? left.name < right.name : value_before(left.value, right.value);
    };
    return std::lexicographical_compare(a.parameters().begin(), a.parameters().end(), b.parameters().begin(), b.parameters().end(), before);
}

}  // namespace

std::string utc_date(std::chrono::system_clock::time_point moment) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

bool is_older_version(const std::string& a, const std::string& b) {
    return version_numbers(a) < version_numbers(b);
}

double gain(const Record& record) {
    return record.safe_seconds > 0 && record.step.median > 0 ? record.safe_seconds / record.step.median : 0;
}

bool beaten_by_safe(const Record& record) {
    // On processors other programs may slow one of two down, whatever their intervals are.
    if (traits_of(record.device.target).shares_processors) return false;
    constexpr double worth_a_switch = 1.02;  // intervals of medians on a GPU are narrower than what two runs differ by
    return record.safe_seconds > 0 && worth_a_switch * record.safe_seconds < record.step.low;
}

double greenup_over_safe(const Record& record) {
    return record.safe_joules > 0 && record.energy && record.energy->joules.median > 0 ? record.safe_joules / record.energy->joules.median : 0;
}

std::string implausible_gain(const Record& record) {
    const double most = traits_of(record.device.target).shares_processors ? 20 : 100;
    const double times = gain(record);
    return times > most ? fmt::format("a gain of {:.0f}x over the safe configuration is beyond {:.0f}x", times, most) : "";
}

std::string other_threads(const Record& record, const DeviceFingerprint& device) {
    if (!traits_of(device.target).shares_processors || record.device.units == device.units) return {};
    const int measured = record.device.units;
    return fmt::format("measured with {} thread{}, here are {}", measured, measured == 1 ? "" : "s", device.units);
}

std::string subject(const Problem& problem, const DeviceFingerprint& device, const std::string& purpose) {
    return device_key(device) + "\n" + problem.key() + "\n" + purpose;
}

std::string subject(const Record& record) {
    return subject(record.problem, record.device, record.purpose) + further_subject(record);
}

std::string refutation_key(const Record& record) {
    return subject(record.problem, record.device, "") + record.config.key() + "\n" + record.versions.source_hash;
}

bool stands_before(const Record& a, const Record& b) {
    if (a.problem.family() != b.problem.family()) return a.problem.family() < b.problem.family();
    if (parameters_before(a.problem, b.problem)) return true;
    if (parameters_before(b.problem, a.problem)) return false;
    if (a.purpose != b.purpose) return a.purpose < b.purpose;
    const std::string a_device = device_key(a.device);
    const std::string b_device = device_key(b.device);
    return a_device != b_device ? a_device < b_device : further_subject(a) < further_subject(b);
}

bool better(const Record& a, const Record& b) {
    if (a.verified() != b.verified()) return a.verified();
    if (a.verified_whole() != b.verified_whole()) return a.verified_whole();
    if (a.disturbed.empty() != b.disturbed.empty()) return a.disturbed.empty();
    const auto a_version = version_numbers(a.versions.hone);
    const auto b_version = version_numbers(b.versions.hone);
    if (a_version != b_version) return a_version > b_version;
    const double a_cost = cost_step(a);
    const double b_cost = cost_step(b);
    if (a_cost != b_cost) return a_cost < b_cost;
    const bool b_at_first_use = b.found == found_at_first_use;
    if ((a.found == found_at_first_use) != b_at_first_use) return b_at_first_use;
    if (a.conditions.sm_megahertz.has_value() != b.conditions.sm_megahertz.has_value()) return a.conditions.sm_megahertz.has_value();
    if (a.date != b.date) return a.date < b.date;
    if (a.step.median != b.step.median) return a.step.median < b.step.median;
    if (a.config != b.config) return a.config < b.config;
    return to_json(a) < to_json(b);
}

std::optional<Team> team_of(const DeviceFingerprint& device) {
    if (!traits_of(device.target).shares_processors) return std::nullopt;
    return Team{processor_list(processors().numbers), processors().binding};
}

}  // namespace hone::inline v0_1
