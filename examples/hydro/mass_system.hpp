#pragma once

#include <vector>

namespace hone::examples::hydro {

/// A square sparse matrix by rows: columns of a row ascend.
struct CsrMatrix {
    std::vector<int> row_starts;  ///< one more than there are rows
    std::vector<int> columns;
    std::vector<double> values;

    int rows() const { return static_cast<int>(row_starts.size()) - 1; }
};

/// M x_c = b_c for every component of a vector field, with the same symmetric positive definite matrix and different nodes where x_c stays 0.
struct MassSystem {
    CsrMatrix matrix;
    int components = 1;
    std::vector<std::vector<int>> fixed;  ///< [component]: the nodes that are held at 0, ascending
};

}  // namespace hone::examples::hydro
