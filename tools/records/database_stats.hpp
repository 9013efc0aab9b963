#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// Statistics of one device's file of a database.
struct DeviceStats {
    std::string device;  ///< key of the model
    std::string name;
    std::string title;         ///< for people: the name, of processors with the threads
    std::uintmax_t bytes = 0;  ///< of the file
    int records = 0;
    std::map<std::string, int> families;
    std::map<std::string, int> versions;  ///< of hone
    std::map<std::string, int> software;  ///< driver and compiler
    std::map<std::string, int> kernels;   ///< what this hone makes of the configurations, by name of the KernelState
    std::map<std::string, int> lacking;   ///< what records do not say of their measurement, and how many
    std::string oldest;                   ///< date; empty: there is no record
    std::string newest;
    int sizes = 0;        ///< records of problems that others differ from in their sizes only
    int unverified = 0;   ///< never handed out
    int disturbed = 0;    ///< figures that cannot be right
    int wrong = 0;        ///< marks of what was found wrong, which are no records
    int unsure = 0;       ///< interval of the median beyond 2 % on either side
    int unrated = 0;      ///< part of the ceiling not measured
    double nearness = 0;  ///< geometric mean of the measured parts of the ceiling; 0: none
    double gain = 0;      ///< geometric mean of the gains over the safe configuration; 0: none
};

/// Of records of one device model.
DeviceStats stats_of(const std::vector<Record>& records, const Families& families);

/// Facts about the measurement that a record lacks, in words: "seed", "clocks", "ceiling" and so
/// on. What its kind of device or of result cannot have is not missed.
std::vector<std::string> lacking(const Record& record);

/// The files in `journals/` of a folder.
struct JournalStats {
    int files = 0;
    int previous = 0;  ///< kept from runs that were begun anew
    std::uintmax_t bytes = 0;
};
JournalStats journal_stats(const std::filesystem::path& folder);

}  // namespace hone::tools
