#include "generator/kernel_source.hpp"

#include <algorithm>
#include <cstddef>

namespace hone {

bool holds_integers(const ArraySpec& array) {
    return array.shape.ends_with(" int32") || array.shape.ends_with(" of int");
}

ArraySpec laid_out(ArraySpec array, const std::vector<std::int64_t>& extents, std::int64_t origin) {
    array.strides.assign(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) array.strides[i - 1] = array.strides[i] * extents[i];
    array.origin = origin;
    array.alignment = vector_alignment;
    return array;
}

int address_multiple(const KernelSource& source, const ArraySpec& array) {
    const int value = bytes_per_word(source.precision);
    return source.target == Target::cuda ? std::max(array.alignment, value) : value;
}

}  // namespace hone
