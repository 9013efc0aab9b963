#include "tests/support/verification_sources.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cpu/host_compiler.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

const fs::path families = "generator/families";
constexpr std::array common{"generator/workload.hpp",        "generator/workload.cpp",       "foundation/random_words.hpp",
                            "foundation/repeated_words.hpp", "generator/repeated_words.cpp", "tests/support/verify.cpp"};
// Whoever includes one of these makes the text of kernels.
constexpr std::array makers{"\"generator/block.hpp\"", "\"generator/render.hpp\"", "\"generator/form.hpp\""};

std::string text_of(const fs::path& file) {
    std::ostringstream text;
    const std::ifstream stream(file);
    if (!stream) throw Error(file.string(), "cannot be read", "run the tests where the source tree is");
    text << stream.rdbuf();
    return text.str();
}

std::string without_comments(const std::string& text) {
    std::istringstream stream(text);
    std::string kept;
    for (std::string line; std::getline(stream, line);) {
        line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.empty() && !line.starts_with("//")) kept += line + "\n";
    }
    return kept;
}

// dg_stage lies in dg/stage.
fs::path folder_of(const fs::path& root, const std::string& family) {
    fs::path folder = families / family;
    if (const std::size_t bar = family.find('_'); bar != std::string::npos && !fs::exists(root / folder))
        folder = families / family.substr(0, bar) / family.substr(bar + 1);
    return folder;
}

// Headers of families that a text includes, from the top of the tree.
std::vector<fs::path> included(const std::string& text) {
    const std::string begin = "#include \"" + families.string();
    std::vector<fs::path> headers;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        const std::size_t quote = text.find('"', at) + 1;
        headers.emplace_back(text.substr(quote, text.find('"', quote) - quote));
    }
    return headers;
}

}  // namespace

std::string verification_source(const fs::path& root, const std::string& file) {
    const std::size_t begin = file.rfind("tests/");
    return without_comments(text_of(root / (begin == std::string::npos ? file : file.substr(begin))));
}

std::string verification_sources(const fs::path& root, const std::string& family) {
    std::set<fs::path> files, first;
    for (const char* const name : {"reference.cpp", "data.cpp", "family.cpp"}) first.insert(folder_of(root, family) / name);
    std::vector<fs::path> waiting(first.begin(), first.end());
    while (!waiting.empty()) {
        const fs::path file = waiting.back();
        waiting.pop_back();
        if (!fs::exists(root / file) || files.contains(file)) continue;
        const std::string text = text_of(root / file);
        const bool makes = std::any_of(makers.begin(), makers.end(), [&](const char* header) { return text.find(header) != std::string::npos; });
        if (makes && !first.contains(file)) continue;
        files.insert(file);
        for (fs::path header : included(text)) {
            waiting.push_back(header);
            waiting.push_back(header.replace_extension(".cpp"));
        }
    }
    std::string text;
    for (const std::string& option : host_compiler_options())
        if (!option.starts_with("-m")) text += option + "\n";  // the others are the machine's
    for (const char* const file : common)
        if (fs::exists(root / file)) text += without_comments(text_of(root / file));
    for (const fs::path& file : files) text += file.string() + "\n" + without_comments(text_of(root / file));
    return text;
}

}  // namespace hone::test
