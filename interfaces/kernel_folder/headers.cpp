#include "interfaces/kernel_folder/headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t longest_header = std::int64_t{4} << 20;
constexpr std::size_t most_bytes = std::size_t{16} << 20;  // of a source with its headers
constexpr std::size_t guard_digits = 16;

// A toolkit's headers are the compiler's, wherever an environment lists them.
bool is_toolkit(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "cuda_runtime_api.h", error);
}

void add_listed(std::vector<fs::path>& folders, const char* variable) {
    const std::string list = environment_variable(variable);
    std::string_view left = list;
    while (!left.empty()) {
        const std::string_view one = left.substr(0, left.find(':'));
        left.remove_prefix(std::min(left.size(), one.size() + 1));
        if (!one.empty() && !is_toolkit(one)) folders.emplace_back(one);
    }
}

bool is_once(const Directive& line) {
    return line.keyword == "pragma" && line.rest == "once";
}

bool opens(const Directive& line) {
    return line.keyword == "if" || line.keyword == "ifdef" || line.keyword == "ifndef";
}

// #ifndef X, #define X, ..., #endif, and no directive outside.
bool has_guard(const std::vector<Directive>& lines) {
    if (lines.size() < 3 || lines[0].keyword != "ifndef" || lines[1].keyword != "define" || lines.back().keyword != "endif") return false;
    const std::string name = lines[1].rest.substr(0, lines[1].rest.find(' '));
    if (lines[0].rest != name) return false;
    int open = 0;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        open += opens(lines[i]) ? 1 : lines[i].keyword == "endif" ? -1 : 0;
        if (open == 0 || (open == 1 && lines[i].keyword.starts_with("el"))) return false;
    }
    return true;
}

Error error_at(const std::string& file, const Directive& line, const std::string& found, const std::string& remedy) {
    return {fmt::format("{}:{}", file, line.line), found, remedy};
}

}  // namespace

Headers::Headers(fs::path folder) : folder_(std::move(folder)) {
    add_listed(searched_, "CPATH");
    add_listed(searched_, "CPLUS_INCLUDE_PATH");
}

std::string Headers::in_place(std::string_view text, const std::string& shown, bool numbered) {
    File file{folder_ / "source", shown, std::string(text), directives(text)};
    done_.clear();
    open_.clear();
    bytes_ = 0;
    return expanded({&file, false}, numbered);
}

std::optional<fs::path> Headers::find(const Directive& include, const fs::path& beside) const {
    if (include.keyword != "include" || include.names() == Directive::Names::computed) return std::nullopt;
    const std::string name = include.file();
    std::vector<fs::path> places;
    if (fs::path(name).is_absolute()) {
        places.emplace_back("/");
    } else {
        if (include.names() == Directive::Names::quoted) places.push_back(beside);
        places.push_back(folder_);
        if (!is_standard_header(name)) places.insert(places.end(), searched_.begin(), searched_.end());
    }
    std::error_code error;
    for (const fs::path& place : places)
        if (fs::is_regular_file(place / name, error))
            if (fs::path found = fs::canonical(place / name, error); !error) return found;
    return std::nullopt;
}

const Headers::File& Headers::file_at(const fs::path& path, const std::string& shown) {
    const auto [entry, fresh] = files_.try_emplace(path);
    File& file = entry->second;
    if (!fresh) return file;
    std::string text = read_file(path, longest_header);
    read_ += fmt::format("\nheader {} {}\n{}", shown, text.size(), text);
    file = {path, shown, text, directives(text)};
    file.once = std::any_of(file.lines.begin(), file.lines.end(), is_once);
    file.guarded = has_guard(file.lines);
    return file;
}

// `__has_include` of what is put in place, which the compiler would not find.
std::string Headers::condition(const Directive& line, const File& file) const {
    constexpr std::string_view word = "__has_include";
    std::string text = line.rest;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t open = text.find_first_not_of(' ', at + word.size());
        const std::size_t close = open == std::string::npos ? open : text.find(')', open);
        if (close == std::string::npos || text[open] != '(') continue;
        const std::size_t name = std::min(close, text.find_first_not_of(' ', open + 1));
        Directive include;
        include.keyword = "include";
        include.rest = text.substr(name, close - name);
        if (find(include, file.path.parent_path())) text.replace(at, close + 1 - at, "1");
    }
    return text;
}

std::string Headers::expanded(const Place& place, bool numbered) {
    const File& file = *place.file;
    open_.push_back(&file);
    std::string text;
    std::size_t done = 0;
    int open = file.guarded ? -1 : 0;  // conditions, but for the guard
    for (const Directive& line : file.lines) {
        std::optional<std::string> other;
        if (opens(line)) ++open;
        if (line.keyword == "endif") --open;
        if (line.includes())
            other = included(line, place, place.conditional || open > 0, numbered);
        else if (is_once(line) && open_.size() > 1)
            other = "\n";
        else if (const std::string changed = condition(line, file); changed != line.rest)
            other = fmt::format("#{} {}\n{}", line.keyword, changed, numbered ? fmt::format("#line {}\n", line.next_line) : "");
        if (!other) continue;
        text += file.text.substr(done, line.begin - done) + *other;
        done = line.end;
    }
    text += file.text.substr(done);
    if (open_.size() > 1 && !text.empty() && text.back() != '\n') text += '\n';
    open_.pop_back();
    return text;
}

// What stands in place of a line that includes; nothing where the line stays.
std::string Headers::included(const Directive& include, const Place& from, bool conditional, bool numbered) {
    std::string line = from.file->text.substr(include.begin, include.end - include.begin);
    if (include.keyword != "include" || include.names() == Directive::Names::computed) {
        throw error_at(from.file->shown, include, fmt::format("'#{} {}' does not say which file it reads", include.keyword, include.rest),
                       "write #include with the header's name between quotes or angle brackets: a kernel's headers are part of what it is");
    }
    const auto found = find(include, from.file->path.parent_path());
    if (!found) return line;
    const File* header = nullptr;
    try {
        header = &file_at(*found, include.file());
    } catch (const Error& error) {
        throw error_at(from.file->shown, include, error.what(), "mend the header, or do not include it");
    }
    const std::string back = numbered ? fmt::format("#line {} \"{}\"\n", include.next_line, from.file->shown) : "";
    const bool single = header->once || header->guarded;
    if (std::find(open_.begin(), open_.end(), header) != open_.end()) {
        if (!single)
            throw error_at(from.file->shown, include, fmt::format("{} includes itself", header->shown),
                           fmt::format("begin {} with #pragma once", header->shown));
        return numbered ? back : "\n";
    }
    if (single && done_.contains(header)) return numbered ? back : "\n";
    std::string text = expanded({header, conditional}, numbered);
    bytes_ += text.size();
    if (bytes_ > most_bytes)
        throw error_at(from.file->shown, include, fmt::format("the source with its headers has more than {} MiB", most_bytes >> 20),
                       "include smaller headers, each with #pragma once or a guard");
    if (single && !conditional) done_.insert(header);
    if (numbered) text = fmt::format("#line 1 \"{}\"\n", header->shown) + text;
    if (header->once) {
        const std::string guard = "hone_once_" + sha256(header->text).substr(0, guard_digits);
        text = fmt::format("#ifndef {0}\n#define {0}\n{1}#endif\n", guard, text);
    }
    return text + back;
}

}  // namespace hone::inline v0_1::kernel_folder
