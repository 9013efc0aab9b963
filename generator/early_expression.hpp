#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foundation/python_expression.hpp"
#include "generator/early_rule.hpp"

namespace hone::inline v0_1 {

/// A tunable as an expression sees it.
struct EarlyName {
    std::string name;
    std::vector<PythonValue> values;
};

/// An expression that has to be true, asked early. Names without a value yet are intervals, from
/// the least to the greatest of their values: `a * b * c <= 1024` is broken once the least product
/// is larger, and holds once the greatest is not. Known factors and summands of whole numbers are
/// multiplied and added up, so that what is left depends on their product or sum alone. Of
/// `(a, b, c) in [(1, 2, 3), ...]` the lists remain that begin alike.
///
/// Where an operand of `and` or `or` decides the result, those before it are not evaluated, so what
/// would be an Error there may be a plain answer here.
class EarlyExpression : public EarlyRule {
  public:
    /// `tunables` in the order of their form. Any other name has the value that `others` gives.
    EarlyExpression(const PythonExpression& expression, std::shared_ptr<const std::vector<EarlyName>> tunables,
                    const PythonExpression::Lookup& others);
    ~EarlyExpression() override;
    const std::vector<std::size_t>& reads() const override;
    EarlyAnswer ask(std::span<const std::uint16_t> levels) override;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
