#include "solvers/hydro/frames.hpp"

#include <fmt/format.h>

#include <numeric>

#include "solvers/hydro/samples.hpp"
#include "solvers/output/vtk.hpp"
#include "solvers/output/vtk_elements.hpp"

namespace hone::inline v0_1::solvers::hydro {

namespace {

std::vector<int> all_zones(const Discretisation& of) {
    std::vector<int> zones(of.zones());
    std::iota(zones.begin(), zones.end(), 0);
    return zones;
}

}  // namespace

Frames::Frames(const Discretisation& of, std::filesystem::path folder) : Frames(of, all_zones(of), 0, 1, std::move(folder)) {
}

Frames::Frames(const ZonePart& part, std::filesystem::path folder)
    : Frames(part.here(), part.own_zones(), part.ranks().rank(), part.ranks().size(), std::move(folder)) {
}

Frames::Frames(const Discretisation& of, std::vector<int> zones, int rank, int ranks, std::filesystem::path folder)
    : of_(of), zones_(std::move(zones)), rank_(rank), ranks_(ranks), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
}

void Frames::add(double time, const State& state) {
    const auto width = static_cast<std::size_t>(of_.order) + 1;
    std::vector<double> line;
    for (int i = 0; i <= of_.order; ++i) line.push_back(static_cast<double>(i) / of_.order);
    const Samples samples = sample(of_, state, line);
    // From rows of points to VTK's order within each zone.
    std::vector<std::size_t> from;
    for (const auto& step : vtk_cube_lattice(of_.dimension, of_.order))
        from.push_back(static_cast<std::size_t>(step[0]) + width * (static_cast<std::size_t>(step[1]) + width * static_cast<std::size_t>(step[2])));
    std::vector<Point> points(zones_.size() * samples.per_zone);
    std::array<std::vector<double>, 6> fields;  // velocity, density, energy, pressure
    for (auto& field : fields) field.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(zones_[i / samples.per_zone]) * samples.per_zone + from[i % samples.per_zone];
        points[i] = samples.places[at];
        for (std::size_t c = 0; c < 3; ++c) fields[c][i] = samples.velocities[at][c];
        fields[3][i] = samples.densities[at];
        fields[4][i] = samples.energies[at];
        fields[5][i] = samples.pressures[at];
    }
    VtkElements elements(of_.dimension, of_.order, points, VtkElements::Shape::cube);
    elements.field("velocity", {fields[0], fields[1], fields[2]});
    elements.field("density", {fields[3]});
    elements.field("energy", {fields[4]});
    elements.field("pressure", {fields[5]});
    std::vector<double> gamma;
    for (const int zone : zones_) gamma.push_back(of_.gamma[static_cast<std::size_t>(zone)]);
    elements.element_field("gamma", gamma);
    times_.emplace_back(time, elements.write_part(folder_, fmt::format("gas_{:04}", times_.size()), rank_, ranks_));
    if (rank_ == 0) write_vtk_series(folder_ / "gas.pvd", times_);
}

}  // namespace hone::inline v0_1::solvers::hydro
