#include "tools/records/record_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "foundation/error.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/record_table.hpp"

namespace hone::tools {
namespace {

constexpr double unsure = 0.02;
// With whom a step is shared makes a wide column of one that is mostly empty.
std::string brief_remark(const Record& record) {
    const std::string text = remark(record);
    return text.substr(0, text.find(" with "));
}

constexpr int bar_width = 10;
constexpr int remarks_rank = 3;
constexpr int gap = 2;

std::string measured(double value, const std::string& text) {
    return value > 0 ? text : "-";
}

std::string step_text(const Record& record) {
    const double half = uncertainty(record.step);
    return duration(record.step.median) + (half > 0 ? fmt::format(" ±{:.1f} %", 100 * half) : "");
}

std::string ceiling_text(const Record& record) {
    return measured(record.ceiling_fraction, percent(record.ceiling_fraction) + " " + record.ceiling);
}

// Near the ceiling there is little left to find; below two thirds there may be a better kernel.
Style ceiling_style(const Record& record) {
    constexpr double near = 0.9;
    constexpr double far = 2.0 / 3;
    if (record.ceiling_fraction <= 0) return Style::faint;
    return record.ceiling_fraction >= near ? Style::good : record.ceiling_fraction >= far ? Style::fair : Style::poor;
}

const std::array<RecordColumn, 17>& columns() {
    static const std::array<RecordColumn, 17> all{
        {{"step", "step", "median time of a time step, with half its 95 % confidence interval", 1, step_text},
         {"ceiling", "of ceiling", "part of the device's measured ceiling, and which one binds", 2, ceiling_text, ceiling_style},
         {"bar", "", "a bar of the part of the ceiling", 6,
          [](const Record& record) { return record.ceiling_fraction > 0 ? bar(record.ceiling_fraction, bar_width) : ""; }, ceiling_style, true},
         {"gain", "gain", "times as fast as the untuned safe configuration", 4,
          [](const Record& record) { return measured(gain(record), fmt::format("{:.2f}x", gain(record))); }},
         {"rate", "rate", "updates, elements, ... per second; their name stands above the column", 5,
          [](const Record& record) { return significant(record.gigaupdates_per_second()); }},
         {"bandwidth", "GB/s", "compulsory bytes per second", 7, [](const Record& record) { return significant(record.gigabytes_per_second()); }},
         {"flops", "GFLOP/s", "operations per second", 8, [](const Record& record) { return significant(record.gigaflops()); }},
         {"energy", "J", "joules of a time step", 9,
          [](const Record& record) { return record.energy ? significant(record.energy->joules.median) : ""; }},
         {"power", "W", "mean power in watts", 10, [](const Record& record) { return record.energy ? significant(record.energy->watts) : ""; }},
         {"remarks", "remarks", "what to know before trusting it", remarks_rank, brief_remark, [](const Record&) { return Style::fair; }, true},
         {"safe", "safe", "time of a step of the safe configuration", 0,
          [](const Record& record) { return measured(record.safe_seconds, duration(record.safe_seconds)); }},
         {"date", "date", "day of the measurement, UTC", 0, [](const Record& record) { return record.date.substr(0, 10); }, nullptr, true},
         {"version", "hone", "version of hone that measured it", 0, [](const Record& record) { return record.versions.hone; }, nullptr, true},
         {"strategy", "strategy", "how it was searched", 0, [](const Record& record) { return record.strategy; }, nullptr, true},
         {"evaluations", "evaluations", "candidates that were evaluated", 0, [](const Record& record) { return std::to_string(record.evaluations); }},
         {"samples", "samples", "time steps, or means of several, behind the median", 0,
          [](const Record& record) { return fmt::format("{}", record.step.samples); }},
         {"configuration", "configuration", "the winner", 0, [](const Record& record) { return record.config.key(); }, nullptr, true}}};
    return all;
}

// On one line, without what a terminal would act upon: then its width is known.
std::string cell(const std::string& text) {
    std::string line = printable_text(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return line;
}

std::string spaces(int count) {
    return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

struct Cell {
    std::string text;
    Style style = Style::plain;
};

struct Column {
    std::string title;
    bool left = true;
    int rank = 0;  // 0: never left out
    std::vector<Cell> cells;
    int width = 0;
    bool unit = false;  // the title is the cells' unit
};

// The records of one family.
class Group {
  public:
    Group(std::vector<const Record*> records, const RecordListing& how) : records_(std::move(records)), how_(how) {
        divide_parameters();
        add_figures();
    }

    /// The parts of the group whose problems also share the parameter that makes the fewest parts,
    /// where only these leave room for what a reader looks for first: time, nearness to the ceiling
    /// and gain. None where the group has room for them, or the parts would be too small to be
    /// tables.
    std::vector<std::vector<const Record*>> parts() const {
        constexpr std::size_t least = 3;  // problems of a part, on the mean
        if (how_.width <= 0 || !how_.divisible || has_room()) return {};
        const Column* best = nullptr;
        std::size_t fewest = 0;
        for (const Column& column : parameters_) {
            std::set<std::string> values;
            for (const Cell& value : column.cells) values.insert(value.text);
            if (values.size() * least > records_.size()) continue;
            if (best != nullptr && (values.size() > fewest || (values.size() == fewest && column.width <= best->width))) continue;
            best = &column;
            fewest = values.size();
        }
        std::vector<std::vector<const Record*>> found;
        if (best == nullptr) return found;
        std::map<std::string, std::size_t> places;
        for (std::size_t i = 0; i < records_.size(); ++i) {
            const auto [place, is_new] = places.emplace(best->cells[i].text, found.size());
            if (is_new) found.emplace_back();
            found[place->second].push_back(records_[i]);
        }
        return found;
    }

    void print(Console& console) const {
        console.styled(Style::strong, wrapped(heading(), line_width(), 4));
        console.print("\n");
        if (fits()) {
            print_table(console);
        } else {
            print_stacked(console);
        }
        console.print("\n");
    }

  private:
    int line_width() const { return how_.width > 0 ? std::max(how_.width, 20) : 1 << 20; }

    // Parameters of equal value in all problems are said once; sizes that nobody chose, not at all.
    void divide_parameters() {
        std::vector<std::string> names;
        std::map<std::string, std::vector<std::string>> values;
        for (std::size_t i = 0; i < records_.size(); ++i) {
            const std::string told = short_key(records_[i]->problem, known_families());
            for (const Assignment& assignment : records_[i]->problem.parameters()) {
                auto& column = values[assignment.name];
                if (column.empty()) names.push_back(assignment.name);
                column.resize(records_.size(), "-");
                column[i] = cell(to_string(assignment.value));
                if ((told + " ").find(" " + assignment.name + "=") == std::string::npos) column[i].clear();
            }
        }
        for (const std::string& name : names) {
            const auto& column = values[name];
            if (std::any_of(column.begin(), column.end(), [&](const std::string& value) { return value != column.front(); })) {
                parameters_.push_back(column_of(cell(name), column));
            } else if (!column.front().empty()) {
                shared_ += " " + cell(name) + "=" + column.front();
            }
        }
    }

    static Column column_of(const std::string& title, const std::vector<std::string>& values) {
        Column column{title, false, 0, {}, display_width(title)};
        for (const std::string& value : values) {
            column.left = column.left || std::holds_alternative<std::string>(parse_value(value));
            column.cells.push_back({value});
            column.width = std::max(column.width, display_width(value));
        }
        return column;
    }

    void add_figures() {
        std::vector<const RecordColumn*> wanted = how_.columns;
        const bool chosen = !wanted.empty();
        if (!chosen)
            for (const RecordColumn& column : columns())
                if (column.rank > 0 && (column.name != "bar" || how_.bars)) wanted.push_back(&column);
        for (const RecordColumn* column : wanted) add_figure(*column, chosen);
        while (!chosen && !fits() && !figures_.empty()) {
            const auto last = std::max_element(figures_.begin(), figures_.end(), [](const Column& a, const Column& b) { return a.rank < b.rank; });
            if (last->rank <= 1) break;
            figures_.erase(last);
        }
        // The problem above its figures leaves these the whole width.
        if (!fits() && !chosen) {
            figures_.clear();
            for (const RecordColumn* column : wanted)
                if (column->rank <= 5) add_figure(*column, chosen);
        }
    }

    void add_figure(const RecordColumn& figure, bool always) {
        const std::string unit = records_.front()->counts.unit;
        Column column{figure.name == "rate" ? cell("G " + unit + "/s") : figure.title, figure.left, figure.rank, {}, 0};
        column.unit =
            figure.name == "rate" || figure.name == "bandwidth" || figure.name == "flops" || figure.name == "energy" || figure.name == "power";
        bool any = always;
        for (const Record* record : records_) {
            column.cells.push_back({cell(figure.text(*record)), figure.style != nullptr ? figure.style(*record) : Style::plain});
            column.width = std::max(column.width, display_width(column.cells.back().text));
            any = any || column.width > 0;
        }
        column.width = std::max(column.width, display_width(column.title));
        if (any) figures_.push_back(std::move(column));
    }

    // For all figures that were asked for, else for the first three in the order of their ranks.
    bool has_room() const {
        if (!how_.columns.empty()) return fits();
        int width = 0;
        for (const Column& column : parameters_) width += gap + column.width;
        for (const RecordColumn& figure : columns()) {
            if (figure.rank == 0 || figure.rank > 4 || figure.rank == remarks_rank) continue;
            int widest = display_width(figure.title);
            for (const Record* record : records_) widest = std::max(widest, display_width(cell(figure.text(*record))));
            width += gap + widest;
        }
        return width <= line_width();
    }

    std::string heading() const { return cell(records_.front()->problem.family()) + shared_; }

    bool fits() const {
        int width = 0;
        for (const auto* list : {&parameters_, &figures_})
            for (const Column& column : *list) width += gap + column.width;
        return width <= line_width();
    }

    template <typename Text>
    void print_line(Console& console, const Text& text_of) const {
        int owed = 0;  // spaces, so that no line ends with some
        for (const auto* list : {&parameters_, &figures_})
            for (const Column& column : *list) {
                const Cell& cell = text_of(column);
                const int padding = column.width - display_width(cell.text);
                owed += gap + (column.left ? 0 : padding);
                if (!cell.text.empty()) {
                    console.print("{}", spaces(owed));
                    console.styled(cell.style, cell.text);
                    owed = 0;
                }
                owed += column.left ? padding : 0;
            }
        console.print("\n");
    }

    void print_table(Console& console) const {
        Cell title;
        print_line(console, [&](const Column& column) -> const Cell& { return title = {column.title, Style::faint}; });
        for (std::size_t i = 0; i < records_.size(); ++i) {
            print_line(console, [&](const Column& column) -> const Cell& { return column.cells[i]; });
            print_details(console, *records_[i]);
        }
    }

    void print_stacked(Console& console) const {
        for (std::size_t i = 0; i < records_.size(); ++i) {
            std::string problem;
            for (const Column& column : parameters_)
                if (!column.cells[i].text.empty()) problem += (problem.empty() ? "" : " ") + column.title + "=" + column.cells[i].text;
            if (!problem.empty()) console.print("  {}\n", wrapped(problem, line_width(), 2));
            std::string figures;
            for (const Column& column : figures_)
                if (!column.cells[i].text.empty() && column.cells[i].text != "-")
                    figures += (figures.empty() ? "" : ", ") + column.cells[i].text + (column.unit ? " " + column.title : "");
            console.print("    {}\n", wrapped(figures, line_width(), 4));
            print_details(console, *records_[i]);
        }
    }

    void print_details(Console& console, const Record& record) const {
        if (!how_.verbose) return;
        std::vector<std::string> lines{record.config.key(), exchange_line(record), energy_line(record),
                                       doubt(record),       found_line(record),    conditions_line(record)};
        for (const std::string& line : lines)
            if (!line.empty()) console.print("{}\n", fitted(spaces(6) + cell(line), how_.width));
    }

    std::vector<const Record*> records_;
    const RecordListing& how_;
    std::string shared_;
    std::vector<Column> parameters_;
    std::vector<Column> figures_;
};

void print_group(const std::vector<const Record*>& records, const RecordListing& how, Console& console) {
    const Group group(records, how);
    const auto parts = group.parts();
    for (const auto& part : parts) print_group(part, how, console);
    if (parts.empty()) group.print(console);
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string csv_number(double number) {
    return number > 0 ? fmt::format("{}", number) : "";
}

}  // namespace

std::span<const RecordColumn> record_columns() {
    return columns();
}

std::vector<const RecordColumn*> find_columns(const std::string& list) {
    std::vector<std::string> names;
    for (const RecordColumn& column : columns()) names.push_back(column.name);
    std::vector<const RecordColumn*> found;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, end - begin);
        const auto column = std::find_if(columns().begin(), columns().end(), [&](const RecordColumn& one) { return one.name == name; });
        if (column == columns().end())
            throw Error("--columns", fmt::format("there is no column \"{}\"", name),
                        did_you_mean(name, names) + fmt::format("use some of {}, with commas between them", fmt::join(names, ", ")));
        found.push_back(&*column);
        begin = end + 1;
    }
    return found;
}

void list_records(const std::vector<Record>& records, const RecordListing& how, Console& console) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Record*>> groups;
    for (const Record& record : records) {
        auto& group = groups[record.problem.family()];
        if (group.empty()) order.push_back(record.problem.family());
        group.push_back(&record);
    }
    for (const std::string& family : order) print_group(groups[family], how, console);
}

double uncertainty(const Statistics& statistics) {
    return statistics.median > 0 ? std::max(0.0, (statistics.high - statistics.low) / 2 / statistics.median) : 0;
}

std::string remark(const Record& record, std::chrono::system_clock::time_point today) {
    constexpr auto year = std::chrono::hours(24 * 365);
    std::string text;
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
    if (!record.verified()) add(record.wrong.empty() ? "not verified" : "wrong");
    if (!record.verified_on.empty()) add("verified smaller");
    if (!doubt(record).empty()) add(record.disturbed.empty() ? "disturbed?" : "disturbed");
    if (!record.conditions.busy.empty()) add("busy");
    if (uncertainty(record.step) > unsure) add("unsure");
    if (record.date < utc_date(today - year) || is_older_version(record.versions.hone, HONE_VERSION)) add("old");
    if (record.hybrid) {
        add("shared with " + device_key(record.hybrid->partner));
    } else if (record.exchange) {
        add(fmt::format("{} of {} ranks", record.exchange->program, record.exchange->ranks));
    } else if (!record.purpose.empty()) {
        add("for " + record.purpose);
    }
    return text;
}

std::string records_csv(const std::vector<Record>& records) {
    std::string text =
        "device,family,problem,purpose,configuration,step_seconds,step_low,step_high,samples,gigaupdates_per_second,unit,gigabytes_per_second,"
        "gigaflops,"
        "ceiling_fraction,ceiling,gain,safe_seconds,joules,watts,strategy,evaluations,date,hone,remarks\n";
    for (const Record& record : records) {
        const std::vector<std::string> fields{record.device.name,
                                              record.problem.family(),
                                              record.problem.key(),
                                              record.purpose,
                                              record.config.key(),
                                              csv_number(record.step.median),
                                              csv_number(record.step.low),
                                              csv_number(record.step.high),
                                              fmt::format("{}", record.step.samples),
                                              csv_number(record.gigaupdates_per_second()),
                                              record.counts.unit,
                                              csv_number(record.gigabytes_per_second()),
                                              csv_number(record.gigaflops()),
                                              csv_number(record.ceiling_fraction),
                                              record.ceiling,
                                              csv_number(gain(record)),
                                              csv_number(record.safe_seconds),
                                              record.energy ? csv_number(record.energy->joules.median) : "",
                                              record.energy ? csv_number(record.energy->watts) : "",
                                              record.strategy,
                                              fmt::format("{}", record.evaluations),
                                              record.date,
                                              record.versions.hone,
                                              remark(record)};
        for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(cell(fields[i]));
        text += "\n";
    }
    return text;
}

}  // namespace hone::tools
