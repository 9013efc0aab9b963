#include "generator/families/dg/halves.hpp"

#include <algorithm>

namespace hone::inline v0_1::dg {

Half::Half(const Algebra& form, std::vector<int> wanted) : outputs(std::move(wanted)) {
    for (const int output : outputs)
        for (const Term& term : form.combine[static_cast<std::size_t>(output)]) accumulators.insert(term.operand);
    std::set<int> fields;
    for (const Product& product : form.products)
        if (accumulators.contains(product.accumulator)) {
            products.push_back(product);
            for (const Term& term : form.transform[static_cast<std::size_t>(product.field)]) fields.insert(term.operand);
        }
    first_field = *fields.begin();
    field_count = static_cast<int>(fields.size());
}

std::vector<Half> halves_of(const Shape& shape, const Algebra& form) {
    if (shape.maxwell()) return {Half(form, {3, 4, 5})};
    if (shape.dimension == 2) return {Half(form, {0, 1}), Half(form, {2})};
    return {Half(form, {0}), Half(form, {1, 2, 3})};
}

Block either(const Block& first, const Block& second) {
    Block block;
    block.open("if (half == 0)");
    block.append(first);
    block.close(" else {");
    for (const auto& line : second.lines()) block.text("    " + line);
    block.text("}");
    return block;
}

int nonzeros(const SquareMatrix& matrix) {
    return static_cast<int>(matrix.values.size()) - static_cast<int>(std::count(matrix.values.begin(), matrix.values.end(), 0.0));
}

}  // namespace hone::inline v0_1::dg
