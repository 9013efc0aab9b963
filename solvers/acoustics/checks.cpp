#include "solvers/acoustics/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::inline v0_1::solvers::seismic {
namespace {

bool all_finite(const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

double distance(const Cell& a, const Cell& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Along the straight line, by samples half a cell apart.
double straight_seconds(const Model& model, const Cell& from, const Cell& to) {
    const double cells = distance(from, to);
    const int samples = std::max(1, static_cast<int>(std::ceil(2 * cells)));
    double slowness = 0;
    for (int i = 0; i < samples; ++i) {
        std::array<int, 3> cell{};
        for (std::size_t axis = 0; axis < 3; ++axis) cell[axis] = static_cast<int>(std::lround(std::lerp(from[axis], to[axis], (i + 0.5) / samples)));
        slowness += 1 / static_cast<double>(model.speed[model.at(cell[0], cell[1], cell[2])]);
    }
    return cells * model.spacing * slowness / samples;
}

// Seconds until the trace passes a thousandth of its peak.
double onset(const std::vector<float>& trace, double step_seconds) {
    float peak = 0;
    for (const float value : trace) peak = std::max(peak, std::abs(value));
    const auto first = std::find_if(trace.begin(), trace.end(), [&](float value) { return std::abs(value) > 1e-3F * peak; });
    return static_cast<double>(first - trace.begin() + 1) * step_seconds;
}

bool homogeneous(const Model& model) {
    return model.slowest() == model.fastest() &&
           std::all_of(model.density.begin(), model.density.end(), [&](float d) { return d == model.density[0]; });
}

}  // namespace

Check check_finite(const std::vector<std::vector<float>>& recording, const std::vector<float>& pressure) {
    const bool good = all_finite(pressure) && std::all_of(recording.begin(), recording.end(), all_finite);
    return {good ? "all values are finite" : "there are values that are not finite", good};
}

Check check_energy(const std::vector<double>& energies, const std::string& precision) {
    // Rounding of thousands of steps may add a little where nothing absorbs.
    const double allowed = precision == "f32" ? 1e-3 : 1e-9;
    if (energies.size() < 2) return {"energy: the source is not silent early enough to compare two", true};
    double worst = 0;
    for (std::size_t i = 1; i < energies.size(); ++i) worst = std::max(worst, energies[i] / energies[i - 1] - 1);
    const bool good = std::isfinite(energies.back()) && worst <= allowed;
    return {fmt::format("energy: from {:.3g} when the source is silent to {:.3g}; it grows by {:.1e} at most, allowed {:.0e}", energies.front(),
                        energies.back(), worst, allowed),
            good};
}

Check check_arrivals(const std::vector<std::vector<float>>& recording, double step_seconds, const Model& model, const Survey& survey) {
    int compared = 0, wrong = 0;
    // Steps of this length let the shortest waves run ahead: sin(w dt / 2) = k c dt / 2 has the
    // group speed c / cos(w dt / 2).
    const double ahead = std::cos(std::numbers::pi * survey.ricker.highest_frequency() * step_seconds);
    for (std::size_t r = 0; r < recording.size(); ++r) {
        const double cells = distance(survey.source, survey.receivers[r]);
        const double latest = straight_seconds(model, survey.source, survey.receivers[r]) + survey.ricker.delay();
        if (latest > static_cast<double>(recording[r].size()) * step_seconds) continue;
        // Rounded to cells on both sides.
        const double earliest = std::max(0.0, cells - 2) * model.spacing / model.fastest() * std::max(0.0, ahead);
        const double found = onset(recording[r], step_seconds);
        ++compared;
        if (!(found >= earliest && found <= latest)) ++wrong;
    }
    return {fmt::format("first arrivals: {} of {} receivers outside what Fermat's principle allows", wrong, compared), wrong == 0};
}

std::optional<Check> check_exact(const std::vector<std::vector<float>>& recording, double step_seconds, const Model& model,
                                 const WaveSettings& settings, const Survey& survey) {
    if (!homogeneous(model) || recording.empty()) return std::nullopt;
    const double speed = model.fastest(), h = model.spacing;
    const auto down = static_cast<std::size_t>(model.depth_axis());
    const Wall top = settings.walls[down][0];
    const double sign = top == Wall::absorbing ? 0 : top == Wall::rigid ? 1 : -1;
    double error = 0, peak = 0;
    for (std::size_t r = 0; r < recording.size(); ++r) {
        const Cell& receiver = survey.receivers[r];
        Cell mirrored = survey.source;
        mirrored[down] = -1 - mirrored[down];
        const double direct = distance(survey.source, receiver) * h, echo = distance(mirrored, receiver) * h;
        if (direct < 4 * h) continue;  // the source is a cell, not a point
        for (std::size_t step = 0; step < recording[r].size(); ++step) {
            const double time = static_cast<double>(step + 1) * step_seconds;
            double exact = exact_pressure(model.dimension, survey.ricker, speed, direct, time);
            if (sign != 0) exact += sign * exact_pressure(model.dimension, survey.ricker, speed, echo, time);
            peak = std::max(peak, std::abs(exact));
            error = std::max(error, std::abs(recording[r][step] - exact));
        }
    }
    if (peak == 0) return Check{"exact solution: no wave has come to a receiver yet", true};
    constexpr double allowed = 0.05;
    return Check{fmt::format("exact solution: differs by {:.2f} % of its peak, allowed {:.0f} % with this many cells per "
                             "wavelength and this absorbing layer",
                             100 * error / peak, 100 * allowed),
                 error <= allowed * peak};
}

}  // namespace hone::inline v0_1::solvers::seismic
