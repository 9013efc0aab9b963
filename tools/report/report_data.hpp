#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tools/console/json.hpp"
#include "tools/records/rival_table.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// A journal and the name that it is shown by.
struct NamedJournal {
    std::string name;
    JournalText journal;
};

/// Rivals on one device model.
struct NamedRivals {
    std::string device;  ///< key of the model
    std::string name;    ///< of the table, for people
    std::vector<Rival> rivals;
};

/// The contents of a report.
struct ReportContents {
    std::string database;         ///< where the records come from, for people
    std::vector<Record> records;  ///< one about each subject
    std::string against;          ///< where the others come from; empty: there are none
    std::vector<Record> others;
    std::vector<NamedJournal> journals;
    std::vector<NamedRivals> rivals;
    std::vector<std::string> notes;  ///< what a reader should know of the whole, e.g. a file that could not be read
    bool kernels = true;             ///< with the text of every kernel that hone makes of a record
};

/// A part of a report's data. The page reads a part when it shows it first: so it opens as fast
/// with many searches as with none.
struct ReportPart {
    std::string name;  ///< a word: "main", "search-3", "kernels-0"
    Json data;
};

/// The parts, "main" first. It has families, devices, records and comparisons, and says which part
/// holds what else:
///
/// - records as arrays, in the order of "fields"; seconds, joules and bytes as the database has
///   them, so that a page counts with the database's
/// numbers;
/// - "comparisons": of the records with the others, and of every pair of device models among the
///   records, by tools/records/record_diff.hpp; a row has the two positions in "records" (-1: there is
///   none), the change, the ratio of the costs, its confidence, and whether configuration or kernel
///   differ;
/// - "searches": of every journal the story without its candidates. Their part "search-N" has
///   these, each tunable's value by its position in the list
/// of
///   values, and what `hone explain --json` says of the search;
/// - "rivals": device, problem, seconds of an update by the rival and by the tuned kernel, and the
///   table that they come from;
/// - "kernels": for each device model and family a part "kernels-N" with the distinct lines of its
///   kernels, and each kernel as a list of lines.
/// Whether
///   it is the one that was measured follows from the record's hash.
std::vector<ReportPart> report_parts(const ReportContents& contents, const Families& families);

}  // namespace hone::tools
