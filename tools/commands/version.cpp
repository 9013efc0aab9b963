#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interfaces/c/hone.h"
#include "runtime/backend.hpp"
#include "runtime/capture.hpp"
#include "tools/console/command.hpp"
#include "tools/console/json.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools {
namespace version {

struct Settings {
    bool json = false;
};

// That built this program; kernels are compiled by whatever 'hone doctor' names.
std::string compiler() {
#if defined(__clang__)
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

Exit print_version(const Settings& settings, Console& console) {
    std::vector<std::string> names;
    for (const auto& backend : backends()) names.push_back(to_string(backend.target));
    const std::vector<std::pair<std::string, std::int64_t>> formats{
        {"database", schema_version}, {"journal", journal_version}, {"capture", capture_version}};
    const std::string interface = fmt::format("{}.{}", HONE_ABI_MAJOR, HONE_ABI_MINOR);
    if (settings.json) {
        Json versions = Json::object();
        for (const auto& [format, number] : formats) versions[format] = number;
        print(console, Json{{"version", HONE_VERSION},
                            {"build", HONE_BUILD_TYPE},
                            {"compiler", compiler()},
                            {"backends", names},
                            {"formats", std::move(versions)},
                            {"c_interface", interface}});
        return Exit::ok;
    }
    std::vector<std::string> told;
    told.reserve(formats.size());
    for (const auto& [format, number] : formats) told.push_back(fmt::format("{} {}", format, number));
    console.print("hone " HONE_VERSION "\nbuild: " HONE_BUILD_TYPE ", {}\nbackends: {}; 'hone doctor' says what this machine has of them\n",
                  compiler(), fmt::join(names, ", "));
    console.print("formats: {}; C interface {}\n", fmt::join(told, ", "), interface);
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return print_version(*settings, console); };
}

}  // namespace version

Command version_command() {
    return {"version",
            "version of hone, how it was built, its backends and the formats that it writes",
            "[options]",
            "Include this and the output of 'hone doctor' in bug reports. 'hone --version' is the same.",
            {{"version", "for people"},
             {"version --json", "for a script: {\"version\", \"build\", \"compiler\", \"backends\", \"formats\", \"c_interface\"}"}},
            version::declare};
}

}  // namespace hone::tools
