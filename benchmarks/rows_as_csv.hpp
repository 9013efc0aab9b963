#pragma once

#include <benchmark/benchmark.h>

#include <vector>

namespace hone::benchmarks {

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
