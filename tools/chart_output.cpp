#include "tools/chart_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "generator/error.hpp"
#include "tools/format.hpp"
#include "tools/gnuplot.hpp"
#include "tuning_db/file_store.hpp"

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

// The data of a series as a block of gnuplot's; what an axis cannot show is left out by it.
std::string block(const SvgChart::Series& series, std::size_t place) {
    std::string text = fmt::format("$series_{} << END\n", place);
    for (const auto& point : series.points)
        text += std::isfinite(point.x) && std::isfinite(point.y) ? fmt::format("{:.9g} {:.9g}\n", point.x, point.y) : "NaN NaN\n";
    return text + "END\n";
}

std::string gnuplot_script(const SvgChart& chart, const std::filesystem::path& picture) {
    std::string script =
        fmt::format("set terminal pngcairo noenhanced size 1200,700 font \"sans,11\"\nset output {}\nset title {}\nset xlabel {}\nset ylabel {}\n",
                    gnuplot_string(picture.string()), gnuplot_string(chart.title), gnuplot_string(chart.x_label), gnuplot_string(chart.y_label));
    script += "set grid\nset key outside right\nset offsets graph 0.04,graph 0.04,graph 0.04,graph 0.04\n";
    if (chart.logarithmic_x) script += "set logscale x\n";
    if (chart.logarithmic_y) script += "set logscale y\n";
    if (chart.y_from_zero && !chart.logarithmic_y) script += "set yrange [0:*]\n";
    std::string ticks;
    for (std::size_t i = 0; i < chart.x_names.size(); ++i)
        ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", gnuplot_string(chart.x_names[i]), i);
    constexpr std::size_t short_name = 8;
    const bool slanted = std::any_of(chart.x_names.begin(), chart.x_names.end(), [](const std::string& name) { return name.size() > short_name; });
    if (!ticks.empty()) script += fmt::format("set xtics {}({})\n", slanted ? "rotate by 45 right " : "", ticks);
    if (!chart.x_ticks.empty()) script += fmt::format("set xtics ({})\n", fmt::join(chart.x_ticks, ", "));
    std::string curves;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const auto& series = chart.series[i];
        script += block(series, i);
        curves += fmt::format("{}$series_{} using 1:2 with {} {}title {}", curves.empty() ? "" : ", ", i,
                              series.line ? series.marks ? "linespoints" : "lines" : "points", series.faint ? "linecolor \"#999999\" " : "",
                              gnuplot_string(series.name));
    }
    return script + "plot " + curves + "\n";
}

}  // namespace

std::string chart_text(const SvgChart& chart, int columns) {
    constexpr int rows = 20;
    constexpr int narrowest = 10;
    Scale x(chart.logarithmic_x);
    Scale y(chart.logarithmic_y);
    bool any = false;
    for (const auto& series : chart.series)
        for (const auto& point : series.points)
            if (x.shows(point.x) && y.shows(point.y)) {
                x.cover(point.x);
                y.cover(point.y);
                any = true;
            }
    if (!any) throw Error("chart \"" + chart.title + "\"", "there is no point to draw", "choose other results");
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
    // No line ends with spaces.
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

void write_chart(const SvgChart& chart, const std::filesystem::path& file) {
    constexpr int page = 100;
    const std::string ending = file.extension().string();
    if (ending == ".svg")
        replace_file(file, svg(chart));
    else if (ending == ".txt")
        replace_file(file, chart_text(chart, page));
    else if (ending == ".png")
        draw(gnuplot_script(chart, file));
    else
        throw Error("--output", file.string() + " is neither .svg nor .png nor .txt", "name a picture with one of these endings");
}

}  // namespace hone::tools
