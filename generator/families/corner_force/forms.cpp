#include "generator/families/corner_force/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "foundation/error.hpp"
#include "generator/families/corner_force/cpu.hpp"
#include "generator/families/corner_force/cuda.hpp"

namespace hone::inline v0_1::corner {
namespace {

bool keeps_no_corner(const Shape& shape, const Limits&) {
    return !shape.keeps_corner();
}

bool keeps_corner(const Shape& shape, const Limits&) {
    return shape.keeps_corner();
}

bool has_points(const Shape& shape, const Limits&) {
    return shape.physics() && !shape.keeps_corner();
}

bool has_all(const Shape& shape, const Limits&) {
    return shape.result == "products";
}

// Where A is many times as large as all that a zone needs, forming it is out of the question: 71 MB
// for a zone of Q8-Q7.
bool stores_columns(const Shape& shape, const Limits&) {
    constexpr int highest_order = 4;
    return (shape.result == "products" || shape.keeps_corner()) && (shape.dimension == 2 || shape.order <= highest_order);
}

bool pairs_in_3d(const Shape& shape, const Limits& limits) {
    return shape.dimension == 3 && has_points(shape, limits) && shape.order > 1 && limits.has(Feature::async_copies);
}

// In 2D, where a line's derivatives fit the registers.
bool short_lines(const Shape& shape, const Limits& limits) {
    constexpr int highest_order = 4;
    return shape.dimension == 2 && has_all(shape, limits) && shape.order > 1 && shape.order <= highest_order && limits.has(Feature::async_copies);
}

struct Row {
    Form (*form)(const Problem&, const Limits&);
    /// Whether it serves the problem on the device.
    bool (*serves)(const Shape&, const Limits&);
};

template <PassForm (*passes)()>
Form on_cuda(const Problem& problem, const Limits& limits) {
    return cuda_passes(passes(), problem, limits);
}

template <PassForm (*passes)()>
Form on_cpu(const Problem& problem, const Limits& limits) {
    return cpu_passes(passes(), problem, limits);
}

// The plainest first.
constexpr Row cuda_rows[] = {{on_cuda<separate_form>, keeps_no_corner},
                             {on_cuda<force_form>, has_points},
                             {on_cuda<factorised_form>, keeps_corner},
                             {paper_form, stores_columns},
                             {layered_form, keeps_no_corner},
                             {teams_form, pairs_in_3d},
                             {streamed_form, short_lines}};

constexpr Row cpu_rows[] = {{on_cpu<separate_form>, keeps_no_corner},
                            {on_cpu<force_form>, has_points},
                            {on_cpu<whole_form>, has_all},
                            {on_cpu<factorised_form>, keeps_corner},
                            {on_cpu<paper_passes>, stores_columns}};

template <std::size_t count>
Forms serving(const Row (&rows)[count], const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms;
    for (const Row& row : rows)
        if (row.serves(shape, limits)) forms.list.push_back(row.form(problem, limits));
    return forms;
}

// The highest order in f64 takes more shared memory than the smallest devices have.
Error too_large(const Problem& problem, const Forms& forms, const Limits& limits) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Form& form : forms.list) least = std::min(least, safe_needs(form).shared_bytes);
    return {fmt::format("problem \"{}\"", problem.key()),
            fmt::format("a zone takes {} bytes of shared memory, of which a block of sm_{} has {}", least, limits.architecture,
                        limits.shared_bytes_per_block),
            "use precision=f32, a lower order, or a device of sm_80 or later"};
}

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    Forms forms = serving(cuda_rows, problem, limits);
    const auto begins = [&](const Form& form) { return !shared_violation(safe_needs(form), 1, limits); };
    const auto safe = std::find_if(forms.list.begin(), forms.list.end(), begins);
    if (safe == forms.list.end()) throw too_large(problem, forms, limits);
    forms.safe = safe->space.name;
    return forms;
}

// As few passes as the result can have run untuned.
Forms cpu_forms(const Problem& problem, const Limits& limits) {
    Forms forms = serving(cpu_rows, problem, limits);
    const std::string& result = problem.word("result");
    forms.safe = result == "products" ? "whole" : result == "points" ? "force" : forms.list.front().space.name;
    return forms;
}

}  // namespace hone::inline v0_1::corner
