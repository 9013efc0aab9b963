#include "runtime/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "foundation/error.hpp"

namespace hone::inline v0_1::cuda {

int compiler_release(const std::string& name) {
    constexpr std::string_view begin = "NVRTC ";
    if (!name.starts_with(begin)) return 0;
    int major = 0, minor = 0;
    const char* const end = name.data() + name.size();
    const auto [dot, error] = std::from_chars(name.data() + begin.size(), end, major);
    if (error != std::errc() || dot == end || *dot != '.' || std::from_chars(dot + 1, end, minor).ec != std::errc()) return 0;
    return 10 * major + std::min(minor, 9);
}

Device describe_device(const Driver& driver, int index, const std::string& compiler) {
    const auto check = [&](Result result, const char* what) {
        if (result != success)
            throw Error(fmt::format("CUDA device {}", index), fmt::format("{}: {}", what, driver.text(result)),
                        "check nvidia-smi and CUDA_VISIBLE_DEVICES");
    };
    int handle = 0;
    check(driver.device_get(&handle, index), "opening it");
    const auto attribute = [&](int which) {
        int value = 0;
        check(driver.device_get_attribute(&value, which, handle), "asking an attribute");
        return value;
    };
    std::array<char, 256> name{};
    check(driver.device_get_name(name.data(), static_cast<int>(name.size()) - 1, handle), "asking its name");
    std::size_t memory = 0;
    check(driver.device_total_memory(&memory, handle), "asking its memory");
    int version = 0;
    check(driver.driver_get_version(&version), "asking the driver's version");
    if (attribute(unified_addressing) == 0)
        throw Error(fmt::format("CUDA device {}", index), fmt::format("{} has no unified addresses", name.data()),
                    "use a 64-bit system and a GPU of sm_70 or newer");

    Device device;
    device.index = index;
    device.memory_bytes = static_cast<std::int64_t>(memory);
    const int architecture = 10 * attribute(compute_capability_major) + attribute(compute_capability_minor);
    device.limits = cuda_limits(architecture);
    device.limits.max_threads_per_block = attribute(max_threads_per_block);
    device.limits.max_threads_per_multiprocessor = attribute(max_threads_per_multiprocessor);
    device.limits.registers_per_multiprocessor = attribute(max_registers_per_multiprocessor);
    device.limits.shared_bytes_per_block = attribute(max_shared_memory_per_block_optin);
    device.limits.shared_bytes_per_multiprocessor = attribute(max_shared_memory_per_multiprocessor);
    device.limits.multiprocessors = attribute(multiprocessor_count);
    device.limits.cache_bytes = attribute(l2_cache_size);
    device.limits.compiler = compiler_release(compiler);
    // Drivers before 12.5 do not know the question.
    int is_shared = 0;
    device.is_shared = driver.device_get_attribute(&is_shared, mps_enabled, handle) == success && is_shared != 0;
    device.fingerprint = {Target::cuda,          name.data(), fmt::format("sm_{}", architecture), device.limits.multiprocessors,
                          version_text(version), compiler};
    return device;
}

}  // namespace hone::inline v0_1::cuda
