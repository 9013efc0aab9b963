#include <fmt/ranges.h>

#include "runtime/cuda/nvml.hpp"
#include "runtime/device_list.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"

namespace hone::tools {
namespace devices {

struct Settings {
    bool json = false;
};

std::string text_of(const DeviceReading& reading) {
    std::vector<std::string> parts;
    if (reading.sm_megahertz) parts.push_back(fmt::format("{:.0f} MHz", *reading.sm_megahertz));
    if (reading.memory_megahertz) parts.push_back(fmt::format("memory {:.0f} MHz", *reading.memory_megahertz));
    if (reading.power_watts) parts.push_back(fmt::format("{:.0f} W", *reading.power_watts));
    if (reading.temperature_celsius) parts.push_back(fmt::format("{:.0f} degrees Celsius", *reading.temperature_celsius));
    for (const auto& reason : reading.throttle_reasons) parts.push_back("slowed by " + reason);
    return fmt::format("{}", fmt::join(parts, ", "));
}

void print_text(const Device& device, Console& console) {
    const auto& fingerprint = device.fingerprint;
    const auto& limits = device.limits;
    const bool cuda = traits_of(fingerprint.target).has_blocks;
    std::vector<std::pair<std::string, std::string>> lines{
        {"architecture", fingerprint.architecture},
        {cuda ? "multiprocessors" : "threads", fmt::format("{}", fingerprint.units)},
        {"memory", bytes(static_cast<double>(device.memory_bytes))},
    };
    if (cuda) {
        lines.emplace_back("shared memory", bytes(limits.shared_bytes_per_block) + " per block, " + bytes(limits.shared_bytes_per_multiprocessor) +
                                                " per multiprocessor");
        lines.emplace_back("L2 cache", bytes(limits.cache_bytes));
        lines.emplace_back("driver", fingerprint.driver);
        if (const std::string now = text_of(DeviceMonitor(device.index).read()); !now.empty()) lines.emplace_back("now", now);
    } else {
        lines.emplace_back("vector registers", fmt::format("{} bits", 8 * limits.vector_bytes));
        lines.emplace_back("L2 cache per core", bytes(limits.cache_bytes));
    }
    lines.emplace_back("compiler", fingerprint.compiler.empty() ? "none; see 'hone doctor'" : fingerprint.compiler);
    lines.emplace_back("database file", device_key(fingerprint) + ".json");
    console.print("{}: {}\n{}", device_id(device), fingerprint.name, definition_list(lines, console.out_width()));
}

Exit list(const Settings& settings, Console& console) {
    const DeviceList found = list_devices();
    if (settings.json) {
        print(console, Json::parse(to_json(found)));
    } else {
        for (const Device& device : found.devices) print_text(device, console);
        for (const auto& [target, reason] : found.missing)
            console.print("{}", fitted(fmt::format("{}: none; {}\n", to_string(target), reason), console.out_width()));
    }
    return found.devices.empty() ? Exit::missing : Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return list(*settings, console); };
}

}  // namespace devices

Command devices_command() {
    return {"devices",
            "every device of this machine that hone can use",
            "[options]",
            "Lists the devices of every backend: the key under which tuned results are stored (name, architecture, units, driver, compiler), "
            "memory, and the limits that decide which configurations are possible. --device takes the first word of each.",
            {{"devices", "for people"}, {"devices --json", "for a script: {\"devices\": [...], \"missing\": [...]}"}},
            devices::declare};
}

}  // namespace hone::tools
