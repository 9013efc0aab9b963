#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/text.hpp"

namespace hone::tools {

/// Text for people. What examples and libraries need of it, too, is in foundation/text.hpp.
using text::bar;
using text::bytes;
using text::cut;
using text::display_width;
using text::duration;
using text::grouped;
using text::grouped_count;
using text::percent;
using text::significant;
using text::wrapped;

/// Seconds in "30s", "5m", "1h30m" or "90". Throws Error for anything else.
double parse_duration(std::string_view text);

/// A part in "80%", "80 %" or "80": 0.8. Throws Error, naming the option, for anything else and for
/// less than 0.
double parse_percent(const std::string& option, std::string_view text);
/// Reads a percentage above 0 % and below 100 %.
double parse_proper_percent(const std::string& option, std::string_view text);

/// One line per pair, the second column aligned and wrapped at 100 columns, or at as many as there
/// are (0: not known). Where these are few, it stands below the first.
std::string definition_list(const std::vector<std::pair<std::string, std::string>>& lines, int columns = 0);

/// Text broken at spaces as by `wrapped`; what is longer than a line, as configurations are, also
/// behind commas.
std::string folded(std::string_view text, int width, int indent);

/// Lines of text that are longer than `columns` are broken (folded) and go on indented by four; 0:
/// no bound.
std::string fitted(const std::string& text, int columns);

/// A word as it is written in a command line: in quotes where a shell would take it apart.
std::string shell_word(const std::string& text);

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
