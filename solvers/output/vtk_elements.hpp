#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hone::inline v0_1::solvers {

/// Writes fields on simplices, or quadrilaterals and hexahedra, with nodes of high order as a .vtu
/// file: curves within an element are drawn by ParaView as they are (Lagrange cells; raise
/// "Nonlinear Subdivision Level" there).
///
///     VtkElements elements(3, 4, corners);             // tetrahedra of order 4
///     elements.field("E", {ex, ey, ez});                // nodal values, one after the other: [element][node]
///     elements.write("wave_0010.vtu");
///
/// VTK's Lagrange cells have equally spaced nodes: values must be given there, in the order of
/// `vtk_lattice` or `vtk_cube_lattice`. Format: VTK User's Guide; order of nodes:
/// vtkHigherOrderTriangle, ...Tetra, ...Quadrilateral and ...Hexahedron.
class VtkElements {
  public:
    enum class Shape { simplex, cube };

    /// `points` [element][node]: where the nodes lie. Keeps a view.
    VtkElements(int dimension, int order, std::span<const std::array<double, 3>> points, Shape shape = Shape::simplex)
        : dimension_(dimension), order_(order), shape_(shape), points_(points) {}

    /// A scalar (one component) or vector (three) with a value at every node. Throws Error when the
    /// numbers of values differ.
    void field(const std::string& name, const std::vector<std::span<const double>>& components);
    /// One value per element.
    void element_field(const std::string& name, std::span<const double> values) { element_fields_.emplace_back(name, values); }

    /// Throws Error when the file cannot be written.
    void write(const std::filesystem::path& file) const;
    /// The same as one of several ranks' parts of a picture, with fields of the same names:
    /// name_3.vtu of rank 3; rank 0 also writes name.pvtu, which joins them. Alone it is name.vtu.
    /// Result: the name of the file to open.
    std::string write_part(const std::filesystem::path& folder, const std::string& name, int rank, int ranks) const;

  private:
    struct Field {
        std::string name;
        int components;
        std::vector<float> values;
    };
    int dimension_, order_;
    Shape shape_;
    std::span<const std::array<double, 3>> points_;
    std::vector<Field> fields_;
    std::vector<std::pair<std::string, std::span<const double>>> element_fields_;
};

/// Steps of each node of VTK's Lagrange triangle (dimension 2) or tetrahedron towards the second,
/// third and fourth corner, in VTK's order.
std::vector<std::array<int, 3>> vtk_lattice(int dimension, int order);
/// Steps along x, y and z of each node of VTK's Lagrange quadrilateral or hexahedron, in the order
/// of files of version 1.0 (VTK 9.1 exchanged two edges of the hexahedron, and renumbers what it
/// reads from older files).
std::vector<std::array<int, 3>> vtk_cube_lattice(int dimension, int order);

}  // namespace hone::inline v0_1::solvers
