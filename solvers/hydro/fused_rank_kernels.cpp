#include "solvers/hydro/fused_rank_kernels.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "solvers/hydro/zone_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr int dot_rows = 32;  // that are summed up first
constexpr int flag_kinds = 3;
static_assert(MassKernels::chunk_rows == Discretisation::node_chunk, "ranks have whole chunks of rows");

// What one rank does with its own memory alone, between ranks. Words of a box are doubles, flags
// half of one.
constexpr const char* kernels = R"cpp(
    struct Ranks {
        double* const* boxes;
        int count, rank, flags, epoch;

        DEVICE volatile unsigned int* flag(int box, int meeting, int of) const {
            return (volatile unsigned int*)(boxes[box] + flags) + meeting * count + of;
        }
    };
    enum Meeting { at_dots, at_squares, at_border };

    __device__ unsigned int blocks_there;

    // The block that comes last says so to all ranks; what all blocks stored before is there then.
    DEVICE void arrive(const Ranks& ranks, Meeting meeting) {
        __syncthreads();
        if (threadIdx.x != 0) return;
        __threadfence_system();
        if (atomicAdd(&blocks_there, 1u) != gridDim.x - 1) return;
        blocks_there = 0;
        __threadfence_system();
        for (int other = 0; other < ranks.count; ++other) *ranks.flag(other, meeting, ranks.rank) = (unsigned int)ranks.epoch;
    }

    // Behind it the block finds what all ranks stored before they arrived.
    DEVICE void await(const Ranks& ranks, Meeting meeting) {
        if (threadIdx.x == 0) {
            for (int other = 0; other < ranks.count; ++other)
                while ((int)(*ranks.flag(ranks.rank, meeting, other) - (unsigned int)ranks.epoch) < 0) {
                }
            __threadfence_system();
        }
        __syncthreads();
    }

    // As OwnSums, of all ranks and in the memory of each. Own chunks, `of_share` to a share of nodes, have other numbers among all.
    struct RankSums {
        double* all;
        int rows;
        Ranks ranks;
        Meeting meeting;
        int place, of_share;
        const int* shares;

        DEVICE void put(int c, int chunks, int chunk, double sum) const {
            const long long at = place + (long long)c * chunks + shares[chunk / of_share] * of_share + chunk % of_share;
            for (int other = 0; other < ranks.count; ++other) ranks.boxes[other][at] = sum;
        }
        template <typename Meanwhile>
        DEVICE void meet(Meanwhile meanwhile) const {
            arrive(ranks, meeting);
            meanwhile();
            await(ranks, meeting);
        }
    };

    // As RankSums, of rows of 32: what a block has it keeps until all has been found, and then stores as many side by side as lie so. One by one they
    // would be a message each.
    struct RankDots : RankSums {
        static constexpr int of_pass = teams * chunk_rows / dot_rows, words = passes * of_pass;
        static constexpr bool keeps = components * words * (int)sizeof(double) <= most_kept_bytes;
        double* here;
        int own_rows;

        DEVICE int chunk_of(int word) const { return (word / of_pass * (int)gridDim.x + (int)blockIdx.x) * of_pass + word % of_pass; }
        DEVICE void put(int c, int chunks, int chunk, double sum) const {
            if (!keeps) return RankSums::put(c, chunks, chunk, sum);
            here[c * words + chunk / (of_pass * (int)gridDim.x) * of_pass + chunk % of_pass] = sum;
        }
        template <typename Meanwhile>
        DEVICE void meet(Meanwhile meanwhile) const {
            if (keeps) {
                __syncthreads();
                const int chunks = (rows + dot_rows - 1) / dot_rows, own_chunks = (own_rows + dot_rows - 1) / dot_rows;
                for (int n = threadIdx.x; n < components * words; n += blockDim.x)
                    if (const int chunk = chunk_of(n % words); chunk < own_chunks) RankSums::put(n / words, chunks, chunk, here[n]);
            }
            RankSums::meet(meanwhile);
        }
    };

    struct Border {
        int row, rank, place, stride;
    };

    FUSED_KERNEL iterate_on_ranks(const double* q, const int* held, double* w, double* x, double* r, double* scalars, const int* corner_starts,
                                  const int* corners, const double* element_sums, double* groups, double* box, double* const* boxes,
                                  const int* shares, const int* border_starts, const Border* border, int elements, int stride, int first, int last,
                                  int whole_rows, int dots_place, int squares_place, int flags_place, int ranks_count, int rank, int epoch) {
        __shared__ Scalars all[components];
        __shared__ double dots_here[RankDots::keeps ? components * RankDots::words : 1];
        const Ranks ranks{boxes, ranks_count, rank, flags_place, epoch};
        double* const p = box;
        const RankDots dots{{box + dots_place, whole_rows, ranks, at_dots, dots_place, chunk_rows / dot_rows, shares}, dots_here, last - first};
        const RankSums squares{box + squares_place, whole_rows, ranks, at_squares, squares_place, 1, shares};
        // The next direction of rows that others have copies of, ahead of all others: it travels meanwhile.
        const auto send_border = [&] {
            for (int n = border_starts[blockIdx.x] + (int)threadIdx.x; n < border_starts[blockIdx.x + 1]; n += blockDim.x) {
                const Border to = border[n];
                double* const there = boxes[to.rank] + to.place;
                const double inverse = q[to.row];
                // All words are on their way before the first is stored, which might be one of them for all that the compiler knows.
                double along[components], residual[components];
                for (int c = 0; c < components; ++c) along[c] = p[(long long)c * stride + to.row], residual[c] = r[(long long)c * stride + to.row];
                for (int c = 0; c < components; ++c)
                    there[(long long)c * to.stride] = next_direction(all[c].of[beta], along[c], inverse, residual[c]);
            }
            arrive(ranks, at_border);
        };
        iterate_behind(Corners{corner_starts, corners, element_sums, elements}, q, held, w, x, r, p, scalars, dots, squares, groups, last - first,
                       stride, all, send_border);
        if (blockIdx.x == 0) await(ranks, at_border);
    }
)cpp";

}  // namespace

// Where copies of own rows lie their ranks say, in the order of the links.
FusedRankKernels::Part FusedRankKernels::part_of(const ZonePart& part) {
    Part here{.components = part.here().dimension,
              .own = static_cast<int>(part.own_nodes()),
              .stride = static_cast<int>(part.here().nodes()),
              .rank = part.ranks().rank(),
              .ranks = part.ranks().size(),
              .whole_rows = part.whole_nodes(),
              .shares = {part.chunks().own().begin(), part.chunks().own().end()},
              .border = {}};
    const auto& links = part.links();
    std::vector<std::vector<std::int64_t>> places(links.size());
    std::vector<Send> sends;
    std::vector<Receive> receives;
    for (std::size_t n = 0; n < links.size(); ++n) {
        places[n].resize(links[n].own.size());
        sends.push_back({links[n].neighbour, 0, std::as_bytes(std::span(links[n].copies))});
        receives.push_back({links[n].neighbour, 0, std::as_writable_bytes(std::span(places[n]))});
    }
    part.ranks().begin_exchange(sends, receives);
    part.ranks().end_exchange();
    for (std::size_t n = 0; n < links.size(); ++n) {
        // Of all components, one after the other.
        const std::size_t count = places[n].size() / static_cast<std::size_t>(here.components);
        for (std::size_t row = 0; row < count; ++row)
            here.border.push_back({static_cast<std::int32_t>(links[n].own[row]), links[n].neighbour, static_cast<std::int32_t>(places[n][row]),
                                   static_cast<std::int32_t>(places[n][count + row] - places[n][row])});
    }
    return here;
}

FusedRankKernels::Places FusedRankKernels::places(int components, int stride, std::int64_t whole_rows, int ranks) {
    constexpr std::int64_t aligned = 32;
    const auto behind = [](std::int64_t begin, std::int64_t words) { return (begin + words + aligned - 1) / aligned * aligned; };
    const auto chunks_of = [&](std::int64_t rows) { return (whole_rows + rows - 1) / rows; };
    Places places;
    places.dots = behind(0, std::int64_t{components} * stride);
    places.squares = behind(places.dots, components * chunks_of(dot_rows));
    places.flags = behind(places.squares, components * chunks_of(MassKernels::chunk_rows));
    places.words = behind(places.flags, (flag_kinds * std::int64_t{ranks} + 1) / 2);
    return places;
}

KernelSource FusedRankKernels::source(const Limits& limits, const Part& part, const KernelSource& product, int most_kept_bytes) {
    const bool alone = part.whole_rows <= FusedMassKernels::usual_few_rows;
    KernelSource source =
        FusedMassKernels::source_of(limits, part.components, part.own, &product, alone,
                                    fmt::format("\n    constexpr int most_kept_bytes = {};\n{}", most_kept_bytes, kernels), "iterate_on_ranks");
    for (const char* name : {"q", "held"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"w", "x", "r", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* name : {"corner_starts", "corners", "element_sums"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"groups", "box", "boxes"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* name : {"shares", "border_starts", "border"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    source.scalars = {product.scalars.front(), {"stride", part.stride}};
    source.step.front().constants = std::vector<int>(7);
    return source;
}

FusedRankKernels::FusedRankKernels(Backend& backend, const Part& part, const Places& places, Memory memory, const FusedMassKernels::Product& product)
    : FusedRankKernels(backend, backend.device().limits, source(backend.device().limits, part, product.source), part, places, memory, product,
                       product.source) {
}

FusedRankKernels::FusedRankKernels(Backend& backend, const Limits& limits, const KernelSource& source, const Part& part, const Places& places,
                                   Memory memory, const FusedMassKernels::Product& product, const KernelSource& of_product)
    : own_rows_(part.own),
      stride_(part.stride),
      rank_(part.rank),
      ranks_(part.ranks),
      whole_rows_(static_cast<int>(part.whole_rows)),
      places_(places),
      memory_(memory),
      own_(source.step.front()),
      module_(backend.load(compiled_mass_kernels(backend, source))),
      product_(backend, of_product, product.matrix),
      groups_(backend, FusedMassKernels::group_words(part.components) * static_cast<std::int64_t>(sizeof(double))),
      shares_(uploaded(backend, part.shares)) {
    // Dealt to the blocks that have the rows: they change a row when they have sent it.
    std::vector<std::vector<Border>> of_block(static_cast<std::size_t>(own_.grid[0]));
    for (const Border& row : part.border) of_block[static_cast<std::size_t>(FusedMassKernels::block_of(limits, part.own, row.row))].push_back(row);
    std::vector<Border> all;
    std::vector<std::int32_t> starts{0};
    for (const std::vector<Border>& rows : of_block) {
        all.insert(all.end(), rows.begin(), rows.end());
        starts.push_back(static_cast<std::int32_t>(all.size()));
    }
    if (all.empty()) all.emplace_back();  // memory has some length
    border_starts_ = uploaded(backend, starts);
    border_ = uploaded(backend, all);
}

void FusedRankKernels::iterate(const Arrays& arrays, bool cooperative, Stream stream) {
    product_.launch(memory_.own, arrays.w, arrays.dot, stream);
    launch_mass_kernel(*module_, own_,
                       {arrays.q, arrays.held, arrays.w, arrays.x, arrays.r, arrays.scalars, product_.corner_starts(), product_.corners(),
                        product_.sums(), groups_.data(), memory_.own, memory_.all, shares_.data(), border_starts_.data(), border_.data()},
                       {product_.elements(), stride_, 0, own_rows_, whole_rows_, static_cast<int>(places_.dots), static_cast<int>(places_.squares),
                        static_cast<int>(places_.flags), ranks_, rank_, ++epoch_},
                       stream, cooperative);
}

}  // namespace hone::inline v0_1::solvers::hydro
