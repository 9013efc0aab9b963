#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/directives.hpp"

namespace hone::inline v0_1::kernel_folder {

/// The headers of a folder's sources. A source gets the text of each header that it includes in
/// place of the line that includes it, so that what is hashed is what is compiled, by whatever
/// compiler and on whatever host. Such headers are those beside the including file, in the folder,
/// at absolute paths, and in the folders of CPATH and CPLUS_INCLUDE_PATH. Standard headers, those
/// of a CUDA toolkit and others that are found nowhere here stay with the compiler.
class Headers {
  public:
    explicit Headers(std::filesystem::path folder);

    /// The text of a file of the folder with its headers, directly or not, in place. `shown` is its
    /// name in the compiler's messages; `numbered`: lines keep the numbers of their files in them.
    /// Throws Error, with file and line, for what cannot be read, for a header that includes itself
    /// without a guard, and for includes that name their header by a macro.
    std::string in_place(std::string_view text, const std::string& shown, bool numbered);

    /// All that was put in place so far: a line with name and length of each header, and its text.
    const std::string& read() const { return read_; }

  private:
    struct File {
        std::filesystem::path path;  ///< canonical
        std::string shown;
        std::string text;
        std::vector<Directive> lines;
        bool once = false;     ///< by `#pragma once`
        bool guarded = false;  ///< by an #ifndef around all
    };
    /// Where a text stands: in which file, and in a condition or not.
    struct Place {
        const File* file;
        bool conditional;
    };

    std::optional<std::filesystem::path> find(const Directive& include, const std::filesystem::path& beside) const;
    const File& file_at(const std::filesystem::path& path, const std::string& shown);
    std::string expanded(const Place& place, bool numbered);
    std::string included(const Directive& include, const Place& from, bool conditional, bool numbered);
    std::string condition(const Directive& line, const File& file) const;

    std::filesystem::path folder_;
    std::vector<std::filesystem::path> searched_;  // behind the folder
    std::map<std::filesystem::path, File> files_;
    std::vector<const File*> open_;
    std::set<const File*> done_;  // whose guards are defined from here on
    std::string read_;
    std::size_t bytes_ = 0;
};

}  // namespace hone::inline v0_1::kernel_folder
