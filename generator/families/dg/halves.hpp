#pragma once

#include <set>
#include <vector>

#include "generator/block.hpp"
#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/families/elements/reference_element.hpp"

namespace hone::inline v0_1::dg {

/// A part of an element's right-hand sides that a thread can make by itself: which ones, and all
/// that their volume parts need.
struct Half {
    std::vector<int> outputs;    ///< fields whose right-hand sides it makes; they lie together
    std::set<int> accumulators;  ///< likewise
    std::vector<Product> products;
    int first_field = 0;  ///< the fields that it reads lie together
    int field_count = 0;

    Half(const Algebra& form, std::vector<int> wanted);
};

/// The halves of maxwell_3d are the same curl, of H for dE/dt and of E for -dH/dt, so that one text
/// serves both and there is one entry, the first; acoustics has div u and grad p, and in two
/// dimensions Maxwell the curl of Ez and that of H.
std::vector<Half> halves_of(const Shape& shape, const Algebra& form);

/// Text that does `first` in half 0 and `second` in half 1.
Block either(const Block& first, const Block& second);

/// Entries that are not exactly zero.
int nonzeros(const SquareMatrix& matrix);

}  // namespace hone::inline v0_1::dg
