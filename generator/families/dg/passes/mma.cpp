#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/passes/operands.hpp"

// Warps take tiles of 16 nodes x groups of 8 elements on the matrix units. Fields and fluxes lie in
// shared memory, side by side where a pass needs both, and right-hand sides in a place of their
// own.

namespace hone::inline v0_1::dg {
namespace {

struct Tasks {
    int elements_per_block, groups_per_warp;
    int nodes_padded;
    bool amplitudes;         // LIFT takes these, face by face, and fields are copied past the registers
    bool neighbours_copied;  // into the place of the fluxes
    bool double_parity, by_parity;
    PartTiles part_tiles;
    DoubleFaceColumns face_columns;
    Operands operands;

    Tasks(const Shape& shape, const Config& config)
        : elements_per_block(number(config, "elements_per_block")),
          groups_per_warp(number(config, "groups_per_warp")),
          nodes_padded(round_up(shape.nodes, mma_nodes)),
          amplitudes(config.has("lift", "amplitudes")),
          neighbours_copied(config.has("gathers", "copies")),
          double_parity(config.has("basis", "double_parity")),
          by_parity(double_parity || config.has("basis", "parity")),
          operands(shape, mma_columns, amplitudes) {
        if (!by_parity) return;
        part_tiles = double_parity ? PartTiles(DoubleParity::of(shape.reference()), mma_nodes, mma_columns)
                                   : PartTiles(Parity::of(shape.reference()), mma_nodes, mma_columns);
        nodes_padded = part_tiles.rows();
        operands.set_field_columns(part_tiles.columns(), mma_columns);
        operands.set_nodal_row(shape, number(config, "copy_width"), mma_columns);
        if (!double_parity) return;
        face_columns = DoubleFaceColumns(DoubleFaceParity::of(shape.reference()), mma_columns);
        operands.face_columns = face_columns.all();
        operands.set_flux_columns(shape.faces * operands.face_columns, mma_columns);
    }

    int column_groups() const { return std::max(1, elements_per_block / (mma_elements * groups_per_warp)); }
    int tasks() const { return nodes_padded / mma_nodes * column_groups(); }
    /// As many warps as there are tasks, up to 16; then as many as share them evenly.
    int threads() const {
        const int rounds = (tasks() + 15) / 16;
        return std::max(4, (tasks() + rounds - 1) / rounds) * mma_lanes;
    }
    /// Words of the place of fields and fluxes, and of that of right-hand sides.
    int place(const Shape& shape, const Parts& parts) const {
        if (amplitudes && !neighbours_copied)
            return round_up(elements_per_block * (shape.fields * operands.field_row + amplitudes_of(shape) * operands.flux_row), 4);
        return round_up(elements_per_block * shape.fields * operands.place(parts, parts.volume && parts.surface), 4);
    }
    /// Whether right-hand sides replace the fields: each warp has one task, and keeps what it makes
    /// until all are done.
    bool in_place() const { return amplitudes && threads() == tasks() * mma_lanes; }
    int out_words(const Shape& shape) const { return in_place() ? 0 : elements_per_block * (by_parity ? operands.nodal_row : shape.words()); }
};

std::optional<std::string> task_violation(const Config& config) {
    const int together = mma_elements * number(config, "groups_per_warp");
    if (number(config, "elements_per_block") % together == 0) return std::nullopt;
    return fmt::format("the matrix units need a multiple of {} elements per block", together);
}

std::optional<std::string> fluxes_violation(const Config& config) {
    if (config.has("lift", "amplitudes")) return std::nullopt;
    if (config.has("gathers", "copies")) return "fluxes are made from values in registers";
    if (!config.has("basis", "nodal")) return "even and odd parts are for amplitudes";
    return std::nullopt;
}

FormSpace mma_space(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    FormSpace form;
    const bool f32 = shape.precision == Precision::f32;
    if (has_volume(passes)) {
        form.tunables.push_back(algebra_tunable());
        form.safe.push_back({"algebra", "covariant"});
    }
    Tunable groups{"groups_per_warp", "groups of 8 elements whose right-hand sides a warp accumulates", f32 ? numbers({1, 2, 4}) : numbers({1, 2})};
    groups.former_name = "elements_per_thread";
    Tunable steps{"unrolled_steps", unrolled_steps_help, numbers({1, 2, 4})};
    steps.former_name = "unroll";
    if (fuses_all(passes)) {
        Tunable gathers = gathers_tunable();
        gathers.former = Value("loads");
        form.tunables.insert(form.tunables.end(), {lift_tunable(), std::move(gathers), basis_tunable(shape.dimension == 3)});
        form.safe.insert(form.safe.end(), {{"lift", "fluxes"}, {"gathers", "loads"}, {"basis", "nodal"}});
    }
    form.tunables.insert(form.tunables.end(), {elements_per_block_tunable(block_sizes(shape, mma_elements)), std::move(groups), std::move(steps),
                                               copy_tunable(), residency_tunable(shape, limits)});
    form.constraints = {{"tile", task_violation, {"elements_per_block", "groups_per_warp"}},
                        {"fluxes", fluxes_violation, {"lift", "gathers", "basis"}}};
    if (!fuses_all(passes)) form.constraints.pop_back();
    form.safe.insert(form.safe.end(), {{"elements_per_block", std::int64_t{mma_elements}},
                                       {"groups_per_warp", std::int64_t{1}},
                                       {"unrolled_steps", std::int64_t{1}},
                                       {"copy_width", std::int64_t{widest_copies(shape)}},
                                       {"min_blocks", std::int64_t{1}}});
    form.former = [](const Config& config) { return config.has("mapping", "mma") || config.has("mapping", "tf32"); };
    return form;
}

BlockResources mma_resources(const Shape& shape, const Config& config, const Parts& parts) {
    const Tasks tasks(shape, config);
    BlockResources needs;
    needs.threads = tasks.threads();
    needs.shared_bytes = std::int64_t{shape.bytes()} *
                         (tasks.place(shape, parts) + tasks.out_words(shape) + factor_words(shape, config, tasks.elements_per_block, parts) +
                          (tasks.amplitudes ? frame_words(shape, tasks.elements_per_block) : 0));
    needs.registers = matrix_registers(shape, held_sums(shape, config, parts), tasks.groups_per_warp, shape.dimension, 1, shape.fields) + 32;
    return needs;
}

// Of the points of the faces in a row of amplitudes, where faces are padded one by one.
std::vector<int> places_of_points(const Shape& shape, const Operands& operands) {
    std::vector<int> places;
    places.reserve(static_cast<std::size_t>(shape.face_points()));
    for (int point = 0; point < shape.face_points(); ++point)
        places.push_back(point / shape.face_nodes * operands.face_columns + point % shape.face_nodes);
    return places;
}

Block mma_constants(const Plan& plan) {
    const Tasks tasks(plan.shape, plan.config);
    Block block = face_constants(plan.shape);
    block.line("constexpr int elements_per_block = {}, columns = {};  // groups of 8 elements per warp", tasks.elements_per_block,
               tasks.groups_per_warp);
    block.line("constexpr int node_tiles = {}, column_groups = {};", tasks.nodes_padded / mma_nodes, tasks.column_groups());
    block.line("constexpr int flux_steps = {};  // of 8 columns of LIFT", tasks.operands.flux_columns / mma_columns);
    if (tasks.double_parity)
        block.append(double_part_constants(plan, tasks.part_tiles)).append(double_face_part_constants(plan.shape, mma_columns));
    else if (tasks.by_parity)
        block.append(part_constants(plan, tasks.part_tiles)).append(point_table(plan.shape, places_of_points(plan.shape, tasks.operands)));
    else if (plan.any(&Pass::volume))
        block.line("constexpr int field_steps = {};  // of 8 columns of D", tasks.operands.field_columns / mma_columns);
    if (tasks.amplitudes && !tasks.by_parity) block.append(field_width_constant(plan.shape, tasks.operands));
    if (tasks.amplitudes) block.append(frame_constants(plan.shape, tasks.operands));
    if (tasks.by_parity)
        block.append(points_in_flight(plan.shape, tasks.elements_per_block, tasks.threads()))
            .append(nodal_row_constant(plan.shape, tasks.operands, tasks.elements_per_block));
    block.append(block_constants(tasks.threads(), plan.config)).append(copy_constants(plan.shape, plan.config));
    return block.append(operand_constants(plan, tasks.operands));
}

// Of each parity of rows: the derivatives that keep parity, then the one that changes it.
TableSpec part_fragments_of_derivatives(const Shape& shape, const PartTiles& tiles) {
    const Parity& parity = Parity::of(shape.reference());
    TableSpec table{"D", 0, {}};
    for (const bool odd : {false, true})
        for (const bool changing : {false, true}) {
            const TableSpec part = fragment_table(
                "", shape, changing ? 1 : shape.dimension - 1, tiles.rows(odd), tiles.columns(odd != changing),
                [&](int a, int n, int c) { return parity.derivative(shape.reference(), changing ? 1 : 2 * a, n, odd, c, odd != changing); });
            table.contents.insert(table.contents.end(), part.contents.begin(), part.contents.end());
        }
    table.words = static_cast<std::int64_t>(table.contents.size());
    return table;
}

TableSpec part_fragments_of_lift(const Shape& shape, const Tasks& tasks) {
    const Parity& parity = Parity::of(shape.reference());
    return fragment_table("LIFT", shape, 1, tasks.part_tiles.rows(), tasks.operands.flux_columns, [&](int, int n, int c) {
        const bool odd = n >= tasks.part_tiles.even_rows;
        return parity.part([&](int node) { return padded_lift(shape, tasks.operands, node, c); }, odd ? n - tasks.part_tiles.even_rows : n, odd);
    });
}

// D and LIFT of parts under two reflections.
void add_double_part_operators(Plan& plan, const Tasks& tasks) {
    const Shape& shape = plan.shape;
    auto [derivatives, lift] = double_part_operators(shape, tasks.part_tiles, tasks.face_columns, [&](int rows, int columns, const auto& entry) {
        return fragment_table("", shape, 1, rows, columns, [&](int, int n, int c) { return entry(n, c); }).contents;
    });
    plan.source.tables.insert(plan.source.tables.begin(), std::move(derivatives));
    plan.source.tables.push_back(std::move(lift));
    const PartTiles& tiles = tasks.part_tiles;
    const double lifted = amplitudes_of(shape) * (static_cast<double>(tasks.face_columns.pairs(tiles)) / shape.fields + shape.faces * tiles.rows());
    plan.source.executed_operations = pass_operations(plan, product_terms(shape) * tiles.pairs(plan.own_algebra()), product_terms(shape) * lifted);
}

void add_mma_operators(Plan& plan) {
    const Shape& shape = plan.shape;
    const Tasks tasks(shape, plan.config);
    std::vector<TableSpec>& tables = plan.source.tables;
    if (tasks.double_parity) return add_double_part_operators(plan, tasks);
    if (tasks.by_parity) {
        tables.insert(tables.begin(), part_fragments_of_derivatives(shape, tasks.part_tiles));
        tables.push_back(part_fragments_of_lift(shape, tasks));
        plan.source.executed_operations =
            pass_operations(plan, product_terms(shape) * tasks.part_tiles.pairs(plan.own_algebra()),
                            static_cast<double>(tasks.nodes_padded) * product_terms(shape) * products_of_amplitudes(shape, tasks.operands));
        return;
    }
    if (plan.any(&Pass::volume))
        tables.insert(tables.begin(), fragment_table("D", shape, shape.dimension, shape.nodes, shape.nodes, [&](int a, int n, int c) {
                          return shape.reference().derivative[static_cast<std::size_t>(a)](n, c);
                      }));
    tables.push_back(fragment_table("LIFT", shape, 1, shape.nodes, tasks.operands.flux_columns,
                                    [&](int, int n, int c) { return padded_lift(shape, tasks.operands, n, c); }));
    const double nodes = static_cast<double>(tasks.nodes_padded) * product_terms(shape);
    plan.source.executed_operations =
        pass_operations(plan, nodes * tasks.operands.field_columns,
                        nodes * (tasks.amplitudes ? products_of_amplitudes(shape, tasks.operands) : tasks.operands.flux_columns));
}

// Words of what lies in shared memory: fields and fluxes, right-hand sides where these have a place
// of their own, metric factors.
Block places_of_matrix_units(const Plan& plan, const Tasks& tasks, const Pass& pass) {
    const Parts parts = parts_of(pass);
    return Block().line("constexpr int field_words = {}, out_words = {}, factor_words = {};", tasks.place(plan.shape, parts),
                        tasks.out_words(plan.shape), factor_words(plan.shape, plan.config, tasks.elements_per_block, parts));
}

// Of all derivatives, or of the one that `along` names.
Block products_of_matrix_units(const Algebra& algebra, bool one_derivative = false) {
    Block block;
    for (const Product& product : algebra.products) {
        const std::string field = fmt::format("u[{}]", product.field);
        block.line("{}multiply_add(derivative[{}][c], d[{}], {});", one_derivative ? fmt::format("if (along == {}) ", product.derivative) : "",
                   product.accumulator, product.derivative, product.sign > 0 ? field : "negated(" + field + ")");
    }
    return block;
}

Block combine_of_matrix_units(const Algebra& algebra) {
    Block block = name_factors(algebra);
    for (std::size_t f = 0; f < algebra.combine.size(); ++f)
        block.line("sum[{}][c][i] = {};", f,
                   expression(algebra.combine[f], algebra.combine_scale, [](int k) { return fmt::format("derivative[{}][c][i]", k); }));
    return block;
}

PassText mma_text(const Plan& plan, const Pass& pass) {
    const Tasks tasks(plan.shape, plan.config);
    PassText text = operand_text(plan, pass, pass.volume && pass.surface);
    text.flags.insert({"mma", "results_apart"});
    if (tasks.neighbours_copied) text.flags.insert("neighbours_copied");
    if (tasks.amplitudes && pass.update) text.flags.insert("prefetches");
    if (tasks.amplitudes)
        text.flags.insert({"gathers_ahead", "faces_apart", "fields_copied"});
    else if (pass.surface)
        text.flags.insert("fluxes_lifted");
    if (tasks.in_place()) text.flags.insert("results_in_place");
    text.holes.emplace_back("shared_places", places_of_matrix_units(plan, tasks, pass));
    text.holes.emplace_back("unroll", Block().line("#pragma unroll {}", number(plan.config, "unrolled_steps")));
    if (!pass.volume) return text;
    if (tasks.by_parity) {
        if (!tasks.neighbours_copied) text.flags.insert("asks_early");
        const int held = tasks.elements_per_block * plan.shape.words() / tasks.threads() * plan.shape.bytes() / 4;
        if (pass.update && held <= most_held_ahead) text.flags.insert("ahead");
        if (pass.update && 2 * held <= most_held_ahead) text.flags.insert("fields_ahead");
        if (plan.shape.words() % number(plan.config, "copy_width") != 0) text.flags.insert("block_copies");
        text.flags.insert({"by_parity", "parts_in_place", "packed_points", tasks.double_parity ? "double_parity" : "single_parity"});
        if (tasks.part_tiles.columns() > plan.shape.nodes) text.flags.insert("padded_columns");
        text.flags.erase("transforms_behind_fluxes");
    }
    if (tasks.double_parity) {
        text.flags.insert("faces_by_parity");
        if (tasks.operands.flux_columns > plan.shape.face_points()) text.flags.insert("padded_places");
        text.holes.emplace_back("products", products_of_matrix_units(plan.own_algebra(), true));
    } else if (tasks.by_parity) {
        text.holes.emplace_back("products", products_of_matrix_units(products_by_parity(plan.own_algebra(), false)));
        text.holes.emplace_back("changing_products", products_of_matrix_units(products_by_parity(plan.own_algebra(), true)));
    } else {
        text.holes.emplace_back("products", products_of_matrix_units(plan.own_algebra()));
    }
    text.holes.emplace_back("combine", combine_of_matrix_units(plan.own_algebra()));
    return text;
}

Way on_matrix_units(const char* name, const char* help, bool (*applies)(const Shape&, const std::vector<Pass>&, const Limits&)) {
    return {.name = name,
            .help = help,
            .applies = applies,
            .space = mma_space,
            .resources = mma_resources,
            .constants = mma_constants,
            .copies_blocks = true,
            .add_operators = add_mma_operators,
            .text = mma_text};
}

}  // namespace

// The fusions that win for a problem: whole, and of tf32 surface_update, too.
Way mma_way() {
    return on_matrix_units("mma", "a warp has tiles of the matrix units, in f64",
                           [](const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
                               return matrix_units(shape, limits) == "mma" && passes.size() == 1;
                           });
}

Way tf32_way() {
    return on_matrix_units("tf32", "a warp has tiles of the matrix units, f32 by three TF32 products",
                           [](const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
                               const bool sums_alone = std::all_of(passes.begin(), passes.end(), [](const Pass& pass) { return pass.sums(); });
                               return matrix_units(shape, limits) == "tf32" && sums_alone && has_volume(passes);
                           });
}

}  // namespace hone::inline v0_1::dg
