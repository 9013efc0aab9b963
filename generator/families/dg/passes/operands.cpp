#include "generator/families/dg/passes/operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::inline v0_1::dg {
namespace {

// Fields of node m, from `value` into shared memory.
Block transform(const Algebra& algebra) {
    Block block;
    if (algebra.transforms()) {
        block.text("const real* const own = factor + (e < present ? e : 0) * factors;");
        block.append(name_factors(algebra));
    }
    for (std::size_t f = 0; f < algebra.transform.size(); ++f)
        block.line("here[({} * elements_per_block + e) * field_row + m] = {};", f,
                   expression(algebra.transform[f], "", [](int i) { return fmt::format("value[{}]", i); }));
    return block;
}

}  // namespace

int factor_words(const Shape& shape, const Config& config, int elements, const Parts& parts) {
    return parts.volume ? round_up(elements * algebra_of(shape, config).factor_count(), 4) : 0;
}

int held_sums(const Shape& shape, const Config& config, const Parts& parts) {
    return parts.volume ? std::max(shape.fields, algebra_of(shape, config).accumulators) : shape.fields;
}

Block operand_constants(const Plan& plan, const Operands& operands) {
    Block block;
    block.line("constexpr int flux_columns = {}, flux_row = {};  // points of an element's faces and their stride in shared memory, padded",
               operands.flux_columns, operands.flux_row);
    if (!plan.any(&Pass::volume)) return block;
    block.line("constexpr int field_columns = {}, field_row = {};  // nodes of an element, likewise", operands.field_columns, operands.field_row);
    return block.line("constexpr int factors = {}, accumulators = {}, geometry_words = dimension * dimension;", plan.own_algebra().factor_count(),
                      plan.own_algebra().accumulators);
}

PassText operand_text(const Plan& plan, const Pass& pass, bool traces) {
    PassText text;
    if (traces) text.flags.insert("traces_in_shared");
    if (pass.surface && !traces) text.flags.insert("fluxes_after_derivatives");
    if (!pass.volume) return text;
    const Algebra& algebra = plan.own_algebra();
    // Where the faces' values come from memory, nobody needs the fields as they were.
    if (algebra.transforms()) text.flags.insert(traces ? "transforms_behind_fluxes" : "waits_for_factors");
    text.holes.emplace_back("element_factors", element_factors(algebra, "own"));
    text.holes.emplace_back("transform", transform(algebra));
    return text;
}

}  // namespace hone::inline v0_1::dg
