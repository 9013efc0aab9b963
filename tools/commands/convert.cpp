#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>

#include "foundation/file_store.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tuner/replay/formats/gzip.hpp"
#include "tuner/replay/formats/journal_space.hpp"
#include "tuner/replay/formats/kernel_tuner.hpp"
#include "tuner/replay/formats/space_file.hpp"
#include "tuner/replay/formats/t1.hpp"
#include "tuner/replay/formats/t4.hpp"
#include "tuner/replay/recorded_space.hpp"

namespace hone::tools {
namespace convert {

struct Settings {
    std::vector<std::string> files;
    std::string to;
    std::string output;
};

struct Format {
    std::string name;
    std::string summary;
    std::string (*text)(const RecordedSpace&);
};

const std::vector<Format>& formats() {
    static const std::vector<Format> table{
        {"kernel_tuner", "cache file of Kernel Tuner", [](const RecordedSpace& recorded) { return kernel_tuner_text(recorded, known_families()); }},
        {"t4", "results of the autotuning community", t4_text},
        {"t1", "the space alone: parameters, values, and what is left out, as conditions", t1_text},
        {"journal", "of hone, as an exhaustive run leaves it", journal_text},
        {"space", "of hone, compact: title, values, costs and single runs", space_file_text}};
    return table;
}

const Format& find_format(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& format : formats()) {
        if (format.name == name) return format;
        names.push_back(format.name);
    }
    throw Error("convert", name.empty() ? "the wanted format is missing" : fmt::format("there is no format \"{}\"", name),
                did_you_mean(name, names) + fmt::format("write --to with one of {}", fmt::join(names, ", ")));
}

Exit convert(const Settings& settings, Console& console) {
    if (settings.files.size() != 1)
        throw Error("convert", fmt::format("{} files are named", settings.files.size()),
                    "name one: a cache file of Kernel Tuner, T4 results or a journal");
    const Format& format = find_format(settings.to);
    const RecordedSpace recorded = read_recorded_space(settings.files.front());
    const std::string text = format.text(recorded);
    if (settings.output.empty()) {
        console.print("{}", text);
        return Exit::ok;
    }
    const std::filesystem::path output = settings.output;
    replace_file(output, output.extension() == ".gz" ? gzip(text) : text);
    const auto count = static_cast<std::int64_t>(recorded.members().size());
    console.message("hone: wrote {} configurations, {} of them invalid, to {}\n", grouped(count), grouped(count - recorded.valid()), output.string());
    return Exit::ok;
}

std::string format_help() {
    std::string text;
    for (const auto& format : formats()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", format.name, format.summary);
    return text;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FILE", settings->files, "a cache file of Kernel Tuner, T4 results or a journal of hone, gzipped or not");
    options.text("to", settings->to, "FORMAT", format_help());
    options.text("output", settings->output, "FILE", "write there, gzipped when it ends in .gz; default standard output");
    return [settings](Console& console) { return convert(*settings, console); };
}

}  // namespace convert

Command convert_command() {
    return {"convert",
            "bring measured search spaces from one tuner's format to another's",
            "FILE --to FORMAT [options]",
            "Reads measurements of another tuner, or a journal in the database's journals/, and writes them in another format. Parameters, values, "
            "times and reasons of failures do not change. Kernel Tuner's time is a mean, a journal's a median. A conversion between the two "
            "computes the time from the single runs, if they were recorded.",
            {{"convert ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl --to kernel_tuner --output run.json",
              "results of an exhaustive run, for Kernel Tuner's simulation mode"},
             {"convert cache.json.gz --to t4", "measurements of Kernel Tuner, as T4 results"}},
            convert::declare};
}

}  // namespace hone::tools
