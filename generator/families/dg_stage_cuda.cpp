#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/cuda_residency.hpp"
#include "generator/families/dg_flux.hpp"
#include "generator/families/dg_stage_passes.hpp"
#include "generator/families/dg_volume_mappings.hpp"

// CUDA kernels of a stage's passes. A thread accumulates a tile of nodes x elements in registers; fields (for the volume part) and fluxes (for the
// surface part) of the block's elements lie in shared memory, one after the other in the same place, and so do right-hand sides at last, so that
// memory is read and written in one piece.

namespace hone::dg {
namespace {

constexpr int reserved_shared_bytes = 1024;  // that the driver keeps per block, CUDA C++ Programming Guide

// Configurations of families without a volume part have no such tunable.
bool has_traces(const Config& config) {
    const auto& values = config.assignments();
    return std::any_of(values.begin(), values.end(), [](const Assignment& value) { return value.name == "traces"; });
}

struct Tile {
    int elements_per_block, nodes_per_thread, elements_per_thread, unroll, copy_width;
    int node_threads, nodes_padded;
    int field_columns, flux_columns;  // columns of D and of LIFT, and values of a row that are read
    int field_row, flux_row;          // stride between elements in shared memory
    bool shared_operator;
    bool traces_in_shared;  // fields stay in shared memory until the fluxes, in a place of their own, are made

    Tile(const Shape& shape, const Config& config)
        : elements_per_block(number(config, "elements_per_block")),
          nodes_per_thread(number(config, "nodes_per_thread")),
          elements_per_thread(number(config, "elements_per_thread")),
          unroll(number(config, "unroll")),
          copy_width(number(config, "copy_width")),
          node_threads((shape.nodes + nodes_per_thread - 1) / nodes_per_thread),
          nodes_padded(node_threads * nodes_per_thread),
          field_columns(round_up(shape.nodes, unroll)),
          flux_columns(round_up(shape.face_points(), unroll)),
          // An odd number of vectors keeps neighbouring elements in different banks.
          field_row((field_columns / unroll | 1) * unroll),
          flux_row((flux_columns / unroll | 1) * unroll),
          shared_operator(config.word("operator") == "shared"),
          traces_in_shared(has_traces(config) && config.word("traces") == "shared") {}

    int element_groups() const { return elements_per_block / elements_per_thread; }
    int threads() const { return node_threads * element_groups(); }
    // Values per field and element of the place that fields, fluxes and right-hand sides take in turns.
    int place(const Shape& shape, bool volume) const {
        return traces_in_shared ? std::max(field_row + flux_row, shape.nodes) : std::max({volume ? field_row : 0, flux_row, shape.nodes});
    }
};

// Configurations of families without the tunable have no volume part.
bool has_volume(const PassTraits& traits) {
    return !traits.fusions.empty();
}

int volume_accumulators(const Shape& shape, const PassTraits& traits, const Config& config) {
    return has_volume(traits) ? algebra(shape.equation, config.word("form")).accumulators : 0;
}

std::int64_t operator_words(const Shape& shape, const Tile& tile, bool volume) {
    if (!tile.shared_operator) return 0;
    return static_cast<std::int64_t>(tile.nodes_padded) * std::max(tile.flux_columns, volume ? shape.dimension * tile.field_columns : 0);
}

int factor_words(const Shape& shape, const Tile& tile, bool volume, const Config& config) {
    return volume ? round_up(tile.elements_per_block * algebra(shape.equation, config.word("form")).factor_count(), 4) : 0;
}

std::int64_t shared_bytes(const Shape& shape, const Config& config, bool volume) {
    const Tile tile(shape, config);
    const std::int64_t place = static_cast<std::int64_t>(tile.elements_per_block) * shape.fields * tile.place(shape, volume);
    return shape.bytes() * ((place + 3) / 4 * 4 + factor_words(shape, tile, volume, config) + operator_words(shape, tile, volume));
}

int registers(const Shape& shape, const PassTraits& traits, const Config& config) {
    const Tile tile(shape, config);
    const int sums = std::max(shape.fields, volume_accumulators(shape, traits, config)) * tile.nodes_per_thread * tile.elements_per_thread;
    const int operands = shape.fields * tile.elements_per_thread * tile.unroll + (has_volume(traits) ? shape.dimension : 1) * tile.nodes_per_thread;
    const int gathered = 2 * shape.fields + 10;  // of a point of a face, with normal and impedances
    // The compiler brings some two thirds of the operands in ahead of their use.
    return shape.bytes() / 4 * std::max(sums + 2 * operands / 3, gathered) + 40;
}

using Violation = std::optional<std::string>;

Violation tile_violation(const Shape& shape, const Config& config) {
    const Tile tile(shape, config);
    if (tile.elements_per_block % tile.elements_per_thread != 0) return "elements_per_thread does not divide elements_per_block";
    if (tile.traces_in_shared && config.word("fused") != "whole") return "traces=shared: only a fused whole has the fields in shared memory";
    if (tile.threads() < 32) return fmt::format("{} threads in a block, fewer than a warp", tile.threads());
    if (tile.nodes_padded - shape.nodes >= shape.nodes / 3 + 1)
        return fmt::format("{} nodes per thread leave a third of {} threads without a node", tile.nodes_per_thread, tile.node_threads);
    return std::nullopt;
}

Violation shared_violation(const Shape& shape, const Config& config, bool volume, const Limits& limits) {
    const std::int64_t bytes = shared_bytes(shape, config, volume);
    if (bytes > limits.shared_bytes_per_block) return fmt::format("{} bytes of shared memory, a block has {}", bytes, limits.shared_bytes_per_block);
    const std::int64_t resident = (bytes + reserved_shared_bytes) * number(config, "min_blocks");
    if (resident <= limits.shared_bytes_per_multiprocessor) return std::nullopt;
    return fmt::format("{} bytes of shared memory for min_blocks blocks, a multiprocessor has {}", resident, limits.shared_bytes_per_multiprocessor);
}

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

Block constants(const Plan& plan, const Tile& tile) {
    const Shape& shape = plan.shape;
    const bool volume = plan.any(&Pass::volume);
    Block block;
    block.append(shape_constants(shape));
    block.line("constexpr int dimension = {}, face_count = {}, face_nodes = {}, face_points = face_count * face_nodes;", shape.dimension, shape.faces,
               shape.face_nodes);
    block.line("constexpr int elements_per_block = {}, elements_per_thread = {}, element_groups = elements_per_block / elements_per_thread;",
               tile.elements_per_block, tile.elements_per_thread);
    block.line("constexpr int nodes_per_thread = {}, node_threads = {}, nodes_padded = {};", tile.nodes_per_thread, tile.node_threads,
               tile.nodes_padded);
    block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", tile.threads(), number(plan.config, "min_blocks"));
    block.append(copy_constants(shape, plan.config));
    block.line("constexpr int unroll = {};        // columns of an operator per trip", tile.unroll);
    block.line("constexpr int flux_columns = {}, flux_row = {};  // points of an element's faces and their stride in shared memory, padded",
               tile.flux_columns, tile.flux_row);
    if (!volume) return block;
    block.line("constexpr int field_columns = {}, field_row = {};  // nodes of an element, likewise", tile.field_columns, tile.field_row);
    block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.form().factor_count(),
               plan.form().accumulators);
    return block;
}

// Where the metric factors and an operator lie behind `here`.
Block shared_places(const Plan& plan, const Tile& tile, const Pass& pass) {
    const bool volume = plan.any(&Pass::volume);
    const int place = round_up(tile.elements_per_block * plan.shape.fields * tile.place(plan.shape, volume), 4);
    const int factor = factor_words(plan.shape, tile, volume, plan.config);
    Block block;
    if (pass.surface && tile.traces_in_shared)
        block.text("real* const fluxes = here + fields * elements_per_block * field_row;");
    else if (pass.surface)
        block.text("real* const fluxes = here;");
    if (volume) block.line("real* const factor = here + {};  // [elements_per_block][factors]", place);
    if (tile.shared_operator) block.line("real* const operator_here = here + {};", place + factor);
    return block;
}

Block copy_operator(const Tile& tile, const std::string& name, int words) {
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

std::string fields_text(const Plan& plan, const Tile& tile) {
    const Algebra& form = plan.form();
    const bool at_once = !tile.traces_in_shared;  // then the faces' values come from memory, and nobody needs the fields as they were
    Block barrier;
    if (at_once && form.transforms()) barrier.text("__syncthreads();");
    Block keep;
    keep.text("#pragma unroll");
    keep.text("for (int f = 0; f < fields; ++f) here[(f * elements_per_block + e) * field_row + m] = value[f];");
    return render("dg_stage_fields.cu", {{"element_factors", element_factors(form, "own")},
                                         {"copy_operator", copy_operator(tile, "D", plan.shape.dimension * tile.field_columns * tile.nodes_padded)},
                                         {"before_transform", barrier},
                                         {"transform", at_once ? transform(form) : keep}});
}

std::string derivatives_text(const Plan& plan, const Tile& tile) {
    const Algebra& form = plan.form();
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) d[a][r] = {}[((m + j) * dimension + a) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "D");
    return render("dg_stage_derivatives.cu", {{"load_operator", load}, {"products", products(form)}, {"combine", combine(form)}});
}

Block impedances(const Shape& shape) {
    Block block;
    if (!shape.materials) return block;
    block.text("const real own_z = materials[3 * k + 2];");
    block.text("const real other_z = plus < 0 ? own_z : materials[3 * size_t(plus / nodes) + 2];");
    return block;
}

std::string fluxes_text(const Plan& plan, const Tile& tile) {
    const Shape& shape = plan.shape;
    Block normal;
    for (int i = 0; i < shape.dimension; ++i) normal.line("const real n{} = face[{}];", "xyz"[i], i);
    Block wall;
    wall.line("constexpr int wall[fields] = {{{}}};  // a reflecting wall's neighbour less the own value", fmt::join(shape.what->wall, ", "));
    Block own;
    if (tile.traces_in_shared) {
        own.text("const real* const own = here + e * field_row + face_node[point];");
        own.text("constexpr int own_stride = elements_per_block * field_row;");
    } else {
        own.text("const real* const own = q + k * words + face_node[point];");
        own.text("constexpr int own_stride = nodes;");
    }
    const auto numbered = [](const char* name) { return [name](int f) { return fmt::format("{}[{}]", name, f); }; };
    return render("dg_stage_fluxes.cu", {{"normal", normal},
                                         {"own_values", own},
                                         {"wall", wall},
                                         {"impedances", impedances(shape)},
                                         {"factors", name_impedances(shape)},
                                         {"flux", flux_lines(shape, numbered("difference"), numbered("flux"))}});
}

std::string lift_text(const Tile& tile) {
    Block load;
    load.line("for (int r = 0; r < nodes_per_thread; ++r) l[r] = {}[(c + j) * nodes_padded + node + r * node_threads];",
              tile.shared_operator ? "operator_here" : "LIFT");
    return render("dg_stage_lift.cu", {{"load_operator", load}});
}

// The parts of a pass in their order, with the barriers between them.
Block parts(const Plan& plan, const Tile& tile, const Pass& pass) {
    const Block copy_lift = copy_operator(tile, "LIFT", tile.flux_columns * tile.nodes_padded);
    Block block;
    if (tile.traces_in_shared) {
        block.lines_of(fields_text(plan, tile));
        block.lines_of(fluxes_text(plan, tile));
        if (plan.form().transforms()) block.lines_of(render("dg_stage_transform.cu", {{"transform", transform(plan.form())}}));
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

// One word of the fields' arrays; the vectors `total`, ... hold copy_width of them.
Block finish(const Plan& plan, const Pass& pass) {
    const bool scaled = pass.surface && plan.shape.materials;
    Block block;
    const auto load = [&block](const char* name, const std::string& from) {
        block.line("real {}[copy_width];", name);
        block.line("load({}, {});", name, from);
    };
    if (pass.sums()) load("total", "here + i");
    if (pass.from_rhs) load("before", "rhs + base + i");
    if (pass.update) {
        load("residual", "res + base + i");
        load("field", "q + base + i");
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
    return block;
}

Block entry(const Plan& plan, const Pass& pass, const Block& sums) {
    Block block;
    block.lines_of(render("dg_stage_entry.cu", {{"signature", pass_signature(plan, pass.entry, "__restrict__")},
                                                {"sums", sums},
                                                {"stage", name_stage(pass)},
                                                {"finish", finish(plan, pass)}}));
    return block;
}

// What makes a pass's right-hand sides.
Block sums(const Plan& plan, const Tile& tile, const Pass& pass) {
    Block block;
    if (!pass.sums()) return block;
    block.lines_of(render("dg_stage_sums.cu", {{"shared_places", shared_places(plan, tile, pass)}, {"parts", parts(plan, tile, pass)}}));
    return block;
}

// Operators column by column, nodes of a column side by side, zero where padded.
TableSpec volume_table(const Shape& shape, const Tile& tile) {
    TableSpec table{"D", static_cast<std::int64_t>(shape.dimension) * tile.field_columns * tile.nodes_padded, {}};
    table.contents.assign(static_cast<std::size_t>(table.words), 0.0);
    for (int m = 0; m < shape.nodes; ++m)
        for (int a = 0; a < shape.dimension; ++a)
            for (int n = 0; n < shape.nodes; ++n)
                table.contents[static_cast<std::size_t>((m * shape.dimension + a) * tile.nodes_padded + n)] =
                    shape.reference().derivative[static_cast<std::size_t>(a)](n, m);
    return table;
}

TableSpec surface_table(const Shape& shape, const Tile& tile) {
    TableSpec table{"LIFT", static_cast<std::int64_t>(tile.flux_columns) * tile.nodes_padded, {}};
    table.contents.assign(static_cast<std::size_t>(table.words), 0.0);
    for (int c = 0; c < shape.face_points(); ++c)
        for (int n = 0; n < shape.nodes; ++n) table.contents[static_cast<std::size_t>(c * tile.nodes_padded + n)] = shape.reference().lift(n, c);
    return table;
}

Launch element_launch(const Plan& plan, const Pass& pass, std::int64_t threads) {
    const std::int64_t elements_per_block = number(plan.config, "elements_per_block");
    Launch launch;
    launch.entry = pass.entry;
    launch.grid = {(plan.shape.elements + elements_per_block - 1) / elements_per_block, 1, 1};
    launch.block = {threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = elements_per_block;
    launch.shared_bytes = pass.sums() ? shared_bytes(plan.shape, plan.config, plan.any(&Pass::volume)) : 0;
    return launch;
}

}  // namespace

std::optional<std::string> copy_violation(const Shape& shape, const Config& config) {
    const int width = number(config, "copy_width");
    if (width * shape.bytes() <= 16 && shape.words() % width == 0) return std::nullopt;
    return fmt::format("copies of {} values do not divide the {} of an element or exceed 16 bytes", width, shape.words());
}

SearchSpace pass_cuda_space(const Shape& shape, const PassTraits& traits, const Limits& limits) {
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe;
    if (has_volume(traits)) {
        tunables.push_back({"fused", "what one launch does: separate: volume, surface and update each; surface_update: the last two; whole: all",
                            words(traits.fusions)});
        tunables.push_back(
            {"form", "covariant: fewer products on transformed fields; cartesian: every component along r, s, t", words({"covariant", "cartesian"})});
        tunables.push_back({"traces", "where the faces' own values come from: memory, or the fields that a fused whole keeps in shared memory for it",
                            words({"memory", "shared"})});
        safe = {{"fused", "separate"}, {"form", "covariant"}, {"traces", "memory"}};
    }
    for (Tunable& tunable :
         std::vector<Tunable>{{"elements_per_block", "elements that a block of threads handles", numbers({4, 8, 16, 32, 64})},
                              {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
                              {"elements_per_thread", "elements whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
                              {"operator", "where D and LIFT are held: read-only loads, or shared memory", words({"global", "shared"})},
                              {"unroll", "columns of an operator per trip of the inner loop", numbers({1, 2, 4})},
                              {"copy_width", "values per load and store of fields and right-hand sides", numbers({1, 2, 4})},
                              {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})}})
        tunables.push_back(std::move(tunable));
    const std::int64_t elements = shape.order <= 2 ? 16 : 4;
    const std::int64_t elements_per_thread = shape.nodes > 200 ? 4 : 1;  // 1024 threads hold four elements of up to 256 nodes only
    for (Assignment& assignment : std::vector<Assignment>{{"elements_per_block", elements},
                                                          {"nodes_per_thread", std::int64_t{1}},
                                                          {"elements_per_thread", elements_per_thread},
                                                          {"operator", "global"},
                                                          {"unroll", std::int64_t{1}},
                                                          {"copy_width", std::int64_t{1}},
                                                          {"min_blocks", std::int64_t{1}}})
        safe.push_back(std::move(assignment));
    std::vector<Constraint> constraints{
        {"tile", [shape](const Config& config) { return tile_violation(shape, config); }},
        {"copies", [shape](const Config& config) { return copy_violation(shape, config); }},
        {"shared_memory", [=](const Config& config) { return shared_violation(shape, config, has_volume(traits), limits); }}};
    for (Constraint& constraint : residency_constraints(
             limits, [shape](const Config& config) { return Tile(shape, config).threads(); },
             [=](const Config& config) { return registers(shape, traits, config); }))
        constraints.push_back(std::move(constraint));
    return SearchSpace(std::move(tunables), std::move(constraints), std::move(safe));
}

KernelSource pass_cuda_kernel(Plan plan) {
    const Shape& shape = plan.shape;
    const Tile tile(shape, plan.config);
    KernelSource& source = plan.source;
    source.target = Target::cuda;
    if (plan.any(&Pass::volume)) source.tables.insert(source.tables.begin(), volume_table(shape, tile));
    if (plan.any(&Pass::surface)) source.tables.push_back(surface_table(shape, tile));
    source.executed_operations = pass_operations(plan, static_cast<double>(tile.nodes_padded) * tile.field_columns,
                                                 static_cast<double>(tile.nodes_padded) * tile.flux_columns);
    Block entries;
    for (const Pass& pass : plan.passes) {
        source.entries.push_back(pass.entry);
        source.step.push_back(element_launch(plan, pass, tile.threads()));
        entries.append(entry(plan, pass, sums(plan, tile, pass)));
    }
    source.text = render("dg_stage.cu", {{"banner", pass_banner(plan, Target::cuda)},
                                         {"constants", constants(plan, tile)},
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
    source.step = {element_launch(plan, pass, number(plan.config, "block"))};
    Block constants = shape_constants(plan.shape);
    constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
                   number(plan.config, "elements_per_block"), number(plan.config, "block"), number(plan.config, "min_blocks"));
    constants.append(copy_constants(plan.shape, plan.config));
    source.text =
        render("dg_stage.cu",
               {{"banner", pass_banner(plan, Target::cuda)}, {"constants", constants}, {"face_node", {}}, {"entries", entry(plan, pass, {})}});
    return std::move(source);
}

}  // namespace hone::dg
