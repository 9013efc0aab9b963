#include "generator/families/corner_force/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "foundation/error.hpp"

// CUDA kernels. Whole zones: a team of threads, one or some for each column of points along the
// last axis, works on a zone, whose half-way results are in shared memory. The paper's dense
// products: a thread accumulates some rows and columns of F.

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;
using Violation = std::optional<std::string>;

constexpr int dense_threads = 256;
constexpr int few_threads = 64;  // of a safe configuration

// How kernel 7 is laid out.
struct CornerLayout {
    explicit CornerLayout(const Plan& plan)
        : rows(plan.number("rows_per_thread")),
          columns(plan.number("columns_per_thread")),
          row_threads(pieces(plan.shape.vector_words(), rows)),
          threads_per_zone(row_threads * (plan.shape.energies() / columns)),
          zones(std::max(1, dense_threads / threads_per_zone)),
          threads(std::min(dense_threads, zones * threads_per_zone)),
          blocks(pieces(zones * threads_per_zone, threads)) {}

    int rows, columns, row_threads, threads_per_zone, zones, threads, blocks;
};

// Words of shared memory from one zone of a block to the next. Teams of less than half a warp read
// the same place of several zones at once: these lie in different banks when zones are a team
// apart.
int zone_stride(const Plan& plan, int words) {
    const int banks = 128 / plan.shape.bytes();
    const int team = plan.team();
    return team >= banks ? words : padded(words, team, banks);
}

BlockResources resources(const Plan& plan) {
    BlockResources needs;
    const int zones = plan.number("zones_per_block");
    const int bytes = plan.shape.bytes();
    const int d = plan.shape.dimension;
    needs.threads = std::int64_t{zones} * plan.team();
    bool points = false;
    for (const Pass& pass : plan.passes) {
        if (!pass.of_zones()) continue;
        needs.shared_bytes = std::max<std::int64_t>(needs.shared_bytes, std::int64_t{zones} * zone_stride(plan, Buffers(plan, pass).words()) * bytes);
        points = points || pass.points;
    }
    // The derivatives of a pass, and what is alive in the decompositions of one point.
    const int held = points ? 2 * d * d * plan.number("points_per_pass") + (d == 3 ? 48 : 20) : d * d * plan.number("points_per_pass") + 16;
    needs.registers = bytes / 4 * std::max(held, 2 * plan.shape.points_along + plan.shape.nodes_along) + 32;
    return needs;
}

Block buffers_of(const Plan& plan, const Pass& pass) {
    const Buffers buffers(plan, pass);
    Block pointers;
    pointers.line("value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * {};", zone_stride(plan, buffers.words()));
    if (pass.kind == Kind::gradients) pointers.text("const int field = blockIdx.y;");
    return pointers.append(buffer_pointers(buffers));
}

Block entry_of(const Plan& plan, const Pass& pass) {
    // The sums of a column, which the derivatives at all its points take, are more than a thread
    // has registers for: without this, the compiler holds them all.
    const Block forget = Block().text("asm volatile(\"\" ::: \"memory\");  // sums of the column are read again");
    return pass_text(plan, pass, pass.of_zones() ? buffers_of(plan, pass) : Block(), {{"forget", forget}});
}

Launch launch_of(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    if (pass.of_zones()) {
        Launch launch =
            team_launch(plan, pass, std::int64_t{plan.number("zones_per_block")} * zone_stride(plan, Buffers(plan, pass).words()) * shape.bytes());
        if (pass.kind == Kind::gradients) launch.grid[1] = pass.of_w || !shape.physics() ? shape.dimension : 2 * shape.dimension;
        return launch;
    }
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.block = {dense_threads, 1, 1};
    const auto fit = [](int items) { return std::max(1, dense_threads / items); };
    switch (pass.kind) {
        case Kind::zone:
        case Kind::gradients:
            break;
        case Kind::dense_gradients:
            launch.range_per_block = fit(shape.points());
            break;
        case Kind::columns:
            launch.range_per_block = fit(shape.points() * shape.vector_words());
            break;
        case Kind::corner: {
            const CornerLayout layout(plan);
            launch.range_per_block = layout.zones;
            launch.block = {layout.threads, 1, 1};
            launch.grid[1] = layout.blocks;
            break;
        }
        case Kind::sums:
            launch.range_per_block = fit(shape.vector_words());
            break;
        case Kind::products:
            launch.range_per_block = std::max(1, dense_threads / 32 / shape.energies());
            break;
    }
    launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    return launch;
}

std::vector<Value> divisors(int number, int most) {
    std::vector<Value> result;
    for (int i = 1; i <= std::min(number, most); ++i)
        if (number % i == 0) result.emplace_back(std::int64_t{i});
    return result;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cuda);
    KernelSource source = make_source(plan);
    Block entries;
    for (const Pass& pass : plan.passes) {
        entries.append(entry_of(plan, pass)).text("");
        source.step.push_back(launch_of(plan, pass));
    }
    source.text =
        kernel_text(plan, std::move(entries),
                    {{"banner", banner(plan, source.executed_operations)}, {"constants", cuda_constants(plan)}, {"barrier", team_barrier(plan)}});
    return source;
}

Form pass_form(const Problem& problem, const PassForm& form, const Limits& limits) {
    const Shape shape(problem);
    FormSpace space{
        .name = form.name, .help = form.help, .former = [name = form.name](const Config& config) { return config.has(form_tunable, name); }};
    std::vector<std::string> read;  // by what says how much a block takes
    const auto add = [&](Tunable tunable, Value safe, bool takes) {
        if (takes) read.push_back(tunable.name);
        space.safe.push_back({tunable.name, std::move(safe)});
        space.tunables.push_back(std::move(tunable));
    };
    const bool chooses_gradients = form.name != "whole" && form.name != "paper";  // that stores none, this all
    if (chooses_gradients)
        add({"gradients", "fused: a zone sums up derivatives where it needs them; stored: a launch before does, one field at a time",
             words({"fused", "stored"})},
            "fused", true);
    if (decomposes(shape)) add(decomposition(), "closed", false);
    add(zones_per_block(), safe_zones(shape), true);
    add({"splits", "threads that share a column of points, and the sums that its derivatives take", numbers({1, 2, 4})},
        std::int64_t{shape.dimension == 3 && shape.order >= 3 && shape.order <= 5 ? 2 : 1}, true);
    add(points_per_pass({1, 2, 4}), std::int64_t{1}, true);
    space.constraints = {{"points",
                          [shape](const Config& config) -> Violation {
                              if (shape.points_along % (config.integer("points_per_pass") * config.integer("splits")) == 0) return std::nullopt;
                              return "points_per_pass does not divide the points that a thread has of a column";
                          },
                          {"points_per_pass", "splits"}}};
    if (is_dense(form.name)) {
        add({"rows_per_thread", "rows of F that a thread accumulates", numbers({1, 2, 3, 4})}, std::int64_t{1}, false);
        std::vector<Value> columns = divisors(shape.energies(), 16);
        const Value widest = columns.back();  // with one column A would be loaded for every product
        add({"columns_per_thread", "columns of F that a thread accumulates", std::move(columns)}, widest, false);
        space.constraints.push_back({"sums",
                                     [](const Config& config) {
                                         constexpr int most = 32;
                                         return too_many(config.integer("rows_per_thread") * config.integer("columns_per_thread"), most,
                                                         "sums in a thread");
                                     },
                                     {"rows_per_thread", "columns_per_thread"}});
    }
    add(min_blocks({1, 2, 3, 4, 6}), std::int64_t{1}, false);
    Form result{.space = std::move(space),
                .resources = [problem](const Config& config) { return resources(Plan(problem, config, Target::cuda)); },
                .resources_read = std::move(read),
                .kernel = [problem](const Config& config) { return kernel(problem, config); }};
    if (chooses_gradients && shared_violation(safe_needs(result), 1, limits)) result.space.safe.front().value = "stored";
    return result;
}

// The highest order in f64 takes more shared memory than the smallest devices have.
Error too_large(const Problem& problem, const Forms& forms, const Limits& limits) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Form& form : forms.list) least = std::min(least, safe_needs(form).shared_bytes);
    return {fmt::format("problem \"{}\"", problem.key()),
            fmt::format("a zone takes {} bytes of shared memory, of which a block of sm_{} has {}", least, limits.architecture,
                        limits.shared_bytes_per_block),
            "use precision=f32, a lower order, or a device of sm_80 or later"};
}

}  // namespace

BlockResources safe_needs(const Form& form) {
    std::vector<Assignment> safe = form.space.safe;
    safe.insert(safe.begin(), {std::string(form_tunable), form.space.name});
    return form.resources(Config(std::move(safe)));
}

int pieces(int value, int size) {
    return (value + size - 1) / size;
}

int padded(int words, int step, int banks) {
    return words + ((step - words) % banks + banks) % banks;
}

Tunable zones_per_block() {
    return {"zones_per_block", "zones of a block, each with a thread or several per column of points", numbers({1, 2, 4, 8, 16, 32})};
}

std::int64_t safe_zones(const Shape& shape) {
    std::int64_t zones = 1;
    while (zones * shape.columns() < few_threads && zones < 32) zones *= 2;
    return zones;
}

Tunable min_blocks(std::vector<std::int64_t> values) {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers(std::move(values))};
}

Block numeric_constants(const Plan& plan) {
    const bool f32 = plan.shape.precision == Precision::f32;
    Block block = shape_constants(plan);
    if (plan.shape.physics())
        block.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
                   f32 ? "3.402823466e+38f" : "1.7976931348623157e+308");
    return block;
}

Block cuda_constants(const Plan& plan) {
    Block block = numeric_constants(plan);
    block.line(
        "constexpr int team = columns * splits{}, zones_per_block = {}, threads_per_block = team * zones_per_block, blocks_per_multiprocessor = {};",
        plan.points_of_thread() == 2 ? " / 2" : "", plan.number("zones_per_block"), plan.number("min_blocks"));
    if (plan.config.has("decomposition", "jacobi")) block.line("constexpr int sweeps = {};", plan.shape.precision == Precision::f32 ? 4 : 5);
    if (plan.has(Kind::corner)) {
        const CornerLayout layout(plan);
        block.line("constexpr int dense_threads = {};", dense_threads);
        block.line("constexpr int rows_per_thread = {}, columns_per_thread = {}, row_threads = {}, threads_per_zone = {};  // of F", layout.rows,
                   layout.columns, layout.row_threads, layout.threads_per_zone);
        block.line("constexpr int corner_zones = {}, corner_threads = {};", layout.zones, layout.threads);
    }
    return block;
}

std::vector<Value> divisors(int number) {
    std::vector<Value> result;
    for (int i = 1; i <= number; ++i)
        if (number % i == 0) result.emplace_back(std::int64_t{i});
    return result;
}

Tunable layers_at_a_time(const Shape& shape) {
    return {.name = "layers", .help = "of points that a zone works on at a time", .values = divisors(shape.points_along), .former_name = "splits"};
}

Tunable point_data() {
    return {"point_data", "what a point's physics takes from memory: loads into registers, or async copies into shared memory",
            words({"loads", "async"}), Value("loads")};
}

Tunable fetch_ahead() {
    return {"fetch_ahead", "zones from those at work to those whose data the second cache is asked for meanwhile; 0: none",
            numbers({0, 32, 64, 128, 256, 1024, 4096}), Value(std::int64_t{0})};
}

// The threads of a team wait for each other: alone where teams do not cross warps.
Block team_barrier(const Plan& plan) {
    const int team = plan.team();
    const bool within_warps = 32 % team == 0 && team * plan.number("zones_per_block") % 32 == 0;
    return Block().line("__device__ __forceinline__ void barrier() {{ {}(); }}", within_warps ? "__syncwarp" : "__syncthreads");
}

Launch team_launch(const Plan& plan, const Pass& pass, std::int64_t shared_bytes) {
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.range_per_block = plan.number("zones_per_block");
    launch.grid[0] = (plan.shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    launch.block = {launch.range_per_block * plan.team(), 1, 1};
    launch.shared_bytes = shared_bytes;
    return launch;
}

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms;
    for (const PassForm& form : pass_forms(shape)) forms.list.push_back(pass_form(problem, form, limits));
    if (!shape.keeps_corner()) forms.list.push_back(layered_form(problem, limits));
    if (has_teams(shape)) forms.list.push_back(teams_form(problem, limits));
    if (streams(shape)) forms.list.push_back(streamed_form(problem));
    leave_available(forms.list, limits);
    const auto begins = [&](const Form& form) { return !shared_violation(safe_needs(form), 1, limits); };
    const auto safe = std::find_if(forms.list.begin(), forms.list.end(), begins);
    if (safe == forms.list.end()) throw too_large(problem, forms, limits);
    forms.safe = safe->space.name;
    return forms;
}

}  // namespace hone::inline v0_1::corner
