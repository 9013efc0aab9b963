// poisson7: residual, axis coefficients, periodic, f32
// hone emit poisson7 kernel=residual coefficients=axis boundary=periodic precision=f32 nx=128 ny=128 nz=128 --target
//     cuda --config form=bulk,block_x=64,block_y=4,load_bytes=16,rows_per_thread=2,stages=3,min_blocks=1,z_block=128,
//     cache_hint=streaming,max_lead=1
// The same text serves every nx, ny, nz and pitch.
// per update: 21 operations, 20 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 64, block_y = 4, threads_per_block = block_x * block_y + 32, min_blocks = 1;
constexpr int stages = 3;  // planes in shared memory or on their way there
constexpr int words = 4, rows = 2;  // of a thread
constexpr int z_block = 128;         // planes that a block covers
constexpr int lead = 1;  // planes that a block may be ahead of its neighbours
constexpr unsigned all_lanes = 0xffffffff;
constexpr int segment = 32;         // lanes of a warp in the same row
constexpr int sums = 3, chunk = 8, group_columns = 32, group_lanes = group_columns / words;
constexpr int sums_per_block = 1024, cells_per_block = 262144, sum_threads = 256;
namespace scalar { enum { alpha, beta, gamma, delta, residual_square, mean, own_weight, neighbour_weight, mean_weight,
    breakdown, iterations }; }

// What the cells' updates take of the arguments.
struct Arrays {
    const real* r_old;
    const real* w;
    const real* cx;
    const real* cy;
    const real* cz;
    const real* inverse_diagonal;
    real* r;
    real* z;
    int nx, ny, nz, pitch;
    real alpha;
    real mean;
    real own_weight;
    real neighbour_weight;
};

// Which of `cells` cells along an axis number n stands for, which may lie beyond them.
__device__ __forceinline__ int source(int n, int cells) {
    return n < 0 ? cells - 1 : n >= cells ? 0 : n;
}
// Whether it is zero there instead.
__device__ __forceinline__ bool is_zero(int n, int cells) {
    return false;
}

// Neighbouring words of a row, loaded and stored at once.
using vector = float4;
struct alignas(sizeof(vector)) Words {
    real at[words];
};

__device__ __forceinline__ Words load(const real* from) {
    Words result;
    const vector all = *reinterpret_cast<const vector*>(from);
    memcpy(&result, &all, sizeof all);
    return result;
}

// Stores the first `count` words, or all.
__device__ __forceinline__ void store(real* to, const Words& from, int count) {
    if (count >= words) {
        vector all;
        memcpy(&all, &from, sizeof all);
        __stcs(reinterpret_cast<vector*>(to), all);
        return;
    }
    #pragma unroll
    for (int t = 0; t < words; ++t)
        if (t < count) to[t] = from.at[t];
}

// What is loaded of a cell or of a group of cells.
template <typename Word>
struct Loaded {
    Word r_old;
    Word w;
    Word inverse_diagonal;
};

// Rounded by itself: in a sum of neighbours compilers may take a product for half of a multiply-add, and in some forms
// of the kernel do.
__device__ __forceinline__ real product(real a, real b) {
    return __fmul_rn(a, b);
}

// The new residual of a cell; a solid one has none.
__device__ __forceinline__ real new_residual(const Arrays& a, const Loaded<real>& from) {
    const real q = from.inverse_diagonal;
    const real r = fma(-a.alpha, from.w, from.r_old) - a.mean;
    return q == 0 ? real(0) : r;
}

// What the stencil acts on: the residual over the diagonal.
__device__ __forceinline__ real value(const Arrays& a, const Loaded<real>& from) {
    const real q = from.inverse_diagonal;
    return product(q, new_residual(a, from));
}

// Of a group of cells, with what else their update takes of the same words.
struct Cells {
    Words v, r, q;
};

__device__ __forceinline__ Cells cells(const Arrays& a, const Loaded<Words>& from) {
    Cells result;
    #pragma unroll
    for (int t = 0; t < words; ++t) {
        const Loaded<real> of_cell{from.r_old.at[t], from.w.at[t], from.inverse_diagonal.at[t]};
        result.r.at[t] = new_residual(a, of_cell);
        result.q.at[t] = of_cell.inverse_diagonal;
        result.v.at[t] = product(result.q.at[t], result.r.at[t]);
    }
    return result;
}

// The couplings of a group of cells to their neighbours.
struct Stencil {
    Words cx;
    real cy, cz;

    __device__ __forceinline__ void begin(const Arrays& a, int i, int j) {
        #pragma unroll
        for (int t = 0; t < words; ++t) cx.at[t] = a.cx[min(i + t, a.nx - 1)];
        cy = a.cy[min(j, a.ny - 1)];
    }
    __device__ __forceinline__ void plane(const Arrays& a, int k) { cz = a.cz[k]; }

    __device__ __forceinline__ real sum(const Arrays& a, int t, real w, real e, real s, real n, real b, real u) const {
        return fma(cz, b + u, fma(cy, s + n, cx.at[t] * (w + e)));
    }
};

// The new words of a group of cells.
struct Update {
    Words r, z;

    __device__ __forceinline__ void set(const Arrays& a, const Cells& c, int t, real sum) {
        r.at[t] = c.r.at[t];
        z.at[t] = fma(-(a.neighbour_weight * c.q.at[t]), sum, a.own_weight * c.v.at[t]);
    }
    __device__ __forceinline__ void add(const Cells& c, int t, real (&to)[sums][words]) const {
        to[0][t] = fma(z.at[t], r.at[t], to[0][t]);
        to[1][t] = fma(r.at[t], r.at[t], to[1][t]);
        to[2][t] = to[2][t] + r.at[t];
    }
    __device__ __forceinline__ void store(const Arrays& a, wide at, int count) const { ::store(a.r + at, r, count),
        ::store(a.z + at, z, count); }
};

__device__ __forceinline__ wide groups_of_chunk(int nx, int ny) {
    return wide(ny) * ((nx + group_columns - 1) / group_columns);
}

__device__ __forceinline__ wide blocks_of_chunk(int nx, int ny) {
    return (groups_of_chunk(nx, ny) + sums_per_block - 1) / sums_per_block;
}

__device__ __forceinline__ wide blocks_in_range(int nx, int ny, int first, int last) {
    return (last - first + chunk - 1) / chunk * blocks_of_chunk(nx, ny);
}

// Blocks of sums that are done, counted by themselves.
__device__ __forceinline__ unsigned* blocks_done(real* block_sums, int nx, int ny, int nz) {
    return reinterpret_cast<unsigned*>(block_sums + blocks_in_range(nx, ny, 0, nz) * sums);
}

// Planes of a tile arrive in shared memory by bulk copies, which a warp of its own starts: what the stencil acts on
// with the rows before and behind the tile and the words beside it, and what the cells' updates read besides. A plane
// stays there until it has been the middle one.
constexpr int fields = 3, own_fields = 0;
constexpr int tile_x = block_x * words, tile_y = block_y * rows;  // cells of a block in a plane
constexpr int pad = 16 / sizeof(real);                            // words beside a tile's rows
constexpr int row_words = tile_x + 2 * pad, field_words = (tile_y + 2) * row_words;
constexpr int stage_words = fields * field_words + own_fields * (tile_y * tile_x);
constexpr int warps = threads_per_block / 32 - 1;  // that compute

// One transfer barrier per stage: it opens when the bytes that it expects have arrived.
using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void prepare_barriers(Barrier* full) {
    for (int i = 0; i < stages; ++i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(full + i)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ void expect_bytes(Barrier* full, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)),
        "r"(bytes) : "memory");
}

// One thread copies whole rows; no register holds them meanwhile.
__device__ __forceinline__ void copy_rows(real* to, const real* from, unsigned bytes, Barrier* full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(shared_address(to)), "l"(from),
                 "r"(bytes), "r"(shared_address(full))
                 : "memory");
}

// For every thread, between its reads of a stage and the barrier behind which copies refill it: a copy does not wait
// for loads that are under way (PTX ISA, proxies of the memory consistency model).
__device__ __forceinline__ void finish_shared_reads() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void wait_for_bytes(Barrier* full, unsigned phase) {
    asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}"
        ::"r"(shared_address(full)),
                 "r"(phase)
                 : "memory");
}

// Barriers that open when so many warps have arrived at them.
__device__ __forceinline__ void prepare_arrivals(Barrier* barriers, int count, int warps) {
    for (int i = 0; i < count; ++i)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barriers + i)), "r"(warps));
}

// For one thread of a warp.
__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// For one thread.
__device__ __forceinline__ void wait_for_arrivals(Barrier* barrier, unsigned phase) {
    wait_for_bytes(barrier, phase);
}

// A tile's cells of a plane, in a stage. Position 0 of a row is the tile's first cell.
struct Tile {
    const Arrays& a;
    int x, y;            // the first cell
    int x_end;           // behind the last one in the grid
    bool whole_rows;     // of the grid
    int before, behind;  // positions of the cells that the first and the last one have as neighbours along x

    __device__ __forceinline__ Tile(const Arrays& arrays, bool whole) : a(arrays), whole_rows(whole) {
        x = blockIdx.x * tile_x, y = blockIdx.y * tile_y, x_end = min(x + tile_x, a.nx);
        before = whole_rows ? source(-1, a.nx) : source(x - 1, a.nx) % pad - pad;
        behind = whole_rows ? source(a.nx, a.nx) : tile_x + source(x_end, a.nx) % pad;
    }

    // Words of a row that are copied: to the end of 16 bytes.
    __device__ __forceinline__ int copied() const { return (x_end - x + pad - 1) / pad * pad; }
    __device__ __forceinline__ wide row_at(int k,
        int j) const { return (source(k, a.nz) * wide(a.ny) + source(j, a.ny)) * a.pitch; }
    __device__ __forceinline__ unsigned bytes() const {
        return (fields * (tile_y + 2) * (copied() + (whole_rows ? 0 : 2 * pad)) + own_fields * tile_y * copied())
            * sizeof(real);
    }

    // The warp's part of the copies of plane k.
    __device__ __forceinline__ void copy_field(real* to, const real* field, int k, Barrier* full) const {
        for (int row = threadIdx.x % 32; row < tile_y + 2; row += 32) {
            const real* const from = field + row_at(k, y + row - 1);
            real* const first = to + row * row_words + pad;
            copy_rows(first, from + x, copied() * sizeof(real), full);
            if (whole_rows) continue;
            copy_rows(first - pad, from + source(x - 1, a.nx) / pad * pad, pad * sizeof(real), full);
            copy_rows(first + tile_x, from + source(x_end, a.nx) / pad * pad, pad * sizeof(real), full);
        }
    }
    __device__ __forceinline__ void fill(real* stage, int k, Barrier* full) const {
        copy_field(stage, a.r_old, k, full);
        copy_field(stage + field_words, a.w, k, full);
        copy_field(stage + 2 * field_words, a.inverse_diagonal, k, full);
    }
};

__device__ __forceinline__ void read(Words& to, const real* from) {
    to = load(from);
}

__device__ __forceinline__ void read(real& to, const real* from) {
    to = *from;
}

// What is loaded of a cell or of a group of cells, at a position of a row of the stage; rows -1 and tile_y are beside
// the tile.
template <typename Word>
__device__ __forceinline__ Loaded<Word> staged(const real* stage, int row, int position) {
    Loaded<Word> result;
    #pragma unroll
    for (int field = 0; field < fields; ++field)
        read(reinterpret_cast<Word*>(&result)[field],
            stage + field * field_words + (row + 1) * row_words + pad + position);
    return result;
}

// Keeps a block that marches over layers from being more than `lead` of them ahead of the blocks beside it: what these
// read of its cells, and it of theirs, is in the second cache then, and all end together. Nothing but time depends on
// it, and whoever waits gives up after a while.
constexpr int most_blocks = 8192;  // more than a device holds at a time
__device__ int layer_of_block[most_blocks];

__device__ __forceinline__ void put_layer(int* to, int layer) {
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(layer) : "memory");
}

// By an atomic operation that changes nothing: where blocks look by loads, of whatever kind, they are slower than where
// they do not look at all.
__device__ __forceinline__ int layer_at(int* from) {
    int layer;
    asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], 0;" : "=r"(layer) : "l"(__cvta_generic_to_global(from))
        : "memory");
    return layer;
}

struct Pace {
    // lanes of the warp that copies, each of which looks at one neighbour
    static constexpr int lookouts = 4;
    static constexpr int between = (lead + 1) / 2;     // layers from a look to the next
    // a neighbour that is so far behind began later, when others had ended
    static constexpr int other_wave = 8 * (lead + 1);
    static constexpr int patience = 64;
    int thread, seen = 0;  // the neighbour's layer, counted from 1, when the thread looked last
    int *own, *beside;

    __device__ __forceinline__ static int* word_of(int x, int y) {
        return layer_of_block + ((blockIdx.z * gridDim.y + y) * gridDim.x + x) % most_blocks;
    }
    // At the edge of the grid a block looks at itself.
    __device__ __forceinline__ Pace() : thread(threadIdx.x % 32) {
        const int x = blockIdx.x, y = blockIdx.y, last_x = gridDim.x - 1, last_y = gridDim.y - 1;
        own = word_of(x, y);
        beside = thread == 0 ? word_of(max(x - 1, 0), y) : thread == 1 ? word_of(min(x + 1, last_x), y)
               : thread == 2 ? word_of(x, max(y - 1, 0)) : word_of(x, min(y + 1, last_y));
    }
    // For every thread that comes to layer `number` of the march, before a barrier.
    __device__ __forceinline__ void keep(int number) {
        if (thread >= lookouts || number % between != 0) return;
        const int layer = number + 1;
        if (thread == 0) put_layer(own, layer);
        #pragma unroll 1
        for (int tries = 0; tries < patience && layer - seen > lead && layer - seen < other_wave; ++tries)
            seen = layer_at(beside);
        seen = layer_at(beside);  // for the next time: nobody waits for it now
    }
};

// The planes [first, last). A thread has `words` neighbouring cells in each of `rows` rows and goes up the block's
// `z_block` planes. Threads beyond the grid go along, for the sums.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) poisson7(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ inverse_diagonal,
    real* __restrict__ r,
    real* __restrict__ z,
    real* __restrict__ scalars,
    real* __restrict__ history,
    real* __restrict__ group_sums, real* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const Arrays a{r_old, w, cx, cy, cz, inverse_diagonal, r, z, nx, ny, nz, pitch, scalars[scalar::alpha],
        scalars[scalar::mean], scalars[scalar::own_weight], scalars[scalar::neighbour_weight]};
    if (blockIdx.x + blockIdx.y + blockIdx.z == 0 && threadIdx.x + threadIdx.y == 0)
        *blocks_done(block_sums, nx, ny, nz) = 0;
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ Barrier full[stages], taken[stages];
    real* const stage = reinterpret_cast<real*>(shared_memory);
    const Tile tile(a, gridDim.x == 1);
    const int begin = first + blockIdx.z * z_block, end = min(begin + z_block, last);
    if (threadIdx.x == 0) {
        prepare_arrivals(taken, stages, warps);
        prepare_barriers(full);
    }
    __syncthreads();
    // By a shuffle compilers know that all lanes of a warp go the same way.
    const int warp = __shfl_sync(all_lanes, int(threadIdx.x) / 32, 0);
    if (warp == warps) {
        Pace pace;
        for (int number = 0; number < end - begin + 2; ++number) {
            pace.keep(number);
            Barrier* const own = full + number % stages;
            if (threadIdx.x % 32 == 0) {
                if (number >= stages) wait_for_arrivals(taken + number % stages, (number / stages + 1) % 2);
                expect_bytes(own, tile.bytes());
            }
            __syncwarp();
            tile.fill(stage + number % stages * stage_words, begin - 1 + number, own);
        }
        return;
    }

    const int tx = int(threadIdx.x) % block_x, ty = int(threadIdx.x) / block_x;
    const int i = tile.x + tx * words, j = tile.y + ty * rows;
    const int i_read = min(i, (nx - 1) / words * words), position = i_read - tile.x;
    const int inside = nx - i;  // the thread's words of a row that lie in the grid, if less than `words`
    const wide plane = wide(ny) * pitch;
    const bool starts = tx % segment == 0, ends = tx % segment == segment - 1 || inside <= words;
    const auto cells_of = [&](const real* from, int row, int k) {
        Cells result = cells(a, staged<Words>(from, ty * rows + row, position));
        if (is_zero(k, nz) || is_zero(j + row, ny)) result.v = Words{};
        return result;
    };
    const auto word_beside = [&](const real* from, int row, int at, int at_position) {
        return is_zero(at, nx) ? real(0) : value(a, staged<real>(from, ty * rows + row, at_position));
    };
    const auto stage_of = [&](int number) { return stage + number % stages * stage_words; };
    const auto take = [&](int number) { wait_for_bytes(full + number % stages, number / stages % 2); };
    const auto give_back = [&](int number) {
        finish_shared_reads();
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(taken + number % stages);
    };

    Stencil stencil[rows];
    #pragma unroll
    for (int row = 0; row < rows; ++row) stencil[row].begin(a, i, j + row);
    real partial[rows][sums][words] = {};
    Words below[rows];
    Cells here[rows], above[rows];
    take(0);
    #pragma unroll
    for (int row = 0; row < rows; ++row) below[row] = cells_of(stage_of(0), row, begin - 1).v;
    give_back(0);
    take(1);
    #pragma unroll
    for (int row = 0; row < rows; ++row) here[row] = cells_of(stage_of(1), row, begin);
    for (int k = begin; k < end; ++k) {
        const int number = k - begin + 1;
        const real* const middle = stage_of(number);
        Update update[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            stencil[row].plane(a, k);
        }
        const Words south = cells_of(middle, -1, k).v, north = cells_of(middle, rows, k).v;
        real west_edge[rows], east_edge[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            west_edge[row] = starts ? word_beside(middle, row, i - 1, tx == 0 ? tile.before : position - 1) : real(0);
            east_edge[row] = ends
                ? word_beside(middle, row, min(i + words, nx), i + words >= tile.x_end ? tile.behind : position + words)
                : real(0);
        }
        give_back(number);
        take(number + 1);
        #pragma unroll
        for (int row = 0; row < rows; ++row) above[row] = cells_of(stage_of(number + 1), row, k + 1);
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            const real from_west = __shfl_up_sync(all_lanes, here[row].v.at[words - 1], 1, segment);
            const real from_east = __shfl_down_sync(all_lanes, here[row].v.at[0], 1, segment);
            const real west = starts ? west_edge[row] : from_west, east = ends ? east_edge[row] : from_east;
            const Words& row_south = row > 0 ? here[row > 0 ? row - 1 : 0].v : south;
            const Words& row_north = row + 1 < rows ? here[row + 1 < rows ? row + 1 : row].v : north;
            #pragma unroll
            for (int t = 0; t < words; ++t) {
                const real to_west = t > 0 ? here[row].v.at[t > 0 ? t - 1 : 0] : west;
                const real to_east = t + 1 < words && t + 1 != inside ? here[row].v.at[t + 1 < words ? t + 1 : t]
                    : east;
                const real sum =
                    stencil[row].sum(a, t, to_west, to_east, row_south.at[t], row_north.at[t], below[row].at[t],
                    above[row].v.at[t]);
                update[row].set(a, here[row], t, sum);
                if (t < inside && j + row < ny) update[row].add(here[row], t, partial[row]);
            }
            if (j + row < ny) update[row].store(a, k * plane + wide(j + row) * pitch + i, inside);
        }
        if ((k - first) % chunk == chunk - 1 || k + 1 == end) {
            const wide groups_of_row = (nx + group_columns - 1) / group_columns;
            const wide groups = (last - first + chunk - 1) / chunk * (ny * groups_of_row);
            #pragma unroll
            for (int row = 0; row < rows; ++row) {
                const wide group = (wide((k - first) / chunk) * ny + j + row) * groups_of_row + i / group_columns;
                #pragma unroll
                for (int s = 0; s < sums; ++s) {
                    #pragma unroll
                    for (int step = 1; step < words; step *= 2)
                        for (int t = 0; t + step < words; t += 2 * step)
                            partial[row][s][t] += partial[row][s][t + step];
                    real sum = partial[row][s][0];
                    #pragma unroll
                    for (int lanes = 1; lanes < group_lanes; lanes *= 2) sum += __shfl_xor_sync(all_lanes, sum, lanes);
                    if (threadIdx.x % group_lanes == 0 && inside > 0 && j + row < ny)
                        group_sums[s * groups + group] = sum;
                    #pragma unroll
                    for (int t = 0; t < words; ++t) partial[row][s][t] = 0;
                }
            }
        }
        #pragma unroll
        for (int row = 0; row < rows; ++row) below[row] = here[row].v, here[row] = above[row];
    }
}

// Sum over the threads of a block, in pairs of neighbours; every thread gets it.
__device__ __forceinline__ double sum_of_block(double value) {
    __shared__ double of_warp[sum_threads / 32];
    for (int lanes = 1; lanes < 32; lanes *= 2) value += __shfl_xor_sync(all_lanes, value, lanes);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % (sum_threads / 32)];
    for (int lanes = 1; lanes < sum_threads / 32; lanes *= 2) value += __shfl_xor_sync(all_lanes, value, lanes);
    __syncthreads();
    return value;
}

// The sums of blocks, each of groups of one chunk: in double precision, the same whatever the configuration, and
// whatever the chunks beside.
extern "C" __global__ void __launch_bounds__(sum_threads) sum_groups(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ inverse_diagonal,
    real* __restrict__ r,
    real* __restrict__ z,
    real* __restrict__ scalars,
    real* __restrict__ history,
    real* __restrict__ group_sums, real* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    if (blockIdx.x >= blocks_in_range(nx, ny, first, last)) return;
    const wide in_chunk = blockIdx.x % blocks_of_chunk(nx, ny) * sums_per_block,
        left = groups_of_chunk(nx, ny) - in_chunk;
    const wide begin = blockIdx.x / blocks_of_chunk(nx, ny) * groups_of_chunk(nx, ny) + in_chunk;
    const wide groups = (last - first + chunk - 1) / chunk * groups_of_chunk(nx, ny);
    for (int s = 0; s < sums; ++s) {
        double sum = 0;
        for (int n = threadIdx.x; n < sums_per_block; n += sum_threads)
            if (n < left) sum += double(group_sums[s * groups + begin + n]);
        sum = sum_of_block(sum);
        if (threadIdx.x == 0) block_sums[blockIdx.x * sums + s] = real(sum / cells_per_block);
    }
    // The block that is done last has the sums of all blocks, per cell of the grid, and what follows from them.
    __shared__ bool is_last;
    const wide blocks = blocks_in_range(nx, ny, first, last);
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(blocks_done(block_sums, nx, ny, nz), 1u) == blocks - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    double sum[sums];
    for (int s = 0; s < sums; ++s) {
        sum[s] = 0;
        for (wide n = threadIdx.x; n < blocks; n += sum_threads) sum[s] += double(block_sums[n * sums + s]);
        sum[s] = sum_of_block(sum[s]) * cells_per_block / (double(nx) * ny * nz);
    }
    if (threadIdx.x != 0) return;
    const double delta = sum[0], residual_square = sum[1], old_delta = scalars[scalar::delta];
    scalars[scalar::beta] = old_delta > 0 ? real(delta / old_delta) : real(0);
    scalars[scalar::delta] = real(delta);
    scalars[scalar::residual_square] = real(residual_square);
    scalars[scalar::mean] = real(sum[2] * double(scalars[scalar::mean_weight]));
    if (!(delta > 0) && residual_square > 0) scalars[scalar::breakdown] = 1;
    const int iteration = int(scalars[scalar::iterations]);
    history[iteration % 256] = real(residual_square);
    scalars[scalar::iterations] = real(iteration + 1);
}
