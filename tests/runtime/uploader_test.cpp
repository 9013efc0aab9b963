#include "runtime/uploader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "foundation/host_memory.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::uploader_test {
namespace {

// A device that fetches host memory as late as it may: when it is waited for.
class LateDevice : public Backend {
  public:
    explicit LateDevice(Target target) { device_.limits.target = target; }
    ~LateDevice() override { EXPECT_EQ(pinned, 0) << "pinned buffers are left"; }

    const Device& device() const override { return device_; }
    const Compiler& compiler() const override { throw std::logic_error("compiles nothing"); }
    std::unique_ptr<Module> load(const CompiledCode&) override { throw std::logic_error("loads nothing"); }
    void* allocate(std::int64_t bytes) override { return allocate_host_memory(bytes, "late device"); }
    void free(void* pointer) noexcept override { release_host_memory(pointer); }
    void* allocate_pinned(std::int64_t bytes) override {
        ++pinned;
        return allocate(bytes);
    }
    void free_pinned(void* pointer) noexcept override {
        --pinned;
        release_host_memory(pointer);
    }
    void copy(void* to, const void* from, std::int64_t bytes, Stream) override {
        ++copies;
        queue_.emplace_back([=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
    }
    void fill(void*, unsigned char, std::int64_t, Stream) override { throw std::logic_error("fills nothing"); }
    void synchronise(Stream) override {
        for (const auto& work : queue_) work();
        queue_.clear();
    }
    double seconds(Stream, const std::function<void()>&) override { throw std::logic_error("has no clock"); }
    std::unique_ptr<StopWatch> make_stop_watch() override { throw std::logic_error("has no clock"); }
    double largest_difference(const void*, const void*, std::int64_t, ValueType) override { throw std::logic_error("compares nothing"); }

    int pinned = 0;
    int copies = 0;

  private:
    Device device_;
    std::vector<std::function<void()>> queue_;
};

std::vector<unsigned char> random_bytes(std::int64_t count, test::FreshRandom& random) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(random());
    return bytes;
}

// Buffers that are filled again before they were fetched, pieces left out and pieces at wrong
// places all show.
TEST(Uploader, EveryByteArrivesHoweverLateTheDeviceFetchesIt) {
    test::FreshRandom random;
    LateDevice device(Target::cuda);
    Uploader uploader(device);
    constexpr std::int64_t part = Uploader::buffer_bytes;
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, part - 1, part, part + 1, 3 * part + 12345}) {
        const auto host = random_bytes(count, random);
        std::vector<unsigned char> arrived(host.size());
        device.copies = 0;
        uploader.upload(arrived.data(), host.data(), count);
        EXPECT_EQ(device.copies, (count + part - 1) / part);
        EXPECT_TRUE(arrived == host) << count << " bytes";
    }
    EXPECT_EQ(device.pinned, 2);
}

TEST(Uploader, OnTheProcessorIsOneCopy) {
    test::FreshRandom random;
    LateDevice device(Target::cpu);
    Uploader uploader(device);
    const auto host = random_bytes(2 * Uploader::buffer_bytes, random);
    std::vector<unsigned char> arrived(host.size());
    uploader.upload(arrived.data(), host.data(), static_cast<std::int64_t>(host.size()));
    EXPECT_EQ(device.copies, 1);
    EXPECT_EQ(device.pinned, 0);
    device.synchronise({});
    EXPECT_TRUE(arrived == host);
}

}  // namespace
}  // namespace hone::uploader_test
