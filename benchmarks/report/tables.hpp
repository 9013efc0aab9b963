#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hone::benchmarks {

/// Rows of named cells. Columns stand in the order in which they first appeared.
struct Table {
    using Row = std::map<std::string, std::string>;
    std::vector<std::string> columns;
    std::vector<Row> rows;  ///< without the cells that are empty
};

/// The figures in JSON documents: Google Benchmark's output, or what `hone tune`, `balance`,
/// `simulate` and the example `online` print with `--json`. A benchmark, a tuned problem, a period
/// of a balancing run and a strategy on a space are each a row; figures of the whole document are
/// repeated in its rows. Numbers keep six digits. A first column `run` has the file's name where
/// there are several files. Throws Error for a file that cannot be read or is no JSON object.
Table table_of(const std::vector<std::filesystem::path>& documents);

/// The context of Google Benchmark's documents, a row each: date, device, compiler and the ceilings
/// measured in the same process.
Table contexts_of(const std::vector<std::filesystem::path>& documents);

/// A table as comma-separated values (RFC 4180), with a line of column names.
std::string csv_text(const Table& table);

/// The table in a file that csv_text wrote. Throws Error when it cannot be read or a line has
/// another number of cells than the first.
Table read_csv(const std::filesystem::path& file);

}  // namespace hone::benchmarks
