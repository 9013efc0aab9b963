#pragma once

#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// The hash by which a record knows its kernel (Versions::source_hash): SHA-256 of the program
/// alone (code_of, generator/tidy.hpp). So a measurement stays that of its kernel when comments,
/// the command at the head, the sizes in it or the layout change. A step that two devices share has
/// the hash of both texts, one behind the other.
std::string kernel_hash(std::string_view text);

}  // namespace hone::inline v0_1
