#pragma once

#include <array>
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

/// Nodal values of a tetrahedron as parts of four kinds under two reflections: that of Parity, and
/// the one that swaps the other two vertices, (r, s, t) -> (r, s, -2 - r - s - t). Bit b of a kind
/// says that it is odd under reflection b. The two commute, so that a node has up to four images.
///
/// A part of kind k is the sum of u at a node's images, each with the signs of k, where a node that
/// is its own image counts twice. Back again, right-hand sides at a node's images are sums of its
/// parts with the same signs. In the coordinates r + s - t, r - s and t a derivative keeps the
/// kind, or turns its first or second bit: kind k has columns of kind k ^ along. So each product of
/// an operator with all nodes has about a quarter of the multiply-adds.
struct DoubleParity {
    /// Of each node that stands for its images, these: bit b of the index says that reflection b
    /// was applied. First come those with four images, then those that reflection 0 keeps, then as
    /// many that reflection 1 keeps, then those that both keep.
    std::vector<std::array<int, 4>> orbits;

    explicit DoubleParity(const ReferenceElement& element);
    static const DoubleParity& of(const ReferenceElement& element);  ///< likewise

    /// Parts of a kind; kinds 1 and 2 have as many.
    int count(int kind) const { return kind == 0 ? static_cast<int>(orbits.size()) : kind == 3 ? fours_ : fours_ + pairs_; }
    /// The images of part `part` of a kind, which is there.
    const std::array<int, 4>& orbit(int kind, int part) const {
        return orbits[static_cast<std::size_t>(kind == 1 && part >= fours_ ? part + pairs_ : part)];
    }
    /// Part `row` of a kind of what a column of an operator gives the nodes; 0 where there is no
    /// such part.
    template <typename Column>
    double part(Column column, int row, int kind) const {
        return row < count(kind) ? signed_sum(column, orbit(kind, row), kind) / 4 : 0;
    }
    /// Entry of half the derivatives along r + s - t and r - s, and of that along t (0, 1, 2),
    /// between part `row` of a kind and part `column` of kind ^ along; 0 where there is no such
    /// part.
    double derivative(const ReferenceElement& element, int along, int kind, int row, int column) const;

  private:
    int fours_ = 0;  // nodes with four images
    int pairs_ = 0;  // that a reflection keeps, and the other does not

    template <typename Values>
    static double signed_sum(Values values, const std::array<int, 4>& images, int kind) {
        double sum = 0;
        for (int image = 0; image < 4; ++image) {
            const int odd = kind & image;
            sum += (odd == 1 || odd == 2 ? -1 : 1) * values(images[static_cast<std::size_t>(image)]);
        }
        return sum;
    }
};

/// The points of a tetrahedron's faces under the same two reflections. Faces p and p + 2 (p = 0, 1)
/// are their own images under reflection p, and each other's under the other one.
struct DoubleFaceParity {
    /// Of each face its points, by their number on it: those that reflection p takes elsewhere and
    /// then those that it keeps. Faces 2 and 3 have the images of the points of faces 0 and 1.
    std::array<std::vector<int>, 4> first;
    std::array<std::vector<int>, 4> second;  ///< the images of `first` under reflection p

    explicit DoubleFaceParity(const ReferenceElement& element);
    static const DoubleFaceParity& of(const ReferenceElement& element);  ///< likewise

    int even() const { return static_cast<int>(first[0].size()); }
    int odd() const { return static_cast<int>(second[0].size()); }
};

/// Whether a derivative along r + s, r - s, t takes even parts to odd ones.
constexpr bool changes_parity(int along) {
    return along == 1;
}

}  // namespace hone::inline v0_1::dg
