#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/fe_mass/forms.hpp"
#include "generator/families/fe_mass/text.hpp"

// Neighbouring elements are the lanes of vectors, so that sums along every axis fill them at any
// order.

namespace hone::inline v0_1::fe {
namespace {

struct CpuVector {
    CpuVector(const Shape& of, const Config& config) : shape(of), lanes(config.integer("lanes")), static_schedule(config.has("schedule", "static")) {}

    Shape shape;
    std::int64_t lanes;    // elements of a vector
    bool static_schedule;  // as many elements for each thread, not the next ones whenever it is done

    int columns() const { return shape.dimension == 2 ? shape.points_along : shape.points_along * shape.points_along; }

    // Of a thread's half-way results.
    std::int64_t buffer_bytes() const {
        const int sheets = shape.points_along * (shape.dimension == 2 ? 1 : shape.nodes_along) * shape.nodes_along;
        const int plane = shape.dimension == 2 ? 0 : shape.nodes_along * shape.points_along;
        return (shape.element_points() + (shape.components + 1) * shape.element_nodes() + sheets + plane + shape.points_along) * lanes *
               shape.bytes();
    }

    Block constants() const {
        Block block = shape_constants(shape, Target::cpu);
        if (!shape.summed) block.line("constexpr int chunk_rows = {};", chunk_rows);
        return block.line("constexpr int lanes = {}, columns = {};  // elements of a vector, lines of an element's points", lanes, columns());
    }

    KernelSource kernel(const Problem& problem, const Config& config) const;
};

Block weights_parameters(const Shape& shape) {
    return Block().text(shape.stored ? "const real* weights," : "const real* vertices, const real* density,");
}

constexpr std::int64_t most_buffer_bytes = 2 << 20;  // a thread's stack may have 8 MB

KernelSource CpuVector::kernel(const Problem& problem, const Config& config) const {
    const std::string arguments = weights_arguments(shape).lines().front();
    Block element;
    element.lines_of(render(shape.dimension == 2 ? "fe_mass/kernel.cpp/element_2d" : "fe_mass/kernel.cpp/element_3d", {}));
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("fe_mass/kernel.cpp",
                         {{"banner", banner(problem, config, Target::cpu)},
                          {"constants", constants()},
                          {"multiply_add", multiply_add_function(shape.precision)},
                          {"weights_function", weights_function(shape, Target::cpu)},
                          {"unroll", unroll(Target::cpu)},
                          {"unroll_points", unroll_points(shape, Target::cpu)},
                          {"weights_parameters", weights_parameters(shape)},
                          {"column_weights", Block().line("column_weights({} element + std::min(lane, present - 1), column, weight);", arguments)},
                          {"element_function", element},
                          {"team", team(config)},
                          {"parameters", parameters(shape)},
                          {"parallel", team_parallel(config)},
                          {"seat", team_seat(config)},
                          {"schedule", Block().line("#pragma omp for schedule({})", static_schedule ? "static" : "dynamic, 4")},
                          {"fetch_weights", Block().line("fetch_weights({} element, present, weight);", arguments)},
                          {"chunks", chunk_count()}},
                         {{"dotted", shape.dotted}, {"summed", shape.summed}});
    source.step = {{.entry = "multiply_elements", .constants = {}}, {.entry = "add_up", .constants = {}}};
    if (!shape.dotted) return source;
    source.step.push_back({.entry = "finish", .constants = {}});
    return source;
}

FormSpace space(const Shape& shape, const Limits& limits) {
    const auto wide_vector = [=](const Config& config) -> Reason {
        const std::int64_t bytes = config.integer("lanes") * shape.bytes();
        if (bytes <= limits.vector_bytes) return std::nullopt;
        return fmt::format("vectors of {} bytes, the processor has {}", bytes, limits.vector_bytes);
    };
    const auto large_buffer = [=](const Config& config) -> Reason {
        const std::int64_t bytes = CpuVector(shape, config).buffer_bytes();
        if (bytes <= most_buffer_bytes) return std::nullopt;
        return fmt::format("{} bytes for half-way results of a vector of elements, at most {} are worth trying", bytes, most_buffer_bytes);
    };
    const bool f32 = shape.precision == Precision::f32;
    FormSpace form{
        .name = "vector",
        .help = "vectors of neighbouring elements",
        .tunables = {{"lanes", "neighbouring elements in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                     {"schedule", "elements of a thread: as many for each, or the next ones whenever it is done", words({"static", "dynamic"})}},
        .constraints = {{"vector", wide_vector, {"lanes"}}, {"buffer", large_buffer, {"lanes"}}},
        .safe = {{"lanes", std::clamp(limits.vector_bytes, 16, 32) / shape.bytes()}, {"schedule", "static"}},
        .former = [](const Config& config) { return config.find("schedule") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Form cpu_vector_form(const Problem& problem, const Limits& limits) {
    return {.space = space(Shape(problem), limits),
            .kernel = [problem](const Config& config) { return CpuVector(Shape(problem), config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::fe
