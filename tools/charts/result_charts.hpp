#pragma once

#include <string>
#include <vector>

#include "foundation/svg_chart.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// GFLOP/s over operations per byte, one series per family, below the ceilings that the records
/// were compared with: memory (a slope) and arithmetic (level, one for each precision), each the
/// median of what the records' rates and parts imply. Records should be of one device.
SvgChart roofline_chart(const std::vector<Record>& records);

/// Updates per second over a problem's parameter; one series for each choice of the others (sizes
/// apart, which often change along). Throws Error, naming the parameters that there are, where no
/// record has it as a number.
SvgChart rate_chart(const std::vector<Record>& records, const std::string& parameter);

/// Costs of all measured candidates of a journal over the values of a tunable, and a line through
/// the best of each value. Throws Error, naming the tunables that there are, for another one.
SvgChart tunable_chart(const JournalText& journal, const std::string& tunable);

/// The best cost so far as a multiple of the best at the end, over the candidates evaluated; a line
/// per journal.
SvgChart convergence_chart(const std::vector<JournalText>& journals);

/// How many candidates of each search were measured and how many failed, a bar for each kind of
/// failure. Throws Error without journals of searches.
SvgChart failures_chart(const std::vector<JournalText>& journals);

}  // namespace hone::tools
