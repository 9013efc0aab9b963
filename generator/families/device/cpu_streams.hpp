#pragma once

#include "generator/block.hpp"

namespace hone {

/// How CPU kernels stream through memory: source text that families share. First, what they write past the caches.
///
/// A kernel computes a strip of a few lines of the caches into an array of its own and calls `keep(to, from, words)`, which writes whole vectors of
/// them past the caches: neither is the line read first, as for a plain store, nor does it take the place of one that is needed again. Strips are
/// short because the processor has room for few lines on their way. `finish_stores()` is called by every thread before others read what it wrote.
/// Both need the names `real` and `streaming_stores`, a constant; without it, and on processors other than x86, `keep` copies as usual.
///
/// The first block belongs to the includes, the second into the kernel's namespace.
Block store_intrinsics();
Block streaming_stores();

/// Rows in strips: a kernel asks for the words that it needs some strips later, and then computes one. `ask_for(words)` and `in_strips(words, step)`
/// need the name `strip_words`, a constant of `strip_bytes`, and the header <type_traits>.
Block strips();
constexpr int strip_bytes = 256;

}  // namespace hone
