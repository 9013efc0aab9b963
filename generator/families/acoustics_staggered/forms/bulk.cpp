#include <fmt/format.h>

#include "generator/families/acoustics_staggered/march.hpp"

// A march in 2D with layers in registers, whose rows arrive by bulk copies.

namespace hone::inline v0_1::acoustics {
namespace {

struct Bulk : March {
    // Copies begin and end at whole sectors.
    Bulk(const Grid& of_grid, const Config& config)
        : March(of_grid, config, {.in_registers = true, .exchanged = of_grid.kind == Kind::step, .whole_words = sector_bytes / of_grid.word()}),
          stages(integer_or(config, "stages", 1)),
          max_lead(integer_or(config, "max_lead", 0)),
          kept_reads(config.has("cache_hint", "kept")) {}

    std::int64_t stages;    // layers in shared memory, or on their way there
    std::int64_t max_lead;  // of a block over its neighbours; 0: as much as it likes
    bool kept_reads;        // the second cache gives up what is copied last

    // Arrays of which a layer arrives with every layer of a march: the pressure, two velocities and
    // media.
    int arriving() const {
        if (!grid.array_media) return 3;
        return grid.kind == Kind::pressure ? 4 : grid.kind == Kind::velocity ? 5 : 6;
    }

    BlockCells block_cells() const {
        const BlockCells most = March::block_cells();
        if (!how.exchanged) return most;
        // An equal share of the row, in whole sectors.
        const std::int64_t words = sector_bytes / grid.word(), columns = divide_up(grid.nx, most.x);
        return {divide_up(divide_up(grid.nx, columns), words) * words, most.y};
    }

    std::int64_t shared_bytes() const {
        constexpr std::int64_t barrier = 8;
        const std::int64_t words = (arriving() * block_x + 2 * groups_beside(grid.half)) * points_per_thread;
        return exchange_bytes() + stages * (words * grid.word() + barrier);
    }

    Block own_constants() const {
        Block own = exchange_constants();
        own.line("constexpr int stages = {};  // layers on their way through shared memory", stages);
        own.line("constexpr int side_groups = {}, arriving = {}, exchange_words = {};", groups_beside(grid.half), arriving(),
                 exchange_bytes() / grid.word());
        add_lead(own, max_lead);
        return constants(own, true);
    }

    Parts parts() const {
        Parts parts = March::parts();
        parts.bulk = true, parts.kept_reads = kept_reads, parts.paced = max_lead > 0;
        return parts;
    }
};

}  // namespace

Form bulk_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = march_space(grid, {.name = "bulk",
                                         .help = "a march with layers in registers, whose rows come by bulk copies",
                                         .former = "bulk",
                                         .rows_of_threads = false,
                                         .ahead = false,
                                         .copies = true,
                                         .keeps_pace = grid.kind == Kind::step});
    const auto bulk_copies = [grid](const Config& config) -> Reason {
        constexpr std::int64_t alignment = 16;
        const Bulk bulk(grid, config);
        // Rows, where a block's cells begin, and where copies go behind what it exchanges.
        for (const std::int64_t words : {grid.pitch, bulk.block_cells().x, bulk.exchange_bytes() / grid.word()})
            if (words * grid.word() % alignment != 0)
                return fmt::format("bulk copies begin and end at multiples of {} bytes, {} words do not", alignment, words);
        return {};
    };
    space.constraints.push_back({"bulk_copies", bulk_copies, {"block_x", "points_per_thread"}});
    return needing({Feature::bulk_copies}, cuda_form<Bulk>(problem, limits, std::move(space)));
}

}  // namespace hone::inline v0_1::acoustics
