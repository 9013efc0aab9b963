#include <fmt/format.h>

#include <optional>

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

// Where the metric factors and an operator lie behind `here`.
Block shared_places(const Plan& plan, const StageTile& tile, const Pass& pass) {
    const Parts parts{pass.volume, pass.surface};
    const int place = round_up(tile.elements_per_block * plan.shape.fields * tile.place(plan.shape, parts), 4);
    const int factor = stage_factor_words(plan.shape, tile, parts, plan.config);
    Block block;
    if (pass.surface && tile.traces_in_shared)
        block.text("real* const fluxes = here + fields * elements_per_block * field_row;");
    else if (pass.surface)
        block.text("real* const fluxes = here;");
    if (tile.mma) block.line("real* const out = here + {};  // right-hand sides", place);
    const int behind = place + tile.out_words(plan.shape);
    if (pass.volume) block.line("real* const factor = here + {};  // [elements_per_block][factors]", behind);
    if (tile.shared_operator) block.line("real* const operator_here = here + {};", behind + factor);
    return block;
}

Block copy_operator(const StageTile& tile, const std::string& name, int words) {
    Block block;
    if (tile.shared_operator) block.line("for (int i = threadIdx.x; i < {}; i += threads_per_block) operator_here[i] = {}[i];", words, name);
    return block;
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

std::string fields_text(const Plan& plan, const StageTile& tile) {
    const Algebra& form = plan.form();
    const bool at_once = !tile.traces_in_shared;  // then the faces' values come from memory, and nobody needs the fields as they were
    Block barrier;
    if (at_once && form.transforms()) barrier.text("__syncthreads();");
    Block keep;
    keep.text("#pragma unroll");
    keep.text("for (int f = 0; f < fields; ++f) here[(f * elements_per_block + e) * field_row + m] = value[f];");
    return render("dg/passes/fields.cu", {{"element_factors", element_factors(form, "own")},
                                          {"copy_operator", copy_operator(tile, "D", plan.shape.dimension * tile.field_columns * tile.nodes_padded)},
                                          {"before_transform", barrier},
                                          {"transform", at_once ? transform(form) : keep}});
}

std::string derivatives_text(const Plan& plan, const StageTile& tile) {
    const Algebra& form = plan.form();
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) d[a][r] = {}[((m + j) * dimension + a) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "D");
    return render("dg/passes/derivatives.cu", {{"load_operator", load}, {"products", products(form)}, {"combine", combine(form)}});
}

Block impedances(const Shape& shape) {
    Block block;
    if (!shape.materials) return block;
    block.text("const real own_z = materials[3 * k + 2];");
    block.text("const real other_z = plus < 0 ? own_z : materials[3 * size_t(plus / nodes) + 2];");
    return block;
}

std::string fluxes_text(const Plan& plan, const StageTile& tile) {
    const Shape& shape = plan.shape;
    Block own;
    if (tile.traces_in_shared) {
        own.text("const real* const own = here + e * field_row + face_node[point];");
        own.text("constexpr int own_stride = elements_per_block * field_row;");
    } else {
        own.text("const real* const own = q + k * words + face_node[point];");
        own.text("constexpr int own_stride = nodes;");
    }
    Block unroll;
    unroll.line("#pragma unroll {}", shape.precision == Precision::f32 ? 2 : 1);  // points in flight together: doubles would take too many registers
    const auto numbered = [](const char* name) { return [name](int f) { return fmt::format("{}[{}]", name, f); }; };
    return render("dg/passes/fluxes.cu", {{"unroll", unroll},
                                          {"normal", name_normal(shape)},
                                          {"own_values", own},
                                          {"mirrors", mirror_lines(shape)},
                                          {"impedances", impedances(shape)},
                                          {"factors", name_impedances(shape)},
                                          {"flux", flux_lines(shape, numbered("difference"), numbered("flux"))}});
}

std::string lift_text(const StageTile& tile) {
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) l[r] = {}[(c + j) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "LIFT");
    return render("dg/passes/lift.cu", {{"load_operator", load}});
}

Block unroll_hint(const Plan& plan) {
    Block block;
    block.line("#pragma unroll {}", number(plan.config, "unroll"));
    return block;
}

std::string mma_volume_text(const Plan& plan) {
    const Algebra& form = plan.form();
    Block products;
    for (const Product& product : form.products) {
        const std::string field = fmt::format("u[{}]", product.field);
        products.line("multiply_add(derivative[{}][c], d[{}], {});", product.accumulator, product.derivative,
                      product.sign > 0 ? field : "negated(" + field + ")");
    }
    Block combine = name_factors(form);
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        combine.line("sum[{}][c][i] = {};", f,
                     expression(form.combine[f], form.combine_scale, [](int k) { return fmt::format("derivative[{}][c][i]", k); }));
    return render("dg/passes/mma_volume.cu", {{"unroll", unroll_hint(plan)}, {"products", products}, {"combine", combine}});
}

// Right-hand sides by the matrix units: all operands into shared memory, then the products.
Block mma_sums(const Plan& plan, const StageTile& tile, const Pass& pass) {
    Block operands;
    Block products;
    if (pass.volume) {
        operands.lines_of(fields_text(plan, tile));
        products.lines_of(mma_volume_text(plan));
    }
    if (pass.surface) {
        operands.lines_of(fluxes_text(plan, tile));
        products.lines_of(render("dg/passes/mma_surface.cu", {{"unroll", unroll_hint(plan)}}));
    }
    if (tile.traces_in_shared && plan.form().transforms())
        operands.lines_of(render("dg/passes/transform.cu", {{"transform", transform(plan.form())}}));
    Block block;
    block.lines_of(render("dg/passes/mma.cu", {{"shared_places", shared_places(plan, tile, pass)}, {"operands", operands}, {"parts", products}}));
    return block;
}

// The parts of a pass in their order, with the barriers between them.
Block parts(const Plan& plan, const StageTile& tile, const Pass& pass) {
    const Block copy_lift = copy_operator(tile, "LIFT", tile.flux_columns * tile.nodes_padded);
    Block block;
    if (tile.traces_in_shared) {
        block.lines_of(fields_text(plan, tile));
        block.lines_of(fluxes_text(plan, tile));
        if (plan.form().transforms()) block.lines_of(render("dg/passes/transform.cu", {{"transform", transform(plan.form())}}));
        block.text("__syncthreads();");
        block.lines_of(derivatives_text(plan, tile));
        if (tile.shared_operator) block.text("__syncthreads();").append(copy_lift).text("__syncthreads();");
        return block.lines_of(lift_text(tile));
    }
    if (pass.volume) {
        block.lines_of(fields_text(plan, tile));
        block.lines_of(derivatives_text(plan, tile));
    }
    if (pass.volume && pass.surface) block.text("__syncthreads();  // nobody needs the fields any more");
    if (pass.surface) {
        block.append(copy_lift);
        block.lines_of(fluxes_text(plan, tile));
        block.text("__syncthreads();");
        block.lines_of(lift_text(tile));
    }
    return block;
}

// The loop over the words of the fields' arrays; the vectors `total`, ... hold copy_width of them.
Block finish(const Plan& plan, const Pass& pass) {
    const bool scaled = pass.surface && plan.shape.materials;
    Block block;
    const bool one_thread_per_half = immediate(plan.config) && pass.sums();
    const std::string ahead = one_thread_per_half ? immediate_ahead(pass) : "";
    if (ahead.empty()) {
        block.text("#pragma unroll 2");
        block.open("for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width)");
    } else {
        block.text("#pragma unroll");
        block.open("for (int trip = 0; trip < copies; ++trip)");
        block.text("const int i = (threadIdx.x + trip * threads_per_block) * copy_width;");
        block.text("if (i >= present * words) break;");
    }
    const auto load = [&](const char* name, const std::string& array, const std::string& from) {
        if (!array.empty() && array == ahead) {
            block.line("real(&{})[copy_width] = ahead[trip];", name);
            return;
        }
        block.line("real {}[copy_width];", name);
        block.line("load({}, {});", name, from);
    };
    if (pass.sums()) load("total", "", one_thread_per_half ? immediate_result_place() : on_matrix_units(plan.config) ? "out + i" : "here + i");
    if (pass.from_rhs) load("before", "rhs", "rhs + base + i");
    if (pass.update) {
        load("residual", "res", "res + base + i");
        load("field", "", one_thread_per_half && pass.volume ? immediate_field_place() : "q + base + i");
    }
    block.text("#pragma unroll");
    block.open("for (int j = 0; j < copy_width; ++j)");
    std::string sum = !pass.from_rhs ? "total[j]" : pass.sums() ? "(before[j] + total[j])" : "before[j]";
    if (scaled) {
        block.line("const real scale = materials[3 * size_t(block_first + (i + j) / words) + ((i + j) % words < {} ? 0 : 1)];",
                   plan.shape.what->second_group * plan.shape.nodes);
        sum += " * scale";
    }
    if (pass.update) {
        block.line("residual[j] = a * residual[j] + dt * {};", sum);
        block.text("field[j] += b * residual[j];");
    } else {
        block.line("{}[j] = {};", pass.sums() ? "total" : "before", sum);
    }
    block.close();
    if (pass.update) {
        block.text("store(res + base + i, residual);");
        block.line("store({} + base + i, field);", plan.into);
    } else {
        block.text("store(rhs + base + i, total);");
    }
    return block.close();
}

Block load_function() {
    Block block;
    block.lines_of(render("dg/load.cu", {}));
    return block;
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

Block entry(const Plan& plan, const Pass& pass, const Block& sums, const std::optional<BlockShape>& own = std::nullopt) {
    Block bounds;
    Block own_constants;
    if (own) {
        bounds.line("__launch_bounds__({})", own->threads);
        own_constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, copy_width = {};", own->elements, own->threads,
                           own->copy_width);
    } else {
        bounds.text("__launch_bounds__(threads_per_block, blocks_per_multiprocessor)");
    }
    Block block;
    block.lines_of(render("dg/passes/entry.cu", {{"bounds", bounds},
                                                 {"own_constants", own_constants},
                                                 {"signature", pass_signature(plan, pass.entry, "__restrict__")},
                                                 {"sums", sums},
                                                 {"stage", name_stage(pass)},
                                                 {"finish", finish(plan, pass)}}));
    return block;
}

// What makes a pass's right-hand sides.
Block sums(const Plan& plan, const StageTile& tile, const Pass& pass) {
    Block block;
    if (!pass.sums()) return block;
    if (immediate(plan.config)) return immediate_sums(plan, pass);
    if (tile.mma) return mma_sums(plan, tile, pass);
    block.lines_of(render("dg/passes/sums.cu", {{"shared_places", shared_places(plan, tile, pass)}, {"parts", parts(plan, tile, pass)}}));
    return block;
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
        entries.append(entry(plan, pass, sums(plan, tile, pass), own));
    }
    source.text = render("dg/passes/kernel.cu", {{"banner", pass_banner(plan, Target::cuda)},
                                                 {"constants", constants(plan, tile)},
                                                 {"load", load_function()},
                                                 {"product", tile.mma ? matrix_product(shape) : Block()},
                                                 {"face_node", face_node_table(shape, "__device__ const")},
                                                 {"entries", entries}});
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
    source.text = render("dg/passes/kernel.cu", {{"banner", pass_banner(plan, Target::cuda)},
                                                 {"constants", constants},
                                                 {"load", load_function()},
                                                 {"product", {}},
                                                 {"face_node", {}},
                                                 {"entries", entry(plan, pass, {})}});
    return std::move(source);
}

}  // namespace hone::dg
