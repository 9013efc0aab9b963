#include "tools/searches/tuning_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/charts/result_charts.hpp"
#include "tools/console/json.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::tuning_story_test {
namespace {

using test::ask;
using testing::HasSubstr;
using testing::Not;

const std::string stencil = "gauss_seidel_27 stencil=constant precision=f32 nx=64 ny=64 nz=64 pitch=0";
const DeviceFingerprint device{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};

JournalEntry measured(const std::string& config, double seconds, double elapsed = 0) {
    JournalEntry entry;
    entry.config = config;
    entry.elapsed = elapsed;
    entry.outcome.step = {seconds, seconds, seconds, seconds, 6};
    entry.outcome.samples = std::vector<double>(6, seconds);
    entry.outcome.compile_seconds = 0.5;
    return entry;
}

JournalEntry failed(const std::string& config, Status status, const std::string& reason) {
    JournalEntry entry;
    entry.config = config;
    entry.outcome = failure(status, reason);
    return entry;
}

JournalText journal_of(std::vector<JournalEntry> entries) {
    JournalText journal;
    journal.run.problem = stencil;
    journal.run.device = device;
    journal.run.space = std::string(64, 'a');
    journal.run.members = 1000;
    journal.run.version = "0.1.0";
    journal.run.strategy = "surrogate";
    journal.entries = std::move(entries);
    return journal;
}

TEST(TuningStory, FailuresAreABarForEachKind) {
    const SvgChart chart = failures_chart({journal_of({measured("a=1", 4e-3), measured("a=2", 1e-3)}),
                                           journal_of({measured("a=1", 4e-3), failed("a=4", Status::wrong, "differs by 3"),
                                                       failed("a=5", Status::wrong, "not a number"), failed("a=6", Status::crashed, "")})});
    EXPECT_EQ(chart.x_names.size(), 2U);
    ASSERT_EQ(chart.series.size(), 3U);
    EXPECT_EQ(chart.series[0].name, "measured");
    EXPECT_EQ(chart.series[0].points[0].y, 2);
    const auto wrong = std::find_if(chart.series.begin(), chart.series.end(), [](const auto& s) { return s.name == to_string(Status::wrong); });
    ASSERT_NE(wrong, chart.series.end());
    ASSERT_EQ(wrong->points.size(), 1U);
    EXPECT_EQ(wrong->points[0].x, 1);
    EXPECT_EQ(wrong->points[0].y, 2);
    EXPECT_THAT(wrong->points[0].note, HasSubstr("not a number"));
    EXPECT_THROW(failures_chart({}), Error);
}

TEST(TuningStory, TellsTheFirstEvaluationOfEveryCandidate) {
    JournalEntry finalist = measured("a=2", 1e-4);
    finalist.purpose = Candidate::Purpose::finalist;
    JournalEntry again = measured("a=2", 9e-4);
    again.purpose = Candidate::Purpose::again;
    const TuningStory story = story_of(
        journal_of({measured("a=1", 4e-3, 1), failed("a=4", Status::wrong, "differs by 3.5e-2"), failed("a=5", Status::wrong, "differs by 7.25"),
                    failed("a=6", Status::crashed, ""), measured("a=2", 1e-3, 5), again, measured("a=3", 2e-3, 6), finalist}));
    EXPECT_EQ(story.evaluations, 6);
    EXPECT_EQ(story.safe, 4e-3);
    EXPECT_EQ(story.best(), 1e-3);
    EXPECT_EQ(story.median(), 2e-3);
    EXPECT_EQ(story.worst(), 4e-3);
    EXPECT_EQ(story.elapsed, 6);
    ASSERT_EQ(story.improvements.size(), 2U);
    EXPECT_EQ(story.improvements[1].evaluation, 5);
    EXPECT_EQ(story.evaluations_to(5), 1);
    EXPECT_EQ(story.evaluations_to(0.1), 5);
    EXPECT_DOUBLE_EQ(story.late_gain(), 0.75);
    EXPECT_FALSE(story.complete);
    const JournalEntry done{.kind = JournalEntry::Kind::done};
    EXPECT_TRUE(story_of(journal_of({measured("a=1", 4e-3, 1), done})).complete);
    EXPECT_FALSE(story_of(journal_of({measured("a=1", 4e-3, 1), done, measured("a=2", 1e-3, 5)})).complete) << "it went on with a longer budget";
}

TEST(TuningStory, FailuresWithOtherNumbersHaveTheSameReason) {
    const TuningStory story = story_of(journal_of({failed("a=4", Status::wrong, "differs by 3.5"), failed("a=5", Status::wrong, "differs by 17.25"),
                                                   failed("a=6", Status::wrong, "is not a number"), failed("a=7", Status::crashed, "differs by 1")}));
    ASSERT_EQ(story.failures.size(), 3U);
    EXPECT_EQ(story.failures[0].count, 2);
    EXPECT_EQ(story.failures[0].reason, "differs by 3.5");
    EXPECT_EQ(story.safe, 0);
    EXPECT_EQ(story.best(), 0);
    EXPECT_TRUE(story.measured.empty());
}

TEST(TuningStory, HistogramCountsEveryMeasuredCandidateOnce) {
    test::FreshRandom random;
    std::lognormal_distribution<double> times(0, 1.5);
    std::vector<JournalEntry> entries;
    for (int i = 0; i < 200; ++i) entries.push_back(measured("a=" + std::to_string(i), times(random)));
    const TuningStory story = story_of(journal_of(std::move(entries)));
    int sum = 0;
    double low = 1;
    for (const CostBin& bin : cost_histogram(story)) {
        EXPECT_EQ(bin.low, low);
        low = bin.high;
        sum += bin.count;
        EXPECT_EQ(bin.count, std::count_if(story.measured.begin(), story.measured.end(), [&](const auto& one) {
                      const double times = one.cost / story.best();
                      return times <= bin.high && (times > bin.low || bin.low == 1);
                  }));
    }
    EXPECT_EQ(sum, 200);
    EXPECT_TRUE(cost_histogram(story_of(journal_of({}))).empty());
}

// A search among members of a real space, whose times follow a law of two tunables, the first far
// stronger.
class Searched {
  public:
    explicit Searched(int count) {
        const Families& families = built_in_families();
        const Problem problem = families.parse_problem(stencil);
        space_ = families.of(problem).space(problem, cuda_limits(90));
        test::FreshRandom random;
        std::vector<JournalEntry> entries;
        std::set<std::string> seen;
        // Members are rare among all combinations; near the safe configuration they are not.
        for (Config config = space_.safe(); std::ssize(entries) < count; config = altered(config, random))
            if (seen.insert(config.key()).second)
                entries.push_back(measured(config.key(), law(config), 0.1 * static_cast<double>(entries.size() + 1)));
        for (std::size_t i = 0; i < entries.size(); ++i) entries[i].index = space_.index_of(space_.parse(entries[i].config));
        entries.push_back({.kind = JournalEntry::Kind::done, .elapsed = 0.1 * count});
        journal_ = journal_of(std::move(entries));
    }

    static double law(const Config& config) {
        const double x = std::log2(static_cast<double>(config.integer("block_x"))) - 6;
        return 1e-3 * std::exp(0.3 * x * x + (config.word("edges") == "guarded" ? 0.1 : 0));
    }
    const SearchSpace& space() const { return space_; }
    const JournalText& journal() const { return journal_; }

  private:
    Config altered(const Config& config, test::FreshRandom& random) const {
        while (true) {
            std::vector<Assignment> assignments = config.assignments();
            const std::size_t d = random() % assignments.size();
            const auto& values = space_.tunables()[d].values;
            assignments[d].value = values[random() % values.size()];
            if (Config other(std::move(assignments)); !space_.check(other)) return other;
        }
    }

    SearchSpace space_;
    JournalText journal_;
};

TEST(TuningStory, NeighboursAreMeasuredPredictedOrImpossible) {
    const Searched searched(60);
    const TuningStory story = story_of(searched.journal());
    const MeasuredSpace measured = measured_space(story, stencil, built_in_families(), cuda_limits(90));
    EXPECT_TRUE(measured.whole);
    EXPECT_EQ(measured.costs.size(), 60U);
    const CostModel model(measured.space, measured.costs);
    const Config winner = config_in(measured.space, story.measured.front().config);
    std::size_t values = 0;
    for (const Tunable& tunable : measured.space.form_of(winner)->tunables) values += tunable.values.size() - 1;
    const std::vector<Neighbour> neighbours = neighbours_of(winner, measured, &model);
    EXPECT_EQ(neighbours.size(), values);
    for (const Neighbour& neighbour : neighbours) {
        std::vector<Assignment> assignments = winner.assignments();
        assignments[neighbour.tunable].value = neighbour.value;
        const Config config(assignments);
        const bool member = !measured.space.check(config);
        const bool known = std::any_of(story.measured.begin(), story.measured.end(), [&](const auto& one) { return one.config == config.key(); });
        EXPECT_EQ(neighbour.kind, known ? Neighbour::Kind::measured : member ? Neighbour::Kind::predicted : Neighbour::Kind::impossible);
        if (known) EXPECT_NEAR(neighbour.ratio, Searched::law(config) / story.best(), 1e-12);
        EXPECT_EQ(neighbour.reason.empty(), member);
    }
    for (const Neighbour& neighbour : neighbours_of(winner, measured, nullptr)) EXPECT_NE(neighbour.kind, Neighbour::Kind::predicted);
}

TEST(TuningStory, SpacesThatAreNoFamilysAreTakenFromTheJournal) {
    std::vector<JournalEntry> entries;
    for (int i = 0; i < 12; ++i)
        entries.push_back(measured(fmt::format("size={},kind={}", 1 << (i % 4), i / 4 == 0 ? "7" : i / 4 == 1 ? "b" : "c"), 1e-3 * (1 + i % 4)));
    JournalText journal = journal_of(std::move(entries));
    journal.run.problem = "somebody's kernel";
    const TuningStory story = story_of(journal);
    const MeasuredSpace measured = measured_space(story, journal.run.problem, built_in_families(), cpu_limits());
    EXPECT_FALSE(measured.whole);
    EXPECT_EQ(measured.space.product(), 12);
    EXPECT_EQ(measured.costs.size(), 12U);
    const CostModel model(measured.space, measured.costs);
    EXPECT_GT(model.effects().front().share, 0.9);
    EXPECT_EQ(model.effects().front().tunables, std::vector<std::size_t>{0});
}

TEST(TuningStory, AFewTimesOfABusyMachineDoNotOutweighAllOthers) {
    // By chance the model finds words for the three late ones in one search of a dozen: so the mean
    // of many searches.
    constexpr int searches = 16;
    double gained = 0;
    for (int i = 0; i < searches; ++i) {
        const Searched searched(40);
        TuningStory story = story_of(searched.journal());
        for (const std::size_t late : {5U, 17U, 33U}) story.measured[late].cost *= 1000;
        const MeasuredSpace measured = measured_space(story, stencil, built_in_families(), cuda_limits(90));
        const std::vector<MeasuredCost> costs = tempered(measured.costs);
        double most = 0;
        for (const MeasuredCost& cost : costs) most = std::max(most, cost.cost);
        EXPECT_LT(most, 100 * story.best());
        gained += CostModel(measured.space, costs).explained() - CostModel(measured.space, measured.costs).explained();
    }
    EXPECT_GT(gained / searches, 0);
    EXPECT_TRUE(tempered({}).empty());
    EXPECT_EQ(tempered({{1, 2.0}, {2, 3.0}, {3, 4.0}})[2].cost, 4.0);
}

// What `explain` finds: a folder with a record and its journal.
class Desk {
  public:
    explicit Desk(const JournalText& journal, bool with_record = true) {
        const Families& families = built_in_families();
        const Problem problem = families.parse_problem(stencil);
        Database database(families);
        Record record = test::sample_record(families, problem, story_of(journal).measured.front().config, device, cuda_limits(90));
        record.safe_seconds = 2e-3;
        record.ceiling_fraction = 0.8;
        record.ceiling = "memory";
        if (with_record) database.add(record);
        database.merge_into(folder());
        std::filesystem::create_directories(std::filesystem::path(folder()) / "journals");
        replace_file(file(), journal_text(journal));
    }

    std::string folder() const { return (own_.folder.path() / "db").string(); }
    std::string file() const { return journal_path(folder(), built_in_families().parse_problem(stencil), device).string(); }

  private:
    test::OwnFolders own_;
};

TEST(TuningStory, ExplainTellsTheWholeStory) {
    const Searched searched(50);
    const Desk desk(searched.journal());
    const test::Answer answer = ask({"explain", "gauss_seidel_27", "nx=64", "--db", desk.folder()});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    for (const char* part :
         {"2.00x the untuned safe configuration", "80.0 % of the measured memory ceiling", "a kernel of the same traffic can be 1.25x as fast",
          "blocks of", "50 candidates of 1 000 by surrogate", "which tunables mattered", "block_x", "what changing one value of the winner costs",
          "how the search converged", "hone compile gauss_seidel_27 stencil=constant precision=f32 nx=64 ny=64 nz=64 --target cuda"})
        EXPECT_THAT(answer.out, HasSubstr(part));
    const Json document = Json::parse(ask({"explain", "nx=64", "--db", desk.folder(), "--json"}).out);
    EXPECT_EQ(document["record"]["problem"]["family"], "gauss_seidel_27");
    const Json& search = document["search"];
    EXPECT_EQ(search["evaluations"], 50);
    EXPECT_EQ(search["winner"], story_of(searched.journal()).measured.front().config);
    EXPECT_GT(search["explained"], 0.3);
    EXPECT_EQ(search["effects"][0]["tunables"], Json{"block_x"});
    EXPECT_FALSE(search["neighbours"].empty());
}

TEST(TuningStory, ExplainWorksFromTheRecordOrTheJournalAlone) {
    const Searched searched(20);
    const Desk desk(searched.journal());
    std::filesystem::remove(desk.file());
    const test::Answer record = ask({"explain", "nx=64", "--db", desk.folder()});
    EXPECT_EQ(record.code, Exit::ok) << record.error;
    EXPECT_THAT(record.out, HasSubstr("there is no journal of it here"));
    EXPECT_THAT(record.out, Not(HasSubstr("mattered\n")));
    const Desk other(searched.journal(), false);
    const test::Answer journal =
        ask({"explain", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=64", "ny=64", "nz=64", "--db", other.folder()});
    EXPECT_EQ(journal.code, Exit::ok) << journal.error;
    EXPECT_THAT(journal.out, HasSubstr("20 candidates"));
    EXPECT_EQ(ask({"explain", "--journal", other.file(), "--json"}).code, Exit::ok);
}

TEST(TuningStory, ExplainAsksTheCompilerOrSaysWhyItCannot) {
    const Searched searched(12);
    const Desk desk(searched.journal());
    const test::EnvironmentVariable cache("HONE_CACHE", test::kernel_cache_folder());
    const test::Answer answer = ask({"explain", "nx=64", "--db", desk.folder(), "--compile", "--json"});
    ASSERT_EQ(answer.code, Exit::ok) << answer.error;
    const Json document = Json::parse(answer.out);
    const bool said = std::any_of(document["missing"].begin(), document["missing"].end(),
                                  [](const Json& line) { return line.get<std::string>().starts_with("registers, shared memory and spills: "); });
    EXPECT_NE(said, document.contains("resources")) << answer.out;
    if (said) GTEST_SKIP() << "NVRTC is not here: what it says is not looked at";
    ASSERT_FALSE(document["resources"].empty());
    for (const Json& entry : document["resources"]) EXPECT_GT(entry["registers"], 0) << entry.dump();
    const test::Answer text = ask({"explain", "nx=64", "--db", desk.folder(), "--compile"});
    EXPECT_THAT(text.out, HasSubstr("what the compiler says of it"));
    EXPECT_THAT(text.out, HasSubstr(document["resources"][0]["name"].get<std::string>()));
}

TEST(TuningStory, ExplainTellsOtherTunersSearchesToo) {
    const test::OwnFolders own;
    const std::string file = (own.folder.path() / "journal.jsonl").string();
    ask({"convert", test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz"), "--to", "journal", "--output", file});
    const test::Answer answer = ask({"explain", "--journal", file});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("which tunables mattered"));
    EXPECT_THAT(answer.out, HasSubstr("which configurations are impossible"));
}

TEST(TuningStory, ExplainReadsAJournalThatWasCutAndOneWithoutResults) {
    const Searched searched(15);
    const Desk desk(searched.journal());
    const std::string text = journal_text(searched.journal());
    for (const std::size_t part : {2U, 3U, 10U}) {
        replace_file(desk.file(), text.substr(0, text.size() - text.size() / part));
        EXPECT_EQ(ask({"explain", "nx=64", "--db", desk.folder()}).code, Exit::ok);
    }
    replace_file(desk.file(), journal_text(journal_of({failed("block_x=1", Status::crashed, "\x1b[2J")})));
    const test::Answer answer = ask({"explain", "nx=64", "--db", desk.folder()});
    EXPECT_EQ(answer.code, Exit::ok) << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("1  crashed: \\u001b[2J"));
    EXPECT_TRUE(Json::accept(ask({"explain", "nx=64", "--db", desk.folder(), "--json"}).out));
    replace_file(desk.file(), "no journal\n");
    const test::Answer unreadable = ask({"explain", "nx=64", "--db", desk.folder()});
    EXPECT_EQ(unreadable.code, Exit::ok) << "the result itself is there: " << unreadable.error;
    EXPECT_THAT(unreadable.out, HasSubstr("its journal cannot be read"));
    EXPECT_EQ(ask({"explain", "--journal", desk.file()}).code, Exit::wrong_input);
}

TEST(TuningStory, ExplainSaysWhichResultsTheWordsMean) {
    const test::OwnFolders own;
    const Families& families = built_in_families();
    Database database(families);
    for (const int size : {32, 64}) {
        const Problem problem = families.parse_problem(fmt::format("gauss_seidel_27 stencil=constant precision=f32 nx={0} ny={0} nz={0}", size));
        database.add(test::sample_record(families, problem, "", device, cuda_limits(90)));
    }
    const std::string folder = (own.folder.path() / "db").string();
    database.merge_into(folder);
    const test::Answer several = ask({"explain", "gauss_seidel_27", "--db", folder});
    EXPECT_EQ(several.code, Exit::wrong_input);
    EXPECT_THAT(several.error, HasSubstr("these arguments match 2 results"));
    EXPECT_THAT(several.error, HasSubstr("gauss_seidel_27 stencil=constant precision=f32 nx=32 ny=32 nz=32 on NVIDIA H200"));
    EXPECT_EQ(ask({"explain", "nx=32", "--db", folder}).code, Exit::ok);
    const test::Answer rival =
        ask({"explain", "gauss_seidel_27", "stencil=constant", "precision=f32", "--device-file",
             test::source_path("tuning_db/records/nvidia_h200.json"), "--rivals", test::source_path("benchmarks/results/h200/gauss_seidel_27.csv")});
    EXPECT_THAT(rival.out, testing::ContainsRegex("rival +[0-9.]+ G updates/s; timed in turns with the tuned kernel it took [0-9.]+x as long"));
    const test::Answer none = ask({"explain", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=33", "ny=33", "nz=33", "--db", folder});
    EXPECT_EQ(none.code, Exit::nothing);
    EXPECT_THAT(none.error, HasSubstr("no result of gauss_seidel_27"));
    EXPECT_EQ(ask({"explain"}).code, Exit::wrong_input);
}

}  // namespace
}  // namespace hone::tools::tuning_story_test
