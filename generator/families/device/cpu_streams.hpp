#pragma once

namespace hone::inline v0_1 {

/// How CPU kernels stream through memory, by pieces that their templates use. First, what they
/// write past the caches: device/streams.cpp/streaming_stores.
///
/// A kernel computes a strip of a few lines of the caches into an array of its own and calls
/// `keep(to, from, words)`, which writes whole vectors of them past the caches: neither is the line
/// read first, as for a plain store, nor does it take the place of one that is needed again. Strips
/// are short because the processor has room for few lines on their way. `finish_stores()` is called
/// by every thread before others read what it wrote. Both need the name `real`, the flag
/// `streaming`, and with it <cstdint> and, where `__SSE2__` is defined, <immintrin.h>, which takes
/// a third of a second to read. Without the flag there is `keep` alone; it copies as usual then,
/// and on processors other than x86.
///
/// Rows in strips: device/streams.cpp/strips. A kernel asks for the words that it needs some strips
/// later, and then computes one. `ask_for(words)` and `in_strips(words, step)` need the name
/// `strip_words`, a constant of `strip_bytes`, and the header <type_traits>.
constexpr int strip_bytes = 256;

}  // namespace hone::inline v0_1
