#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "generator/families/elements/reference_element.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"

namespace hone::tools {
namespace operators {

struct Settings {
    std::string element = "tetrahedron";
    std::int64_t order = 3;
    std::vector<std::string> matrices;
    bool json = false;
};

// One operator: how it is called, what it does, and its values.
struct Operator {
    std::string name;
    std::string help;
    int rows;
    int columns;
    std::function<double(int, int)> value;
};

Operator square(const std::string& name, const std::string& help, const SquareMatrix& matrix) {
    return {name, help, matrix.size, matrix.size, [&matrix](int i, int j) { return matrix(i, j); }};
}

// Views of `element`, which is kept for good.
std::vector<Operator> operators_of(const ReferenceElement& element) {
    constexpr std::array<const char*, 3> axes{"r", "s", "t"};
    std::vector<Operator> rows{square("V", "Vandermonde: orthonormal mode (column) at node (row)", element.vandermonde)};
    rows.reserve(element.derivative.size() + 3);
    for (std::size_t a = 0; a < element.derivative.size(); ++a)
        rows.push_back(
            square(fmt::format("D{}", axes[a]), fmt::format("derivative along {}: nodal values to nodal values", axes[a]), element.derivative[a]));
    rows.push_back(square("M", "mass: a' M b is the integral of a b over the reference element", element.mass));
    rows.push_back({"LIFT", "inverse mass times the integrals over the faces; columns: face by face, its nodes", element.lift.rows,
                    element.lift.columns, [&element](int i, int j) { return element.lift(i, j); }});
    return rows;
}

// Those that --matrix asks for.
std::vector<Operator> chosen(const std::vector<Operator>& all, const Settings& settings) {
    std::vector<std::string> names(all.size());
    std::transform(all.begin(), all.end(), names.begin(), [](const Operator& row) { return row.name; });
    std::vector<Operator> result;
    for (const auto& name : settings.matrices) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            throw Error("operators", fmt::format("there is no matrix \"{}\" of a {}", name, settings.element),
                        did_you_mean(name, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
        result.push_back(all[static_cast<std::size_t>(found - names.begin())]);
    }
    return result;
}

Json document_of(const Operator& matrix) {
    Json rows = Json::array();
    for (int i = 0; i < matrix.rows; ++i) {
        Json row = Json::array();
        for (int j = 0; j < matrix.columns; ++j) row.push_back(matrix.value(i, j));
        rows.push_back(std::move(row));
    }
    return rows;
}

Json document_of(const ReferenceElement& element, const std::vector<Operator>& matrices, const std::string& name) {
    const auto coordinates = [&](const std::vector<std::array<double, 3>>& points) {
        Json rows = Json::array();
        for (const auto& point : points) rows.push_back(std::vector<double>(point.begin(), point.begin() + element.dimension()));
        return rows;
    };
    Json document{{"element", name},
                  {"order", element.order},
                  {"vertices", coordinates(element.vertices)},
                  {"nodes", coordinates(element.points)},
                  {"face_vertices", element.face_vertices},
                  {"face_masks", element.face_mask}};
    for (const Operator& matrix : matrices) document[matrix.name] = document_of(matrix);
    return document;
}

std::string faces_of_node(const ReferenceElement& element, int node) {
    std::string text;
    for (std::size_t f = 0; f < element.face_mask.size(); ++f)
        if (const auto& mask = element.face_mask[f]; std::find(mask.begin(), mask.end(), node) != mask.end())
            text += (text.empty() ? "" : " ") + std::to_string(f);
    return text;
}

void print_nodes(const ReferenceElement& element, Console& console) {
    std::vector<Table::Column> columns{{"node", Table::Align::right}, {"r", Table::Align::right}, {"s", Table::Align::right}};
    if (element.dimension() == 3) columns.push_back({"t", Table::Align::right});
    columns.push_back({"on faces"});
    Table table(columns);
    for (int n = 0; n < element.nodes(); ++n) {
        std::vector<std::string> cells{std::to_string(n)};
        for (int x = 0; x < element.dimension(); ++x)
            cells.push_back(fmt::format("{:.15f}", element.points[static_cast<std::size_t>(n)][static_cast<std::size_t>(x)]));
        cells.push_back(faces_of_node(element, n));
        table.row(cells);
    }
    console.print("{}", table.text());
}

void print_summary(const std::vector<Operator>& matrices, Console& console) {
    Table table({{"matrix"}, {"size", Table::Align::right}, {"not zero", Table::Align::right}, {"norm", Table::Align::right}, {"what it is"}});
    for (const Operator& matrix : matrices) {
        double squares = 0;
        int filled = 0;
        for (int i = 0; i < matrix.rows; ++i)
            for (int j = 0; j < matrix.columns; ++j) {
                squares += matrix.value(i, j) * matrix.value(i, j);
                filled += std::abs(matrix.value(i, j)) > 1e-12 ? 1 : 0;
            }
        table.row({matrix.name, fmt::format("{} x {}", matrix.rows, matrix.columns),
                   percent(static_cast<double>(filled) / (matrix.rows * matrix.columns)), fmt::format("{:.10g}", std::sqrt(squares)), matrix.help});
    }
    console.print("{}", table.text());
}

void print_matrix(const Operator& matrix, Console& console) {
    console.print("\n{}: {}\n", matrix.name, matrix.help);
    for (int i = 0; i < matrix.rows; ++i) {
        for (int j = 0; j < matrix.columns; ++j) console.print("{}{:19.15f}", j == 0 ? "" : " ", matrix.value(i, j));
        console.print("\n");
    }
}

Exit show(const Settings& settings, Console& console) {
    if (settings.element != "triangle" && settings.element != "tetrahedron")
        throw Error("operators", fmt::format("there is no element \"{}\"", settings.element),
                    did_you_mean(settings.element, {"triangle", "tetrahedron"}) + "use triangle or tetrahedron");
    constexpr std::int64_t beyond = 1000;  // any order that high is refused by its own name
    const Simplex simplex = settings.element == "triangle" ? Simplex::triangle : Simplex::tetrahedron;
    const ReferenceElement& element = reference_element(simplex, static_cast<int>(std::min(settings.order, beyond)));
    const std::vector<Operator> all = operators_of(element);
    const std::vector<Operator> wanted = chosen(all, settings);
    if (settings.json) {
        print(console, document_of(element, wanted.empty() ? all : wanted, settings.element));
        return Exit::ok;
    }
    if (wanted.empty()) {
        console.print("{} of order {}: {} nodes, {} on each of {} faces\n\n", settings.element, element.order, element.nodes(), element.face_nodes(),
                      element.faces());
        print_nodes(element, console);
        console.print("\n");
        print_summary(all, console);
    }
    for (const Operator& matrix : wanted) print_matrix(matrix, console);
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.text("element", settings->element, "NAME", "triangle or tetrahedron; default tetrahedron");
    options.number("order", settings->order, "N", "polynomial order, 1 to 10; default 3", 1);
    options.list("matrix", settings->matrices, "NAME", "print the values of this matrix instead: V, Dr, Ds, Dt, M or LIFT");
    options.flag("json", settings->json, "print one JSON document, with all digits: nodes, faces and all matrices, or those of --matrix");
    return [settings](Console& console) { return show(*settings, console); };
}

}  // namespace operators

Command operators_command() {
    return {
        "operators",
        "the nodes and operators of a reference element, to check other codes against",
        "[options]",
        "Prints the ingredients of discontinuous Galerkin kernels: the nodes of a reference simplex, the nodes of each face, the Vandermonde "
        "matrix V, the derivatives Dr, Ds, Dt, the mass matrix M and LIFT.\n\n"
        "Nodes are warp & blend nodes (Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008, 6.1 and 10.1), numbered from 0 "
        "with t outermost, then s, and r innermost. The triangle has the vertices (-1,-1), (1,-1), (-1,1) and the faces s = -1; r + s = 0; r = -1. "
        "The tetrahedron has the vertices (-1,-1,-1), (1,-1,-1), (-1,1,-1), (-1,-1,1) and the faces t = -1; s = -1; r + s + t = -1; r = -1.",
        {{"operators --element tetrahedron --order 5", "nodes, and sizes and norms of the matrices"},
         {"operators --element triangle --order 2 --matrix LIFT --matrix M", "two matrices, row by row"},
         {"operators --element tetrahedron --order 5 --json", "everything with all digits, for a script"}},
        operators::declare};
}

}  // namespace hone::tools
