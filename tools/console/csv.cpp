#include "tools/console/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "foundation/error.hpp"
#include "foundation/number_text.hpp"

namespace hone::tools {
namespace {

using Fields = std::vector<std::string>;

// Quoted fields may hold commas and, doubled, quotes; not the end of a line, which no table of ours
// has.
Fields fields_of(const std::string& line) {
    Fields fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += line[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    return fields;
}

}  // namespace

std::size_t CsvTable::column(const std::string& start) const {
    return static_cast<std::size_t>(std::find_if(header.begin(), header.end(), [&](const std::string& name) { return name.starts_with(start); }) -
                                    header.begin());
}

std::string CsvTable::place(std::size_t row) const {
    return fmt::format("{}, line {}", where, row + 2);
}

double CsvTable::number(std::size_t row, std::size_t column, const std::string& what) const {
    const std::string& text = rows[row][column];
    if (text.empty()) return 0;
    std::size_t read = 0;
    const double value = number_at_head(text, &read).value_or(-1);
    if (read != text.size() || !std::isfinite(value) || value < 0)
        throw Error(place(row), fmt::format("\"{}\" is not a {}", text, what), "write a number");
    return value;
}

CsvTable read_csv(const std::string& text, const std::string& where, const std::string& remedy) {
    CsvTable table{where, {}, {}};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        Fields fields = fields_of(text.substr(begin, end - begin));
        begin = end + 1;
        if (table.header.empty()) {
            table.header = std::move(fields);
            continue;
        }
        if (fields.size() != table.header.size())
            throw Error(table.place(table.rows.size()), fmt::format("it has {} fields, the header {}", fields.size(), table.header.size()), remedy);
        table.rows.push_back(std::move(fields));
    }
    return table;
}

}  // namespace hone::tools
