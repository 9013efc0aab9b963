#include "tools/records/database_prune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/records/record_table.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace {

namespace fs = std::filesystem;

// Of one database, by subject; where several are about one, the better.
std::map<std::string, const Record*> by_subject(const std::vector<Record>& records) {
    std::map<std::string, const Record*> found;
    for (const Record& record : records) {
        const Record*& place = found[subject(record)];
        if (place == nullptr || better(record, *place)) place = &record;
    }
    return found;
}

class Pruner {
  public:
    Pruner(const PruneRules& rules, const Families& families) : rules_(rules), families_(families) {
        if (rules.beside != nullptr) answers_ = by_subject(rules.beside->records());
    }

    std::string reason(const Record& record, std::size_t place) const {
        // A mark goes when it is told to, and for no other reason: what it refutes would come back.
        if (!record.wrong.empty()) return rules_.wrong ? "found wrong: " + record.wrong : "";
        const RecordKernel kernel = kernel_today(record, families_);
        if (kernel.state == KernelState::foreign) return "";
        if (std::string idle = idle_reason(record, kernel); !idle.empty()) return idle;
        if (record.date < rules_.before) return "measured before " + rules_.before.substr(0, 10);
        if (rules_.disturbed && !doubt(record).empty()) return doubt(record);
        if (const auto other = answers_.find(subject(record)); other != answers_.end() && !better(record, *other->second))
            return fmt::format("the other database answers as well, measured {}", other->second->date.substr(0, 10));
        if (rules_.other_kernel && kernel.state == KernelState::other) return "hone makes another kernel of the configuration today";
        return rules_.broken.empty() || rules_.broken[place].empty() ? "" : "does not compile: " + rules_.broken[place];
    }

  private:
    const PruneRules& rules_;
    const Families& families_;
    std::map<std::string, const Record*> answers_;
};

std::string differences(const Record& a, const Record& b) {
    std::string text;
    const auto add = [&](bool differs, const std::string& word) { text += differs ? (text.empty() ? "" : ", ") + word : ""; };
    const bool same_configuration = a.config == b.config;
    add(!same_configuration, "configuration");
    add(same_configuration && a.versions.source_hash != b.versions.source_hash, "kernel");
    add(a.versions.hone != b.versions.hone, "hone " + a.versions.hone + " and " + b.versions.hone);
    add(a.device.driver != b.device.driver, "driver");
    add(a.device.compiler != b.device.compiler, "compiler");
    add(a.verified() != b.verified(), "verification");
    add(a.disturbed.empty() != b.disturbed.empty(), "disturbance");
    add(a.step != b.step || a.date != b.date, "measurement");
    return text;
}

}  // namespace

std::string idle_reason(const Record& record, const RecordKernel& kernel) {
    if (kernel.state == KernelState::foreign) return "this hone has no such family; kept as it is";
    if (!record.wrong.empty()) return "found wrong: " + record.wrong;
    if (!record.verified()) return "not verified within its tolerance";
    return kernel.state == KernelState::impossible ? "no member of today's search space, " + kernel.reason : "";
}

std::vector<Superfluous> superfluous(const std::vector<Record>& records, const PruneRules& rules, const Families& families) {
    const Pruner pruner(rules, families);
    std::vector<Superfluous> found;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (std::string reason = pruner.reason(records[i], i); !reason.empty()) found.push_back({records[i], std::move(reason)});
    return found;
}

std::vector<fs::path> earlier_journals(const fs::path& folder) {
    std::set<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator file(folder / "journals", error), end; !error && file != end; file.increment(error)) {
        std::error_code unreadable;
        if (file->path().filename().string().find(".jsonl.previous") != std::string::npos && file->is_regular_file(unreadable))
            files.insert(file->path());
    }
    return {files.begin(), files.end()};
}

std::vector<MergePreview> preview_merge(const std::vector<Record>& present, const std::vector<Record>& others) {
    const auto mine = by_subject(present);
    std::map<std::string, const Record*> marks;
    for (const Record& record : present)
        if (!record.wrong.empty()) marks[refutation_key(record)] = &record;
    std::vector<MergePreview> list;
    for (const auto& [key, other] : by_subject(others)) {
        const auto found = mine.find(key);
        MergePreview preview{MergePreview::Fate::added, std::nullopt, *other, ""};
        const auto mark = marks.find(refutation_key(*other));
        if (other->wrong.empty() && mark != marks.end()) {
            preview = {MergePreview::Fate::kept, *mark->second, *other, "found wrong"};
        } else if (found != mine.end()) {
            preview.present = *found->second;
            preview.differs = differences(*found->second, *other);
            preview.fate = better(*other, *found->second) ? MergePreview::Fate::replaced : MergePreview::Fate::kept;
            if (to_json(*found->second) == to_json(*other)) preview.fate = MergePreview::Fate::identical;
        }
        list.push_back(std::move(preview));
    }
    std::sort(list.begin(), list.end(), [](const MergePreview& a, const MergePreview& b) { return stands_before(a.other, b.other); });
    return list;
}

std::string name_of(MergePreview::Fate fate) {
    switch (fate) {
        case MergePreview::Fate::added:
            return "added";
        case MergePreview::Fate::replaced:
            return "replaced";
        case MergePreview::Fate::kept:
            return "kept";
        case MergePreview::Fate::identical:
            return "identical";
    }
    return "";
}

}  // namespace hone::tools
