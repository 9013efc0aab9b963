#pragma once

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// A configuration that was found on a device, by the names that its family's tunables have today
/// and with values for those that did not exist then (SearchSpace::completed). As it stands where
/// the family is not known here, or what it means today is not known.
Config with_todays_names(const Config& config, const Problem& problem, const DeviceFingerprint& device, const Families& families);

/// The record with its configurations so. It is of the same kernel: look-ups translate in the same
/// way. So what shows records speaks the words of today however old they are, and so does what
/// writes them.
Record with_todays_names(Record record, const Families& families);

}  // namespace hone::inline v0_1
