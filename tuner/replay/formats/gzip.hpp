#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// The whole of a file, unpacked when it begins as gzip files do, whatever its name. Throws Error
/// when it cannot be read, is damaged, or holds more than `most_bytes`.
std::string read_packed_file(const std::filesystem::path& file, std::int64_t most_bytes);

/// `text` as a gzip file; equal texts give equal bytes.
std::string gzip(std::string_view text);

/// The inverse; `where` is for messages. Throws Error when damaged, cut, followed by anything but
/// zeros, or longer than `most_bytes`.
std::string gunzip(std::string_view packed, const std::string& where, std::int64_t most_bytes);

}  // namespace hone::inline v0_1
