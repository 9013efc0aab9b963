#pragma once

#include <utility>

#include "generator/families/batched_gemv/forms.hpp"
#include "generator/families/batched_gemv/text.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::gemv {

/// What all kernels are made of. A form's own kernel is made of it with the form's tunables.
struct CudaKernel {
    CudaKernel(const Shape& of_problem, const Config& config);

    Shape shape;
    int width;  ///< words of a column that a thread loads at once
    int matrices_per_block, unroll, min_blocks;

    int vectors() const { return gemm::pieces(shape.m, width); }  ///< of a column
    /// Why columns do not lie as loads of `width` words want them.
    Reason misaligned() const;
    /// Registers of a thread with so many loads in flight.
    int registers(int in_flight) const { return shape.of.bytes() / 4 * (in_flight * (width + 1) + width) + 20; }
    /// The shape's, and those of a block of so many threads; `own` are the form's.
    Block constants(int threads, const Block& own) const;
    Launch launch(int threads, std::int64_t shared_words) const;

    /// A form's space with the tunables that all have around `own`.
    static FormSpace space(FormSpace own, const Shape& shape, const char* unrolled);
};

Block unroll_line(int times);

/// A form whose kernels are of a type that is made of the shape and a configuration, once, and
/// knows `conflict()`, `resources()` and `kernel(problem, config)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, FormSpace space) {
    Form form;
    form.space = std::move(space);
    form.space.constraints = {{"layout", [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).conflict(); }}};
    form.resources = [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).resources(); };
    form.kernel = [problem](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config); };
    return form;
}

}  // namespace hone::inline v0_1::gemv
