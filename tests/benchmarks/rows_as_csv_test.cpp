// Where Google Benchmark is installed.
#ifdef HONE_HAVE_BENCHMARK
#include "benchmarks/rows_as_csv.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>

#include "tests/support/environment.hpp"

namespace hone::benchmarks {
namespace {

benchmark::BenchmarkReporter::Run row(const std::string& name, const std::string& counter, double value) {
    benchmark::BenchmarkReporter::Run run;
    run.run_name.function_name = name;
    run.iterations = 1;
    run.counters[counter] = value;
    return run;
}

TEST(RowsAsCsv, RowsMayDifferInTheirCounters) {
    std::ostringstream out;
    RowsAsCsv csv;
    csv.SetOutputStream(&out);
    csv.ReportRuns({row("first", "rival/ours", 2.5)});
    EXPECT_EQ(out.str(), "");
    csv.ReportRuns({row("second", "rival/ours*", 0.75)});
    csv.Finalize();
    std::istringstream lines(out.str());
    std::string head, first, second;
    std::getline(lines, head);
    std::getline(lines, first);
    std::getline(lines, second);
    EXPECT_TRUE(head.ends_with(",\"rival/ours\",\"rival/ours*\"")) << head;
    EXPECT_TRUE(first.starts_with("\"first\"") && first.ends_with(",2.5,")) << first;
    EXPECT_TRUE(second.starts_with("\"second\"") && second.ends_with(",,0.75")) << second;
}

TEST(RowsAsCsv, IsAskedForByTheLastWordOrTheEnvironment) {
    const test::EnvironmentVariable none("BENCHMARK_FORMAT", std::nullopt);
    EXPECT_EQ(benchmark_option({"--benchmark_format=json", "--benchmark_format=csv"}, "benchmark_format"), "csv");
    EXPECT_EQ(benchmark_option({"--benchmark_out_format=csv"}, "benchmark_format"), "");
    const test::EnvironmentVariable set("BENCHMARK_FORMAT", "csv");
    EXPECT_EQ(benchmark_option({}, "benchmark_format"), "csv");
    EXPECT_EQ(benchmark_option({"--benchmark_format=console"}, "benchmark_format"), "console");
}

}  // namespace
}  // namespace hone::benchmarks
#endif
