#include "solvers/acoustics/reflection.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr double speed = 1500;  // m/s, and a metre per cell: neither has influence
constexpr std::array<double, 5> degrees{0, 15, 30, 45, 60};

// Source and receivers stand at one height above the wall at the end of the depth axis; a wave
// meets it halfway.
struct Arrangement {
    int height;             // cells
    std::vector<int> away;  // of the receivers from the source, cells
    int margin;             // cells to the other walls
    Ricker ricker;
    double end;  // s

    Arrangement(int dimension, double wavelength) : height(dimension == 2 ? 30 : 8), margin(dimension == 2 ? 60 : 12) {
        for (const double angle : degrees) away.push_back(static_cast<int>(std::lround((2 * height + 1) * std::tan(angle * std::numbers::pi / 180))));
        ricker.frequency = speed / wavelength;
        end = echo(away.back()) / speed + 2 * ricker.delay();
    }
    // The way by the wall, of a receiver that far away, m.
    double echo(int cells) const { return std::hypot(cells, 2 * height + 1); }
    int reach() const { return static_cast<int>(std::ceil(end * speed / 2)) + 1; }  // as far as a wave goes and comes back in time, cells

    // The domain, with walls `farther` away than they are measured at.
    Model model(int dimension, int farther) const {
        const int wide = away.back() + 2 * (margin + farther), deep = height + margin + 2 * farther, side = 2 * (margin + farther);
        return homogeneous_model(dimension, dimension == 2 ? Cell{wide, deep, 1} : Cell{wide, side, deep}, 1, speed, 1000);
    }
    Survey survey(int dimension, int farther) const {
        const int first = margin + farther, level = margin + farther - 1;
        const auto cell = [&](int x) { return dimension == 2 ? Cell{first + x, level, 0} : Cell{first + x, first, level}; };
        Survey survey{ricker, cell(0), {}};
        for (const int x : away) survey.receivers.push_back(cell(x));
        return survey;
    }
};

}  // namespace

std::vector<Reflection> measure_reflection(Backend& backend, KernelLibrary& library, const WaveSettings& settings, int dimension, double wavelength) {
    WaveSettings absorbing = settings;
    absorbing.walls = {};
    const Arrangement arrangement(dimension, wavelength);
    const auto record = [&](int farther) {
        const Model model = arrangement.model(dimension, farther);
        const int steps = static_cast<int>(arrangement.end / time_step(model, absorbing));
        WaveSolver solver(backend, library, model, absorbing, arrangement.survey(dimension, farther), steps);
        solver.advance(steps);
        return solver.recording();
    };
    const auto measured = record(0), alone = record(arrangement.reach());
    const double dt = time_step(arrangement.model(dimension, 0), absorbing);
    std::vector<Reflection> result;
    for (std::size_t r = 0; r < measured.size(); ++r) {
        const double echo = arrangement.echo(arrangement.away[r]);
        const double passed = echo / speed + 2 * arrangement.ricker.delay();
        double difference = 0, rigid = 0;
        for (std::size_t step = 0; step < measured[r].size() && static_cast<double>(step) * dt < passed; ++step) {
            difference = std::max(difference, std::abs(static_cast<double>(measured[r][step]) - alone[r][step]));
            rigid = std::max(rigid, std::abs(exact_pressure(dimension, arrangement.ricker, speed, echo, static_cast<double>(step + 1) * dt)));
        }
        result.push_back({degrees[r], difference / rigid});
    }
    return result;
}

Check check_reflection(const std::vector<Reflection>& reflections) {
    const bool good = std::all_of(reflections.begin(), reflections.end(),
                                  [](const Reflection& reflection) { return reflection.part < (reflection.angle < 40 ? 0.02 : 0.1); });
    return {"below 2 % up to 30 degrees and 10 % up to 60", good};
}

}  // namespace hone::inline v0_1::solvers::seismic
