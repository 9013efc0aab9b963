#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::inline v0_1::solvers {

/// What a program writes so that it can go on later: lines of a name and a value, and bytes as they
/// lie in memory.
struct CheckpointFile {
    std::vector<std::pair<std::string, std::string>> lines;  ///< names without spaces, values of one line; a name may come again
    std::vector<std::byte> state;

    /// The value of the first line of that name. Throws Error naming the file when there is none.
    const std::string& value(std::string_view name, const std::filesystem::path& file) const;
    /// All values of that name.
    std::vector<std::string> values(std::string_view name) const;

    bool operator==(const CheckpointFile&) const = default;
};

/// Replaces the file, so that a crash at any moment leaves the old one or the new one. `kind`
/// ("hydro checkpoint 1") says which program's it is and of which version; the file ends with a
/// SHA-256 over all of it.
void write_checkpoint_file(const std::filesystem::path& file, std::string_view kind, const CheckpointFile& checkpoint);

/// Throws Error, saying which, for a file of another kind or version, cut short or changed.
CheckpointFile read_checkpoint_file(const std::filesystem::path& file, std::string_view kind);

}  // namespace hone::inline v0_1::solvers
