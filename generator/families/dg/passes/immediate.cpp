// The form immediate: operators as constants in the code. About 600 lines, because its layout, its
// constants and its text, with parts under two reflections or without, agree word for word.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "generator/families/dg/coefficients.hpp"
#include "generator/families/dg/halves.hpp"
#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/passes/operands.hpp"
#include "generator/families/dg/passes/ways.hpp"
#include "generator/families/dg/tiling.hpp"

// Low orders, where memory sets the limit. A lane is an element, a warp makes one half of the
// right-hand sides of its elements, at all nodes or at some, and the coefficients of D and LIFT are
// immediates of the instructions, so that a multiply-add loads nothing and what the shared memory
// has to carry is the fields and the fluxes once.

namespace hone::inline v0_1::dg {
namespace {

/// How a block of elements is laid out.
struct ImmediateLayout {
    int elements_per_block, copy_width;
    int node_parts;      ///< threads that share the nodes of a half
    int nodes_per_part;  ///< the last may have fewer
    int row;             ///< stride between elements' fields in shared memory
    bool amplitudes;     ///< LIFT takes these, face by face, and not the flux of each field
    bool by_parts;       ///< D and LIFT act on parts under two reflections
    int face_row;        ///< stride between faces of these; by parts, columns of LIFT for a face
    int flux_row;        ///< stride between the fields of an element's fluxes, or its amplitudes; by parts, those of a face
    int frame_words;     ///< by parts, of what is kept of a face
    int first_frame;     ///< their place behind an element's amplitudes
    int result_row;      ///< stride between elements' fluxes, which their right-hand sides replace
    int flux_groups;     ///< elements whose points the threads of a block work on side by side
    int in_flight;       ///< points of faces whose gathers a thread has under way together
    int geometry_words;  ///< of an element
    int brought_words;   ///< likewise, by helpers
    int copies;          ///< of `copy_width` words that a thread makes to write what a block writes to an array

    ImmediateLayout(const Shape& shape, const Config& config);
    int threads() const { return 2 * node_parts * elements_per_block; }
    /// Points of faces that a thread has.
    int points_of_thread() const { return flux_groups == 0 ? 1 : (elements_per_block + flux_groups - 1) / flux_groups; }
    /// Whether a thread has its points of faces all at once.
    bool one_turn() const { return in_flight * flux_groups >= elements_per_block; }
    /// Whether threads without right-hand sides bring what these update into shared memory.
    bool helpers() const { return by_parts && node_parts > 1; }
    std::int64_t shared_words(const Parts& parts) const;
};

const Algebra& covariant(const Shape& shape) {
    return algebra(shape.equation, "covariant");
}

std::vector<Half> halves_of(const Shape& shape) {
    return dg::halves_of(shape, covariant(shape));
}

// The least odd number of vectors that hold `words`: neighbouring elements, and so neighbouring
// threads, then lie in different banks.
int odd_vectors(int words, int width) {
    return ((words + width - 1) / width | 1) * width;
}

int most_outputs(const Shape& shape) {
    std::size_t most = 0;
    const std::vector<Half> halves = halves_of(shape);
    for (const Half& half : halves) most = std::max(most, half.outputs.size());
    return static_cast<int>(most);
}

// Of a face, by parts: its normal or two tangents, and Fscale.
int words_of_frame(const Shape& shape) {
    return round_up((shape.maxwell() ? 2 : 1) * shape.dimension + 1, 4);
}

// Nodes of a field that a thread loads at a time from shared memory.
int field_width(const Shape& shape, int copy_width) {
    return std::gcd(shape.nodes, copy_width);
}

// Of each node the part that is kept as if it were there: its kind, and its number among those.
struct KeptPart {
    int kind, number;
};

std::vector<KeptPart> kept_parts(const Shape& shape) {
    const DoubleParity& parity = DoubleParity::of(shape.reference());
    std::vector<KeptPart> kept(static_cast<std::size_t>(shape.nodes));
    for (int kind = 0; kind < 4; ++kind)
        for (int part = 0; part < parity.count(kind); ++part)
            kept[static_cast<std::size_t>(parity.orbit(kind, part)[static_cast<std::size_t>(kind)])] = {kind, part};
    return kept;
}

// Half the derivatives along r + s - t and r - s, and that along t, of parts.
Coefficients derivative_of_parts(const Shape& shape, int along) {
    const std::vector<KeptPart> kept = kept_parts(shape);
    return {shape.nodes, shape.nodes, [&](int n, int c) {
                const KeptPart row = kept[static_cast<std::size_t>(n)], column = kept[static_cast<std::size_t>(c)];
                if ((row.kind ^ along) != column.kind) return 0.0;
                return DoubleParity::of(shape.reference()).derivative(shape.reference(), along, row.kind, row.number, column.number);
            }};
}

// LIFT of faces 0 and 1, even parts of points and then odd ones, each face's columns followed by
// zeros.
Coefficients lift_of_parts(const Shape& shape, int face_row) {
    const std::vector<KeptPart> kept = kept_parts(shape);
    const int even = DoubleFaceParity::of(shape.reference()).even();
    return {shape.nodes, 2 * face_row, [&](int n, int c) {
                const KeptPart row = kept[static_cast<std::size_t>(n)];
                const int pair = c / face_row, column = c % face_row;
                const bool odd = (row.kind >> pair & 1) != 0;
                if (column >= shape.face_nodes || odd != (column >= even)) return 0.0;
                return double_part_lift_entry(shape.reference(), pair, row.kind, row.number, odd ? column - even : column);
            }};
}

Coefficients derivative(const Shape& shape, int along) {
    const SquareMatrix& matrix = shape.reference().derivative[static_cast<std::size_t>(along)];
    return {shape.nodes, shape.nodes, [&](int n, int c) { return matrix(n, c); }};
}

Coefficients lift(const Shape& shape) {
    return {shape.nodes, shape.face_points(), [&](int n, int c) { return shape.reference().lift(n, c); }};
}

// The same coefficients, each face's columns followed by zeros.
Coefficients lift_face_by_face(const Shape& shape, int face_row) {
    return {shape.nodes, shape.faces * face_row, [&shape, face_row, exact = lift(shape)](int n, int c) {
                return c % face_row < shape.face_nodes ? exact(n, c / face_row * shape.face_nodes + c % face_row) : 0;
            }};
}

const char* derivative_name(int along) {
    return along == 0 ? "Dr" : along == 1 ? "Ds" : "Dt";
}

// Rows of LIFT by parts whose sums a thread holds at a time.
int rows_of_lift(const Shape& shape) {
    return shape.precision == Precision::f32 ? shape.nodes : (shape.nodes + 3) / 4;
}

Block operators(const Plan& plan, const ImmediateLayout& layout) {
    const Shape& shape = plan.shape;
    Block block;
    block.text(
        "// The operators, column by column: every loop over them is unrolled, so that their coefficients stand in the instructions and zeros cost");
    block.text("// nothing.");
    if (plan.any(&Pass::volume))
        for (int a = 0; a < shape.dimension; ++a)
            block.append(coefficient_table(fmt::format("{}[nodes][nodes]", derivative_name(a)),
                                           layout.by_parts ? derivative_of_parts(shape, a) : derivative(shape, a), shape.nodes, shape.precision));
    if (!plan.any(&Pass::surface)) return block;
    return block.append(coefficient_table(fmt::format("LIFT[{}][nodes]", layout.by_parts ? "2 * face_row" : "flux_row"),
                                          layout.by_parts     ? lift_of_parts(shape, layout.face_row)
                                          : layout.amplitudes ? lift_face_by_face(shape, layout.face_row)
                                                              : lift(shape),
                                          layout.by_parts ? 2 * layout.face_row : layout.flux_row, shape.precision));
}

// Images of nodes, places of points in a row of amplitudes, signs.
Block part_tables(const Plan& plan) {
    const Shape& shape = plan.shape;
    const DoubleParity& parity = DoubleParity::of(shape.reference());
    const DoubleFaceParity& faces = DoubleFaceParity::of(shape.reference());
    std::vector<std::string> images;
    for (const auto& orbit : parity.orbits) images.push_back(fmt::format("{{{}}}", fmt::join(orbit, ", ")));
    Block block;
    std::vector<int> places(static_cast<std::size_t>(shape.face_points()));
    for (int face = 0; face < shape.faces; ++face) {
        int place = 0;
        for (const auto* const points : {&faces.first, &faces.second})
            for (const int point : (*points)[static_cast<std::size_t>(face)])
                places[static_cast<std::size_t>(face * shape.face_nodes + point)] = place++;
    }
    std::array<std::vector<int>, 2> changes;
    for (const int pair : {0, 1})
        for (const KeptPart& part : kept_parts(shape)) changes.at(static_cast<std::size_t>(pair)).push_back(part.kind >> (1 - pair) & 1);
    // Nodes that stand for their images under two reflections; of a face; rows of LIFT.
    block.line("constexpr int even_parts = {}, outputs_of_half = {}, odd_points = {}, rows_together = {};", parity.count(0), most_outputs(shape),
               faces.odd(), rows_of_lift(shape));
    block.line("__device__ const short images[even_parts][4] = {{{}}}, place_of_point[face_points] = {{{}}};", fmt::join(images, ", "),
               fmt::join(places, ", "));
    return block.line("__device__ const bool changes_sign[2][nodes] = {{{{{}}}, {{{}}}}};", fmt::join(changes[0], ", "), fmt::join(changes[1], ", "));
}

// Number of an accumulator among those of its half.
int local(const Half& half, int accumulator) {
    return static_cast<int>(std::distance(half.accumulators.begin(), half.accumulators.find(accumulator)));
}

// Nodes [first, last) of an element, which a thread accumulates.
struct Nodes {
    int first, last;
};

Nodes nodes_of(const Shape& shape, const ImmediateLayout& layout, int part) {
    return {std::min(part * layout.nodes_per_part, shape.nodes), std::min((part + 1) * layout.nodes_per_part, shape.nodes)};
}

// `constexpr int name = value, ..., begin = .., end = ..;`: the nodes, and other sizes of a
// thread's part.
Block sizes(const std::vector<std::pair<const char*, int>>& named, const Nodes& nodes) {
    std::string line = "constexpr int ";
    for (const auto& [name, value] : named) line += fmt::format("{} = {}, ", name, value);
    return Block().line("{}begin = {}, end = {};", line, nodes.first, nodes.last);
}

// The volume part of a half at some nodes.
Block derivatives(const Shape& shape, const Half& half, const Nodes& nodes, const ImmediateLayout& layout) {
    const Algebra& form = covariant(shape);
    Block inputs, combine;
    for (int f = 0; f < half.field_count; ++f)
        inputs.line("const real u{} = {};", f, expression(form.transform[static_cast<std::size_t>(half.first_field + f)], "", [&half](int i) {
                        return fmt::format("value[{}][j]", i - half.first_field);
                    }));
    std::array<Block, 3> products;
    for (const Product& product : half.products)
        products.at(static_cast<std::size_t>(product.derivative))
            .line("sum[{}][n - begin] {} {}[{}][n] * u{};", local(half, product.accumulator),
                  product.sign > 0 ? "+=" : "-=", derivative_name(product.derivative), layout.by_parts ? "column" : "m + j",
                  product.field - half.first_field);
    std::string names;
    for (const int accumulator : half.accumulators)
        names += fmt::format("{}a{} = sum[{}][n - begin]", names.empty() ? "" : ", ", accumulator, local(half, accumulator));
    for (std::size_t o = 0; o < half.outputs.size(); ++o)
        combine.line("sum[{}][n - begin] = {};", o,
                     expression(form.combine[static_cast<std::size_t>(half.outputs[o])], shape.maxwell() ? "scale" : form.combine_scale,
                                [](int i) { return fmt::format("a{}", i); }));
    const std::string first = shape.maxwell() ? "half * (3 * nodes)" : fmt::format("{} * nodes", half.first_field);
    std::vector<std::pair<const char*, int>> named{{"inputs", half.field_count}};
    if (!layout.by_parts) named.emplace_back("together", field_width(shape, layout.copy_width));
    const Flags flags = layout.by_parts ? Flags{} : Flags{{"three_dimensions", shape.dimension == 3}};
    return Block().lines_of(render(layout.by_parts ? "dg/passes/immediate.cu/volume_by_parts" : "dg/passes/immediate.cu/volume",
                                   {{"sizes", sizes(named, nodes)},
                                    {"mine", Block().line("const real* const mine = here + e * row + {};", first)},
                                    {"inputs", inputs},
                                    {"products_of_r", products[0]},
                                    {"products_of_s", products[1]},
                                    {"products_of_t", products[2]},
                                    {"sums", Block().line("const real {};", names)},
                                    {"combine", combine}},
                                   flags));
}

std::string first_output(const Shape& shape, const Half& half) {
    return shape.maxwell() ? "(1 - half) * 3" : std::to_string(half.outputs.front());
}

// Of each output of a half, the component of the directions of the amplitudes; they are
// coefficients of pieces dg/passes/flux.cu/directions, too.
Block components(const Shape& shape, const Half& half) {
    Block block;
    if (shape.maxwell()) {  // E along the tangents, H along those turned by a right angle
        block.line("const real along[amplitudes][outputs] = {{");
        for (int a = 0; a < 2; ++a) {
            std::string line;
            for (int j = 0; j < 3; ++j)
                line += fmt::format("{}half == 0 ? tangents[{}] : {}own_z * tangents[{}]", j == 0 ? "" : ", ", 3 * a + j, a == 0 ? "-" : "",
                                    3 * (1 - a) + j);
            block.line("    {{{}}},", line);
        }
        return block.text("};");
    }
    std::string line;
    for (const int output : half.outputs) {
        const bool alike = shape.dimension == 3 ? output == 0 : output == 2;  // the pressure; Ez
        const std::string part = alike                  ? "1"
                                 : shape.dimension == 3 ? fmt::format("-own_z * face[{}]", output - 1)
                                 : output == 0          ? "-own_z * face[1]"
                                                        : "own_z * face[0]";
        line += (line.empty() ? "" : ", ") + part;
    }
    return block.line("const real along[amplitudes][outputs] = {{{{{}}}}};", line);
}

// The surface part of a half at some nodes.
Block lifted(const Shape& shape, const ImmediateLayout& layout, const Half& half, const Nodes& nodes) {
    const Block bounds = sizes({{"outputs", static_cast<int>(half.outputs.size())}}, nodes);
    if (layout.amplitudes) {
        Flags flags;
        add_flux_flags(flags, shape);
        std::erase_if(flags, [](const auto& flag) { return flag.first != "materials" && flag.first != "maxwell_3d"; });
        return Block().lines_of(render(layout.by_parts ? "dg/passes/immediate.cu/lift_by_parts" : "dg/passes/immediate.cu/lift",
                                       {{"sizes", bounds}, {"along", components(shape, half)}}, flags));
    }
    return Block().lines_of(
        render("dg/passes/immediate.cu/surface",
               {{"sizes", bounds},
                {"mine", Block().line("const real* const mine = results + e * result_row + {} * flux_row;", first_output(shape, half))}}));
}

// Right-hand sides of a half at some nodes into the place of its element's fluxes.
Block kept(const Shape& shape, const Half& half, const Nodes& nodes) {
    const int together = std::gcd(std::gcd(shape.nodes, shape.vector_width()), std::gcd(nodes.first, nodes.last));
    return Block().lines_of(render("dg/passes/immediate.cu/result",
                                   {{"sizes", sizes({{"outputs", static_cast<int>(half.outputs.size())}, {"together", together}}, nodes)},
                                    {"mine", Block().line("real* const mine = results + e * result_row + {} * nodes;", first_output(shape, half))}}));
}

// What a thread does for its half: one text serves both halves of maxwell_3d. `text(half, nodes)`
// is that of its part of the nodes.
template <typename Text>
Block of_thread(const Shape& shape, const ImmediateLayout& layout, Text text) {
    const std::vector<Half> halves = halves_of(shape);
    Block block;
    for (int part = 0; part < (layout.by_parts ? 1 : layout.node_parts); ++part) {
        const Nodes nodes = nodes_of(shape, layout, part);
        Block own = halves.size() > 1 ? either(text(halves[0], nodes), text(halves[1], nodes)) : text(halves[0], nodes);
        if (layout.node_parts == 1) return own;
        block.open(fmt::format("if (part == {})", part));
        block.append(own);
        block.close();
    }
    return block;
}

// The metric factors of a thread's element, named.
Block factors_of_element(const Shape& shape) {
    const Algebra& form = covariant(shape);
    Block factors = element_factors(form, "own");
    factors.append(name_factors(form));
    if (shape.maxwell()) factors.line("const real scale = half == 0 ? {0} : -{0};  // dE/dt = curl H, dH/dt = -curl E", form.combine_scale);
    return factors;
}

ImmediateLayout::ImmediateLayout(const Shape& shape, const Config& config)
    : elements_per_block(number(config, "elements_per_block")),
      copy_width(number(config, "copy_width")),
      node_parts(number(config, "node_parts")),
      nodes_per_part(config.has("basis", "double_parity") ? shape.nodes
                                                          : round_up((shape.nodes + node_parts - 1) / node_parts, std::gcd(shape.nodes, 2))),
      row(odd_vectors(shape.words(), copy_width)),
      amplitudes(config.has("lift", "amplitudes")),
      by_parts(config.has("basis", "double_parity")),
      face_row(by_parts ? shape.face_nodes : round_up(shape.face_nodes, shape.vector_width())),
      flux_row(by_parts     ? shape.face_nodes
               : amplitudes ? shape.faces * face_row
                            : round_up(shape.face_points(), shape.vector_width())),
      frame_words(by_parts ? words_of_frame(shape) : 0),
      first_frame(by_parts ? round_up(amplitudes_of(shape) * shape.face_points(), shape.vector_width()) : 0),
      result_row(odd_vectors(
          std::max(shape.words(), by_parts ? first_frame + shape.faces * frame_words : (amplitudes ? amplitudes_of(shape) : shape.fields) * flux_row),
          shape.vector_width())),
      flux_groups(threads() / shape.face_points()),
      in_flight(std::min(number(config, "points_in_flight"), std::max(points_of_thread(), 4))),
      geometry_words(shape.geometry_words()),
      brought_words(helpers() ? shape.words() : 0),
      copies((elements_per_block * shape.words() / copy_width + threads() - 1) / threads()) {
}

std::int64_t ImmediateLayout::shared_words(const Parts& parts) const {
    const std::int64_t fields = parts.volume ? elements_per_block * (row + geometry_words) + 4 : 0;
    return fields + static_cast<std::int64_t>(elements_per_block) * (result_row + brought_words);
}

// Pairs of node and column that Dr, and likewise Ds and Dt, and LIFT are applied to: coefficients
// that are not zero.
int volume_pairs(const Shape& shape) {
    return derivative(shape, 0).nonzeros();
}

int surface_pairs(const Shape& shape) {
    return lift(shape).nonzeros();
}

// Fused multiply-adds that stand in the text.
std::int64_t immediate_code(const Shape& shape, const Parts& parts) {
    std::int64_t code = 0;
    for (const Half& half : halves_of(shape)) {
        if (parts.volume) code += std::int64_t{volume_pairs(shape)} * std::ssize(half.products);
        if (parts.surface) code += std::int64_t{surface_pairs(shape)} * std::ssize(half.outputs);
    }
    return code;
}

// In one launch alone: with several it never wins.
bool immediate_applies(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    if (!shape.low_order() || !limits.has(Feature::async_copies)) return false;
    return passes.size() == 1 && passes.front().surface && immediate_code(shape, parts_of(passes.front())) <= largest_code;
}

std::optional<std::string> layout_violation(const Shape& shape, const Config& config) {
    const ImmediateLayout layout(shape, config);
    if (!layout.by_parts && (layout.node_parts - 1) * layout.nodes_per_part >= shape.nodes)
        return fmt::format("nothing is left for one of {} parts of the nodes", layout.node_parts);
    if (layout.by_parts && !layout.amplitudes) return "parts are for amplitudes";
    if (layout.by_parts && layout.node_parts > 2) return "a thread that has parts of all kinds has all nodes";
    if (layout.flux_groups == 0) return "there is no thread for every point of an element's faces";
    // The least number that is offered and holds all points is for all at once.
    constexpr std::array offered{4, 6, 12};
    const int points = layout.points_of_thread(), most = *std::find_if(offered.begin(), offered.end() - 1, [&](int all) { return all >= points; });
    const int wanted = number(config, "points_in_flight");
    if (wanted <= most) return std::nullopt;
    return fmt::format("a thread has {} points of faces, not {} at a time", points, wanted);
}

FormSpace immediate_space(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    FormSpace form;
    Tunable parts{"node_parts",
                  "parts that an element's nodes are cut into: a thread has one half of the right-hand sides at one part; with double_parity, where "
                  "a thread has all nodes, 2 are as many threads more, which bring what right-hand sides are added to",
                  numbers({1, 2, 4})};
    parts.former_name = "nodes_per_thread";
    Tunable points{"points_in_flight", "points of faces that a thread gathers at a time; 12: all that it has", numbers({1, 2, 4, 6, 12})};
    points.former_name = "unroll";
    constexpr int warp = 32;
    form.tunables = {elements_per_block_tunable(block_sizes(shape, warp)),
                     std::move(parts),
                     std::move(points),
                     lift_tunable(),
                     copy_tunable(),
                     residency_tunable(shape, limits)};
    form.constraints = {{"layout",
                         [shape](const Config& config) { return layout_violation(shape, config); },
                         {"elements_per_block", "node_parts", "points_in_flight", "lift", "copy_width"}}};
    form.safe = {{"elements_per_block", std::int64_t{warp}},
                 {"node_parts", std::int64_t{2}},
                 {"points_in_flight", std::int64_t{2}},
                 {"lift", "fluxes"},
                 {"copy_width", std::int64_t{widest_copies(shape)}},
                 {"min_blocks", std::int64_t{1}}};
    if (shape.dimension == 3) {
        form.tunables.insert(form.tunables.begin() + 3, double_basis_tunable());
        form.constraints.front().reads.emplace_back("basis");
        form.safe.insert(form.safe.begin() + 3, {"basis", "nodal"});
    }
    if (fuses_all(passes)) {
        form.tunables.push_back({"asked_ahead", "blocks ahead for which a block asks the second cache for the numbers of neighbours; 0: none",
                                 numbers({0, 384}), Value(std::int64_t{0})});
        form.safe.push_back({"asked_ahead", std::int64_t{0}});
    }
    form.former = [](const Config& config) { return config.has("operator", "immediate"); };
    return form;
}

int immediate_registers(const Shape& shape, const ImmediateLayout& layout, const Parts& parts) {
    int operands = 0;
    for (const Half& half : halves_of(shape)) {
        if (parts.volume)
            operands = std::max(operands, half.field_count * (field_width(shape, layout.copy_width) + 1) + covariant(shape).factor_count());
        if (parts.surface)
            operands = std::max(operands, layout.by_parts     ? amplitudes_of(shape) * rows_of_lift(shape) + layout.face_row + 18
                                          : layout.amplitudes ? amplitudes_of(shape) * (layout.nodes_per_part + shape.vector_width()) + 12
                                                              : static_cast<int>(half.outputs.size()) * shape.vector_width());
    }
    const int of_face = layout.by_parts ? 1 : shape.face_words();
    const int gathered =
        parts.surface ? layout.in_flight * (shape.fields * (parts.volume ? 1 : 2) + of_face + (shape.materials ? 2 : 0)) + 2 * shape.fields + 6 : 0;
    return shape.bytes() / 4 *
               std::max(most_outputs(shape) * layout.nodes_per_part + operands + (layout.by_parts ? 0 : layout.copies * layout.copy_width),
                        gathered) +
           36;
}

BlockResources immediate_resources(const Shape& shape, const Config& config, const Parts& parts) {
    const ImmediateLayout layout(shape, config);
    BlockResources needs;
    needs.threads = layout.threads();
    needs.shared_bytes = shape.bytes() * layout.shared_words(parts);
    needs.registers = immediate_registers(shape, layout, parts);
    return needs;
}

Block immediate_constants(const Plan& plan) {
    const Shape& shape = plan.shape;
    const ImmediateLayout layout(shape, plan.config);
    Block block = copy_constants(shape, plan.config);
    block.append(face_constants(shape));
    block.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", layout.elements_per_block,
               layout.threads(), number(plan.config, "min_blocks"));
    block.line("constexpr int flux_groups = threads_per_block / face_points;  // elements whose points are worked on side by side");
    block.line("constexpr int in_flight = {};  // points whose gathers a thread has under way together", layout.in_flight);
    if (const auto ahead = integer_or(plan.config, "asked_ahead", 0); ahead > 0) block.line("constexpr int asked_ahead = {};  // blocks", ahead);
    block.line("constexpr int copies = {};     // of copy_width words, by each thread, make a block's words", layout.copies);
    if (layout.amplitudes)
        block.line("constexpr int amplitudes = {}, face_row = {};  // directions of the flux through a face, and stride between faces",
                   amplitudes_of(shape), layout.face_row);
    block.line("constexpr int flux_row = {}, result_row = {};  // stride between fields, and between elements, in shared memory, padded",
               layout.flux_row, layout.result_row);
    if (plan.any(&Pass::volume)) {
        block.line("constexpr int row = {};  // stride between elements' fields in shared memory, padded", layout.row);
        block.line("constexpr int factors = {}, geometry_words = dimension * dimension;", covariant(shape).factor_count());
    }
    if (layout.by_parts) {
        block.line(
            "constexpr int frame_words = {}, first_frame = {}, fscale_word = {};  // of a face, and their place behind an element's amplitudes",
            layout.frame_words, layout.first_frame, shape.maxwell() ? 2 * shape.dimension : shape.dimension);
        block.line("constexpr int face_trips = (elements_per_block * face_count + threads_per_block - 1) / threads_per_block;");
        block.append(part_tables(plan));
    }
    return block.append(operators(plan, layout));
}

void add_immediate_operators(Plan& plan) {
    const Shape& shape = plan.shape;
    const ImmediateLayout layout(shape, plan.config);
    double volume = volume_pairs(shape), surface = surface_pairs(shape);
    if (layout.by_parts) {
        surface = 2.0 * lift_of_parts(shape, layout.face_row).nonzeros();
        volume = 0;  // each derivative has as many of the products
        for (int along = 0; along < shape.dimension; ++along) volume += derivative_of_parts(shape, along).nonzeros() / 3.0;
    }
    if (layout.amplitudes) surface = amplitudes_of(shape) * (surface / shape.fields + static_cast<double>(shape.faces) * shape.nodes);
    plan.source.executed_operations = pass_operations(plan, volume, surface);
}

PassText immediate_text(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    const ImmediateLayout layout(shape, plan.config);
    PassText text;
    Holes& holes = text.holes;
    text.flags.insert("immediate");
    if (layout.amplitudes) text.flags.insert("faces_apart");
    if (layout.node_parts > 1) text.flags.insert("several_parts");
    if (layout.by_parts) text.flags.insert("parts_in_code");
    if (layout.by_parts && layout.one_turn()) text.flags.insert("one_turn");
    if (integer_or(plan.config, "asked_ahead", 0) > 0) text.flags.insert("asks_for_later");
    holes.emplace_back("sum", Block().line("real sum[{}][{}] = {{}};", most_outputs(shape), layout.nodes_per_part));
    // What right-hand sides are added to, a part of which each thread has in registers before it
    // makes them.
    if (layout.by_parts) {
        // Sums of all nodes leave no registers.
        if (pass.update || pass.from_rhs) text.flags.insert(layout.helpers() ? "helpers" : "prefetches");
    } else if (pass.update || pass.from_rhs) {
        text.flags.insert("ahead");
        if (!pass.update) text.flags.insert("rhs_ahead");
    }
    if (pass.volume) {
        text.flags.insert("fields_here");
        holes.emplace_back("factors_of_element", factors_of_element(shape));
        holes.emplace_back("derivatives",
                           of_thread(shape, layout, [&](const Half& half, const Nodes& nodes) { return derivatives(shape, half, nodes, layout); }));
    }
    if (pass.surface)
        holes.emplace_back("lift",
                           of_thread(shape, layout, [&](const Half& half, const Nodes& nodes) { return lifted(shape, layout, half, nodes); }));
    holes.emplace_back("keep", of_thread(shape, layout, [&](const Half& half, const Nodes& nodes) { return kept(shape, half, nodes); }));
    return text;
}

}  // namespace

Way immediate_way() {
    return {.name = "immediate",
            .help = "a thread has a part of an element, with D and LIFT as immediates in the code",
            .applies = immediate_applies,
            .space = immediate_space,
            .resources = immediate_resources,
            .constants = immediate_constants,
            .add_operators = add_immediate_operators,
            .text = immediate_text};
}

}  // namespace hone::inline v0_1::dg
