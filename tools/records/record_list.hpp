#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "tools/console/console.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// A figure of a record as a column of a list.
struct RecordColumn {
    std::string name;  ///< as `--columns` takes it
    std::string title;
    std::string help;
    int rank = 0;                        ///< the lowest go first where there is little room; 0: only when it is asked for
    std::string (*text)(const Record&);  ///< empty: there is nothing to say, "-" when the figure was not measured
    Style (*style)(const Record&) = nullptr;
    bool left = false;  ///< words, not a number
};

/// The table of all columns.
std::span<const RecordColumn> record_columns();
/// Those of "step,gain". Throws Error, naming the nearest, for another word.
std::vector<const RecordColumn*> find_columns(const std::string& list);

/// How records are listed.
struct RecordListing {
    std::vector<const RecordColumn*> columns;  ///< empty: as many as there is room for
    int width = 0;                             ///< of a line; 0: no bound
    bool bars = false;                         ///< where there is room for them
    bool verbose = false;                      ///< below each record its configuration and how it was found
    bool divisible = true;                     ///< families may be divided by the values of a parameter, which changes the order
};

/// One line per record, in groups by family in the order of their first records. What all of a
/// group's problems share stands once above it; what differs are columns. Where the lines are too
/// long figures are left out, from the highest rank on. Where time, part of the ceiling and gain do
/// not fit, a family's problems are divided into groups that share more; where these would be too
/// small, a problem stands above its figures, wrapped.
void list_records(const std::vector<Record>& records, const RecordListing& how, Console& console);

/// Reasons to doubt a record, in a word or two: "disturbed", "busy" (other work on the machine
/// meanwhile), "unsure" (the interval of its median is wider than 2 % on either side), "old" (a
/// year before `today`, or by an older version of hone than this), "for energy" or another purpose,
/// "shared" by two devices. Empty: nothing.
std::string remark(const Record& record, std::chrono::system_clock::time_point today = std::chrono::system_clock::now());

/// Half the width of the 95 % confidence interval of a median, relative to it; 0 where there is
/// none.
double uncertainty(const Statistics& statistics);

/// As RFC 4180 says, but for the ends of lines: a header, and a line per record with plain numbers
/// in base units.
std::string records_csv(const std::vector<Record>& records);

}  // namespace hone::tools
