#include "tuner/replay/formats/space_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t longest_text = 1 << 16;
constexpr double shortest_time = 1e-15;  // seconds; less than light needs for a micrometre
constexpr double longest_time = 1e9;     // thirty years
constexpr std::int64_t most = std::int64_t{1} << 62;
constexpr std::string_view begin = "{\"hone_space\"";

struct Header {
    RecordedTitle title;
    std::vector<RecordedParameter> parameters;
    std::vector<Outcome> failures;
    std::int64_t configurations = 0;
};

Header read_header(std::string_view line, const std::string& file) {
    const JsonNode node = parse_json(line, file);
    const JsonPlace place(node, file);
    place.only({"hone_space", "kernel", "device", "problem_size", "objective", "cut", "chosen_by", "only", "members", "parameters", "failures",
                "configurations"});
    (void)place["hone_space"].integer(1, 1);
    Header header;
    RecordedTitle& title = header.title;
    title.kernel = place["kernel"].string(longest_text);
    title.device = place["device"].string(longest_text);
    if (const JsonPlace size = place["problem_size"]; !size.is_null()) title.problem_size = write_json(size.node());
    title.objective = place["objective"].string(longest_text);
    title.cut = place["cut"].node().text == "true";
    title.chosen_by = place["chosen_by"].string(longest_text);
    title.only = place["only"].string(longest_text);
    title.members = place["members"].integer(0, most);
    const JsonPlace parameters = place["parameters"];
    for (const auto& member : parameters.members()) {
        RecordedParameter parameter{member.name, {}};
        const JsonPlace values = parameters[member.name];
        for (std::size_t i = 0; i < values.elements(); ++i) parameter.written.push_back(written_value(values[i]));
        header.parameters.push_back(std::move(parameter));
    }
    check_product(header.parameters, file);
    const JsonPlace failures = place["failures"];
    for (std::size_t i = 0; i < failures.elements(); ++i) {
        const JsonPlace failed = failures[i];
        if (failed.elements() != 2) failed.fail("is not a failure", "it has a status and a reason");
        const Status status = parse_status(failed[0].string(longest_text));
        if (status == Status::measured) failed.fail("is not a failure", "measured is none");
        header.failures.push_back(failure(status, failed[1].string(longest_text)));
    }
    header.configurations = place["configurations"].integer(1, most);
    return header;
}

// One line, number by number.
class Line {
  public:
    Line(std::string_view text, const std::string& file, std::int64_t number) : text_(text), file_(&file), number_(number) {}

    bool at_end() const { return text_.empty(); }
    bool skip(char c) {
        if (!text_.starts_with(c)) return false;
        text_.remove_prefix(1);
        return true;
    }
    template <typename Number>
    Number number(Number low, Number high) {
        Number value = 0;
        const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        const auto length = static_cast<std::size_t>(end - text_.data());
        if (status != std::errc{} || !(value >= low && value <= high) || (length < text_.size() && text_[length] != ' '))
            fail(fmt::format("\"{}\" does not begin with a number from {} to {}", text_.substr(0, 40), low, high));
        text_.remove_prefix(std::min(text_.size(), length + 1));
        return value;
    }
    [[noreturn]] void fail(const std::string& found) const {
        throw Error(fmt::format("{}:{}", *file_, number_), found, "a line has an index, ascending, and seconds or the number of a failure");
    }

  private:
    std::string_view text_;
    const std::string* file_;
    std::int64_t number_;
};

std::int64_t product_of(const std::vector<RecordedParameter>& parameters) {
    std::int64_t product = 1;
    for (const auto& parameter : parameters) product *= static_cast<std::int64_t>(parameter.written.size());
    return product;
}

void read_line(Line line, const Header& header, std::int64_t product, RecordedColumns& columns) {
    const auto index = line.number<std::int64_t>(columns.size() == 0 ? 0 : columns.indices.back() + 1, product - 1);
    if (line.skip('!')) {
        const auto which = line.number<std::int64_t>(0, std::ssize(header.failures) - 1);
        columns.add(index, std::numeric_limits<double>::infinity(), header.failures[static_cast<std::size_t>(which)]);
    } else {
        const double seconds = line.number(shortest_time, longest_time);
        std::vector<double> samples;
        while (!line.at_end()) samples.push_back(line.number(0.0, longest_time));
        columns.add(index, seconds, measurement(seconds, std::move(samples)));
    }
    if (!line.at_end()) line.fail("something follows");
}

std::string header_text(const RecordedSpace& recorded, const std::vector<std::pair<Status, std::string>>& failures) {
    const RecordedTitle& title = recorded.title();
    std::string parameters;
    for (const auto& [name, written] : recorded.parameters())
        parameters += fmt::format("{}{}: [{}]", parameters.empty() ? "" : ", ", json_string(name), fmt::join(written, ", "));
    std::string reasons;
    for (const auto& [status, reason] : failures)
        reasons += fmt::format("{}[{}, {}]", reasons.empty() ? "" : ", ", json_string(to_string(status)), json_string(reason));
    return fmt::format(
        "{}: 1, \"kernel\": {}, \"device\": {}, \"problem_size\": {}, \"objective\": {}, \"cut\": {}, \"chosen_by\": {}, \"only\": {}, "
        "\"members\": {}, \"parameters\": {{{}}}, \"failures\": [{}], \"configurations\": {}}}\n",
        begin, json_string(title.kernel), json_string(title.device), title.problem_size.empty() ? "null" : title.problem_size,
        json_string(title.objective), title.cut, json_string(title.chosen_by), json_string(title.only), title.members, parameters, reasons,
        recorded.members().size());
}

}  // namespace

bool is_space_file(std::string_view text) {
    return text.starts_with(begin);
}

RecordedSpace parse_space_file(std::string_view text, const std::string& file, const std::string& name) {
    std::size_t end = std::min(text.find('\n'), text.size());
    Header header = read_header(text.substr(0, end), file);
    header.title.name = name;
    const std::int64_t product = product_of(header.parameters);
    RecordedColumns columns;
    for (std::int64_t number = 2; end + 1 < text.size(); ++number) {
        text.remove_prefix(end + 1);
        end = std::min(text.find('\n'), text.size());
        read_line({text.substr(0, end), file, number}, header, product, columns);
    }
    if (static_cast<std::int64_t>(columns.size()) != header.configurations)
        throw Error(file, fmt::format("it has {} of {} configurations", columns.size(), header.configurations), "restore it from a copy");
    return {std::move(header.title), std::move(header.parameters), std::move(columns)};
}

std::string space_file_text(const RecordedSpace& recorded) {
    std::vector<std::pair<Status, std::string>> failures;
    std::string lines;
    for (const std::int64_t index : recorded.members()) {
        const RecordedConfiguration configuration = recorded.at(index);
        const Outcome& outcome = configuration.outcome;
        if (!outcome.measured()) {
            const std::pair kind(outcome.status, outcome.reason);
            const auto found = std::find(failures.begin(), failures.end(), kind);
            fmt::format_to(std::back_inserter(lines), "{} !{}\n", index, found - failures.begin());
            if (found == failures.end()) failures.push_back(kind);
            continue;
        }
        fmt::format_to(std::back_inserter(lines), "{} {}", index, configuration.cost);
        if (outcome.samples != std::vector{configuration.cost})
            for (const double sample : outcome.samples) fmt::format_to(std::back_inserter(lines), " {}", sample);
        lines += '\n';
    }
    return header_text(recorded, failures) + lines;
}

}  // namespace hone::inline v0_1
