#include "solvers/acoustics/synthetic_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

// Lengths are parts of the model's, so that every grid shows the same landscape: x and y from 0 to
// 1, depth from 0 to 1.
struct Point {
    double x, y, depth;
};

// The engine's words are the same everywhere; the standard's distributions are not.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    double between(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53; }

  private:
    std::mt19937_64 engine_;
};

// A gentle surface: three waves with lengths of a half to twice the model.
struct Fold {
    std::array<double, 3> amplitude{}, kx{}, ky{}, phase{};

    Fold(Dice& dice, double height) {
        for (std::size_t i = 0; i < amplitude.size(); ++i) {
            amplitude[i] = dice.between(-height, height) / static_cast<double>(i + 1);
            kx[i] = 2 * std::numbers::pi * dice.between(0.4, 1) * static_cast<double>(i + 1);
            ky[i] = kx[i] * dice.between(-0.6, 0.6);
            phase[i] = dice.between(0, 2 * std::numbers::pi);
        }
    }
    double operator()(const Point& at) const {
        double sum = 0;
        for (std::size_t i = 0; i < amplitude.size(); ++i) sum += amplitude[i] * std::cos(kx[i] * at.x + ky[i] * at.y + phase[i]);
        return sum;
    }
};

struct Fault {
    double x, strike, dip, downthrow;

    // How far the beds have slipped down here: nothing in the foot wall.
    double slip(const Point& at) const { return at.x + strike * at.y > x + dip * at.depth ? downthrow * std::min(1.0, 2 * at.depth) : 0; }
};

struct Bed {
    double top, speed;
};

class Landscape {
  public:
    explicit Landscape(const SyntheticSettings& settings) : dice_(settings.seed), sea_floor_(dice_, 0.012), fold_(dice_, 0.12), tilt_(dice_, 0.03) {
        for (int i = 0; i < settings.faults; ++i) {
            const double part = (i + dice_.between(0.2, 0.8)) / settings.faults;
            faults_.push_back({part, dice_.between(-0.4, 0.4), dice_.between(-0.35, 0.35), (i % 2 == 0 ? 1 : -1) * dice_.between(0.03, 0.09)});
        }
        double top = 0;
        for (int i = 0; i < settings.layers; ++i) {
            // Speed grows with depth; every now and then a bed is slower or harder than its
            // neighbours.
            beds_.push_back({top, 1650 + 2000 * top + dice_.between(-260, 320)});
            top += dice_.between(0.5, 1.5) / settings.layers;
        }
    }

    double speed(const Point& at) const {
        constexpr double water_depth = 0.07, water_speed = 1500, gradient = 700;
        const double floor = water_depth + sea_floor_(at);
        if (at.depth < floor) return water_speed;
        Point moved = at;
        for (const Fault& fault : faults_) moved.depth -= fault.slip(at);
        const double below = moved.depth - floor;
        const double level = below - fold_(moved) * std::min(1.0, 3 * below) - tilt_(moved);
        const auto after = std::find_if(beds_.begin() + 1, beds_.end(), [&](const Bed& bed) { return bed.top > level; });
        return std::clamp((after - 1)->speed + gradient * at.depth, 1550.0, 4700.0);
    }

  private:
    Dice dice_;
    Fold sea_floor_, fold_, tilt_;
    std::vector<Fault> faults_;
    std::vector<Bed> beds_;
};

}  // namespace

Model synthetic_model(const SyntheticSettings& settings) {
    constexpr int most = 1000;
    if (settings.layers < 1 || settings.layers > most || settings.faults < 0 || settings.faults > most)
        throw Error("synthetic model", fmt::format("{} layers, {} faults", settings.layers, settings.faults),
                    fmt::format("1 to {} layers, and at most {} faults", most, most));
    const Landscape landscape(settings);
    Model model{settings.dimension, settings.cells, settings.spacing, {}, {}};
    const auto part = [&](int axis, int cell) { return (cell + 0.5) / settings.cells[static_cast<std::size_t>(axis)]; };
    const auto nx = static_cast<std::size_t>(settings.cells[0]);
    const int rows = static_cast<int>(static_cast<std::size_t>(model.count()) / nx);
    const bool flat = settings.dimension == 2;
    model.speed.resize(static_cast<std::size_t>(model.count()));
    model.density.resize(model.speed.size());
    // Each cell for itself, for a large model takes one thread longer than waves take a GPU.
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; ++row) {
        const int y = row % settings.cells[1], z = row / settings.cells[1];
        for (std::size_t x = 0; x < nx; ++x) {
            const std::size_t cell = static_cast<std::size_t>(row) * nx + x;
            model.speed[cell] =
                static_cast<float>(landscape.speed({part(0, static_cast<int>(x)), flat ? 0.5 : part(1, y), flat ? part(1, y) : part(2, z)}));
            model.density[cell] = gardner_density(model.speed[cell]);
        }
    }
    return model;
}

}  // namespace hone::inline v0_1::solvers::seismic
