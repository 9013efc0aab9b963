#pragma once

#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// Text without what a terminal or an editor would act upon unseen: control characters but the
/// line's end and the tabulator, characters that turn the direction of writing or have no width
/// (U+202E, U+200B), and bytes that are no UTF-8, are shown as JSON escapes them (\u001b). What
/// files, records and drivers say is not ours.
std::string printable_text(std::string_view text);

}  // namespace hone::inline v0_1
