#pragma once

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace hone::inline v0_1 {

/// The value of an environment variable; empty when it is not set.
inline std::string environment_variable(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

/// The number that an environment variable begins with; nothing where it begins with none, or with
/// a negative one.
inline std::optional<int> environment_number(const char* name) {
    const std::string text = environment_variable(name);
    int number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc() || number < 0) return std::nullopt;
    return number;
}

/// The name of this host, by which processes know whether they are on the same.
inline std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// hone's folder among this user's files of one kind; empty when neither variable says where they
/// are. Source: the XDG base directory specification, by which a relative path is to be ignored.
///
///     users_folder("XDG_CACHE_HOME", ".cache")
inline std::filesystem::path users_folder(const char* variable, const std::filesystem::path& in_home) {
    if (const std::filesystem::path base = environment_variable(variable); base.is_absolute()) return base / "hone";
    if (const std::filesystem::path home = environment_variable("HOME"); home.is_absolute()) return home / in_home / "hone";
    return {};
}

}  // namespace hone::inline v0_1
