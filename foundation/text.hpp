#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Text for people, from numbers: three significant digits and a unit that suits them. Pure
/// functions.
namespace hone::inline v0_1::text {

/// "1.94 ms", "35.0 s", "4m 05s", "2h 10m", "1.2e+03 years".
std::string duration(double seconds);
/// "1.5 GiB", "768 B".
std::string bytes(double count);
/// "1 234 567".
std::string grouped(std::int64_t number);
/// The same of a count that may be too large for a whole number: "1 234 567", "1.23e+20".
std::string grouped_count(double number);
/// Three significant digits without an exponent: "0.0123", "1.23", "123", "12346".
std::string significant(double number);
/// "83.4 %".
std::string percent(double fraction);
/// A bar of `width` columns, filled up to `fraction`.
std::string bar(double fraction, int width);

/// Columns of a terminal that UTF-8 text takes, at one per code point.
int display_width(std::string_view text);
/// The first `columns` columns of UTF-8 text.
std::string cut(const std::string& text, int columns);
/// Breaks text at spaces into lines of at most `width` columns, each but the first indented by
/// `indent`. A longer word has a line of its own.
std::string wrapped(std::string_view text, int width, int indent = 0);

}  // namespace hone::inline v0_1::text
