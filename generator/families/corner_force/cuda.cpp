#include "generator/families/corner_force/cuda.hpp"

#include <algorithm>

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;

constexpr int few_threads = 64;  // of a safe configuration

int banks_of(const Shape& shape) {
    return 128 / shape.bytes();
}

}  // namespace

TeamKernel::TeamKernel(const Shape& of_zones, const Config& config, std::vector<Pass> its_passes)
    : ZoneKernel(of_zones, Target::cuda, std::move(its_passes)),
      zones_per_block(static_cast<int>(config.integer("zones_per_block"))),
      min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))) {
}

Block TeamKernel::constants(const char* team_of_columns) const {
    Block block = numeric_constants(*this);
    block.line(
        "constexpr int team = columns * splits{}, zones_per_block = {}, threads_per_block = team * zones_per_block, blocks_per_multiprocessor = {};",
        team_of_columns, zones_per_block, min_blocks);
    return block;
}

Block TeamKernel::barrier() const {
    const bool within_warps = warp % team == 0 && team * zones_per_block % warp == 0;
    return Block().line("__device__ __forceinline__ void barrier() {{ {}(); }}", within_warps ? "__syncwarp" : "__syncthreads");
}

Launch TeamKernel::launch(const Pass& pass, std::int64_t shared_bytes) const {
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.range_per_block = zones_per_block;
    launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    launch.block = {launch.range_per_block * team, 1, 1};
    launch.shared_bytes = shared_bytes;
    return launch;
}

CudaPasses::CudaPasses(const Shape& of_zones, const Config& config, const PassForm& form)
    : TeamKernel(of_zones, config, form.passes(of_zones, config.has("gradients", "stored"))) {
    points_per_pass = static_cast<int>(config.integer("points_per_pass"));
    splits = static_cast<int>(config.integer("splits"));
    team = shape.columns() * splits;
    jacobi = config.has("decomposition", "jacobi");
}

// Teams of less than half a warp read the same place of several zones at once: these lie in
// different banks when zones are a team apart.
int CudaPasses::zone_stride(const Pass& pass) const {
    const int words = Buffers(*this, pass).words();
    return team >= banks_of(shape) ? words : padded(words, team, banks_of(shape));
}

BlockResources CudaPasses::resources() const {
    const int d = shape.dimension;
    BlockResources needs{.threads = std::int64_t{zones_per_block} * team};
    bool points = false;
    for (const Pass& pass : passes) {
        if (!pass.of_zones()) continue;
        needs.shared_bytes = std::max(needs.shared_bytes, zone_launch(pass).shared_bytes);
        points = points || pass.points;
    }
    // The derivatives of a pass, and what is alive in the decompositions of one point.
    const int held = points ? 2 * d * d * points_per_pass + (d == 3 ? 48 : 20) : d * d * points_per_pass + 16;
    needs.registers = shape.bytes() / 4 * std::max(held, 2 * shape.points_along + shape.nodes_along) + 32;
    return needs;
}

Launch CudaPasses::zone_launch(const Pass& pass) const {
    Launch result = launch(pass, std::int64_t{zones_per_block} * zone_stride(pass) * shape.bytes());
    if (pass.kind == Kind::gradients) result.grid[1] = pass.of_w || !shape.physics() ? shape.dimension : 2 * shape.dimension;
    return result;
}

KernelSource CudaPasses::source(const Problem& problem, const Config& config, const Block& own) const {
    // The sums of a column, which the derivatives at all its points take, are more than a thread
    // has registers for: without this, the compiler holds them all.
    const Block forget = Block().text("asm volatile(\"\" ::: \"memory\");  // sums of the column are read again");
    Block entries;
    for (const Pass& pass : passes) {
        Block pointers;
        if (pass.of_zones()) {
            pointers.line("value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * {};", zone_stride(pass));
            if (pass.kind == Kind::gradients) pointers.text("const int field = blockIdx.y;");
            pointers.append(buffer_pointers(Buffers(*this, pass)));
        }
        entries.append(pass.of_zones() ? zone_pass(*this, problem, pass, pointers, {{"forget", forget}}) : dense_pass(*this, problem, pass, {}))
            .text("");
    }
    Block all_constants = constants();
    if (jacobi) all_constants.line("constexpr int sweeps = {};", shape.precision == Precision::f32 ? 4 : 5);
    KernelSource result = common_source(*this, problem);
    result.text = kernel_text(*this, std::move(entries),
                              {{"banner", banner(*this, problem, config)}, {"constants", all_constants.append(own)}, {"barrier", barrier()}});
    return result;
}

FormSpace CudaPasses::space(const PassForm& form, const Shape& shape) {
    FormSpace space{.name = form.name, .help = form.help};
    const auto add = [&](Tunable tunable, Value safe) {
        space.safe.push_back({tunable.name, std::move(safe)});
        space.tunables.push_back(std::move(tunable));
    };
    if (form.may_store)
        add({"gradients", "fused: a zone sums up derivatives where it needs them; stored: a launch before does, one field at a time",
             words({"fused", "stored"})},
            "fused");
    if (decomposes(shape)) add(decomposition_tunable(), "closed");
    add(zones_per_block_tunable(), safe_zones(shape));
    add({"splits", "threads that share a column of points, and the sums that its derivatives take", numbers({1, 2, 4})},
        std::int64_t{shape.dimension == 3 && shape.order >= 3 && shape.order <= 5 ? 2 : 1});
    add(points_per_pass_tunable({1, 2, 4}), std::int64_t{1});
    add(min_blocks_tunable({1, 2, 3, 4, 6}), std::int64_t{1});
    space.constraints = {{"points",
                          [shape](const Config& config) -> Reason {
                              if (shape.points_along % (config.integer("points_per_pass") * config.integer("splits")) == 0) return std::nullopt;
                              return "points_per_pass does not divide the points that a thread has of a column";
                          },
                          {"points_per_pass", "splits"}}};
    return space;
}

std::vector<std::string> CudaPasses::resources_read(const PassForm& form) {
    std::vector<std::string> read{"zones_per_block", "splits", "points_per_pass"};
    if (form.may_store) read.insert(read.begin(), "gradients");
    return read;
}

Form cuda_passes(const PassForm& passes, const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Form form;
    form.space = CudaPasses::space(passes, shape);
    form.space.former = formerly(passes.name);
    form.resources = [shape, passes](const Config& config) { return CudaPasses(shape, config, passes).resources(); };
    form.resources_read = CudaPasses::resources_read(passes);
    form.kernel = [problem, passes](const Config& config) {
        const CudaPasses kernel(Shape(problem), config, passes);
        KernelSource source = kernel.source(problem, config);
        for (const Pass& pass : kernel.passes) source.step.push_back(kernel.zone_launch(pass));
        return source;
    };
    // Stored derivatives need less memory.
    if (passes.may_store && shared_violation(safe_needs(form), 1, limits)) form.space.safe.front().value = "stored";
    return form;
}

std::function<bool(const Config&)> formerly(const std::string& form) {
    return [form](const Config& config) { return config.has(form_tunable, form); };
}

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

Block numeric_constants(const ZoneKernel& kernel) {
    const bool f32 = kernel.shape.precision == Precision::f32;
    Block block = shape_constants(kernel);
    if (kernel.shape.physics())
        block.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
                   f32 ? "3.402823466e+38f" : "1.7976931348623157e+308");
    return block;
}

const char* epsilon(const Shape& shape) {
    return shape.precision == Precision::f32 ? "1.1920929e-7f" : "2.220446049250313e-16";
}

Tunable zones_per_block_tunable() {
    return {"zones_per_block", "zones of a block, each with a thread or several per column of points", numbers({1, 2, 4, 8, 16, 32})};
}

Tunable min_blocks_tunable(std::vector<std::int64_t> values) {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers(std::move(values))};
}

Tunable layers_tunable(const Shape& shape) {
    return {.name = "layers",
            .help = "of points that a zone works on at a time",
            .values = divisors(shape.points_along, shape.points_along),
            .former_name = "splits"};
}

Tunable point_data_tunable() {
    return {"point_data", "what a point's physics takes from memory: loads into registers, or async copies into shared memory",
            words({"loads", "async"}), Value("loads")};
}

Tunable fetch_ahead_tunable() {
    return {"fetch_ahead", "zones from those at work to those whose data the second cache is asked for meanwhile; 0: none",
            numbers({0, 32, 64, 128, 256, 1024, 4096}), Value(std::int64_t{0})};
}

std::int64_t safe_zones(const Shape& shape) {
    std::int64_t zones = 1;
    while (zones * shape.columns() < few_threads && zones < 32) zones *= 2;
    return zones;
}

std::vector<Value> divisors(int number, int most) {
    std::vector<Value> result;
    for (int i = 1; i <= std::min(number, most); ++i)
        if (number % i == 0) result.emplace_back(std::int64_t{i});
    return result;
}

}  // namespace hone::inline v0_1::corner
