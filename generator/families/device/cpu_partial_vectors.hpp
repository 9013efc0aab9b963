#pragma once

#include "foundation/value.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1 {

/// What templates/device/partial_vectors.cpp needs: it loads and stores vectors of which the last
/// words are missing, without touching their places. With AVX-512 that is one instruction with a
/// mask for vectors of 16 to 64 bytes, else words come and go one by one. The text around it names
/// `real`, `lanes`, `vector` and `unaligned_vector`. Adds the flags and holes that go with it;
/// `partial` says where there are such vectors at all.
struct PartialVectors {
    bool loads, stores;
};
void add_partial_vectors(Holes& holes, Flags& flags, Precision precision, int lanes, PartialVectors partial);

}  // namespace hone::inline v0_1
