#include <algorithm>

#include "generator/families/corner_force/cuda.hpp"

// The published kernels one by one: derivatives and F by products of dense matrices, A and F in
// memory. It is the rival that the others are compared with.

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;

std::vector<Pass> passes(const Shape& shape, bool) {
    std::vector<Pass> all{{.kind = Kind::dense_gradients, .entry = "corner_force_gradients"},
                          {.entry = "corner_force_points", .points = true},
                          {.kind = Kind::columns, .entry = "corner_force_columns"},
                          {.kind = Kind::corner, .entry = "corner_force_corner"},
                          {.kind = Kind::sums, .entry = "corner_force_sums"}};
    if (shape.works()) all.push_back({.kind = Kind::products, .entry = "corner_force_products"});
    return all;
}

constexpr int dense_threads = 256;

// On CUDA: a thread accumulates some rows and columns of F.
struct Paper : CudaPasses {
    Paper(const Shape& of_zones, const Config& config)
        : CudaPasses(of_zones, config, paper_passes()),
          rows_per_thread(static_cast<int>(integer_or(config, "rows_per_thread", 1))),
          columns_per_thread(static_cast<int>(integer_or(config, "columns_per_thread", 1))) {}

    int rows_per_thread, columns_per_thread;  // of F

    int row_threads() const { return pieces(shape.vector_words(), rows_per_thread); }
    int threads_per_zone() const { return row_threads() * (shape.energies() / columns_per_thread); }
    int corner_zones() const { return std::max(1, dense_threads / threads_per_zone()); }  // of a block
    int corner_threads() const { return std::min(dense_threads, corner_zones() * threads_per_zone()); }

    Block own_constants() const {
        Block block;
        block.line("constexpr int dense_threads = {};", dense_threads);
        block.line("constexpr int rows_per_thread = {}, columns_per_thread = {}, row_threads = {}, threads_per_zone = {};  // of F", rows_per_thread,
                   columns_per_thread, row_threads(), threads_per_zone());
        return block.line("constexpr int corner_zones = {}, corner_threads = {};", corner_zones(), corner_threads());
    }

    // Zones of a block of dense_threads, each with so many items.
    std::int64_t zones_of(Kind kind) const {
        const auto fit = [](int items) { return std::max(1, dense_threads / items); };
        if (kind == Kind::dense_gradients) return fit(shape.points());
        if (kind == Kind::columns) return fit(shape.points() * shape.vector_words());
        if (kind == Kind::sums) return fit(shape.vector_words());
        return std::max(1, dense_threads / warp / shape.energies());  // products: a warp for each
    }

    Launch dense_launch(const Pass& pass) const {
        const bool corner = pass.kind == Kind::corner;
        Launch launch;
        launch.entry = pass.entry;
        launch.range_axis = 0;
        launch.range_per_block = corner ? corner_zones() : zones_of(pass.kind);
        launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
        if (corner) launch.grid[1] = pieces(corner_zones() * threads_per_zone(), corner_threads());
        launch.block = {corner ? corner_threads() : dense_threads, 1, 1};
        return launch;
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        KernelSource result = source(problem, config, own_constants());
        for (const Pass& pass : passes) result.step.push_back(pass.of_zones() ? zone_launch(pass) : dense_launch(pass));
        return result;
    }
};

}  // namespace

PassForm paper_passes() {
    return {.name = "paper", .help = "kernels 3 to 8 and 10 of the paper one by one, A and F in memory", .passes = passes};
}

Form paper_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    FormSpace space = CudaPasses::space(paper_passes(), shape);
    constexpr int most_columns = 16;
    std::vector<Value> columns = divisors(shape.energies(), most_columns);
    const Value widest = columns.back();  // with one column A would be loaded for every product
    space.tunables.insert(space.tunables.end() - 1, {{"rows_per_thread", "rows of F that a thread accumulates", numbers({1, 2, 3, 4})},
                                                     {"columns_per_thread", "columns of F that a thread accumulates", std::move(columns)}});
    space.safe.insert(space.safe.end() - 1, {{"rows_per_thread", std::int64_t{1}}, {"columns_per_thread", widest}});
    space.constraints.push_back({"sums",
                                 [](const Config& config) {
                                     constexpr int most = 32;
                                     return too_many(config.integer("rows_per_thread") * config.integer("columns_per_thread"), most,
                                                     "sums in a thread");
                                 },
                                 {"rows_per_thread", "columns_per_thread"}});
    return cuda_form<Paper>(problem, std::move(space), CudaPasses::resources_read(paper_passes()));
}

}  // namespace hone::inline v0_1::corner
