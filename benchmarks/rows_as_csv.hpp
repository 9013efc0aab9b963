#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace hone::benchmarks {

/// An option of Google Benchmark as it reads it: the last that the words give, else the environment
/// variable of its name, BENCHMARK_FORMAT for benchmark_format. Empty where neither says anything.
inline std::string benchmark_option(const std::vector<std::string>& words, const std::string& name) {
    std::string variable = name;
    std::transform(variable.begin(), variable.end(), variable.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const char* const set = std::getenv(variable.c_str());
    std::string value = set == nullptr ? "" : set;
    const std::string start = "--" + name + "=";
    for (const std::string& word : words)
        if (word.starts_with(start)) value = word.substr(start.size());
    return value;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// Google Benchmark's CSV of rows that differ in their counters, as they do in marked ratios
/// (`rival/ours*`): a column for each that any row has, empty where a row has not. Its own reporter
/// takes the columns of the first row, and ends the program at one with others. Rows are written
/// when all are measured.
class RowsAsCsv : public benchmark::CSVReporter {
  public:
    void ReportRuns(const std::vector<Run>& runs) override { rows_.insert(rows_.end(), runs.begin(), runs.end()); }

    void Finalize() override {
        CSVReporter::ReportRuns(rows_);
        CSVReporter::Finalize();
    }

  private:
    std::vector<Run> rows_;
};

#pragma GCC diagnostic pop

}  // namespace hone::benchmarks
