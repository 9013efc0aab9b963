#include <algorithm>

#include "generator/census.hpp"
#include "generator/families.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tuner/replay/formats/gzip.hpp"
#include "tuner/replay/formats/t1.hpp"

namespace hone::tools {
namespace space {

struct Settings {
    std::vector<std::string> problem;
    TargetOptions target;
    std::vector<std::string> configs;
    bool list = false;
    std::int64_t limit = 20;
    std::int64_t skip = 0;
    std::string t1;
    bool json = false;
};

// The members that --skip and --limit ask for.
std::vector<Config> page(const SearchSpace& space, const Census& census, const Settings& settings) {
    std::vector<Config> configs;
    const auto count = std::ssize(census.members);
    const std::int64_t first = std::min<std::int64_t>(settings.skip, count);
    const std::int64_t last = settings.limit == 0 ? count : first + std::min(settings.limit, count - first);
    constexpr std::int64_t most_listed = 2'000'000;  // a gigabyte
    if (last - first > most_listed)
        throw Error("--limit", fmt::format("{} members are too many for one list", last - first),
                    fmt::format("list them in parts, with --skip N --limit {}", most_listed));
    for (std::int64_t i = first; i < last; ++i) configs.push_back(space.at(census.members[static_cast<std::size_t>(i)]));
    return configs;
}

std::string values_of(const Tunable& tunable) {
    std::string text;
    for (const auto& value : tunable.values) text += (text.empty() ? "" : " ") + to_string(value);
    return text;
}

Json explained(const SearchSpace& space, const std::vector<std::string>& texts) {
    Json rows = Json::array();
    for (const auto& text : texts) {
        const Config config = space.parse(text);
        const auto rejection = space.check(config);
        Json row{{"config", json_of(config)}, {"member", !rejection}};
        if (rejection) row["rejected"] = {{"constraint", rejection->constraint}, {"reason", rejection->reason}};
        rows.push_back(std::move(row));
    }
    return rows;
}

Json document_of(Json problem, const SearchSpace& space, const Settings& settings) {
    const Census census = take_census(space);
    Json rejected = Json::array();
    for (const auto& row : census.rejected)
        rejected.push_back({{"constraint", row.constraint}, {"count", row.count}, {"example", json_of(row.example)}, {"reason", row.reason}});
    Json tunables = Json::array();
    for (const auto& tunable : space.tunables()) {
        Json values = Json::array();
        for (const auto& value : tunable.values) values.push_back(json_of(value));
        tunables.push_back({{"name", tunable.name}, {"help", tunable.help}, {"values", std::move(values)}});
    }
    Json document{{"problem", std::move(problem)},   {"product", space.product()},    {"members", census.members.size()},
                  {"rejected", std::move(rejected)}, {"safe", json_of(space.safe())}, {"tunables", std::move(tunables)}};
    if (settings.list) {
        document["skip"] = settings.skip;
        document["list"] = Json::array();
        for (const auto& config : page(space, census, settings)) document["list"].push_back(json_of(config));
    }
    if (!settings.configs.empty()) document["explained"] = explained(space, settings.configs);
    return document;
}

void print_census(const SearchSpace& space, const Census& census, Console& console) {
    console.print("configurations: {} of {} (product of all values) are members\n", grouped(std::ssize(census.members)), grouped(space.product()));
    if (!census.rejected.empty()) {
        console.print("\n");
        Table table({{"rejected by"}, {"count", Table::Align::right}, {"for example"}});
        for (const auto& row : census.rejected) {
            table.row({row.constraint, grouped(row.count), row.reason});
            table.row({"", "", row.example.key()});
        }
        console.print("{}", table.text());
    }
    console.print("\ntunables:\n");
    std::vector<std::pair<std::string, std::string>> lines;
    for (const auto& tunable : space.tunables()) lines.emplace_back(tunable.name, values_of(tunable) + "; " + tunable.help);
    console.print("{}\nsafe configuration (what runs untuned): {}\n", definition_list(lines, console.out_width()), space.safe().key());
}

void print_text(const std::string& title, const SearchSpace& space, const Settings& settings, Console& console) {
    console.print("{}\n", title);
    for (const auto& text : settings.configs) {
        const Config config = space.parse(text);
        const auto rejection = space.check(config);
        console.print("{}: {}\n", config.key(), rejection ? "rejected by " + rejection->constraint + ": " + rejection->reason : "a member");
    }
    if (!settings.configs.empty()) return;
    const Census census = take_census(space);
    print_census(space, census, console);
    if (!settings.list) return;
    console.print("\nmembers from number {} on:\n", settings.skip + 1);
    for (const auto& config : page(space, census, settings)) console.print("  {}\n", config.key());
}

// A space that another tuner's input describes; its conditions are the constraints.
Exit show_t1(const Settings& settings, Console& console) {
    if (!settings.problem.empty()) throw Error("space", "both --t1 and a problem are given", "give one of them");
    constexpr std::int64_t most_bytes = 1 << 26;
    const T1Space t1 = parse_t1(read_packed_file(settings.t1, most_bytes), settings.t1);
    const std::string title = t1.kernel.empty() ? settings.t1 : t1.kernel;
    if (settings.json)
        print(console, Json{{"device", nullptr}, {"spaces", Json::array({document_of({{"key", title}}, t1.space, settings)})}});
    else
        print_text(title, t1.space, settings, console);
    if (!t1.defaults_are_safe) console.message("hone: the defaults are not in the space; its first member serves as the safe configuration\n");
    return Exit::ok;
}

Exit show(const Settings& settings, Console& console) {
    if (!settings.t1.empty()) return show_t1(settings, console);
    const Families& families = known_families();
    const TargetChoice choice = choose_target(settings.target);
    const std::vector<Problem> problems = problems_of(settings.problem, families);
    Json spaces = Json::array();
    if (!settings.json) console.print("device: {}\n", choice.name);
    for (const auto& problem : problems) {
        const SearchSpace space = families.of(problem).space(problem, choice.limits);
        if (settings.json) {
            spaces.push_back(document_of(json_of(problem), space, settings));
        } else {
            console.print("\n");
            print_text(problem.key(), space, settings, console);
        }
    }
    if (settings.json) print(console, Json{{"device", json_of(choice)}, {"spaces", std::move(spaces)}});
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one or several problems; see 'hone families'");
    settings->target.declare(options);
    options.flag("list", settings->list, "also list members, --limit of them");
    options.number("limit", settings->limit, "N", "how many members --list prints; 0: all; default 20");
    options.number("skip", settings->skip, "N", "how many members --list skips first; default 0");
    options.list("config", settings->configs, "NAME=VALUE,...",
                 "explain this configuration: whether it is a member, or which rule it breaks and "
                 "why");
    options.text("t1", settings->t1, "FILE", "instead of a problem: the space that a T1 file of the autotuning community describes");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return show(*settings, console); };
}

}  // namespace space

Command space_command() {
    return {"space",
            "count, list and explain the configurations of a problem on a device",
            "FAMILY key=value... [options]",
            "A configuration says how a problem is computed: it has one value for each tunable. The space of a problem on a device is the product "
            "of all values, without those that the constraints reject before compilation (too much shared memory, too many threads, ...). This "
            "command counts the members, counts what each constraint rejects with an example, and explains the tunables.\n\n"
            "If a configuration leaves out a tunable, it has the value of the safe configuration.",
            {{"space dg_volume equation=maxwell_3d order=5 precision=f32 elements=100000 --device cpu --json", "counts for a script"},
             {"space gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --arch sm_90 --list --limit 5",
              "for a GPU that need not be on this machine, with the first five members"},
             {"space gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config block_x=128,block_y=16",
              "why a configuration is not a member"},
             {"space --t1 tests/spaces/t1/tiled_sum.json", "a space of another tuner, and how many configurations each condition removes"}},
            space::declare};
}

}  // namespace hone::tools
