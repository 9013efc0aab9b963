#include "runtime/doctor.hpp"

#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/format.hpp"
#include "tools/json.hpp"
#include "tools/target.hpp"

namespace hone::tools {
namespace {

struct Settings {
    bool json = false;
};

// The names that --device takes here.
std::vector<std::string> usable_devices() {
    std::vector<std::string> ids;
    for (const auto& entry : backends()) {
        std::string missing;
        for (const auto& device : entry.devices(missing)) ids.push_back(device_id(device));
    }
    return ids;
}

void print_text(const std::vector<Finding>& findings, const std::vector<std::string>& devices, Console& console) {
    std::vector<std::pair<std::string, std::string>> found;
    std::vector<std::pair<std::string, std::string>> missing;
    for (const auto& finding : findings) {
        if (finding.found)
            found.emplace_back(finding.what, finding.detail);
        else
            missing.emplace_back(finding.what, fmt::format("{}. Remedy: {}. Then {}.", finding.detail, finding.remedy, finding.purpose));
    }
    console.print("found:\n{}", definition_list(found));
    if (!missing.empty()) console.print("\nmissing:\n{}", definition_list(missing));
    console.print("\nfolders:\n{}",
                  definition_list({{"tuned results", database_folder("").string()}, {"compiled kernels", DiskCache::default_folder().string()}}));
    if (devices.empty())
        console.print("\nno device can be used yet: install one of the above\n");
    else
        console.print("\nready: 'hone tune --device {}' tunes on the best device; usable are {}\n", devices.front(), fmt::join(devices, ", "));
}

Exit examine(const Settings& settings, Console& console) {
    const std::vector<Finding> findings = diagnose();
    const std::vector<std::string> devices = usable_devices();
    if (settings.json) {
        Json rows = Json::array();
        for (const auto& finding : findings)
            rows.push_back({{"what", finding.what},
                            {"found", finding.found},
                            {"detail", finding.detail},
                            {"remedy", finding.remedy},
                            {"purpose", finding.purpose}});
        print(console, Json{{"findings", std::move(rows)},
                            {"devices", devices},
                            {"database", database_folder("").string()},
                            {"cache", DiskCache::default_folder().string()}});
    } else {
        print_text(findings, devices, console);
    }
    return devices.empty() ? Exit::missing : Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return examine(*settings, console); };
}

}  // namespace

Command doctor_command() {
    return {
        "doctor",
        "what this machine has, what it lacks, and what to install",
        "[options]",
        "Looks for everything that hone uses: CUDA driver, GPUs, NVRTC, NVML, C++ compiler, threads and vector instructions. What is missing is "
        "named with what it would be good for and how to install it. Nothing is changed. Exit code 0 when at least one device can be used, else 3.",
        {{"doctor", "for people"}, {"doctor --json", "for a script"}},
        declare};
}

}  // namespace hone::tools
