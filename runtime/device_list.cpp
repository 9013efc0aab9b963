#include "runtime/device_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "foundation/json.hpp"
#include "runtime/cuda/nvml.hpp"

namespace hone::inline v0_1 {
namespace {

/// An object of members whose values are JSON.
using JsonMembers = std::vector<std::pair<const char*, std::string>>;

std::string json_object(const JsonMembers& members) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : members) texts.push_back(fmt::format("\"{}\": {}", name, value));
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

// What the management library says now; null members are not known.
std::string reading_json(const DeviceReading& reading) {
    const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : "null"; };
    std::vector<std::string> reasons;
    for (const std::string& reason : reading.throttle_reasons) reasons.push_back(json_string(reason));
    return json_object({{"power_watts", number(reading.power_watts)},
                        {"sm_megahertz", number(reading.sm_megahertz)},
                        {"memory_megahertz", number(reading.memory_megahertz)},
                        {"temperature_celsius", number(reading.temperature_celsius)},
                        {"throttle_reasons", fmt::format("[{}]", fmt::join(reasons, ", "))}});
}

std::string device_json(const Device& device) {
    const DeviceFingerprint& fingerprint = device.fingerprint;
    JsonMembers members{{"id", json_string(device_id(device))},
                        {"target", json_string(to_string(fingerprint.target))},
                        {"name", json_string(fingerprint.name)},
                        {"architecture", json_string(fingerprint.architecture)},
                        {"units", std::to_string(fingerprint.units)},
                        {"driver", json_string(fingerprint.driver)},
                        {"compiler", json_string(fingerprint.compiler)},
                        {"key", json_string(device_key(fingerprint))},
                        {"memory_bytes", std::to_string(device.memory_bytes)},
                        {"limits", limits_json(device.limits)}};
    if (traits_of(fingerprint.target).has_monitor) members.emplace_back("now", reading_json(DeviceMonitor(device.index).read()));
    return json_object(members);
}

}  // namespace

DeviceList list_devices() {
    DeviceList list;
    for (const BackendEntry& entry : backends()) {
        std::string reason;
        const std::vector<Device> devices = entry.devices(reason);
        list.devices.insert(list.devices.end(), devices.begin(), devices.end());
        if (devices.empty()) list.missing.push_back({entry.target, reason});
    }
    return list;
}

std::string device_id(const Device& device) {
    const std::string target = to_string(device.fingerprint.target);
    return traits_of(device.fingerprint.target).is_numbered ? fmt::format("{}:{}", target, device.index) : target;
}

std::string to_json(const DeviceList& list) {
    std::vector<std::string> devices, missing;
    for (const Device& device : list.devices) devices.push_back(device_json(device));
    for (const DeviceList::Missing& one : list.missing)
        missing.push_back(json_object({{"target", json_string(to_string(one.target))}, {"reason", json_string(one.reason)}}));
    return fmt::format(R"({{"devices": [{}], "missing": [{}]}})", fmt::join(devices, ", "), fmt::join(missing, ", "));
}

std::string limits_json(const Limits& limits) {
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    if (!traits_of(limits.target).has_blocks)
        return json_object({{"cores", number(limits.multiprocessors)},
                            {"vector_bytes", number(limits.vector_bytes)},
                            {"l2_bytes_per_core", number(limits.cache_bytes)}});
    return json_object({{"multiprocessors", number(limits.multiprocessors)},
                        {"max_threads_per_block", number(limits.max_threads_per_block)},
                        {"max_threads_per_multiprocessor", number(limits.max_threads_per_multiprocessor)},
                        {"registers_per_multiprocessor", number(limits.registers_per_multiprocessor)},
                        {"max_registers_per_thread", number(limits.max_registers_per_thread)},
                        {"shared_bytes_per_block", number(limits.shared_bytes_per_block)},
                        {"shared_bytes_per_multiprocessor", number(limits.shared_bytes_per_multiprocessor)},
                        {"l2_bytes", number(limits.cache_bytes)}});
}

}  // namespace hone::inline v0_1
