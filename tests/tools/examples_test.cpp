// Every example line of every help text, run as it stands where that takes a moment, and with
// smaller problems where it takes a device or minutes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/command.hpp"
#include "tools/console/problem_words.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools::examples_test {
namespace {

namespace fs = std::filesystem;
using test::ask;

// What examples name without its being there: a folder of a user, with a database, its journals and
// measured spaces.
class Desk {
  public:
    Desk() : before_(fs::current_path()) {
        const fs::path folder = own_.folder.path();
        const std::string space = test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz");
        fs::create_directories(folder / "tests/spaces/t1");
        fs::create_directories(home() / ".local/share/hone/db/journals");
        fs::copy_file(space, folder / "tests/spaces/gauss_seidel.space.gz");
        fs::copy_file(space, folder / "cache.json.gz");
        fs::copy_file(test::source_path("tests/spaces/t1/tiled_sum.json"), folder / "tests/spaces/t1/tiled_sum.json");
        const Database records = some_records();
        for (const fs::path& place : {folder / "tuning_db/records", folder / "DIR", home() / ".local/share/hone/db"}) records.merge_into(place);
        fs::current_path(folder);
        ask({"convert", space, "--to", "kernel_tuner", "--output", "space.json"});
        const fs::path journal = home() / ".local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl";
        ask({"convert", space, "--to", "journal", "--output", journal.string()});
        fs::create_directories(folder / "DIR/journals");
        fs::copy_file(journal, folder / "DIR/journals" / journal.filename());
    }
    ~Desk() { fs::current_path(before_); }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    fs::path home() const { return own_.folder.path() / "home"; }

  private:
    // Of those that ship with hone, as many as are read in a moment.
    static Database some_records() {
        Database some(built_in_families());
        for (const Record& record : read_database_file(test::source_path("tuning_db/records/nvidia_h200.json"), built_in_families()).records)
            if (record.problem.family() == "dg_volume" && record.problem.integer("order") == 3) some.add(record);
        return some;
    }

    test::OwnFolders own_;
    fs::path before_;
};

// The words of a line as a shell makes them: without a redirection, with the user's folder, with
// the files that a pattern means.
std::vector<std::string> shell_words(const std::string& line, const std::string& home) {
    std::istringstream stream(line.substr(0, line.find(" > ")));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        if (word.starts_with("~")) word.replace(0, 1, home);
        const std::size_t star = word.find("/*");
        if (star == std::string::npos) {
            words.push_back(word);
            continue;
        }
        const std::string ending = word.substr(star + 2);
        for (const auto& file : fs::directory_iterator(word.substr(0, star)))
            if (file.path().string().ends_with(ending)) words.push_back(file.path().string());
    }
    return words;
}

struct Example {
    std::string command;
    std::string line;
};

// What measures or compiles: it runs by itself below.
bool takes_long(const Example& example) {
    const std::string& command = example.command;
    return command == "tune" || command == "balance" || command == "compile" || command == "replay" || command == "verify" ||
           example.line.find("--measure") != std::string::npos;
}

std::vector<Example> examples() {
    std::vector<Example> all;
    for (const auto& command : commands())
        for (const auto& [line, explanation] : command.examples) all.push_back({command.name, line});
    return all;
}

// Accepted, whatever the machine has: there may be no GPU, no gnuplot, and nothing in an empty
// database.
void expect_accepted(Exit code, const std::string& line, const std::string& error) {
    EXPECT_TRUE(code == Exit::ok || code == Exit::nothing || code == Exit::missing) << line << "\n" << static_cast<int>(code) << " " << error;
}

TEST(Examples, RunAsTheyStand) {
    const Desk desk;
    int run = 0;
    for (const auto& [command, line] : examples()) {
        if (takes_long({command, line})) continue;
        std::vector<std::string> words = shell_words(line, desk.home().string());
        if (command == "simulate") {  // hundreds of searches
            std::erase(words, "--repetitions");
            std::erase(words, "500");
            words.insert(words.end(), {"--repetitions", "2", "--evaluations", "25"});
        }
        const bool names_results = std::find(words.begin(), words.end(), "--db") != words.end();
        if (command == "report" && !names_results) words.insert(words.end(), {"--db", "DIR"});  // a thousand results ship
        const test::Answer answer = ask(words);
        expect_accepted(answer.code, line, answer.error);
        ++run;
    }
    EXPECT_GT(run, 25);
}

void expect_options_accepted(const std::vector<std::string>& words) {
    const auto command = std::find_if(commands().begin(), commands().end(), [&](const Command& one) { return one.name == words.front(); });
    ASSERT_NE(command, commands().end()) << words.front();
    Options options(command->name);
    const Action action = command->declare(options);
    EXPECT_NO_THROW(options.parse({words.begin() + 1, words.end()})) << fmt::format("{}", fmt::join(words, " "));
}

// Nothing is started: the options are accepted, and the problems that a line names exist; words of
// `verify` choose among results.
TEST(Examples, OfWhatTakesLongAreAccepted) {
    for (const auto& [command, line] : examples()) {
        if (!takes_long({command, line})) continue;
        const std::vector<std::string> words = shell_words(line, "home");
        expect_options_accepted(words);
        const auto end = std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("--"); });
        if (end - words.begin() > 1 && command != "replay" && command != "verify")
            EXPECT_NO_THROW(problems_of({words.begin() + 1, end}, built_in_families())) << line;
    }
}

TEST(Examples, OfTheOverviewAreAccepted) {
    std::istringstream lines(ask({}).out);
    int problems = 0;
    int calls = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  ")) continue;
        const std::string first = line.substr(2, line.find(' ', 2) - 2);
        if (std::any_of(built_in_families().begin(), built_in_families().end(), [&](const Family& family) { return family.name == first; })) {
            EXPECT_NO_THROW(problems_of({line}, built_in_families())) << line;
            ++problems;
        }
        if (first != "hone") continue;
        std::vector<std::string> words = shell_words(line.substr(7, line.find("  ", 7) - 7), "home");
        if (words.front() == "COMMAND") continue;
        expect_options_accepted(words);
        ++calls;
    }
    EXPECT_EQ(problems, 2);
    EXPECT_EQ(calls, 4);
}

// The same options for the processor, with sizes that take a moment.
std::vector<std::string> shortened(const std::string& line, const std::string& home) {
    std::string small = std::regex_replace(line, std::regex("(n[xyz])=[0-9]+"), "$1=16");
    small = std::regex_replace(small, std::regex("elements=[0-9]+"), "elements=200");
    small = std::regex_replace(small, std::regex("order=1\\.\\.10"), "order=1..1");
    small = std::regex_replace(small, std::regex(" --budget [0-9]+[smh]"), "");
    small = std::regex_replace(small, std::regex(" --evaluations [0-9]+"), "");
    small = std::regex_replace(small, std::regex("--device cuda"), "--device cpu");
    small = std::regex_replace(small, std::regex("--target cuda --arch sm_[0-9]+"), "--target cpu");
    small = std::regex_replace(small, std::regex("--among 200"), "--among 2");
    small = std::regex_replace(small, std::regex("--sweep 20"), "--sweep 2");
    small = std::regex_replace(small, std::regex("--only \\S+"), "--only threads=all");  // values of the processor's space
    return shell_words(small, home);
}

TEST(SlowExamples, OfWhatTakesLongRunOnSmallProblems) {
    if (find_program("c++").empty() && std::getenv("HONE_CXX") == nullptr) GTEST_SKIP() << "there is no C++ compiler";
    const Desk desk;
    for (const auto& [command, line] : examples()) {
        if (!takes_long({command, line}) || line == "tune") continue;  // without a problem: what it tunes is sized for a whole device
        if (command == "replay") continue;                             // replay_test.cpp has launches to replay
        std::vector<std::string> words = shortened(line, desk.home().string());
        if (command == "tune") words.insert(words.end(), {"--evaluations", "2", "--samples", "6"});
        if (words.size() == 5 && command == "tune") continue;  // the default problems are sized for a whole device
        test::HoneProcess process(words);
        const int code = process.wait(240);
        expect_accepted(static_cast<Exit>(code), line, process.error());
    }
}

}  // namespace
}  // namespace hone::tools::examples_test
