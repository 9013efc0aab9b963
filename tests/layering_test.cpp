// The folder rule: foundation <- generator <- tuning_db <- runtime <- tuner <- tools, examples,
// benchmarks, tests. A folder includes itself and what stands to its left. Beside them stand hone's
// own families, which only generator is below (generator <- generator/families), and interfaces/:
// the session, which knows them (tuner, generator/families <- interfaces/session), and what reads
// kernels of users' own (interfaces/kernel_folder): of none of them do generator, tuning_db,
// runtime and tuner know. Above all of these stands hone for other languages (tuner,
// interfaces/session, interfaces/kernel_folder <- interfaces/c). The tuner has rooms: its hall
// (what to try next, and what it cost) knows none of them; so have the tools.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.hpp"

namespace hone::layering_test {
namespace {

namespace fs = std::filesystem;

// A library, or a room of one: the folder it stands in, and the others that it may include beside
// itself.
struct Library {
    std::string_view folder;
    std::vector<std::string_view> below;
};

const std::vector<Library>& libraries() {
    static const std::vector<Library> all{
        {"generator/families", {"foundation", "generator"}},
        {"interfaces/session", {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/online", "generator/families"}},
        {"interfaces/kernel_folder", {"foundation", "generator", "tuning_db", "runtime", "generator/families"}},
        {"interfaces/c",
         {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/worker", "tuner/online", "generator/families", "interfaces/session",
          "interfaces/kernel_folder"}},
        {"interfaces/python", {"interfaces/c"}},
        {"solvers",
         {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/strategies", "tuner/worker", "tuner/online", "tuner/sharing",
          "generator/families", "interfaces/session", "interfaces/kernel_folder"}},
        {"tuner/strategies", {"foundation", "generator", "tuning_db", "runtime", "tuner"}},
        {"tuner/worker", {"foundation", "generator", "tuning_db", "runtime", "tuner"}},
        {"tuner/online", {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/worker"}},
        {"tuner/replay", {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/strategies"}},
        {"tuner/sharing", {"foundation", "generator", "tuning_db", "runtime", "tuner", "tuner/worker"}},
        {"foundation", {}},
        {"generator", {"foundation"}},
        {"tuning_db", {"foundation", "generator"}},
        {"runtime", {"foundation", "generator", "tuning_db"}},
        {"tuner", {"foundation", "generator", "tuning_db", "runtime"}},
    };
    return all;
}

// The library that a file belongs to, the innermost of those whose folder it is in; null for what
// belongs to none.
const Library* library_of(std::string_view file) {
    for (const auto& library : libraries())
        if (file.starts_with(library.folder) && file.substr(library.folder.size()).starts_with('/')) return &library;
    return nullptr;
}

struct Include {
    std::string header;
    bool quoted = false;
};

std::vector<Include> includes_of(std::istream& source) {
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> includes;
    std::smatch match;
    for (std::string line; std::getline(source, line);)
        if (line.find("include") != std::string::npos && std::regex_search(line, match, pattern)) includes.push_back({match[2], match[1] == "\""});
    return includes;
}

// Why a file, named from the root of the project, may not have this include, or an empty string.
std::string violation(std::string_view file, const Include& include) {
    const std::string first = include.header.substr(0, include.header.find('/'));
    const std::string_view folder = file.substr(0, file.find('/'));
    const Library* const own = library_of(file);
    const Library* const other = library_of(include.header);
    if (include.quoted && own != nullptr && own != other &&
        (other == nullptr || std::find(own->below.begin(), own->below.end(), other->folder) == own->below.end()))
        return fmt::format("{} may include only itself and [{}]", own->folder, fmt::join(own->below, ", "));
    if (include.quoted && !include.header.starts_with(first + "/"))
        return "an include starts at the root of the project, as in \"foundation/value.hpp\"";
    const bool library_header = own != nullptr && file.ends_with(".hpp");
    if (library_header && (first == "nlohmann" || first == "CLI")) return "headers are light: this belongs in the .cpp";
    const bool measures = folder == "tests" || folder == "benchmarks";  // may compare with the toolkit where there is one
    if (measures) return "";
    if (include.header == "cuda.h" || include.header == "cuda_runtime.h" || include.header == "nvrtc.h" || include.header == "nvml.h")
        return "hone builds where there is no toolkit: it declares what it uses of the driver itself";
    return "";
}

std::vector<fs::path> sources() {
    std::vector<fs::path> files;
    for (const std::string_view top :
         {"foundation", "generator", "tuning_db", "runtime", "tuner", "interfaces", "solvers", "tools", "examples", "benchmarks", "tests"}) {
        const fs::path folder = test::source_path(top);
        if (!fs::exists(folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
                files.push_back(entry.path().lexically_relative(test::source_path("")));
    }
    return files;
}

TEST(Layering, EveryIncludeFollowsTheFolderOrder) {
    const auto files = sources();
    ASSERT_GE(files.size(), 20U) << "the sources were not found under " << test::source_path("");
    for (const auto& file : files) {
        if (file.string().starts_with("tests/consumer")) continue;  // sees hone as another project does
        std::ifstream source(test::source_path(file));
        for (const auto& include : includes_of(source)) {
            const std::string reason = violation(file.string(), include);
            EXPECT_EQ(reason, "") << file << " includes " << include.header;
        }
    }
}

// What programs need more is library, in solvers/.
TEST(Layering, ProgramsOfExamplesAreShort) {
    constexpr int most_lines = 300;
    int programs = 0;
    for (const auto& file : sources()) {
        if (!file.string().starts_with("examples/")) continue;
        std::ifstream source(test::source_path(file));
        int lines = 0;
        for (std::string line; std::getline(source, line);) ++lines;
        EXPECT_LE(lines, most_lines) << file;
        ++programs;
    }
    EXPECT_GE(programs, 10);
}

// All that a public header includes, itself first.
std::vector<std::string> closure_of(const std::string& header) {
    std::vector<std::string> todo{header}, found;
    while (!todo.empty()) {
        const std::string next = todo.back();
        todo.pop_back();
        if (std::find(found.begin(), found.end(), next) != found.end() || !fs::exists(test::source_path(next))) continue;
        found.push_back(next);
        std::ifstream source(test::source_path(next));
        for (const Include& include : includes_of(source)) {
            if (include.quoted) todo.push_back(include.header);
            if (include.header.starts_with("hone/")) todo.push_back(include.header.substr(5));
        }
    }
    return found;
}

TEST(Layering, ApplicationsSeeNothingOfTheDriver) {
    const std::vector<std::string> headers = closure_of("include/hone/hone.hpp");
    EXPECT_GT(headers.size(), 30U);
    EXPECT_LE(headers.size(), 46U) << "does an application need what was added?";
    for (const std::string& header : headers) {
        EXPECT_FALSE(header.starts_with("runtime/cuda/") || header.starts_with("runtime/cpu/")) << header;
        EXPECT_NE(header, "foundation/sha256.hpp");
    }
}

// Names of one word are an application's own, unless a type of hone's tells the function from the
// application's.
TEST(Layering, ApplicationsKeepShortNamesForTheirOwnFunctions) {
    const std::vector<std::string> tables{"backends", "objectives", "strategies"};  // hone's lists, without arguments
    static const std::regex function(
        R"((?:^|\n)(?:inline |constexpr )*(?!namespace|struct|class|using|enum|template|return|static_assert)[A-Za-z_:][\w:<>,* &]*[&* ](\w+)\(([^;{)]*)\)\s*(?:;|\{))");
    const auto names_of = [&](const std::string& text) {
        std::vector<std::string> names;
        if (text.find("namespace hone::inline v0_1 {") == std::string::npos) return names;  // a namespace of its own
        for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at) {
            const std::string name = (*at)[1], parameters = (*at)[2];
            const bool has_type = std::any_of(parameters.begin(), parameters.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
            if (name.find('_') == std::string::npos && !has_type && std::find(tables.begin(), tables.end(), name) == tables.end())
                names.push_back(name);
        }
        return names;
    };
    const std::string head = "namespace hone::inline v0_1 {\n";
    EXPECT_EQ(names_of(head + "std::string join(const std::vector<std::string>& words,\n    char separator);\n"), std::vector<std::string>{"join"});
    EXPECT_EQ(names_of(head + "inline double difference(double a, double b) {\n"), std::vector<std::string>{"difference"});
    EXPECT_TRUE(names_of(head + "double cost(const Objective& objective);\nint bytes_of(int words);\n").empty());
    for (const std::string& header : closure_of("include/hone/hone.hpp")) {
        std::ifstream source(test::source_path(header));
        const std::string text{std::istreambuf_iterator<char>(source), {}};
        for (const std::string& name : names_of(text)) EXPECT_EQ(name, "summarise") << header << " takes this name from applications";
    }
}

// The rooms of a folder, each of which may include itself and those before it.
void expect_rooms_in_order(const std::string& top, const std::vector<std::string>& rooms) {
    const auto room_of = [&](const std::string& path) {
        for (std::size_t room = 0; room < rooms.size(); ++room)
            if (path.starts_with(top + "/" + rooms[room] + "/")) return room;
        return rooms.size();
    };
    int found = 0;
    for (const auto& file : sources()) {
        if (*file.begin() != top) continue;
        const std::size_t own = room_of(file.string());
        ++found;
        if (own == rooms.size()) {
            EXPECT_EQ(file.parent_path(), top) << file << " is in no room that this test knows";
            continue;
        }
        std::ifstream source(test::source_path(file));
        for (const auto& include : includes_of(source))
            if (include.header.starts_with(top + "/")) EXPECT_LE(room_of(include.header), own) << file << " includes " << include.header;
    }
    EXPECT_GE(found, 20);
}

TEST(Layering, RoomsOfToolsAndSolversStandOnEachOther) {
    expect_rooms_in_order("tools", {"console", "records", "kernels", "searches", "charts", "report", "commands"});
    expect_rooms_in_order(
        "solvers", {"mesh", "output", "item_kernels", "tuning", "poisson", "acoustics", "maxwell", "hydro", "multigrid_smoother", "taylor_green"});
}

// With fmt 9 and 10 it comes with <fmt/format.h>, from 11 on only with its own header.
TEST(Layering, WhoJoinsRangesIncludesTheHeaderForThem) {
    const std::string call = std::string("fmt::") + "join(";
    int found = 0;
    for (const auto& file : sources()) {
        std::ifstream source(test::source_path(file));
        const std::string text{std::istreambuf_iterator<char>(source), {}};
        if (text.find(call) == std::string::npos) continue;
        EXPECT_NE(text.find("#include <fmt/ranges.h>"), std::string::npos) << file << " calls " << call;
        ++found;
    }
    EXPECT_GE(found, 50);
}

// As in CMakeLists.txt: v0_1 of 0.1.0.
std::string namespace_of_the_version() {
    std::ifstream lists(test::source_path("CMakeLists.txt"));
    static const std::regex version(R"(project\(hone VERSION (\d+)\.(\d+)\.)");
    std::smatch match;
    for (std::string line; std::getline(lists, line);)
        if (std::regex_search(line, match, version)) return fmt::format("hone::inline v{}_{}", match[1].str(), match[2].str());
    return "";
}

// Two versions of the libraries in one program do not share names that have changed.
TEST(Layering, LibrariesStandInTheInlineNamespaceOfTheVersion) {
    const std::string expected = namespace_of_the_version();
    ASSERT_NE(expected, "") << "CMakeLists.txt does not begin a project(hone VERSION ...)";
    int found = 0;
    for (const auto& file : sources()) {
        if (library_of(file.string()) == nullptr) continue;
        std::ifstream source(test::source_path(file));
        for (std::string line; std::getline(source, line);)
            if (line.starts_with("namespace hone ") || line.starts_with("namespace hone::")) {
                EXPECT_TRUE(line.starts_with("namespace " + expected))
                    << file << ": " << line << ": there it is " << expected << " (CONTRIBUTING.md)";
                ++found;
            }
    }
    EXPECT_GE(found, 100);
}

TEST(Layering, TheRuleRejectsAStepToTheRight) {
    EXPECT_NE(violation("generator/family.cpp", {"tuning_db/record.hpp", true}), "");
    EXPECT_NE(violation("runtime/kernel.cpp", {"tuner/tuner.hpp", true}), "");
    EXPECT_NE(violation("tuner/tuner.hpp", {"tools/console/command.hpp", true}), "");
    EXPECT_NE(violation("runtime/library.hpp", {"nlohmann/json.hpp", false}), "");
    EXPECT_NE(violation("runtime/cuda/driver.cpp", {"cuda.h", false}), "");
    EXPECT_NE(violation("tuner/tuner.hpp", {"tuner/worker/worker_evaluator.hpp", true}), "");
    EXPECT_NE(violation("tuner/worker/worker.cpp", {"tuner/online/tuner.hpp", true}), "");
    EXPECT_EQ(violation("tests/runtime/x_test.cpp", {"cuda.h", false}), "");
    EXPECT_NE(violation("runtime/kernel.cpp", {"backend.hpp", true}), "");
    EXPECT_EQ(violation("runtime/kernel.cpp", {"nlohmann/json.hpp", false}), "");
    EXPECT_EQ(violation("tuner/tuner.hpp", {"foundation/value.hpp", true}), "");
    EXPECT_EQ(violation("tools/main.cpp", {"tuner/tuner.hpp", true}), "");
}

TEST(Layering, NoLibraryBelowTheSessionKnowsAFamily) {
    for (const std::string file : {"generator/families.cpp", "tuning_db/record.cpp", "runtime/library.cpp", "tuner/tuner.cpp"}) {
        EXPECT_NE(violation(file, {"generator/families/built_in_families.hpp", true}), "") << file;
        EXPECT_NE(violation(file, {"generator/families/device/cpu_team.hpp", true}), "") << file;
        EXPECT_NE(violation(file, {"interfaces/session/session.hpp", true}), "") << file;
        EXPECT_NE(violation(file, {"interfaces/c/open_session.hpp", true}), "") << file;
        EXPECT_EQ(violation(file, {"generator/families.hpp", true}), "") << file;
    }
    EXPECT_EQ(violation("generator/families/poisson7/forms/cpu_blocks.cpp", {"generator/families/device/cpu_team.hpp", true}), "");
    EXPECT_NE(violation("generator/families/poisson7/forms/cpu_blocks.cpp", {"tuning_db/record.hpp", true}), "");
    EXPECT_EQ(violation("interfaces/session/session.cpp", {"generator/families/built_in_families.hpp", true}), "");
    EXPECT_EQ(violation("interfaces/session/session.cpp", {"tuner/online/first_use.hpp", true}), "");
    EXPECT_NE(violation("interfaces/session/session.cpp", {"interfaces/c/hone.h", true}), "");
    EXPECT_EQ(violation("interfaces/c/tuning.cpp", {"tuner/tuning_run.hpp", true}), "");
    EXPECT_EQ(violation("interfaces/c/session.cpp", {"interfaces/session/session.hpp", true}), "");
    EXPECT_NE(violation("interfaces/c/session.cpp", {"tools/console/command.hpp", true}), "");
}

// Templates own the text of kernels, C++ what has to be counted (ADR 0038). Counted are calls of
// Block that write text, and template files but those that `hone new` begins a kernel folder with.
// A form has a template, and forms share pieces. A kernel that needs more lines had better become a
// template, or a piece of one.
TEST(Layering, KernelsAreWrittenByTemplates) {
    constexpr int most_lines = 610, most_templates = 100;
    static const std::regex writes(R"(\.(line|text|open|close|list)\()");
    int lines = 0, templates = 0;
    for (const auto& entry : fs::recursive_directory_iterator(test::source_path("generator/families"))) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
        std::ifstream source(entry.path());
        for (std::string line; std::getline(source, line);) lines += std::regex_search(line, writes) ? 1 : 0;
    }
    for (const auto& entry : fs::recursive_directory_iterator(test::source_path("templates")))
        templates += entry.path().extension() == ".in" && entry.path().parent_path().filename() != "kernel_folder" ? 1 : 0;
    EXPECT_GT(lines, 100);
    EXPECT_LE(lines, most_lines);
    EXPECT_GT(templates, 20);
    EXPECT_LE(templates, most_templates);
}

// A device is asked for its properties, and a language for its words
// (generator/families/device/dialect.hpp): so a further target is a folder and rows.
TEST(Layering, FamiliesDoNotCompareTargets) {
    for (const auto& entry : fs::recursive_directory_iterator(test::source_path("generator/families"))) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
        if (entry.path().filename() == "dialect.cpp") continue;
        std::ifstream source(entry.path());
        for (std::string line; std::getline(source, line);) EXPECT_EQ(line.find("== Target::"), std::string::npos) << entry.path() << ": " << line;
    }
}

// A kind of device is asked for its properties (foundation/target.hpp). Who names a target chooses
// a backend, a side of a kernel folder or a rival.
TEST(Layering, HardlyAnybodyComparesTargets) {
    constexpr int most = 15;
    static const std::regex compares(R"([=!]= *(hone::)?Target::|Target::(cpu|cuda) *[=!]=)");
    std::vector<std::string> found;
    for (const auto& file : sources()) {
        const std::string name = file.string();
        if (name.starts_with("tests/") || name.starts_with("runtime/cuda/") || name.starts_with("runtime/cpu/")) continue;
        std::ifstream source(test::source_path(file));
        for (std::string line; std::getline(source, line);)
            if (std::regex_search(line, compares)) found.push_back(name);
    }
    EXPECT_LE(found.size(), most) << fmt::format("{}", fmt::join(found, "\n"));
}

TEST(Layering, NoFileNamesTheDetailsOfAnotherLayersLibraries) {
    // One place per foreign library: dlopen and its relatives belong to the runtime.
    for (const auto& file : sources()) {
        const std::string folder = file.begin()->string();
        if (folder != "foundation" && folder != "generator" && folder != "tuning_db" && folder != "tuner") continue;
        std::ifstream source(test::source_path(file));
        for (const auto& include : includes_of(source)) EXPECT_NE(include.header, "dlfcn.h") << file;
    }
}

}  // namespace
}  // namespace hone::layering_test
