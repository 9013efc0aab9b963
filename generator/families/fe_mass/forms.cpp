#include "generator/families/fe_mass/forms.hpp"

namespace hone::inline v0_1::fe {
namespace {

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device; null: always.
    bool (*serves)(const Shape&, const Limits&) = nullptr;
};

constexpr Row cuda_rows[] = {{teams_form}, {threads_form, fits_threads}};

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms{{}, "teams"};
    for (const Row& row : cuda_rows)
        if (row.serves == nullptr || row.serves(shape, limits)) forms.list.push_back(row.form(problem, limits));
    return forms;
}

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{cpu_vector_form(problem, limits)}, "vector"};
}

}  // namespace hone::inline v0_1::fe
