#include "examples/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>

#include "generator/error.hpp"

namespace hone::examples {
namespace {

// In pixels.
constexpr double chart_width = 800, chart_height = 500, left_margin = 90, right_margin = 20, top_margin = 45, bottom_margin = 60;
constexpr std::array curve_colours{"#1f5fa8", "#c2452d", "#2b8a3e", "#7b3fa0", "#a06a00"};

struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void take(double value) { low = std::min(low, value), high = std::max(high, value); }
    void widen() {
        if (!(low <= high)) low = 0, high = 1;
        if (low == high) low -= 0.5, high += 0.5;
    }
    double part(double value) const { return (value - low) / (high - low); }
};

// A chart's axes: the y axis in powers of ten where it is logarithmic.
class Axes {
  public:
    explicit Axes(const Chart& chart) : logarithmic_(chart.logarithmic) {
        for (const auto& curve : chart.curves)
            for (const auto& point : curve.points)
                if (shown(point)) x_.take(point.first), y_.take(scaled(point.second));
        x_.widen();
        y_.widen();
        if (logarithmic_) y_.low = std::floor(y_.low), y_.high = std::ceil(y_.high);
    }

    bool shown(const std::pair<double, double>& point) const {
        return std::isfinite(point.first) && std::isfinite(point.second) && (!logarithmic_ || point.second > 0);
    }
    double scaled(double y) const { return logarithmic_ ? std::log10(y) : y; }
    double x(double value) const { return left_margin + x_.part(value) * (chart_width - left_margin - right_margin); }
    double y(double scaled_value) const { return chart_height - bottom_margin - y_.part(scaled_value) * (chart_height - top_margin - bottom_margin); }
    std::vector<double> x_ticks() const { return round_ticks(x_.low, x_.high, 8); }
    std::vector<double> y_ticks() const {
        std::vector<double> ticks = round_ticks(y_.low, y_.high, 8);
        if (logarithmic_) std::erase_if(ticks, [](double tick) { return tick != std::floor(tick); });
        return ticks;
    }
    std::string y_text(double tick) const { return logarithmic_ ? fmt::format("1e{}", static_cast<int>(tick)) : fmt::format("{:.6g}", tick); }

  private:
    bool logarithmic_;
    Range x_, y_;
};

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return result;
}

std::string label(double x, double y, const std::string& anchor, const std::string& text, const std::string& more = {}) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, escaped(text));
}

std::string grid_line(double x1, double y1, double x2, double y2) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

std::string frame(const Chart& chart, const Axes& axes) {
    std::string text;
    for (const double tick : axes.x_ticks()) {
        text += grid_line(axes.x(tick), top_margin, axes.x(tick), chart_height - bottom_margin);
        text += label(axes.x(tick), chart_height - bottom_margin + 18, "middle", fmt::format("{:.6g}", tick));
    }
    for (const double tick : axes.y_ticks()) {
        text += grid_line(left_margin, axes.y(tick), chart_width - right_margin, axes.y(tick));
        text += label(left_margin - 8, axes.y(tick) + 4, "end", axes.y_text(tick));
    }
    text += label(chart_width / 2, 25, "middle", chart.title, " font-size=\"16\"");
    text += label((left_margin + chart_width - right_margin) / 2, chart_height - 15, "middle", chart.x_label);
    return text + label(0, 0, "middle", chart.y_label,
                        fmt::format(" transform=\"translate(20 {}) rotate(-90)\"", (top_margin + chart_height - bottom_margin) / 2));
}

std::string curve_text(const Chart::Curve& curve, const Axes& axes, std::size_t number) {
    std::string points;
    for (const auto& point : curve.points)
        if (axes.shown(point)) points += fmt::format("{:.1f},{:.1f} ", axes.x(point.first), axes.y(axes.scaled(point.second)));
    const char* colour = curve_colours[number % curve_colours.size()];
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>\n", points, colour) +
           label(chart_width - right_margin - 10, top_margin + 20 + 18 * static_cast<double>(number), "end", curve.name,
                 fmt::format(" fill=\"{}\"", colour));
}

void write_svg(const std::filesystem::path& file, double height, const std::string& body) {
    std::ofstream stream(file);
    stream << fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        chart_width, height);
    stream << body << "</svg>\n";
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose another place");
}

// Strip charts, in pixels: lanes start where names of lanes and groups end.
constexpr double strips_left = 270, row_height = 15, lane_gap = 9;

// A group's dots in one row, its median as an upright line.
std::string strip_row(const StripChart::Group& group, double y, double pixels_per_unit, const std::string& colour) {
    const auto x = [&](double value) { return strips_left + value * pixels_per_unit; };
    std::string text = label(strips_left - 8, y + 4, "end", group.name + (group.values.empty() ? " –" : ""), fmt::format(" fill=\"{}\"", colour));
    if (group.values.empty()) return text;
    text += fmt::format("<g fill=\"{}\" fill-opacity=\"0.4\">\n", colour);
    for (const double value : group.values) text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", x(value), y);
    text += "</g>\n";
    std::vector<double> sorted = group.values;
    std::sort(sorted.begin(), sorted.end());
    const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    return text + fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"black\" stroke-width=\"2\"/>\n", x(median),
                              y - 6, y + 6);
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
    const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    std::vector<double> ticks;
    for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) ticks.push_back(n * step + 0.0);  // a zero without a sign
    return ticks;
}

void write_chart(const std::filesystem::path& file, const Chart& chart) {
    const Axes axes(chart);
    std::string body = frame(chart, axes);
    for (std::size_t n = 0; n < chart.curves.size(); ++n) body += curve_text(chart.curves[n], axes, n);
    write_svg(file, chart_height, body);
}

void write_strip_chart(const std::filesystem::path& file, const StripChart& chart) {
    double high = chart.marked;
    double bottom = top_margin;
    for (const auto& lane : chart.lanes) {
        bottom += row_height * static_cast<double>(lane.groups.size()) + lane_gap;
        for (const auto& group : lane.groups)
            for (const double value : group.values) high = std::max(high, value);
    }
    const double scale = (chart_width - right_margin - strips_left) / (high > 0 ? high : 1);
    std::string body = label(chart_width / 2, 25, "middle", chart.title, " font-size=\"16\"");
    for (const double tick : round_ticks(0, high > 0 ? high : 1, 8)) {
        const double x = strips_left + tick * scale;
        body += grid_line(x, top_margin, x, bottom) + label(x, bottom + 18, "middle", fmt::format("{:.6g}", tick));
    }
    const double marked = strips_left + chart.marked * scale;
    body += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#555\" stroke-dasharray=\"5 3\"/>\n", marked,
                        top_margin, bottom);
    body += label((strips_left + chart_width - right_margin) / 2, bottom + 42, "middle", chart.x_label);
    double y = top_margin;
    for (const auto& lane : chart.lanes) {
        y += lane_gap / 2;
        body += label(10, y + row_height / 2 * static_cast<double>(lane.groups.size()) + 4, "start", lane.name);
        for (std::size_t n = 0; n < lane.groups.size(); ++n, y += row_height)
            body += strip_row(lane.groups[n], y + row_height / 2, scale, curve_colours[n == 0 ? 0 : 1]);
        y += lane_gap / 2;
        body += grid_line(10, y, chart_width - right_margin, y);
    }
    write_svg(file, bottom + 60, body);
}

}  // namespace hone::examples
