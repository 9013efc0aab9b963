#pragma once

#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// SHA-256 as 64 lower-case hexadecimal digits (FIPS 180-4). Some 250 MB/s: for names and checks of
/// files, not for bulk data.
std::string sha256(std::string_view text);

}  // namespace hone::inline v0_1
