#include "generator/families/corner_force/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/families/corner_force/text.hpp"
#include "generator/families/device/cpu_team.hpp"

namespace hone::inline v0_1::corner {
namespace {

struct CpuPasses : ZoneKernel {
    CpuPasses(const Shape& of_zones, const Config& config, const PassForm& form)
        : ZoneKernel(of_zones, Target::cpu, form.passes(of_zones, false)), lanes(static_cast<int>(config.integer("lanes"))) {
        points_per_pass = static_cast<int>(integer_or(config, "points_per_pass", 1));
        jacobi = config.has("decomposition", "jacobi");
    }

    int lanes;  // zones of a vector

    std::int64_t buffer_bytes() const {
        std::int64_t words = 0;
        for (const Pass& pass : passes)
            if (pass.of_zones()) words = std::max<std::int64_t>(words, Buffers(*this, pass).words());
        return words * lanes * shape.bytes();
    }

    Block constants() const {
        Block block = shape_constants(*this);
        const bool f32 = shape.precision == Precision::f32;
        if (shape.physics())
            block.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
                       f32 ? "__FLT_MAX__" : "__DBL_MAX__");
        block.line("constexpr int lanes = {}, team = {};", lanes, team);
        if (jacobi) block.line("constexpr int sweeps = {};", f32 ? 4 : 5);
        return block;
    }

    Block entry(const Problem& problem, const Config& config, const Pass& pass) const {
        Holes holes{{"parallel", team_parallel(config)}, {"seat", team_seat(config)}};
        if (!pass.of_zones()) return dense_pass(*this, problem, pass, std::move(holes));
        holes.emplace_back("forget", Block());
        const Buffers buffers(*this, pass);
        Block pointers;
        pointers.line("alignas(64) value buffer[{}];", buffers.words());
        return zone_pass(*this, problem, pass, pointers.append(buffer_pointers(buffers)), std::move(holes));
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        KernelSource source = common_source(*this, problem);
        Block entries;
        for (const Pass& pass : passes) {
            entries.append(entry(problem, config, pass)).text("");
            Launch& launch = source.step.emplace_back();
            launch.entry = pass.entry;
            launch.range_axis = 0;
        }
        source.text = kernel_text(*this, std::move(entries),
                                  {{"banner", banner(*this, problem, config)}, {"constants", constants()}, {"team", hone::team(config)}});
        return source;
    }
};

}  // namespace

Form cpu_passes(const PassForm& passes, const Problem& problem, const Limits& limits) {
    constexpr std::int64_t most_buffer_bytes = 2 << 20;  // a thread's stack may have 8 MB
    const Shape shape(problem);
    const auto wide_vector = [=](const Config& config) -> Reason {
        const std::int64_t bytes = config.integer("lanes") * shape.bytes();
        if (bytes <= limits.vector_bytes) return std::nullopt;
        return fmt::format("vectors of {} bytes, the processor has {}", bytes, limits.vector_bytes);
    };
    const auto large_buffer = [=](const Config& config) -> Reason {
        const std::int64_t bytes = CpuPasses(shape, config, passes).buffer_bytes();
        if (bytes <= most_buffer_bytes) return std::nullopt;
        return fmt::format("{} bytes for half-way results of a vector of zones, at most {} are worth trying", bytes, most_buffer_bytes);
    };
    FormSpace space{.name = passes.name,
                    .help = passes.help,
                    .constraints = {{"vector", wide_vector, {"lanes"}}, {"buffer", large_buffer, {"lanes"}}},
                    .former = [name = passes.name](const Config& config) { return config.has(form_tunable, name); }};
    if (decomposes(shape)) {
        space.tunables.push_back(decomposition_tunable());
        space.safe.push_back({"decomposition", "closed"});
    }
    const bool f32 = shape.precision == Precision::f32;
    space.tunables.push_back({"lanes", "neighbouring zones in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})});
    space.tunables.push_back(points_per_pass_tunable({1, 2}));
    // The widest vectors whose half-way results fit.
    std::int64_t lanes = std::clamp(limits.vector_bytes, 16, 64) / shape.bytes();
    while (large_buffer(Config({{"lanes", lanes}}))) lanes /= 2;
    space.safe.push_back({"lanes", lanes});
    space.safe.push_back({"points_per_pass", std::int64_t{1}});
    return {.space = with_team(std::move(space), limits),
            .kernel = [problem, passes](const Config& config) { return CpuPasses(Shape(problem), config, passes).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::corner
