#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/campaign.hpp"

namespace hone::test {

/// A folder as its disk would hold it after the power failed at some moment of a recorded run
/// (file_calls.hpp), which began with the folder empty.
///
/// What was written to a file before it was synchronised is there. Of what was written since, each
/// write may be there, or a part of it, or its length with zeros. The names of a folder are changed
/// in the order of the calls, as journaling file systems do it: up to the last synchronisation of
/// the folder for certain, of those since the first few. Synchronising a file does not keep its
/// name, and folders are independent of each other.
class RecordedDisk {
  public:
    RecordedDisk(std::vector<LoggedCall> calls, std::filesystem::path folder);

    /// How many calls were recorded: the power may fail before any of them, and after the last.
    std::size_t length() const { return calls_.size(); }
    const LoggedCall& call(std::size_t i) const { return calls_[i]; }

    enum class Left {
        synchronised,  ///< nothing else
        everything,
        names,  ///< all names, of the contents only what was synchronised
        some    ///< a random part
    };
    /// Makes `target`, which must not be there, into what is left when the power fails before call
    /// `moment`.
    void restore(std::size_t moment, Left left, std::mt19937_64& random, const std::filesystem::path& target) const;

    /// What a file by this name had been given and was told to keep before call `moment`: all files
    /// that ever bore the name, each with its contents.
    std::vector<std::string> kept(const std::filesystem::path& name, std::size_t moment) const;

  private:
    static constexpr std::size_t never = ~std::size_t{0};

    struct Change {  // of a file's contents
        std::size_t moment = 0;
        std::optional<std::int64_t> length;  // a new one; else a write
        std::int64_t offset = 0;
        std::string data;
        std::size_t synchronised = never;
    };
    struct File {
        std::vector<Change> changes;
    };
    struct Naming {  // of a folder's entries
        std::size_t moment = 0;
        std::vector<std::pair<std::string, std::optional<std::size_t>>> entries;  // to files; nothing: the name goes
        std::size_t synchronised = never;
    };
    struct Folder {
        std::vector<Naming> namings;
    };

    void take(std::size_t moment);
    std::size_t file_at(std::uint64_t inode) const;
    void name(std::size_t moment, const std::filesystem::path& path, std::optional<std::size_t> file);
    static void apply(const Change& change, std::string& contents);
    std::string contents(const File& file, std::size_t moment, Left left, std::mt19937_64& random) const;

    std::vector<LoggedCall> calls_;
    std::filesystem::path folder_;
    std::vector<File> files_;
    std::map<std::uint64_t, std::size_t> by_inode_;
    std::map<std::filesystem::path, Folder> folders_;
    std::map<std::filesystem::path, std::vector<std::size_t>> ever_named_;
    std::map<std::filesystem::path, std::size_t> named_;  // now
};

}  // namespace hone::test
