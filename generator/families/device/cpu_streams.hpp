#pragma once

namespace hone {

/// How CPU kernels stream through memory, by pieces that their templates use. First, what they write past the caches:
/// device/streams.cpp/streaming_stores.
///
/// A kernel computes a strip of a few lines of the caches into an array of its own and calls `keep(to, from, words)`, which writes whole vectors of
/// them past the caches: neither is the line read first, as for a plain store, nor does it take the place of one that is needed again. Strips are
/// short because the processor has room for few lines on their way. `finish_stores()` is called by every thread before others read what it wrote.
/// Both need the names `real` and `streaming_stores`, a constant, and <immintrin.h> where `__SSE2__` is defined; without the constant, and on
/// processors other than x86, `keep` copies as usual.
///
/// Rows in strips: device/streams.cpp/strips. A kernel asks for the words that it needs some strips later, and then computes one. `ask_for(words)`
/// and `in_strips(words, step)` need the name `strip_words`, a constant of `strip_bytes`, and the header <type_traits>.
constexpr int strip_bytes = 256;

}  // namespace hone
