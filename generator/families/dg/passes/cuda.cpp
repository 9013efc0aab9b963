#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/passes/ways.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/render.hpp"

// CUDA kernels of a step's passes: what is around the right-hand sides, which a way makes.

namespace hone::inline v0_1::dg {
namespace {

bool scaled(const Plan& plan, const Pass& pass) {
    return pass.surface && plan.shape.materials;
}

// A pass's last loop, over the words of the fields' arrays; the vectors `total`, ... hold
// copy_width of them.
void add_finish(Holes& holes, const Plan& plan, const Pass& pass, const std::set<std::string>& flags) {
    const bool fields_here = flags.contains("fields_here"), residual_here = flags.contains("residual_ahead"), helpers = flags.contains("helpers");
    const char* const part = flags.contains("block_copies") ? ", whole, there" : "";
    const char* const of_memory = residual_here || helpers ? "" : part;
    const auto put = [&](const char* name, const std::string& line) { holes.emplace_back(name, Block().text(line)); };
    put("bring_stage", fmt::format("{}(stage_here + threadIdx.x, stage + threadIdx.x{});", fields_here ? "copy_past_registers<1>" : "copy<1>",
                                   fields_here ? "" : ", true"));
    put("residual", fmt::format("load(residual, {} + i{});", helpers ? "brought" : residual_here ? "here" : "res + base", of_memory));
    put("field", fields_here ? "load(field, here + (i + i / words * (row - words)));" : fmt::format("load(field, q + base + i{});", part));
    const bool before_here = helpers && !pass.update;  // helpers bring one array: of an update the residual
    put("before", fmt::format("load(before, {} + i{});", before_here ? "brought" : "rhs + base", before_here ? "" : part));
    put("load_ahead", fmt::format("load(ahead[trip], {} + size_t(block_first) * words + i{});", pass.update ? "res" : "rhs", part));
    put("load_fields_ahead", fmt::format("load(fields_ahead[trip], q + size_t(block_first) * words + i{});", part));
    const char* const store = flags.contains("streaming_stores") ? "store_streaming" : "store";
    put("store_residual", fmt::format("{}(res + base + i, residual{});", store, part));
    put("store_field", fmt::format("{}({} + base + i, field{});", store, plan.into, part));
    put("store_sum", fmt::format("store(rhs + base + i, total{});", part));
    put("scale", fmt::format("const real scale = materials[3 * size_t(block_first + (i + j) / words) + ((i + j) % words < {} ? 0 : 1)];",
                             plan.shape.what->second_group * plan.shape.nodes));
    std::string sum = !pass.from_rhs ? "total[j]" : pass.sums() ? "(before[j] + total[j])" : "before[j]";
    if (scaled(plan, pass)) sum += " * scale";
    put("new_words", pass.update ? fmt::format("residual[j] = a * residual[j] + dt * {};", sum)
                                 : fmt::format("{}[j] = {};", pass.sums() ? "total" : "before", sum));
}

// Elements and threads of a block, and values per copy, of a launch.
struct BlockShape {
    std::int64_t elements, threads;
    int copy_width;
};

BlockShape block_shape(const Plan& plan, std::int64_t threads) {
    return {number(plan.config, "elements_per_block"), threads, number(plan.config, "copy_width")};
}

// A launch that only updates streams through memory, beside others that compute: a tile of theirs
// would leave it with narrow copies and few threads.
BlockShape streaming_shape(const Shape& shape) {
    constexpr std::int64_t threads = 256;
    constexpr std::int64_t copies_per_thread = 4;
    const int width = widest_copies(shape);
    return {(copies_per_thread * threads * width + shape.words() - 1) / shape.words(), threads, width};
}

// All of the template's flags that are a way's.
constexpr std::array way_flags{"tile",
                               "warp_tile",
                               "mma",
                               "immediate",
                               "results_apart",
                               "results_in_place",
                               "gathers_ahead",
                               "neighbours_copied",
                               "prefetches",
                               "by_parity",
                               "single_parity",
                               "double_parity",
                               "faces_by_parity",
                               "padded_places",
                               "padded_columns",
                               "faces_apart",
                               "fluxes_lifted",
                               "residual_ahead",
                               "ahead",
                               "rhs_ahead",
                               "several_parts",
                               "fields_ahead",
                               "fields_copied",
                               "block_copies",
                               "parts_apart",
                               "helpers",
                               "parts_in_place",
                               "parts_in_code",
                               "one_turn",
                               "asks_for_later",
                               "staged",
                               "asks_early",
                               "shared_operator",
                               "bulk_derivatives",
                               "near_derivatives",
                               "tiles_of_8",
                               "traces_in_shared",
                               "waits_for_factors",
                               "transforms_behind_fluxes",
                               "fluxes_after_derivatives"};

Flags flags_of(const Plan& plan, const Pass& pass, const PassText& text) {
    Flags flags{
        {"sums", pass.sums()},       {"volume", pass.volume}, {"without_volume", !pass.volume}, {"surface", pass.surface},
        {"from_rhs", pass.from_rhs}, {"update", pass.update}, {"scaled", scaled(plan, pass)},   {"f64", plan.shape.precision == Precision::f64}};
    add_flux_flags(flags, plan.shape);
    for (const char* const flag : way_flags) flags.emplace_back(flag, text.flags.contains(flag));
    flags.emplace_back("asks_late", !text.flags.contains("asks_early"));
    flags.emplace_back("stage_arrives", pass.update && pass.volume && (text.flags.contains("parts_in_code") || text.flags.contains("staged")));
    flags.emplace_back("frames_first", pass.surface && !text.flags.contains("asks_early"));
    return flags;
}

// Flags of the file around the passes, of which one has `used`.
Flags kernel_flags(const Shape& shape, const std::set<std::string>& used) {
    Flags flags{{"copies_past_registers", used.contains("fields_here") || used.contains("helpers")},
                {"copies_once", used.contains("helpers")},
                {"gathers_ahead", used.contains("gathers_ahead")},
                {"bulk_derivatives", used.contains("bulk_derivatives")},
                {"prefetches", used.contains("prefetches") || used.contains("asks_for_later")},
                {"tangents", used.contains("faces_apart") && shape.maxwell()},
                {"matrix_units", used.contains("mma")},
                {"tiles_of_8", used.contains("tiles_of_8")},
                {"streaming_stores", used.contains("streaming_stores")},
                {"double_parity", used.contains("double_parity")},
                {"changes_parts", used.contains("double_parity") || used.contains("parts_in_code")},
                {"packed_points", used.contains("packed_points")},
                {"block_copies", used.contains("block_copies")},
                {"by_parity", used.contains("by_parity")},
                {"f64", shape.precision == Precision::f64},
                {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros);
    return flags;
}

// `text` is what a way has in the template; empty for a pass that only updates, which may have a
// block of its `own`.
Block entry(const Plan& plan, const Pass& pass, PassText text, const std::optional<BlockShape>& own) {
    Flags flags = flags_of(plan, pass, text);
    flags.emplace_back("own_block", own.has_value());
    Holes& holes = text.holes;
    holes.emplace_back("signature", pass_signature(plan, pass.entry, "__restrict__"));
    Block own_constants;
    if (own) {
        holes.emplace_back("bounds", Block().line("__launch_bounds__({})", own->threads));
        own_constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, copy_width = {};", own->elements, own->threads,
                           own->copy_width);
    }
    holes.emplace_back("own_constants", own_constants);
    add_finish(holes, plan, pass, text.flags);
    if (pass.surface) holes.emplace_back("mirrored", mirrored_line(plan.shape));
    return Block().lines_of(render("dg/passes/kernel.cu/entry", holes, flags));
}

Launch element_launch(const Plan& plan, const Pass& pass, const BlockShape& block, std::int64_t shared_bytes) {
    Launch launch;
    launch.entry = pass.entry;
    launch.grid = {(plan.shape.elements + block.elements - 1) / block.elements, 1, 1};
    launch.block = {block.threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = block.elements;
    launch.shared_bytes = shared_bytes;
    return launch;
}

}  // namespace

Block block_constants(std::int64_t threads, const Config& config) {
    return Block().line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", threads, number(config, "min_blocks"));
}

Block copy_constants(const Shape& shape, const Config& config) {
    Block block;
    block.line("constexpr int vector_width = {};  // values in 16 bytes", shape.vector_width());
    return block.line("constexpr int copy_width = {};    // values per load and store of memory", number(config, "copy_width"));
}

KernelSource pass_cuda_kernel(Plan plan, const Way& way) {
    const Shape& shape = plan.shape;
    KernelSource& source = plan.source;
    source.target = Target::cuda;
    way.add_operators(plan);
    std::set<std::string> used;  // flags of any pass
    Block entries;
    for (const Pass& pass : plan.passes) {
        source.entries.push_back(pass.entry);
        if (pass.sums()) {
            const BlockResources needs = way.resources(shape, plan.config, parts_of(pass));
            source.step.push_back(element_launch(plan, pass, block_shape(plan, needs.threads), needs.shared_bytes));
            const PassText text = way.text(plan, pass);
            used.insert(text.flags.begin(), text.flags.end());
            entries.append(entry(plan, pass, text, std::nullopt));
        } else {
            const BlockShape own = streaming_shape(shape);
            source.step.push_back(element_launch(plan, pass, own, 0));
            entries.append(entry(plan, pass, {}, own));
        }
    }
    Block constants = shape_constants(shape);
    source.text =
        render("dg/passes/kernel.cu",
               {{"banner", pass_banner(plan, Target::cuda)},
                {"constants", constants.append(way.constants(plan))},
                {"face_node", plan.any(&Pass::surface) && !used.contains("packed_points") ? face_node_table(shape, "__device__ const") : Block()},
                {"entries", entries}},
               kernel_flags(shape, used));
    return std::move(source);
}

KernelSource update_cuda_kernel(Plan plan) {
    KernelSource& source = plan.source;
    const Pass& pass = plan.passes.front();
    source.target = Target::cuda;
    source.executed_operations = pass_operations(plan, 0, 0);
    source.entries = {pass.entry};
    source.step = {element_launch(plan, pass, block_shape(plan, number(plan.config, "block")), 0)};
    Block constants = shape_constants(plan.shape);
    constants.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
                   number(plan.config, "elements_per_block"), number(plan.config, "block"), number(plan.config, "min_blocks"));
    constants.append(copy_constants(plan.shape, plan.config));
    PassText text;
    if (plan.shape.words() % number(plan.config, "copy_width") != 0) text.flags.insert("block_copies");
    source.text = render("dg/passes/kernel.cu",
                         {{"banner", pass_banner(plan, Target::cuda)},
                          {"constants", constants},
                          {"face_node", {}},
                          {"entries", entry(plan, pass, text, std::nullopt)}},
                         kernel_flags(plan.shape, text.flags));
    return std::move(source);
}

}  // namespace hone::inline v0_1::dg
