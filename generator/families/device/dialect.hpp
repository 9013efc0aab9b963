#pragma once

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

/// How kernels say the same thing in the language of each target, where both are written from one
/// template. A further target is a row.
struct Dialect {
    const char* file;           ///< what its templates' names end with: ".cu"
    const char* entry;          ///< before an entry's name, where the template does not say it: "extern \"C\" void "
    const char* function;       ///< before a small function, which becomes part of its callers
    const char* table;          ///< before a table of constants
    const char* restrict_word;  ///< between `*` and the name of a parameter: nothing else points at these words
    const char* unroll;         ///< before a loop: unrolled as a whole
    const char* unroll_by_4;    ///< by four trips
    const char* keep_loop;      ///< not at all
};

const Dialect& dialect_of(Target target);

}  // namespace hone::inline v0_1
