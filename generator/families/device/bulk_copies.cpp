#include "generator/families/device/bulk_copies.hpp"

#include "generator/render.hpp"

namespace hone {

Block bulk_copies(bool kept) {
    const auto part = [](const char* name, const Holes& holes = {}) { return Block().lines_of(render(name, holes)); };
    const Block rows = kept ? part("device/copy_rows_kept.cu", {{"kept_reads", part("device/kept_reads.cu")}}) : part("device/copy_rows.cu");
    return part("device/bulk_copies.cu", {{"copy_rows", rows}});
}

}  // namespace hone
