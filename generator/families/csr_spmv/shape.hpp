#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/block.hpp"
#include "generator/families/csr_spmv/family.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::spmv {

/// Lanes that the chunks' sums are dealt to, and threads of the block that adds them up: fixed, so
/// that the tree is.
constexpr int sum_lanes = 1024;

/// The numbers of a csr_spmv problem. Throws Error for more entries than places, and for a dot
/// product with a matrix that is not square.
struct Shape {
    explicit Shape(const Problem& problem);

    bool dotted;
    int components;
    bool interleaved;
    Precision precision;
    std::int64_t rows, columns, entries;

    int bytes() const { return bytes_per_word(precision); }
    const char* real() const { return precision == Precision::f32 ? "float" : "double"; }
    std::int64_t chunks() const { return (rows + chunk_rows - 1) / chunk_rows; }
    /// Words that `count` 32-bit integers take.
    std::int64_t index_words(std::int64_t count) const { return (count * 4 + bytes() - 1) / bytes(); }
    /// Where a component of row `row` lies in vectors of `count` words each.
    std::int64_t place(std::int64_t row, int component, std::int64_t count) const {
        return interleaved ? row * components + component : component * count + row;
    }
};

/// Parts of the family, each in the file of its name.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
/// The part of a source that both targets share: arrays, the table of the chunks' sums, rows and
/// columns, operations.
KernelSource common_source(const Problem& problem, Target target);
/// The comment at the head of an emitted kernel.
Block banner(const Problem& problem, const Config& config, Target target);
/// Arguments of every entry point.
Block parameters(const Problem& problem);
/// The statement of `place(row, component, count)`: where a component of a row lies.
Block place(const Shape& shape);
/// Declares the chunks of a range, for device/finish_dots.
Block chunk_count();

}  // namespace hone::inline v0_1::spmv
