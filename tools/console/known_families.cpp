#include "tools/console/known_families.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::tools {
namespace {

// What a process knows: filled from the environment when it is first asked for, and by its command
// line before anything else looks at it.
struct Known {
    Known() {
        for (const std::filesystem::path& folder : listed_kernel_folders(environment_variable("HONE_KERNELS"))) add(folder);
    }

    std::string add(const std::filesystem::path& folder) {
        const KernelFolder kernel(folder);
        add_kernel(families, kernel);
        const std::string path = kernel.path().string();
        if (std::find(folders.begin(), folders.end(), path) == folders.end()) folders.push_back(path);
        return kernel.family().name;
    }

    Problem add(const Capture& capture) {
        const auto same = [&](const Family& family) { return family.name == capture.family(); };
        if (std::none_of(families.begin(), families.end(), same))
            throw Error(capture.file.string(), "there is no family " + capture.family(),
                        capture.family().find(':') == std::string::npos
                            ? "it was captured with a family that is not hone's: hone replays its own and those of kernel folders"
                            : "name its kernel folder, as it was, in HONE_KERNELS; 'hone families' shows the versions that are known");
        Problem problem = captured_problem(capture, families);
        Capture canonical = capture;
        canonical.problem = problem.key();
        std::vector<Family> all(families.begin(), families.end());
        for (Family& family : all)
            if (same(family)) family = replaying(family, canonical);
        families = Families(std::move(all));
        captures.push_back(std::filesystem::absolute(capture.file).string());
        return problem;
    }

    Families families = built_in_families();
    std::vector<std::string> folders;   // whole paths
    std::vector<std::string> captures;  // files, whole paths
};

Known& known() {
    static Known all;
    return all;
}

// What stands in place of a family at the beginning of a word: up to a space, and where a folder's
// own path has spaces up to the last one behind which it ends.
std::string family_part(const std::string& word) {
    for (std::size_t end = word.size(); end != std::string::npos && end > 0; end = word.rfind(' ', end - 1))
        if (is_kernel_folder(word.substr(0, end))) return word.substr(0, end);
    return word.substr(0, word.find(' '));
}

}  // namespace

const Families& known_families() {
    return known().families;
}

std::string know_kernel_folder(const std::string& folder) {
    return known().add(folder);
}

Problem know_capture(const Capture& capture) {
    return known().add(capture);
}

std::string with_family_name(const std::string& word, PathMeans path) {
    const std::string first = family_part(word);
    const bool folder = path == PathMeans::kernel && first.find('/') != std::string::npos && first.find('=') == std::string::npos;
    const Families& own = built_in_families();
    const bool family = std::any_of(own.begin(), own.end(), [&](const Family& one) { return one.name == first; });
    if (first.empty() || family || (!folder && !is_kernel_folder(first))) return word;
    return know_kernel_folder(first) + word.substr(first.size());
}

std::vector<std::string> worker_words() {
    std::vector<std::string> words = CompilePoolSettings{}.command;
    words.insert(words.end(), known().folders.begin(), known().folders.end());
    for (const std::string& capture : known().captures) words.insert(words.end(), {"--capture", capture});
    return words;
}

}  // namespace hone::tools
