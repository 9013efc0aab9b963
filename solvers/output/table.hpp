#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "solvers/output/chart.hpp"

namespace hone::inline v0_1::solvers {

/// Numbers in columns with names, such as the history of a run.
///
///     Table energy{{"time", "energy"}, {}};
///     energy.rows.push_back({0.1, 2.5});
///     write_csv("energy.csv", energy);
///     write_chart("energy.svg", {"Energy", "time", "energy", false, energy.curves("time", {"energy"})});
struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;  ///< as many numbers in each as there are columns

    /// Some columns over another one, each as a curve of its name. Throws Error for a name that is
    /// not a column.
    std::vector<Chart::Curve> curves(const std::string& over, const std::vector<std::string>& of) const;
};

/// Writes a line of names, then a line for each row, separated by commas. Numbers have as many
/// digits as it takes to read the same number back. Throws Error when the file cannot be written.
void write_csv(const std::filesystem::path& file, const Table& table);

}  // namespace hone::inline v0_1::solvers
