#include <fmt/format.h>

#include "generator/families/acoustics_staggered/cpu.hpp"

// Every thread has tiles of its own, and computes again what these need of their neighbours.

namespace hone::inline v0_1::acoustics {
namespace {

struct CpuTiles : CpuKernel {
    CpuTiles(const Grid& of_grid, const Config& config)
        : CpuKernel(of_grid, config), x_block(config.integer("x_block")), layers_per_block(config.integer("layers_per_block")) {}

    std::int64_t x_block;           // cells along x that a thread takes at a time
    std::int64_t layers_per_block;  // layers that it takes one after the other; 0: an equal share for each

    // Words that a thread of the step keeps: 2 M layers of faces, those along y around its rows,
    // and two rows; of several time steps 2 M rows of all fields for each.
    std::int64_t buffered_words() const {
        if (grid.levels > 1) return 6 * grid.half * grid.levels * (x_block + 2 * grid.levels * grid.reach());
        const std::int64_t side_rows = grid.dimension == 3 ? y_block + 2 * grid.half - 1 : 0;
        return (2 * grid.half * y_block + side_rows + 2) * x_block;
    }

    CpuArguments arguments() const {
        CpuArguments arguments;
        arguments.add("x_block", x_block);
        arguments.add("y_block", y_block);
        arguments.add("layers_per_block", layers_per_block);
        arguments.add("words_ahead", prefetch_bytes / grid.word());
        return arguments;
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        Block own;
        if (grid.kind == Kind::step) own.line("constexpr bool streaming_stores = {};", streaming);
        if (grid.levels > 1) own.append(levels_constant(grid));
        return source(problem, config, own, arguments(), CpuPart::tiles);
    }
};

FormSpace space_of_tiles(const Grid& grid, const Limits& limits) {
    const bool planes = grid.dimension == 3;
    const auto small_buffers = [grid, limits](const Config& config) -> std::optional<std::string> {
        constexpr std::int64_t caches = 8;  // times the second cache: beyond that the step is two sweeps again, with a detour
        const std::int64_t bytes = CpuTiles(grid, config).buffered_words() * grid.word();
        if (bytes <= caches * limits.cache_bytes) return std::nullopt;
        return fmt::format("{} bytes for a thread's new velocities, the second cache has {}", bytes, limits.cache_bytes);
    };
    // Long rows: where they break off, so does the memory's stream. In 3D shorter ones, of which
    // the caches hold a block's planes.
    FormSpace form{.name = "tiles",
                   .help = "every thread has tiles of its own, and computes again what these need of their neighbours",
                   .tunables = {{"x_block", "cells along x that a thread takes at a time", numbers({128, 256, 512, 1024, 2048, 4096, whole_axis})}},
                   .safe = {{"x_block", planes ? 512 : 2048}},
                   .former = [](const Config& config) { return !config.has("team", "planes"); }};
    if (planes) {
        form.tunables.push_back({"y_block", "rows that a thread takes in every plane", numbers({4, 8, 16, 32, 64, whole_axis})});
        form.safe.push_back({"y_block", 16});
    }
    form.tunables.push_back({"layers_per_block",
                             "layers (rows in 2D, planes in 3D) that a thread takes one after the other; 0: an equal share for each",
                             numbers({0, 16, 32, 64, 128, 256}),
                             {},
                             "march"});
    form.safe.push_back({"layers_per_block", 0});
    if (grid.kind == Kind::step) {
        add_stores(form);
        if (grid.levels > 1) add_pairs(form, grid, limits);
        form.constraints.push_back({"buffers", small_buffers});
    }
    return form;
}

}  // namespace

Form cpu_tiles_form(const Problem& problem, const Limits& limits) {
    return cpu_form<CpuTiles>(problem, with_vectors(space_of_tiles(Grid(problem), limits), limits));
}

}  // namespace hone::inline v0_1::acoustics
