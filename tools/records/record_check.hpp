#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/outcome.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The verdict of a new measurement on a record.
enum class Verdict {
    holds,       ///< within the tolerance, or within the noise of both measurements
    faster,      ///< beyond both
    slower,      ///< beyond both
    fails,       ///< the kernel does not compile, run or verify any more
    impossible,  ///< the configuration is no member of today's search space
    unmeasured   ///< the problem cannot be set up here
};

std::string name_of(Verdict verdict);
/// Slower, failing and impossible records do not hold.
bool is_drift(Verdict verdict);

/// A record that was measured again.
struct RecordCheck {
    Record record;
    Verdict verdict = Verdict::unmeasured;
    std::optional<Statistics> step;    ///< as measured now
    double ratio = 0;                  ///< of the medians, now over then; 0: not measured
    std::string found;                 ///< what went wrong, in words
    std::string differs;               ///< what else is not as it was then: driver, compiler, kernel, hone; or what disturbed the measurement
    std::string remedy;                ///< what to do; empty where there is nothing
    std::optional<Record> update;      ///< the record as it was measured now, where it was asked for and should take its place
    std::optional<WrongResult> wrong;  ///< the kernel computes something else: the record must be marked (mark_wrong)
    std::string kept;                  ///< why a record that holds keeps its place nevertheless
};

/// The surroundings of a measurement made now.
struct Surroundings {
    DeviceFingerprint device;
    std::string version;      ///< of hone
    std::string source_hash;  ///< kernel_hash of what hone makes of the configuration
    bool same_kernel = true;  ///< that is what was measured
    std::string busy;         ///< what else the machine did (SystemLoad::busy); empty: nothing worth a word
};

RecordCheck judged(const Record& record, const Outcome& outcome, const Surroundings& now, double tolerance);

/// `count` of the records, by turns from every family and within it at random; all of them when
/// there are no more. In the order of the files.
std::vector<Record> sample_of(std::vector<Record> records, std::size_t count, std::uint64_t seed);

}  // namespace hone::tools
