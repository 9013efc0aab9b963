#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/problem.hpp"

namespace hone::inline v0_1 {

struct Family;

/// A number that a problem's extents make.
struct Measure {
    std::string name;  ///< as in "63 entries a row"
    double value = 0;
};

/// What a problem's extents say. Its sizes tell how much there is to do: where they are larger, a
/// configuration has more of the same. Its proportions stay as they are where a problem grows, and
/// decide which configuration is fast as an order does: entries a row, bytes by which rows are
/// aligned. Problems of one class have the same measures in the same order.
struct Scale {
    std::vector<Measure> sizes;
    std::vector<Measure> proportions;
};

/// Family::scale, or that of a family without: each extent is a size.
Scale scale_of(const Family& family, const Problem& problem);

/// The extents of these names.
std::vector<Measure> sizes_of(const Problem& problem, const std::vector<std::string>& names);

/// How far rows that lie so many words apart, or what has gaps of so many words, are aligned: in
/// bytes, at most the 16 of the widest load. 0 words are as aligned as can be.
Measure aligned(const std::string& of, std::int64_t words, Precision precision);

/// Of a kernel on a grid of nx x ny x nz cells, whose rows lie `pitch` words apart.
Scale scale_of_grid(const Problem& problem);
/// Of `batch` products of matrices and vectors of these names, which lie gap_<name> words apart.
Scale scale_of_batch(const Problem& problem, const std::vector<std::string>& operands);

/// How far two problems of one class are from each other, in octaves: |log2| of the ratios of their
/// measures, summed up. 512 x 512 x 8 is not near 128 x 128 x 128.
struct ScaleDistance {
    double sizes = 0;
    double proportions = 0;
    std::string differing;  ///< proportions that are not the same, in words: "210 entries a row, not 26.6"

    /// Both as one number: an octave of a size counts a quarter of one of a proportion.
    double total() const { return sizes / 4 + proportions; }
    /// Whether what is fast for the one may be taken for the other: sizes within three octaves, as
    /// a grid and that of half its spacing, proportions within half of one. Beyond, results of
    /// other kinds say as much. Measured on an H100: rows of 27 entries by configurations that suit
    /// rows of 63 and 210 had 0.89 and 0.49 of their rate, three acoustic steps of 2048^2 by that
    /// of 8192^2 0.30, by what other problems suggest 0.61.
    bool near() const { return sizes <= most_octaves && proportions <= 0.5; }
    static constexpr double most_octaves = 3;
};

/// From the scale of what is known to that of what is asked for. Requires the same measures.
ScaleDistance scale_distance(const Scale& known, const Scale& asked);

}  // namespace hone::inline v0_1
