#include "tools/charts/chart_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tools/charts/gnuplot.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"

namespace hone::tools {
namespace {

// Positions along an axis, from 0 to 1.
class Scale {
  public:
    explicit Scale(bool logarithmic) : logarithmic_(logarithmic) {}

    bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
    void cover(double value) {
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    double part(double value) const {
        const double span = place(high_) - place(low_);
        return span > 0 ? (place(value) - place(low_)) / span : 0.5;
    }
    double low() const { return low_; }
    double high() const { return high_; }

  private:
    double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

    bool logarithmic_;
    double low_ = std::numeric_limits<double>::infinity();
    double high_ = -std::numeric_limits<double>::infinity();
};

char letter_of(std::size_t series) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return letters[series % letters.size()];
}

std::string number(double value) {
    return fmt::format("{:.3g}", value);
}

std::string name_at(const SvgChart& chart, double value) {
    const auto place = static_cast<std::size_t>(std::max(0.0, std::round(value)));
    return place < chart.x_names.size() ? chart.x_names[place] : number(value);
}

std::string without_trailing_spaces(const std::string& text) {
    std::string trimmed;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        std::string line = text.substr(begin, end - begin);
        line.erase(line.find_last_not_of(' ') + 1);
        trimmed += line + "\n";
        begin = end + 1;
    }
    return trimmed;
}

// Each name with a bar of every series below it.
std::string bars_text(const SvgChart& chart, int columns) {
    double most = 0;
    int widest = 0;  // of the names of series
    for (const auto& series : chart.series) {
        if (series.faint) continue;
        widest = std::max(widest, display_width(series.name));
        for (const auto& point : series.points) most = std::max(most, point.y);
    }
    if (!(most > 0)) throw NothingError("chart \"" + chart.title + "\"", "there is no point to draw", "choose other results");
    constexpr int figures = 10;  // beside a bar
    const int name = std::min(widest, columns / 2);
    const int length = std::max(4, columns - name - figures);
    std::string text = cut(fmt::format("{}, {}", chart.title, chart.y_label), columns) + "\n";
    for (std::size_t i = 0; i < chart.x_names.size(); ++i) {
        text += cut(chart.x_names[i], columns) + "\n";
        for (const auto& series : chart.series)
            for (const auto& point : series.points)
                if (!series.faint && std::lround(point.x) == static_cast<long>(i)) {
                    const std::string shown = cut(series.name, name);
                    text += fmt::format("  {}{:{}} {:>6} {}\n", shown, "", name - display_width(shown), number(point.y),
                                        std::string(static_cast<std::size_t>(std::lround(point.y / most * length)), '#'));
                }
    }
    return text;
}

// The data of a series as a block of gnuplot's; what an axis cannot show is left out by it.
std::string block(const SvgChart::Series& series, std::size_t place) {
    std::string text = fmt::format("$series_{} << END\n", place);
    for (const auto& point : series.points)
        text += std::isfinite(point.x) && std::isfinite(point.y) ? fmt::format("{:.9g} {:.9g}\n", point.x, point.y) : "NaN NaN\n";
    return text + "END\n";
}

// Names below the x axis in lines that fit between two of them, or slanted and cut where they do
// not: the picture would cut them at its edge. Beside them the left margin, in letters, that
// slanted ones need.
struct NamesBelow {
    std::string ticks;
    bool slanted = false;
    int margin = 0;
    int lines = 1;
};
NamesBelow names_below(const SvgChart& chart) {
    constexpr int plot_letters = 85;  // of a picture's width, those beside the legend
    constexpr int longest = 28;
    const int room = plot_letters / static_cast<int>(std::max<std::size_t>(1, chart.x_names.size()));
    NamesBelow names;
    std::vector<std::string> texts;
    for (const std::string& name : chart.x_names) {
        texts.push_back(wrapped(name, room));
        for (std::size_t begin = 0; begin < texts.back().size();) {
            const std::size_t end = std::min(texts.back().find('\n', begin), texts.back().size());
            names.slanted = names.slanted || display_width(texts.back().substr(begin, end - begin)) > room;
            begin = end + 1;
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::string quoted;
        const std::string text = names.slanted ? cut(chart.x_names[i], longest) : texts[i];
        names.lines = std::max(names.lines, 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n')));
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            quoted += (quoted.empty() ? "" : ".\"\\n\".") + gnuplot_string(text.substr(begin, end - begin));
            begin = end + 1;
        }
        names.ticks += fmt::format("{}{} {}", names.ticks.empty() ? "" : ", ", quoted, i);
    }
    if (names.slanted) names.margin = std::max(10, static_cast<int>(0.75 * std::min(longest, display_width(chart.x_names.front()))));
    return names;
}

// What an axis covers: gnuplot itself would go on to the next powers of ten.
std::string logarithmic_range(const SvgChart& chart, double SvgChart::Point::*coordinate) {
    Scale scale(true);
    for (const auto& series : chart.series)
        for (const auto& point : series.points)
            if (scale.shows(point.*coordinate)) scale.cover(point.*coordinate);
    if (!(scale.low() <= scale.high())) return "[*:*]";
    const double room = std::max(1.05, std::pow(scale.high() / scale.low(), 0.04));
    return fmt::format("[{:.6g}:{:.6g}]", scale.low() / room, scale.high() * room);
}

std::string gnuplot_script(const SvgChart& chart, const std::filesystem::path& picture) {
    std::string script =
        fmt::format("set terminal pngcairo noenhanced size 1200,700 font \"sans,11\"\nset output {}\nset title {}\nset xlabel {}\nset ylabel {}\n",
                    gnuplot_string(picture.string()), gnuplot_string(chart.title), gnuplot_string(chart.x_label), gnuplot_string(chart.y_label));
    const bool from_zero = chart.bars || (chart.y_from_zero && !chart.logarithmic_y);
    script += fmt::format("set grid {}\nset key outside right\n", chart.bars ? "ytics" : "");
    const char* const beside = chart.bars || chart.logarithmic_x ? "0" : "graph 0.04";
    const char* const above = chart.logarithmic_y ? "0" : "graph 0.04";
    script += fmt::format("set offsets {0},{0},{1},{2}\n", beside, above, from_zero ? "0" : above);
    if (chart.logarithmic_x) script += "set logscale x\nset xrange " + logarithmic_range(chart, &SvgChart::Point::x) + "\n";
    if (chart.logarithmic_y) script += "set logscale y\nset yrange " + logarithmic_range(chart, &SvgChart::Point::y) + "\n";
    if (from_zero) script += "set yrange [0:*]\n";
    if (chart.bars) script += fmt::format("set xrange [-0.5:{}]\nset style fill solid 0.9\n", static_cast<double>(chart.x_names.size()) - 0.5);
    const NamesBelow names = names_below(chart);
    if (!names.ticks.empty()) script += fmt::format("set xtics {}({})\n", names.slanted ? "rotate by 45 right " : "", names.ticks);
    if (names.lines > 1) script += fmt::format("set bmargin {}\n", names.lines + 3);
    if (names.margin > 0) script += fmt::format("set lmargin {}\n", names.margin);
    if (!chart.x_ticks.empty()) script += fmt::format("set xtics ({})\n", fmt::join(chart.x_ticks, ", "));
    std::string curves;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const auto& series = chart.series[i];
        script += block(series, i);
        const bool bars = chart.bars && !series.faint;
        const BarPlace place = bar_place(chart, i);
        const std::string columns = bars ? fmt::format("($1+{:.4f}):2:({:.4f})", place.middle, place.width) : "1:2";
        const char* const drawn = bars ? "boxes" : series.line ? series.marks ? "linespoints" : "lines" : "points";
        curves += fmt::format("{}$series_{} using {} with {} {}title {}", curves.empty() ? "" : ", ", i, columns, drawn,
                              series.faint ? "linecolor \"#999999\" " : "", gnuplot_string(series.name));
    }
    return script + "plot " + curves + "\n";
}

}  // namespace

void require_points(const SvgChart& chart) {
    const Scale x(chart.logarithmic_x), y(chart.logarithmic_y);
    for (const auto& series : chart.series)
        for (const auto& point : series.points)
            if (x.shows(point.x) && y.shows(point.y)) return;
    throw NothingError("chart \"" + chart.title + "\"", "there is no point to draw", "choose other results");
}

std::string chart_text(const SvgChart& chart, int columns) {
    if (chart.bars) return without_trailing_spaces(bars_text(chart, columns));
    require_points(chart);
    constexpr int rows = 20;
    constexpr int narrowest = 10;
    Scale x(chart.logarithmic_x);
    Scale y(chart.logarithmic_y);
    for (const auto& series : chart.series)
        for (const auto& point : series.points)
            if (x.shows(point.x) && y.shows(point.y)) {
                x.cover(point.x);
                y.cover(point.y);
            }
    if (chart.y_from_zero && !chart.logarithmic_y) y.cover(0);
    const std::string top = number(y.high());
    const std::string bottom = number(y.low());
    const auto margin = static_cast<int>(std::max(top.size(), bottom.size()));
    const int width = std::max(columns - margin - 2, narrowest);
    std::vector<std::string> grid(rows, std::string(static_cast<std::size_t>(width), ' '));
    // The first series stand above the later ones, and points above what is faint.
    for (const bool faint : {true, false})
        for (std::size_t i = chart.series.size(); i-- > 0;)
            for (const auto& point : chart.series[i].points) {
                if (chart.series[i].faint != faint || !x.shows(point.x) || !y.shows(point.y)) continue;
                const auto column = static_cast<std::size_t>(std::lround(x.part(point.x) * (width - 1)));
                const auto row = static_cast<std::size_t>(std::lround((1 - y.part(point.y)) * (rows - 1)));
                grid[row][column] = faint ? '.' : letter_of(i);
            }
    std::string text = cut(chart.title, columns) + "\n" + cut(chart.y_label, columns) + "\n";
    for (int row = 0; row < rows; ++row)
        text += fmt::format("{:>{}} |{}\n", row == 0 ? top : row == rows - 1 ? bottom : "", margin, grid[static_cast<std::size_t>(row)]);
    const std::string left = name_at(chart, x.low());
    const std::string right = name_at(chart, x.high());
    text += fmt::format("{:>{}}  {}{:>{}}\n", "", margin, left, right, std::max(1, width - display_width(left)));
    text += cut(chart.x_label, columns) + "\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i)
        if (!chart.series[i].name.empty())
            text += cut(fmt::format("  {}  {}", chart.series[i].faint ? '.' : letter_of(i), chart.series[i].name), columns) + "\n";
    return without_trailing_spaces(text);
}

void write_chart(const SvgChart& chart, const std::filesystem::path& file) {
    constexpr int page = 100;
    const std::string ending = file.extension().string();
    if (ending == ".svg")
        replace_file(file, svg(chart));
    else if (ending == ".txt")
        replace_file(file, chart_text(chart, page));
    else if (ending == ".png")
        draw(gnuplot_script(chart, file), file);
    else
        throw Error("--output", file.string() + " is neither .svg nor .png nor .txt", "name a picture with one of these endings");
}

}  // namespace hone::tools
