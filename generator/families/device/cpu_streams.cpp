#include "generator/families/device/cpu_streams.hpp"

#include "generator/render.hpp"

namespace hone {

Block store_intrinsics() {
    return Block().line("#if defined(__SSE2__)").line("#include <immintrin.h>").line("#endif");
}

Block streaming_stores() {
    return Block().lines_of(render("device/streaming_stores.cpp", {}));
}

Block strips() {
    return Block().lines_of(render("device/strips.cpp", {}));
}

}  // namespace hone
