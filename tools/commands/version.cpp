#include <fmt/format.h>

#include "runtime/backend.hpp"
#include "tools/command.hpp"
#include "tools/json.hpp"

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
    if (settings.json)
        print(console, Json{{"version", HONE_VERSION}, {"compiler", compiler()}, {"backends", names}});
    else
        console.print("hone " HONE_VERSION "\ncompiler: {}\nbackends: {}; 'hone doctor' says what this machine has of them\n", compiler(),
                      fmt::join(names, ", "));
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
            "version of hone, the compiler that built it, and its backends",
            "[options]",
            "What to name in a report of a defect, beside what 'hone doctor' prints. 'hone --version' is the same.",
            {{"version", "for people"}, {"version --json", "for a script: {\"version\", \"compiler\", \"backends\"}"}},
            version::declare};
}

}  // namespace hone::tools
