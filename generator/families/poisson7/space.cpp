#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cuda_residency.hpp"
#include "generator/families/poisson7/grid.hpp"

namespace hone::poisson {
namespace {

using Reason = std::optional<std::string>;

std::vector<Tunable> cuda_tunables(const Grid& grid) {
    return {{"staging", "how neighbours reach a thread: cached loads, a march with planes in registers, or one with rows in shared memory as well",
             words({"caches", "registers", "shared"})},
            {"block_x", "threads along x", numbers({8, 16, 32, 64, 128})},
            {"block_y", "threads along y", numbers({1, 2, 4, 8, 16})},
            {"z_block", "planes that a block goes through", numbers({8, 16, 32, 64, 128, 256})},
            {"load_bytes", "of neighbouring cells along x that a thread loads at once", grid.word() == 4 ? numbers({4, 8, 16}) : numbers({8, 16})},
            {"rows_per_thread", "rows along y of a thread", numbers({1, 2, 4})},
            {"planes_ahead", "planes that a march loads before it needs them", numbers({1, 2})},
            {"once", "loads and stores of words used once: as all others, or in passing, which leaves the caches to the rest",
             words({"cached", "streaming"})},
            {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 5, 6, 8})}};
}

std::int64_t threads(const Config& config) {
    return config.integer("block_x") * config.integer("block_y");
}

bool marches(const Config& config) {
    return config.word("staging") != "caches";
}

std::int64_t shared_bytes(const Config& config) {
    if (config.word("staging") != "shared") return 0;
    return 2 * threads(config) * (config.integer("rows_per_thread") == 1 ? 1 : 2) * config.integer("load_bytes");
}

// About how many 32-bit registers a thread needs.
std::int64_t registers(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 28;
    const std::int64_t rows = config.integer("rows_per_thread");
    // Per row: the planes below, here and above (and the next), what else the cells hold of the latter two, coefficients and words to store.
    const std::int64_t held = grid.kind == Kind::residual ? (grid.has_field_diagonal() ? 2 : 1) : grid.kind == Kind::direction ? 1 : 0;
    const std::int64_t planes = config.integer("planes_ahead") == 2 ? 3 : 2;
    const std::int64_t moved = (grid.kind == Kind::direction ? 3 : 2) + (grid.coefficients == Coefficients::face ? 4 : 0);
    const std::int64_t groups = rows * (1 + planes * (1 + held) + grid.sums() + moved) / (marches(config) ? 1 : 2) + 2;
    return addresses + groups * config.integer("load_bytes") / 4;
}

// What a device can hold.
std::vector<Constraint> resource_constraints(const Grid& grid, const Limits& limits) {
    constexpr std::int64_t static_shared_bytes = 48 * 1024;  // more needs dynamic shared memory
    std::vector<Constraint> constraints = residency_constraints(limits, threads, [grid](const Config& config) { return registers(grid, config); });
    const std::vector<Constraint> others{
        {"shared_memory", [=](const Config& config) -> Reason {
             const std::int64_t bytes = shared_bytes(config);
             const std::int64_t all = bytes * config.integer("min_blocks");
             if (bytes > static_shared_bytes)
                 return fmt::format("{} bytes of shared memory in a block, {} can be declared", bytes, static_shared_bytes);
             if (all <= limits.shared_bytes_per_multiprocessor) return {};
             return fmt::format("{} bytes of shared memory on a multiprocessor, the device has {}", all, limits.shared_bytes_per_multiprocessor);
         }}};
    constraints.insert(constraints.end(), others.begin(), others.end());
    return constraints;
}

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// What the forms of the kernel can do.
std::vector<Constraint> form_constraints(const Grid& grid) {
    return {{"small_blocks",
             [](const Config& config) {
                 return rejected_when(threads(config) < 64, "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
             }},
            {"whole_groups",
             [word = grid.word()](const Config& config) {
                 return rejected_when(config.integer("block_x") * config.integer("load_bytes") / word < group_columns,
                                      "32 neighbouring cells of a row are summed first: a block has as many at least");
             }},
            {"aligned_loads",
             [pitch = grid.pitch, word = grid.word()](const Config& config) -> Reason {
                 const std::int64_t cells = config.integer("load_bytes") / word;
                 if (pitch % cells == 0) return {};
                 return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", cells, pitch);
             }},
            {"march",
             [](const Config& config) {
                 return rejected_when(!marches(config) && config.integer("planes_ahead") > 1, "planes are loaded ahead by a march");
             }},
            {"neighbours_in_block", [](const Config& config) {
                 return rejected_when(config.word("staging") == "shared" && config.integer("block_y") == 1,
                                      "rows are shared by threads along y: there are 2 or more");
             }}};
}

SearchSpace cuda_space(const Grid& grid, const Limits& limits) {
    std::vector<Constraint> constraints = resource_constraints(grid, limits);
    for (auto& constraint : form_constraints(grid)) constraints.push_back(std::move(constraint));
    std::vector<Assignment> safe{{"staging", "caches"},  {"block_x", 32},     {"block_y", 4},     {"z_block", 8},   {"load_bytes", grid.word()},
                                 {"rows_per_thread", 1}, {"planes_ahead", 1}, {"once", "cached"}, {"min_blocks", 1}};
    return {cuda_tunables(grid), std::move(constraints), std::move(safe)};
}

SearchSpace cpu_space(const Limits& limits) {
    std::vector<Tunable> tunables{
        {"y_block", "rows along y that a thread takes at a time", numbers({4, 8, 16, 32, 64, 128})},
        {"z_block", "planes that a thread goes through with them", numbers({8, 16, 32, 64, 128})},
        {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})},
        {"rows_ahead", "rows from asking for words to computing with them; 0: the processor foresees what it can", numbers({0, 1, 2, 4, 8}),
         Value(0)},
        {"stores", "streaming: what is written and not read goes past the caches", words({"plain", "streaming"}), Value("plain")}};
    std::vector<Constraint> constraints{{"vector_width", [limits](const Config& config) -> Reason {
                                             if (config.integer("vector_bytes") <= limits.vector_bytes) return {};
                                             return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"),
                                                                limits.vector_bytes);
                                         }}};
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    constraints.push_back(team_constraint());
    const std::int64_t vector_bytes = limits.vector_bytes >= 64 ? 64 : limits.vector_bytes >= 32 ? 32 : 16;
    std::vector<Assignment> safe{{"y_block", 16}, {"z_block", 16}, {"vector_bytes", vector_bytes}, {"rows_ahead", 2}, {"stores", "plain"}};
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    return {std::move(tunables), std::move(constraints), std::move(safe)};
}

}  // namespace

SearchSpace space(const Problem& problem, const Limits& limits) {
    return limits.target == Target::cuda ? cuda_space(Grid(problem), limits) : cpu_space(limits);
}

}  // namespace hone::poisson
