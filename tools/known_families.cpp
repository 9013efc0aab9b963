#include "tools/known_families.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/kernel_folder/kernel_folder.hpp"
#include "tuner/compile_pool.hpp"
#include "tuning_db/environment.hpp"

namespace hone::tools {
namespace {

// What a process knows: filled from the environment when it is first asked for, and by its command line before anything else looks at it.
struct Known {
    Known() {
        const std::string always = environment_variable("HONE_KERNELS");
        for (std::size_t begin = 0; begin < always.size();) {
            const std::size_t end = std::min(always.find(':', begin), always.size());
            if (end > begin) add(always.substr(begin, end - begin));
            begin = end + 1;
        }
    }

    std::string add(const std::string& folder) {
        const KernelFolder kernel(folder);
        std::string name = kernel.family().name;
        const std::string_view plain = std::string_view(name).substr(0, name.find(':'));
        const Families& own = built_in_families();
        if (std::any_of(own.begin(), own.end(), [&](const Family& family) { return family.name == plain; }))
            throw Error("kernel folder " + folder, "hone has a family of its own that is called " + std::string(plain),
                        "give the kernel another \"name\" in its family.json");
        std::vector<Family> all(families.begin(), families.end());
        if (std::none_of(all.begin(), all.end(), [&](const Family& family) { return family.name == name; })) {
            all.push_back(kernel.family());
            families = Families(std::move(all));
            folders.push_back(kernel.path().string());
        }
        return name;
    }

    Families families = built_in_families();
    std::vector<std::string> folders;  // whole paths
};

Known& known() {
    static Known all;
    return all;
}

}  // namespace

const Families& known_families() {
    return known().families;
}

std::string know_kernel_folder(const std::string& folder) {
    return known().add(folder);
}

std::string with_family_name(const std::string& word, PathMeans path) {
    const std::string first = word.substr(0, word.find(' '));
    const bool folder = path == PathMeans::kernel && first.find('/') != std::string::npos && first.find('=') == std::string::npos;
    const Families& own = built_in_families();
    const bool family = std::any_of(own.begin(), own.end(), [&](const Family& one) { return one.name == first; });
    if (first.empty() || family || (!folder && !is_kernel_folder(first))) return word;
    return know_kernel_folder(first) + word.substr(first.size());
}

std::vector<std::string> worker_words() {
    std::vector<std::string> words = CompilePoolSettings{}.command;
    words.insert(words.end(), known().folders.begin(), known().folders.end());
    return words;
}

}  // namespace hone::tools
