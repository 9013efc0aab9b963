#include "tools/charts/simulation_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foundation/error.hpp"
#include "tools/charts/gnuplot.hpp"

namespace hone::tools {
namespace {

// Colours that stay apart for people who see few: Okabe and Ito, Color Universal Design, 2008.
constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

const char* terminal(const std::filesystem::path& picture) {
    if (picture.extension() == ".png") return "pngcairo";
    if (picture.extension() == ".svg") return "svg";
    throw Error("--plot", picture.string() + " is neither .png nor .svg", "name a picture with one of these endings");
}

// One line of a data block; gnuplot leaves out what is not finite.
std::string point(std::int64_t budget, std::initializer_list<double> values) {
    std::string line = fmt::format("{}", budget);
    for (const double value : values) line += std::isfinite(value) ? fmt::format(" {:.6g}", value) : " NaN";
    return line + "\n";
}

std::string panel(const SimulatedSpace& space, std::size_t number) {
    const double optimum = space.recorded.optimum();
    const std::vector<std::int64_t> budgets = curve_budgets(space.simulations);
    std::string blocks;
    std::string curves;
    for (std::size_t i = 0; i < space.simulations.size(); ++i) {
        const Simulation& simulation = space.simulations[i];
        const std::string block = fmt::format("$curve_{}_{}", number, i);
        blocks += block + " << END\n";
        for (const std::int64_t budget : budgets)
            blocks += point(budget, {percentile(simulation, 0.1, budget) / optimum, percentile(simulation, 0.5, budget) / optimum,
                                     percentile(simulation, 0.9, budget) / optimum});
        blocks += "END\n";
        const char* colour = colours.at(i % colours.size());
        curves += fmt::format(
            "{0} using 1:2:4 with filledcurves fillcolor \"{1}\" fillstyle transparent solid 0.15 notitle, "
            "{0} using 1:3 with lines linewidth 2 linecolor \"{1}\" title {2}, ",
            block, colour, gnuplot_string(simulation.strategy));
    }
    blocks += fmt::format("$random_{} << END\n", number);
    for (const std::int64_t budget : budgets) blocks += point(budget, {space.baseline.cost(budget) / optimum});
    blocks += "END\n";
    return blocks + "set title " + gnuplot_string(space.recorded.title().name) + "\nplot " + curves +
           fmt::format("$random_{} using 1:2 with lines dashtype 2 linewidth 2 linecolor \"#808080\" title \"random, exact mean\"\n", number);
}

}  // namespace

std::vector<std::int64_t> curve_budgets(const std::vector<Simulation>& simulations) {
    std::int64_t longest = 1;
    for (const auto& simulation : simulations)
        for (const auto& best : simulation.best) longest = std::max<std::int64_t>(longest, std::ssize(best));
    std::vector<std::int64_t> budgets;
    for (std::int64_t decade = 1; decade <= longest; decade *= 10)
        for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
            if (const double budget = step * static_cast<double>(decade); budget == std::floor(budget) && budget < static_cast<double>(longest))
                budgets.push_back(static_cast<std::int64_t>(budget));
    budgets.push_back(longest);
    return budgets;
}

std::string simulation_plot(const std::vector<SimulatedSpace>& spaces, const std::filesystem::path& picture) {
    const std::size_t columns = spaces.size() > 1 ? 2 : 1;
    const std::size_t rows = (spaces.size() + columns - 1) / columns;
    std::string script = fmt::format("set terminal {} noenhanced size {},{} font \"sans,11\"\nset output {}\n", terminal(picture), 700 * columns,
                                     480 * rows, gnuplot_string(picture.string()));
    script +=
        "set logscale xy\nset grid\nset key top right\nset xlabel \"distinct evaluations\"\nset ylabel \"best so far / optimum\"\nset yrange "
        "[1:*]\nset autoscale xfix\n";
    script += fmt::format("set multiplot layout {},{}\n", rows, columns);
    for (std::size_t i = 0; i < spaces.size(); ++i) script += panel(spaces[i], i);
    return script + "unset multiplot\n";
}

}  // namespace hone::tools
