#include "solvers/poisson/shared_half.hpp"

#include <algorithm>

#include "generator/families/poisson7/family.hpp"

namespace hone::inline v0_1::solvers {

using namespace poisson;

SharedHalf::SharedHalf(Backend& backend, const std::shared_ptr<const Kernel>& kernel, std::span<void* const> arrays, const Slab& slab, void* travels,
                       int edge_chunks)
    : travels_(travels) {
    const Problem& problem = kernel->problem();
    const int word = bytes_per_word(problem.precision());
    const std::int64_t sums = problem.word("kernel").starts_with("residual") ? 3 : 1;
    const std::int64_t chunk_words = blocks_of_chunk(problem.integer("nx"), problem.integer("ny")) * sums;
    const std::int64_t chunks = (slab.layers() + chunk_planes - 1) / chunk_planes;
    sums_ = DeviceArray(backend, chunks * chunk_words * word);
    unused_sums_ = DeviceArray(backend, chunk_words * word);
    // Sums go to the place of the range's first chunk; those of the neighbours' planes are the
    // neighbours' business.
    const auto part = [&](std::int64_t first, std::int64_t last) {
        std::vector<void*> pointers(arrays.begin(), arrays.end());
        const bool own = first >= slab.begin() && first < slab.end();
        auto* const place = static_cast<char*>(sums_.data()) + (first - slab.begin()) / chunk_planes * chunk_words * word;
        std::replace(pointers.begin(), pointers.end(), static_cast<void*>(nullptr), own ? static_cast<void*>(place) : unused_sums_.data());
        return Part{BoundKernel(kernel, pointers), first, last};
    };
    std::int64_t first = slab.begin(), last = slab.end();
    if (slab.below > 0) {
        beyond_.push_back(part(0, first));
        const std::int64_t edge = std::min(first + std::int64_t{edge_chunks} * chunk_planes, last);
        if (first < edge) edges_.push_back(part(first, edge));
        first = edge;
    }
    if (slab.above > 0) {
        beyond_.push_back(part(last, slab.stored()));
        // The last chunk may be a part of one.
        const std::int64_t chunks_before = (slab.layers() + chunk_planes - 1) / chunk_planes - edge_chunks;
        const std::int64_t edge = std::min(std::max(first, slab.begin() + chunks_before * chunk_planes), last);
        if (edge < last) edges_.push_back(part(edge, last));
        last = edge;
    }
    if (first < last) interior_.push_back(part(first, last));
}

void SharedHalf::launch(HaloExchange& halo) const {
    const auto launch = [](const std::vector<Part>& parts, Stream stream) {
        for (const Part& part : parts) part.kernel.launch(part.first, part.last, stream);
    };
    const bool overlaps = !edges_.empty();
    if (!overlaps) launch(interior_, {});
    const Stream beside = halo.fork();
    launch(edges_, beside);
    halo.begin({&travels_, 1}, [&](Stream stream) { launch(beyond_, stream); });
    if (overlaps) launch(interior_, {});
    halo.end();
}

}  // namespace hone::inline v0_1::solvers
