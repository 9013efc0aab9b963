#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::inline v0_1::solvers::hydro {

/// A square sparse matrix by rows: columns of a row ascend.
struct CsrMatrix {
    std::vector<int> row_starts;  ///< one more than there are rows
    std::vector<int> columns;
    std::vector<double> values;

    int rows() const { return static_cast<int>(row_starts.size()) - 1; }
};

/// What a mass matrix is made of: continuous elements Qk with Gauss-Lobatto nodes, and Gauss
/// points. Words as the family fe_mass has them.
struct MassElements {
    int dimension = 0, order = 0, points = 0;  ///< points along an axis
    std::vector<std::int32_t> nodes;           ///< [element][(order + 1)^d]
    std::vector<double> weights;               ///< [element][points^d]: density times |J| times the quadrature's weight

    bool empty() const { return nodes.empty(); }
};

/// M x_c = b_c for every component of a vector field, with the same symmetric positive definite
/// matrix and different nodes where x_c stays 0.
struct MassSystem {
    CsrMatrix matrix;
    int components = 1;
    std::vector<std::vector<int>> fixed;  ///< [component]: the nodes that are held at 0, ascending
    MassElements elements = {};           ///< the same matrix, where it is known what it is made of
};

/// How M is multiplied with.
enum class MassForm {
    rows,     ///< by its rows: csr_spmv
    elements  ///< by its elements, without the matrix: fe_mass
};
/// "rows" or "elements"; throws Error for anything else.
MassForm parse_mass_form(const std::string& word);
std::string to_string(MassForm form);

}  // namespace hone::inline v0_1::solvers::hydro
