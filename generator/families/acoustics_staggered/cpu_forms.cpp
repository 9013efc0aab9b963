#include <fmt/format.h>

#include <algorithm>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/families/device/cpu_team.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

constexpr std::int64_t whole = 65536;  // cells along an axis: more than there are

// Words that a thread of the step keeps: 2 M layers of faces, those along y around its rows, and
// two rows; of several time steps 2 M rows of all fields for each.
std::int64_t buffered_words(const Grid& grid, const Config& config) {
    if (grid.levels > 1) return 6 * grid.half * grid.levels * (config.integer("x_block") + 2 * grid.levels * grid.reach());
    const std::int64_t rows = integer_or(config, "y_block", 1), side_rows = grid.dimension == 3 ? rows + 2 * grid.half - 1 : 0;
    return (2 * grid.half * rows + side_rows + 2) * config.integer("x_block");
}

Constraint small_buffers(const Grid& grid, const Limits& limits) {
    constexpr std::int64_t caches = 8;  // times the second cache: beyond that the step is two sweeps again, with a detour
    return {"buffers", [grid, limits](const Config& config) -> std::optional<std::string> {
                const std::int64_t bytes = buffered_words(grid, config) * grid.word();
                if (bytes <= caches * limits.cache_bytes) return std::nullopt;
                return fmt::format("{} bytes for a thread's new velocities, the second cache has {}", bytes, limits.cache_bytes);
            }};
}

// What all forms have, behind their own.
FormSpace with_vectors(FormSpace form, const Limits& limits) {
    form.tunables.push_back({"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})});
    form.tunables.push_back({"prefetch_bytes", "of a row, from asking for them to computing with them; 0: the processor foresees what it can",
                             numbers({0, 1024, 2048, 4096}), Value(0), "bytes_ahead"});
    form.safe.push_back({"vector_bytes", std::int64_t{limits.vector_bytes >= 64 ? 64 : limits.vector_bytes >= 32 ? 32 : 16}});
    form.safe.push_back({"prefetch_bytes", 1024});
    form.constraints.push_back({"vector_width",
                                [limits](const Config& config) -> std::optional<std::string> {
                                    if (config.integer("vector_bytes") <= limits.vector_bytes) return std::nullopt;
                                    return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"),
                                                       limits.vector_bytes);
                                },
                                {"vector_bytes"}});
    return with_team(std::move(form), limits);
}

void add_stores(FormSpace& form) {
    form.tunables.push_back({"stores", "streaming: what is written goes past the caches", words({"plain", "streaming"})});
    form.safe.push_back({"stores", "plain"});
}

// Two layers that are advanced together. Damping has no vectors there. Untuned where it was
// measured to be faster (ADR 0065), if the vectors are long enough.
void add_pairs(FormSpace& form, const Grid& grid, const Limits& limits) {
    if (grid.absorbing) return;
    constexpr std::int64_t longest = 64;  // bytes of a vector
    const bool untuned = (grid.dimension == 2 || grid.half == 8) && std::min<std::int64_t>(limits.vector_bytes, longest) >= grid.half * grid.word();
    form.tunables.push_back({"layers_at_once", "layers (rows in 2D, planes in 3D) that are advanced together, whose surroundings are loaded once",
                             numbers({1, 2}), Value(1)});
    form.safe.push_back({"layers_at_once", untuned ? 2 : 1});
    form.constraints.push_back({"reach",
                                [grid](const Config& config) -> std::optional<std::string> {
                                    const std::int64_t words = config.integer("vector_bytes") / grid.word();
                                    if (config.has("layers_at_once", 1) || words >= grid.half) return std::nullopt;
                                    return fmt::format("vectors of {} words, sums reach {}", words, grid.half);
                                },
                                {"layers_at_once", "vector_bytes"}});
}

FormSpace tiles_form(const Grid& grid, const Limits& limits) {
    const bool planes = grid.dimension == 3;
    // Long rows: where they break off, so does the memory's stream. In 3D shorter ones, of which
    // the caches hold a block's planes.
    FormSpace form{.name = "tiles",
                   .help = "every thread has tiles of its own, and computes again what these need of their neighbours",
                   .tunables = {{"x_block", "cells along x that a thread takes at a time", numbers({128, 256, 512, 1024, 2048, 4096, whole})}},
                   .safe = {{"x_block", planes ? 512 : 2048}},
                   .former = [](const Config& config) { return !config.has("team", "planes"); }};
    if (planes) {
        form.tunables.push_back({"y_block", "rows that a thread takes in every plane", numbers({4, 8, 16, 32, 64, whole})});
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
        form.constraints.push_back(small_buffers(grid, limits));
    }
    return form;
}

// Rows of a thread's share that a team marches with: no fewer than 2 M, because a thread's
// neighbours look across as many.
FormSpace team_form(const Grid& grid, const std::string& name, const std::string& help) {
    std::vector<std::int64_t> rows;
    for (const std::int64_t count : {4, 8, 16, 32, 64})
        if (count >= 2 * grid.half) rows.push_back(count);
    rows.push_back(whole);
    return {.name = name, .help = help, .tunables = {{"y_block", "rows that a thread takes in every plane", numbers(rows)}}};
}

FormSpace planes_form(const Grid& grid) {
    FormSpace form = team_form(grid, "planes",
                               "all threads go through the planes together, each with its rows, and read new velocities from each other, of rings "
                               "that they share");
    form.safe = {{"y_block", 16}};
    // Threads together took whole rows through all planes, whatever else was asked for.
    form.former = [](const Config& config) { return config.has("team", "planes") && config.has("x_block", whole) && config.has("march", 0); };
    add_stores(form);
    return form;
}

FormSpace march_form(const Grid& grid, const Limits& limits) {
    FormSpace form = team_form(grid, "march", "all threads go through the planes together, each with its rows, in place");
    form.safe = {{"y_block", whole}};
    add_pairs(form, grid, limits);
    return form;
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    std::vector<FormSpace> spaces;
    const bool planes = grid.kind == Kind::step && grid.dimension == 3;
    if (grid.in_place) {
        spaces = {march_form(grid, limits)};
    } else {
        if (!planes || grid.levels == 1) spaces.push_back(tiles_form(grid, limits));
        if (planes) spaces.push_back(planes_form(grid));
    }
    Forms forms{{}, spaces.front().name};
    for (FormSpace& space : spaces)
        forms.list.push_back(
            {.space = with_vectors(std::move(space), limits), .kernel = [problem](const Config& config) { return cpu_kernel(problem, config); }});
    return forms;
}

}  // namespace hone::inline v0_1::acoustics
