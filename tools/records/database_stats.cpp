#include "tools/records/database_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/records/record_kernel.hpp"
#include "tools/records/record_list.hpp"
#include "tools/records/record_table.hpp"

namespace hone::tools {
namespace {

class GeometricMean {
  public:
    void add(double value) {
        if (value <= 0) return;
        sum_ += std::log(value);
        ++count_;
    }
    double value() const { return count_ > 0 ? std::exp(sum_ / count_) : 0; }

  private:
    double sum_ = 0;
    int count_ = 0;
};

}  // namespace

std::vector<std::string> lacking(const Record& record) {
    std::vector<std::string> words;
    const auto need = [&](bool there, const char* word) {
        if (!there) words.emplace_back(word);
    };
    need(!record.versions.source_hash.empty(), "hash of the kernel");
    need(record.seed.has_value() || record.of_several_devices(), "seed");
    need(record.evaluations > 0, "candidates");
    need(record.step.high > record.step.low, "interval of the median");
    need(record.verified_whole(), "verification");
    need(!record.device.compiler.empty(), "compiler");
    need(record.safe_seconds > 0 || record.of_several_devices(), "safe configuration");
    need(record.ceiling_fraction > 0 || record.of_several_devices(), "ceiling");
    // Only NVML tells these; a processor has the threads that it was measured with instead.
    if (traits_of(record.device.target).has_monitor) {
        need(!record.device.driver.empty(), "driver");
        need(record.conditions.sm_megahertz.has_value(), "clocks");
        need(record.conditions.temperature_celsius.has_value(), "temperature");
    } else {
        need(record.team.has_value(), "threads");
    }
    return words;
}

DeviceStats stats_of(const std::vector<Record>& records, const Families& families) {
    constexpr double certain = 0.02;
    DeviceStats stats;
    GeometricMean nearness;
    GeometricMean gains;
    std::map<std::string, int> classes;
    for (const Record& record : records) {
        stats.device = device_key(record.device);
        stats.name = stats.title = record.device.name;
        if (traits_of(record.device.target).shares_processors) stats.title += fmt::format(", {} threads", record.device.units);
        if (!record.wrong.empty()) {
            ++stats.wrong;
            continue;
        }
        ++stats.records;
        ++stats.families[record.problem.family()];
        ++stats.versions[record.versions.hone];
        ++stats.software[record.device.driver + (record.device.driver.empty() ? "" : ", ") + record.device.compiler];
        ++classes[record.problem.class_key() + "\n" + record.purpose];
        if (stats.oldest.empty() || record.date < stats.oldest) stats.oldest = record.date;
        stats.newest = std::max(stats.newest, record.date);
        ++stats.kernels[name_of(kernel_today(record, families).state)];
        for (const std::string& word : lacking(record)) ++stats.lacking[word];
        if (!record.verified()) ++stats.unverified;
        if (!doubt(record).empty()) ++stats.disturbed;
        if (uncertainty(record.step) > certain) ++stats.unsure;
        if (record.ceiling_fraction <= 0) ++stats.unrated;
        nearness.add(record.ceiling_fraction);
        gains.add(gain(record));
    }
    for (const auto& [key, count] : classes)
        if (count > 1) stats.sizes += count;
    stats.nearness = nearness.value();
    stats.gain = gains.value();
    return stats;
}

JournalStats journal_stats(const std::filesystem::path& folder) {
    JournalStats stats;
    std::error_code error;
    for (std::filesystem::directory_iterator file(folder / "journals", error), end; !error && file != end; file.increment(error)) {
        const std::string name = file->path().filename().string();
        const std::size_t at = name.find(".jsonl");
        std::error_code unreadable;
        if (at == std::string::npos || !file->is_regular_file(unreadable)) continue;
        const auto size = file->file_size(unreadable);
        if (unreadable) continue;
        stats.bytes += size;
        ++(name.find(".previous", at) == std::string::npos ? stats.files : stats.previous);
    }
    return stats;
}

}  // namespace hone::tools
