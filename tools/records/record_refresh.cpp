#include "tools/records/record_refresh.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/processors.hpp"
#include "tools/records/database_stats.hpp"
#include "tools/records/record_list.hpp"
#include "tuner/disturbance.hpp"
#include "tuner/worker/memory_need.hpp"

namespace hone::tools {
namespace {

constexpr double certain = 0.02;

std::string reason_to_keep(const RecordCheck& check, const Sitting& sitting) {
    if (!sitting.now.busy.empty()) return "the machine was busy: " + sitting.now.busy;
    if (!sitting.safe.measured()) return "its safe configuration: " + to_string(sitting.safe.status) + ": " + sitting.safe.reason;
    if (check.record.energy && !sitting.winner.energy) return "its energy could not be measured";
    if (check.record.safe_joules > 0 && !sitting.safe.energy) return "the energy of its safe configuration could not be measured";
    const double then = uncertainty(check.record.step);
    const double now = uncertainty(sitting.winner.step);
    if (now > std::max(certain, then)) return fmt::format("the new time is less sure: {:.1f} %, before {:.1f} %", 100 * now, 100 * then);
    return "";
}

}  // namespace

std::vector<std::string> worth_measuring(const Record& record, bool same_kernel) {
    std::vector<std::string> words = lacking(record);
    std::erase_if(words, [](const std::string& word) { return word == "seed" || word == "candidates" || word == "hash of the kernel"; });
    if (!same_kernel) words.emplace_back("kernel");
    return words;
}

void refresh(RecordCheck& check, const Sitting& sitting) {
    if (check.verdict != Verdict::holds && check.verdict != Verdict::faster) return;
    check.kept = reason_to_keep(check, sitting);
    if (!check.kept.empty()) return;
    Record record = check.record;
    record.counts = sitting.counts;
    record.device = sitting.now.device;
    record.step = sitting.winner.step;
    record.verification_error = sitting.winner.verification_error;
    record.tolerance = sitting.winner.tolerance;
    record.verified_on.clear();
    record.safe_seconds = sitting.safe.step.median;
    record.safe_joules = sitting.safe.energy ? sitting.safe.energy->joules.median : 0;
    record.ceiling.clear();
    record.ceiling_fraction = ceiling_seconds(record.counts, record.problem.precision(), sitting.ceilings, record.ceiling) / record.step.median;
    record.energy = sitting.winner.energy;
    record.conditions = conditions_of(sitting.winner.device);
    record.team = team_of(record.device);
    record.date = utc_date();
    record.versions = {sitting.now.version, sitting.now.source_hash};
    record.disturbed = disturbance(record, sitting.executed_operations, most_cache_bytes(sitting.limits), sitting.ceilings);
    if (!record.disturbed.empty())
        check.kept = record.disturbed;
    else if (record.ceiling_fraction == 0 && check.record.ceiling_fraction > 0)
        check.kept = "the device's ceilings could not be measured";
    else
        check.update = std::move(record);
}

}  // namespace hone::tools
