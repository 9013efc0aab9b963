#pragma once

#include <string>
#include <vector>

#include "foundation/svg_chart.hpp"
#include "tools/console/csv.hpp"
#include "tools/console/json.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// Joules over seconds of a step: every metered candidate of each journal, and a line through those
/// that no other beats in both. Throws Error where no candidate was metered.
SvgChart energy_chart(const std::vector<JournalText>& journals);
/// Energy over time of records that have it, nanojoules over nanoseconds of an update, since their
/// steps differ; a series per family.
SvgChart energy_chart(const std::vector<Record>& records);

/// How many times as fast, and at how many times less energy, each problem is computed than by the
/// processor alone: by the GPU alone and by both together, from records of the three ways, shared
/// ones also by what they say of their devices alone. Throws Error where nothing can be compared.
SvgChart greenup_chart(const std::vector<Record>& records);
/// Greenup over the untuned safe configuration on the same device: what tuning gains in time, and
/// where both were metered in energy. Of records that were metered; throws Error where there are
/// none.
SvgChart greenup_over_untuned_chart(const std::vector<Record>& records);

/// The share of the first device over the periods of a run that balances two, one line per run,
/// from what `hone balance --json` printed or from a table of such runs with the columns run, part
/// and share. Throws Error naming what is missing.
SvgChart share_chart(const Json& balance);
SvgChart share_chart(const CsvTable& table);

/// Times measured again over the recorded ones, over these; a series per family. From what `hone
/// verify --json` printed, or from a table with the columns problem, seconds_before and ratio.
/// Throws Error naming what is missing.
SvgChart drift_chart(const Json& verified);
SvgChart drift_chart(const CsvTable& table);

enum class Scaling { strong, weak };
/// Over the units that compute (threads, ranks, devices): strong, how many times as fast as with
/// the fewest, beside the ideal; weak, the part of the rate per unit that is kept. Of records about
/// equal problems on devices of one name, a line per problem; weak scaling compares rates, so
/// problems may grow. Throws Error where no two records differ in their units.
SvgChart scaling_chart(const std::vector<Record>& records, Scaling scaling);
/// Of a table with the columns units (or ranks, devices, threads) and seconds, and perhaps run, a
/// line for each; weak: the work of a unit is the same in all rows of a run.
SvgChart scaling_chart(const CsvTable& table, Scaling scaling);

}  // namespace hone::tools
