#pragma once

#include <algorithm>
#include <cstring>

#include "interfaces/c/errors.hpp"

namespace hone::inline v0_1::languages {

// A structure's first member says how much of it the caller knows. Callers of earlier versions know
// less than this library, those of later ones more.

/// Throws Refusal when the caller's structure is null or has no size.
template <typename Structure>
std::size_t known_size(const char* function, const Structure* callers, const char* name) {
    given(function, callers, name);
    if (callers->size < 2 * sizeof(std::size_t))
        throw Refusal(HONE_BAD_ARGUMENT, function, std::string(name) + "->size is " + std::to_string(callers->size),
                      "set it to sizeof *" + std::string(name));
    return std::min(callers->size, sizeof(Structure));
}

/// Copies a caller's structure. Members are zero where there is no structure, or where the caller's
/// version of it ends before them.
template <typename Structure>
Structure read(const char* function, const Structure* callers, const char* name) {
    Structure own{};
    if (callers != nullptr) std::memcpy(&own, callers, known_size(function, callers, name));
    return own;
}

/// Fills as much of the caller's structure as the caller knows, but for its size.
template <typename Structure>
void write(const char* function, Structure own, Structure* callers, const char* name) {
    const std::size_t size = known_size(function, callers, name);
    own.size = callers->size;
    std::memcpy(callers, &own, size);
}

}  // namespace hone::inline v0_1::languages
