#pragma once

#include <cstdint>
#include <string>

#include "generator/families/batched_gemm/forms.hpp"
#include "generator/families/batched_gemm/text.hpp"
#include "generator/families/device/cpu_partial_vectors.hpp"

// What the forms on processors have in common.

namespace hone::inline v0_1::gemm {

/// What the forms rows and dots multiply: op(A) and op(B), or for products of one row op(B)^T and
/// op(A)^T. Their product C^T lies in memory as C does, and has rows for the lanes of vectors.
/// Where all have one B, it is the left factor of all of them, and C^T of several products are the
/// columns of one.
struct Factors {
    explicit Factors(const Shape& shape)
        : turned(shape.m == 1 && shape.n > 1),
          side_by_side(turned && shape.shared_b),
          m(turned ? shape.n : shape.m),
          n(turned ? 1 : shape.n),
          left_row(turned ? shape.b_column() : shape.a_row()),
          left_inner(turned ? shape.b_inner() : shape.a_inner()),
          right_inner(turned ? shape.a_inner() : shape.b_inner()),
          right_column(side_by_side ? shape.stride_a()
                       : turned     ? shape.a_row()
                                    : shape.b_column()),
          c_column(side_by_side ? shape.stride_c() : m) {}

    bool turned, side_by_side;
    int m, n;
    int left_row, left_inner, right_inner;
    std::int64_t right_column, c_column;
};

/// What all kernels are made of.
struct CpuKernel {
    CpuKernel(const Shape& of_problem, const Config& config) : shape(of_problem), of(of_problem), lanes(number(config, "lanes")) {}

    Shape shape;
    Factors of;
    int lanes;  ///< of a vector

    bool rows_left() const { return of.m % lanes != 0; }
    /// Types, sizes of a product with so many columns, and distances of matrices.
    Block constants(int columns) const;
    /// The kernel of a template, with its launch. `own` holes and `flags` are the form's.
    KernelSource source(const Problem& problem, const Config& config, const std::string& name, double executed_operations, Holes own,
                        const Flags& flags) const;
};

/// A form whose kernels are of a type that is made of the shape and a configuration, once.
template <typename Kernel>
Form cpu_form(const Problem& problem, FormSpace space) {
    Form form;
    form.space = std::move(space);
    form.kernel = [problem](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config); };
    return form;
}

Tunable lanes_tunable(const Shape& shape);
/// AVX-512 and SVE have 32 vector registers, the others 16.
int vector_registers(const Limits& limits);
/// Whether rows of the left factor and columns of the right one lie along k, and these are so few
/// that turning the rows first would take longer than turning the sums; and whether it is so clear
/// that it runs untuned.
bool lies_along_k(const Shape& shape);
bool turns_sums_untuned(const Shape& shape);

}  // namespace hone::inline v0_1::gemm
