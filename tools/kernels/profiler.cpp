#include "tools/kernels/profiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/number_text.hpp"
#include "foundation/process.hpp"
#include "tools/console/csv.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/record_kernel.hpp"

namespace hone::tools {
namespace {

constexpr double most_seconds = 300;

// Each with what it means.
const std::vector<std::pair<std::string, std::string>>& metrics() {
    static const std::vector<std::pair<std::string, std::string>> all{
        {"dram__bytes_read.sum", "read from memory"},
        {"dram__bytes_write.sum", "written to memory"},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "of the memory's peak rate"},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "of the multiprocessors' peak rate"},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", "of the warps that a multiprocessor can hold were resident"},
        {"lts__t_sector_hit_rate.pct", "of the L2 sectors were hits"}};
    return all;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    return fmt::format("{}", fmt::join(words, between));
}

}  // namespace

std::vector<std::string> profile_command(const std::string& program, const std::string& hone, const std::vector<std::string>& words,
                                         const std::vector<std::string>& entries) {
    std::vector<std::string> names;
    for (const auto& [name, meaning] : metrics()) names.push_back(name);
    // The first launches are the verification's; those behind them are the sampling period's.
    std::vector<std::string> command{program,
                                     "--csv",
                                     "--target-processes",
                                     "all",
                                     "--kernel-name",
                                     "regex:^(" + joined(entries, "|") + ")$",
                                     "--launch-count",
                                     fmt::format("{}", 2 * entries.size()),
                                     "--metrics",
                                     joined(names, ","),
                                     hone};
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

std::vector<HardwareCounter> counters_in(const std::string& output) {
    std::istringstream lines(output);
    std::string csv;
    std::string other;
    // Before the table and behind it stand the profiler's messages and what the program printed.
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("\"ID\"") || (!csv.empty() && line.starts_with('"')))
            csv += line + "\n";
        else if (line.starts_with("==ERROR==") || line.starts_with("==WARNING=="))
            other += line + " ";
    }
    constexpr const char* remedy = "run ncu by hand, 'hone explain --help' says how";
    const CsvTable table = read_csv(csv, "ncu", remedy);
    const std::size_t kernel = table.column("Kernel Name");
    const std::size_t name = table.column("Metric Name");
    const std::size_t unit = table.column("Metric Unit");
    const std::size_t value = table.column("Metric Value");
    if (csv.empty() || std::max({kernel, name, unit, value}) == table.header.size())
        throw Error("--profile", other.empty() ? "the profiler counted nothing" : other, remedy);
    std::map<std::pair<std::string, std::string>, HardwareCounter> last;
    for (const auto& row : table.rows) {
        std::string digits = row[value];
        std::erase(digits, ',');  // thousands
        std::size_t read = 0;
        const auto number = number_at_head(digits, &read);
        if (!number || read != digits.size()) continue;  // "n/a" on devices without the counter
        last[{row[kernel], row[name]}] = {row[kernel], row[name], row[unit], *number};
    }
    std::vector<HardwareCounter> counters;
    counters.reserve(last.size());
    for (auto& [key, counter] : last) counters.push_back(std::move(counter));
    return counters;
}

std::vector<HardwareCounter> read_counters(const Record& record, const std::string& database) {
    const std::string program = find_program("ncu");
    if (record.device.target == Target::cpu)
        throw Error("--profile", "hone reads the counters of NVIDIA's GPUs only", "for processors: perf stat, or perf record, around 'hone verify'");
    if (program.empty())
        throw Error("--profile", "there is no profiler ncu on the PATH", "install Nsight Compute, which comes with the CUDA toolkit");
    if (device_key(find_device("cuda").fingerprint) != device_key(record.device))
        throw Error("--profile", "this machine has another GPU than " + record.device.name, "profile on that device");
    const auto source = kernel_today(record, known_families()).source;
    if (!source) throw Error("--profile", "hone no longer generates a kernel for this configuration", "tune the problem again");
    std::set<std::string> entries;
    for (const Launch& launch : source->step) entries.insert(launch.entry);
    std::istringstream problem(short_key(record.problem, known_families()));
    std::vector<std::string> words{"verify"};
    for (std::string word; problem >> word;) words.push_back(word);
    words.insert(words.end(), {"--device", "cuda"});
    if (!database.empty()) words.insert(words.end(), {"--db", database});
    const std::string hone = std::filesystem::read_symlink("/proc/self/exe").string();
    const ProcessResult result = run_process(profile_command(program, hone, words, {entries.begin(), entries.end()}), most_seconds);
    if (!result.started || result.timed_out) throw Error("--profile", "ncu " + result.failure(), "run it by hand");
    return counters_in(result.output);
}

std::string counters_table(const std::vector<HardwareCounter>& counters, const Counts& counts) {
    Table table({{"kernel"}, {"value", Table::Align::right}, {"unit"}, {"what it is"}});
    double moved = 0;
    for (const HardwareCounter& counter : counters) {
        const auto known = std::find_if(metrics().begin(), metrics().end(), [&](const auto& metric) { return metric.first == counter.name; });
        table.row({counter.kernel, significant(counter.value), counter.unit, known == metrics().end() ? counter.name : known->second});
        const std::map<std::string, double> units{{"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}};
        const auto unit = units.find(counter.unit);
        if (counter.name.starts_with("dram__bytes_") && unit != units.end()) moved += counter.value * unit->second;
    }
    std::string text = table.text();
    if (moved > 0 && counts.bytes > 0)
        text += fmt::format("one launch of each moved {}; the compulsory traffic of a step is {}\n", bytes(moved), bytes(counts.bytes));
    return text;
}

Json json_of(const std::vector<HardwareCounter>& counters) {
    Json list = Json::array();
    for (const HardwareCounter& counter : counters)
        list.push_back({{"kernel", counter.kernel}, {"name", counter.name}, {"unit", counter.unit}, {"value", counter.value}});
    return list;
}

}  // namespace hone::tools
