#include "runtime/cpu/compiled_headers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "headers.hpp";
constexpr const char* compiled_name = "headers.hpp.gch";  // GCC and clang both look for it

std::string_view trimmed(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

bool starts_with_any(std::string_view line, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) { return line.starts_with(beginning); });
}

std::optional<std::string> contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

bool write(const fs::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return !file.fail();
}

}  // namespace

std::string leading_includes(std::string_view text) {
    std::string found;
    std::size_t whole = 0;  // as much of it as leaves no condition open
    int open = 0;
    while (!text.empty()) {
        const std::string_view line = trimmed(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
        if (line.empty() || line.starts_with("//")) continue;
        const bool condition = starts_with_any(line, {"#if ", "#ifdef ", "#ifndef "});
        const bool end = line.starts_with("#endif");
        if (!condition && !end && !starts_with_any(line, {"#include <", "#else", "#elif "})) break;
        open += static_cast<int>(condition) - static_cast<int>(end);
        if (open < 0) break;
        found += std::string(line) + "\n";
        if (open == 0) whole = found.size();
    }
    found.resize(whole);
    return found.find("#include <") == std::string::npos ? "" : found;
}

CompiledHeaders::CompiledHeaders(HeaderUse use, const DiskCache& cache, std::string compiler, std::vector<std::string> options,
                                 const std::string& machine)
    : use_(use), cache_(&cache), compiler_(std::move(compiler)), options_(std::move(options)), machine_(machine) {
    // They are linked into nothing.
    std::erase_if(options_, [](const std::string& option) { return option == "-shared" || option.starts_with("-Wl,"); });
}

std::vector<std::string> CompiledHeaders::options_for(std::string_view text, double timeout_seconds) {
    try {
        return usable_for(text, timeout_seconds);
    } catch (const Error&) {  // no temporary folder: they only save time
        return {};
    }
}

std::vector<std::string> CompiledHeaders::usable_for(std::string_view text, double timeout_seconds) {
    if (use_ == HeaderUse::parses || compiler_.empty()) return {};
    const std::string includes = leading_includes(text);
    if (includes.empty()) return {};
    Known& known = known_[includes];
    ++known.met;
    if (known.header.empty()) {
        const std::string key = fmt::format("compiled headers\n{}\n{}\n{}\n{}", compiler_, machine_, fmt::join(options_, "\n"), includes);
        // Once: whoever meets them again has many kernels to compile.
        if (use_ == HeaderUse::makes_compiled && known.met == 2 && !fs::exists(cache_->path(key))) make(key, includes, timeout_seconds);
        if (fs::exists(cache_->path(key))) known.header = placed(key, includes);
    }
    return known.header.empty() ? std::vector<std::string>{} : std::vector<std::string>{"-include", known.header.string()};
}

bool CompiledHeaders::make(const std::string& key, const std::string& includes, double timeout_seconds) const {
    const RunFolder folder;
    const fs::path header = folder.path() / file_name;
    const fs::path compiled = folder.path() / compiled_name;
    if (!write(header, includes)) return false;
    std::vector<std::string> arguments{compiler_};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    arguments.insert(arguments.end(), {"-x", "c++-header", header.string(), "-o", compiled.string()});
    const ProcessResult result = run_process(arguments, timeout_seconds, {{"LC_ALL", "C"}, {"TMPDIR", folder.path().string()}});
    const auto contents = result.ok() ? contents_of(compiled) : std::nullopt;
    return contents && !contents->empty() && cache_->write(key, *contents);
}

/// The header in a folder of its own, with a link beside it to what the cache has of it; empty when
/// that is not whole. When the entry leaves the cache the compiler reads the header itself.
fs::path CompiledHeaders::placed(const std::string& key, const std::string& includes) {
    if (!cache_->read(key)) return {};
    if (!folder_) folder_.emplace();
    const fs::path folder = folder_->path() / sha256(includes).substr(0, 16);
    std::error_code error;
    fs::create_directory(folder, error);
    const fs::path entry = fs::canonical(cache_->path(key), error);  // by its name: the descriptor is this process's
    if (!error) fs::create_symlink(entry, folder / compiled_name, error);
    return !error && write(folder / file_name, includes) ? folder / file_name : fs::path();
}

}  // namespace hone::inline v0_1
