#include "generator/families/batched_gemm/forms.hpp"

#include "generator/families/batched_gemm/cpu.hpp"
#include "generator/families/batched_gemm/untuned.hpp"

namespace hone::inline v0_1::gemm {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device; null: always.
    bool (*serves)(const Shape&, const Limits&) = nullptr;
};

// Where tiles fill the matrix units, these have twice the rate, and half the loads from shared
// memory.
bool worth_multiply_adds(const Shape& shape, const Limits& limits) {
    return !has_matrix_units(shape, limits) || shape.m < 24 || shape.n < 12 || shape.k < 12;
}

bool tiny(const Shape& shape, const Limits&) {
    return is_tiny(shape);
}

constexpr Row cuda_rows[] = {{tile_form, worth_multiply_adds}, {mma_form, has_matrix_units}, {stream_form, streams}, {thread_form, tiny}};

bool keeps_vectors_of_matrices(const Shape& shape, const Limits&) {
    constexpr int largest = 144;  // words of A and B of which a vector each is kept
    return shape.m * shape.k + shape.k * shape.n <= largest;
}

bool along_k(const Shape& shape, const Limits&) {
    return lies_along_k(shape);
}

constexpr Row cpu_rows[] = {{cpu_rows_form}, {cpu_matrices_form, keeps_vectors_of_matrices}, {cpu_dots_form, along_k}};

template <std::size_t count>
std::vector<Form> serving(const Row (&rows)[count], const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<Form> forms;
    for (const Row& row : rows)
        if (row.serves == nullptr || row.serves(shape, limits)) forms.push_back(row.form(problem, limits));
    return forms;
}

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    Forms forms{serving(cuda_rows, problem, limits), "thread"};
    if (is_tiny(Shape(problem))) return forms;
    forms.safe = forms.list.front().space.name;
    choose_untuned(forms, problem, limits);
    return forms;
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {serving(cpu_rows, problem, limits), turns_sums_untuned(Shape(problem)) ? "dots" : "rows"};
}

}  // namespace hone::inline v0_1::gemm
