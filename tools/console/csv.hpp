#pragma once

#include <string>
#include <vector>

namespace hone::tools {

/// Comma-separated values with a header (RFC 4180, but that no field has the end of a line).
struct CsvTable {
    std::string where;  ///< for messages
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  ///< each as long as the header

    /// The place of the column whose name begins so; the header's length where there is none.
    std::size_t column(const std::string& start) const;
    /// "FILE, line N" of a row.
    std::string place(std::size_t row) const;
    /// A number of 0 and more in a field. Throws Error, naming the line, for anything else; an
    /// empty field is 0.
    double number(std::size_t row, std::size_t column, const std::string& what) const;
};

/// Throws Error, naming the line, where a row is not as long as the header; `remedy` says where
/// such tables come from.
CsvTable read_csv(const std::string& text, const std::string& where, const std::string& remedy);

}  // namespace hone::tools
