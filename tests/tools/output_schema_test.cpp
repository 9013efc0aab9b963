// What the commands print with --json, against the schema that is kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/command.hpp"
#include "tools/console/json.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::output_schema_test {
namespace {

namespace fs = std::filesystem;

const fs::path schema = test::source_path("tools/schema/output-1.schema.json");

// A definition of the schema and a command line that should print such a document.
struct Case {
    std::string definition;
    std::string line;
};

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

class OutputSchema : public testing::Test {
  protected:
    void SetUp() override {
        Database database(built_in_families());
        const DeviceFingerprint h200{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
        for (const int order : {2, 3}) {
            Record record = test::sample_record(
                built_in_families(),
                built_in_families().parse_problem(fmt::format("dg_volume equation=maxwell_3d order={} precision=f32 elements=1000", order)), "", h200,
                cuda_limits(90));
            record.seed = 7;
            record.conditions = {1980, 3201, 45, {"software power cap"}, "somebody else was at work"};
            record.disturbed = order == 3 ? "the machine was busy" : "";
            database.add(record);
        }
        database.merge_into(db());
        journal_ = (own_.folder.path() / "search.jsonl").string();
        test::ask({"convert", test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz"), "--to", "journal", "--output", journal_});
        replace_file(own_.folder.path() / "runs.csv", "ranks,seconds\n1,4\n2,2.1\n");
    }
    std::string db() const { return (own_.folder.path() / "results").string(); }
    std::string in_folder(const std::string& name) const { return (own_.folder.path() / name).string(); }

    // Standard output and standard error of a command.
    virtual std::pair<std::string, std::string> printed(const std::vector<std::string>& words) const {
        const test::Answer answer = test::ask(words);
        return {answer.out, answer.error};
    }

    void check(const std::vector<Case>& cases) {
        std::vector<test::SchemaQuestion> questions;
        for (const Case& one : cases) {
            std::vector<std::string> words = words_of(one.line);
            words.emplace_back("--json");
            const auto [out, error] = printed(words);
            ASSERT_TRUE(Json::accept(out)) << one.line << "\n" << error;
            questions.push_back({schema, in_folder(fmt::format("{}.json", questions.size())), one.definition, true});
            replace_file(questions.back().document, out);
        }
        const std::string verdicts = test::schema_verdicts(questions);
        if (verdicts.empty()) GTEST_SKIP() << test::no_schema_validator;
        ASSERT_EQ(verdicts.size(), cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i)
            EXPECT_EQ(verdicts[i], 'v') << cases[i].definition << ": " << cases[i].line << "\n"
                                        << read_file(questions[i].document, 1 << 26).substr(0, 3000);
    }

    test::OwnFolders own_;
    std::string journal_;
};

const std::string stencil = "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=16";

TEST_F(OutputSchema, HoldsWhatInspectsResults) {
    const std::string there = " --db " + db();
    check({{"show", "show" + there},
           {"show", "show dg_volume order=77" + there},
           {"explain", "explain dg_volume order=2" + there},
           {"explain", "explain --journal " + journal_},
           {"explain", "explain gauss_seidel_27 stencil=constant precision=f32 --as nvidia_h200 --device-file " +
                           test::source_path("tuning_db/records/nvidia_h200.json") + " --rivals " +
                           test::source_path("benchmarks/results/h200/gauss_seidel_27.csv")},
           {"diff", "diff " + db() + " " + db()},
           {"plot", "plot rate" + there},
           {"plot", "plot tunable --over block_y --journal " + journal_},
           {"plot", "plot failures --journal " + journal_},
           {"plot", "plot drift --table " + test::source_path("benchmarks/results/h200/remeasured.csv")},
           {"plot", "plot scaling --table " + in_folder("runs.csv")},
           {"roofline", "roofline" + there},
           {"lookup", "lookup dg_volume equation=maxwell_3d order=4 precision=f32 elements=1000 --as nvidia_h200 --explain" + there},
           {"lookup", "lookup dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000 --device cpu --partner cpu" + there},
           {"db_validate", "db validate " + db()},
           {"db_list", "db list " + db()},
           {"db_stats", "db stats " + db()},
           {"db_diff", "db diff " + db() + " " + db()},
           {"db_prune", "db prune " + db() + " --disturbed"},
           {"db_remove", "db remove " + db() + " dg_volume order=2 --dry-run"},
           {"db_merge", "db merge " + in_folder("merged") + " " + db()}});
}

TEST_F(OutputSchema, HoldsWhatTellsOfKernelsAndMachines) {
    check({{"version", "version"},
           {"families", "families"},
           {"devices", "devices"},
           {"space", "space " + stencil + " --target cuda --list --limit 2"},
           {"emit", "emit " + stencil + " --target cuda --arch sm_90"},
           {"emit", "emit " + stencil + " --target cpu"},
           {"operators", "operators --element triangle --order 2"},
           {"simulate", "simulate " + test::source_path("tests/spaces/dg_volume_5_f32.space.gz") + " --strategy random --repetitions 2"}});
}

// Compilers and candidates run in processes of hone's own.
class SlowOutputSchema : public OutputSchema {
    std::pair<std::string, std::string> printed(const std::vector<std::string>& words) const override {
        const test::HoneRun run(words);
        return {run.out, run.error};
    }
};

TEST_F(SlowOutputSchema, HoldsWhatCompilesAndMeasures) {
    const std::string there = " --db " + in_folder("measured");
    check({{"doctor", "doctor"},
           {"compile", "compile " + stencil + " --target cpu"},
           {"compile_ahead", "compile " + stencil + " --target cpu --among 1"},
           {"check", "check " + test::source_path("examples/kernels/jacobi")},
           {"tune", "tune " + stencil + " --device cpu --evaluations 2 --samples 6" + there},
           {"watch", "watch" + there},
           {"verify", "verify --device cpu" + there},
           {"balance", "balance " + stencil + " --devices cpu,cpu --period 3 --periods 6"}});
}

// A command that learns --json has to say what it prints.
TEST_F(OutputSchema, KnowsEveryCommandThatPrintsJson) {
    const Json definitions = Json::parse(read_file(schema, 1 << 24))["$defs"];
    for (const Command& command : commands()) {
        Options options(command.name);
        const Action action = command.declare(options);
        const auto names = options.names();
        if (std::find(names.begin(), names.end(), "--json") == names.end()) continue;
        const bool known = std::any_of(definitions.items().begin(), definitions.items().end(),
                                       [&](const auto& item) { return item.key() == command.name || item.key().starts_with(command.name + "_"); });
        EXPECT_TRUE(known) << command.name;
    }
}

TEST_F(OutputSchema, RefusesWhatIsWrong) {
    const test::Answer answer = test::ask({"db", "stats", db(), "--json"});
    std::vector<test::SchemaQuestion> questions;
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"\"records\": 2", "\"records\": \"2\""}, {"\"folder\"", "\"folders\""}, {"\"oldest\"", "\"eldest\""}}) {
        std::string text = answer.out;
        ASSERT_NE(text.find(from), std::string::npos) << text;
        text.replace(text.find(from), from.size(), to);
        questions.push_back({schema, in_folder(fmt::format("{}.json", questions.size())), "db_stats"});
        replace_file(questions.back().document, text);
    }
    const std::string verdicts = test::schema_verdicts(questions);
    if (verdicts.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(verdicts, "iii");
}

}  // namespace
}  // namespace hone::tools::output_schema_test
