#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "benchmarks/report/ceiling_picture.hpp"
#include "benchmarks/report/tables.hpp"
#include "foundation/error.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::benchmarks::report_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Report : public ::testing::Test {
  protected:
    fs::path write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return folder_.path() / name;
    }
    const fs::path& folder() const { return folder_.path(); }

  private:
    test::TemporaryFolder folder_;
};

std::string text_in(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(Report, ABenchmarkIsARow) {
    const Table table = table_of({write("a.json", R"({"context": {"date": "today"}, "benchmarks": [
        {"name": "p n=3/iterations:1/manual_time", "family_index": 0, "%ceiling": 97.31234567, "label": "exact: a=1,b=2"},
        {"name": "q", "rival/ours": 2}]})")});
    EXPECT_EQ(csv_text(table), "name,%ceiling,label,rival/ours\np n=3,97.3123,\"exact: a=1,b=2\",\nq,,,2\n");
}

TEST_F(Report, ATunedProblemIsARowWithItsConfigurationInOneCell) {
    const std::string run = R"({"device": {"name": "x"}, "ceilings": {"copy": 1.5}, "results": [{"problem": {"key": "f n=3", "family": "f"}, "record":
        {"problem": {"family": "f"}, "configuration": {"a": "x", "b": 2}, "step_seconds": {"median": 0.25}}, "search": {"evaluations": 7}}]})";
    const Table table = table_of({write("first.json", run), write("second.json", run)});
    EXPECT_EQ(csv_text(table),
              "run,ceilings.copy,problem,configuration,step_seconds.median,search.evaluations\nfirst,1.5,f n=3,\"a=x,b=2\",0.25,7\n"
              "second,1.5,f n=3,\"a=x,b=2\",0.25,7\n");
}

TEST_F(Report, RowsWithinRowsRepeatWhatTheyBelongTo) {
    const Table table = table_of({write("r.json", R"({"seed": 1, "spaces": [{"name": "s", "strategies": [
        {"strategy": "random", "score": 0.5, "best": [1]}, {"strategy": "model", "score": 1}]}]})")});
    EXPECT_EQ(csv_text(table), "seed,part,name,strategy,score\n1,strategies,s,random,0.5\n1,strategies,s,model,1\n");
}

TEST_F(Report, ContextsAreTheCeilingsOfARun) {
    EXPECT_EQ(csv_text(contexts_of({write("a.json", R"({"context": {"date": "d", "caches": [], "ceiling_copy_GB/s": "4191.6843"}})")})),
              "run,date,ceiling_copy_GB/s\na,d,4191.68\n");
}

TEST_F(Report, ReadsWhatItWrites) {
    Table table{{"a", "b,\"c\""}, {{{"a", "1"}}, {{"b,\"c\"", "two\nlines, \"quoted\""}}}};
    const Table again = read_csv(write("t.csv", csv_text(table)));
    EXPECT_EQ(again.columns, table.columns);
    EXPECT_EQ(again.rows, table.rows);
}

TEST_F(Report, RefusesWhatIsNoTableAndNoDocument) {
    EXPECT_THROW(read_csv(write("t.csv", "a,b\n1\n")), Error);
    EXPECT_THROW(table_of({write("t.json", "[1]")}), Error);
    EXPECT_THROW(table_of({folder() / "absent.json"}), Error);
    EXPECT_THROW(ceiling_picture(folder(), "x"), Error);
}

TEST_F(Report, ThePictureHasRivalsAsPartsOfTheCeilingAndLeavesOutWhatIsNotTuned) {
    write("csr_spmv.csv",
          "name,%ceiling,rival/ours,label\na,80,2,\"memory-bound, exact: x=1\"\nb,50,1,\"memory-bound, none: x=2\"\nc,60,,\" exact: x=2\"\n");
    write("corner_force.csv",
          "name,%ceiling,paper/ours,paper/ours*,label\na,60,3,,\"memory-bound, whole exact: x=1; paper exact: x=1\"\n"
          "b,50,,2,\"memory-bound, whole exact: x=1; paper none*: x=1\"\n");
    write("dg_stage.csv", "name,%ceiling,rival/ours,label\na,80,2,\"memory-bound, nearest_size: x=1\"\n");
    const StripChart chart = ceiling_picture(folder(), "x");
    ASSERT_EQ(chart.lanes.size(), 3);
    ASSERT_EQ(chart.lanes[0].groups.size(), 1);
    EXPECT_THAT(chart.lanes[0].groups[0].values, ElementsAre(80));
    EXPECT_EQ(chart.lanes[1].groups[1].name, "cuSPARSE");
    EXPECT_THAT(chart.lanes[1].groups[0].values, ElementsAre(80, 60));
    EXPECT_THAT(chart.lanes[1].groups[1].values, ElementsAre(40));
    EXPECT_THAT(chart.lanes[2].groups[0].values, ElementsAre(60, 50));
    EXPECT_THAT(chart.lanes[2].groups[1].values, ElementsAre(20)) << "published kernels that were not tuned are no rivals";
}

TEST_F(Report, TheCommittedPictureIsMadeFromTheCommittedTables) {
    const fs::path results = test::source_path("benchmarks/results/h200");
    EXPECT_TRUE(svg(ceiling_picture(results, "NVIDIA H200")) == text_in(results / "ceilings.svg"))
        << "benchmark_report picture benchmarks/results/h200 'NVIDIA H200' benchmarks/results/h200/ceilings.svg";
}

}  // namespace
}  // namespace hone::benchmarks::report_test
