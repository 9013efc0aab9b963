#include "generator/families/batched_gemv/forms.hpp"

namespace hone::inline v0_1::gemv {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem.
    bool (*serves)(const Shape&);
};

bool as_it_lies(const Shape& shape) {
    return !shape.transposed();
}

bool several_columns(const Shape& shape) {
    return !shape.transposed() && shape.n > 1;
}

bool transposed(const Shape& shape) {
    return shape.transposed();
}

constexpr Row cuda_rows[] = {{rows_form, as_it_lies}, {split_rows_form, several_columns}, {columns_form, transposed}};

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms;
    for (const Row& row : cuda_rows)
        if (row.serves(shape)) forms.list.push_back(row.form(problem, limits));
    forms.safe = forms.list.front().space.name;
    return forms;
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{cpu_passes_form(problem, limits)}, "passes"};
}

}  // namespace hone::inline v0_1::gemv
