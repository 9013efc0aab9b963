#pragma once

#include <string>

#include "generator/families.hpp"
#include "generator/limits.hpp"
#include "tuning_db/record.hpp"

namespace hone::test {

/// A verified result as a database takes it: `config` is the text of a configuration of the
/// problem's space within `limits`.
Record sample_record(const Families& families, const Problem& problem, const std::string& config, const DeviceFingerprint& device,
                     const Limits& limits);

}  // namespace hone::test
