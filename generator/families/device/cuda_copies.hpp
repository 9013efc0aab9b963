#pragma once

#include "generator/render.hpp"

namespace hone::inline v0_1 {

/// Kinds of copies into shared memory that pass no register, by the piece
/// device/copies.cu/past_registers of its template.
enum class Copies {
    values,          ///< copy(to, from): a value of 4, 8 or 16 bytes
    words_or_zeros,  ///< copy<words>(to, from, there): neighbouring words, of so many bytes, or zeros
    sixteen_bytes    ///< copy(to, from): past the first cache
};

/// Adds the flags of device/copies.cu/past_registers, but for `kept_reads`, which other pieces ask,
/// too. The piece needs the name `real`. A device without asynchronous copies (before sm_80) copies
/// words or zeros through registers.
void add_copies(Flags& flags, Copies copies, bool asynchronous = true);

}  // namespace hone::inline v0_1
