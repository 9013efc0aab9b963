#include "tools/records/rival_table.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "tools/console/csv.hpp"
#include "tools/console/problem_words.hpp"

namespace hone::tools {
namespace {

std::string problem_in(const std::string& name, const Families& families) {
    try {
        return short_key(families.parse_problem(name.substr(name.rfind('/') + 1)), families);
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

std::vector<Rival> rivals_in(const std::string& text, const std::string& where, const Families& families) {
    constexpr const char* remedy = "give the whole of a table that 'benchmark_report table' made";
    const CsvTable table = read_csv(text, where, remedy);
    const std::size_t name = table.column("name");
    const std::size_t rival_time = table.column("rival_ns/");
    const std::size_t own_time = table.column("ns/");
    if (!table.header.empty() && (name == table.header.size() || rival_time == table.header.size()))
        throw Error(where, "it has no columns \"name\" and \"rival_ns/...\"", remedy);
    const auto seconds = [&](std::size_t row, std::size_t column) { return table.number(row, column, "time in nanoseconds") * 1e-9; };
    std::vector<Rival> rivals;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        // Empty fields are of rows without a rival.
        Rival rival{problem_in(table.rows[row][name], families), seconds(row, rival_time)};
        if (own_time < table.header.size()) rival.ours = seconds(row, own_time);
        if (!rival.problem.empty() && rival.seconds > 0) rivals.push_back(std::move(rival));
    }
    return rivals;
}

}  // namespace hone::tools
