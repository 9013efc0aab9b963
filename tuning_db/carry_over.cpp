#include "tuning_db/carry_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "foundation/error.hpp"
#include "generator/residency.hpp"
#include "tuning_db/device_models.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double enough_warps = 8;  // of a multiprocessor: with fewer, latencies show
constexpr std::int64_t warp = 32;

double octaves(double a, double b) {
    return a > 0 && b > 0 ? std::abs(std::log2(a / b)) : 0;
}

bool is_f32(const Problem& problem) {
    const auto& values = problem.parameters();
    return std::any_of(values.begin(), values.end(), [](const Assignment& own) { return own.name == "precision" && own.value == Value("f32"); });
}

// Part of a step's time that its arithmetic would take, if it and memory's took turns.
double arithmetic_part(const Record& record, const DeviceRates& rates) {
    const double arithmetic = record.counts.operations / (is_f32(record.problem) ? rates.f32_per_second : rates.f64_per_second);
    const double memory = record.counts.bytes / rates.bytes_per_second;
    return arithmetic + memory > 0 ? arithmetic / (arithmetic + memory) : 0;
}

}  // namespace

bool same_instructions(const DeviceFingerprint& device, const Limits& limits) {
    if (device.target != limits.target) return false;
    if (traits_of(device.target).has_blocks) return device.architecture == fmt::format("sm_{}", limits.architecture);
    return limits_of(device).vector_bytes == limits.vector_bytes;
}

double device_difference(const Record& record, const DeviceFingerprint& device) {
    constexpr double of_an_octave = 1.0 / 8;
    const Limits there = limits_of(record.device), here = limits_of(device);
    double difference = 0;
    if (traits_of(device.target).has_blocks) {
        difference = std::abs(arithmetic_part(record, *rates_of(record.device)) - arithmetic_part(record, *rates_of(device)));
        difference += of_an_octave * (octaves(there.shared_bytes_per_multiprocessor, here.shared_bytes_per_multiprocessor) +
                                      octaves(there.max_threads_per_multiprocessor, here.max_threads_per_multiprocessor));
    } else {
        difference = of_an_octave * (octaves(there.multiprocessors, here.multiprocessors) + octaves(there.vector_bytes, here.vector_bytes) +
                                     octaves(there.cache_bytes, here.cache_bytes));
    }
    return std::min(difference, 1.0);
}

double held(const SearchSpace& space, const Config& config, const Limits& limits) {
    const FormSpace* const form = space.form_of(config);
    if (form == nullptr || !form->resources || !traits_of(limits.target).has_blocks) return 1;
    const BlockResources needs = form->resources(config);
    const std::int64_t of_block = (needs.threads + warp - 1) / warp, warps = resident_blocks(needs, limits) * of_block;
    if (warps == 0) return 1;
    const double lanes = static_cast<double>(needs.threads) / static_cast<double>(warp * of_block);  // that have a thread
    return lanes * std::min(1.0, static_cast<double>(warps) / enough_warps);
}

double counted(const SearchSpace& space, const Config& config) {
    const FormSpace* const form = space.form_of(config);
    return form != nullptr && form->count ? form->count(config) : 0;
}

double expected_gain(const Families& families, const Record& record, double distance, const SearchSpace& space, const Config& member,
                     const Limits& limits) {
    const Limits their_limits = limits_of(record.device);
    double there = 1;
    try {
        const SearchSpace their_space = families.of(record.problem).space(record.problem, their_limits);
        const Config theirs = their_space.completed(record.config);
        if (their_space.in_product(theirs)) there = held(their_space, theirs, their_limits) / held(their_space, their_space.safe(), their_limits);
    } catch (const Error&) {  // sizes that cannot be, from a file: nothing is known of it
    }
    const double here = held(space, member, limits) / held(space, space.safe(), limits);
    constexpr double of_unknown = 1.1;  // a gain that nobody measured: resources alone decide
    const double gained = gain(record) > 0 ? gain(record) * std::exp(-lost_a_unit * distance) : of_unknown;
    const double expected = gained * here / there;
    // What the family counts for this problem here knows more than what was found elsewhere.
    const double own_count = counted(space, member), safe_count = counted(space, space.safe());
    constexpr double wrong_by = 1.13;  // a count, in the mean
    return own_count > 0 && safe_count > 0 ? std::min(expected, wrong_by * safe_count / own_count) : expected;
}

}  // namespace hone::inline v0_1
