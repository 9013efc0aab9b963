#include "generator/families/bulk_copies.hpp"

#include "generator/render.hpp"

namespace hone {

Block bulk_copies(bool kept) {
    const auto part = [](const char* name, const Holes& holes = {}) { return Block().lines_of(render(name, holes)); };
    const Block rows = kept ? part("copy_rows_kept.cu", {{"kept_reads", part("kept_reads.cu")}}) : part("copy_rows.cu");
    return part("bulk_copies.cu", {{"copy_rows", rows}});
}

}  // namespace hone
