#include "generator/kernel_source.hpp"

#include <algorithm>
#include <cstddef>

namespace hone::inline v0_1 {

bool holds_integers(const ArraySpec& array) {
    return array.shape.ends_with(" int32") || array.shape.ends_with(" of int");
}

ValueType value_type_of(const ArraySpec& array, Precision precision) {
    if (holds_integers(array)) return ValueType::i32;
    for (const ValueType type : {ValueType::f32, ValueType::f64})
        if (array.shape.ends_with(" " + to_string(type))) return type;
    return value_type_of(precision);
}

std::int64_t value_count(const ArraySpec& array, Precision precision) {
    const ValueType type = value_type_of(array, precision);
    if (type == value_type_of(precision)) return array.words;
    return array.values > 0 ? array.values : array.words * bytes_per_word(precision) / bytes_per_value(type);
}

std::int64_t bytes_of(const ArraySpec& array, Precision precision) {
    return value_count(array, precision) * bytes_per_value(value_type_of(array, precision));
}

ArraySpec laid_out(ArraySpec array, const std::vector<std::int64_t>& extents, std::int64_t origin) {
    array.strides.assign(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) array.strides[i - 1] = array.strides[i] * extents[i];
    array.values = array.strides.empty() ? 0 : array.strides.front() * extents.front();
    array.origin = origin;
    array.alignment = vector_alignment;
    return array;
}

int address_multiple(const KernelSource& source, const ArraySpec& array) {
    const int value = bytes_per_value(value_type_of(array, source.precision));
    return traits_of(source.target).host_memory ? value : std::max(array.alignment, value);
}

}  // namespace hone::inline v0_1
