#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/parity.hpp"
#include "generator/families/dg/passes/ways.hpp"
#include "generator/families/dg/tiling.hpp"

namespace hone::inline v0_1::dg {

// Fields and fluxes of a block's elements in shared memory, where tiles of threads and the matrix
// units read them alike: a row of an element has its nodes, or the points of its faces.

struct Operands {
    int field_columns;        ///< columns of D, and values of a row that are read
    int face_columns;         ///< likewise of LIFT for a face
    int flux_columns;         ///< and for all of them
    int field_row, flux_row;  ///< stride between elements
    int nodal_row = 0;        ///< likewise where fields and results lie as in memory, for parts

    /// Rows are read `step` values at a time. `faces_apart`: each face of a row is rounded up to
    /// whole steps.
    Operands(const Shape& shape, int step, bool faces_apart = false)
        : field_columns(round_up(shape.nodes, step)),
          face_columns(faces_apart ? round_up(shape.face_nodes, step) : shape.face_nodes),
          flux_columns(round_up(shape.faces * face_columns, step)),
          // An odd number of vectors keeps neighbouring elements in different banks.
          field_row((field_columns / step | 1) * step),
          flux_row((flux_columns / step | 1) * step) {}

    /// Where D has other columns than one for each node.
    void set_field_columns(int columns, int step) {
        field_columns = columns;
        field_row = (columns / step | 1) * step;
    }
    /// Likewise LIFT, than one for each point of a face.
    void set_flux_columns(int columns, int step) {
        flux_columns = columns;
        flux_row = (columns / step | 1) * step;
    }

    /// Rows of nodal values: an odd number of copies, or of two words, so that neighbouring
    /// elements begin in different banks. Elements lie as in memory where copies do not divide
    /// their words, which are then such a number. The place of the parts has room for them.
    void set_nodal_row(const Shape& shape, int copy_width, int step) {
        const int width = std::max(copy_width, 2);
        nodal_row = shape.words() % width == 0 ? (shape.words() / width | 1) * width : shape.words();
        while (shape.fields * field_row < nodal_row) field_row += 2 * step;
    }

    /// Values per field and element. `traces`: fields stay until the fluxes, in a place of their
    /// own, are made from them.
    int place(const Parts& parts, bool traces) const {
        return traces ? field_row + flux_row : std::max(parts.volume ? field_row : 0, parts.surface ? flux_row : 0);
    }
};

/// Where D and LIFT work on even and odd parts (the tunable `basis`): their rows, padded to whole
/// tiles, and the columns of D, to whole steps. Even parts are first. Those under two reflections
/// have mixed ones, too, of two kinds, between the even and the odd.
struct PartTiles {
    int even_rows = 0, odd_rows = 0, even_columns = 0, odd_columns = 0;
    int mixed_rows = 0, mixed_columns = 0;

    PartTiles() = default;
    PartTiles(const Parity& parity, int tile, int step)
        : even_rows(round_up(parity.even(), tile)),
          odd_rows(round_up(parity.odd(), tile)),
          even_columns(round_up(parity.even(), step)),
          odd_columns(round_up(parity.odd(), step)) {}

    PartTiles(const DoubleParity& parity, int tile, int step)
        : even_rows(round_up(parity.count(0), tile)),
          odd_rows(round_up(parity.count(3), tile)),
          even_columns(round_up(parity.count(0), step)),
          odd_columns(round_up(parity.count(3), step)),
          mixed_rows(round_up(parity.count(1), tile)),
          mixed_columns(round_up(parity.count(1), step)) {}

    int rows() const { return even_rows + 2 * mixed_rows + odd_rows; }
    int columns() const { return even_columns + 2 * mixed_columns + odd_columns; }
    /// Of a kind of DoubleParity.
    int rows_of(int kind) const { return kind == 0 ? even_rows : kind == 3 ? odd_rows : mixed_rows; }
    int columns_of(int kind) const { return kind == 0 ? even_columns : kind == 3 ? odd_columns : mixed_columns; }
    int rows(bool odd) const { return odd ? odd_rows : even_rows; }
    int columns(bool odd) const { return odd ? odd_columns : even_columns; }
    /// Words of D with double_parity.
    int words_of_derivatives() const;
    /// Pairs of a row and a column, weighted by the share of an algebra's products that each has.
    double pairs(const Algebra& algebra) const;
};

/// `doubled`: with the value double_parity, where the element has two reflections.
Tunable basis_tunable(bool doubled);
/// For the pieces parts_of_fields and parts_of_results of dg/passes/block.cu.
Block part_constants(const Plan& plan, const PartTiles& tiles);
/// The same without parts under one reflection.
Tunable double_basis_tunable();
/// The products of an algebra whose derivatives change parity, or those that keep it.
Algebra products_by_parity(Algebra algebra, bool changing);

/// Rows of amplitudes by parity: face after face, of one that is its own image the even and then
/// the odd columns, each padded to whole steps.
struct FaceParts {
    struct Columns {
        int begin = 0, count = 0;
        double sign = 1;  ///< of the odd rows of the second of two faces that are swapped: -1
    };
    std::vector<Columns> even, odd;  ///< of each face: what rows of LIFT of a parity take of it
    std::vector<int> place;          ///< of each point of the faces
    std::vector<int> padded;         ///< places that no point has
    int columns = 0;                 ///< of a row
    int odd_points = 0;              ///< of a face that is its own image, the odd parts

    FaceParts(const ReferenceElement& element, int step);

    const std::vector<Columns>& of(bool is_odd) const { return is_odd ? odd : even; }
    /// Columns of LIFT for rows of a parity.
    int count(bool is_odd) const;
};

/// A table of nodes.
Block node_table(const char* name, const std::vector<int>& nodes);
/// The table of the faces' points, with the place of each in a row of amplitudes.
Block point_table(const Shape& shape, const std::vector<int>& places);
/// 32-bit registers of what a thread updates and asks for ahead, when those of the products are
/// free.
constexpr int most_held_ahead = 48;
/// Points of faces that a thread has at a time, in blocks of `threads` for `elements`.
int points_of_thread(const Shape& shape, int elements, int threads);
/// For the piece neighbours of dg/passes/block.cu.
Block points_in_flight(const Shape& shape, int elements, int threads);
/// For the pieces parts_of_amplitudes of dg/passes/block.cu and lifted_by_parity of
/// dg/passes/warp_tile.cu.
Block face_part_constants(const Shape& shape, const FaceParts& parts);
/// LIFT for even rows, then for odd ones, each column by column.
TableSpec part_lift(const Shape& shape, const PartTiles& tiles, int step);

/// Columns of LIFT for a face, with double_parity: its even points, then its odd ones, each padded
/// to whole steps.
struct DoubleFaceColumns {
    int even = 0, odd = 0;

    DoubleFaceColumns() = default;
    DoubleFaceColumns(const DoubleFaceParity& faces, int step) : even(round_up(faces.even(), step)), odd(round_up(faces.odd(), step)) {}

    int all() const { return even + odd; }
    /// For rows of a kind, those of faces `pair` and `pair` + 2, which share them.
    int count(int kind, int pair) const { return (kind >> pair & 1) != 0 ? odd : even; }
    /// Words of LIFT, and pairs of a row and a column of all four faces.
    int words(const PartTiles& tiles) const;
    int pairs(const PartTiles& tiles) const { return 2 * words(tiles); }
};

/// For the pieces of the same with double_parity, and the tables D and LIFT: kind by kind of their
/// rows, and D along each direction, LIFT for each two faces that are each other's image.
Block double_part_constants(const Plan& plan, const PartTiles& tiles);
Block double_face_part_constants(const Shape& shape, int step);
TableSpec double_part_derivatives(const Shape& shape, const PartTiles& tiles);
/// LIFT at a column of faces `pair` and `pair` + 2, between points' parts and a row of a kind; 0
/// where there is no such part.
double double_part_lift_entry(const ReferenceElement& element, int pair, int kind, int row, int column);
TableSpec double_part_lift(const Shape& shape, const PartTiles& tiles, int step);
/// A matrix of `rows` x `columns`, entry(row, column) its coefficients, in the order in which a
/// kernel loads them.
using OrderedMatrix = std::function<std::vector<double>(int rows, int columns, const std::function<double(int, int)>& entry)>;
/// The tables D and LIFT in the order of the two above, each of their matrices `ordered`.
std::pair<TableSpec, TableSpec> double_part_operators(const Shape& shape, const PartTiles& tiles, const DoubleFaceColumns& faces,
                                                      const OrderedMatrix& ordered);

/// Words of the metric factors of a block's elements.
int factor_words(const Shape& shape, const Config& config, int elements, const Parts& parts);
/// Values that a right-hand side sums up separately: fields, or the accumulators of the volume
/// part.
int held_sums(const Shape& shape, const Config& config, const Parts& parts);

/// How neighbours' values at faces come to a block: the tunable `gathers`.
Tunable gathers_tunable();
/// For the pieces dg/passes/frames.cu, amplitudes.cu and directions.cu: words of what is kept of
/// each face, normal, Fscale, tangents, the impedance where materials differ.
int frame_words(const Shape& shape, int elements);
/// Products of a column of LIFT with a node, and those with directions, divided by the number of
/// fields.
double products_of_amplitudes(const Shape& shape, const Operands& operands);
Block frame_constants(const Shape& shape, const Operands& operands);

/// LIFT at a column of rows whose faces are padded.
double padded_lift(const Shape& shape, const Operands& operands, int node, int column);
/// Constants of the rows, and of the volume part.
Block operand_constants(const Plan& plan, const Operands& operands);
/// Stride between elements where nodal values lie as in memory, and how many of a block's
/// `elements` are in different banks.
Block nodal_row_constant(const Shape& shape, const Operands& operands, int elements);
/// For the piece dg/passes/gather.cu: values per copy of a field.
Block field_width_constant(const Shape& shape, const Operands& operands);
/// Products of the volume part in registers, `coefficient` the index of node r in d[along], of all
/// derivatives or of the one that `along` names; and their combination with the metric factors.
Block register_products(const Algebra& algebra, const std::string& coefficient, bool one_derivative = false);
Block register_combination(const Algebra& algebra);
/// Adds D and LIFT, where a pass has their parts, to a plan's tables, column by column with the
/// nodes of a column side by side, and counts the operations that it executes, `surface_products`
/// with each field at a node for LIFT.
void add_column_operators(Plan& plan, const Operands& operands, int nodes_padded, double surface_products);
/// Holes and flags of the pieces `fields` and `fluxes` of dg/passes/block.cu for a pass.
PassText operand_text(const Plan& plan, const Pass& pass, bool traces);

}  // namespace hone::inline v0_1::dg
