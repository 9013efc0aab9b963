#pragma once

#include "foundation/json.hpp"

namespace hone::inline v0_1 {

/// Brings a database file of an older version, step by step, to the structure of `schema_version`
/// (tuning_db/database_file.hpp). What is not as the older version had it is left alone, for the
/// reader to refuse. `from` is at least 1.
void migrate(JsonNode& file, int from);

}  // namespace hone::inline v0_1
