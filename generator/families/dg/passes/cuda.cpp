#include <fmt/format.h>

#include <optional>
#include <utility>

#include "generator/families/dg/flux.hpp"
#include "generator/families/dg/passes/immediate.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/passes/tile.hpp"
#include "generator/render.hpp"

// CUDA kernels of a stage's passes. A thread accumulates a tile of nodes x elements in registers; fields (for the volume part) and fluxes (for the
// surface part) of the block's elements lie in shared memory, one after the other in the same place, and so do right-hand sides at last, so that
// memory is read and written in one piece.

namespace hone::dg {
namespace {

Block shape_constants(const Shape& shape) {
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    block.line("constexpr int nodes = {}, fields = {}, words = fields * nodes;", shape.nodes, shape.fields);
    return block;
}

Block copy_constants(const Shape& shape, const Config& config) {
    Block block;
    block.line("constexpr int vector_width = {};  // values in 16 bytes", shape.vector_width());
    block.line("constexpr int copy_width = {};    // values per load and store of memory", number(config, "copy_width"));
    return block;
}

Block constants(const Plan& plan, const StageTile& tile) {
    const Shape& shape = plan.shape;
    const bool volume = plan.any(&Pass::volume);
    Block block;
    block.append(shape_constants(shape));
    if (immediate(plan.config)) return block.append(copy_constants(shape, plan.config)).append(immediate_constants(plan));
    block.line("constexpr int dimension = {}, face_count = {}, face_nodes = {}, face_points = face_count * face_nodes;", shape.dimension, shape.faces,
               shape.face_nodes);
    if (tile.mma) {
        block.line("constexpr int elements_per_block = {}, columns = {};  // groups of 8 elements per warp", tile.elements_per_block,
                   tile.elements_per_thread);
        block.line("constexpr int node_tiles = {}, column_groups = {};", tile.nodes_padded / mma_nodes, tile.column_groups());
        block.line("constexpr int flux_steps = {};  // of 8 columns of LIFT", tile.flux_columns / mma_columns);
        if (volume) block.line("constexpr int field_steps = {};  // of 8 columns of D", tile.field_columns / mma_columns);
    } else {
        block.line("constexpr int elements_per_block = {}, elements_per_thread = {}, element_groups = elements_per_block / elements_per_thread;",
                   tile.elements_per_block, tile.elements_per_thread);
        block.line("constexpr int nodes_per_thread = {}, node_threads = {}, nodes_padded = {};", tile.nodes_per_thread, tile.node_threads,
                   tile.nodes_padded);
        block.line("constexpr int unroll = {};        // columns of an operator per trip", tile.unroll);
    }
    block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", tile.threads(), number(plan.config, "min_blocks"));
    block.append(copy_constants(shape, plan.config));
    block.line("constexpr int flux_columns = {}, flux_row = {};  // points of an element's faces and their stride in shared memory, padded",
               tile.flux_columns, tile.flux_row);
    if (!volume) return block;
    block.line("constexpr int field_columns = {}, field_row = {};  // nodes of an element, likewise", tile.field_columns, tile.field_row);
    block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.form().factor_count(),
               plan.form().accumulators);
    return block;
}

Block shared_fluxes(const StageTile& tile, const Pass& pass) {
    Block block;
    if (!pass.surface) return block;
    return block.text(tile.traces_in_shared ? "real* const fluxes = here + fields * elements_per_block * field_row;" : "real* const fluxes = here;");
}

// Where the metric factors and an operator lie behind `here`.
Block shared_places(const Plan& plan, const StageTile& tile, const Pass& pass) {
    const Parts parts{pass.volume, pass.surface};
    const int place = round_up(tile.elements_per_block * plan.shape.fields * tile.place(plan.shape, parts), 4);
    const int factor = stage_factor_words(plan.shape, tile, parts, plan.config);
    Block block = shared_fluxes(tile, pass);
    if (!tile.mma && !pass.volume && !tile.shared_operator) return block;
    block.line("constexpr int field_words = {};  // and those of the fluxes", place);
    std::string behind = "here + field_words";
    if (tile.mma) {
        block.line("constexpr int out_words = {};", tile.out_words(plan.shape));
        block.line("real* const out = {};  // right-hand sides", std::exchange(behind, "out + out_words"));
    }
    if (pass.volume) {
        block.line("constexpr int factor_words = {};", factor);
        block.line("real* const factor = {};  // [elements_per_block][factors]", std::exchange(behind, "factor + factor_words"));
    }
    if (tile.shared_operator) block.line("real* const operator_here = {};", behind);
    return block;
}

Block copy_operator(const char* name, int words) {
    return Block().line("for (int i = threadIdx.x; i < {}; i += threads_per_block) operator_here[i] = {}[i];", words, name);
}

// Fields of node m, from `value` into shared memory.
Block transform(const Algebra& form) {
    Block block;
    if (form.transforms()) {
        block.text("const real* const own = factor + (e < present ? e : 0) * factors;");
        block.append(name_factors(form));
    }
    for (std::size_t f = 0; f < form.transform.size(); ++f)
        block.line("here[({} * elements_per_block + e) * field_row + m] = {};", f,
                   expression(form.transform[f], "", [](int i) { return fmt::format("value[{}]", i); }));
    return block;
}

Block products(const Algebra& form) {
    Block block;
    for (const Product& product : form.products)
        block.line("derivative[{}][r][c] {} d[{}][r] * u[{}][c][j];", product.accumulator, product.sign > 0 ? "+=" : "-=", product.derivative,
                   product.field);
    return block;
}

Block combine(const Algebra& form) {
    Block block = name_factors(form);
    block.text("#pragma unroll");
    block.open("for (int r = 0; r < nodes_per_thread; ++r)");
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        block.line("sum[{}][r][c] = {};", f,
                   expression(form.combine[f], form.combine_scale, [](int i) { return fmt::format("derivative[{}][r][c]", i); }));
    block.close();
    return block;
}

Block products_of_matrix_units(const Algebra& form) {
    Block block;
    for (const Product& product : form.products) {
        const std::string field = fmt::format("u[{}]", product.field);
        block.line("multiply_add(derivative[{}][c], d[{}], {});", product.accumulator, product.derivative,
                   product.sign > 0 ? field : "negated(" + field + ")");
    }
    return block;
}

Block combine_of_matrix_units(const Algebra& form) {
    Block block = name_factors(form);
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        block.line("sum[{}][c][i] = {};", f,
                   expression(form.combine[f], form.combine_scale, [](int k) { return fmt::format("derivative[{}][c][i]", k); }));
    return block;
}

// What the threads' and the matrix units' kernels have in common of the volume part, and what is each one's own.
void add_volume(Holes& holes, const Plan& plan, const StageTile& tile) {
    const Algebra& form = plan.form();
    holes.emplace_back("element_factors", element_factors(form, "own"));
    holes.emplace_back("copy_derivatives", copy_operator("D", plan.shape.dimension * tile.field_columns * tile.nodes_padded));
    holes.emplace_back("transform", transform(form));
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) d[a][r] = {}[((m + j) * dimension + a) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "D");
    holes.emplace_back("load_derivatives", load);
    holes.emplace_back("products", tile.mma ? products_of_matrix_units(form) : products(form));
    holes.emplace_back("combine", tile.mma ? combine_of_matrix_units(form) : combine(form));
}

void add_surface(Holes& holes, const StageTile& tile) {
    holes.emplace_back("copy_lift", copy_operator("LIFT", tile.flux_columns * tile.nodes_padded));
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) l[r] = {}[(c + j) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "LIFT");
    holes.emplace_back("load_lift", load);
}

void add_fluxes(Holes& holes, const Shape& shape) {
    const auto numbered = [](const char* name) { return [name](int f) { return fmt::format("{}[{}]", name, f); }; };
    holes.emplace_back("normal", name_normal(shape));
    holes.emplace_back("mirrors", mirror_lines(shape));
    holes.emplace_back("factors", name_impedances(shape));
    holes.emplace_back("flux", flux_lines(shape, numbered("difference"), numbered("flux")));
}

bool scaled(const Plan& plan, const Pass& pass) {
    return pass.surface && plan.shape.materials;
}

// A pass's last loop, over the words of the fields' arrays; the vectors `total`, ... hold copy_width of them.
void add_finish(Holes& holes, const Plan& plan, const Pass& pass) {
    const bool one_thread_per_half = immediate(plan.config) && pass.sums();
    holes.emplace_back("load_total", Block().line("load(total, {});", one_thread_per_half            ? immediate_result_place()
                                                                      : on_matrix_units(plan.config) ? "out + i"
                                                                                                     : "here + i"));
    holes.emplace_back("load_field", Block().line("load(field, {});", one_thread_per_half && pass.volume ? immediate_field_place() : "q + base + i"));
    holes.emplace_back("scale",
                       Block().line("const real scale = materials[3 * size_t(block_first + (i + j) / words) + ((i + j) % words < {} ? 0 : 1)];",
                                    plan.shape.what->second_group * plan.shape.nodes));
    std::string sum = !pass.from_rhs ? "total[j]" : pass.sums() ? "(before[j] + total[j])" : "before[j]";
    if (scaled(plan, pass)) sum += " * scale";
    Block words;
    if (pass.update)
        words.line("residual[j] = a * residual[j] + dt * {};", sum);
    else
        words.line("{}[j] = {};", pass.sums() ? "total" : "before", sum);
    holes.emplace_back("new_words", words);
    holes.emplace_back("store_field", Block().line("store({} + base + i, field);", plan.into));
}

// Elements and threads of a block, and values per copy, of a launch.
struct BlockShape {
    std::int64_t elements, threads;
    int copy_width;
};

BlockShape block_shape(const Plan& plan, std::int64_t threads) {
    return {number(plan.config, "elements_per_block"), threads, number(plan.config, "copy_width")};
}

// A launch that only updates streams through memory, beside others that compute: a tile of theirs would leave it with narrow copies and few threads.
BlockShape streaming_shape(const Shape& shape) {
    constexpr std::int64_t threads = 256;
    constexpr std::int64_t copies_per_thread = 4;
    int width = shape.vector_width();
    while (shape.words() % width != 0) width /= 2;
    return {(copies_per_thread * threads * width + shape.words() - 1) / shape.words(), threads, width};
}

// `tile` is null for a pass that only updates.
Flags flags_of(const Plan& plan, const StageTile* tile, const Pass& pass) {
    const bool immediates = pass.sums() && immediate(plan.config), transforms = pass.volume && plan.form().transforms();
    const bool ahead = immediates && !immediate_ahead(pass).empty(), traces = tile != nullptr && tile->traces_in_shared;
    return {{"sums", pass.sums()},
            {"immediate", immediates},
            {"mma", pass.sums() && !immediates && tile->mma},
            {"tile", pass.sums() && !immediates && !tile->mma},
            {"volume", pass.volume},
            {"without_volume", !pass.volume},
            {"surface", pass.surface},
            {"from_rhs", pass.from_rhs},
            {"update", pass.update},
            {"scaled", scaled(plan, pass)},
            {"materials", plan.shape.materials},
            {"f64", plan.shape.precision == Precision::f64},
            {"ahead", ahead},
            {"rhs_ahead", ahead && !pass.update},
            {"several_parts", immediates && ImmediateLayout(plan.shape, plan.config).node_parts > 1},
            {"shared_operator", tile != nullptr && tile->shared_operator},
            {"traces_in_shared", traces},
            // Where the faces' values come from memory, nobody needs the fields as they were.
            {"waits_for_factors", transforms && !traces},
            {"transforms_behind_fluxes", transforms && traces},
            {"fluxes_after_derivatives", pass.surface && !traces}};
}

Block entry(const Plan& plan, const StageTile* tile, const Pass& pass, const std::optional<BlockShape>& own) {
    Holes holes{{"signature", pass_signature(plan, pass.entry, "__restrict__")}};
    Flags flags = flags_of(plan, tile, pass);
    flags.emplace_back("own_block", own.has_value());
    Block own_constants;
    if (own) {
        holes.emplace_back("bounds", Block().line("__launch_bounds__({})", own->threads));
        own_constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, copy_width = {};", own->elements, own->threads,
                           own->copy_width);
    }
    holes.emplace_back("own_constants", own_constants);
    add_finish(holes, plan, pass);
    if (pass.surface) add_fluxes(holes, plan.shape);
    if (pass.sums() && immediate(plan.config)) {
        add_immediate(holes, plan, pass);
    } else if (pass.sums()) {
        holes.emplace_back("shared_places", shared_places(plan, *tile, pass));
        holes.emplace_back("unroll", Block().line("#pragma unroll {}", number(plan.config, "unroll")));
        if (pass.volume) add_volume(holes, plan, *tile);
        add_surface(holes, *tile);
    }
    return Block().lines_of(render("dg/passes/entry.cu", holes, flags));
}

// An operator of several matrices (Dr, Ds, Dt, or LIFT alone), entry(a, n, c) their coefficients: column by column, nodes of a column side by side,
// zero where padded; or as the matrix units read it.
template <typename Entry>
TableSpec table(const char* name, const Shape& shape, const StageTile& tile, int matrices, int columns, int padded_columns, Entry entry) {
    if (tile.mma) return fragment_table(name, shape, matrices, columns, entry);
    TableSpec result{name, static_cast<std::int64_t>(matrices) * padded_columns * tile.nodes_padded, {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int a = 0; a < matrices; ++a)
        for (int c = 0; c < columns; ++c)
            for (int n = 0; n < shape.nodes; ++n)
                result.contents[static_cast<std::size_t>((c * matrices + a) * tile.nodes_padded + n)] = entry(a, n, c);
    return result;
}

TableSpec volume_table(const Shape& shape, const StageTile& tile) {
    return table("D", shape, tile, shape.dimension, shape.nodes, tile.field_columns,
                 [&](int a, int n, int c) { return shape.reference().derivative[static_cast<std::size_t>(a)](n, c); });
}

TableSpec surface_table(const Shape& shape, const StageTile& tile) {
    return table("LIFT", shape, tile, 1, shape.face_points(), tile.flux_columns, [&](int, int n, int c) { return shape.reference().lift(n, c); });
}

Launch element_launch(const Plan& plan, const Pass& pass, const BlockShape& block) {
    Launch launch;
    launch.entry = pass.entry;
    launch.grid = {(plan.shape.elements + block.elements - 1) / block.elements, 1, 1};
    launch.block = {block.threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = block.elements;
    launch.shared_bytes = pass.sums() ? stage_shared_bytes(plan.shape, plan.config, {pass.volume, pass.surface}) : 0;
    return launch;
}

}  // namespace

KernelSource pass_cuda_kernel(Plan plan) {
    const Shape& shape = plan.shape;
    const StageTile tile(shape, plan.config);
    KernelSource& source = plan.source;
    source.target = Target::cuda;
    if (immediate(plan.config)) {
        source.executed_operations = pass_operations(plan, immediate_volume_pairs(shape), immediate_surface_pairs(shape));
    } else {
        if (plan.any(&Pass::volume)) source.tables.insert(source.tables.begin(), volume_table(shape, tile));
        if (plan.any(&Pass::surface)) source.tables.push_back(surface_table(shape, tile));
        const double nodes = static_cast<double>(tile.nodes_padded) * (tile.mma ? product_terms(shape) : 1);
        source.executed_operations = pass_operations(plan, nodes * tile.field_columns, nodes * tile.flux_columns);
    }
    Block entries;
    for (const Pass& pass : plan.passes) {
        source.entries.push_back(pass.entry);
        const auto own = pass.sums() ? std::nullopt : std::optional(streaming_shape(shape));
        source.step.push_back(element_launch(plan, pass, own.value_or(block_shape(plan, block_threads(shape, plan.config)))));
        entries.append(entry(plan, pass.sums() ? &tile : nullptr, pass, own));
    }
    source.text = render("dg/passes/kernel.cu",
                         {{"banner", pass_banner(plan, Target::cuda)},
                          {"constants", constants(plan, tile)},
                          {"face_node", face_node_table(shape, "__device__ const")},
                          {"entries", entries}},
                         {{"copies_past_registers", immediate(plan.config) && plan.any(&Pass::volume)},
                          {"matrix_units", tile.mma},
                          {"f64", shape.precision == Precision::f64}});
    return std::move(source);
}

KernelSource update_cuda_kernel(Plan plan) {
    KernelSource& source = plan.source;
    const Pass& pass = plan.passes.front();
    source.target = Target::cuda;
    source.executed_operations = pass_operations(plan, 0, 0);
    source.entries = {pass.entry};
    source.step = {element_launch(plan, pass, block_shape(plan, number(plan.config, "block")))};
    Block constants = shape_constants(plan.shape);
    constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
                   number(plan.config, "elements_per_block"), number(plan.config, "block"), number(plan.config, "min_blocks"));
    constants.append(copy_constants(plan.shape, plan.config));
    source.text = render("dg/passes/kernel.cu",
                         {{"banner", pass_banner(plan, Target::cuda)},
                          {"constants", constants},
                          {"face_node", {}},
                          {"entries", entry(plan, nullptr, pass, std::nullopt)}},
                         {{"copies_past_registers", false}, {"matrix_units", false}, {"f64", plan.shape.precision == Precision::f64}});
    return std::move(source);
}

}  // namespace hone::dg
