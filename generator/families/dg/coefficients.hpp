#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "generator/block.hpp"
#include "generator/problem.hpp"

namespace hone::inline v0_1::dg {

/// An operator's coefficients without the rounding errors of their computation: those that a
/// symmetry of the element makes equal are equal, so that a register can hold one of f64 for many
/// instructions, and those that it makes zero are zero.
class Coefficients {
  public:
    /// `entry(row, column)` computes one.
    template <typename Entry>
    Coefficients(int rows, int columns, Entry entry) : rows_(rows), columns_(columns) {
        for (int n = 0; n < rows; ++n)
            for (int c = 0; c < columns; ++c) values_.push_back(entry(n, c));
        even_out();
    }
    /// Zero beyond the last column.
    double operator()(int row, int column) const { return column < columns_ ? values_[static_cast<std::size_t>(row * columns_ + column)] : 0; }
    int rows() const { return rows_; }
    int nonzeros() const { return static_cast<int>(values_.size()) - static_cast<int>(std::count(values_.begin(), values_.end(), 0.0)); }

  private:
    int rows_, columns_;
    std::vector<double> values_;

    void even_out();
};

/// The table `declared`, such as `D[nodes][nodes]`, of a kernel whose unrolled loops turn entries
/// into immediates of instructions: column by column of an operator, `columns` of them.
Block coefficient_table(const std::string& declared, const Coefficients& coefficients, int columns, Precision precision);

}  // namespace hone::inline v0_1::dg
