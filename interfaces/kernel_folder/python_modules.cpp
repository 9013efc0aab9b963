#include "interfaces/kernel_folder/python_modules.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t longest_module = std::int64_t{64} << 20;  // also a compiled one
constexpr std::size_t most_modules = 10000;

// The names, dots, commas and other signs of a statement.
std::vector<std::string> words_of(std::string_view statement) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; };
    std::vector<std::string> words;
    for (std::size_t at = 0; at < statement.size();) {
        if (statement[at] == '#') break;
        std::size_t end = at;
        while (end < statement.size() && is_word(statement[end])) ++end;
        if (end == at) ++end;
        if (const std::string_view word = statement.substr(at, end - at); word != " " && word != "\t" && word != "\r") words.emplace_back(word);
        at = end;
    }
    return words;
}

// Statements that import, whether they stand in a function or in a literal: rather one too many.
std::vector<std::vector<std::string>> imports_of(std::string_view text) {
    std::vector<std::vector<std::string>> found;
    std::vector<std::string> statement;
    bool goes_on = false;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        for (const std::string& word : words_of(line)) {
            const bool begins = (word == "import" || word == "from") && (statement.empty() || statement.front() == "import");
            if (word == ";" || word == ":" || (begins && !goes_on)) {
                found.push_back(std::move(statement));
                statement.clear();
                if (!begins) continue;
            }
            statement.push_back(word);
        }
        const bool open = std::count(statement.begin(), statement.end(), "(") > std::count(statement.begin(), statement.end(), ")");
        goes_on = !statement.empty() && (statement.back() == "\\" || (open && statement.front() == "from"));
        if (!statement.empty() && statement.back() == "\\") statement.pop_back();
        if (goes_on) continue;
        found.push_back(std::move(statement));
        statement.clear();
    }
    found.push_back(std::move(statement));
    return found;
}

// Where a name of a package or module may be: files of its code.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& name) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const fs::path& file : {folder / (name + ".py"), folder / name / "__init__.py"})
        if (fs::is_regular_file(file, error)) files.push_back(file);
    // Compiled: name.so, name.abi3.so, name.cpython-311-x86_64-linux-gnu.so.
    std::vector<fs::path> compiled;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        if (file.starts_with(name + ".") && file.ends_with(".so")) compiled.push_back(entry->path());
    }
    std::sort(compiled.begin(), compiled.end());
    files.insert(files.end(), compiled.begin(), compiled.end());
    return files;
}

std::vector<fs::path> python_path() {
    std::vector<fs::path> folders;
    const std::string list = environment_variable("PYTHONPATH");
    std::string_view left = list;
    while (!left.empty()) {
        const fs::path one = left.substr(0, left.find(':'));
        left.remove_prefix(std::min(left.size(), one.native().size() + 1));
        const bool installed =
            std::any_of(one.begin(), one.end(), [](const fs::path& part) { return part == "site-packages" || part == "dist-packages"; });
        if (!one.empty() && !installed) folders.push_back(one);
    }
    return folders;
}

// The module of import_module("a.b") behind its name.
std::vector<std::string> named_literal(const std::vector<std::string>& statement, std::size_t at) {
    std::vector<std::string> dotted;
    for (; at < statement.size() && statement[at] != ")" && statement[at] != ","; ++at)
        if (std::string_view("(\"'.").find(statement[at]) == std::string_view::npos) dotted.push_back(statement[at]);
    return dotted;
}

class Modules {
  public:
    explicit Modules(const fs::path& first) : roots_(python_path()) {
        roots_.insert(roots_.begin(), first.parent_path());
        read(first);
    }

    std::vector<fs::path> all() const { return found_; }

  private:
    void read(const fs::path& file) {
        std::string text;
        try {
            text = read_file(file, longest_module);
        } catch (const Error&) {
            return;  // Python says so when it comes to it
        }
        for (const auto& statement : imports_of(text)) follow(statement, file.parent_path());
    }

    // import a.b as c, d        from ..a.b import (c, d)
    void follow(const std::vector<std::string>& statement, const fs::path& beside) {
        if (statement.empty()) return;
        for (std::size_t i = 0; i < statement.size(); ++i)
            if (statement[i] == "import_module" || statement[i] == "__import__") look_up(named_literal(statement, i + 1), beside);
        if (statement.front() == "from") return follow_from(statement, beside);
        if (statement.front() != "import") return;
        std::vector<std::string> dotted;
        bool alias = false;
        for (std::size_t i = 1; i <= statement.size(); ++i) {
            if (i == statement.size() || statement[i] == ",") {
                look_up(dotted, beside);
                dotted.clear();
                alias = false;
            } else if (statement[i] == "as") {
                alias = true;
            } else if (!alias && statement[i] != ".") {
                dotted.push_back(statement[i]);
            }
        }
    }

    void follow_from(const std::vector<std::string>& statement, const fs::path& beside) {
        std::size_t at = 1;
        std::vector<fs::path> places = roots_;
        places.push_back(beside);
        if (at < statement.size() && statement[at] == ".") {
            fs::path parent = beside;
            while (++at < statement.size() && statement[at] == ".") parent = parent.parent_path();
            places = {parent};
        }
        std::vector<std::string> dotted;
        for (; at < statement.size() && statement[at] != "import"; ++at)
            if (statement[at] != ".") dotted.push_back(statement[at]);
        for (const fs::path& place : places) {
            descend(place, dotted);
            // What is imported may be modules of the package.
            for (std::size_t i = at + 1; i < statement.size(); ++i) {
                std::vector<std::string> further = dotted;
                further.push_back(statement[i]);
                descend(place, further);
            }
        }
    }

    void look_up(const std::vector<std::string>& dotted, const fs::path& beside) {
        for (const fs::path& root : roots_) descend(root, dotted);
        descend(beside, dotted);
    }

    // All packages on the way, too: their __init__ runs.
    void descend(fs::path folder, const std::vector<std::string>& dotted) {
        for (const std::string& name : dotted) {
            for (const fs::path& file : files_of(folder, name)) add(file);
            folder /= name;
        }
    }

    void add(const fs::path& file) {
        std::error_code error;
        fs::path path = fs::canonical(file, error);
        if (error || found_.size() >= most_modules || !known_.insert(path).second) return;
        found_.push_back(path);
        if (path.extension() == ".py") read(path);
    }

    std::vector<fs::path> roots_;
    std::vector<fs::path> found_;
    std::set<fs::path> known_;
};

}  // namespace

std::vector<fs::path> python_modules(const fs::path& file) {
    return Modules(file).all();
}

}  // namespace hone::inline v0_1::kernel_folder
