#include "runtime/uploader.hpp"

#include <algorithm>
#include <cstring>

namespace hone::inline v0_1 {
namespace {

// Dynamic: while a tuning run sets a problem up, compilers have some of the processors.
void copy_with_all_threads(char* to, const char* from, std::int64_t bytes) {
    constexpr std::int64_t piece = 1 << 19;
#pragma omp parallel for schedule(dynamic) if (bytes > piece)
    for (std::int64_t first = 0; first < bytes; first += piece)
        std::memcpy(to + first, from + first, static_cast<std::size_t>(std::min(piece, bytes - first)));
}

}  // namespace

void Uploader::upload(void* to, const void* from, std::int64_t bytes) {
    if (traits_of(backend_.device().limits.target).host_memory) return backend_.copy(to, from, bytes);
    for (auto& buffer : buffers_)
        if (!buffer) buffer = {backend_.allocate_pinned(buffer_bytes), FreePinned{&backend_}};
    std::size_t current = 0;
    for (std::int64_t first = 0; first < bytes; first += buffer_bytes, current = 1 - current) {
        const std::int64_t part = std::min(buffer_bytes, bytes - first);
        void* const buffer = buffers_[current].get();
        copy_with_all_threads(static_cast<char*>(buffer), static_cast<const char*>(from) + first, part);
        backend_.synchronise();  // the other buffer has been fetched and may be filled next
        backend_.copy(static_cast<char*>(to) + first, buffer, part);
    }
    backend_.synchronise();
}

}  // namespace hone::inline v0_1
