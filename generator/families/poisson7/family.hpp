#pragma once

#include <cstdint>
#include <span>

#include "generator/family.hpp"

namespace hone::inline v0_1 {

namespace poisson {

/// Words of the array `scalars` that the two halves of a solver's iteration hand to each other on
/// the device. Sums are kept per cell of the grid (divided by nx ny nz), so that their magnitude
/// does not depend on its size.
namespace scalar {
enum Word : int {
    alpha,             ///< step along p; the direction half makes it from delta and gamma
    beta,              ///< share of the old direction in the new one; the residual half makes it from two deltas
    gamma,             ///< p . M p
    delta,             ///< z . r
    residual_square,   ///< r . r
    mean,              ///< mean of r, which the next residual half takes from it
    own_weight,        ///< set by the solver: z = Q (own_weight r + neighbour_weight A Q r), with M = D - A and Q the inverse diagonal;
    neighbour_weight,  ///< polynomial: c - 1 and 1; Jacobi: 1 and 0; none: as Jacobi, with ones for the inverse diagonal
    mean_weight,       ///< set by the solver: nx ny nz / number of cells that are not solid for a singular problem, 0 for others
    breakdown,         ///< set to 1, and never back, when p . M p or z . r is not positive while there is a residual
    iterations,        ///< residual halves so far
    words = 16         ///< length of the array
};
}  // namespace scalar

/// Words of the array `history`: the last values of `residual_square`, number `iterations` modulo
/// this.
constexpr int history_words = 256;

/// Planes of a column that the sums take as one chunk, counted from the start of the range; blocks
/// along z are multiples of it.
constexpr int chunk_planes = 8;
/// Columns of a row that are summed in pairs before anything else; starts are multiples of it.
constexpr std::int64_t group_columns = 32;
/// Sums of groups that a block of the summation takes at most. A block has groups of one chunk
/// only: a grid that is cut between chunks has the blocks of the whole one.
constexpr std::int64_t sums_per_block = 1024;
/// A block's sum is divided by the cells of a full block. A power of two, so that it costs no
/// digit.
constexpr std::int64_t cells_per_block = chunk_planes * group_columns * sums_per_block;

constexpr std::int64_t blocks_of_chunk(std::int64_t nx, std::int64_t ny) {
    return (ny * ((nx + group_columns - 1) / group_columns) + sums_per_block - 1) / sums_per_block;
}

/// The sum over a grid of nx ny nz cells, per cell, of its blocks' sums: number `sum` of the `sums`
/// that each block has. The order and the digits are those of the kernels that make it themselves.
double sum_of_blocks(std::span<const double> block_sums, int sums, int sum, double cells);

}  // namespace poisson

/// The 7-point operator of a pressure Poisson equation on a grid of nx x ny x nz cells, alone and
/// in the two halves of a conjugate-gradient iteration with a polynomial preconditioner.
///
/// (M p)(i,j,k) = diagonal p + cx (p_W + p_E) + cy (p_S + p_N) + cz (p_B + p_T). What lies beyond
/// the grid wraps around (`periodic`), is zero (`dirichlet`), or equals the cell inside
/// (`neumann`). A positive operator has a positive diagonal and negative couplings.
///
/// Coefficients: `scalar`: one array [5] of diagonal, cx, cy, cz and inverse diagonal. `axis`:
/// arrays cx[nx], cy[ny], cz[nz], and the diagonal as a field. `face`: fields cx, cy, cz, where
/// cx(i,j,k) couples the cells i - 1 and i (and 0 with the one beyond the last), so that M is
/// symmetric on any grid; and the diagonal as a field. The residual half takes the field
/// `inverse_diagonal` in place of `diagonal`.
///
/// Interior walls need no kernel of their own: a solid cell is one whose `inverse_diagonal` is 0.
/// There r, z and p stay 0, so its neighbours feel a value of 0, with their full diagonal, or an
/// impermeable wall, with a diagonal that is less by the coupling. w is of no meaning in solid
/// cells.
///
/// Kernels, with fields [nz][ny][pitch] of which the first nx words of a row are cells:
///
///     apply      w = M p
///     apply_dot  w = M p, dot[0] = p . w / (nx ny nz)
///     direction  p = z + beta p_old; x += alpha p_old; w = M p; then gamma = p . w and alpha = delta / gamma
///     residual   r = r_old - alpha w - mean; z = P r; then delta = z . r, beta = delta / old delta, mean of r, history
///     direction_part, residual_part   the same without what follows "then", for devices that share a grid: they leave block_sums
///
/// where scalars are read and written on the device (poisson::scalar), and P = c Q - Q M Q. The
/// order of all sums is fixed: eight planes of a column one after the other, 32 neighbouring
/// columns of a row in pairs, then blocks of these within their eight planes, in double precision,
/// then the blocks. No configuration changes a digit.
///
/// A step over planes [first, last) reads one more plane of each stencilled field at either side.
/// Its sums are those of these cells; what follows from them (alpha, beta, mean) is of use only
/// when the range is the whole grid. A part's block_sums [blocks][sums] are those of the range,
/// from the array's begin on: blocks_of_chunk(nx, ny) for each eight planes, divided by
/// cells_per_block; gamma, or delta, r . r and the sum of r. Ranges that begin at multiples of
/// eight planes give the blocks of the whole grid, and sum_of_blocks its sums.
///
/// Source: A. Khajeh-Saeed, J. B. Perot, Computational Fluid Dynamics Simulations Using Many
/// Graphics Processors, Computing in Science & Engineering 2012.
Family poisson7();

}  // namespace hone::inline v0_1
