#pragma once

#include <cstdint>
#include <string>

#include "generator/families/acoustics_staggered/forms.hpp"
#include "generator/families/device/cpu_arguments.hpp"
#include "generator/render.hpp"

// What the forms on processors have in common.

namespace hone::inline v0_1::acoustics {

/// Parts of the template, one for each form.
enum class CpuPart { tiles, planes, march };

/// What all kernels are made of: a grid and a configuration.
struct CpuKernel {
    CpuKernel(const Grid& of_grid, const Config& config);

    Grid grid;
    std::int64_t y_block;  ///< rows that a thread takes in every plane; 1 in 2D
    std::int64_t vector_bytes, prefetch_bytes;
    bool streaming;  ///< what is written goes past the caches
    bool pairs;      ///< two layers are advanced together

    /// Rows and words as arguments of the kernel: configurations that differ in nothing else are
    /// one text.
    CpuArguments arguments() const;
    /// The kernel with its launch. `own`: the form's constants; `part`: of the template.
    KernelSource source(const Problem& problem, const Config& config, const Block& own, const CpuArguments& arguments, CpuPart part) const;
};

/// A form whose kernels are of a type that is made of the grid and a configuration, once.
template <typename Kernel>
Form cpu_form(const Problem& problem, FormSpace space) {
    Form form;
    form.space = std::move(space);
    form.kernel = [problem](const Config& config) { return Kernel(Grid(problem), config).kernel(problem, config); };
    return form;
}

constexpr std::int64_t whole_axis = 65536;  ///< cells along an axis: more than there are

/// The tunables that all forms have, behind their own.
FormSpace with_vectors(FormSpace form, const Limits& limits);
void add_stores(FormSpace& form);
/// Two layers that are advanced together. Damping has no vectors there. Untuned where it was
/// measured to be faster (ADR 0065), if the vectors are long enough.
void add_pairs(FormSpace& form, const Grid& grid, const Limits& limits);
/// Rows of a thread's share that a team marches with: no fewer than 2 M, because a thread's
/// neighbours look across as many.
FormSpace team_space(const Grid& grid, const std::string& name, const std::string& help);

/// constexpr int levels = ...
Block levels_constant(const Grid& grid);

}  // namespace hone::inline v0_1::acoustics
