#include "tools/rival_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "generator/error.hpp"
#include "tools/problem_words.hpp"

namespace hone::tools {
namespace {

using Fields = std::vector<std::string>;

// Quoted fields may hold commas and, doubled, quotes; not the end of a line, which no table of ours has.
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

std::size_t column(const Fields& header, const std::string& start) {
    return static_cast<std::size_t>(std::find_if(header.begin(), header.end(), [&](const std::string& name) { return name.starts_with(start); }) -
                                    header.begin());
}

// Empty fields are of rows without a rival.
double seconds_in(const std::string& nanoseconds, const std::string& place) {
    if (nanoseconds.empty()) return 0;
    char* end = nullptr;
    const double value = std::strtod(nanoseconds.c_str(), &end);
    if (*end != '\0' || !std::isfinite(value) || value < 0)
        throw Error(place, fmt::format("\"{}\" is no time in nanoseconds", nanoseconds), "give a table that 'benchmark_report table' made");
    return value * 1e-9;
}

std::string problem_in(const std::string& name, const Families& families) {
    try {
        return short_key(families.parse_problem(name.substr(name.rfind('/') + 1)), families);
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

std::vector<Rival> rivals_in(const std::string& text, const std::string& where, const Families& families) {
    std::vector<Rival> rivals;
    Fields header;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const Fields fields = fields_of(text.substr(begin, end - begin));
        const std::string place = fmt::format("{}, line {}", where, ++number);
        begin = end + 1;
        if (header.empty()) {
            header = fields;
            if (column(header, "name") == header.size() || column(header, "rival_ns/") == header.size())
                throw Error(where, "it has no columns \"name\" and \"rival_ns/...\"", "give a table that 'benchmark_report table' made");
            continue;
        }
        if (fields.size() != header.size())
            throw Error(place, fmt::format("it has {} fields, the header {}", fields.size(), header.size()), "give the whole table");
        Rival rival{problem_in(fields[column(header, "name")], families), seconds_in(fields[column(header, "rival_ns/")], place)};
        if (const std::size_t ours = column(header, "ns/"); ours < header.size()) rival.ours = seconds_in(fields[ours], place);
        if (!rival.problem.empty() && rival.seconds > 0) rivals.push_back(std::move(rival));
    }
    return rivals;
}

}  // namespace hone::tools
