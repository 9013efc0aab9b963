#include "tools/records/record_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace {

std::string rate(const Record& record) {
    return significant(record.gigaupdates_per_second()) + " G " + record.counts.unit + "/s";
}

// The median with half the width of its confidence interval.
std::string time_of(const Statistics& step) {
    const double half = (step.high - step.low) / 2;
    return half > 0 && step.median > 0 ? fmt::format("{} ±{:.1f} %", duration(step.median), 100 * half / step.median) : duration(step.median);
}

std::string ceiling_of(const Record& record) {
    return record.ceiling_fraction > 0 ? percent(record.ceiling_fraction) + " of " + record.ceiling : "-";
}

}  // namespace

std::string energy_line(const Record& record) {
    if (!record.energy) return "";
    const Energy& energy = *record.energy;
    const double greenup = greenup_over_safe(record);
    return fmt::format("{}{} J a step{}, {} W on the mean{}, {} read {} times a second", record.purpose.empty() ? "" : "for " + record.purpose + ": ",
                       significant(energy.joules.median),
                       greenup > 0 ? fmt::format(" ({:.2f}x less than the untuned safe configuration)", greenup) : "", significant(energy.watts),
                       energy.idle_watts > 0 ? fmt::format(" (idle {} W)", significant(energy.idle_watts)) : "", energy.source,
                       significant(energy.samples_per_second));
}

std::string exchange_line(const Record& record) {
    if (!record.exchange) return "";
    const Exchange& exchange = *record.exchange;
    return fmt::format("{} of {} ranks over {}: {}{}", exchange.program, exchange.ranks, exchange.link, exchange.config.key(),
                       exchange.usual_seconds > 0 ? ", as usual " + duration(exchange.usual_seconds) : "");
}

std::string doubt(const Record& record) {
    if (!record.disturbed.empty()) return "disturbed: " + record.disturbed;
    const std::string why = implausible_gain(record);
    return why.empty() ? "" : fmt::format("disturbed? {}: measure again on an idle machine", why);
}

std::string found_line(const Record& record) {
    return fmt::format("{} candidates{}{}, {}, hone {}{}", record.evaluations, record.strategy.empty() ? "" : " by " + record.strategy,
                       record.seed ? fmt::format(", seed {}", *record.seed) : "", record.date, record.versions.hone,
                       record.verified_on.empty() ? "" : fmt::format(", verified on {} only", record.verified_on));
}

std::string conditions_line(const Record& record) {
    const Conditions& conditions = record.conditions;
    std::vector<std::string> parts;
    if (conditions.sm_megahertz) parts.push_back(fmt::format("{:.0f} MHz", *conditions.sm_megahertz));
    if (conditions.memory_megahertz) parts.push_back(fmt::format("memory {:.0f} MHz", *conditions.memory_megahertz));
    if (conditions.temperature_celsius) parts.push_back(fmt::format("{:.0f} °C", *conditions.temperature_celsius));
    for (const std::string& reason : conditions.throttle_reasons) parts.push_back("held back: " + reason);
    if (!record.measured_on.empty()) parts.push_back("measured on " + record.measured_on);
    if (!conditions.busy.empty()) parts.push_back("the machine was busy: " + conditions.busy);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string device_line(const DeviceFingerprint& device) {
    // Other tuners know a device by its name alone.
    std::vector<std::string> parts;
    if (!device.architecture.empty()) parts.push_back(device.architecture);
    if (device.units > 0) parts.push_back(fmt::format("{} {}", device.units, traits_of(device.target).has_blocks ? "multiprocessors" : "threads"));
    std::string text = device.name + (parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
    if (!device.driver.empty()) text += ", driver " + device.driver;
    if (!device.compiler.empty()) text += ", " + device.compiler;
    return text;
}

std::string team_line(const Team& team) {
    return fmt::format("processors {}, threads {}", team.processors,
                       team.binding == "none" ? "not bound by OMP_PROC_BIND" : "bound by OMP_PROC_BIND: " + team.binding);
}

std::string record_table(const std::vector<Record>& records, const std::vector<std::string>& remarks) {
    constexpr auto right = Table::Align::right;
    Table table({{"problem"}, {"step", right}, {"rate", right}, {"GB/s", right}, {"GFLOP/s", right}, {"of ceiling", right}, {"gain", right}});
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Record& record = records[i];
        const double times = gain(record);
        table.row({short_key(record.problem, known_families()), time_of(record.step), rate(record), significant(record.gigabytes_per_second()),
                   significant(record.gigaflops()), ceiling_of(record), times > 0 ? fmt::format("{:.2f}x", times) : "-"});
        table.note("    " + record.config.key());
        if (const std::string energy = energy_line(record); !energy.empty()) table.note("    " + energy);
        if (const std::string exchange = exchange_line(record); !exchange.empty()) table.note("    " + exchange);
        if (const std::string why = doubt(record); !why.empty()) table.note("    " + why);
        if (i < remarks.size() && !remarks[i].empty()) table.note("    " + remarks[i]);
    }
    return table.text();
}

Json json_of(const Record& record) {
    Json document = Json::parse(to_json(record));
    document["rates"] = {{"gigabytes_per_second", record.gigabytes_per_second()},
                         {"gigaflops", record.gigaflops()},
                         {"gigaupdates_per_second", record.gigaupdates_per_second()},
                         {"gain_over_safe", gain(record)}};
    return document;
}

}  // namespace hone::tools
