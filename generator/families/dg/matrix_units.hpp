#pragma once

#include <functional>
#include <string>

#include "generator/block.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/kernel_source.hpp"
#include "generator/limits.hpp"

// Products on the matrix units, as dg_volume and dg_stage use them: m16n8k8 in f64 (sm_90 and
// later, twice the rate of FMA), or in f32 as three products of TF32 numbers (sm_80 and later, five
// thirds of the rate of FMA on an H200). In the second an operand is the sum of two TF32 numbers,
// which hold 22 to 23 of its 24 bits, and the product of the two low parts is left out (H. Ootomo,
// R. Yokota, Int. J. High Perform. Comput. Appl. 36, 2022): as good as f32 by the bound that strict
// kernels are held to, but not IEEE arithmetic, so that a problem must ask for it with
// arithmetic=f32_accurate. Layout of the fragments: PTX ISA, "Matrix fragments for mma.m16n8k8":
// with g = lane / 4 and t = lane % 4, a lane holds a = (g, t), (g + 8, t), (g, t + 4), (g + 8, t +
// 4), b = (t, g), (t + 4, g) and c = (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), each (row,
// column).

namespace hone::inline v0_1::dg {

/// A tile of nodes x elements, and columns of an operator per step.
constexpr int mma_nodes = 16;
constexpr int mma_elements = 8;
constexpr int mma_columns = 8;
constexpr int mma_lanes = 32;

/// What the tunable `unrolled_steps` says in all forms on the matrix units.
constexpr const char* unrolled_steps_help = "steps of 8 columns of an operator, or of 4 with tiles of 8 nodes, per trip of the inner loop";

/// The form on the matrix units that a problem may use on a device: "mma" (f64), "tf32" (three
/// terms), or "".
std::string matrix_units(const Shape& shape, const Limits& limits);

/// Products that the units make for one.
constexpr int product_terms(const Shape& shape) {
    return shape.precision == Precision::f32 ? 3 : 1;
}

/// 32-bit registers of a thread that accumulates `sums` values per element of a group in `columns`
/// groups, beside operands of `matrices` matrices (as often as `sets` says) and of `fields` fields.
int matrix_registers(const Shape& shape, int sums, int columns, int matrices, int sets, int fields);

/// Several matrices of `rows` rows, entry(a, n, c) their coefficients, in the order in which a lane
/// loads them: [tile of 16 nodes][step of 8 columns][matrix][2][lane] of 16 bytes. Which column
/// plays which of the 8 is free as long as both operands agree: lane group t takes columns 2t and
/// 2t + 1, so that its two values of b are neighbours. f64: two times 16 bytes are columns 2t and
/// 2t + 1, nodes g and g + 8 each; TF32: high and low parts of (g, 2t), (g + 8, 2t), (g, 2t + 1),
/// (g + 8, 2t + 1).
TableSpec fragment_table(const std::string& name, const Shape& shape, int matrices, int rows, int columns,
                         const std::function<double(int a, int n, int c)>& entry);

}  // namespace hone::inline v0_1::dg
