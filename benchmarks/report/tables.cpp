#include "benchmarks/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/number_text.hpp"

namespace hone::benchmarks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw Error(file.string(), "it cannot be read", "give a file that exists");
    return {std::istreambuf_iterator<char>(stream), {}};
}

Json document_in(const fs::path& file) {
    Json document = Json::parse(text_of(file), nullptr, false);
    if (!document.is_object()) throw Error(file.string(), "it is not a JSON object", "give what a benchmark or a command printed with --json");
    return document;
}

// Arrays of which every element is a row.
const std::set<std::string> rows{"benchmarks", "results", "periods", "sweep", "spaces", "mean", "strategies"};
// What numbers the benchmarks, repeats the problem, or says of every row the same.
const std::set<std::string> left_out{"family_index", "per_family_instance_index",
                                     "run_name",     "repetition_index",
                                     "repetitions",  "threads",
                                     "iterations",   "run_type",
                                     "context",      "versions",
                                     "database",     "device",
                                     "how",          "interrupted",
                                     "already_tuned"};

std::string cell(const Json& value) {
    if (value.is_string()) return std::regex_replace(value.get<std::string>(), std::regex("/iterations:1|/manual_time"), "");
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    return value.dump();
}

// "name=value,..." of a configuration, with blanks of a problem.
std::string joined(const Json& values, const char* separator) {
    std::string text;
    for (const auto& [name, value] : values.items()) text += fmt::format("{}{}={}", text.empty() ? "" : separator, name, cell(value));
    return text;
}

class Maker {
  public:
    void take(const Json& object, Table::Row row) {
        gather(object, "", row);
        bool any = false;
        for (const auto& [name, list] : object.items()) {
            if (!list.is_array() || !rows.contains(name)) continue;
            any = true;
            for (const Json& element : list) {
                Table::Row more = row;
                if (name != "benchmarks" && name != "results") put(more, "part", name);
                take(element, std::move(more));
            }
        }
        if (!any) table_.rows.push_back(std::move(row));
    }
    void put(Table::Row& row, const std::string& column, const std::string& text) {
        if (!row.contains(column) && std::find(table_.columns.begin(), table_.columns.end(), column) == table_.columns.end())
            table_.columns.push_back(column);
        row[column] = text;
    }
    Table made() { return std::move(table_); }

  private:
    void gather(const Json& object, const std::string& prefix, Table::Row& row) {
        for (const auto& [name, value] : object.items()) {
            const std::string column = prefix + name;
            if (left_out.contains(name) || value.is_null() || value.is_array()) continue;
            if (name == "problem" && value.is_object()) {
                if (value.contains("key"))
                    put(row, "problem", cell(value["key"]));
                else if (!row.contains("problem"))
                    put(row, "problem", cell(value.value("family", Json())) + " " + joined(value.value("parameters", Json::object()), " "));
            } else if (name == "configuration") {
                put(row, column, joined(value, ","));
            } else if (value.is_object()) {
                gather(value, name == "record" ? "" : column + ".", row);
            } else {
                put(row, column, cell(value));
            }
        }
    }

    Table table_;
};

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    return '"' + std::regex_replace(text, std::regex("\""), "\"\"") + '"';
}

// The cells of a line; the stream stands after it.
std::vector<std::string> cells_of(std::istream& stream) {
    std::vector<std::string> cells(1);
    bool inside = false;
    for (char c = 0; stream.get(c) && (inside || c != '\n');) {
        if (c == '"' && inside && stream.peek() == '"')
            cells.back() += static_cast<char>(stream.get());
        else if (c == '"')
            inside = !inside;
        else if (c == ',' && !inside)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    return cells;
}

}  // namespace

Table table_of(const std::vector<fs::path>& documents) {
    Maker maker;
    for (const fs::path& file : documents) {
        Table::Row row;
        if (documents.size() > 1) maker.put(row, "run", file.stem().string());
        maker.take(document_in(file), std::move(row));
    }
    return maker.made();
}

Table contexts_of(const std::vector<fs::path>& documents) {
    Maker maker;
    for (const fs::path& file : documents) {
        const Json document = document_in(file);
        if (!document.contains("context")) continue;
        Table::Row row;
        maker.put(row, "run", file.stem().string());
        for (const auto& [name, value] : document["context"].items())
            if (name == "date" || name == "device" || name == "compiler" || name.starts_with("ceiling_"))
                maker.put(row, name,
                          name.starts_with("ceiling_") ? fmt::format("{:.6g}", number_at_head(value.get<std::string>()).value_or(0)) : cell(value));
        maker.take(Json::object(), std::move(row));
    }
    return maker.made();
}

std::string csv_text(const Table& table) {
    std::string text;
    const auto line = [&](const auto& cell_of) {
        for (std::size_t n = 0; n < table.columns.size(); ++n) text += (n == 0 ? "" : ",") + quoted(cell_of(table.columns[n]));
        text += '\n';
    };
    line([](const std::string& column) { return column; });
    for (const Table::Row& row : table.rows) line([&](const std::string& column) { return row.contains(column) ? row.at(column) : std::string(); });
    return text;
}

Table read_csv(const fs::path& file) {
    std::istringstream stream(text_of(file));
    Table table;
    table.columns = cells_of(stream);
    for (int number = 2; stream.peek() != std::char_traits<char>::eof(); ++number) {
        const std::vector<std::string> cells = cells_of(stream);
        if (cells.size() != table.columns.size())
            throw Error(fmt::format("{}:{}", file.string(), number), fmt::format("there are {} cells", cells.size()),
                        fmt::format("write {}, one for each column of the first line", table.columns.size()));
        Table::Row row;
        for (std::size_t n = 0; n < cells.size(); ++n)
            if (!cells[n].empty()) row[table.columns[n]] = cells[n];
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace hone::benchmarks
