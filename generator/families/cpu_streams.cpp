#include "generator/families/cpu_streams.hpp"

#include "generator/render.hpp"

namespace hone {

Block store_intrinsics() {
    return Block().line("#if defined(__SSE2__)").line("#include <immintrin.h>").line("#endif");
}

Block streaming_stores() {
    return Block().lines_of(render("streaming_stores.cpp", {}));
}

Block strips() {
    return Block().lines_of(render("cpu_strips.cpp", {}));
}

}  // namespace hone
