#include "generator/value_lists.hpp"

namespace hone::inline v0_1 {

std::vector<Value> numbers(std::vector<std::int64_t> values) {
    return {values.begin(), values.end()};
}

std::vector<Value> words(std::vector<std::string> values) {
    return {values.begin(), values.end()};
}

}  // namespace hone::inline v0_1
