#include "generator/families.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "generator/family_json.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"

namespace hone::tools {
namespace families {

struct Settings {
    std::vector<std::string> names;
    bool json = false;
};

std::string allowed(const ProblemParameter& parameter) {
    if (parameter.words.empty()) return fmt::format("{}..{}", parameter.low, parameter.high);
    return fmt::format("{}", fmt::join(parameter.words, " | "));
}

std::string described(const ProblemParameter& parameter) {
    std::string text = allowed(parameter) + "; " + parameter.help;
    if (parameter.extent) text += "; a size, the nearest tuned one is used";
    if (!parameter.fallback.empty()) text += "; default " + parameter.fallback;
    return text;
}

void print_text(const Family& family, Console& console) {
    constexpr int page = 100;
    const int width = console.out_width() > 0 ? std::min(console.out_width(), page) : page;
    console.print("{}: {}\n", family.name, wrapped(family.summary, width, display_width(family.name) + 2));
    std::vector<std::pair<std::string, std::string>> lines;
    for (const auto& parameter : family.parameters) lines.emplace_back(parameter.name, described(parameter));
    console.print("{}", definition_list(lines, console.out_width()));
    console.print("  source:  {}\n{}\n", wrapped(family.source, width, 11), fitted("  example: " + family.example, console.out_width()));
}

Exit list(const Settings& settings, Console& console) {
    const Families& families = known_families();
    std::vector<const Family*> chosen;
    for (const auto& name : settings.names) chosen.push_back(&families.find(name));
    if (chosen.empty())
        for (const auto& family : families) chosen.push_back(&family);
    if (settings.json) {
        Json rows = Json::array();
        for (const auto* family : chosen) rows.push_back(Json::parse(to_json(*family)));
        print(console, Json{{"families", std::move(rows)}});
        return Exit::ok;
    }
    for (const auto* family : chosen) {
        if (family != chosen.front()) console.print("\n");
        print_text(*family, console);
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY", settings->names, "show these families only");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return list(*settings, console); };
}

}  // namespace families

Command families_command() {
    return {"families",
            "what hone can compute, and the parameters of a problem",
            "[FAMILY...] [options]",
            "Lists the kernel families, each with a summary, the parameters of its problems and their allowed values, the source of the method, "
            "and an example.\n\n"
            "A problem is written as FAMILY key=value ... A value may be a list (precision=f32,f64) or a range (order=1..10), which means several "
            "problems. If a parameter is marked as a size, hone finds results for the nearest size.",
            {{"families", "all families"}, {"families dg_volume --json", "one family, for a script"}},
            families::declare};
}

}  // namespace hone::tools
