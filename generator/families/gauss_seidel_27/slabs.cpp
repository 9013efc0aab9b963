#include "generator/families/gauss_seidel_27/slabs.hpp"

#include "generator/families/gauss_seidel_27/bulk_copies.hpp"

namespace hone::inline v0_1::gauss_seidel {

SlabKernel::SlabKernel(const Grid& of_grid, const Config& config)
    : CudaKernel(of_grid, config),
      planes_per_slab(config.integer("planes_per_slab")),
      stages(config.integer("stages")),
      streaming_copies(config.has("cache_hint", "streaming")) {
}

std::int64_t SlabKernel::stage_bytes(std::int64_t arrays, std::int64_t planes) const {
    constexpr std::int64_t rows = 2, stencil_rows = 4;
    const std::int64_t stencils = copied_stencil() ? planes * stencil_rows * row_stencil_words : 0;
    return (arrays * CopiedRows(grid).words_of(rows) + stencils) * grid.word_bytes();
}

Text SlabKernel::text(const Problem& problem, const Config& config, const Block& own, bool follows, const std::string& constant) const {
    Text text{{{"banner", banner(problem, config, Target::cuda)},
               {"constants", constants(own)},
               {"parameters", parameters(follows ? "real* tickets" : "", constant)},
               {"stencil_of_block", copied_stencil() ? Block().line("const real* const s = stencil;") : stencil_of_block()}},
              {{"follows", follows}, {"kept_reads", false}, {"copied_stencil", copied_stencil()}, {"streaming_copies", streaming_copies}}};
    add_groups(text);
    add_coefficients(text);
    return text;
}

Launch SlabKernel::slab_launch(const std::string& entry, std::int64_t warps, std::int64_t blocks, std::int64_t shared_bytes) const {
    Launch result = launch(entry, {1, 1, blocks}, 2);
    result.block[1] = warps;
    result.shared_bytes = shared_bytes;
    result.range_axis = -1;
    return result;
}

void SlabKernel::add_progress(KernelSource& source) const {
    constexpr std::int64_t counting_threads = 256;
    const std::int64_t words = grid.nz + 2;
    source.tables.push_back({"tickets", words, {}, true});
    Launch begin;
    begin.entry = "gauss_seidel_27_begin";
    begin.grid = {divide_up(words, counting_threads), 1, 1};
    begin.block = {counting_threads, 1, 1};
    source.step.push_back(begin);
    source.entries.push_back(begin.entry);
}

}  // namespace hone::inline v0_1::gauss_seidel
