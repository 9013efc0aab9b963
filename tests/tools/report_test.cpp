// The report for a browser: what is in its data, and, where Chromium is installed, what its pages
// show.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/kernel_hash.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/report/report_page.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::report_test {
namespace {

namespace fs = std::filesystem;
using test::ask;
using testing::HasSubstr;
using testing::Not;

const DeviceFingerprint h200{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};

Record sweep(int size, double seconds, const DeviceFingerprint& device = h200) {
    Record record = test::sample_record(
        built_in_families(),
        built_in_families().parse_problem(fmt::format("gauss_seidel_27 stencil=constant precision=f32 nx={0} ny={0} nz={0}", size)), "", device,
        cuda_limits(90));
    record.step = {seconds, 0.999 * seconds, 1.001 * seconds, 0.998 * seconds, 40};
    record.ceiling = "memory";
    record.ceiling_fraction = 0.5;
    record.safe_seconds = 3 * seconds;
    return record;
}

Json part_of(const std::vector<ReportPart>& parts, const std::string& name) {
    for (const ReportPart& part : parts)
        if (part.name == name) return part.data;
    return nullptr;
}

// A record's field by name.
Json field(const Json& main, std::size_t record, const std::string& name) {
    const auto& fields = main["fields"];
    const auto found = std::find(fields.begin(), fields.end(), name);
    return found == fields.end() ? Json() : main["records"][record][static_cast<std::size_t>(found - fields.begin())];
}

// The JSON of every element of data in a page.
std::map<std::string, Json> data_in(const std::string& page) {
    std::map<std::string, Json> data;
    const std::string begin = "<script type=\"application/json\" id=\"data-";
    for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
        const std::size_t name = at + begin.size();
        const std::size_t text = page.find('>', name) + 1;
        data[page.substr(name, page.find('"', name) - name)] = Json::parse(page.substr(text, page.find("</script>", text) - text));
    }
    return data;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

TEST(Report, RowsHoldTheRecordsFigures) {
    const Record record = sweep(96, 1.25e-3);
    const auto parts = report_parts({.database = "here", .records = {record}}, built_in_families());
    const Json main = part_of(parts, "main");
    EXPECT_EQ(field(main, 0, "median"), record.step.median);
    EXPECT_EQ(field(main, 0, "bytes"), record.counts.bytes);
    EXPECT_EQ(field(main, 0, "config"), record.config.key());
    EXPECT_EQ(field(main, 0, "problem"), "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96");
    EXPECT_EQ(main["devices"][field(main, 0, "device").get<std::size_t>()]["key"], "nvidia_h200");
    EXPECT_EQ(main["records"][0].size(), main["fields"].size());
    Record unverified = record;
    unverified.verification_error = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(field(part_of(report_parts({.records = {unverified}}, built_in_families()), "main"), 0, "error").is_null());
}

TEST(Report, KernelsAreTheEmittedTexts) {
    const Record record = sweep(96, 1e-3);
    const auto parts = report_parts({.records = {sweep(64, 1e-3), record}}, built_in_families());
    const Json texts = part_of(parts, "kernels-0");
    std::string text;
    for (const Json& line : texts["kernels"]["1"]["lines"]) text += texts["lines"][line.get<std::size_t>()].get<std::string>() + "\n";
    const Family& family = built_in_families().of(record.problem);
    EXPECT_EQ(text, family.kernel(record.problem, record.config, cuda_limits(90)).text);
    EXPECT_EQ(texts["kernels"]["1"]["measured"], false) << "its hash is another text's";
    Record measured = record;
    measured.versions.source_hash = kernel_hash(text);
    EXPECT_EQ(part_of(report_parts({.records = {measured}}, built_in_families()), "kernels-0")["kernels"]["0"]["measured"], true);
    EXPECT_EQ(report_parts({.records = {record}, .kernels = false}, built_in_families()).size(), 1U);
}

TEST(Report, ComparesDatabasesAndPairsOfDevices) {
    DeviceFingerprint a100 = h200;
    a100.name = "NVIDIA A100";
    const Json main = part_of(report_parts({.database = "one",
                                            .records = {sweep(64, 1e-3), sweep(96, 2e-3), sweep(64, 3e-3, a100)},
                                            .against = "two",
                                            .others = {sweep(64, 2e-3)},
                                            .kernels = false},
                                           built_in_families()),
                              "main");
    ASSERT_EQ(main["comparisons"].size(), 2U);
    const Json& other = main["comparisons"][0];
    EXPECT_EQ(other["before"], "one");
    std::map<std::string, int> kinds;
    for (const Json& row : other["rows"]) {
        ++kinds[row[2]];
        if (row[2] != "slower") continue;
        EXPECT_EQ(field(main, row[0], "median"), 1e-3);
        EXPECT_EQ(field(main, row[1], "median"), 2e-3);
        EXPECT_EQ(field(main, row[1], "set"), 1);
        EXPECT_DOUBLE_EQ(row[3], 2);
    }
    EXPECT_EQ(kinds, (std::map<std::string, int>{{"slower", 1}, {"gone", 2}}));
    const Json& devices = main["comparisons"][1];
    EXPECT_EQ(devices["before"], "nvidia_a100");
    EXPECT_EQ(devices["after"], "nvidia_h200");
    EXPECT_EQ(devices["rows"].size(), 2U);
}

TEST(Report, SearchesHaveEveryCandidateOnce) {
    NamedJournal named{"a.jsonl", {}};
    named.journal.run.problem = "p a=1";
    named.journal.run.device = h200;
    for (int i = 0; i < 30; ++i) {
        JournalEntry entry;
        entry.elapsed = i;
        entry.config = fmt::format("x={},w={}", i % 5, i % 3 == 0 ? "b" : "a");
        entry.outcome.step.median = 1e-3 * (1 + i % 5);
        if (i == 2) entry.outcome = failure(Status::wrong, "differs by 3");
        named.journal.entries.push_back(entry);
    }
    const auto parts = report_parts({.journals = {named}}, built_in_families());
    const Json summary = part_of(parts, "main")["searches"][0];
    EXPECT_EQ(summary["evaluations"], 10);
    EXPECT_EQ(summary["measured"], 9);
    const Json candidates = part_of(parts, summary["part"])["candidates"];
    ASSERT_EQ(candidates["costs"].size(), 10U);
    EXPECT_EQ(candidates["status"][2], "wrong");
    EXPECT_EQ(candidates["costs"][2], 0);
    EXPECT_EQ(candidates["tunables"][0]["values"], Json::array({"0", "1", "2", "3", "4"}));
    for (std::size_t i = 0; i < 5; ++i) {
        const std::size_t value = candidates["values"][2 * i];
        EXPECT_EQ(candidates["tunables"][0]["values"][value], std::to_string(i));
        if (i == 2) continue;
        EXPECT_NEAR(candidates["costs"][i].get<double>(), 1e-3 * static_cast<double>(1 + i), 1e-8);
    }
}

TEST(Report, RivalsStandBesideTheirProblems) {
    const std::string table =
        "name,ns/updates,rival/ours,rival_ns/updates,label\r\n"
        "sweeps/gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96,0.5,3,1.5,\"exact: a=1,b=\"\"2\"\"\"\n"
        "gauss_seidel_27 stencil=constant precision=f64 nx=96 ny=96 nz=96,0.5,,,none\n"
        "another_family a=1,1,2,2,none\n";
    const std::vector<Rival> rivals = rivals_in(table, "a.csv", built_in_families());
    ASSERT_EQ(rivals.size(), 1U);
    EXPECT_EQ(rivals[0].problem, "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96");
    EXPECT_DOUBLE_EQ(rivals[0].seconds, 1.5e-9);
    EXPECT_DOUBLE_EQ(rivals[0].ours, 0.5e-9);
    EXPECT_THROW(rivals_in("a,b\n1,2\n", "a.csv", built_in_families()), Error);
    EXPECT_THROW(rivals_in("name,rival_ns/updates\nx,1,2\n", "a.csv", built_in_families()), Error);
    EXPECT_THROW(rivals_in("name,rival_ns/updates\nx,fast\n", "a.csv", built_in_families()), Error);
    const Json main =
        part_of(report_parts({.records = {sweep(96, 1e-3)}, .rivals = {{"nvidia_h200", "a.csv", rivals}}}, built_in_families()), "main");
    EXPECT_EQ(main["rivals"][0]["problem"], field(main, 0, "problem"));
}

// What a database might hold to break out of where it stands.
Record hostile() {
    const std::string attack = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\"><!-- \xff\x01";
    Record record = sweep(64, 1e-3);
    record.device.name = attack;
    record.device.compiler = attack;
    record.strategy = attack;
    record.disturbed = attack;
    record.versions.hone = attack;
    record.counts.unit = "</table><h1>hit</h1>";
    record.ceiling = "<b>hit</b>";
    return record;
}

TEST(Report, HostileTextCannotEndTheDataOrRun) {
    NamedJournal named{"</script><b>.jsonl", {}};
    named.journal.run.problem = "</script><script>alert(1)</script> $(reboot)=1";
    named.journal.run.device = hostile().device;
    named.journal.entries.emplace_back();
    named.journal.entries.back().config = "a=</script>";
    named.journal.entries.back().outcome = failure(Status::crashed, "<script>alert(2)</script>");
    const std::string page = report_page(report_parts({.database = "<!--", .records = {hostile()}, .journals = {named}}, built_in_families()));
    const auto data = data_in(page);
    ASSERT_EQ(data.count("main"), 1U);
    EXPECT_THAT(field(data.at("main"), 0, "strategy").get<std::string>(), testing::StartsWith("</script><script>document.title='hit'"));
    EXPECT_THAT(data.at("search-0")["explanation"]["failures"][0]["reason"], "<script>alert(2)</script>");
    // One element of script and one for each part, each with its end; none of an attack's.
    EXPECT_EQ(count_of(page, "<script"), 1 + data.size());
    EXPECT_EQ(count_of(page, "</script"), 1 + data.size());
    EXPECT_THAT(page, Not(HasSubstr("<img")));
}

// The policy allows the page's own script and style by their hashes, and the page has no other: no
// handler in an attribute, no address of elsewhere.
TEST(Report, PolicyAllowsThePagesOwnScriptOnly) {
    const std::string page = report_page(report_parts({.records = {sweep(64, 1e-3)}}, built_in_families()));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    EXPECT_THAT(page, Not(HasSubstr("unsafe")));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
    EXPECT_FALSE(std::regex_search(std::string(report_file("page.html")), std::regex(" on[a-z]+=| style=| src=|https?:")));
    for (const char* const file : {"text.js", "data.js", "chart.js", "table.js", "code.js", "pages.js", "problem.js", "search.js", "report.js"}) {
        const std::string text(report_file(file));
        EXPECT_THAT(text, Not(HasSubstr("innerHTML"))) << file;
        EXPECT_THAT(text, Not(HasSubstr("eval("))) << file;
        EXPECT_THAT(text, Not(HasSubstr("</script"))) << file;
    }
    EXPECT_THROW(report_file("other.js"), Error);
}

// A folder of results with two sweeps.
std::string small_database(const fs::path& folder) {
    Database database(built_in_families());
    database.add(sweep(64, 1e-3));
    database.add(sweep(96, 2e-3));
    database.merge_into(folder);
    return folder.string();
}

TEST(Report, CommandWritesOneFile) {
    const test::OwnFolders own;
    const std::string folder = small_database(own.folder.path() / "small");
    const std::string file = (own.folder.path() / "report.html").string();
    const test::Answer answer = ask({"report", "gauss_seidel_27", "--db", folder, "-o", file});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.error, HasSubstr("2 results"));
    const auto data = data_in(read_file(file, 1 << 26));
    EXPECT_EQ(data.at("main")["records"].size(), 2U);
    EXPECT_EQ(data.count("kernels-0"), 1U);
    EXPECT_EQ(data_in(ask({"report", "nx=96", "--db", folder}).out).at("main")["records"].size(), 1U) << "on standard output";
    EXPECT_EQ(ask({"report", "gauss_seidel_27", "nx=7", "--db", folder, "-o", file}).code, Exit::nothing);
    const std::string rivals = test::source_path("benchmarks/results/h200/gauss_seidel_27.csv");
    EXPECT_EQ(ask({"report", "--db", folder, "--no-kernels", "--rivals", rivals, "-o", file}).code, Exit::ok);
    EXPECT_GT(data_in(read_file(file, 1 << 26)).at("main")["rivals"].size(), 0U);
    EXPECT_THAT(ask({"report", "gaus_seidel_27", "--db", folder}).error, HasSubstr("did you mean gauss_seidel_27?"));
    EXPECT_THAT(ask({"report", "--db", folder, "--against", (own.folder.path() / "none").string()}).error, HasSubstr("none"));
    EXPECT_THAT(ask({"report", "--db", folder, "--journal", (own.folder.path() / "none.jsonl").string()}).error, HasSubstr("none.jsonl"));
}

TEST(Report, DamagedJournalIsLeftOutAndNamed) {
    const test::OwnFolders own;
    const std::string folder = small_database(own.folder.path() / "small");
    fs::create_directories(fs::path(folder) / "journals");
    replace_file(fs::path(folder) / "journals/bad.jsonl", "{\"hone_journal\": 1\nrubbish\n");
    const std::string file = (own.folder.path() / "report.html").string();
    const test::Answer answer = ask({"report", "--journals", "--no-kernels", "--db", folder, "-o", file});
    EXPECT_EQ(answer.code, Exit::ok);
    EXPECT_THAT(answer.error, HasSubstr("bad.jsonl is left out"));
    EXPECT_THAT(data_in(read_file(file, 1 << 26)).at("main")["notes"][0].get<std::string>(), HasSubstr("bad.jsonl"));
}

// The pages as a browser draws them. Each test opens a few addresses of one file.
class SlowReportPage : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* const name : {"chromium", "chromium-browser", "google-chrome"})
            if (browser_.empty()) browser_ = find_program(name);
        if (browser_.empty()) GTEST_SKIP() << "there is no Chromium; apt-get install chromium";
    }

    /// What the browser made of the page at an address of the file, without its data. Fails on any
    /// message of the page's console.
    std::string opened(const fs::path& file, const std::string& address, const std::string& window = "1280,900") {
        const std::string url = "file://" + file.string() + address;
        const fs::path profile = own_.folder.path() / "profile";
        const auto result = run_process({browser_, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                                         "--user-data-dir=" + profile.string(), "--enable-logging=stderr", "--virtual-time-budget=3000",
                                         "--window-size=" + window, "--dump-dom", url},
                                        120);
        EXPECT_TRUE(result.ok()) << result.failure() << "\n" << result.output.substr(0, 2000);
        EXPECT_THAT(result.output, Not(HasSubstr("CONSOLE"))) << address;
        const std::size_t begin = result.output.find("<main");
        EXPECT_NE(begin, std::string::npos) << result.output.substr(0, 2000);
        if (begin == std::string::npos) return "";
        return result.output.substr(result.output.find("<title>"),
                                    result.output.find("<script type=\"application/json\"") - result.output.find("<title>"));
    }

    fs::path written(std::vector<std::string> arguments) {
        const fs::path file = own_.folder.path() / "report.html";
        arguments.insert(arguments.begin(), "report");
        arguments.insert(arguments.end(), {"-o", file.string()});
        const test::Answer answer = ask(arguments);
        EXPECT_EQ(answer.code, Exit::ok) << answer.error;
        return file;
    }

    test::OwnFolders own_;

  private:
    std::string browser_;
};

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? "" : text.substr(at + begin.size(), text.find(end, at + begin.size()) - at - begin.size());
}

// Of one device: there are results of others, too.
std::string results_of_h200() {
    return test::source_path("tuning_db/records/nvidia_h200.json");
}

TEST_F(SlowReportPage, ShowsTheDatabasesNumbersAndFilters) {
    const fs::path file = written({"gauss_seidel_27", "--no-kernels", "--device-file", results_of_h200()});
    const Json shown = Json::parse(ask({"show", "gauss_seidel_27", "--device-file", results_of_h200(), "--json"}).out);
    const Json& records = shown["devices"][0]["records"];
    const std::string overview = opened(file, "");
    EXPECT_THAT(overview, HasSubstr("NVIDIA H200"));
    EXPECT_THAT(overview, HasSubstr(fmt::format("<b>{}</b>results", records.size())));
    const std::string all = opened(file, "#/results?sort=-gain");
    EXPECT_THAT(all, HasSubstr(fmt::format(">{} results</output>", records.size())));
    double highest = 0;
    std::size_t below = 0;
    std::size_t single = 0;
    for (const Json& record : records) {
        highest = std::max(highest, record["rates"]["gain_over_safe"].get<double>());
        below += record.contains("ceiling") && record["ceiling"]["fraction"] < 0.75 ? 1 : 0;
        single += record["problem"]["parameters"]["precision"] == "f32" ? 1 : 0;
    }
    // The first line has the highest gain.
    const std::string first = between(all, "aria-rowindex=\"2\"", "</tr>");
    EXPECT_THAT(first, HasSubstr(fmt::format(">{:.2f}x<", highest)));
    EXPECT_THAT(opened(file, "#/results?q=precision%3Df32"), HasSubstr(fmt::format(">{} of {} results</output>", single, records.size())));
    EXPECT_THAT(opened(file, "#/results?q=ceiling%3C75%25"), HasSubstr(fmt::format(">{} of {} results</output>", below, records.size())));
    const std::string family = opened(file, "#/family?family=gauss_seidel_27&metric=gain&over=stencil");
    EXPECT_THAT(family, HasSubstr("<svg"));
    EXPECT_THAT(opened(file, "#/nowhere"), HasSubstr("There is no such page"));
}

TEST_F(SlowReportPage, ListsFitTheirWindowInTheOrderOfNumbers) {
    const fs::path file = written({"acoustics_staggered", "--no-kernels", "--device-file", results_of_h200()});
    const std::string all = opened(file, "#/results?q=kernel%3Dpressure+dimension%3D2+precision%3Df32");
    // What all results share is left out, equal sizes stand once, and the orders are those of
    // numbers.
    std::vector<std::size_t> places;
    for (const char* const order : {"order=4 ", "order=8 ", "order=16 "})
        places.push_back(all.find(fmt::format(">acoustics_staggered pressure dimension=2 {}levels=1 f32 nx=ny=8192<", order)));
    EXPECT_THAT(places, testing::Each(testing::Ne(std::string::npos))) << between(all, "<tbody>", "</tbody>");
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    EXPECT_THAT(all, HasSubstr("There is no room for "));
    EXPECT_THAT(all, Not(HasSubstr(">date</button>")));
    EXPECT_THAT(opened(file, "#/results?columns=all"), HasSubstr(">date</button>"));
    const std::string family = opened(file, "#/family?family=acoustics_staggered");
    EXPECT_THAT(family, HasSubstr("step dimension=3 levels=1 f64</button>")) << "the legend";
    EXPECT_THAT(family, HasSubstr("<code>absorbing=none</code>")) << "what all share";
    const std::string narrow = opened(file, "#/results", "500,900");  // the least that headless Chromium makes
    for (const char* const column : {">problem</button>", ">step</button>", ">of ceiling</button>"}) EXPECT_THAT(narrow, HasSubstr(column));
    const fs::path all_devices = written({"acoustics_staggered", "--no-kernels", "--db", test::source_path("tuning_db/records")});
    EXPECT_THAT(opened(all_devices, "#/"), HasSubstr(">Intel(R) Xeon(R) Processor, 16 threads<")) << "there are results of 4 threads, too";
}

TEST_F(SlowReportPage, TellsOfAProblemItsSearchAndItsKernel) {
    const std::string journal = (own_.folder.path() / "journal.jsonl").string();
    ask({"convert", test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz"), "--to", "journal", "--output", journal});
    const fs::path file = written({"gauss_seidel_27", "stencil=variable", "--journal", journal});
    const Json explained = Json::parse(ask({"explain", "--journal", journal, "--json"}).out)["search"];
    const Json main = data_in(read_file(file, 1 << 26)).at("main");
    std::string problem = main["searches"][0]["problem"];
    std::replace(problem.begin(), problem.end(), ' ', '+');
    const std::string page = opened(file, "#/problem?device=nvidia_h200&kernel=shown&problem=" + problem);
    EXPECT_THAT(page, HasSubstr(fmt::format("{} by exhaustive", explained["evaluations"].get<int>())));
    for (const char* const heading : {"Can it be trusted", "Repeat it", "Which tunables mattered", "What changing one value of the winner costs",
                                      "How the search converged", "Any two tunables", "All tunables at once"})
        EXPECT_THAT(page, HasSubstr(heading));
    // The most important tunable stands first, with its share.
    EXPECT_THAT(between(page, "Which tunables mattered", "</tr>"), HasSubstr(explained["effects"][0]["tunables"][0].get<std::string>()));
    EXPECT_THAT(page, HasSubstr("<span class=\"c-word\">__global__</span>"));
    EXPECT_THAT(opened(file, "#/searches"), HasSubstr("1 of 1 search"));
}

TEST_F(SlowReportPage, ComparesTwoDatabases) {
    const std::string folder = small_database(own_.folder.path() / "small");
    const fs::path newer = own_.folder.path() / "newer";
    Database changed(built_in_families());
    changed.add(sweep(64, 1.5e-3));
    changed.merge_into(newer);
    const std::string page = opened(written({"--db", folder, "--against", newer.string()}), "#/compare");
    EXPECT_THAT(page, HasSubstr("slower 1"));
    EXPECT_THAT(page, HasSubstr("gone 1"));
    EXPECT_THAT(page, HasSubstr("+50.0 %"));
}

TEST_F(SlowReportPage, ShowsHostileTextAsText) {
    const fs::path file = own_.folder.path() / "hostile.html";
    NamedJournal named{"j", {}};
    named.journal.run.problem = "</script><script>alert(1)</script> $(reboot)=1";
    named.journal.run.device = hostile().device;
    for (int i = 0; i < 2; ++i) {
        named.journal.entries.emplace_back();
        named.journal.entries.back().config = fmt::format("a=<i>{}</i>,<u>b</u>={}", i, i);
        named.journal.entries.back().outcome = failure(Status::crashed, "<script>alert(2)</script>");
    }
    replace_file(file, report_page(report_parts({.database = "<b>hit</b>", .records = {hostile()}, .journals = {named}}, built_in_families())));
    const Json main = data_in(read_file(file, 1 << 26)).at("main");
    const std::string problem = "gauss_seidel_27+stencil=constant+precision=f32+nx=64+ny=64+nz=64";
    const std::string key = main["devices"][0]["key"];
    for (const std::string& address : {std::string("#/"), std::string("#/results"), std::string("#/searches"), std::string("#/family"),
                                       "#/problem?device=" + key + "&problem=" + problem, std::string("#/%3Cscript%3E?q=%3Cb%3E"),
                                       "#/problem?device=" + key + "&problem=%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E+$(reboot)=1"}) {
        const std::string page = opened(file, address);
        EXPECT_THAT(page, Not(HasSubstr("<title>hit"))) << address;
        for (const char* const tag : {"<img", "<b>hit", "<h1>hit", "<script>alert", "<i>0", "<u>"}) EXPECT_THAT(page, Not(HasSubstr(tag))) << address;
    }
    EXPECT_THAT(opened(file, "#/searches"), HasSubstr("&lt;script&gt;alert(2)&lt;/script&gt;"));
}

}  // namespace
}  // namespace hone::tools::report_test
