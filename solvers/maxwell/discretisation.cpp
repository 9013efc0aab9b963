#include "solvers/maxwell/discretisation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "foundation/caught.hpp"
#include "foundation/error.hpp"
#include "foundation/sha256.hpp"
#include "foundation/value.hpp"
#include "runtime/ranks/ordered_gather.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

constexpr int worth_a_team = 64;  // elements from which threads are worth their start

const std::vector<WaveEquation>& wave_equations() {
    static const std::vector<WaveEquation> table{{"maxwell_3d", 3, {"Hx", "Hy", "Hz", "Ex", "Ey", "Ez"}, true},
                                                 {"maxwell_2d_tm", 2, {"Hx", "Hy", "Ez"}, true},
                                                 {"acoustics_3d", 3, {"p", "u", "v", "w"}, false}};
    return table;
}

const Mesh& fitting(const Mesh& mesh, const WaveEquation& equation, const std::string& where) {
    if (mesh.dimension != equation.dimension)
        throw Error(where, mesh.dimension == 3 ? "it consists of tetrahedra" : "it consists of triangles",
                    fmt::format("use another mesh than for {}, or another equation", equation.name));
    return mesh;
}

std::vector<std::int32_t> nodes_behind(const Mesh& mesh, const std::vector<Neighbour>& neighbours, int order) {
    const NodeMaps maps = node_maps(mesh, neighbours, order);
    std::vector<std::int32_t> result;
    result.reserve(maps.other.size());
    for (std::size_t i = 0; i < maps.other.size(); ++i) {
        const Neighbour& neighbour = neighbours[i / static_cast<std::size_t>(maps.face_nodes)];
        if (maps.other[i] > std::numeric_limits<std::int32_t>::max())
            throw Error("mesh", fmt::format("node {} cannot be counted by 32 bits", maps.other[i]), "use fewer elements or a lower order");
        const int boundary = neighbour.kind == Boundary::absorbing ? Discretisation::absorbing : Discretisation::reflecting_wall;
        result.push_back(neighbour.exists() ? static_cast<std::int32_t>(maps.other[i]) : boundary);
    }
    return result;
}

// a' M a, a given by node.
template <typename Value>
double mass_norm(const ReferenceElement& element, Value value) {
    double sum = 0;
    for (int i = 0; i < element.nodes(); ++i) {
        double row = 0;
        for (int j = 0; j < element.nodes(); ++j) row += element.mass(i, j) * value(j);
        sum += value(i) * row;
    }
    return sum;
}

// In parallel; their sum is made in one order, so that it has the same digits each time.
template <typename Part>
std::vector<double> parts_of_elements(int elements, Part part) {
    std::vector<double> parts(static_cast<std::size_t>(elements));
    Caught caught;
#pragma omp parallel for schedule(static) if (elements >= worth_a_team)
    for (int k = 0; k < elements; ++k) caught.from([&] { parts[static_cast<std::size_t>(k)] = part(k); });
    caught.rethrow();
    return parts;
}

std::vector<double> words_of(const WaveEquation& equation, const std::vector<Material>& materials) {
    std::vector<double> words;
    for (const Material& m : materials)
        for (const double word : equation.maxwell ? std::array{1 / m.second, 1 / m.first, std::sqrt(m.second / m.first)}
                                                  : std::array{m.first * m.second * m.second, 1 / m.first, m.first * m.second})
            words.push_back(word);
    return words;
}

}  // namespace

const WaveEquation& wave_equation(const std::string& name) {
    for (const WaveEquation& row : wave_equations())
        if (row.name == name) return row;
    const auto names = wave_equation_names();
    throw Error("equation", fmt::format("there is no \"{}\"", name),
                did_you_mean(name, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
}

std::vector<std::string> wave_equation_names() {
    std::vector<std::string> names;
    for (const WaveEquation& row : wave_equations()) names.push_back(row.name);
    return names;
}

std::vector<Material> materials_of(const Mesh& mesh, const std::map<std::string, Material>& materials, const std::string& where) {
    std::vector<Material> result;
    for (int k = 0; k < mesh.size(); ++k) {
        const std::string& name = mesh.materials[static_cast<std::size_t>(mesh.material[static_cast<std::size_t>(k)])];
        const auto found = materials.find(name);
        if (found == materials.end() && name != "default" && name != "vacuum")
            throw Error(where, fmt::format("{} belongs to the group \"{}\", of which no material is known", element_name(mesh, k), name),
                        "say what it is: --material " + name + "=...");
        result.push_back(found == materials.end() ? Material{} : found->second);
        if (!(result.back().first > 0) || !(result.back().second > 0))
            throw Error("material " + name, fmt::format("its numbers are {} and {}", result.back().first, result.back().second), "use positive ones");
    }
    return result;
}

std::string fingerprint(const WaveEquation& equation, const Mesh& mesh, const std::vector<Material>& of_elements) {
    std::string text = fingerprint(mesh);
    for (const double word : words_of(equation, of_elements)) text += fmt::format(" {}", word);
    return sha256(text);
}

Discretisation::Discretisation(const std::string& equation_name, int order, const Mesh& of, const std::map<std::string, Material>& materials,
                               const std::string& where)
    : Discretisation(equation_name, order, of, match_faces(fitting(of, wave_equation(equation_name), where), where), materials, where) {
}

Discretisation::Discretisation(const std::string& equation_name, int order, Mesh of, const std::vector<Neighbour>& neighbours,
                               const std::map<std::string, Material>& materials, const std::string& where)
    : equation(&wave_equation(equation_name)),
      element(&reference_element(equation->dimension == 3 ? Simplex::tetrahedron : Simplex::triangle, order)),
      mesh(std::move(of)),
      neighbour(nodes_behind(fitting(mesh, *equation, where), neighbours, order)),
      material(materials_of(mesh, materials, where)) {
    const Geometry measured = geometry_of(mesh);
    const auto d = static_cast<std::size_t>(mesh.dimension);
    for (std::size_t k = 0; k < mesh.elements.size(); ++k)
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t x = 0; x < d; ++x) geometry.push_back(measured.gradients[9 * k + 3 * a + x]);
    for (std::size_t side = 0; side < measured.scale.size(); ++side) {
        for (std::size_t x = 0; x < d; ++x) faces.push_back(measured.normals[3 * side + x]);
        faces.push_back(measured.scale[side]);
    }
    jacobian = measured.jacobian;
    largest_fscale = largest_scale(measured);
    uniform = std::all_of(material.begin(), material.end(), [](const Material& m) { return m == Material{}; });
    largest_speed = 0;
    for (const Material& m : material) largest_speed = std::max(largest_speed, equation->maxwell ? 1 / std::sqrt(m.first * m.second) : m.second);
}

std::vector<double> Discretisation::material_words() const {
    return words_of(*equation, material);
}

double Discretisation::stable_step(double part) const {
    return part / (largest_fscale * element->order * element->order * largest_speed);
}

std::vector<double> Discretisation::interpolated(const Solution& solution, double time) const {
    std::vector<double> q(static_cast<std::size_t>(words()));
    const auto fields = static_cast<std::size_t>(equation->field_count());
    const auto count = static_cast<std::size_t>(nodes());
    const int elements = size();
    Caught caught;
#pragma omp parallel for schedule(static) if (elements >= worth_a_team)
    for (int k = 0; k < elements; ++k) {
        caught.from([&] {
            const auto at = placed(mesh, k, element->points);
            for (std::size_t n = 0; n < count; ++n) {
                const Fields values = solution(at[n], time);
                for (std::size_t f = 0; f < fields; ++f) q[(static_cast<std::size_t>(k) * fields + f) * count + n] = values[f];
            }
        });
    }
    caught.rethrow();
    return q;
}

double Discretisation::energy(std::span<const double> q) const {
    return sum_by_halves(energies(q));
}

std::vector<double> Discretisation::energies(std::span<const double> q) const {
    const int fields = equation->field_count();
    const int first_electric = mesh.dimension == 3 ? 3 : 2;
    return parts_of_elements(size(), [&](int k) {
        const auto e = static_cast<std::size_t>(k);
        const Material& m = material[e];
        double sum = 0;
        for (int f = 0; f < fields; ++f) {
            const double* const values = &q[(e * static_cast<std::size_t>(fields) + static_cast<std::size_t>(f)) * static_cast<std::size_t>(nodes())];
            const double weight =
                equation->maxwell ? (f < first_electric ? m.second : m.first) : (f == 0 ? 1 / (m.first * m.second * m.second) : m.first);
            sum += weight * jacobian[e] * mass_norm(*element, [&](int i) { return values[i]; });
        }
        return sum / 2;
    });
}

double Discretisation::error(std::span<const double> q, const Solution& solution, double time) const {
    return std::sqrt(sum_by_halves(square_errors(q, solution, time)));
}

std::vector<double> Discretisation::square_errors(std::span<const double> q, const Solution& solution, double time) const {
    const std::vector<double> exact = interpolated(solution, time);
    const int fields = equation->field_count();
    return parts_of_elements(size(), [&](int k) {
        double sum = 0;
        for (int f = 0; f < fields; ++f) {
            const std::size_t begin =
                (static_cast<std::size_t>(k) * static_cast<std::size_t>(fields) + static_cast<std::size_t>(f)) * static_cast<std::size_t>(nodes());
            sum += jacobian[static_cast<std::size_t>(k)] *
                   mass_norm(*element, [&](int i) { return q[begin + static_cast<std::size_t>(i)] - exact[begin + static_cast<std::size_t>(i)]; });
        }
        return sum;
    });
}

Discretisation::Solution cavity(const WaveEquation& equation) {
    constexpr double pi = std::numbers::pi;
    if (!equation.maxwell)
        return [](const Point& x, double t) {
            const double w = pi * std::numbers::sqrt3;
            const std::array<double, 3> c{std::cos(pi * x[0]), std::cos(pi * x[1]), std::cos(pi * x[2])};
            const std::array<double, 3> s{std::sin(pi * x[0]), std::sin(pi * x[1]), std::sin(pi * x[2])};
            const double speed = pi / w * std::sin(w * t);
            return Discretisation::Fields{
                c[0] * c[1] * c[2] * std::cos(w * t), speed * s[0] * c[1] * c[2], speed * c[0] * s[1] * c[2], speed * c[0] * c[1] * s[2], 0, 0};
        };
    const bool plane = equation.dimension == 2;
    return [plane](const Point& x, double t) {
        const double w = pi * std::numbers::sqrt2;
        const double hx = -pi / w * std::sin(pi * x[0]) * std::cos(pi * x[1]) * std::sin(w * t);
        const double hy = pi / w * std::cos(pi * x[0]) * std::sin(pi * x[1]) * std::sin(w * t);
        const double ez = std::sin(pi * x[0]) * std::sin(pi * x[1]) * std::cos(w * t);
        return plane ? Discretisation::Fields{hx, hy, ez, 0, 0, 0} : Discretisation::Fields{hx, hy, 0, 0, 0, ez};
    };
}

Discretisation::Solution cylinder_mode(const WaveEquation& equation) {
    if (!equation.maxwell) throw Error("cylinder mode", "it is one of electromagnetic waves", "use maxwell_3d or maxwell_2d_tm");
    const bool plane = equation.dimension == 2;
    return [plane](const Point& x, double t) {
        constexpr double first_zero = 2.404825557695773;
        const double r = std::hypot(x[0], x[1]);
        const double around = r > 0 ? std::cyl_bessel_j(1.0, first_zero * r) / r * std::sin(first_zero * t) : 0;
        const double ez = std::cyl_bessel_j(0.0, first_zero * r) * std::cos(first_zero * t);
        return plane ? Discretisation::Fields{around * x[1], -around * x[0], ez, 0, 0, 0}
                     : Discretisation::Fields{around * x[1], -around * x[0], 0, 0, 0, ez};
    };
}

Discretisation::Solution pulse(const WaveEquation& equation, const Mesh& mesh) {
    Point low = mesh.vertices.front();
    Point high = low;
    for (const Point& vertex : mesh.vertices)
        for (std::size_t x = 0; x < 3; ++x) low[x] = std::min(low[x], vertex[x]), high[x] = std::max(high[x], vertex[x]);
    double extent = std::numeric_limits<double>::max();
    for (std::size_t x = 0; x < static_cast<std::size_t>(mesh.dimension); ++x) extent = std::min(extent, high[x] - low[x]);
    const WaveEquation* const of = &equation;
    return [low, high, extent, of](const Point& x, double) {
        double square = 0;
        for (std::size_t i = 0; i < (of->maxwell ? 2U : 3U); ++i) square += std::pow((x[i] - (low[i] + high[i]) / 2) / (extent / 8), 2);
        Discretisation::Fields fields{};
        fields[of->maxwell ? static_cast<std::size_t>(of->field_count()) - 1 : 0] = std::exp(-square);
        return fields;
    };
}

}  // namespace hone::inline v0_1::solvers::maxwell
