#include "tuner/replay/formats/ktt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/replay/formats/json_slices.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double shortest_time = 1e-15;  // seconds; less than light needs for a micrometre
constexpr double longest_time = 1e9;     // thirty years
constexpr std::size_t longest_ktt_text = 1 << 16;

struct ResultStatus {
    std::string_view word;
    Status status;
};
constexpr std::array<ResultStatus, 5> statuses{{{"Ok", Status::measured},
                                                {"CompilationFailed", Status::compile_failed},
                                                {"ComputationFailed", Status::launch_failed},
                                                {"DeviceLimitsExceeded", Status::launch_failed},
                                                {"ValidationFailed", Status::wrong}}};

// A result as any of the formats has it.
struct KttResult {
    std::vector<std::pair<std::string, std::string>> values;  // names, and values as JSON
    std::string status = "Ok";
    std::optional<double> duration;  // in the file's unit
};

// Makes a space of results, one after the other.
class KttRows {
  public:
    explicit KttRows(std::string file) : file_(std::move(file)) {}

    void add(const KttResult& result, double per_second, const std::string& where) {
        if (!rows_) {
            std::vector<std::string> names;
            for (const auto& [name, value] : result.values) names.push_back(name);
            rows_.emplace(std::move(names));
        }
        const std::vector<std::string> written = in_order(result, where);
        if (!known_.insert(written).second) return;
        const auto* status = std::find_if(statuses.begin(), statuses.end(), [&](const ResultStatus& row) { return row.word == result.status; });
        if (status == statuses.end())
            throw Error(where, fmt::format("the status is {}", json_string(result.status.substr(0, 40))), "KTT has Ok and kinds of failures");
        Outcome outcome = failure(status->status, result.status);
        double seconds = std::numeric_limits<double>::infinity();
        if (status->status == Status::measured) {
            seconds = result.duration.value_or(0) / per_second;
            if (!(seconds >= shortest_time && seconds <= longest_time))
                throw Error(where, "it has no duration, or one that cannot be", "a result that is Ok has a duration above 0");
            outcome = measurement(seconds, {});
        }
        rows_->add(written, seconds, outcome, where);
    }

    RecordedSpace space(RecordedTitle title) {
        if (!rows_) throw EmptySpaceError(file_, "there are no results", "there is nothing to search");
        std::vector<RecordedParameter> parameters = rows_->parameters();
        check_product(parameters, file_);
        RecordedColumns columns = (*std::move(rows_)).columns(parameters);
        title.objective = "time";
        return {std::move(title), std::move(parameters), std::move(columns)};
    }

  private:
    std::vector<std::string> in_order(const KttResult& result, const std::string& where) const {
        std::vector<std::string> written;
        for (const std::string& name : rows_->names())
            for (const auto& [own, value] : result.values)
                if (own == name) written.push_back(value);
        if (written.size() != rows_->names().size() || written.size() != result.values.size())
            throw Error(where, "it has other parameters than the first result", "every configuration has the same");
        return written;
    }

    std::string file_;
    std::optional<RecordedRows> rows_;
    std::set<std::vector<std::string>> known_;
};

double unit_of(const std::string& name, const std::string& where) {
    const auto count = units_per_second(name);
    if (!count)
        throw Error(where, fmt::format("the unit of time is {}", json_string(name.substr(0, 40))),
                    "use nanoseconds, microseconds, milliseconds or seconds");
    return *count;
}

KttResult result_of(const JsonPlace& place) {
    KttResult result;
    const JsonPlace configuration = place["Configuration"];
    for (std::size_t i = 0; i < configuration.elements(); ++i)
        result.values.emplace_back(configuration[i]["Name"].string(longest_ktt_text), written_value(configuration[i]["Value"]));
    result.status = place["Status"].string(longest_ktt_text);
    if (result.status == "Ok") result.duration = place["TotalDuration"].number(0, longest_time * 1e9);
    return result;
}

// The tags of a file one after the other: names, and attributes without entities.
class XmlTags {
  public:
    XmlTags(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

    bool next() {
        while (true) {
            go_to(text_.find('<', at_));
            if (at_ == text_.size()) return false;
            if (text_.substr(at_).starts_with("<!--"))
                skip_behind("-->");
            else if (text_.substr(at_).starts_with("<?") || text_.substr(at_).starts_with("<!"))
                skip_behind(">");
            else
                break;
        }
        ++at_;
        closing_ = at_ < text_.size() && text_[at_] == '/';
        if (closing_) ++at_;
        name_ = word();
        attributes_.clear();
        while (true) {
            skip_space();
            if (at_ == text_.size()) fail("a tag does not end");
            if (text_[at_] == '>') break;
            if (text_[at_] == '/') {
                ++at_;
                continue;
            }
            read_attribute();
        }
        ++at_;
        return true;
    }

    bool closing() const { return closing_; }
    const std::string& name() const { return name_; }
    std::string where() const { return fmt::format("{}:{}", file_, line_); }
    const std::string* find(const std::string& attribute) const {
        const auto found = attributes_.find(attribute);
        return found == attributes_.end() ? nullptr : &found->second;
    }
    const std::string& attribute(const std::string& name) const {
        if (const std::string* const found = find(name)) return *found;
        fail(fmt::format("{} has no {}", name_, name));
    }
    [[noreturn]] void fail(const std::string& found) const { throw Error(where(), found, "restore the file from a copy, or save it as JSON"); }

  private:
    void go_to(std::size_t end) {
        end = std::min(end, text_.size());
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end;
    }
    void skip_behind(std::string_view end) {
        const std::size_t found = text_.find(end, at_);
        if (found == std::string_view::npos) fail("a comment does not end");
        go_to(found + end.size());
    }
    void skip_space() { go_to(text_.find_first_not_of(" \t\r\n", at_)); }
    std::string word() {
        const std::size_t begin = at_;
        at_ = std::min(text_.find_first_of(" \t\r\n=/><\"'", at_), text_.size());
        if (at_ == begin || at_ - begin > longest_ktt_text) fail("a name is missing");
        return std::string(text_.substr(begin, at_ - begin));
    }
    void read_attribute() {
        const std::string name = word();
        skip_space();
        if (at_ == text_.size() || text_[at_] != '=') fail(fmt::format("an attribute of {} has no value", name_));
        ++at_;
        skip_space();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        const std::size_t end = quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
        if (end == std::string_view::npos || end - at_ > longest_ktt_text) fail(fmt::format("an attribute of {} has no value", name_));
        attributes_[name] = plain(text_.substr(at_ + 1, end - at_ - 1));
        go_to(end + 1);
    }
    static std::string plain(std::string_view text) {
        constexpr std::array<std::pair<std::string_view, char>, 5> entities{
            {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
        std::string result;
        while (!text.empty()) {
            const auto* found = std::find_if(entities.begin(), entities.end(), [&](const auto& entity) { return text.starts_with(entity.first); });
            result += found == entities.end() ? text.front() : found->second;
            text.remove_prefix(found == entities.end() ? 1 : found->first.size());
        }
        return result;
    }

    std::string_view text_;
    std::string file_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool closing_ = false;
    std::string name_;
    std::map<std::string, std::string> attributes_;
};

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// Cells of a line between commas. KTT puts none in quotation marks.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (true) {
        const std::size_t comma = line.find(',');
        cells.emplace_back(line.substr(0, comma));
        if (comma == std::string_view::npos) break;
        line.remove_prefix(comma + 1);
    }
    if (cells.size() > 1 && cells.back().empty()) cells.pop_back();
    return cells;
}

// What the columns of a file are.
struct CsvColumns {
    std::vector<std::pair<std::size_t, std::string>> parameters;
    std::optional<std::size_t> duration, status, kernel;
    std::string unit;
    std::size_t count = 0;

    explicit CsvColumns(const std::vector<std::string>& names) : count(names.size()) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string& name = names[i];
            const std::size_t bracket = name.find('(');
            if (!duration && name.find("duration (") != std::string::npos && name.ends_with(')')) {
                duration = i;
                unit = name.substr(bracket + 1, name.size() - bracket - 2);
            } else if (name == "Status") {
                status = i;
            } else if (name == "Kernel name") {
                kernel = i;
            } else if (name.find(' ') == std::string::npos && !name.empty() && std::islower(static_cast<unsigned char>(name[0])) == 0) {
                parameters.emplace_back(i, name);
            }
        }
    }
};

}  // namespace

bool is_ktt_json(std::string_view text) {
    if (text.find("\"Results\"") == std::string_view::npos) return false;
    try {
        JsonSlices members(text, "", '{', 1);
        while (members.next(true))
            if (members.name() == "Results") return true;
    } catch (const Error&) {
        return false;  // whoever reads it says what is wrong
    }
    return false;
}

bool is_ktt_xml(std::string_view text) {
    return text.starts_with('<') && text.substr(0, longest_ktt_text).find("<TuningData") != std::string_view::npos;
}

bool is_ktt_csv(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.starts_with("Kernel name,") && line.find("duration (") != std::string_view::npos;
}

RecordedSpace parse_ktt_json(std::string_view text, const std::string& file, const std::string& name) {
    JsonSlices members(text, file, '{', 1);
    RecordedTitle title{.name = name};
    std::string_view results;
    int line = 1;
    double per_second = 0;
    while (members.next()) {
        if (members.name() == "Results") {
            results = members.text();
            line = members.line();
        } else if (members.name() == "Metadata") {
            const JsonNode node = parse_json(members.text(), file, members.line());
            const JsonPlace metadata(node, file, "Metadata");
            per_second = unit_of(metadata["TimeUnit"].string(longest_ktt_text), metadata["TimeUnit"].where());
            if (const auto device = metadata.find("Device")) title.device = device->string(longest_ktt_text);
        }
    }
    if (members.cut()) throw Error(file, "it ends before its closing brace", "restore it from a copy");
    if (per_second == 0) throw Error(file, "it has no Metadata", "KTT's files say there in which unit times are");
    KttRows rows(file);
    JsonSlices elements(results, file, '[', line);
    for (std::size_t i = 0; elements.next(); ++i) {
        const JsonNode node = parse_json(elements.text(), file, elements.line());
        const JsonPlace result(node, file, fmt::format("Results[{}]", i));
        if (title.kernel.empty()) title.kernel = result["KernelName"].string(longest_ktt_text);
        rows.add(result_of(result), per_second, result.where());
    }
    return rows.space(std::move(title));
}

RecordedSpace parse_ktt_xml(std::string_view text, const std::string& file, const std::string& name) {
    XmlTags tags(text, file);
    RecordedTitle title{.name = name};
    KttRows rows(file);
    std::optional<KttResult> result;
    std::string where;
    double per_second = 0;
    bool ended = false;
    while (tags.next()) {
        if (tags.name() == "TuningData" && tags.closing()) {
            ended = true;
        } else if (tags.name() == "Metadata" && !tags.closing()) {
            per_second = unit_of(tags.attribute("TimeUnit"), tags.where());
            if (const std::string* const device = tags.find("Device")) title.device = *device;
        } else if (tags.name() == "KernelResult" && !tags.closing()) {
            result.emplace();
            where = tags.where();
            result->status = tags.attribute("Status");
            result->duration = number_of(tags.attribute("TotalDuration"));
            if (title.kernel.empty()) title.kernel = tags.attribute("KernelName");
        } else if (tags.name() == "Pair" && !tags.closing() && result) {
            result->values.emplace_back(tags.attribute("Name"), written_of(tags.attribute("Value")));
        } else if (tags.name() == "KernelResult" && result) {
            if (per_second == 0) tags.fail("a result comes before the metadata");
            rows.add(*result, per_second, where);
            result.reset();
        }
    }
    if (!ended) tags.fail("the file ends before </TuningData>");
    return rows.space(std::move(title));
}

RecordedSpace parse_ktt_csv(std::string_view text, const std::string& file, const std::string& name) {
    RecordedTitle title{.name = name};
    KttRows rows(file);
    std::optional<CsvColumns> columns;
    double per_second = 1;
    for (int line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::vector<std::string> cells = cells_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string where = fmt::format("{}:{}", file, line);
        if (cells.size() == 1 && cells[0].empty()) continue;
        if (!columns) {
            columns.emplace(cells);
            if (!columns->duration) throw Error(where, "there is no duration", "a column of times says its unit: Computation duration (us)");
            if (columns->parameters.empty())
                throw Error(where, "there are no parameters", "their columns have names that begin with a capital letter");
            per_second = unit_of(columns->unit, where);
            continue;
        }
        if (cells.size() != columns->count)
            throw Error(where, fmt::format("there are {} cells, the first line has {}", cells.size(), columns->count),
                        "restore the file from a copy");
        KttResult result;
        for (const auto& [column, parameter] : columns->parameters) result.values.emplace_back(parameter, written_of(cells[column]));
        result.duration = number_of(cells[*columns->duration]);
        if (columns->status) result.status = cells[*columns->status];
        if (!columns->status && !result.duration) result.status = "ComputationFailed";
        if (columns->kernel && title.kernel.empty()) title.kernel = cells[*columns->kernel];
        rows.add(result, per_second, where);
    }
    return rows.space(std::move(title));
}

}  // namespace hone::inline v0_1
