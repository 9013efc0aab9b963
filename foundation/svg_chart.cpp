#include "foundation/svg_chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/text.hpp"

namespace hone::inline v0_1 {
namespace {

// Colours that stay apart for people who see few: Okabe and Ito, Color Universal Design, 2008.
constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
constexpr double width = 960;  // at least
constexpr double left = 90;
constexpr double top = 50;
constexpr double plot_width = 620;
constexpr double plot_height = 420;
constexpr double legend_line = 18;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
}

// XML allows few of them, and terminals obey them.
bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += is_control(c) ? ' ' : c;
        }
    }
    return result;
}

std::string document(double wide, double high, const std::string& body) {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               wide, high) +
           body + "</svg>\n";
}

struct LabelStyle {
    std::string anchor = "middle";
    int size = 13;
    std::string colour = "#000000";
};

std::string label(double x, double y, const std::string& text, const LabelStyle& style) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n", x, y, style.anchor, style.size,
                       style.colour, escaped(text));
}

// `style`: what its stroke is, if more than a colour.
std::string line(double x1, double y1, double x2, double y2, const std::string& colour, const std::string& style = "") {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1, x2, y2, colour, style);
}

constexpr const char* grid_colour = "#dddddd";

struct Tick {
    double value;
    std::string text;
};

// From values to pixels along one axis.
class Axis {
  public:
    Axis(bool logarithmic, double begin, double end) : logarithmic_(logarithmic), begin_(begin), end_(end) {}

    bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
    void cover(double value) {
        if (!shows(value)) return;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    bool empty() const { return low_ > high_; }

    // Room beyond the outermost values.
    void widen() {
        const double span = place(high_) - place(low_);
        const double room = span > 0 ? 0.04 * span : logarithmic_ ? 0.1 : std::max(std::abs(low_) * 0.1, 1e-12);
        const double low = place(low_) - room;
        const double high = place(high_) + room;
        low_ = logarithmic_ ? std::pow(10, low) : low;
        high_ = logarithmic_ ? std::pow(10, high) : high;
    }
    void keep_zero() { low_ = 0; }
    void cover_one() { low_ = high_ = 1; }

    double pixel(double value) const { return begin_ + (place(value) - place(low_)) / (place(high_) - place(low_)) * (end_ - begin_); }

    // Powers of ten, with 2 and 5 times these where there is room; linear axes have round numbers.
    std::vector<Tick> ticks() const {
        std::vector<Tick> all;
        if (logarithmic_) {
            const bool few = std::log10(high_ / low_) > 3;
            for (int decade = static_cast<int>(std::floor(std::log10(low_))); decade <= static_cast<int>(std::ceil(std::log10(high_))); ++decade)
                for (const double step : {1.0, 2.0, 5.0}) {
                    const double value = step * std::pow(10, decade);
                    if (value >= low_ && value <= high_ && (!few || step == 1.0)) all.push_back({value, fmt::format("{:.6g}", value)});
                }
            if (all.size() > 1) return all;
            all.clear();
        }
        for (const double value : round_ticks(low_, high_, 6)) all.push_back({value, fmt::format("{:.6g}", value)});
        return all;
    }

  private:
    double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

    bool logarithmic_;
    double begin_;
    double end_;
    double low_ = std::numeric_limits<double>::infinity();
    double high_ = -std::numeric_limits<double>::infinity();
};

class Drawing {
  public:
    explicit Drawing(const SvgChart& chart)
        : chart_(chart), x_(chart.logarithmic_x, left, left + plot_width), y_(chart.logarithmic_y, top + plot_height, top) {
        for (const auto& series : chart.series)
            for (const auto& point : series.points)
                if (x_.shows(point.x) && y_.shows(point.y)) {
                    x_.cover(point.x);
                    y_.cover(point.y);
                }
        if (x_.empty() && !chart.may_be_empty) throw Error("chart \"" + chart.title + "\"", "there is no point to draw", "choose other results");
        if (x_.empty()) x_.cover_one(), y_.cover_one();
        if (chart.bars) {
            x_.cover(-0.5);
            x_.cover(static_cast<double>(chart.x_names.size()) - 0.5);
        } else {
            x_.widen();
        }
        y_.widen();
        if (chart.bars || (chart.y_from_zero && !chart.logarithmic_y)) y_.keep_zero();
    }

    std::string text() {
        text_ = label(left, 28, chart_.title, {"start", 16});
        axes();
        for (const bool faint : {true, false})
            for (std::size_t i = 0; i < chart_.series.size(); ++i)
                if (chart_.series[i].faint == faint) draw(i);
        legend();
        const double high = top + plot_height + 70 + names_height();
        return document(wide(), std::max(high, top + 20 + legend_line * static_cast<double>(chart_.series.size())), text_);
    }

  private:
    // As wide as the title and the longest name in the legend need, with letters as wide as most
    // are.
    double wide() const {
        constexpr double title_letter = 8.5;
        double longest = 0;
        for (const auto& series : chart_.series) longest = std::max(longest, static_cast<double>(text::display_width(legend_text(series))));
        return std::max({width, left + plot_width + 48 + 6.8 * longest, left + 20 + title_letter * text::display_width(chart_.title)});
    }
    static std::string legend_text(const SvgChart::Series& series) {
        constexpr int longest = 60;
        return text::cut(series.name, longest);
    }

    // Letters between two names on the x axis.
    int letters() const {
        constexpr double letter = 7;
        return static_cast<int>(plot_width / static_cast<double>(std::max<std::size_t>(1, chart_.x_names.size())) / letter);
    }
    // Whether names on the x axis would run into each other, even in several lines.
    bool slanted() const {
        return std::any_of(chart_.x_names.begin(), chart_.x_names.end(), [&](const std::string& name) {
            const std::vector<std::string> lines = lines_of(text::wrapped(name, letters()));
            constexpr std::size_t most = 5;
            return lines.size() > most ||
                   std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return text::display_width(line) > letters(); });
        });
    }
    static constexpr double slant_height = 110;
    static constexpr double name_line = 15;
    // What names take below the height of one line.
    double names_height() const {
        if (slanted()) return slant_height;
        std::size_t most = 1;
        for (const std::string& name : chart_.x_names) most = std::max(most, lines_of(text::wrapped(name, letters())).size());
        return name_line * static_cast<double>(most - 1);
    }
    std::string name_label(double x, double y, const std::string& name) const {
        if (slanted()) {
            constexpr double letter = 5;  // to the left, of the font's size below
            const int longest = std::min(28, static_cast<int>((x - 4) / letter));
            return fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-45)\" text-anchor=\"end\" font-size=\"12\">{}</text>\n", x + 4, y,
                               escaped(text::cut(name, longest)));
        }
        std::string result;
        for (const std::string& line : lines_of(text::wrapped(name, letters()))) {
            result += label(x, y, line, {});
            y += name_line;
        }
        return result;
    }

    const char* colour_of(std::size_t series) const { return chart_.series[series].faint ? "#999999" : colours.at(series % colours.size()); }

    void axes() {
        std::vector<Tick> ticks = chart_.x_names.empty() && chart_.x_ticks.empty() ? x_.ticks() : std::vector<Tick>();
        for (const double value : chart_.x_ticks) ticks.push_back({value, fmt::format("{:.6g}", value)});
        if (!chart_.x_names.empty()) {
            for (std::size_t i = 0; i < chart_.x_names.size(); ++i) ticks.push_back({static_cast<double>(i), chart_.x_names[i]});
        }
        for (const Tick& tick : ticks) {
            const double at = x_.pixel(tick.value);
            if (at < left - 0.5 || at > left + plot_width + 0.5) continue;
            if (!chart_.bars) text_ += line(at, top, at, top + plot_height, grid_colour);
            text_ += name_label(at, top + plot_height + 20, tick.text);
        }
        for (const Tick& tick : y_.ticks()) {
            const double at = y_.pixel(tick.value);
            if (at < top - 0.5 || at > top + plot_height + 0.5) continue;
            text_ += line(left, at, left + plot_width, at, grid_colour);
            text_ += label(left - 8, at + 4, tick.text, {"end"});
        }
        text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444444\"/>\n", left, top, plot_width,
                             plot_height);
        text_ += label(left + plot_width / 2, top + plot_height + 46 + names_height(), chart_.x_label, {});
        text_ += fmt::format("<text transform=\"translate(24 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", top + plot_height / 2,
                             escaped(chart_.y_label));
    }

    // With its height above it, which a reader would have to guess.
    std::string bar(std::size_t series, const SvgChart::Point& point) const {
        const BarPlace place = bar_place(chart_, series);
        const double begin = x_.pixel(point.x + place.middle - place.width / 2);
        const double end = x_.pixel(point.x + place.middle + place.width / 2);
        const double high = y_.pixel(point.y);
        const double base = y_.pixel(0);
        return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", begin,
                           std::min(high, base), end - begin, std::abs(base - high), colour_of(series), escaped(point.note)) +
               label((begin + end) / 2, std::min(high, base) - 4, fmt::format("{:.3g}", point.y), {"middle", 11});
    }

    // When the colours are used up they begin again, with squares for circles.
    std::string mark(std::size_t series, double x, double y, const std::string& note) const {
        const bool square = !chart_.series[series].faint && series / colours.size() % 2 == 1;
        const std::string shape = square ? fmt::format("rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\"", x - 3.5, y - 3.5)
                                         : fmt::format("circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"", x, y);
        return fmt::format("<{} fill=\"{}\" fill-opacity=\"0.75\"><title>{}</title></{}>\n", shape, colour_of(series), escaped(note),
                           square ? "rect" : "circle");
    }

    void draw(std::size_t which) {
        const SvgChart::Series& series = chart_.series[which];
        std::string path;
        std::string marks;
        for (const auto& point : series.points) {
            if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
            const double x = x_.pixel(point.x);
            const double y = y_.pixel(point.y);
            path += fmt::format("{:.1f},{:.1f} ", x, y);
            marks += chart_.bars && !series.faint ? bar(which, point) : mark(which, x, y, point.note);
        }
        if (series.line && !path.empty())
            text_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour_of(which));
        if (series.marks) text_ += marks;
    }

    void legend() {
        const double x = left + plot_width + 20;
        double y = top + 10 - legend_line;
        for (std::size_t i = 0; i < chart_.series.size(); ++i) {
            if (chart_.series[i].name.empty()) continue;
            y += legend_line;
            if (chart_.series[i].line)
                text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"3\" fill=\"{}\"/>\n", x, y - 6, colour_of(i));
            if (chart_.series[i].marks) text_ += mark(i, x + 6, y - 4.5, "");
            text_ += label(x + 18, y, legend_text(chart_.series[i]), {"start", 12});
        }
    }

    const SvgChart& chart_;
    Axis x_;
    Axis y_;
    std::string text_;
};

// Strip charts: lanes start where names of lanes and groups end.
constexpr double strips_left = 280;
constexpr double strips_right = 20;
constexpr double row_height = 16;
constexpr double lane_gap = 9;

// A group's dots in one row, its median as an upright line.
std::string strip_row(const StripChart::Group& group, double y, double pixels_per_unit, const std::string& colour) {
    const auto x = [&](double value) { return strips_left + value * pixels_per_unit; };
    std::string text = label(strips_left - 8, y + 4, group.name + (group.values.empty() ? " \u2013" : ""), {"end", 13, colour});
    if (group.values.empty()) return text;
    text += fmt::format("<g fill=\"{}\" fill-opacity=\"0.4\">\n", colour);
    for (const double value : group.values) text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", x(value), y);
    text += "</g>\n";
    std::vector<double> sorted = group.values;
    std::sort(sorted.begin(), sorted.end());
    const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    return text + line(x(median), y - 6, x(median), y + 6, "#000000", " stroke-width=\"2\"");
}

}  // namespace

BarPlace bar_place(const SvgChart& chart, std::size_t series) {
    const auto has_bars = [](const SvgChart::Series& one) { return !one.faint; };
    const auto all = static_cast<double>(std::count_if(chart.series.begin(), chart.series.end(), has_bars));
    const auto before =
        static_cast<double>(std::count_if(chart.series.begin(), chart.series.begin() + static_cast<std::ptrdiff_t>(series), has_bars));
    constexpr double together = 0.8;  // of the distance, so that groups stand apart
    const double one = together / std::max(all, 1.0);
    return {(before + 0.5) * one - together / 2, one};
}

std::vector<double> round_ticks(double low, double high, int count) {
    const double rough = (high - low) / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    std::vector<double> ticks;
    for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) ticks.push_back(n * step + 0.0);  // a zero without a sign
    return ticks;
}

void tell_apart(SvgChart& chart) {
    std::vector<std::vector<std::string>> names;
    for (const auto& series : chart.series)
        if (!series.faint) names.push_back(words_of(series.name));
    if (names.empty()) return;
    std::vector<std::string> common;
    for (const std::string& word : names.front())
        if (std::all_of(names.begin(), names.end(), [&](const auto& name) { return std::count(name.begin(), name.end(), word) == 1; }))
            common.push_back(word);
    if (common.empty()) return;
    for (auto& series : chart.series) {
        if (series.faint) continue;
        std::vector<std::string> own = words_of(series.name);
        std::erase_if(own, [&](const std::string& word) { return std::find(common.begin(), common.end(), word) != common.end(); });
        series.name = fmt::format("{}", fmt::join(own, " "));
    }
    chart.title += fmt::format("{}{}", chart.title.empty() ? "" : ": ", fmt::join(common, " "));
}

std::string svg(const SvgChart& chart) {
    return Drawing(chart).text();
}

std::string svg(const StripChart& chart) {
    double high = chart.marked;
    double bottom = top;
    for (const auto& lane : chart.lanes) {
        bottom += row_height * static_cast<double>(lane.groups.size()) + lane_gap;
        for (const auto& group : lane.groups)
            for (const double value : group.values) high = std::max(high, value);
    }
    if (!(high > 0)) high = 1;
    const double scale = (width - strips_right - strips_left) / high;
    std::string body = label(width / 2, 28, chart.title, {"middle", 16});
    for (const double tick : round_ticks(0, high, 8)) {
        const double x = strips_left + tick * scale;
        body += line(x, top, x, bottom, grid_colour) + label(x, bottom + 18, fmt::format("{:.6g}", tick), {});
    }
    const double marked = strips_left + chart.marked * scale;
    body += line(marked, top, marked, bottom, "#555555", " stroke-dasharray=\"5 3\"");
    body += label((strips_left + width - strips_right) / 2, bottom + 42, chart.x_label, {});
    double y = top;
    for (const auto& lane : chart.lanes) {
        y += lane_gap / 2;
        body += label(10, y + row_height / 2 * static_cast<double>(lane.groups.size()) + 4, lane.name, {"start"});
        for (std::size_t n = 0; n < lane.groups.size(); ++n, y += row_height)
            body += strip_row(lane.groups[n], y + row_height / 2, scale, colours[n == 0 ? 0 : 1]);
        y += lane_gap / 2;
        body += line(10, y, width - strips_right, y, grid_colour);
    }
    return document(width, bottom + 60, body);
}

}  // namespace hone::inline v0_1
