#include "runtime/kernel_hash.hpp"

#include "generator/tidy.hpp"
#include "runtime/sha256.hpp"

namespace hone::inline v0_1 {

std::string kernel_hash(std::string_view text) {
    return sha256(code_of(text));
}

bool is_hash_of(std::string_view hash, std::string_view text) {
    return hash == kernel_hash(text) || hash == sha256(text);
}

}  // namespace hone::inline v0_1
