#include "runtime/buffers.hpp"

#include <gtest/gtest.h>

#include <random>

#include "foundation/error.hpp"
#include "tests/support/backend_test.hpp"

namespace hone::buffers_test {
namespace {

TEST(RowLayout, PaddedRowsBeginAtAlignedAddresses) {
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const std::int64_t alignment : {8, 16, 64, 128, 256})
            for (const std::int64_t words : {0, 1, 15, 16, 17, 31, 32, 33, 1000}) {
                const RowLayout layout = padded_rows(precision, words, 3, alignment);
                EXPECT_EQ(layout.pitch * bytes_per_word(precision) % alignment, 0);
                EXPECT_GE(layout.pitch, words);
                EXPECT_LT((layout.pitch - words) * bytes_per_word(precision), alignment) << "more padding than needed";
                EXPECT_EQ(layout.bytes(), 3 * layout.pitch * bytes_per_word(precision));
            }
    EXPECT_EQ(plain_rows(Precision::f32, 33, 2).bytes(), 264);
}

TEST(RowLayout, RefusesWhatIsNoSize) {
    EXPECT_THROW(plain_rows(Precision::f32, -1, 2), Error);
    EXPECT_THROW(plain_rows(Precision::f32, 2, -1), Error);
    EXPECT_THROW(padded_rows(Precision::f32, -200, 2), Error);
    EXPECT_THROW(plain_rows(Precision::f64, std::int64_t{1} << 31, std::int64_t{1} << 30), Error) << "2^64 bytes";
    EXPECT_THROW(padded_rows(Precision::f32, std::numeric_limits<std::int64_t>::max(), 1), Error);
    for (const std::int64_t alignment : {-128, 0, 2, 96, 512}) EXPECT_THROW(padded_rows(Precision::f32, 8, 2, alignment), Error) << alignment;
    EXPECT_THROW(padded_rows(Precision::f64, 8, 2, 4), Error);
}

class Buffers : public test::BackendTest {};

template <typename Real>
void expect_round_trip(Backend& backend, const RowLayout& layout, HostMemory memory, std::uint64_t seed) {
    HostBuffer from(backend, layout, memory);
    HostBuffer to(backend, layout, memory);
    DeviceBuffer device(backend, layout);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device.data()) % 256, 0U);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<Real> distribution(-1, 1);
    for (std::int64_t row = 0; row < layout.rows; ++row) {
        EXPECT_EQ(from.row<Real>(row).size(), static_cast<std::size_t>(layout.row_words));
        for (Real& value : from.row<Real>(row)) {
            EXPECT_EQ(value, 0) << "buffers begin with zeros";
            value = distribution(random);
        }
    }
    device.upload(from);
    device.download(to);
    backend.synchronise();
    for (std::int64_t row = 0; row < layout.rows; ++row) {
        const auto sent = std::as_const(from).row<Real>(row);
        const auto back = std::as_const(to).row<Real>(row);
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), back.begin())) << "row " << row << ", " << to_string(memory) << ", seed " << seed;
    }
}

TEST_P(Buffers, EveryCombinationCopiesThereAndBack) {
    const std::uint64_t seed = std::random_device{}();
    for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned})
        for (const auto& [words, rows] : {std::pair{1, 1}, std::pair{33, 7}, std::pair{1000, 50}, std::pair{0, 3}, std::pair{5, 0}}) {
            expect_round_trip<float>(backend(), plain_rows(Precision::f32, words, rows), memory, seed);
            expect_round_trip<float>(backend(), padded_rows(Precision::f32, words, rows), memory, seed);
            expect_round_trip<double>(backend(), plain_rows(Precision::f64, words, rows), memory, seed);
            expect_round_trip<double>(backend(), padded_rows(Precision::f64, words, rows, 64), memory, seed);
        }
}

TEST_P(Buffers, LayoutsMustAgree) {
    HostBuffer host(backend(), plain_rows(Precision::f32, 33, 4), HostMemory::pageable);
    DeviceBuffer device(backend(), padded_rows(Precision::f32, 33, 4));
    EXPECT_THROW(device.upload(host), Error);
    EXPECT_THROW(device.download(host), Error);
}

TEST_P(Buffers, RowsAreChecked) {
    HostBuffer host(backend(), plain_rows(Precision::f32, 33, 4), HostMemory::pinned);
    EXPECT_THROW(host.row<float>(-1), Error);
    EXPECT_THROW(host.row<float>(4), Error);
    EXPECT_THROW(host.row<double>(0), Error);
    EXPECT_NO_THROW(host.row<float>(3));
}

TEST_P(Buffers, ErrorsNameTheSizeAskedFor) {
    const RowLayout layout = plain_rows(Precision::f64, std::int64_t{1} << 29, std::int64_t{1} << 30);  // 2^62 bytes
    const auto message = [&](const auto& make) -> std::string {
        try {
            make();
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned})
        EXPECT_NE(message([&] { HostBuffer(backend(), layout, memory); }).find("4611686018427387904"), std::string::npos) << to_string(memory);
    EXPECT_NE(message([&] { DeviceBuffer(backend(), layout); }).find("4611686018427387904"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Buffers, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Buffers, testing::Values("cuda"));

}  // namespace
}  // namespace hone::buffers_test
