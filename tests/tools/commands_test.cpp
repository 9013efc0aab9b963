// Commands called directly, without a process of their own: quick, and every family's and command's
// text is looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "foundation/processors.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/tidy.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/places.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/command.hpp"
#include "tools/console/json.hpp"
#include "tools/console/problem_words.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools::commands_test {
namespace {

using test::Answer;
using test::ask;
using testing::HasSubstr;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::vector<std::string> with(const std::string& command, const std::string& rest) {
    return words_of(command + " " + rest);
}

const std::string stencil = "gauss_seidel_27 stencil=constant precision=f32 nx=64 ny=64 nz=64";
const std::string volume = "dg_volume equation=maxwell_3d order=3 precision=f64 elements=1000";

TEST(Commands, OverviewNamesEveryCommandAndExitCode) {
    const Answer answer = ask({});
    EXPECT_EQ(answer.code, Exit::ok);
    for (const auto& command : commands())
        EXPECT_EQ(answer.out.find("\n  " + command.name + " ") != std::string::npos, !command.hidden) << command.name;
    EXPECT_EQ(ask({"--help"}).out, answer.out);
    EXPECT_EQ(ask({"help"}).out, answer.out);
}

TEST(Commands, VersionNamesCompilerAndBackends) {
    const Answer answer = ask({"version"});
    EXPECT_EQ(answer.code, Exit::ok);
    EXPECT_THAT(answer.out, testing::ContainsRegex("hone [0-9]+\\.[0-9]+\\.[0-9]+\nbuild: [A-Za-z]+, (GCC|clang) [0-9]+"));
    EXPECT_THAT(answer.out, HasSubstr("backends: cuda, cpu;"));
    EXPECT_EQ(ask({"--version"}).out, answer.out);
    EXPECT_EQ(ask({"--version", "--json"}).out, ask({"version", "--json"}).out);
    const Json document = Json::parse(ask({"version", "--json"}).out);
    EXPECT_EQ(document["backends"], Json::array({"cuda", "cpu"}));
    EXPECT_EQ(document["formats"]["database"], schema_version);
    EXPECT_FALSE(document["build"].get<std::string>().empty());
    EXPECT_THAT(answer.out, HasSubstr("formats: database 3, journal 1, capture 1; C interface 1."));
}

TEST(Commands, HelpTeachesWithExamples) {
    for (const auto& command : commands()) {
        const Answer answer = ask({command.name, "--help"});
        EXPECT_EQ(answer.code, Exit::ok);
        EXPECT_EQ(ask({"help", command.name}).out, answer.out);
        Options options(command.name);
        command.declare(options);
        for (const auto& name : options.names()) EXPECT_THAT(answer.out, HasSubstr(name));
        EXPECT_TRUE(command.hidden || !command.examples.empty()) << command.name;
        for (const auto& [line, explanation] : command.examples) EXPECT_THAT(answer.out, HasSubstr("hone " + line));
    }
}

// The manual is kept up to date by this test.
TEST(Commands, ManualNamesEveryCommandAndOption) {
    std::ostringstream text;
    for (const auto& page : std::filesystem::directory_iterator(test::source_path("docs/command-line"))) text << std::ifstream(page.path()).rdbuf();
    for (const auto& command : commands()) {
        if (command.hidden) continue;
        EXPECT_THAT(text.str(), HasSubstr("## hone " + command.name));
        Options options(command.name);
        command.declare(options);
        for (const auto& name : options.names()) EXPECT_THAT(text.str(), HasSubstr("`" + name)) << command.name;
    }
}

// A message of an example that does not parse would teach the wrong thing.
TEST(Commands, ExamplesUseOptionsAndFamiliesThatExist) {
    for (const auto& command : commands())
        for (const auto& [line, explanation] : command.examples) {
            std::vector<std::string> words = words_of(line.substr(0, line.find(" >")));
            ASSERT_EQ(words.front(), command.name);
            words.erase(words.begin());
            Options options(command.name);
            const Action action = command.declare(options);
            EXPECT_NO_THROW(options.parse(words)) << line;
        }
}

TEST(Commands, AnswersAMisspeltWordWithTheNearest) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"spaec", "did you mean space?"},
        {"lokup " + stencil, "did you mean lookup?"},
        {"space gaus_seidel_27 stencil=constant", "did you mean gauss_seidel_27?"},
        {"space gauss_seidel_27 stencl=constant", "did you mean stencil?"},
        {"space gauss_seidel_27 stencil=constnt precision=f32 nx=8 ny=8 nz=8", "did you mean constant?"},
        {"space gauss_seidel_27 stencil=constant precision=double nx=8 ny=8 nz=8", "did you mean f64?"},
        {"show precision=FP32", "did you mean f32?"},
        {"space " + stencil + " --devcie cpu", "did you mean --device?"},
        {"space " + stencil + " --device cpv", "did you mean cpu?"},
        {"emit " + stencil + " --target cpu --config y_blok=4", "did you mean y_block?"},
        {"families dg_volum", "did you mean dg_volume?"}};
    for (const auto& [line, expected] : cases) {
        const Answer answer = ask(words_of(line));
        EXPECT_EQ(answer.code, Exit::wrong_input) << line;
        EXPECT_THAT(answer.error, HasSubstr(expected)) << line;
        EXPECT_EQ(answer.out, "") << line;
    }
}

TEST(Commands, FamiliesListsParametersAsTextAndJson) {
    const Answer text = ask({"families"});
    const Json document = Json::parse(ask({"families", "--json"}).out);
    ASSERT_FALSE(document["families"].empty());
    for (const auto& family : built_in_families()) {
        EXPECT_THAT(text.out, HasSubstr(family.name + ": "));
        EXPECT_THAT(text.out, HasSubstr(family.example));
    }
    EXPECT_EQ(std::ssize(document["families"]), std::distance(built_in_families().begin(), built_in_families().end()));
}

TEST(Commands, SpaceCountsAddUp) {
    for (const std::string target : {"--target cpu", "--target cuda --arch sm_80", "--target cuda --arch sm_100"})
        for (const auto& problem : {stencil, volume}) {
            const Json document = Json::parse(ask(with("space", problem + " --json " + target)).out);
            const Json& space = document["spaces"].at(0);
            std::int64_t rejected = 0;
            for (const auto& row : space["rejected"]) {
                rejected += row["count"].get<std::int64_t>();
                EXPECT_NE(row["reason"], "");
            }
            EXPECT_EQ(space["members"].get<std::int64_t>() + rejected, space["product"].get<std::int64_t>()) << problem << target;
            EXPECT_GT(space["members"], 0);
        }
}

TEST(Commands, SpaceListsPagesOfMembers) {
    const auto list = [](const std::string& rest) {
        return Json::parse(ask(with("space", stencil + " --target cuda --list --json " + rest)).out)["spaces"][0]["list"];
    };
    EXPECT_EQ(list("--limit 5").size(), 5U);
    EXPECT_EQ(list("--limit 5")[3], list("--limit 2 --skip 3")[0]);
    EXPECT_EQ(list("--skip 100000000").size(), 0U);
}

TEST(Commands, SpaceExplainsAConfiguration) {
    const auto explain = [](const std::string& config) {
        const Answer answer = ask(with("space", stencil + " --target cuda --json --config " + config));
        return Json::parse(answer.out)["spaces"][0]["explained"][0];
    };
    EXPECT_TRUE(explain("block_x=32")["member"]);
    const Json rejected = explain("block_x=128,block_y=16");  // 2048 threads
    EXPECT_FALSE(rejected["member"]);
    EXPECT_THAT(rejected["rejected"]["reason"].get<std::string>(), HasSubstr("2048"));
}

TEST(Commands, EmitPrintsTheSourceAndNothingElse) {
    for (const std::string target : {"--target cpu", "--target cuda --arch sm_90"}) {
        const Answer answer = ask(with("emit", volume + " " + target));
        EXPECT_EQ(answer.code, Exit::ok);
        EXPECT_EQ(answer.error, "");
        EXPECT_EQ(ask(with("emit", volume + " " + target)).out, answer.out);
        const Json document = Json::parse(ask(with("emit", volume + " --json " + target)).out);
        EXPECT_EQ(document["text"], answer.out);
        EXPECT_FALSE(document["step"].empty());
        for (const Json& table : document["tables"])
            EXPECT_EQ(table.value("contents", Json::array()).size(), table["filled_by"] == "constants" ? table["words"].get<std::size_t>() : 0U);
        EXPECT_THAT(ask(with("emit", volume + " --plan " + target)).out, HasSubstr("one time step"));
    }
}

TEST(Commands, EmittedTextsNameTheSizesThatWereAskedFor) {
    const std::string cube = "gauss_seidel_27 stencil=constant precision=f32 nx={0} ny={0} nz={0}";
    const std::string small = ask(with("emit", fmt::format(fmt::runtime(cube), 40) + " --target cpu")).out;
    const std::string large = ask(with("emit", fmt::format(fmt::runtime(cube), 56) + " --target cpu")).out;
    EXPECT_THAT(command_of(small), HasSubstr("hone emit " + fmt::format(fmt::runtime(cube), 40) + " --target cpu --config "));
    EXPECT_THAT(command_of(large), HasSubstr("nx=56 ny=56 nz=56 --target cpu"));
    for (const auto& family : built_in_families()) {
        const Answer answer = ask(with("emit", family.example + " --target cpu"));
        const std::string key = short_key(built_in_families().parse_problem(family.example), built_in_families());
        EXPECT_THAT(command_of(answer.out), HasSubstr("hone emit " + key + " --target cpu --config ")) << family.name;
    }
}

TEST(Commands, EmitRefusesWhatIsNoMember) {
    const Answer answer = ask(with("emit", stencil + " --target cuda --config block_x=128,block_y=16"));
    EXPECT_EQ(answer.code, Exit::wrong_input);
    EXPECT_THAT(answer.error, HasSubstr("2048 threads"));
}

TEST(Commands, TargetOptionsThatContradictAreRefused) {
    EXPECT_EQ(ask(with("space", stencil + " --device cpu --target cuda")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --target cpu --arch sm_90")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --target cuda --arch hopper")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --device cuda:x")).code, Exit::wrong_input);
    EXPECT_EQ(ask(with("space", stencil + " --device cuda:977")).code, Exit::missing);
}

TEST(Commands, DevicesAndDoctorAnswerInJson) {
    const test::OwnFolders own;
    const Answer devices = ask({"devices", "--json"});
    EXPECT_EQ(devices.code, Exit::ok);  // the processor is always there
    EXPECT_GE(Json::parse(devices.out)["devices"].size(), 1U);
    const Answer doctor = ask({"doctor", "--json"});
    EXPECT_EQ(doctor.code, Exit::ok);
    const Json found = Json::parse(doctor.out)["processors"];
    EXPECT_EQ(found["numbers"].get<std::vector<int>>(), processors().numbers);
    EXPECT_EQ(found["threads"], processors().threads);
    EXPECT_GE(found["numbers"].size(), found["cores"].get<std::size_t>());
    EXPECT_GE(found["cores"].get<int>() * found["threads_per_core"].get<int>(), std::ssize(processors().numbers));
    const Json findings = Json::parse(doctor.out)["findings"];
    for (const auto& finding : findings) EXPECT_TRUE(finding["found"] == true || !finding["remedy"].get<std::string>().empty()) << finding["what"];
}

TEST(Commands, EmptyDatabaseIsAnAnswerWithoutResult) {
    const test::OwnFolders own;
    const std::string empty = own.folder.path().string();
    EXPECT_EQ(ask({"show", "--db", empty}).code, Exit::nothing);
    const Answer shown = ask({"show", "--db", empty, "--json"});
    EXPECT_EQ(shown.code, Exit::nothing);
    EXPECT_TRUE(Json::parse(shown.out)["devices"].empty());
    for (const char* line : {"plot rate", "plot convergence", "plot energy", "plot greenup", "explain csr_spmv"}) {
        const Answer answer = ask(with(line, "--db " + empty));
        EXPECT_EQ(answer.code, Exit::nothing) << line << "\n" << answer.error;
        EXPECT_EQ(answer.out, "") << line;
    }
    const Answer found = ask(with("lookup", "dg_rk equation=maxwell_3d order=3 precision=f32 elements=1000 --device cpu --json --db " + empty));
    EXPECT_EQ(found.code, Exit::nothing);
    EXPECT_EQ(Json::parse(found.out)["matches"][0]["grade"], "none");
    EXPECT_EQ(ask({"show", "--db", (own.folder.path() / "absent").string()}).code, Exit::wrong_input);
}

// A verified record of a family that an application brought.
Record axpy_record(const std::string& problem, double median) {
    static const Families families = test::axpy_families();
    Record record;
    record.problem = families.parse_problem(problem);
    record.config = families.of(record.problem).space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    record.step = {median, median, median, median, 40};
    record.counts = {1e6, "updates", 5e7, 2e7};
    record.verification_error = 1e-7;
    record.tolerance = 1e-5;
    record.safe_seconds = 2 * median;
    record.ceiling_fraction = 0.75;
    record.ceiling = "memory";
    record.date = "2026-11-21T14:05:00Z";
    record.versions.hone = "0.1.0";
    return record;
}

TEST(Commands, ShowsResultsOfAFamilyThatIsNotKnownHere) {
    const test::OwnFolders own;
    const Families families = test::axpy_families();
    Database database(families);
    database.add(axpy_record("axpy precision=f32 n=1000", 1e-3));
    database.add(axpy_record("axpy precision=f64 n=2000", 2e-3));
    const std::string folder = (own.folder.path() / "db").string();
    database.merge_into(folder);
    const Answer answer = ask({"show", "--db", folder, "-v"});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    for (const char* part : {"NVIDIA H200", "f32", "f64", "1.00 ms", "2.00x", "unroll=1", "axpy: a family that this program does not know"})
        EXPECT_THAT(answer.out, HasSubstr(part));
    const Json document = Json::parse(ask({"show", "axpy", "precision=f64", "--db", folder, "--json"}).out);
    EXPECT_EQ(document["unknown_families"], Json::array({"axpy"}));
    ASSERT_EQ(document["devices"].at(0)["records"].size(), 1U);
    EXPECT_EQ(document["devices"].at(0)["records"].at(0)["problem"]["parameters"]["n"], 2000);
    EXPECT_EQ(Json::parse(ask({"show", "n=1..100", "--db", folder, "--json"}).out)["devices"], Json::array());
    EXPECT_THAT(ask({"show", "axpi", "--db", folder}).error, HasSubstr("did you mean axpy?"));
    EXPECT_THAT(ask({"show", "--db", folder, "--bars"}).out, HasSubstr("75.0 % memory  ########.."));
}

TEST(Commands, LooksUpForADeviceThatIsNotHere) {
    const test::OwnFolders own;
    const std::string dg = "dg_volume equation=maxwell_3d order=3 precision=f32 elements=100000 --json";
    for (const std::vector<std::string>& device : {std::vector<std::string>{"--as", "NVIDIA H200"}, {"--as", "nvidia_h200"}}) {
        auto words = with("lookup", dg);
        words.insert(words.end(), device.begin(), device.end());
        const Answer answer = ask(words);
        EXPECT_EQ(answer.code, Exit::ok) << answer.error;
        const Json document = Json::parse(answer.out);
        EXPECT_EQ(document["device"]["key"], "nvidia_h200");
        EXPECT_NE(document["matches"][0]["grade"], "none");
    }
    const Answer any = ask(with("lookup", dg + " --arch sm_90"));
    EXPECT_EQ(Json::parse(any.out)["matches"][0]["grade"], "same_architecture") << any.error;
    // A model without a record, by its short name.
    const Answer known = ask({"lookup", "dg_volume", "equation=maxwell_3d", "order=3", "precision=f32", "elements=100000", "--as", "rtx 4090"});
    EXPECT_THAT(known.out, HasSubstr("other_architecture: "));
    const Json document = Json::parse(ask(with("lookup", dg + " --as A100")).out);
    EXPECT_EQ(document["device"]["name"], "NVIDIA A100-SXM4-80GB");
    EXPECT_EQ(document["matches"][0]["grade"], "other_architecture");
    EXPECT_THAT(ask({"lookup", "dg_volume", "equation=maxwell_3d", "order=3", "precision=f32", "elements=9", "--as", "A200"}).error,
                HasSubstr("hone knows V100, T4, A100"));
    const Answer wrong = ask({"lookup", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=9", "ny=9", "nz=9", "--as", "NVIDIA H20"});
    EXPECT_EQ(wrong.code, Exit::wrong_input);
    EXPECT_THAT(wrong.error, HasSubstr("did you mean NVIDIA H200?"));
    EXPECT_EQ(ask(with("lookup", dg + " --arch sm_90 --device cpu")).code, Exit::wrong_input);
}

TEST(Commands, LookupNamesTheNearestRecordsWhereNothingFits) {
    // The form of the only result does not exist for products that fill the matrix units.
    const test::OwnFolders own;
    Record record = axpy_record("axpy precision=f32 n=1000", 1e-3);
    record.problem = built_in_families().parse_problem("batched_gemm m=23 n=12 k=12 batch=1000");
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).parse("form=tile");
    Database database(built_in_families());
    database.add(record);
    const std::string folder = (own.folder.path() / "db").string();
    database.merge_into(folder);
    const Answer answer = ask(with("lookup", "batched_gemm m=24 n=12 k=12 batch=1000 --as nvidia_h200 --db " + folder));
    EXPECT_EQ(answer.code, Exit::nothing) << answer.out;
    EXPECT_THAT(answer.out, HasSubstr("nearest are batched_gemm"));
}

TEST(Commands, LookupSaysWhichArchitectureAnAnswerIsFrom) {
    const test::OwnFolders own;
    const Answer answer = ask(with("lookup", "dg_volume equation=maxwell_3d order=3 precision=f32 elements=100000 --arch sm_80"));
    EXPECT_EQ(answer.code, Exit::ok) << answer.out;
    EXPECT_THAT(answer.out, HasSubstr("other_architecture: tuned on another architecture"));
    EXPECT_THAT(answer.out, HasSubstr("measured on    NVIDIA H"));
    EXPECT_THAT(answer.out, Not(HasSubstr("expected"))) << "no time is known here";
    const Answer forms = ask(with("lookup", "dg_volume equation=maxwell_3d order=9 precision=f64 elements=100000 --arch sm_70 --explain"));
    EXPECT_EQ(forms.code, Exit::nothing);
    EXPECT_THAT(forms.out, HasSubstr("other_architecture: nothing tuned fits; results of other architectures suggest it"));
    EXPECT_THAT(forms.out, HasSubstr("suggested by"));
}

TEST(Commands, LookupExplainsAPrediction) {
    const test::OwnFolders own;
    const std::string shape = "batched_gemv m=80 n=8 batch=1000 --as nvidia_h200";
    const Answer answer = ask(with("lookup", shape + " --explain"));
    EXPECT_EQ(answer.code, Exit::nothing) << "no record fits" << answer.out;
    EXPECT_THAT(answer.out, HasSubstr("predicted: nothing tuned fits"));
    EXPECT_THAT(answer.out, HasSubstr("suggested by"));
    EXPECT_THAT(answer.out, HasSubstr("at distance"));
    const Json match = Json::parse(ask(with("lookup", shape + " --json")).out)["matches"][0];
    EXPECT_EQ(match["grade"], "predicted");
    EXPECT_FALSE(match.contains("expected_seconds")) << "nobody measured it";
    const bool proposed =
        std::any_of(match["sources"].begin(), match["sources"].end(), [&](const Json& s) { return s["proposed"] == match["config"]; });
    EXPECT_TRUE(proposed) << match;
}

TEST(Commands, LookupSaysWhichSizesItPassedOverAndWhy) {
    const test::OwnFolders own;
    const std::string matrix = "csr_spmv kernel=apply precision=f64 rows=1000000 entries=7000000 --as nvidia_h200";
    EXPECT_THAT(ask(with("lookup", matrix)).out, Not(HasSubstr("not taken")));
    const Answer answer = ask(with("lookup", matrix + " --explain"));
    EXPECT_THAT(answer.out, HasSubstr("predicted: nothing tuned fits"));
    EXPECT_THAT(answer.out, HasSubstr("not taken"));
    std::string words;  // in one line
    for (const char c : answer.out)
        if (c != '\n' && !(c == ' ' && words.ends_with(' ')))
            words += c;
        else if (!words.ends_with(' '))
            words += ' ';
    EXPECT_THAT(words, HasSubstr("on NVIDIA H200: 26.6 entries a row, not 7"));
}

TEST(Commands, DoctorSaysWhichFoldersAreReadAndWhichIsWritten) {
    const test::OwnFolders own;
    const Json places = Json::parse(ask({"doctor", "--json"}).out)["database"];
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places[0]["name"], "HONE_DB");
    EXPECT_EQ(places[0]["folder"], (own.folder.path() / "db").string());
    EXPECT_EQ(places[0]["found"], false);
    EXPECT_EQ(places[0]["written"], true);
    EXPECT_EQ(places[1]["written"], false);
    EXPECT_GT(places[2]["records"].get<int>(), 0);
    EXPECT_THAT(ask({"doctor"}).out, HasSubstr("written to"));
}

TEST(Commands, TuneRefusesWrongWordsBeforeItStarts) {
    const test::OwnFolders own;
    const std::vector<std::pair<std::string, std::string>> cases{{"--budget 5x", "30s"},
                                                                 {"--budget 0s", "0s is zero"},
                                                                 {"--strategy randm", "did you mean random?"},
                                                                 {"--samples 2", "from 6"},
                                                                 {"--evaluations -3", "--evaluations"}};
    for (const auto& [rest, expected] : cases) {
        const Answer answer = ask(with("tune", stencil + " --device cpu " + rest));
        EXPECT_EQ(answer.code, Exit::wrong_input) << rest;
        EXPECT_THAT(answer.error, HasSubstr(expected)) << rest;
    }
}

TEST(Commands, TuneNamesAllImpossibleProblemsOfAListBeforeItStarts) {
    const test::OwnFolders own;
    const Answer answer =
        ask(words_of("tune gauss_seidel_27 stencil=constant precision=f32 nx=8192 ny=8192 nz=8191,8192 "
                     "gauss_seidel_27 stencil=constant precision=f32 nx=8 ny=8 nz=8 --device cpu"));
    EXPECT_EQ(answer.code, Exit::wrong_input);
    EXPECT_THAT(answer.error, HasSubstr("2 of 3 cannot be computed here"));
    EXPECT_THAT(answer.error, HasSubstr("nz=8191"));
    EXPECT_THAT(answer.error, HasSubstr("nz=8192"));
    EXPECT_THAT(answer.error, testing::Not(HasSubstr("nx=8 ny=8 nz=8 ")));
}

}  // namespace
}  // namespace hone::tools::commands_test
