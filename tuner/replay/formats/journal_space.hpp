#pragma once

#include <string>
#include <string_view>

#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// Journals of hone as recorded spaces, both ways. One of an exhaustive run holds a whole space.

/// Whether a text begins as a journal does.
bool is_journal(std::string_view text);

/// The candidates as they were first measured; rounds of the finals are left out. A journal names
/// the values of the configurations that were tried and no others. A value is written as a number
/// when it is whole, else as a word. Throws Error naming `file`, line and place.
RecordedSpace parse_journal_space(std::string_view text, const std::string& file, const std::string& name);

/// The journal of an exhaustive run with these results, in the order of the space. It is there to
/// be replayed, not to be resumed: no problem of hone's stands behind it. Throws Error when a value
/// cannot stand in a configuration's key.
std::string journal_text(const RecordedSpace& recorded);

}  // namespace hone::inline v0_1
