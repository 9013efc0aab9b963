#include "generator/families/device/constant_tables.hpp"

#include <fmt/format.h>

#include "generator/families/device/dialect.hpp"

namespace hone::inline v0_1 {

std::string table_rows(int rows, int columns, const std::function<double(int, int)>& entry) {
    std::string text;
    for (int row = 0; row < rows; ++row) {
        text += "    {";
        for (int column = 0; column < columns; ++column) text += fmt::format("{}real({:.17g})", column == 0 ? "" : ", ", entry(row, column));
        text += "},\n";
    }
    return text;
}

Block constant_table(Target target, const std::string& name, int rows, int columns, const std::function<double(int, int)>& entry) {
    return Block().lines_of(
        fmt::format("{} real {}[{}][{}] = {{\n{}}};\n", dialect_of(target).table, name, rows, columns, table_rows(rows, columns, entry)));
}

Block constant_list(Target target, const std::string& name, const std::vector<double>& numbers) {
    std::string text;
    for (const double number : numbers) text += fmt::format("{}real({:.17g})", text.empty() ? "" : ", ", number);
    return Block().line("{} real {}[{}] = {{{}}};", dialect_of(target).table, name, numbers.size(), text);
}

}  // namespace hone::inline v0_1
