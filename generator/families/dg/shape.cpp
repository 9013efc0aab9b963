#include "generator/families/dg/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "foundation/error.hpp"

namespace hone::inline v0_1::dg {
namespace {

const std::array<Equation, 3>& equations() {
    static const std::array<Equation, 3> rows{
        Equation{"maxwell_3d", Simplex::tetrahedron, {"Hx", "Hy", "Hz", "Ex", "Ey", "Ez"}, {0, 0, 0, -2, -2, -2}, 3, true},
        Equation{"acoustics_3d", Simplex::tetrahedron, {"p", "u", "v", "w"}, {0, -2, -2, -2}, 1, false},
        Equation{"maxwell_2d_tm", Simplex::triangle, {"Hx", "Hy", "Ez"}, {0, 0, -2}, 2, true}};
    return rows;
}

// Not every family has every parameter.
bool has(const Problem& problem, const char* name, const char* value) {
    return std::any_of(problem.parameters().begin(), problem.parameters().end(),
                       [&](const Assignment& parameter) { return parameter.name == name && parameter.value == Value(value); });
}

}  // namespace

const Equation& equation(const std::string& name) {
    return *std::find_if(equations().begin(), equations().end(), [&](const Equation& row) { return row.name == name; });
}

std::vector<std::string> equation_names() {
    std::vector<std::string> names;
    for (const Equation& row : equations()) names.push_back(row.name);
    return names;
}

Shape::Shape(const Problem& problem)
    : what(&dg::equation(problem.word("equation"))),
      equation(what->name),
      order(static_cast<int>(problem.integer("order"))),
      dimension(what->simplex == Simplex::triangle ? 2 : 3),
      nodes(dimension == 2 ? triangle_nodes(order) : tetrahedron_nodes(order)),
      faces(dimension + 1),
      face_nodes(dimension == 2 ? order + 1 : triangle_nodes(order)),
      fields(static_cast<int>(what->fields.size())),
      precision(problem.precision()),
      elements(problem.integer("elements")),
      materials(has(problem, "materials", "per_element")),
      accurate(has(problem, "arithmetic", "f32_accurate")) {
    if (problem.family() == "dg_volume" || problem.family() == "dg_rk") return;
    if (elements * std::max(nodes, face_points()) > std::numeric_limits<int>::max())
        throw Error("problem \"" + problem.key() + "\"", "nodes of the mesh do not fit an index of 31 bits", "divide the mesh");
}

}  // namespace hone::inline v0_1::dg
