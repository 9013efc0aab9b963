#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::tools {

/// Text for people, from numbers: three significant digits and a unit that suits them. Pure functions.

/// "1.94 ms", "35.0 s", "4m 05s", "2h 10m".
std::string duration(double seconds);
/// "1.5 GiB", "768 B".
std::string bytes(double count);
/// "1 234 567".
std::string grouped(std::int64_t number);
/// Three significant digits without an exponent: "0.0123", "1.23", "123", "12346".
std::string significant(double number);
/// "83.4 %".
std::string percent(double fraction);
/// A bar of `width` columns, filled up to `fraction`.
std::string bar(double fraction, int width);

/// Seconds in "30s", "5m", "1h30m" or "90". Throws Error for anything else.
double parse_duration(std::string_view text);

/// One line per pair, the second column aligned and wrapped at 100 columns.
std::string definition_list(const std::vector<std::pair<std::string, std::string>>& lines);

/// Breaks text at spaces into lines of at most `width` columns, each but the first indented by `indent`.
std::string wrapped(std::string_view text, int width, int indent = 0);

/// Columns of a terminal that UTF-8 text takes, at one per code point.
int display_width(std::string_view text);

/// A table with a header; numbers to the right, the rest to the left.
///
///     Table table({{"problem"}, {"time", Table::Align::right}});
///     table.row({"dg_volume order=3", "1.94 ms"});
///     out << table.text();
class Table {
  public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Requires as many cells as there are columns, and more than one.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// A line of its own below the last row, which does not widen any column.
    void note(std::string text) { rows_.push_back({std::move(text)}); }
    bool empty() const { return rows_.empty(); }
    std::string text() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace hone::tools
