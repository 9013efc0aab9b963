#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/passes/operands.hpp"

// A warp has a tile of nodes x elements, cut into its lanes' tiles so that each operand that comes
// from shared memory or the first cache feeds as many multiply-adds as in a matrix product, and
// that neighbouring lanes share addresses. Fields, and what lies beyond the
// faces, are copied into shared memory past the registers.

namespace hone::inline v0_1::dg {
namespace {

constexpr int lanes = 32;
// Of a product of 8 elements x 8 nodes on the matrix units.
constexpr int columns_of_product = 4;
// Of coefficients on their way through shared memory.
constexpr int stages = 4;

struct WarpTile {
    bool on_matrix_units;  // the form mma8: 8 elements x 8 nodes, of which a lane has two of one element
    int elements_per_block, nodes_per_thread, elements_per_thread, unroll;
    int group;  // neighbouring nodes of a thread: one load of the operator, of up to 16 bytes
    int node_lanes, warps_along_nodes, nodes_padded;
    bool neighbours_copied, double_parity, by_parity, parts_apart;
    bool shared_operator, shared_derivatives;  // both operators in shared memory; D alone, or both
    bool staged;                               // a warp's coefficients come through shared memory, some trips ahead
    PartTiles part_tiles;
    int even_lift_columns = 0, odd_lift_columns = 0;
    DoubleFaceColumns face_columns;
    Operands operands;

    WarpTile(const Shape& shape, const Config& config)
        : on_matrix_units(config.find("node_lanes") == nullptr),
          elements_per_block(number(config, "elements_per_block")),
          nodes_per_thread(number(config, "nodes_per_thread")),
          elements_per_thread(on_matrix_units ? 1 : number(config, "elements_per_thread")),
          unroll(on_matrix_units ? columns_of_product : number(config, "unroll")),
          group(std::min(nodes_per_thread, shape.vector_width())),
          node_lanes(on_matrix_units ? 4 : number(config, "node_lanes")),
          warps_along_nodes((shape.nodes + node_lanes * nodes_per_thread - 1) / (node_lanes * nodes_per_thread)),
          nodes_padded(warps_along_nodes * node_lanes * nodes_per_thread),
          neighbours_copied(config.has("gathers", "copies")),
          double_parity(config.has("basis", "double_parity")),
          by_parity(double_parity || config.has("basis", "parity")),
          parts_apart(config.has("parts", "apart")),
          shared_operator(config.has("operator", "shared")),
          shared_derivatives(shared_operator || config.has("operator", "derivatives")),
          staged(config.has("operator", "staged")),
          operands(shape, unroll, true) {
        if (!by_parity) return;
        const int rows = node_lanes * nodes_per_thread;
        part_tiles =
            double_parity ? PartTiles(DoubleParity::of(shape.reference()), rows, unroll) : PartTiles(Parity::of(shape.reference()), rows, unroll);
        nodes_padded = part_tiles.rows();
        warps_along_nodes = nodes_padded / rows;
        // On the matrix units elements lie an odd number of two words apart.
        const int row_step = on_matrix_units ? 2 : unroll;
        operands.set_field_columns(part_tiles.columns(), row_step);
        operands.set_nodal_row(shape, static_cast<int>(integer_or(config, "copy_width", 1)), row_step);
        if (double_parity) {
            face_columns = DoubleFaceColumns(DoubleFaceParity::of(shape.reference()), unroll);
            operands.face_columns = face_columns.all();
            operands.set_flux_columns(shape.faces * operands.face_columns, row_step);
            return;
        }
        const FaceParts faces(shape.reference(), unroll);
        even_lift_columns = faces.count(false);
        odd_lift_columns = faces.count(true);
        operands.set_flux_columns(faces.columns, unroll);
    }

    /// Parts leave registers free before the products.
    bool asks_early() const { return by_parity && !neighbours_copied; }
    /// Whether fields come to shared memory. Nodal values at faces come from memory where there are
    /// faces alone.
    bool copies_fields(const Parts& parts) const { return parts.volume || by_parity; }
    int element_groups() const { return elements_per_block / elements_per_thread; }
    int element_lanes() const { return lanes / node_lanes; }
    int threads() const { return lanes * warps_along_nodes * (element_groups() / element_lanes()); }
    /// Words of D and LIFT, by parity, in shared memory.
    std::int64_t operator_words(const Shape& shape, const Parts& parts) const {
        if (staged) return static_cast<std::int64_t>(threads() / lanes) * stages * unroll * node_lanes * nodes_per_thread;
        if (!shared_derivatives) return 0;
        std::int64_t words = 0;
        if (double_parity)
            return (parts.volume ? part_tiles.words_of_derivatives() : 0) + (parts.surface && shared_operator ? face_columns.words(part_tiles) : 0);
        for (const bool odd : {false, true}) {
            const int columns = part_tiles.columns(odd) * (shape.dimension - 1) + part_tiles.columns(!odd);
            const int lifted = parts.surface && shared_operator ? (odd ? odd_lift_columns : even_lift_columns) : 0;
            words += std::int64_t{part_tiles.rows(odd)} * (parts.volume ? columns + lifted : lifted);
        }
        return words;
    }
    /// Words of the fields, and of the amplitudes. One of them makes room for right-hand sides:
    /// these replace the amplitudes where the residual has the fields' place, or where there are no
    /// fields.
    int field_words(const Shape& shape, const Parts& parts) const {
        if (!copies_fields(parts)) return 0;
        const int row = parts.volume ? shape.fields * operands.field_row : operands.nodal_row;
        return round_up(elements_per_block * row, shape.vector_width());
    }
    /// Words of the fields as memory has them, where parts of them lie apart.
    int nodal_words() const { return parts_apart ? round_up(elements_per_block * operands.nodal_row, 4) : 0; }
    int flux_words(const Shape& shape, const Parts& parts) const {
        if (!parts.surface) return 0;
        const int amplitudes = amplitudes_of(shape) * operands.flux_row;
        const int results = by_parity ? operands.nodal_row : shape.words();
        const int copied = std::max(shape.fields * operands.flux_row, results);
        const int row = neighbours_copied ? copied : copies_fields(parts) ? amplitudes : std::max(amplitudes, results);
        return round_up(elements_per_block * row, shape.vector_width());
    }
};

std::optional<std::string> warp_tile_violation(const Shape& shape, const Config& config) {
    const WarpTile tile(shape, config);
    if (tile.elements_per_block % tile.elements_per_thread != 0) return "elements_per_thread does not divide elements_per_block";
    if (tile.element_groups() % tile.element_lanes() != 0)
        return fmt::format("{} groups of elements are no multiple of the {} in a warp", tile.element_groups(), tile.element_lanes());
    if (tile.staged && (tile.group < shape.vector_width() || tile.unroll * tile.node_lanes * tile.nodes_per_thread > lanes * shape.vector_width()))
        return "a warp asks for its coefficients of a trip at once";
    if (2 * (tile.nodes_padded - shape.nodes) > shape.nodes)
        return fmt::format("{} lanes of {} nodes leave {} of {} nodes empty", tile.node_lanes, tile.nodes_per_thread, tile.nodes_padded - shape.nodes,
                           tile.nodes_padded);
    return std::nullopt;
}

std::optional<std::string> parts_violation(const Config& config) {
    const bool apart = config.has("parts", "apart");
    if (apart && config.has("gathers", "copies")) return "right-hand sides have the place of neighbours' values";
    if (config.has("operator", "staged") && !config.has("basis", "double_parity")) return "coefficients are asked for kind by kind of their rows";
    if (!config.has("basis", "nodal")) return std::nullopt;
    if (apart) return "there are no parts of nodal values";
    if (!config.has("operator", "global")) return "even and odd parts of an operator are small enough for shared memory";
    return std::nullopt;
}

// One launch with all that there is, where memory does not set the limit, on devices that copy past
// registers.
bool warp_tile_applies(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    return passes.size() == 1 && passes.front().sums() && shape.nodes > most_nodes_of_fused_blocks && limits.has(Feature::async_copies);
}

// The widest copies of an element's words, half of them, and those of a block's.
std::vector<Value> wide_copies(const Shape& shape) {
    const std::int64_t widest = widest_copies(shape), vector = shape.vector_width();
    std::vector<std::int64_t> widths{widest};
    if (widest > 1) widths.insert(widths.begin(), widest / 2);
    if (vector > widest) widths.push_back(vector);
    return numbers(widths);
}

FormSpace warp_tile_space(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    FormSpace form;
    if (fuses_all(passes)) {
        form.tunables.push_back(gathers_tunable());
        form.safe.push_back({"gathers", "loads"});
    }
    form.tunables.push_back(basis_tunable(shape.dimension == 3));
    Tunable operators{"operator", operator_help, words({"global", "shared"}), Value("global")};
    if (fuses_all(passes) && limits.has(Feature::bulk_copies)) operators.values.emplace_back("derivatives");
    if (fuses_all(passes) && shape.dimension == 3 && shape.precision == Precision::f32 && !shape.low_order()) operators.values.emplace_back("staged");
    form.tunables.push_back(std::move(operators));
    form.safe.insert(form.safe.end(), {{"basis", "nodal"}, {"operator", "global"}});
    if (has_volume(passes)) {
        form.tunables.push_back({"parts", "where parts of fields lie: in the fields' place, or apart from them, with fewer barriers",
                                 words({"in_place", "apart"}), Value("in_place")});
        form.safe.push_back({"parts", "in_place"});
    }
    const bool low = shape.low_order();
    Tunable copies = copy_tunable();
    copies.values = wide_copies(shape);
    Tunable residency = residency_tunable(shape, limits);
    residency.values = numbers({1, 2, 3, 4, 5});
    form.tunables.insert(form.tunables.end(),
                         {elements_per_block_tunable(numbers({4, 8, 16, 32})),
                          {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates", low ? numbers({2, 4}) : numbers({2, 4, 8})},
                          {"elements_per_thread", "elements whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
                          {"node_lanes", "lanes of a warp along the nodes; the others are along the elements", numbers({2, 4, 8, 16})},
                          {"unroll", "columns of an operator per trip of the inner loop", numbers({2, 4})},
                          std::move(copies),
                          std::move(residency)});
    form.constraints = {{"tile",
                         [shape](const Config& config) { return warp_tile_violation(shape, config); },
                         {"elements_per_block", "nodes_per_thread", "elements_per_thread", "node_lanes", "unroll", "basis", "operator"}},
                        {"parts", parts_violation, {"basis", "operator"}}};
    std::vector<std::string>& reads = form.constraints.back().reads;
    if (has_volume(passes)) reads.emplace_back("parts");
    if (fuses_all(passes)) reads.emplace_back("gathers");
    form.safe.insert(form.safe.end(), {{"elements_per_block", std::int64_t{8}},
                                       {"nodes_per_thread", std::int64_t{2}},
                                       {"elements_per_thread", std::int64_t{1}},
                                       {"node_lanes", std::int64_t{8}},
                                       {"unroll", std::int64_t{2}},
                                       {"copy_width", std::int64_t{widest_copies(shape)}},
                                       {"min_blocks", std::int64_t{1}}});
    form.former = [](const Config&) { return false; };
    return form;
}

// f64 on tetrahedra, all in one launch.
bool mma8_applies(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    return shape.precision == Precision::f64 && shape.dimension == 3 && shape.nodes >= most_nodes_of_fused_blocks && passes.size() == 1 &&
           fuses_all(passes) && limits.has(Feature::f64_matrix_units);
}

std::optional<std::string> mma8_violation(const Shape& shape, const Config& config) {
    const WarpTile tile(shape, config);
    const int padded = tile.nodes_padded - shape.nodes;
    if (tile.nodes_per_thread == 2 || 2 * padded <= shape.nodes) return std::nullopt;
    return fmt::format("tiles of 16 nodes leave {} of {} empty", padded, tile.nodes_padded);
}

// What warp_tile has, with tiles that are given.
FormSpace mma8_space(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    FormSpace form = warp_tile_space(shape, passes, limits);
    const auto taken = [](const auto& of) {
        constexpr std::array given{"gathers", "elements_per_thread", "node_lanes", "unroll"};
        return std::find(given.begin(), given.end(), of.name) != given.end();
    };
    std::erase_if(form.tunables, taken);
    std::erase_if(form.safe, taken);
    form.constraints = {
        {"tile", [shape](const Config& config) { return mma8_violation(shape, config); }, {"nodes_per_thread", "elements_per_block", "copy_width"}}};
    for (Tunable& tunable : form.tunables) {
        if (tunable.name == "basis") tunable.values = words({"double_parity"});
        if (tunable.name == "elements_per_block") tunable.values = numbers({8, 16, 32});
        if (tunable.name == "nodes_per_thread") tunable.values = numbers({2, 4});
    }
    for (Assignment& value : form.safe)
        if (value.name == "basis") value.value = "double_parity";
    form.tunables.push_back({"unrolled_steps", unrolled_steps_help, numbers({1, 2})});
    form.safe.push_back({"unrolled_steps", std::int64_t{2}});
    form.tunables.push_back({"stores", "how results leave a block: by plain stores, or by streaming ones, which caches give up first",
                             words({"plain", "streaming"}), Value("plain")});
    form.safe.push_back({"stores", "plain"});
    return form;
}

const Algebra& covariant(const Shape& shape) {
    return algebra(shape.equation, "covariant");
}

BlockResources warp_tile_resources(const Shape& shape, const Config& config, const Parts& parts) {
    const WarpTile tile(shape, config);
    BlockResources needs;
    needs.threads = tile.threads();
    needs.shared_bytes = shape.bytes() * (tile.field_words(shape, parts) + tile.flux_words(shape, parts) +
                                          factor_words(shape, config, tile.elements_per_block, parts) + tile.operator_words(shape, parts) +
                                          tile.nodal_words() + 4 + (parts.surface ? frame_words(shape, tile.elements_per_block) : 0));
    const int sums = held_sums(shape, config, parts) * tile.nodes_per_thread * tile.elements_per_thread;
    const int columns = tile.on_matrix_units ? 1 : tile.unroll;  // a lane has one of those of a product
    const int operands = shape.fields * tile.elements_per_thread * columns + (parts.volume ? shape.dimension : 1) * tile.nodes_per_thread;
    const int points_in_flight = tile.on_matrix_units ? points_of_thread(shape, tile.elements_per_block, tile.threads()) : 4;
    const int flux = parts.surface ? (tile.neighbours_copied ? 2 : points_in_flight + 1) * shape.fields + 10 : 0;
    // On the matrix units ptxas gets along with fewer addresses.
    needs.registers = shape.bytes() / 4 * std::max(sums + 2 * operands / 3, flux) + (tile.on_matrix_units ? 4 : 40);
    return needs;
}

Block warp_tile_constants(const Plan& plan) {
    const Shape& shape = plan.shape;
    const WarpTile tile(shape, plan.config);
    Block block = face_constants(shape);
    block.line("constexpr int elements_per_block = {}, elements_per_thread = {}, element_groups = elements_per_block / elements_per_thread;",
               tile.elements_per_block, tile.elements_per_thread);
    block.line("constexpr int node_lanes = {}, element_lanes = {}, warps_along_nodes = {};", tile.node_lanes, tile.element_lanes(),
               tile.warps_along_nodes);
    block.line("constexpr int nodes_per_thread = {}, nodes_padded = {};", tile.nodes_per_thread, tile.nodes_padded);
    block.line("constexpr int group = {}, unroll = {};  // neighbouring nodes of a thread, and columns of an operator per trip", tile.group,
               tile.unroll);
    if (tile.staged)
        block.line("constexpr int stages = {}, tile_rows = {};  // of coefficients on their way, and rows of a warp", stages,
                   tile.node_lanes * tile.nodes_per_thread);
    if (tile.on_matrix_units)
        block.line("constexpr int unrolled_steps = {};  // of a product's columns, per trip", number(plan.config, "unrolled_steps"));
    if (plan.any(&Pass::surface)) block.append(frame_constants(shape, tile.operands));
    if (plan.any(&Pass::volume) && !tile.by_parity) block.append(field_width_constant(shape, tile.operands));
    if (tile.by_parity)
        block.append(tile.double_parity ? double_part_constants(plan, tile.part_tiles) : part_constants(plan, tile.part_tiles))
            .append(nodal_row_constant(shape, tile.operands, tile.elements_per_block));
    if (tile.by_parity && plan.any(&Pass::surface))
        block
            .append(tile.double_parity ? double_face_part_constants(shape, tile.unroll)
                                       : face_part_constants(shape, FaceParts(shape.reference(), tile.unroll)))
            .append(points_in_flight(shape, tile.elements_per_block, tile.threads()));
    block.append(block_constants(tile.threads(), plan.config)).append(copy_constants(shape, plan.config));
    return block.append(operand_constants(plan, tile.operands));
}

// Of even rows, then of odd ones: the derivatives that keep parity, column by column, then the one
// that changes it.
TableSpec part_derivatives(const Shape& shape, const PartTiles& tiles) {
    const Parity& parity = Parity::of(shape.reference());
    TableSpec table{"D", 0, {}};
    for (const bool odd : {false, true})
        for (const bool changing : {false, true})
            for (int column = 0; column < tiles.columns(odd != changing); ++column)
                for (int along = 0; along < shape.dimension; ++along)
                    for (int row = 0; row < tiles.rows(odd) && changes_parity(along) == changing; ++row)
                        table.contents.push_back(parity.derivative(shape.reference(), along, row, odd, column, odd != changing));
    table.words = static_cast<std::int64_t>(table.contents.size());
    return table;
}

// Products with each field at a node for LIFT, as products_of_amplitudes counts them.
double part_lift_products(const Shape& shape, const WarpTile& tile) {
    const double columns = tile.double_parity ? tile.face_columns.pairs(tile.part_tiles)
                                              : tile.part_tiles.even_rows * tile.even_lift_columns + tile.part_tiles.odd_rows * tile.odd_lift_columns;
    return amplitudes_of(shape) * (columns / shape.fields + static_cast<double>(shape.faces) * tile.nodes_padded);
}

// A matrix tile by tile of 8 rows, product by product: a word for each lane.
std::vector<double> fragments_of_8(int rows, int columns, const std::function<double(int, int)>& entry) {
    std::vector<double> words;
    for (int tile = 0; tile < rows; tile += 8)
        for (int column = 0; column < columns; column += columns_of_product)
            for (int lane = 0; lane < lanes; ++lane) words.push_back(entry(tile + lane / columns_of_product, column + lane % columns_of_product));
    return words;
}

void add_warp_tile_operators(Plan& plan) {
    const WarpTile tile(plan.shape, plan.config);
    if (tile.by_parity) {
        std::vector<TableSpec>& tables = plan.source.tables;
        if (tile.on_matrix_units) {
            auto [derivatives, lift] = double_part_operators(plan.shape, tile.part_tiles, tile.face_columns, fragments_of_8);
            tables.insert(tables.begin(), std::move(derivatives));
            tables.push_back(std::move(lift));
            plan.source.executed_operations = pass_operations(plan, tile.part_tiles.pairs(plan.own_algebra()), part_lift_products(plan.shape, tile));
            return;
        }
        if (plan.any(&Pass::volume))
            tables.insert(tables.begin(),
                          tile.double_parity ? double_part_derivatives(plan.shape, tile.part_tiles) : part_derivatives(plan.shape, tile.part_tiles));
        if (plan.any(&Pass::surface))
            tables.push_back(tile.double_parity ? double_part_lift(plan.shape, tile.part_tiles, tile.unroll)
                                                : part_lift(plan.shape, tile.part_tiles, tile.unroll));
        plan.source.executed_operations = pass_operations(plan, tile.part_tiles.pairs(plan.own_algebra()), part_lift_products(plan.shape, tile));
        return;
    }
    add_column_operators(plan, tile.operands, tile.nodes_padded, products_of_amplitudes(plan.shape, tile.operands));
}

// The coefficient is the operand that changes its sign: it comes once for all fields.
Block products_of_small_tiles(const Algebra& algebra) {
    Block block;
    for (const Product& product : algebra.products)
        block.line("if (along == {0}) multiply_add(derivative[{1}][r][0], derivative[{1}][r + 1][0], {2}, u[{3}]);", product.derivative,
                   product.accumulator, product.sign > 0 ? "d" : "minus_d", product.field);
    return block;
}

// Words of what lies in shared memory.
Block warp_tile_places(const Plan& plan, const WarpTile& tile, const Pass& pass) {
    const Parts parts = parts_of(pass);
    const int field_words = tile.field_words(plan.shape, parts), flux_words = tile.flux_words(plan.shape, parts);
    Block block;
    const std::int64_t factors = factor_words(plan.shape, plan.config, tile.elements_per_block, parts);
    const std::int64_t frames = pass.surface ? frame_words(plan.shape, tile.elements_per_block) : 0;
    const std::string operators =
        tile.parts_apart ? fmt::format(", operator_words = {}", round_up(static_cast<int>(tile.operator_words(plan.shape, parts)), 4)) : "";
    block.line("constexpr int field_words = {}, flux_words = {}, factor_words = {}, frames_words = {}{};", field_words, flux_words, factors, frames,
               operators);
    if (!tile.shared_derivatives) return block;
    return block.line("constexpr int derivative_words = {}, lift_words = {};  // of D and LIFT",
                      tile.operator_words(plan.shape, {.volume = pass.volume}), tile.operator_words(plan.shape, {.surface = pass.surface}));
}

PassText warp_tile_text(const Plan& plan, const Pass& pass) {
    const WarpTile tile(plan.shape, plan.config);
    const bool copies_fields = tile.copies_fields(parts_of(pass));
    PassText text = operand_text(plan, pass, copies_fields);
    text.flags.insert({"warp_tile", "results_apart"});
    if (pass.surface) text.flags.insert("faces_apart");
    if (copies_fields) text.flags.insert({"gathers_ahead", "fields_copied"});
    if (tile.on_matrix_units) text.flags.insert("tiles_of_8");
    if (plan.config.has("stores", "streaming") && plan.shape.words() % number(plan.config, "copy_width") == 0) text.flags.insert("streaming_stores");
    if (tile.neighbours_copied) text.flags.insert("neighbours_copied");
    if (pass.volume && pass.update) text.flags.insert(tile.neighbours_copied ? "residual_ahead" : "prefetches");
    if (tile.asks_early() && (pass.update || pass.from_rhs)) {
        const int held = plan.shape.fields * tile.nodes_per_thread * tile.elements_per_thread * plan.shape.bytes() / 4;
        // Threads of large blocks have few registers.
        const int most = tile.on_matrix_units && tile.threads() > 512 ? most_held_ahead / 2 : most_held_ahead;
        if (held <= most) text.flags.insert("ahead");
        if (held <= most && !pass.update) text.flags.insert("rhs_ahead");
        if (2 * held <= most && pass.update) text.flags.insert("fields_ahead");
    }
    text.holes.emplace_back("shared_places", warp_tile_places(plan, tile, pass));
    if (!copies_fields) return text;
    const char* const coefficient = "r / group][r % group";
    if (tile.by_parity) {
        text.flags.insert({"by_parity", tile.parts_apart ? "parts_apart" : "parts_in_place"});
        if (plan.shape.words() % number(plan.config, "copy_width") != 0) text.flags.insert("block_copies");
        if (tile.staged) text.flags.insert("staged");
        if (tile.shared_operator) text.flags.insert("shared_operator");
        if (tile.shared_derivatives) text.flags.insert("near_derivatives");
        if (tile.shared_derivatives && !tile.shared_operator) text.flags.insert("bulk_derivatives");
        if (pass.surface) text.flags.insert({"faces_by_parity", "packed_points"});
        if (pass.surface && tile.asks_early()) text.flags.insert("asks_early");
        text.flags.insert(tile.double_parity ? "double_parity" : "single_parity");
        if (pass.surface && tile.operands.flux_columns > plan.shape.face_points()) text.flags.insert("padded_places");
        text.flags.erase("transforms_behind_fluxes");
        if (tile.part_tiles.columns() > plan.shape.nodes) text.flags.insert("padded_columns");
        if (!pass.volume) return text;
        if (tile.double_parity) {
            text.holes.emplace_back("products", tile.on_matrix_units ? products_of_small_tiles(covariant(plan.shape))
                                                                     : register_products(covariant(plan.shape), coefficient, true));
            text.holes.emplace_back("combine", register_combination(covariant(plan.shape)));
            return text;
        }
        text.holes.emplace_back("products", register_products(products_by_parity(covariant(plan.shape), false), coefficient));
        text.holes.emplace_back("changing_products", register_products(products_by_parity(covariant(plan.shape), true), coefficient));
    } else {
        text.holes.emplace_back("products", register_products(covariant(plan.shape), coefficient));
    }
    text.holes.emplace_back("combine", register_combination(covariant(plan.shape)));
    return text;
}

}  // namespace

Way warp_tile_way() {
    return {.name = "warp_tile",
            .help = "a warp has a tile of nodes x elements, cut into its lanes' tiles",
            .applies = warp_tile_applies,
            .space = warp_tile_space,
            .resources = warp_tile_resources,
            .constants = warp_tile_constants,
            .copies_blocks = true,
            .add_operators = add_warp_tile_operators,
            .text = warp_tile_text};
}

Way mma8_way() {
    Way way = warp_tile_way();
    way.name = "mma8";
    way.help = "a warp has 8 elements x 8 nodes on the matrix units, in f64";
    way.applies = mma8_applies;
    way.space = mma8_space;
    return way;
}

}  // namespace hone::inline v0_1::dg
