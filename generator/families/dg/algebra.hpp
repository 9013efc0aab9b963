#pragma once

#include <string>
#include <vector>

#include "generator/block.hpp"
#include "generator/config.hpp"
#include "generator/problem.hpp"
#include "generator/search_space.hpp"

namespace hone::inline v0_1::dg {

/// One product of a derivative with a (transformed) field, added to an accumulator.
struct Product {
    int accumulator;
    int derivative;  ///< 0, 1, 2: along r, s, t
    int field;       ///< index of a transformed field
    int sign;
};

/// sign * factor * operand; an empty factor is 1.
struct Term {
    int sign;
    std::string factor;  ///< name of a metric factor
    int operand;
};

using Sum = std::vector<Term>;

/// A right-hand side as three steps that every form runs in its own way: transform the fields of a
/// node with its element's metric factors, differentiate (all the work of order nodes^2), combine
/// the accumulators with the metric factors.
///
/// Two exact ways. *cartesian*: every component is differentiated along r, s, t, then the chain
/// rule. *covariant*: maxwell_3d differentiates tangential components H_a = x_a . H, because curl H
/// = 1/J sum_a x_a (D_b H_c - D_c H_b), (a,b,c) cyclic: 12 products instead of 18; acoustics_3d the
/// contravariant velocity U^a = grad(r_a) . u, because div u = sum_a D_a U^a: 6 products instead of
/// 12; maxwell_2d_tm the same with rx Hy - ry Hx and sx Hy - sy Hx: 4 products instead of 6.
struct Algebra {
    std::vector<std::string> fields;   ///< names of the application's fields, in order
    std::vector<std::string> factors;  ///< names of the metric factors of one element
    std::vector<Sum> transform;        ///< transformed field = sum of factor * field; a single term without factor where nothing changes
    std::vector<Product> products;
    int accumulators = 0;
    std::vector<Sum> combine;   ///< right-hand side of each field = sum of factor * accumulator
    std::string combine_scale;  ///< a factor common to all of `combine`, or empty
    std::string pass_scale;     ///< one curl at a time: what `scale`, the combine_scale, is in the first pass; it is the negative in the second
    bool tangents = false;      ///< the factors are tangents divided by J, and J; otherwise the gradients of r, s, t

    int field_count() const { return static_cast<int>(fields.size()); }
    int factor_count() const { return static_cast<int>(factors.size()); }
    bool transforms() const;
    /// Multiplications and additions of transform and combination per node.
    int operations_per_node() const;
};

/// `name` is "cartesian" or "covariant". The result is kept for good.
const Algebra& algebra(const std::string& equation, const std::string& name);

/// The tunable `algebra`: either of the two. Records of before call it `form`.
Tunable algebra_tunable();

/// maxwell_3d, one curl at a time: the algebra of 3 fields, the same for both passes. Pass 0 takes
/// H, fields 0 to 2, to the right-hand sides of E; pass 1 takes E, fields 3 to 5, to those of H,
/// with the other sign. The kernel counts `pass`.
const Algebra& one_curl(const std::string& name);

/// Declares the metric factors of an element from its gradients `g[..]` of r, s(, t), into
/// `factor[..]`. `type`: of all of them, `real` or a vector of elements' values.
Block element_factors(const Algebra& algebra, const std::string& factor, const std::string& type = "real");

/// Names the metric factors that `own` points at: `const real rx = own[0], ...;`.
Block name_factors(const Algebra& algebra, const std::string& type = "real");

/// Names the factors in front of the combination, with the `scale` of the pass.
Block name_combine_factors(const Algebra& algebra);

/// The expression of a sum, e.g. `rx * u + ry * v`; `operand` writes operand number i.
template <typename Operand>
std::string expression(const Sum& sum, const std::string& scale, Operand operand) {
    std::string text;
    for (const Term& term : sum) {
        const bool first = text.empty();
        text += term.sign < 0 ? (first ? "-" : " - ") : (first ? "" : " + ");
        text += (term.factor.empty() ? "" : term.factor + " * ") + operand(term.operand);
    }
    return scale.empty() ? text : scale + " * (" + text + ")";
}

}  // namespace hone::inline v0_1::dg
