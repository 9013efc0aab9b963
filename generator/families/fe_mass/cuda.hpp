#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/fe_mass/forms.hpp"
#include "generator/families/fe_mass/text.hpp"

// What the forms on CUDA have in common: one launch multiplies elements, and in another a thread
// for each node adds up.

namespace hone::inline v0_1::fe {

/// What a form adds to the text.
struct CudaParts {
    Block constants, barrier, weights, elements;  ///< `weights`: of weights_function, where it is called
    bool teams = false;
};

/// What all kernels are made of. A form's own kernel is made of it with the form's tunables.
struct CudaKernel {
    CudaKernel(const Shape& of, const Config& config);

    Shape shape;
    int elements_per_block, node_threads, loads_in_flight, min_blocks;

    KernelSource source(const Problem& problem, const Config& config, const CudaParts& parts, const BlockResources& needs) const;
    /// A form's space with the tunables that all have around its own.
    static FormSpace space(FormSpace own, std::vector<std::int64_t> elements_per_block, std::int64_t safe_elements);
};

/// A form whose kernels are of a type that is made of the shape and a configuration, once, and
/// knows `resources()` and `kernel(problem, config)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, FormSpace space, std::vector<std::string> resources_read) {
    Form form;
    form.space = std::move(space);
    form.resources = [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).resources(); };
    form.resources_read = std::move(resources_read);
    form.kernel = [problem](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config); };
    return form;
}

}  // namespace hone::inline v0_1::fe
