#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/records/record_kernel.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools {

/// Rules for removing records from a database. Those that no look-up hands out always go: records
/// that are not verified, and those whose configuration is no member of today's search space.
/// Records of families that are not known here stay, whatever the rules say.
struct PruneRules {
    std::string before;                    ///< a date (utc_date): what was measured before it; empty: age does not matter
    bool disturbed = false;                ///< figures that cannot be right (doubt)
    bool wrong = false;                    ///< marks of what was found wrong: a merge may bring it back then
    bool other_kernel = false;             ///< hone makes another text of the configuration today
    const Database* beside = nullptr;      ///< another database that answers as well: it has the same subject, and the record is not better
    std::vector<std::string> broken = {};  ///< of each record why its kernel does not compile any more (KernelTrials); none: that was not asked
};

/// A record with the first reason for which it goes.
struct Superfluous {
    Record record;
    std::string reason;
};

/// Why look-ups pass over a record for ever, or an empty string. `kernel` is what kernel_today says
/// of it.
std::string idle_reason(const Record& record, const RecordKernel& kernel);

/// Those of the records that the rules let go, in their order.
std::vector<Superfluous> superfluous(const std::vector<Record>& records, const PruneRules& rules, const Families& families);

/// Journals of searches that were begun anew since (`.jsonl.previous` and so on), in order of their
/// names.
std::vector<std::filesystem::path> earlier_journals(const std::filesystem::path& folder);

/// One subject in two databases, and what a merge of the second into the first would do about it.
struct MergePreview {
    enum class Fate { added, replaced, kept, identical };
    Fate fate = Fate::identical;
    std::optional<Record> present;  ///< absent: the first has none
    Record other;
    std::string differs;  ///< configuration, kernel, hone, driver, compiler, figures
};
/// Of all subjects that the second has, in the order of the files.
std::vector<MergePreview> preview_merge(const std::vector<Record>& present, const std::vector<Record>& others);
std::string name_of(MergePreview::Fate fate);

}  // namespace hone::tools
