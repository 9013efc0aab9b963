#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/render.hpp"

// CPU kernels of a stage's passes, as dg_volume's: neighbouring nodes are the lanes of a vector,
// and a register tile of node vectors x elements is accumulated from operator vectors and broadcast
// values, which are fields for the volume part and fluxes for the surface part.

namespace hone::inline v0_1::dg {
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

Violation spill_violation(const Shape& shape, const std::vector<Pass>& passes, const Config& config, const Limits& limits) {
    const Tile tile(shape, config);
    const int accumulators = has_volume(passes) ? std::max(shape.fields, algebra_of(shape, config).accumulators) : shape.fields;
    const int registers_per_vector = (tile.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = accumulators * tile.vectors_per_tile * tile.elements_per_tile * registers_per_vector;
    // AVX-512 and SVE have 32 vector registers, the others 16; twice that many accumulators still
    // beat reloading operands.
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

Block constants(const Plan& plan, const Tile& tile) {
    const Shape& shape = plan.shape;
    Block block = shape_constants(shape);
    block.append(face_constants(shape));
    block.line(
        "constexpr int lanes = {}, vectors_per_tile = {}, nodes_per_tile = lanes * vectors_per_tile, elements_per_tile = {}, elements_per_block = "
        "{};",
        tile.lanes, tile.vectors_per_tile, tile.elements_per_tile, tile.elements_per_block);
    block.line(
        "constexpr int nodes_padded = {}, row = {};  // to whole tiles; nodes, or points of all faces, of one field in the block's buffer, to cache "
        "lines",
        tile.nodes_padded, tile.row);
    if (plan.any(&Pass::volume))
        block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.own_algebra().factor_count(),
                   plan.own_algebra().accumulators);
    return block;
}

void add_volume(Holes& holes, const Plan& plan) {
    const Algebra& form = plan.own_algebra();
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
    if (form.transforms()) load_factors.text("const real* const own = factor + e * factors;").append(name_factors(form));
    holes.emplace_back("name_load_factors", load_factors);
    holes.emplace_back("transform", transform);
    holes.emplace_back("element_factors", element_factors(form, "own"));
    holes.emplace_back("products", products);
    holes.emplace_back("name_combine_factors", name_factors(form));
    holes.emplace_back("combine", combine);
}

void add_surface(Holes& holes, const Shape& shape) {
    Block products;  // a line per field: what the compiler does not unroll does not stay in registers
    for (int f = 0; f < shape.fields; ++f) products.line("lifted[{0}][r][c] += l[r] * flux[{0} * row];", f);
    holes.emplace_back("wall", wall_line(shape));
    holes.emplace_back("products_of_lift", products);
}

Flags flags_of_file(const Plan& plan) {
    Flags flags{{"sums", plan.any(&Pass::surface)}, {"volume", plan.any(&Pass::volume)}};
    add_flux_flags(flags, plan.shape);
    return flags;
}

Block entry(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    const std::string total = pass.sums() ? "total[n]" : "", at = pass.sums() ? "at + n" : "at";
    return Block().lines_of(
        render("dg/passes/kernel.cpp/entry",
               {{"signature", pass_signature(plan, pass.entry, "__restrict")},
                {"parallel", team_parallel(plan.config)},
                {"seat", team_seat(plan.config)},
                {"load_fluxes", Block().line("for (int e = 0; e < present; ++e) load_fluxes(q, faces, vmapP, {}column + e * (fields * row), k + e);",
                                             shape.materials ? "materials, " : "")},
                {"scale", Block().line("const real scale = materials[3 * (k + e) + (f < {} ? 0 : 1)];", shape.what->second_group)},
                {"finish", finish_lines(plan, pass, total, at)}},
               {{"sums", pass.sums()},
                {"volume", pass.volume},
                {"surface", pass.surface},
                {"update", pass.update},
                {"scaled", pass.surface && shape.materials}}));
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
    Holes holes{{"banner", pass_banner(plan, Target::cpu)},
                {"constants", constants(plan, tile)},
                {"face_node", face_node_table(shape, "static const")},
                {"team", team(plan.config)},
                {"unroll", Block().line("#pragma GCC unroll {}", number(plan.config, "unroll"))}};
    if (plan.any(&Pass::volume)) add_volume(holes, plan);
    add_surface(holes, plan.shape);
    Block entries;
    for (const Pass& pass : plan.passes) {
        source.entries.push_back(pass.entry);
        source.step.push_back({pass.entry, {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
        entries.append(entry(plan, pass));
    }
    holes.emplace_back("entries", entries);
    source.text = render("dg/passes/kernel.cpp", holes, flags_of_file(plan));
    return std::move(source);
}

// What runs untuned: vectors as wide as the processor has them, and sums enough that its
// multiply-adds need not wait for each other.
std::vector<Assignment> safe_vectors(const Shape& shape, const Limits& limits) {
    std::int64_t lanes = 16 / shape.bytes(), per_block = 8;
    while (lanes < limits.vector_bytes / shape.bytes() && lanes < shape.nodes) lanes *= 2;
    const auto assigned = [&] {
        return std::vector<Assignment>{{"lanes", lanes},
                                       {"vectors_per_tile", Value(1)},
                                       {"elements_per_tile", Value(2)},
                                       {"elements_per_block", per_block},
                                       {"unroll", Value(1)}};
    };
    while (per_block > 4 && buffer_violation(shape, Config(assigned()), limits)) per_block /= 2;
    return assigned();
}

FormSpace pass_cpu_space(const Step& step, const Fusion& fusion, const Limits& limits) {
    const Shape& shape = step.shape;
    const bool f32 = shape.precision == Precision::f32;
    FormSpace form{
        .name = form_name("vector", fusion),
        .help = form_help("a thread has tiles of vectors of nodes x elements", fusion),
        .tunables = {{"lanes", "neighbouring nodes in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                     {"vectors_per_tile", "vectors of nodes accumulated at a time", numbers({1, 2, 4})},
                     {"elements_per_tile", "elements accumulated at a time", numbers({1, 2, 4})},
                     {"elements_per_block", "elements whose fields, fluxes and right-hand sides are kept in cache", numbers({4, 8, 16, 32})},
                     {"unroll", "columns of an operator per trip of the inner loop", numbers({1, 2, 4})}},
        .constraints = {{"registers", [=, passes = fusion.passes](const Config& config) { return spill_violation(shape, passes, config, limits); }},
                        {"block buffer", [=](const Config& config) { return buffer_violation(shape, config, limits); }}},
        .safe = safe_vectors(shape, limits),
        .former = [fusion](const Config& config) { return fusion.was(config); }};
    if (has_volume(fusion.passes)) {
        form.tunables.insert(form.tunables.begin(), algebra_tunable());
        form.safe.insert(form.safe.begin(), {"algebra", "covariant"});
    }
    return with_team(std::move(form), limits);
}

}  // namespace

Forms pass_cpu_forms(const Step& step, const Limits& limits) {
    Forms forms{{}, form_name("vector", step.fusions.front())};
    for (const Fusion& fusion : step.fusions)
        forms.list.push_back({.space = pass_cpu_space(step, fusion, limits),
                              .kernel = [step, fusion](const Config& config) { return pass_cpu_kernel(Plan(step, fusion, config)); }});
    return forms;
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
    source.text =
        render("dg/passes/kernel.cpp",
               {{"banner", pass_banner(plan, Target::cpu)}, {"constants", constants}, {"team", team(plan.config)}, {"entries", entry(plan, pass)}},
               flags_of_file(plan));
    return std::move(source);
}

}  // namespace hone::inline v0_1::dg
