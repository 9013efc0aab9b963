#pragma once

#include <string>
#include <vector>

#include "tools/console/json.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// Results of one device as a table: time of a step with its confidence, rates, part of the
/// measured ceiling, gain over the safe configuration; below each problem its winner and, if there
/// are any, `remarks`. Used by `show` and by the summary of `tune`, so that both say the same. What
/// was not measured is "-".
std::string record_table(const std::vector<Record>& records, const std::vector<std::string>& remarks = {});

/// "NVIDIA H200 (sm_90, 132 units), driver 580.1, NVRTC 13.0".
/// How a record was found, in a line: candidates, strategy, seed, date, version.
std::string found_line(const Record& record);
/// Clocks, temperature, throttling and other work of a measurement, in a line; empty where nobody
/// told.
std::string conditions_line(const Record& record);
std::string device_line(const DeviceFingerprint& device);
/// "processors 0-15, threads bound by OMP_PROC_BIND: close"
std::string team_line(const Team& team);

/// The record as a database file holds it, with the rates added under "rates".
Json json_of(const Record& record);

/// Why a record's figures should not be trusted, or an empty string: what the record itself says,
/// or an implausible gain of an older record.
std::string doubt(const Record& record);

/// The purpose of a record, where it was not time, and its energy, where it was metered; else an
/// empty string.
std::string energy_line(const Record& record);
/// "poisson of 2 ranks over PCIe, between processes: edges=ahead, as usual 1.8 ms"; else an empty
/// string.
std::string exchange_line(const Record& record);

}  // namespace hone::tools
