#pragma once

#include <string>
#include <vector>

namespace hone::tools {

/// A chart of points and lines, drawn as SVG without any program or library.
struct SvgChart {
    struct Point {
        double x = 0;
        double y = 0;
        std::string note;  ///< shown where a pointer rests on it
    };
    struct Series {
        std::string name;
        std::vector<Point> points;  ///< those that an axis cannot show (not finite, not positive on a logarithmic one) are left out
        bool line = false;          ///< connected in their order
        bool marks = true;
        bool faint = false;  ///< grey, behind the others
    };
    std::string title;
    std::string x_label;
    std::string y_label;
    bool logarithmic_x = false;
    bool logarithmic_y = false;
    bool y_from_zero = false;
    std::vector<std::string> x_names;  ///< of 0, 1, 2, ... on the x axis, in place of numbers
    std::vector<Series> series;
};

/// One SVG document. Text is escaped, whatever it holds. Throws Error when no point can be shown.
std::string svg(const SvgChart& chart);

}  // namespace hone::tools
