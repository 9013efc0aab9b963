#include "tools/records/record_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tuner/random.hpp"

namespace hone::tools {
namespace {

std::string differences(const Record& record, const Surroundings& now) {
    std::vector<std::string> found;
    const auto compare = [&](const std::string& what, const std::string& then, const std::string& today) {
        if (then != today) found.push_back(fmt::format("{} {} -> {}", what, then.empty() ? "none" : then, today.empty() ? "none" : today));
    };
    compare("driver", record.device.driver, now.device.driver);
    compare("compiler", record.device.compiler, now.device.compiler);
    compare("hone", record.versions.hone, now.version);
    if (!now.same_kernel) found.emplace_back("hone makes another kernel of the configuration");
    if (!now.busy.empty()) found.push_back("the machine was busy: " + now.busy);
    return fmt::format("{}", fmt::join(found, "; "));
}

Verdict verdict_of(const Statistics& then, const Statistics& now, double tolerance) {
    const double ratio = now.median / then.median;
    if (ratio > 1 + tolerance && now.low > then.high) return Verdict::slower;
    if (ratio < 1 / (1 + tolerance) && now.high < then.low) return Verdict::faster;
    return Verdict::holds;
}

std::string remedy_for(const RecordCheck& check, const Surroundings& now) {
    if (!now.busy.empty() && check.verdict == Verdict::slower) return "verify again while the machine does nothing else";
    if (check.verdict == Verdict::slower && !check.record.disturbed.empty())
        return "its record was disturbed when it was made: tune again with --force";
    if (check.verdict == Verdict::slower && check.differs.empty())
        return "nothing else differs: look at clocks, power limit and temperature ('hone devices'), then verify again";
    if (check.verdict == Verdict::slower || check.verdict == Verdict::fails || check.verdict == Verdict::impossible)
        return "tune again with --force: another configuration may suit better now";
    if (check.verdict == Verdict::faster) return "look-ups still get the right kernel; tuning again with --force brings the record up to date";
    return "";
}

}  // namespace

std::string name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::holds:
            return "holds";
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::fails:
            return "fails";
        case Verdict::impossible:
            return "impossible";
        case Verdict::unmeasured:
            return "unmeasured";
    }
    return "";
}

bool is_drift(Verdict verdict) {
    return verdict == Verdict::slower || verdict == Verdict::fails || verdict == Verdict::impossible;
}

RecordCheck judged(const Record& record, const Outcome& outcome, const Surroundings& now, double tolerance) {
    RecordCheck check{record};
    check.differs = differences(record, now);
    if (!outcome.measured()) {
        check.verdict = Verdict::fails;
        check.found = to_string(outcome.status) + (outcome.reason.empty() ? "" : ": " + outcome.reason);
    } else {
        check.step = outcome.step;
        check.ratio = outcome.step.median / record.step.median;
        check.verdict = verdict_of(record.step, outcome.step, tolerance);
    }
    check.remedy = remedy_for(check, now);
    return check;
}

std::vector<Record> sample_of(std::vector<Record> records, std::size_t count, std::uint64_t seed) {
    std::sort(records.begin(), records.end(), stands_before);
    if (records.size() <= count) return records;
    Random random(seed);
    std::map<std::string, std::vector<Record>> families;
    for (Record& record : records) families[record.problem.family()].push_back(std::move(record));
    std::vector<Record> sample;
    while (sample.size() < count)
        for (auto& [family, rest] : families) {
            if (rest.empty() || sample.size() == count) continue;
            std::swap(rest[random.index(rest.size())], rest.back());
            sample.push_back(std::move(rest.back()));
            rest.pop_back();
        }
    std::sort(sample.begin(), sample.end(), stands_before);
    return sample;
}

}  // namespace hone::tools
