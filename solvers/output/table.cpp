#include "solvers/output/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

std::size_t number_of(const std::vector<std::string>& columns, const std::string& name) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) throw Error("table", "it has no column " + name, fmt::format("use one of {}", fmt::join(columns, ", ")));
    return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

std::vector<Chart::Curve> Table::curves(const std::string& over, const std::vector<std::string>& of) const {
    const std::size_t x = number_of(columns, over);
    std::vector<Chart::Curve> result;
    for (const std::string& name : of) {
        const std::size_t y = number_of(columns, name);
        Chart::Curve& curve = result.emplace_back();
        curve.name = name;
        for (const auto& row : rows) curve.points.emplace_back(row[x], row[y]);
    }
    return result;
}

void write_csv(const std::filesystem::path& file, const Table& table) {
    std::ofstream stream(file);
    stream << fmt::format("{}\n", fmt::join(table.columns, ","));
    for (const auto& row : table.rows) stream << fmt::format("{}\n", fmt::join(row, ","));
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose another place");
}

}  // namespace hone::inline v0_1::solvers
