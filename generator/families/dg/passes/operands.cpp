#include "generator/families/dg/passes/operands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "generator/families/dg/passes/flux.hpp"

namespace hone::inline v0_1::dg {
namespace {

// Fields of node m, from `value` into shared memory.
Block transform(const Algebra& algebra) {
    Block block;
    if (algebra.transforms()) {
        block.text("const real* const own = factor + (e < present ? e : 0) * factors;");
        block.append(name_factors(algebra));
    }
    for (std::size_t f = 0; f < algebra.transform.size(); ++f)
        block.line("here[({} * elements_per_block + e) * field_row + m] = {};", f,
                   expression(algebra.transform[f], "", [](int i) { return fmt::format("value[{}]", i); }));
    return block;
}

// Where Fscale stands behind the directions of a face: its normal, or two tangents.
int fscale_word(const Shape& shape) {
    return amplitudes_of(shape) == 2 ? 2 * shape.dimension : shape.dimension;
}

int words_of_frame(const Shape& shape) {
    return round_up(fscale_word(shape) + 1 + (shape.materials ? 1 : 0), 4);
}

// Of an element's faces. An odd number of 16 bytes keeps neighbouring elements in different banks.
int row_of_frames(const Shape& shape) {
    return (shape.faces * words_of_frame(shape) / 4 | 1) * 4;
}

// An operator of several matrices (Dr, Ds, Dt, or LIFT alone), entry(a, n, c) their coefficients:
// column by column, nodes of a column side by side, zero where padded.
template <typename Entry>
TableSpec table(const char* name, const Shape& shape, int matrices, int columns, int padded_columns, int nodes_padded, Entry entry) {
    TableSpec result{name, static_cast<std::int64_t>(matrices) * padded_columns * nodes_padded, {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int a = 0; a < matrices; ++a)
        for (int c = 0; c < columns; ++c)
            for (int n = 0; n < shape.nodes; ++n) result.contents[static_cast<std::size_t>((c * matrices + a) * nodes_padded + n)] = entry(a, n, c);
    return result;
}

// Places of a row that nothing takes: how many, and which.
Block padding(const char* count, const char* table, const std::vector<int>& places) {
    Block block;
    if (places.empty()) return block;
    block.line("constexpr int {} = {};  // of a row, where nothing is", count, places.size());
    return block.append(node_table(table, places));
}

// Columns [begin, end) of a row.
void append_columns(std::vector<int>& columns, int begin, int end) {
    for (; begin < end; ++begin) columns.push_back(begin);
}

}  // namespace

int PartTiles::words_of_derivatives() const {
    int all = 0;
    for (int kind = 0; kind < 4; ++kind)
        for (int along = 0; along < 3; ++along) all += rows_of(kind) * columns_of(kind ^ along);
    return all;
}

double PartTiles::pairs(const Algebra& algebra) const {
    if (mixed_rows > 0) return words_of_derivatives() / 3.0;  // each derivative has as many of the products
    const double same = even_rows * even_columns + odd_rows * odd_columns, other = even_rows * odd_columns + odd_rows * even_columns;
    const auto changing = static_cast<double>(products_by_parity(algebra, true).products.size()), all = static_cast<double>(algebra.products.size());
    return ((all - changing) * same + changing * other) / all;
}

Block node_table(const char* name, const std::vector<int>& nodes) {
    return Block().line("__device__ const short {}[{}] = {{{}}};", name, nodes.size(), fmt::join(nodes, ", "));
}

Tunable basis_tunable(bool doubled) {
    return {"basis",
            "what D and LIFT work on: nodal values, or their even and odd parts under the reflection of the element that swaps r and s (parity), or "
            "under that and the one that swaps a tetrahedron's other two vertices (double_parity)",
            doubled ? words({"nodal", "parity", "double_parity"}) : words({"nodal", "parity"}), Value("nodal")};
}

Tunable double_basis_tunable() {
    Tunable basis = basis_tunable(true);
    basis.values = words({"nodal", "double_parity"});
    return basis;
}

Block part_constants(const Plan& plan, const PartTiles& tiles) {
    const Parity& parity = Parity::of(plan.shape.reference());
    std::vector<int> rows(static_cast<std::size_t>(tiles.rows()), -1);
    std::copy(parity.first.begin(), parity.first.end(), rows.begin());
    std::copy(parity.second.begin(), parity.second.end(), rows.begin() + tiles.even_rows);
    Block block;
    block.line("constexpr int even_parts = {}, odd_parts = {}, even_rows = {}, odd_rows = {}, even_columns = {}, odd_columns = {};", parity.even(),
               parity.odd(), tiles.even_rows, tiles.odd_rows, tiles.even_columns, tiles.odd_columns);
    std::vector<int> padded;
    append_columns(padded, parity.even(), tiles.even_columns);
    append_columns(padded, tiles.even_columns + parity.odd(), tiles.columns());
    block.append(node_table("first_node", parity.first)).append(node_table("second_node", parity.second));
    if (plan.any(&Pass::volume)) block.append(padding("padded_columns", "padded_column", padded));
    return block.append(node_table("row_node", rows));
}

Block point_table(const Shape& shape, const std::vector<int>& places) {
    std::string points;
    for (int point = 0; point < shape.face_points(); ++point) {
        const int face = point / shape.face_nodes;
        points += fmt::format("{}{{{}, {}, {}}}", points.empty() ? "" : ", ",
                              shape.reference().face_mask[static_cast<std::size_t>(face)][static_cast<std::size_t>(point % shape.face_nodes)],
                              places[static_cast<std::size_t>(point)], face);
    }
    return Block().line("__device__ const FacePoint points_of_faces[face_points] = {{{}}};", points);
}

int points_of_thread(const Shape& shape, int elements, int threads) {
    const int most = shape.precision == Precision::f32 ? 6 : 4;
    return std::min(most, (elements * shape.face_points() + threads - 1) / threads);
}

Block points_in_flight(const Shape& shape, int elements, int threads) {
    return Block().line("constexpr int points_in_flight = {};  // of the faces, that a thread has at a time",
                        points_of_thread(shape, elements, threads));
}

FaceParts::FaceParts(const ReferenceElement& element, int step) {
    const FaceParity& parity = FaceParity::of(element);
    const int face_nodes = element.face_nodes();
    place.resize(static_cast<std::size_t>(element.faces() * face_nodes));
    for (int face = 0; face < element.faces(); ++face) {
        const auto& first = parity.first[static_cast<std::size_t>(face)];
        const auto& second = parity.second[static_cast<std::size_t>(face)];
        // Of one part after the other: its points, in columns padded to whole steps.
        const auto put = [&](const std::vector<int>& points) {
            const int begin = columns, count = round_up(static_cast<int>(points.size()), step);
            for (int i = 0; i < count; ++i) {
                if (i < static_cast<int>(points.size()))
                    place[static_cast<std::size_t>(face * face_nodes + points[static_cast<std::size_t>(i)])] = begin + i;
                else
                    padded.push_back(begin + i);
            }
            columns += count;
            return Columns{begin, count};
        };
        even.push_back(put(first));
        odd.push_back(parity.alone(face) ? put(second) : even.back());
        if (parity.alone(face)) odd_points = static_cast<int>(second.size());
        if (parity.images[static_cast<std::size_t>(face)] < face) odd.back().sign = -1;
    }
}

int FaceParts::count(bool is_odd) const {
    int all = 0;
    for (const Columns& face : of(is_odd)) all += face.count;
    return all;
}

Block face_part_constants(const Shape& shape, const FaceParts& parts) {
    Block block = point_table(shape, parts.place);
    block.append(padding("padded_places", "padded_place", parts.padded));
    std::string text;
    for (const bool odd : {false, true}) {
        std::string faces;
        for (const FaceParts::Columns& face : parts.of(odd))
            faces += fmt::format("{}{{{}, {}, {}}}", faces.empty() ? "" : ", ", face.begin, face.count, face.sign);
        text += fmt::format("{}{{{}}}", odd ? ", " : "", faces);
    }
    block.line("__device__ const short face_parts[2][face_count][3] = {{{}}};", text);
    return block.line("constexpr int odd_points = {}, even_lift_columns = {};", parts.odd_points, parts.count(false));
}

TableSpec part_lift(const Shape& shape, const PartTiles& tiles, int step) {
    const ReferenceElement& element = shape.reference();
    const Parity& parity = Parity::of(element);
    const FaceParity& faces = FaceParity::of(element);
    const FaceParts parts(element, step);
    TableSpec table{"LIFT", 0, {}};
    for (const bool odd : {false, true})
        for (int face = 0; face < element.faces(); ++face) {
            // Rows of the second of two faces that are swapped are those of the first, but for the
            // sign of odd ones.
            const int image = faces.images[static_cast<std::size_t>(face)], source = std::min(face, image);
            const auto& points =
                odd && faces.alone(face) ? faces.second[static_cast<std::size_t>(source)] : faces.first[static_cast<std::size_t>(source)];
            for (int column = 0; column < parts.of(odd)[static_cast<std::size_t>(face)].count; ++column) {
                const bool there = column < static_cast<int>(points.size());
                // Odd parts of points are differences of `first` and `second`.
                const auto& at = odd && faces.alone(face) ? faces.first[static_cast<std::size_t>(source)] : points;
                const auto nodal = [&](int node) { return element.lift(node, source * element.face_nodes() + at[static_cast<std::size_t>(column)]); };
                for (int row = 0; row < tiles.rows(odd); ++row) table.contents.push_back(there ? parity.part(nodal, row, odd) : 0);
            }
        }
    table.words = static_cast<std::int64_t>(table.contents.size());
    return table;
}

int DoubleFaceColumns::words(const PartTiles& tiles) const {
    int all = 0;
    for (int kind = 0; kind < 4; ++kind) all += tiles.rows_of(kind) * (count(kind, 0) + count(kind, 1));
    return all;
}

Block double_part_constants(const Plan& plan, const PartTiles& tiles) {
    const DoubleParity& parity = DoubleParity::of(plan.shape.reference());
    std::vector<int> rows, padded;
    std::string images;
    int column = 0;
    for (int kind = 0; kind < 4; ++kind) {
        append_columns(padded, column + parity.count(kind), column + tiles.columns_of(kind));
        column += tiles.columns_of(kind);
        for (int row = 0; row < tiles.rows_of(kind); ++row)
            rows.push_back(row < parity.count(kind) ? parity.orbit(kind, row)[static_cast<std::size_t>(kind)] : -1);
    }
    for (const auto& orbit : parity.orbits) images += fmt::format("{}{{{{{}}}}}", images.empty() ? "" : ", ", fmt::join(orbit, ", "));
    Block block;
    block.line("constexpr int even_parts = {}, mixed_parts = {}, odd_parts = {}, paired_parts = mixed_parts - odd_parts;", parity.count(0),
               parity.count(1), parity.count(3));
    block.line("constexpr int even_rows = {}, mixed_rows = {}, odd_rows = {}, even_columns = {}, mixed_columns = {}, odd_columns = {};",
               tiles.even_rows, tiles.mixed_rows, tiles.odd_rows, tiles.even_columns, tiles.mixed_columns, tiles.odd_columns);
    block.line("__device__ const Images images[even_parts] = {{{}}};", images);
    if (plan.any(&Pass::volume)) block.append(padding("padded_columns", "padded_column", padded));
    return block.append(node_table("row_node", rows));
}

Block double_face_part_constants(const Shape& shape, int step) {
    const DoubleFaceParity& faces = DoubleFaceParity::of(shape.reference());
    const DoubleFaceColumns columns(faces, step);
    std::vector<int> places(static_cast<std::size_t>(shape.face_points())), padded;
    for (int face = 0; face < shape.faces; ++face) {
        const auto put = [&](const std::vector<int>& points, int begin, int end) {
            for (const int point : points) places[static_cast<std::size_t>(face * shape.face_nodes + point)] = begin++;
            append_columns(padded, begin, end);
        };
        const int begin = face * columns.all();
        put(faces.first[static_cast<std::size_t>(face)], begin, begin + columns.even);
        put(faces.second[static_cast<std::size_t>(face)], begin + columns.even, begin + columns.all());
    }
    Block block = point_table(shape, places);
    block.append(padding("padded_places", "padded_place", padded));
    return block.line("constexpr int even_face_columns = {}, odd_face_columns = {}, odd_points = {};", columns.even, columns.odd, faces.odd());
}

TableSpec double_part_derivatives(const Shape& shape, const PartTiles& tiles) {
    const DoubleParity& parity = DoubleParity::of(shape.reference());
    TableSpec table{"D", 0, {}};
    for (int kind = 0; kind < 4; ++kind)
        for (int along = 0; along < 3; ++along)
            for (int column = 0; column < tiles.columns_of(kind ^ along); ++column)
                for (int row = 0; row < tiles.rows_of(kind); ++row)
                    table.contents.push_back(parity.derivative(shape.reference(), along, kind, row, column));
    table.words = static_cast<std::int64_t>(table.contents.size());
    return table;
}

double double_part_lift_entry(const ReferenceElement& element, int pair, int kind, int row, int column) {
    // Odd parts of points are differences of `first` and `second`.
    const DoubleFaceParity& faces = DoubleFaceParity::of(element);
    if (column >= ((kind >> pair & 1) != 0 ? faces.odd() : faces.even())) return 0;
    const int point = faces.first[static_cast<std::size_t>(pair)][static_cast<std::size_t>(column)];
    return DoubleParity::of(element).part([&](int node) { return element.lift(node, pair * element.face_nodes() + point); }, row, kind);
}

std::pair<TableSpec, TableSpec> double_part_operators(const Shape& shape, const PartTiles& tiles, const DoubleFaceColumns& faces,
                                                      const OrderedMatrix& ordered) {
    const ReferenceElement& element = shape.reference();
    TableSpec derivatives{"D", 0, {}}, lift{"LIFT", 0, {}};
    const auto add = [&](TableSpec& table, int rows, int columns, const std::function<double(int, int)>& entry) {
        const std::vector<double> words = ordered(rows, columns, entry);
        table.contents.insert(table.contents.end(), words.begin(), words.end());
        table.words += std::ssize(words);
    };
    for (int kind = 0; kind < 4; ++kind) {
        for (int along = 0; along < 3; ++along)
            add(derivatives, tiles.rows_of(kind), tiles.columns_of(kind ^ along),
                [&](int n, int c) { return DoubleParity::of(element).derivative(element, along, kind, n, c); });
        for (int pair = 0; pair < 2; ++pair)
            add(lift, tiles.rows_of(kind), faces.count(kind, pair), [&](int n, int c) { return double_part_lift_entry(element, pair, kind, n, c); });
    }
    return {std::move(derivatives), std::move(lift)};
}

TableSpec double_part_lift(const Shape& shape, const PartTiles& tiles, int step) {
    const DoubleFaceColumns columns(DoubleFaceParity::of(shape.reference()), step);
    TableSpec table{"LIFT", 0, {}};
    for (int kind = 0; kind < 4; ++kind)
        for (int pair = 0; pair < 2; ++pair)
            for (int column = 0; column < columns.count(kind, pair); ++column)
                for (int row = 0; row < tiles.rows_of(kind); ++row)
                    table.contents.push_back(double_part_lift_entry(shape.reference(), pair, kind, row, column));
    table.words = static_cast<std::int64_t>(table.contents.size());
    return table;
}

Algebra products_by_parity(Algebra algebra, bool changing) {
    std::erase_if(algebra.products, [changing](const Product& product) { return changes_parity(product.derivative) != changing; });
    return algebra;
}

int factor_words(const Shape& shape, const Config& config, int elements, const Parts& parts) {
    return parts.volume ? round_up(elements * algebra_of(shape, config).factor_count(), 4) : 0;
}

int held_sums(const Shape& shape, const Config& config, const Parts& parts) {
    return parts.volume ? std::max(shape.fields, algebra_of(shape, config).accumulators) : shape.fields;
}

Tunable gathers_tunable() {
    return {"gathers", "how neighbours' values at faces come to a block: loads into registers, or copies into shared memory past them",
            words({"loads", "copies"})};
}

int frame_words(const Shape& shape, int elements) {
    return elements * row_of_frames(shape);
}

double products_of_amplitudes(const Shape& shape, const Operands& operands) {
    const double directed = amplitudes_of(shape) * shape.faces;  // each gives every field its part
    return static_cast<double>(amplitudes_of(shape)) / shape.fields * operands.flux_columns + directed;
}

Block frame_constants(const Shape& shape, const Operands& operands) {
    Block block;
    block.line("constexpr int face_columns = {};   // columns of LIFT for a face, padded", operands.face_columns);
    return block.line(
        "constexpr int amplitudes = {}, frame_words = {}, frame_row = {}, fscale_word = {};  // directions of the flux through a face; what is kept "
        "of it",
        amplitudes_of(shape), words_of_frame(shape), row_of_frames(shape), fscale_word(shape));
}

double padded_lift(const Shape& shape, const Operands& operands, int node, int column) {
    const int face = column / operands.face_columns, point = column % operands.face_columns;
    return face < shape.faces && point < shape.face_nodes ? shape.reference().lift(node, face * shape.face_nodes + point) : 0;
}

Block operand_constants(const Plan& plan, const Operands& operands) {
    Block block;
    block.line("constexpr int flux_columns = {}, flux_row = {};  // padded points of all faces, their stride in shared memory", operands.flux_columns,
               operands.flux_row);
    if (!plan.any(&Pass::volume)) return block;
    block.line("constexpr int field_columns = {}, field_row = {};  // padded nodes of an element, their stride in shared memory",
               operands.field_columns, operands.field_row);
    return block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.own_algebra().factor_count(),
                      plan.own_algebra().accumulators);
}

Block nodal_row_constant(const Shape& shape, const Operands& operands, int elements) {
    // Rows of two odd words or copies: 16 of f32 or 8 of f64 lie in as many banks.
    return Block().line(
        "constexpr int nodal_row = {}, elements_apart = {};  // stride between elements as memory has them; how many have banks apart",
        operands.nodal_row, std::min(elements, 4 * shape.vector_width()));
}

Block field_width_constant(const Shape& shape, const Operands& operands) {
    return Block().line("constexpr int field_width = {};  // values per copy of a field",
                        std::gcd(std::gcd(shape.nodes, operands.field_row), shape.vector_width()));
}

Block register_products(const Algebra& algebra, const std::string& coefficient, bool one_derivative) {
    Block block;
    for (const Product& product : algebra.products)
        block.line("{}derivative[{}][r][c] {} d[{}][{}] * u[{}][c][j];", one_derivative ? fmt::format("if (along == {}) ", product.derivative) : "",
                   product.accumulator, product.sign > 0 ? "+=" : "-=", product.derivative, coefficient, product.field);
    return block;
}

Block register_combination(const Algebra& algebra) {
    Block block = name_factors(algebra);
    block.text("#pragma unroll");
    block.open("for (int r = 0; r < nodes_per_thread; ++r)");
    for (std::size_t f = 0; f < algebra.combine.size(); ++f)
        block.line("sum[{}][r][c] = {};", f,
                   expression(algebra.combine[f], algebra.combine_scale, [](int i) { return fmt::format("derivative[{}][r][c]", i); }));
    return block.close();
}

void add_column_operators(Plan& plan, const Operands& operands, int nodes_padded, double surface_products) {
    const Shape& shape = plan.shape;
    std::vector<TableSpec>& tables = plan.source.tables;
    if (plan.any(&Pass::volume))
        tables.insert(tables.begin(), table("D", shape, shape.dimension, shape.nodes, operands.field_columns, nodes_padded,
                                            [&](int a, int n, int c) { return shape.reference().derivative[static_cast<std::size_t>(a)](n, c); }));
    if (plan.any(&Pass::surface))
        tables.push_back(table("LIFT", shape, 1, operands.flux_columns, operands.flux_columns, nodes_padded,
                               [&](int, int n, int c) { return padded_lift(shape, operands, n, c); }));
    const double nodes = nodes_padded;
    plan.source.executed_operations = pass_operations(plan, nodes * operands.field_columns, nodes * surface_products);
}

PassText operand_text(const Plan& plan, const Pass& pass, bool traces) {
    PassText text;
    if (traces) text.flags.insert("traces_in_shared");
    if (pass.surface && !traces) text.flags.insert("fluxes_after_derivatives");
    if (!pass.volume) return text;
    const Algebra& algebra = plan.own_algebra();
    // Where the faces' values come from memory, nobody needs the fields as they were.
    if (algebra.transforms()) text.flags.insert(traces ? "transforms_behind_fluxes" : "waits_for_factors");
    text.holes.emplace_back("element_factors", element_factors(algebra, "own"));
    text.holes.emplace_back("transform", transform(algebra));
    return text;
}

}  // namespace hone::inline v0_1::dg
