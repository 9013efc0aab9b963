#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/flux.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/render.hpp"

// CPU kernels of a stage's passes, as dg_volume's: neighbouring nodes are the lanes of a vector, and a register tile of node vectors x elements is
// accumulated from operator vectors and broadcast values, which are fields for the volume part and fluxes for the surface part.

namespace hone::dg {
namespace {

struct Tile {
    int lanes, vectors_per_tile, elements_per_tile, elements_per_block;
    int nodes_per_tile;
    int nodes_padded;  // also the stride between fields of right-hand sides in the block's buffer
    int row;           // stride between fields in the buffer of fields or fluxes

    Tile(const Shape& shape, const Config& config)
        : lanes(number(config, "lanes")),
          vectors_per_tile(number(config, "vectors_per_tile")),
          elements_per_tile(number(config, "elements_per_tile")),
          elements_per_block(number(config, "elements_per_block")),
          nodes_per_tile(lanes * vectors_per_tile),
          nodes_padded(round_up(shape.nodes, nodes_per_tile)),
          row(round_up(std::max(shape.nodes, shape.face_points()), 64 / shape.bytes())) {}
};

using Violation = std::optional<std::string>;

Violation spill_violation(const Shape& shape, const PassTraits& traits, const Config& config, const Limits& limits) {
    const Tile tile(shape, config);
    const int accumulators =
        traits.fusions.empty() ? shape.fields : std::max(shape.fields, algebra(shape.equation, config.word("form")).accumulators);
    const int registers_per_vector = (tile.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = accumulators * tile.vectors_per_tile * tile.elements_per_tile * registers_per_vector;
    // AVX-512 and SVE have 32 vector registers, the others 16; twice that many accumulators still beat reloading operands.
    const int most = limits.vector_bytes >= 64 ? 64 : 48;
    if (needed <= most) return std::nullopt;
    return fmt::format("{} vector registers for accumulators, at most {} are worth trying", needed, most);
}

Violation buffer_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const Tile tile(shape, config);
    const int bytes = tile.elements_per_block * shape.fields * (tile.row + tile.nodes_padded) * shape.bytes();
    const int most = limits.cache_bytes / 2;
    if (bytes <= most) return std::nullopt;
    return fmt::format("{} bytes for a block's fields and right-hand sides, half the second cache is {}", bytes, most);
}

Block shape_constants(const Shape& shape) {
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    block.line("constexpr int nodes = {}, fields = {}, words = fields * nodes;", shape.nodes, shape.fields);
    return block;
}

Block constants(const Plan& plan, const Tile& tile) {
    const Shape& shape = plan.shape;
    Block block;
    block.append(shape_constants(shape));
    block.line("constexpr int dimension = {}, face_count = {}, face_nodes = {}, face_points = face_count * face_nodes;", shape.dimension, shape.faces,
               shape.face_nodes);
    block.line("constexpr int lanes = {}, vectors_per_tile = {}, nodes_per_tile = lanes * vectors_per_tile;", tile.lanes, tile.vectors_per_tile);
    block.line("constexpr int elements_per_tile = {}, elements_per_block = {};", tile.elements_per_tile, tile.elements_per_block);
    block.line("constexpr int nodes_padded = {};  // a multiple of nodes_per_tile", tile.nodes_padded);
    block.line("constexpr int row = {};  // nodes, or points of all faces, of one field in the block's buffer, padded to a cache line", tile.row);
    if (plan.any(&Pass::volume))
        block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.form().factor_count(),
                   plan.form().accumulators);
    return block;
}

Block unroll_hint(const Config& config) {
    Block block;
    block.line("#pragma GCC unroll {}", number(config, "unroll"));
    return block;
}

std::string volume_functions(const Plan& plan) {
    const Algebra& form = plan.form();
    Block transform;
    for (std::size_t f = 0; f < form.transform.size(); ++f)
        transform.line("column[(e * fields + {}) * row + m] = {};", f,
                       expression(form.transform[f], "", [](int i) { return fmt::format("source[{} * nodes + m]", i); }));
    Block products;
    for (const Product& product : form.products)
        products.line("derivative[{}][r][c] {} d[{}][r] * u[{} * row];", product.accumulator, product.sign > 0 ? "+=" : "-=", product.derivative,
                      product.field);
    Block combine;
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        combine.line("store(target + {} * nodes_padded, {});", f,
                     expression(form.combine[f], form.combine_scale, [](int i) { return fmt::format("derivative[{}][r][c]", i); }));
    Block load_factors;
    if (form.transforms()) {
        load_factors.text("const real* const own = factor + e * factors;");
        load_factors.append(name_factors(form));
    }
    return render("dg/passes/volume.cpp", {{"name_load_factors", load_factors},
                                           {"transform", transform},
                                           {"element_factors", element_factors(form, "own")},
                                           {"unroll", unroll_hint(plan.config)},
                                           {"products", products},
                                           {"name_combine_factors", name_factors(form)},
                                           {"combine", combine}});
}

// Arguments of the function that makes fluxes: with materials, those too.
std::string surface_functions(const Plan& plan) {
    const Shape& shape = plan.shape;
    Block signature;
    signature.line(
        "static inline void load_fluxes(const real* __restrict q, const real* __restrict faces, const int* __restrict vmapP, {}"
        "real* __restrict column, long long k) {{",
        shape.materials ? "const real* __restrict materials, " : "");
    Block normal;
    for (int i = 0; i < shape.dimension; ++i) normal.line("const real n{} = description[{}];", axis(i), i);
    Block own_material;
    Block gather_material;
    Block other_material;
    if (shape.materials) {
        own_material.text("const real own_z = materials[3 * k + 2];");
        own_material.text("real others_z[face_nodes];");
        gather_material.text("others_z[j] = plus[j] < 0 ? own_z : materials[3 * static_cast<long long>(plus[j] / nodes) + 2];");
        other_material.text("const real other_z = others_z[j];");
    }
    Block products;  // a line per field: what the compiler does not unroll does not stay in registers
    for (int f = 0; f < shape.fields; ++f) products.line("lifted[{0}][r][c] += l[r] * flux[{0} * row];", f);
    return render(
        "dg/passes/surface.cpp",
        {{"signature", signature},
         {"wall", wall_line(shape)},
         {"own_material", own_material},
         {"normal", normal},
         {"gather_material", gather_material},
         {"other_material", other_material},
         {"factors", name_impedances(shape)},
         {"flux", flux_lines(
                      shape, [](int f) { return fmt::format("difference[{}][j]", f); }, [](int f) { return fmt::format("to[{} * row + j]", f); })},
         {"unroll", unroll_hint(plan.config)},
         {"products", products}});
}

// What a block of elements goes through in one pass.
Block parts(const Plan& plan, const Pass& pass) {
    Block block;
    block.text("alignas(64) real column[elements_per_block * fields * row];");
    block.text("alignas(64) real sum[elements_per_block * fields * nodes_padded];");
    if (pass.volume) {
        block.text("alignas(64) real factor[elements_per_block * factors];");
        block.text("load_factors(geometry + k * geometry_words, factor, present);");
        block.text("load_fields(q + k * words, factor, column, present);");
        block.text("for (int n = 0; n < nodes; n += nodes_per_tile)");
        block.text("    for (int e = 0; e < present; e += elements_per_tile) differentiate(column, factor, D, sum, n, e, present);");
    } else {
        block.text("for (real& value : sum) value = 0;");
    }
    if (pass.surface) {
        block.line("for (int e = 0; e < present; ++e) load_fluxes(q, faces, vmapP, {}column + e * (fields * row), k + e);",
                   plan.shape.materials ? "materials, " : "");
        block.text("for (int i = present * (fields * row); i < elements_per_block * (fields * row); ++i) column[i] = 0;");
        block.text("for (int n = 0; n < nodes; n += nodes_per_tile)");
        block.text("    for (int e = 0; e < present; e += elements_per_tile) lift(column, LIFT, sum, n, e);");
    }
    return block;
}

Block update_entry(const Plan& plan, const Pass& pass) {
    Block block;
    block.lines_of(render("dg/passes/update_entry.cpp", {{"signature", pass_signature(plan, pass.entry, "__restrict")},
                                                         {"stage", name_stage(pass)},
                                                         {"parallel", team_parallel(plan.config)},
                                                         {"seat", team_seat(plan.config)},
                                                         {"finish", finish_lines(plan, pass, "", "at")}}));
    return block;
}

Block entry(const Plan& plan, const Pass& pass) {
    if (!pass.sums()) return update_entry(plan, pass);
    Block scale;
    if (pass.surface && plan.shape.materials)
        scale.line("const real scale = materials[3 * (k + e) + (f < {} ? 0 : 1)];", plan.shape.what->second_group);
    scale.text("const real* const total = sum + (e * fields + f) * nodes_padded;");
    Block block;
    block.lines_of(render("dg/passes/entry.cpp", {{"signature", pass_signature(plan, pass.entry, "__restrict")},
                                                  {"stage", name_stage(pass)},
                                                  {"parallel", team_parallel(plan.config)},
                                                  {"seat", team_seat(plan.config)},
                                                  {"parts", parts(plan, pass)},
                                                  {"scale", scale},
                                                  {"finish", finish_lines(plan, pass, "total[n]", "at + n")}}));
    return block;
}

// [tile of nodes][column][node of the tile], so that the inner loop reads straight on.
template <typename Value>
TableSpec table(const char* name, const Shape& shape, const Tile& tile, int columns, Value value) {
    TableSpec result{name, static_cast<std::int64_t>(columns) * tile.nodes_padded, {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int start = 0; start < shape.nodes; start += tile.nodes_per_tile)
        for (int c = 0; c < columns; ++c)
            for (int n = start; n < std::min(start + tile.nodes_per_tile, shape.nodes); ++n)
                result.contents[static_cast<std::size_t>(start * columns + c * tile.nodes_per_tile + n - start)] = value(n, c);
    return result;
}

}  // namespace

SearchSpace pass_cpu_space(const Shape& shape, const PassTraits& traits, const Limits& limits) {
    const bool f32 = shape.precision == Precision::f32;
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe;
    if (!traits.fusions.empty()) {
        tunables.push_back(
            {"fused", "what one sweep over the elements does: separate: volume, surface and update each; surface_update: the last two; whole: all",
             words(traits.fusions)});
        tunables.push_back(
            {"form", "covariant: fewer products on transformed fields; cartesian: every component along r, s, t", words({"covariant", "cartesian"})});
        safe = {{"fused", "separate"}, {"form", "covariant"}};
    }
    for (Tunable& tunable :
         std::vector<Tunable>{{"lanes", "neighbouring nodes in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                              {"vectors_per_tile", "vectors of nodes accumulated at a time", numbers({1, 2, 4})},
                              {"elements_per_tile", "elements accumulated at a time", numbers({1, 2, 4})},
                              {"elements_per_block", "elements whose fields, fluxes and right-hand sides are kept in cache", numbers({4, 8, 16, 32})},
                              {"unroll", "columns of an operator per trip of the inner loop", numbers({1, 2, 4})}})
        tunables.push_back(std::move(tunable));
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    for (Assignment& assignment : std::vector<Assignment>{{"lanes", std::int64_t{16 / shape.bytes()}},
                                                          {"vectors_per_tile", std::int64_t{1}},
                                                          {"elements_per_tile", std::int64_t{1}},
                                                          {"elements_per_block", std::int64_t{4}},
                                                          {"unroll", std::int64_t{1}}})
        safe.push_back(std::move(assignment));
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    std::vector<Constraint> constraints{{"registers", [=](const Config& config) { return spill_violation(shape, traits, config, limits); }},
                                        {"block buffer", [=](const Config& config) { return buffer_violation(shape, config, limits); }},
                                        team_constraint()};
    return SearchSpace(std::move(tunables), std::move(constraints), std::move(safe));
}

KernelSource pass_cpu_kernel(Plan plan) {
    const Shape& shape = plan.shape;
    const Tile tile(shape, plan.config);
    const ReferenceElement& element = shape.reference();
    KernelSource& source = plan.source;
    source.target = Target::cpu;
    if (plan.any(&Pass::volume))
        source.tables.insert(source.tables.begin(), table("D", shape, tile, shape.dimension * shape.nodes, [&](int n, int c) {
                                 return element.derivative[static_cast<std::size_t>(c % shape.dimension)](n, c / shape.dimension);
                             }));
    source.tables.push_back(table("LIFT", shape, tile, shape.face_points(), [&](int n, int c) { return element.lift(n, c); }));
    source.executed_operations =
        pass_operations(plan, static_cast<double>(tile.nodes_padded) * shape.nodes, static_cast<double>(tile.nodes_padded) * shape.face_points());
    Block functions;
    if (plan.any(&Pass::volume)) functions.lines_of(volume_functions(plan));
    functions.lines_of(surface_functions(plan));
    Block entries;
    for (const Pass& pass : plan.passes) {
        source.entries.push_back(pass.entry);
        source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
        entries.append(entry(plan, pass));
    }
    source.text = render("dg/passes/kernel.cpp", {{"banner", pass_banner(plan, Target::cpu)},
                                                  {"constants", constants(plan, tile)},
                                                  {"face_node", face_node_table(shape, "static const")},
                                                  {"functions", functions},
                                                  {"team", team(plan.config)},
                                                  {"entries", entries}});
    return std::move(source);
}

KernelSource update_cpu_kernel(Plan plan) {
    KernelSource& source = plan.source;
    const Pass& pass = plan.passes.front();
    source.target = Target::cpu;
    source.executed_operations = pass_operations(plan, 0, 0);
    source.entries = {pass.entry};
    source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    Block constants = shape_constants(plan.shape);
    constants.line("constexpr int elements_per_block = {};", number(plan.config, "elements_per_block"));
    source.text = render(
        "dg/passes/update.cpp",
        {{"banner", pass_banner(plan, Target::cpu)}, {"constants", constants}, {"team", team(plan.config)}, {"entries", update_entry(plan, pass)}});
    return std::move(source);
}

}  // namespace hone::dg
