#include "generator/families/device/cuda_copies.hpp"

namespace hone::inline v0_1 {

void add_copies(Flags& flags, Copies copies, bool asynchronous) {
    flags.insert(flags.end(), {{"copies_values", copies == Copies::values},
                               {"copies_or_zeros", copies == Copies::words_or_zeros},
                               {"copies_16_bytes", copies == Copies::sixteen_bytes},
                               {"asynchronous", asynchronous}});
}

}  // namespace hone::inline v0_1
