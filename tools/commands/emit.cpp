#include <fmt/ranges.h>

#include "generator/families.hpp"
#include "generator/tidy.hpp"
#include "tools/console/command.hpp"
#include "tools/console/configuration.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"

namespace hone::tools {
namespace emit {

struct Settings {
    std::vector<std::string> problem;
    TargetOptions target;
    std::string config;
    bool plan = false;
    bool json = false;
};

std::string text_of(Access access) {
    return access == Access::in ? "in" : access == Access::out ? "out" : "in and out";
}

std::string text_of(const Dim3& size) {
    return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
}

void print_launches(const std::string& title, const std::vector<Launch>& launches, const KernelSource& source, Console& console) {
    if (launches.empty()) return;
    console.print("\n{}:\n", title);
    const bool cuda = traits_of(source.target).has_blocks;
    std::vector<Table::Column> columns{{"launch", Table::Align::right}, {"entry"}, {"constants"}};
    if (cuda) columns.insert(columns.end(), {{"blocks"}, {"threads"}, {"range"}, {"dynamic shared", Table::Align::right}});
    Table table(columns);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const auto& launch = launches[i];
        std::vector<std::string> cells{fmt::format("{}", i + 1), launch.entry, fmt::format("{}", fmt::join(launch.constants, ", "))};
        const std::string range =
            launch.range_axis < 0 ? "whole" : fmt::format("{} per block along {}", launch.range_per_block, "xyz"[launch.range_axis]);
        if (cuda) cells.insert(cells.end(), {text_of(launch.grid), text_of(launch.block), range, bytes(static_cast<double>(launch.shared_bytes))});
        table.row(std::move(cells));
    }
    console.print("{}", table.text());
}

void print_arguments(const KernelSource& source, Console& console) {
    const auto word = static_cast<double>(bytes_per_word(source.precision));
    Table table({{"argument"},
                 {"kind"},
                 {"words", Table::Align::right},
                 {"size", Table::Align::right},
                 {"shape"},
                 {"strides"},
                 {"origin", Table::Align::right},
                 {"aligned to", Table::Align::right},
                 {"contents"}});
    const auto row = [&](const std::string& name, const std::string& kind, std::int64_t words, const std::string& contents) {
        table.row({name, kind, grouped(words), bytes(static_cast<double>(words) * word), "", "", "", "", contents});
    };
    for (const auto& array : source.arrays)
        table.row({array.name, "array, " + text_of(array.access), grouped(array.words), bytes(static_cast<double>(array.words) * word), array.shape,
                   fmt::format("{}", fmt::join(array.strides, " ")), grouped(array.origin), fmt::format("{} B", address_multiple(source, array)),
                   array.help});
    for (const auto& made : source.tables)
        row(made.name, "table of the kernel", made.words, made.contents.empty() ? "filled by the preparation" : "constants");
    for (const int array : source.by_value) {
        const ArraySpec& spec = source.arrays.at(static_cast<std::size_t>(array));
        row(spec.name, "by value", spec.words, "copied by the preparation");
    }
    for (const auto& scalar : source.scalars) table.row({scalar.name, "int", "", "", "", "", "", "", fmt::format("{}", scalar.value)});
    table.row({"first, last", "int", "", "", "", "", "", "", "the range"});
    console.print("\narguments, in order; the constants of a launch follow:\n{}", table.text());
}

void print_plan(const Family& family, const Problem& problem, const Config& config, const KernelSource& source, Console& console) {
    console.print("{}\nconfiguration: {}\nrange: {} {}\n", problem.key(), config.key(), grouped(family.range(problem)), family.range_unit);
    print_arguments(source, console);
    print_launches("preparation, once per binding of arrays", source.prepare, source, console);
    print_launches("one time step", source.step, source, console);
    const Counts counts = family.counts(problem);
    console.print("\none time step: {} {}, {} operations (this form executes {}), {} of compulsory traffic\n", grouped_count(counts.updates),
                  counts.unit, grouped_count(counts.operations), grouped_count(source.executed_operations), bytes(counts.bytes));
}

Json document_of(const std::vector<Launch>& launches) {
    Json rows = Json::array();
    for (const auto& launch : launches)
        rows.push_back({{"entry", launch.entry},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"range_axis", launch.range_axis},
                        {"range_per_block", launch.range_per_block},
                        {"shared_bytes", launch.shared_bytes},
                        {"constants", launch.constants}});
    return rows;
}

Json document_of(const Family& family, const Problem& problem, const Config& config, const KernelSource& source) {
    Json arrays = Json::array();
    for (const auto& array : source.arrays)
        arrays.push_back({{"name", array.name},
                          {"access", text_of(array.access)},
                          {"words", array.words},
                          {"shape", array.shape},
                          {"strides", array.strides},
                          {"origin", array.origin},
                          {"alignment", address_multiple(source, array)},
                          {"help", array.help}});
    Json tables = Json::array();
    for (const auto& table : source.tables) {
        Json made{{"name", table.name}, {"words", table.words}, {"filled_by", table.contents.empty() ? "prepare" : "constants"}};
        if (!table.contents.empty()) made["contents"] = table.contents;
        tables.push_back(std::move(made));
    }
    Json by_value = Json::array();
    for (const int array : source.by_value) by_value.push_back(source.arrays.at(static_cast<std::size_t>(array)).name);
    Json scalars = Json::object();
    for (const auto& scalar : source.scalars) scalars[scalar.name] = scalar.value;
    return {{"problem", json_of(problem)},
            {"config", json_of(config)},
            {"target", to_string(source.target)},
            {"entries", source.entries},
            {"range", {{"length", family.range(problem)}, {"unit", family.range_unit}}},
            {"arrays", std::move(arrays)},
            {"tables", std::move(tables)},
            {"by_value", std::move(by_value)},
            {"scalars", std::move(scalars)},
            {"prepare", document_of(source.prepare)},
            {"step", document_of(source.step)},
            {"counts", json_of(family.counts(problem))},
            {"executed_operations", source.executed_operations},
            {"text", source.text}};
}

// The command that emits this text. A kernel's text is the same for every size, so its own comment
// names sizes for example: here those that were asked for take their place.
std::string with_asked_sizes(const std::string& text, const Problem& problem, const Config& config, Target target) {
    return with_command(text,
                        fmt::format("hone emit {} --target {} --config {}", short_key(problem, known_families()), to_string(target), config.key()));
}

Exit emit(const Settings& settings, Console& console) {
    const Families& families = known_families();
    const TargetChoice choice = choose_target(settings.target);
    const Problem problem = problem_of(settings.problem, families);
    const Family& family = families.of(problem);
    const Config config = member(family.space(problem, choice.limits), settings.config, problem);
    KernelSource source = family.kernel(problem, config, choice.limits);
    source.text = with_asked_sizes(source.text, problem, config, source.target);
    if (settings.json)
        print(console, document_of(family, problem, config, source));
    else if (settings.plan)
        print_plan(family, problem, config, source, console);
    else
        console.out << source.text;
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one problem; see 'hone families'");
    settings->target.declare(options);
    options.text("config", settings->config, "NAME=VALUE,...", "the configuration; what is left out is taken from the safe one; see 'hone space'");
    options.flag("plan", settings->plan, "print arguments, tables, launches and counts instead of the source");
    options.flag("json", settings->json, "print one JSON document with the plan and the source");
    return [settings](Console& console) { return emit(*settings, console); };
}

}  // namespace emit

Command emit_command() {
    return {
        "emit",
        "print the source of a kernel, or its launch plan",
        "FAMILY key=value... [options]",
        "Prints the CUDA or C++ source for a problem and a configuration. With --target and --arch, the same arguments give the same text on every "
        "machine. The comment at the beginning names the sizes; the rest of the text is the same for all sizes.\n\n"
        "--plan prints the arguments in order, with the layout of their values (strides, and the first value inside of boundaries, in values; the "
        "alignment of the address), the tables that the kernel owns, and the launches of one time step.",
        {{"emit gauss_seidel_27 stencil=constant precision=f32 nx=512 ny=512 nz=512 --target cuda --config block_x=32,block_y=8,z_block=16",
          "a CUDA kernel with a configuration of one's own"},
         {"emit dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --target cpu > kernel.cpp", "the safe CPU kernel, to a file"},
         {"emit dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --target cuda --arch sm_90 --plan", "how it is launched"}},
        emit::declare};
}

}  // namespace hone::tools
