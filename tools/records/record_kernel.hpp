#pragma once

#include <optional>
#include <string>

#include "generator/config.hpp"
#include "generator/families.hpp"
#include "generator/kernel_source.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The kernel that this hone makes of a record's problem and configuration, beside the measured
/// one.
enum class KernelState {
    same,        ///< the text that was measured
    other,       ///< another text: what was measured of the old one may not hold
    impossible,  ///< none: the configuration is no member of today's search space
    foreign      ///< none: its family is not known here
};

std::string name_of(KernelState state);

struct RecordKernel {
    KernelState state = KernelState::foreign;
    std::string reason;                  ///< of an impossible one
    Config config;                       ///< the record's, with the values of tunables that it does not name; of those that are made
    std::optional<KernelSource> source;  ///< of those that are made; of a step that two devices share, the record's own
};

RecordKernel kernel_today(const Record& record, const Families& families);

}  // namespace hone::tools
