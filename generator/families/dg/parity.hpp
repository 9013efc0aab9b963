#pragma once

#include <vector>

#include "generator/families/elements/reference_element.hpp"

namespace hone::inline v0_1::dg {

/// Nodal values as even and odd parts under the reflection of the reference element that swaps r
/// and s, which its nodes have, too.
///
/// Of nodes n and n' that are each other's image, u_n + u_n' is an even part and u_n - u_n' an odd
/// one; a node on the plane r = s is even. Back again, right-hand sides E + O and E - O at n and n'
/// are made of an even and an odd part each. In the coordinates r + s, r - s and t a derivative
/// takes even parts to even ones and odd to odd, along r - s even to odd and odd to even. So each
/// product of an operator with all nodes has about half the multiply-adds.
struct Parity {
    std::vector<int> first;   ///< of each even part, its node: those that have an image, then those that have not
    std::vector<int> second;  ///< of each odd part, the image of `first`

    explicit Parity(const ReferenceElement& element);
    /// Of an element of reference_element, made at the first call and kept: spaces ask for each
    /// configuration. Thread-safe.
    static const Parity& of(const ReferenceElement& element);

    int even() const { return static_cast<int>(first.size()); }
    int odd() const { return static_cast<int>(second.size()); }

    /// Even (or odd) part `row` of what a column of an operator gives the nodes; 0 where there is
    /// no such part.
    template <typename Column>
    double part(Column column, int row, bool is_odd) const {
        const auto i = static_cast<std::size_t>(row);
        if (row >= (is_odd ? odd() : even())) return 0;
        if (row >= odd()) return column(first[i]);
        return 0.5 * (column(first[i]) + (is_odd ? -1 : 1) * column(second[i]));
    }
    /// Entry of a derivative along r + s, r - s or t (0, 1, 2), between a part of the right-hand
    /// side and one of the nodal values; 0 where there is no such part.
    double derivative(const ReferenceElement& element, int along, int row, bool row_is_odd, int column, bool column_is_odd) const;
};

/// The points of an element's faces under the same reflection. It takes some faces to themselves,
/// whose points have even and odd parts as nodes have; others it swaps, and of those the second has
/// its points in the order of the first one's images.
struct FaceParity {
    std::vector<int> images;  ///< of each face, the face that it is taken to
    /// Of each face its points, by their number on it: where it is its own image, those with an
    /// image and then those without, otherwise in order.
    std::vector<std::vector<int>> first;
    std::vector<std::vector<int>> second;  ///< of a face that is its own image, the images of `first`; of others nothing

    explicit FaceParity(const ReferenceElement& element);
    static const FaceParity& of(const ReferenceElement& element);  ///< likewise

    bool alone(int face) const { return images[static_cast<std::size_t>(face)] == face; }
};

/// Whether a derivative along r + s, r - s, t takes even parts to odd ones.
constexpr bool changes_parity(int along) {
    return along == 1;
}

}  // namespace hone::inline v0_1::dg
