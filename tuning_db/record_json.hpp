#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

class JsonPlace;

/// Values as JSON, on one line, with stable order of the keys and the shortest numbers that read
/// back the same; for databases, journals and `--json`. Described by tuning_db/schema/. Bytes that
/// are no UTF-8 are replaced by U+FFFD.
std::string to_json(const Problem& problem);  ///< {"family": "dg_volume", "parameters": {"order": 5, ...}}
/// A problem's parameters as they are written: a choice among numbers (`order` is 4, 8 or 16) is a
/// number there, though a word to its family. Either is read.
std::vector<Assignment> written_parameters(const Problem& problem);
std::string to_json(const Config& config);  ///< {"block_x": 32, ...}
std::string to_json(const DeviceFingerprint& device);
std::string to_json(const Statistics& step);
std::string to_json(const Counts& counts);
std::string to_json(const Energy& energy);
std::string to_json(const Team& team);
std::string to_json(const Conditions& conditions);
std::string to_json(const Hybrid& hybrid);
std::string to_json(const Exchange& exchange);
std::string to_json(const Record& record);
/// The members of a record's object in their order: name, and value as JSON.
std::vector<std::pair<std::string, std::string>> record_fields(const Record& record);

/// The inverse of `to_json`, strict: types and ranges of every value are checked and the problem is
/// rebuilt by `families`. Throws Error naming `where`, line and place in the text. A problem of a
/// family that is not in `families` is kept as it stands.
Record record_from_json(std::string_view text, const Families& families, const std::string& where);
/// Reads a record inside a larger text.
Record read_record(const JsonPlace& place, const Families& families);

}  // namespace hone::inline v0_1
