#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"

namespace hone::inline v0_1::gauss_seidel {
namespace {

using Reason = std::optional<std::string>;

constexpr std::int64_t warp = 32;
constexpr std::int64_t static_shared_bytes = 48 * 1024;  // more needs dynamic shared memory

// About how many 32-bit registers a thread needs.
std::int64_t registers(const Grid& grid, const Choice& choice) {
    constexpr std::int64_t addresses = 20;
    const std::int64_t points = choice.points_per_thread;
    const bool per_point = grid.stencil_per_point(), walks = choice.walks_through_planes();
    std::int64_t values = 4;
    // A walk with a stencil per point takes up to 60 words a point where it may; with 35 it keeps a
    // few elsewhere, which all the waiting for memory hides. Planes that leave partial sums keep
    // coefficients longer, unless they lie in shared memory; those that get them have more rows
    // under way in f32.
    if (leaves_partial_sums(choice.staging))
        values += std::max(choice.staging == "partial_sums" ? 45 : 35, grid.precision == Precision::f32 ? 55 : 27) * points;
    else if (choice.pipeline())  // sums of two rows and of the next one, and rows that arrive
        values += 14 * points;
    else if (choice.slabs())  // sums and old rows of every plane, and rows that arrive
        values += (5 * (choice.planes_per_slab + 1) + 8) * points;
    else if (choice.rows() && per_point)
        values += (walks ? 35 : 10) * points;
    else if (choice.rows())
        values += (walks ? 24 : 12) * points / 2;
    else if (choice.staging == "registers")
        values += 9 * (points + 1);
    if (walks && !per_point && choice.staging == "registers") values += 12 * points;
    if (choice.stencil_in == "registers") values += coefficients;
    return addresses + values * bytes_per_word(grid.precision) / 4;
}

// Shared memory that the text declares.
std::int64_t static_bytes(const Grid& grid, const Choice& choice) {
    std::int64_t words = choice.stencil_in == "shared" ? coefficients : 0;
    if (choice.staging == "shared") words += 2 * (2 * choice.block_x + 2) * (2 * choice.block_y + 2);
    return words * bytes_per_word(grid.precision);
}

BlockResources resources(const Grid& grid, const Config& config) {
    const Choice choice(grid, config);
    const std::int64_t dynamic = choice.pipeline()               ? pipeline_shared_bytes(grid, choice)
                                 : choice.slabs()                ? slab_shared_bytes(grid, choice)
                                 : choice.walks_through_planes() ? walking_shared_bytes(grid, choice)
                                                                 : 0;
    return {
        .threads = choice.threads(), .shared_bytes = static_bytes(grid, choice) + dynamic, .registers = static_cast<int>(registers(grid, choice))};
}

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// Tunables that several forms have.
Tunable block_x() {
    return {"block_x", "threads along x", numbers({16, 32, 64, 128})};
}
Tunable block_y() {
    return {"block_y", "threads along y, each on rows of its own", numbers({1, 2, 4, 6, 8, 16})};
}
Tunable z_block(std::vector<std::int64_t> values) {
    return {"z_block", "planes that a block covers", numbers(std::move(values))};
}
Tunable points_per_thread(std::vector<std::int64_t> values) {
    return {"points_per_thread", "points along x of a thread in one slice", numbers(std::move(values))};
}
Tunable stencil_in(std::vector<std::string> places) {
    return {"stencil_in",
            "where the stencil is held; streaming: read-only loads that leave the caches to what is read again; by_value: in the arguments of the "
            "launch, "
            "which lie in constant memory; copied: to shared memory, with the rows of the grid",
            words(std::move(places))};
}
Tunable edges() {
    return {"edges", "threads beyond the grid have no loads, or repeat the last point's", words({"guarded", "clamped"})};
}
Tunable warps_per_row(std::vector<std::int64_t> values) {
    Tunable most{"warps_per_row", "warps that a row may have, at most: the compiler leaves registers for as many", numbers(std::move(values))};
    most.former_name = "block_y";
    return most;
}
Tunable stages(std::vector<std::int64_t> values) {
    return {"stages", "of bulk copies that are on their way or read", numbers(std::move(values)), Value(2)};
}
Tunable max_lead(std::vector<std::int64_t> values) {
    return {"max_lead", "rows that even planes, or slabs, may be ahead of the planes beside them; 0: as they like", numbers(std::move(values)),
            Value(0), "lead"};
}
Tunable planes_per_slab(std::vector<std::int64_t> values) {
    return {"planes_per_slab", "planes that a block takes together, from one of the earlier colours to another", numbers(std::move(values))};
}
Tunable cache_hint() {
    return {"cache_hint", "streaming: right-hand sides, which nobody reads again, leave the second cache first", words({"plain", "streaming"})};
}
Tunable min_blocks(std::vector<std::int64_t> values = {1, 2, 3, 4, 6, 8}) {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers(std::move(values))};
}

// Where the stencil is where a coefficient serves a point or two, and so must cost no load.
std::vector<std::string> places_for_points(Stencil stencil) {
    if (stencil == Stencil::constant) return {"registers", "by_value"};
    if (stencil == Stencil::semi_constant) return {"registers", "read_only"};
    return {"read_only", "streaming"};
}

std::vector<std::string> places_for_rows(Stencil stencil) {
    if (stencil == Stencil::constant) return {"registers", "shared", "read_only", "by_value"};
    return places_for_points(stencil);
}

// A walk needs its registers for sums.
std::vector<std::string> places_for_walks(Stencil stencil, bool bulk) {
    if (stencil == Stencil::constant) return {"read_only", "by_value"};
    if (stencil == Stencil::semi_constant) return bulk ? std::vector<std::string>{"read_only", "copied"} : std::vector<std::string>{"read_only"};
    return places_for_points(stencil);
}

Constraint small_blocks(const Grid& grid) {
    return {"small_blocks", [grid](const Config& config) {
                return rejected_when(Choice(grid, config).threads() < 64,
                                     "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
            }};
}

Constraint aligned_pairs(const Grid& grid) {
    return {"aligned_pairs", [pitch = grid.pitch](const Config& config) -> Reason {
                const std::int64_t points = config.integer("points_per_thread");
                if (pitch % points == 0) return {};
                return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", points, pitch);
            }};
}

// Of the time when all forms were one list of tunables: so many colours, and one of these stagings
// (none: any).
std::function<bool(const Config&)> formerly(std::int64_t colours, const std::vector<std::string>& stagings = {}) {
    return [=](const Config& config) {
        return config.has("colours_per_pass", colours) &&
               (stagings.empty() ||
                std::any_of(stagings.begin(), stagings.end(), [&](const std::string& staging) { return config.has("staging", staging); }));
    };
}

FormSpace points_form(const Grid& grid) {
    FormSpace form{.name = "points",
                   .help = "a launch per colour, each thread with points of the colour",
                   .tunables = {block_x(), block_y(), z_block({2, 4, 8, 16, 32, 64}), points_per_thread({1, 2}),
                                stencil_in(places_for_points(grid.stencil)), edges(), min_blocks()},
                   .constraints = {small_blocks(grid)},
                   .safe = {{"block_x", 32},
                            {"block_y", 4},
                            {"z_block", 8},
                            {"points_per_thread", 1},
                            {"stencil_in", places_for_points(grid.stencil).front()},
                            {"edges", "guarded"},
                            {"min_blocks", 1}},
                   .former = formerly(1, {"cache"})};
    if (grid.stencil == Stencil::variable) {
        form.tunables.push_back(
            {"layout", "of the stencil: as it is, or packed colour by colour in a table of the kernel", words({"natural", "colour_split"})});
        form.safe.push_back({"layout", "natural"});
    }
    return form;
}

// Saving loads of the grid is in vain while every second coefficient that comes with a load goes
// unused: a variable stencil is packed colour by colour, and for a symmetric one there is no march.
FormSpace march_form(const Grid& grid) {
    return {.name = "march",
            .help = "a launch per colour, each block marching along z with a plane in registers",
            .tunables = {block_x(), block_y(), z_block({4, 8, 16, 32, 64}), points_per_thread({1, 2}), stencil_in(places_for_points(grid.stencil)),
                         edges(), min_blocks()},
            .constraints = {small_blocks(grid)},
            .safe = {{"block_x", 32},
                     {"block_y", 4},
                     {"z_block", 8},
                     {"points_per_thread", 1},
                     {"stencil_in", places_for_points(grid.stencil).front()},
                     {"edges", "guarded"},
                     {"min_blocks", 1}},
            .former = formerly(1, {"registers"})};
}

FormSpace slices_form(const Grid& grid) {
    return {.name = "slices",
            .help = "a launch per colour, each block marching along z with slices in shared memory",
            .tunables = {block_x(), block_y(), z_block({4, 8, 16, 32, 64}), stencil_in(places_for_points(grid.stencil)), edges(), min_blocks()},
            .constraints = {small_blocks(grid),
                            {"declared_memory",
                             [grid](const Config& config) -> Reason {
                                 const std::int64_t bytes = static_bytes(grid, Choice(grid, config));
                                 if (bytes <= static_shared_bytes) return {};
                                 return fmt::format("{} bytes of shared memory in a block, {} can be declared", bytes, static_shared_bytes);
                             }}},
            .safe = {{"block_x", 32},
                     {"block_y", 4},
                     {"z_block", 8},
                     {"stencil_in", places_for_points(grid.stencil).front()},
                     {"edges", "guarded"},
                     {"min_blocks", 1}},
            .former = formerly(1, {"shared"})};
}

FormSpace rows_form(const Grid& grid) {
    return {
        .name = "rows",
        .help = "four launches of whole rows, both colours of x, a warp for each row and plane",
        .tunables = {block_y(), z_block({2, 4, 8, 16, 32, 64}), points_per_thread({2, 4}), stencil_in(places_for_rows(grid.stencil)), min_blocks()},
        .constraints = {small_blocks(grid), aligned_pairs(grid)},
        .safe = {{"block_y", 4}, {"z_block", 8}, {"points_per_thread", 2}, {"stencil_in", places_for_rows(grid.stencil).front()}, {"min_blocks", 1}},
        .former = formerly(2, {"cache"})};
}

// Rows come in bulk copies where their addresses allow that.
bool has_bulk_copies(const Grid& grid, const Limits& limits) {
    constexpr int with_bulk_copies = 90;
    constexpr std::int64_t alignment = 16;
    return limits.architecture >= with_bulk_copies && grid.pitch * bytes_per_word(grid.precision) % alignment == 0;
}

std::vector<std::string> stagings(const Grid& grid, const Limits& limits) {
    constexpr int with_async_copies = 80;
    std::vector<std::string> all{"registers"};
    if (grid.stencil == Stencil::symmetric) {
        all.emplace_back("partial_sums");
        if (limits.architecture >= with_async_copies) all.emplace_back("partial_sums_async");
    } else if (grid.stencil != Stencil::variable && has_bulk_copies(grid, limits)) {
        all.insert(all.end(), {"bulk_1", "bulk_2"});
    }
    return all;
}

// `needed` are the warps of a row with those beside them.
Constraint rows_in_block(const Grid& grid, std::function<std::int64_t(const Config&)> needed) {
    return {"rows_in_block", [nx = grid.nx, needed = std::move(needed)](const Config& config) -> Reason {
                const std::int64_t warps = needed(config);
                if (warps <= config.integer("warps_per_row")) return {};
                return fmt::format("rows of {} points need {} warps, warps_per_row is {}", nx, warps, config.integer("warps_per_row"));
            }};
}

// What blocks that share a plane need.
Constraint shared_planes(const Grid& grid) {
    return {"shared_planes", [grid](const Config& config) -> Reason {
                constexpr std::int64_t fewest_steps = 2;
                const std::int64_t sharing = config.integer("blocks_per_plane");
                if (sharing == 1) return {};
                if (grid.stencil == Stencil::symmetric && !leaves_partial_sums(config.word("staging")))
                    return "blocks share a plane of a symmetric stencil with staging=partial_sums or partial_sums_async only";
                const std::int64_t steps = (grid.ny + 1) / 2 + 1;  // of two rows, as in the kernel
                if (sharing == 0) return {};
                if (steps / sharing >= fewest_steps) return {};
                return fmt::format("a walk through {} rows has {} steps, {} blocks need {} each", grid.ny, steps, sharing, fewest_steps);
            }};
}

constexpr std::array<std::int64_t, 5> warps_of_rows{2, 4, 6, 8, 16};

// Warps that a row of any staging needs at two points a thread, or as many as there may be: the
// fewer, the more registers has each.
std::int64_t safe_warps(const Grid& grid) {
    const std::int64_t needed = walking_warps(grid, 2, grid.stencil == Stencil::symmetric ? "partial_sums" : "registers");
    const auto enough = std::find_if(warps_of_rows.begin(), warps_of_rows.end(), [&](std::int64_t warps) { return warps >= needed; });
    return enough == warps_of_rows.end() ? warps_of_rows.back() : *enough;
}

// What only bulk copies have.
Constraint bulk_copies_alone() {
    return {"bulk_copies_alone",
            [](const Config& config) -> Reason {
                const bool bulk = staged_rows(config.word("staging")) > 0;
                if (!bulk && config.has("stencil_in", "copied")) return "stencils are copied with bulk copies of rows only: staging=bulk_1 or bulk_2";
                if (!bulk && config.has("copied_by", "warp")) return "a warp of its own starts bulk copies only: staging=bulk_1 or bulk_2";
                return rejected_when(config.integer("stages") > 2 && !config.has("copied_by", "warp"),
                                     "more than two stages are filled by a warp of its own: copied_by=warp");
            },
            {"staging", "stencil_in", "copied_by", "stages"}};
}

// The part that walks in two launches and in one have in common.
FormSpace walking_form(const Grid& grid, const Limits& limits) {
    const std::vector<std::string> ways = stagings(grid, limits);
    const bool bulk = std::find(ways.begin(), ways.end(), "bulk_2") != ways.end();
    FormSpace form{
        .name = "",
        .tunables =
            {{"staging",
              "how rows reach a warp: the next ones in registers, or by bulk copies of one or two rows; partial_sums: in registers, and planes "
              "of the later colours get what those of the earlier ones amount to, in a table of the kernel; partial_sums_async: with "
              "coefficients copied to shared memory meanwhile",
              words(ways)},
             warps_per_row({warps_of_rows.begin(), warps_of_rows.end()}),
             points_per_thread({2, 4}),
             stencil_in(places_for_walks(grid.stencil, bulk)),
             min_blocks()},
        .constraints = {aligned_pairs(grid), rows_in_block(grid,
                                                           [grid](const Config& config) {
                                                               return walking_warps(grid, config.integer("points_per_thread"),
                                                                                    config.word("staging")) +
                                                                      (config.has("copied_by", "warp") ? 1 : 0);
                                                           })},
        .safe = {
            {"staging", "registers"}, {"warps_per_row", safe_warps(grid)}, {"points_per_thread", 2}, {"stencil_in", "read_only"}, {"min_blocks", 1}}};
    if (!bulk) return form;
    form.tunables.push_back({"copied_by", "who starts bulk copies: a thread between barriers of the block, or a warp of its own, without barriers",
                             words({"thread", "warp"}), Value("thread")});
    form.tunables.push_back(stages({2, 3, 4}));
    form.constraints.push_back(bulk_copies_alone());
    form.safe.insert(form.safe.end(), {{"copied_by", "thread"}, {"stages", 2}});
    return form;
}

FormSpace walk_form(const Grid& grid, const Limits& limits) {
    FormSpace form = walking_form(grid, limits);
    form.name = "walk";
    form.help = "two launches with all colours of a plane, each block walking along y";
    form.former = formerly(4);
    if (grid.stencil_per_point()) {
        form.tunables.push_back(
            {"blocks_per_plane",
             "blocks that share a plane, each of which walks through a part of its rows; 0: an equal share of all planes for each "
             "block that the device holds",
             numbers({0, 1, 2, 3, 4, 6, 8}), Value(1), "walks"});
        form.constraints.push_back(shared_planes(grid));
        form.safe.push_back({"blocks_per_plane", 1});
    }
    return form;
}

FormSpace chase_form(const Grid& grid, const Limits& limits) {
    FormSpace form = walking_form(grid, limits);
    form.name = "chase";
    form.help = "the walks of all planes in one launch, those of odd planes a few rows behind those of even ones";
    form.former = formerly(8);
    form.tunables.push_back(max_lead({0, 16, 24, 32, 64}));
    form.safe.push_back({"max_lead", 0});
    form.constraints.push_back({"lead_of_even_planes", [](const Config& config) -> Reason {
                                    // A plane that waits has published all but the rows on their
                                    // way to it and four before them. With twice as many, of planes
                                    // that wait for each other the one furthest behind never does.
                                    const std::int64_t staged = staged_rows(config.word("staging")) * integer_or(config, "stages", 2);
                                    const std::int64_t least = 2 * (std::max<std::int64_t>(staged, 4) + 4), lead = config.integer("max_lead");
                                    if (lead == 0 || lead >= least) return {};
                                    return fmt::format("planes that read so many rows ahead need a lead of {}, it is {}", least, lead);
                                }});
    return form;
}

// The planes of a slab lie in the registers of the same threads, so that most rows serve all planes
// that need them when they arrive.
FormSpace slabs_form(const Grid& grid) {
    const std::string place = grid.stencil == Stencil::constant ? "by_value" : "copied";
    return {.name = "slabs",
            .help = "slabs of planes, each walking along y with all colours, and the planes between them behind",
            .tunables = {planes_per_slab({1, 3}),
                         {"passes", "launches: 1 if planes between slabs follow these in the same one, 2 if they come after all of them",
                          numbers({1, 2})},
                         warps_per_row({4, 6, 8, 12, 16}),
                         points_per_thread({2, 4}),
                         stages({2, 3, 4, 6}),
                         cache_hint(),
                         stencil_in({place}),
                         min_blocks({1, 2, 3}),
                         {"told_every", "steps of two rows from telling other blocks of finished ones to telling them again, with passes=1",
                          numbers({2, 4}), Value(4)}},
            .constraints = {aligned_pairs(grid),
                            {"followers",
                             [](const Config& config) {
                                 return rejected_when(config.has("passes", 2) && !config.has("told_every", 4),
                                                      "in a launch of their own the planes between slabs follow nobody: told_every=4");
                             },
                             {"passes", "told_every"}},
                            rows_in_block(grid,
                                          [grid](const Config& config) {
                                              return slab_warps(grid, config.integer("points_per_thread"), config.integer("planes_per_slab"));
                                          })},
            .safe = {{"planes_per_slab", 1},
                     {"passes", 2},
                     {"warps_per_row", 16},
                     {"points_per_thread", 2},
                     {"stages", 2},
                     {"cache_hint", "plain"},
                     {"stencil_in", place},
                     {"min_blocks", 1},
                     {"told_every", 4}}};
}

// Planes of a slab have warps of their own, and what they made goes on through shared memory.
FormSpace pipeline_form(const Grid& grid) {
    const std::string place = grid.stencil == Stencil::constant ? "by_value" : "copied";
    return {.name = "pipeline",
            .help = "slabs of planes and the planes between them, each plane with warps of its own; new rows go on through shared memory",
            .tunables = {planes_per_slab({1, 3, 5}), warps_per_row({2, 3, 4, 5, 6, 8, 10}), points_per_thread({2, 4}), stages({2, 3, 4, 6}),
                         cache_hint(), stencil_in({place}), min_blocks({1, 2, 3}), max_lead({0, 16, 24, 32})},
            .constraints = {aligned_pairs(grid),
                            rows_in_block(grid, [grid](const Config& config) { return pipeline_warps(grid, config.integer("points_per_thread")); })},
            .safe = {{"planes_per_slab", 1},
                     {"warps_per_row", 10},
                     {"points_per_thread", 2},
                     {"stages", 2},
                     {"cache_hint", "plain"},
                     {"stencil_in", place},
                     {"min_blocks", 1},
                     {"max_lead", 0}}};
}

// What both forms on processors have, behind their own.
FormSpace on_processors(FormSpace form, const Grid& grid, const Limits& limits) {
    form.tunables.push_back({"z_block", "planes that a thread takes at a time", numbers({2, 4, 8, 16, 32, 64})});
    form.tunables.push_back({"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})});
    form.safe.insert(form.safe.end(), {{"z_block", grid.stencil_per_point() ? 2 : 4}, {"vector_bytes", std::min(64, limits.vector_bytes)}});
    form.constraints.push_back(vector_width(limits));
    if (grid.stencil_per_point()) {
        form.tunables.push_back({"fetch_ahead", "rows before which a row's stencils are asked for, to be in the second cache; 0: not at all",
                                 numbers({0, 2, 4, 8}), std::int64_t{0}});
        form.safe.push_back({"fetch_ahead", 4});
    }
    return with_team(std::move(form), limits);
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    constexpr std::int64_t whole_planes = 256;
    const Grid grid(problem);
    const FormSpace rows{.name = "rows",
                         .help = "rows with both colours of x, four times over the grid",
                         .tunables = {{"y_block", "rows along y that a thread takes at a time", numbers({4, 16, 64, whole_planes})}},
                         .safe = {{"y_block", 4}},
                         .former = [](const Config& config) { return config.has("colours_per_pass", 2); }};
    const FormSpace wave{.name = "wave", .help = "a wave of planes with all colours, once over the grid", .former = [](const Config& config) {
                             return config.has("colours_per_pass", 8);
                         }};
    std::vector<Form> forms;
    for (const FormSpace& space : {rows, wave})
        forms.push_back(
            {.space = on_processors(space, grid, limits), .kernel = [problem](const Config& config) { return cpu_kernel(problem, config); }});
    // Stencils of their own are most of what a sweep moves, and longer runs of them at a time are
    // read in a wave: 1.3 to 1.5 times as fast on an EPYC, if every processor has planes.
    const bool wide = grid.nz >= 2 * limits.multiprocessors;
    return {std::move(forms), grid.stencil_per_point() && wide ? "wave" : "rows"};
}

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    std::vector<FormSpace> spaces{points_form(grid)};
    if (grid.stencil != Stencil::symmetric) spaces.insert(spaces.end(), {march_form(grid), slices_form(grid), rows_form(grid)});
    spaces.insert(spaces.end(), {walk_form(grid, limits), chase_form(grid, limits)});
    if (has_bulk_copies(grid, limits) && !grid.stencil_per_point()) spaces.insert(spaces.end(), {slabs_form(grid), pipeline_form(grid)});
    std::vector<Form> forms;
    forms.reserve(spaces.size());
    for (FormSpace& space : spaces)
        forms.push_back({.space = std::move(space),
                         .resources = [grid](const Config& config) { return resources(grid, config); },
                         .kernel = [problem, limits](const Config& config) { return cuda_kernel(problem, config, limits); }});
    return {std::move(forms), "points"};
}

std::int64_t walking_warps(const Grid& grid, std::int64_t points_per_thread, const std::string& staging) {
    constexpr std::int64_t lanes = 32;
    const std::int64_t halo_lanes = points_per_thread >= 4 ? 1 : 2;  // as in the kernel
    const std::int64_t words = (lanes - 2 * halo_lanes - (leaves_partial_sums(staging) ? 1 : 0)) * points_per_thread;
    return (grid.nx + 1 + words - 1) / words;
}

std::int64_t slab_warps(const Grid& grid, std::int64_t points_per_thread, std::int64_t planes_per_slab) {
    constexpr std::int64_t lanes = 32;
    const std::int64_t reach = planes_per_slab > 1 ? 8 : 4, halo_lanes = (reach + points_per_thread - 1) / points_per_thread;  // as in the kernel
    const std::int64_t words = (lanes - 2 * halo_lanes) * points_per_thread;
    return (grid.nx + 1 + words - 1) / words + 1;
}

namespace {

// Words of a row that bulk copies bring, as in the kernels.
std::int64_t copied_words(const Grid& grid) {
    const std::int64_t sector = 32 / bytes_per_word(grid.precision);
    return std::min((grid.nx + 2 + sector - 1) / sector * sector, grid.pitch);
}

// Words of so many rows, one behind the other, without the padding behind the last one.
std::int64_t words_of_rows(const Grid& grid, std::int64_t rows) {
    return (rows - 1) * grid.pitch + copied_words(grid);
}

// Bytes of a stage that has two rows of so many arrays, and stencils of so many planes, as in the
// kernels.
std::int64_t stage_bytes(const Grid& grid, const Choice& choice, std::int64_t arrays, std::int64_t planes) {
    constexpr std::int64_t rows = 2, stencil_rows = 4;
    const std::int64_t stencils = choice.copied_stencil ? planes * stencil_rows * row_stencil_words : 0;
    return (arrays * words_of_rows(grid, rows) + stencils) * bytes_per_word(grid.precision);
}

}  // namespace

std::int64_t slab_shared_bytes(const Grid& grid, const Choice& choice) {
    return choice.stages * stage_bytes(grid, choice, 2 * choice.planes_per_slab + 2, choice.planes_per_slab);
}

std::int64_t pipeline_warps(const Grid& grid, std::int64_t points_per_thread) {
    constexpr std::int64_t lanes = 32, reach = 4;
    const std::int64_t halo_lanes = (reach + points_per_thread - 1) / points_per_thread;  // as in the kernel
    const std::int64_t words = (lanes - 2 * halo_lanes) * points_per_thread;
    return (grid.nx + 2 + words - 1) / words;
}

std::int64_t pipeline_block_warps(std::int64_t warps_per_plane, std::int64_t planes_per_slab) {
    return (planes_per_slab + 1) * warps_per_plane + (planes_per_slab > 1 ? 4 : 3);  // with those that copy or say what is finished
}

// As in the kernel: stages of the earlier colours with the planes outside, of the later ones, of
// the plane below, and new rows of the earlier colours where there are later ones in the slab.
std::int64_t pipeline_shared_bytes(const Grid& grid, const Choice& choice) {
    constexpr std::int64_t places = 3, rows = 2;
    const std::int64_t earlier = (choice.planes_per_slab + 1) / 2, later = choice.planes_per_slab / 2;
    const std::int64_t below_stages = choice.planes_per_slab == 1 ? choice.stages : std::max<std::int64_t>(choice.stages - 1, 2);
    const std::int64_t fresh_rows = later > 0 ? places * rows * earlier : 0;
    return choice.stages * stage_bytes(grid, choice, 2 * earlier + 2, earlier) + (choice.stages + 2) * stage_bytes(grid, choice, 2 * later, later) +
           below_stages * stage_bytes(grid, choice, 4, 1) + fresh_rows * copied_words(grid) * bytes_per_word(grid.precision);
}

int staged_rows(const std::string& staging) {
    return staging == "bulk_2" ? 2 : staging == "bulk_1" ? 1 : 0;
}

bool leaves_partial_sums(const std::string& staging) {
    return staging == "partial_sums" || staging == "partial_sums_async";
}

Choice::Choice(const Grid& grid, const Config& config) : form(config.word(form_tunable)) {
    const bool is_walk = form == "walk" || form == "chase" || slabs() || pipeline(), marches = form == "march" || form == "slices";
    planes_per_slab = integer_or(config, "planes_per_slab", 1);
    passes = integer_or(config, "passes", 2);
    colours_per_pass = form == "chase" || pipeline() || (slabs() && passes == 1) ? 8 : is_walk ? 4 : form == "rows" ? 2 : 1;
    block_x = integer_or(config, "block_x", warp);
    block_y = pipeline() ? pipeline_block_warps(config.integer("warps_per_row"), planes_per_slab)
              : is_walk  ? config.integer("warps_per_row")
                         : config.integer("block_y");
    z_block = integer_or(config, "z_block", 2);
    block_z = form == "rows" ? z_block / 2 : 1;
    points_per_thread = integer_or(config, "points_per_thread", 1);
    min_blocks = config.integer("min_blocks");
    walks = integer_or(config, "blocks_per_plane", 1);
    clamped = rows() || config.has("edges", "clamped");
    split = grid.stencil == Stencil::variable && (marches || config.has("layout", "colour_split"));
    staging = slabs() || pipeline() ? "bulk_2"
              : is_walk             ? config.word("staging")
              : form == "march"     ? "registers"
              : form == "slices"    ? "shared"
                                    : "cache";
    stencil_in = config.word("stencil_in");
    stages = integer_or(config, "stages", 2);
    lead = integer_or(config, "max_lead", 0);
    told_every = integer_or(config, "told_every", 4);
    copying_warp = slabs() || pipeline() || config.has("copied_by", "warp");
    copied_stencil = stencil_in == "copied";
    streaming_copies = config.has("cache_hint", "streaming");
}

std::int64_t walking_shared_bytes(const Grid& grid, const Choice& choice) {
    const std::int64_t word = bytes_per_word(grid.precision);
    if (choice.staging == "partial_sums_async") {
        constexpr std::int64_t groups = 2 * 18 * 32;  // two rows of a warp, each with all that couples it with the planes beside
        return walking_warps(grid, choice.points_per_thread, choice.staging) * groups * choice.points_per_thread * word;
    }
    if (staged_rows(choice.staging) == 0) return 0;
    constexpr std::int64_t planes = 4;                                                                      // three of u and one of f
    const std::int64_t stencils = choice.copied_stencil ? (2 * choice.stages + 4) * row_stencil_words : 0;  // as in the kernel
    return (choice.stages * planes * words_of_rows(grid, staged_rows(choice.staging)) + stencils) * word;
}

}  // namespace hone::inline v0_1::gauss_seidel
