#include <algorithm>

#include "generator/families/device/cpu_arguments.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/families/staggered_flow/grid.hpp"

// The form on processors: threads share blocks of rows, along which the compiler makes vectors.

namespace hone::inline v0_1::flow {
namespace {

struct Rows {
    Rows(const Grid& grid, const Config& config)
        : y_block(config.integer("y_block")), z_block(config.integer("z_block")), vector_words(config.integer("vector_bytes") / grid.word()) {}

    std::int64_t y_block, z_block, vector_words;

    KernelSource kernel(const Problem& problem, const Config& config) const {
        KernelSource source = common_source(problem, Target::cpu);
        CpuArguments added;
        added.add("y_block", y_block);
        added.add("z_block", z_block);
        Holes holes = common_holes(problem, config, Target::cpu, added.parameters);
        holes.emplace_back("constants", Block().line("constexpr int vector_words = {};", vector_words));
        holes.emplace_back("team", team(config));
        holes.emplace_back("parallel", team_parallel(config));
        holes.emplace_back("seat", team_seat(config));
        source.text = render("staggered_flow/rows.cpp", holes, common_flags(problem));
        source.step = {{.entry = "staggered_flow", .constants = added.values}};
        return source;
    }
};

}  // namespace

Form rows_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space{.name = "rows",
                    .help = "threads share blocks of rows",
                    .tunables = {{"y_block", "rows of a plane that a thread takes at a time", numbers({1, 4, 16, 64})},
                                 {"z_block", "planes that it goes through with them", numbers({1, 2, 4, 8, 16})},
                                 {"vector_bytes", "width of the vectors along a row", numbers({16, 32, 64})}},
                    .constraints = {vector_width(limits)},
                    .safe = {{"y_block", 16}, {"z_block", 1}, {"vector_bytes", std::min(32, limits.vector_bytes)}}};
    return {.space = with_team(std::move(space), limits),
            .kernel = [grid, problem](const Config& config) { return Rows(grid, config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::flow
