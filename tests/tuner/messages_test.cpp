#include "tuner/messages.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tests/tuner/synthetic.hpp"

namespace hone::messages_test {
namespace {

template <typename Read>
auto read_back(const std::string& text, Read read) {
    const std::string file = "message";
    const JsonNode node = parse_json(text, file);
    return read(JsonPlace(node, file));
}

TEST(Messages, EveryOutcomeComesBackAsItWas) {
    const unsigned seed = std::random_device{}();
    const test::Landscape landscape(seed);
    for (const Status status : {Status::measured, Status::compile_failed, Status::launch_failed, Status::wrong, Status::timed_out, Status::crashed}) {
        Outcome outcome = landscape.outcome(landscape.space().index_of(landscape.space().safe()), seed);
        outcome.status = status;
        outcome.reason = "a \"reason\"\twith\nlines";
        outcome.verification_error = status == Status::wrong ? std::numeric_limits<double>::infinity() : 1.0 / 3;
        EXPECT_EQ(read_back(to_json(outcome), read_outcome), outcome) << to_string(status) << " seed " << seed;
    }
    EXPECT_EQ(read_back(to_json(Outcome{}), read_outcome), Outcome{});
    Outcome compiled;
    compiled.code = "0123456789abcdef";
    EXPECT_EQ(read_back(to_json(compiled), read_outcome), compiled);
}

TEST(Messages, EnergyAndTheStateOfTheDeviceComeBackAndAreLeftOutWhenTheyWereNotRead) {
    Outcome outcome;
    EXPECT_EQ(to_json(outcome).find("energy"), std::string::npos);
    EXPECT_EQ(to_json(outcome).find("device"), std::string::npos) << "so that an outcome reads as it did before these existed";
    outcome.energy = Energy{{0.5, 0.25, 0.75, 0.25, 4}, 500.0 / 3, 75, "nvml", 200, 0.1, 0.001};
    outcome.device = DeviceReading{};
    EXPECT_EQ(read_back(to_json(outcome), read_outcome), outcome) << "a device that tells nothing";
    outcome.device = DeviceReading{512.5, 1980, std::nullopt, 45, {"software power cap", "hardware \"slowdown\""}};
    EXPECT_EQ(read_back(to_json(outcome), read_outcome), outcome);
}

TEST(Messages, LimitsComeBackAsTheyWere) {
    Limits limits = cuda_limits(90);
    limits.compiler = 118;
    const Limits found = read_back(to_json(limits), read_limits);
    EXPECT_EQ(to_json(found), to_json(limits));
    EXPECT_EQ(found.target, Target::cuda);
    EXPECT_EQ(found.architecture, 90);
    EXPECT_EQ(found.shared_bytes_per_block, limits.shared_bytes_per_block);
    EXPECT_EQ(found.cache_bytes, limits.cache_bytes);
    EXPECT_EQ(found.compiler, limits.compiler);
}

TEST(Messages, EveryLimitOfAProcessorComesBack) {
    Limits limits = cpu_limits();
    limits.multiprocessors = 16;
    limits.threads_per_core = 2;
    limits.vector_bytes = 64;
    const Limits found = read_back(to_json(limits), read_limits);
    EXPECT_EQ(found.multiprocessors, 16);
    EXPECT_EQ(found.threads_per_core, 2) << "a compiling worker would refuse threads=half";
    EXPECT_EQ(found.vector_bytes, 64);
}

TEST(Messages, SamplingRulesComeBackAsTheyWere) {
    SamplingRule rule;
    rule.period = 17;
    rule.narrow = 0.1 / 3;
    rule.shortest_sample = 1e-7;
    rule.energy_seconds = 0.25;
    EXPECT_EQ(to_json(read_back(to_json(rule), read_sampling_rule)), to_json(rule));
}

TEST(Messages, WhatIsMissingOrOutOfRangeIsAnError) {
    EXPECT_THROW(read_back("{}", read_outcome), Error);
    EXPECT_THROW(read_back("{\"target\": \"tpu\"}", read_limits), Error);
    std::string rule = to_json(SamplingRule{});
    rule.replace(rule.find("\"period\": 40"), 12, "\"period\": 0");
    EXPECT_THROW(read_back(rule, read_sampling_rule), Error);
}

TEST(Messages, StatusesHaveNames) {
    EXPECT_EQ(parse_status("timed_out"), Status::timed_out);
    EXPECT_THROW(parse_status("great"), Error);
}

}  // namespace
}  // namespace hone::messages_test
