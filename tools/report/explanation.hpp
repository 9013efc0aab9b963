#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "generator/kernel_source.hpp"
#include "tools/console/json.hpp"
#include "tools/searches/tuning_story.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The explanation of a search by its journal: the story, the model of its times, and what the
/// model and the measurements say of the winner's neighbours.
struct SearchExplanation {
    TuningStory story;
    MeasuredSpace measured;
    std::optional<CostModel> model;  ///< absent where too little was measured
    double explained = 0;            ///< CostModel::explained
    std::string winner;              ///< the recorded winner where the journal has it, else the journal's best
    std::vector<Neighbour> neighbours;
    /// The gain that the model expects of a further minute of search; absent where it tells
    /// nothing, or where the journal has no times.
    struct FurtherMinute {
        double candidates = 0;  ///< at the rate of this search
        Outlook outlook;        ///< on a gain of 1 %
        bool all = false;       ///< no more than these are left
    };
    std::optional<FurtherMinute> minute;
    std::vector<std::string> missing;  ///< what cannot be told, and why

    bool tells() const;  ///< the model's word is worth something
    Config winning() const;
};

/// `recorded_winner`: key of a record's configuration; empty where there is no record.
SearchExplanation explain_search(const JournalText& journal, const std::string& recorded_winner, const Families& families);

/// As `hone explain --json` has it under "search"; `file` is the journal's name.
Json json_of(const SearchExplanation& search, const RunDescription& run, const std::string& file);

/// How the kernels of a step are launched on a GPU, a line for each that differs, at most four:
/// "sweep: 16 x 32 x 1 blocks of 32 x 4 x 1 threads".
std::vector<std::string> launch_lines(const KernelSource& source);

/// How near a record is to the measured ceiling, and how much faster it could be at most, in words.
std::string limit_text(const Record& record);

/// The command that shows the compiler's report of a record's kernel.
std::string compile_report_command(const Record& record, const Families& families);

}  // namespace hone::tools
