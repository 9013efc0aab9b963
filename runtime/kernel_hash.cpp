#include "runtime/kernel_hash.hpp"

#include "generator/tidy.hpp"
#include "runtime/sha256.hpp"

namespace hone::inline v0_1 {

std::string kernel_hash(std::string_view text) {
    return sha256(code_of(text));
}

}  // namespace hone::inline v0_1
