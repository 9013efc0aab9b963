#include "runtime/kernel_hash.hpp"

#include "foundation/sha256.hpp"
#include "generator/tidy.hpp"

namespace hone::inline v0_1 {

std::string kernel_hash(std::string_view text) {
    return sha256(code_of(text));
}

}  // namespace hone::inline v0_1
