#include "tools/console/completion.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "foundation/file_store.hpp"
#include "foundation/value.hpp"
#include "tools/console/command.hpp"

namespace hone::tools {
namespace completion {

struct Settings {
    std::vector<std::string> words;
    std::string output;
};

struct Text {
    std::string name;
    std::function<std::string()> make;
};

const std::array<Text, 4>& texts() {
    static const std::array<Text, 4> all{
        {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}, {"man", [] { return manual_page(HONE_VERSION); }}}};
    return all;
}

Exit completion(const Settings& settings, Console& console) {
    std::vector<std::string> names;
    for (const Text& text : texts()) names.push_back(text.name);
    const std::string forms = "write: hone completion bash, zsh, fish or man";
    if (settings.words.size() != 1) throw Error("completion", "it needs one word", forms);
    const auto found = std::find_if(texts().begin(), texts().end(), [&](const Text& text) { return text.name == settings.words.front(); });
    if (found == texts().end())
        throw Error("completion", fmt::format("there is none for \"{}\"", settings.words.front()),
                    did_you_mean(settings.words.front(), names) + forms);
    if (settings.output.empty()) {
        console.print("{}", found->make());
    } else {
        replace_file(settings.output, found->make());
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("bash | zsh | fish | man", settings->words, "which text");
    options.text("output", settings->output, "FILE", "write it there instead of printing it");
    return [settings](Console& console) { return completion(*settings, console); };
}

}  // namespace completion

Command completion_command() {
    return {"completion",
            "completion for bash, zsh and fish, and the manual page",
            "bash | zsh | fish | man [options]",
            "Prints a script with which a shell completes hone's commands, options, families, parameters and values, or prints the manual page. All "
            "four come from the same tables as --help. 'cmake --install' puts them where shells and man look for them. Without it, in bash: source "
            "<(hone completion bash); in zsh: a file _hone in a folder of fpath; in fish: a file ~/.config/fish/completions/hone.fish.",
            {{"completion bash", "for this shell, with: source <(hone completion bash)"}, {"completion man --output hone.1", "then: man ./hone.1"}},
            completion::declare};
}

}  // namespace hone::tools
