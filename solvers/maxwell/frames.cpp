#include "solvers/maxwell/frames.hpp"

#include <fmt/format.h>

#include "solvers/output/vtk.hpp"
#include "solvers/output/vtk_elements.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

// Fields of an equation that belong together; field -1 is zero.
struct Picture {
    const char* name;
    std::vector<int> fields;
};

std::vector<Picture> pictures(const WaveEquation& equation) {
    if (!equation.maxwell) return {{"pressure", {0}}, {"velocity", {1, 2, 3}}};
    if (equation.dimension == 2) return {{"H", {0, 1, -1}}, {"Ez", {2}}};
    return {{"H", {0, 1, 2}}, {"E", {3, 4, 5}}};
}

}  // namespace

WaveFrames::WaveFrames(const Discretisation& of, std::filesystem::path folder) : WaveFrames(of, of.size(), 0, 1, std::move(folder)) {
}

WaveFrames::WaveFrames(const WavePart& part, std::filesystem::path folder)
    : WaveFrames(part.here(), part.own(), part.ranks().rank(), part.ranks().size(), std::move(folder)) {
}

WaveFrames::WaveFrames(const Discretisation& of, int elements, int rank, int ranks, std::filesystem::path folder)
    : of_(of), elements_(elements), rank_(rank), ranks_(ranks), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::vector<Point> lattice;
    for (const auto& steps : vtk_lattice(of.mesh.dimension, of.element->order)) {
        Point at{-1, -1, of.mesh.dimension == 3 ? -1.0 : 0};
        for (std::size_t x = 0; x < static_cast<std::size_t>(of.mesh.dimension); ++x) at[x] += 2.0 * steps[x] / of.element->order;
        lattice.push_back(at);
        basis_.push_back(basis_at(*of.element, at));
    }
    for (int k = 0; k < elements; ++k)
        for (const Point& point : placed(of.mesh, k, lattice)) points_.push_back(point);
}

std::vector<double> WaveFrames::at_lattice(std::span<const double> q, int field) const {
    std::vector<double> values;
    values.reserve(points_.size());
    const auto nodes = static_cast<std::size_t>(of_.nodes());
    for (std::size_t k = 0; k < static_cast<std::size_t>(elements_); ++k) {
        const double* const own = &q[(k * static_cast<std::size_t>(of_.equation->field_count()) + static_cast<std::size_t>(field)) * nodes];
        for (const auto& row : basis_) {
            double sum = 0;
            for (std::size_t n = 0; n < nodes; ++n) sum += row[n] * own[n];
            values.push_back(sum);
        }
    }
    return values;
}

void WaveFrames::add(double time, std::span<const double> q) {
    VtkElements elements(of_.mesh.dimension, of_.element->order, points_);
    const std::vector<double> zeros(points_.size(), 0.0);
    for (const Picture& picture : pictures(*of_.equation)) {
        std::vector<std::vector<double>> values;
        for (const int field : picture.fields) values.push_back(field < 0 ? zeros : at_lattice(q, field));
        elements.field(picture.name, {values.begin(), values.end()});
    }
    const std::vector<double> materials(of_.mesh.material.begin(), of_.mesh.material.begin() + elements_);
    elements.element_field("material", materials);
    times_.emplace_back(time, elements.write_part(folder_, fmt::format("fields_{:04}", times_.size()), rank_, ranks_));
    if (rank_ == 0) write_vtk_series(folder_ / "fields.pvd", times_);
}

}  // namespace hone::inline v0_1::solvers::maxwell
