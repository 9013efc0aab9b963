#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hone {

/// What an environment variable holds; empty when it is not set.
inline std::string environment_variable(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

/// hone's folder among this user's files of one kind; empty when neither variable says where they are. Source: the XDG base directory specification,
/// by which a relative path is to be ignored.
///
///     users_folder("XDG_CACHE_HOME", ".cache")
inline std::filesystem::path users_folder(const char* variable, const std::filesystem::path& in_home) {
    if (const std::filesystem::path base = environment_variable(variable); base.is_absolute()) return base / "hone";
    if (const std::filesystem::path home = environment_variable("HOME"); home.is_absolute()) return home / in_home / "hone";
    return {};
}

}  // namespace hone
