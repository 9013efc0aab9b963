#pragma once

#include "generator/families.hpp"

namespace hone::testing {

/// A family made up for tests of parsing: a word, a number, a word with a fallback, two extents. It
/// has no kernels.
inline Families sample_families() {
    Family blur;
    blur.name = "blur_2d";
    blur.summary = "made up for tests";
    blur.example = "blur_2d kind=box order=2 nx=64 ny=64";
    blur.parameters = {
        {.name = "kind", .help = "shape of the filter", .words = {"box", "gauss"}},
        {.name = "order", .help = "radius, points", .words = {}, .low = 1, .high = 10},
        {.name = "precision", .help = "type of the field", .words = {"f32", "f64"}, .fallback = "f32"},
        {.name = "nx", .help = "points along x", .words = {}, .low = 1, .high = 4096, .extent = true},
        {.name = "ny", .help = "points along y", .words = {}, .low = 1, .high = 4096, .extent = true},
    };
    Family sharpen = blur;
    sharpen.name = "sharpen_2d";
    sharpen.example = "sharpen_2d kind=box order=2 nx=64 ny=64";
    return Families({blur, sharpen});
}

}  // namespace hone::testing
