#include "solvers/acoustics/segy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "solvers/acoustics/model.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::seismic::segy_test {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view bytes) {
    try {
        parse_segy(bytes, "file");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

SegyFile random_segy(std::mt19937& random, std::size_t traces, std::size_t samples) {
    std::uniform_real_distribution<float> uniform(-1000, 1000);
    SegyFile segy;
    segy.interval = 1 + static_cast<int>(random() % 10000);
    for (std::size_t i = 0; i < traces; ++i) {
        SegyTrace trace;
        trace.inline_number = static_cast<std::int32_t>(random() % 100);
        trace.crossline_number = -static_cast<std::int32_t>(i);
        trace.source_x = 12.345, trace.source_y = -0.5, trace.source_depth = 7;
        trace.x = 1e5 + 0.001 * static_cast<double>(i), trace.y = -1e6, trace.elevation = -25.25;
        for (std::size_t k = 0; k < samples; ++k) trace.samples.push_back(uniform(random));
        segy.traces.push_back(std::move(trace));
    }
    return segy;
}

// Worked out by hand: -118.625 = -0.46337890625 x 16^2; 1 = 1/16 x 16^1; the greatest of all.
TEST(Segy, KnowsIbmFloats) {
    EXPECT_EQ(from_ibm(0xC276A000U), -118.625F);
    EXPECT_EQ(to_ibm(-118.625F), 0xC276A000U);
    EXPECT_EQ(from_ibm(0x41100000U), 1.0F);
    EXPECT_EQ(to_ibm(1.0F), 0x41100000U);
    EXPECT_EQ(from_ibm(0), 0.0F);
    EXPECT_EQ(to_ibm(0.0F), 0U);
    EXPECT_TRUE(std::isinf(from_ibm(0x7FFFFFFFU)));  // 7.2e75
    EXPECT_EQ(to_ibm(std::numeric_limits<float>::infinity()), 0x7FFFFFFFU);
    const auto seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int i = 0; i < 100000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (!std::isfinite(value)) continue;
        // 21 bits of the fraction at least.
        ASSERT_NEAR(from_ibm(to_ibm(value)), value, std::abs(value) * 0x1p-21) << "seed " << seed;
    }
}

TEST(Segy, ComesBackAsWritten) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const SegyFile segy = random_segy(random, 5, 17);
    for (const SegyFormat format : {SegyFormat::ieee, SegyFormat::ibm}) {
        const SegyFile read = parse_segy(segy_bytes(segy, "A TITLE", format), "file");
        EXPECT_EQ(read.interval, segy.interval);
        ASSERT_EQ(read.traces.size(), segy.traces.size());
        for (std::size_t i = 0; i < read.traces.size(); ++i) {
            const SegyTrace &a = read.traces[i], &b = segy.traces[i];
            EXPECT_EQ(a.inline_number, b.inline_number);
            EXPECT_EQ(a.crossline_number, b.crossline_number);
            for (const auto member :
                 {&SegyTrace::source_x, &SegyTrace::source_y, &SegyTrace::source_depth, &SegyTrace::x, &SegyTrace::y, &SegyTrace::elevation})
                EXPECT_NEAR(a.*member, b.*member, 0.0005);
            ASSERT_EQ(a.samples.size(), b.samples.size());
            for (std::size_t k = 0; k < a.samples.size(); ++k)
                EXPECT_NEAR(a.samples[k], b.samples[k], format == SegyFormat::ieee ? 0 : std::abs(b.samples[k]) * 0x1p-20);
        }
    }
}

// Bytes where the standard has them, and a file of revision 0 with rubbish in the bytes that it
// leaves free.
TEST(Segy, FollowsTheStandard) {
    SegyFile segy;
    segy.interval = 0x1234;
    segy.traces = {{.x = 2, .samples = {1, 2}}, {.samples = {3, 4}}};
    std::string bytes = segy_bytes(segy, "TITLE");
    EXPECT_EQ(bytes.size(), 3200U + 400 + 2 * (240 + 8));
    EXPECT_EQ(bytes.substr(0, 9), "C 1 TITLE");
    EXPECT_EQ(bytes.substr(3216, 2), "\x12\x34");
    EXPECT_EQ(bytes.substr(3224, 2), std::string("\0\5", 2));
    EXPECT_EQ(bytes.substr(3600 + 70, 2), "\xfc\x18");                       // -1000: coordinates are divided by it
    EXPECT_EQ(bytes.substr(3600 + 80, 4), std::string("\0\0\x07\xd0", 4));   // 2000
    EXPECT_EQ(bytes.substr(3600 + 240, 4), std::string("\x3f\x80\0\0", 4));  // 1 in IEEE floats
    bytes.replace(3500, 6, std::string("\0\0\xff\xff\x12\x34", 6));
    EXPECT_EQ(parse_segy(bytes, "file").traces[1].samples, (std::vector<float>{3, 4}));
    bytes.replace(3500, 6, std::string("\1\0\0\1\0\1", 6));  // revision 1, one more textual header
    bytes.insert(3600, std::string(3200, ' '));
    EXPECT_EQ(parse_segy(bytes, "file").traces[1].samples, (std::vector<float>{3, 4}));
}

TEST(Segy, ErrorsNameTheOffset) {
    SegyFile segy;
    segy.traces = {{.samples = {1, 2}}, {.samples = {3, 4}}};
    const std::string good = segy_bytes(segy, "");
    const auto with = [&](std::size_t offset, std::string_view bytes) { return std::string(good).replace(offset, bytes.size(), bytes); };
    EXPECT_EQ(error_of(good), "");
    EXPECT_THAT(error_of("short"), HasSubstr("ends at offset 5"));
    EXPECT_THAT(error_of(good.substr(0, 3600)), HasSubstr("ends at offset 3600, before the first trace"));
    EXPECT_THAT(error_of(good.substr(0, good.size() - 1)), HasSubstr("ends at offset 4095, within trace 2 that begins at 3848"));
    EXPECT_THAT(error_of(with(3224, {"\0\3", 2})), HasSubstr("offset 3224: sample format 3"));
    EXPECT_THAT(error_of(with(3220, {"\0\0", 2})), HasSubstr("offset 3220: 0 samples"));
    EXPECT_THAT(error_of(with(3216, {"\0\0", 2})), HasSubstr("offset 3216: a sample interval of 0"));
    EXPECT_THAT(error_of(with(3848 + 114, {"\0\3", 2})), HasSubstr("offset 3962: a trace of 3 samples"));
    EXPECT_THAT(error_of(with(3504, {"\xff\xff", 2})), HasSubstr("offset 3504"));
    segy.traces[1].samples.push_back(0);
    EXPECT_THROW(segy_bytes(segy, ""), Error);
    EXPECT_THROW(segy_bytes({}, ""), Error);
}

}  // namespace
}  // namespace hone::solvers::seismic::segy_test
