// poisson7: residual, scalar coefficients, periodic, f32
// hone emit poisson7 kernel=residual coefficients=scalar boundary=periodic precision=f32 nx=128 ny=128 nz=128 --target
//     cuda --config form=shared,block_x=64,block_y=2,load_bytes=16,rows_per_thread=4,prefetch=2,min_blocks=2,
//     z_block=128,cache_hint=streaming,l2_planes=0,max_lead=2
// The same text serves every nx, ny, nz and pitch.
// per update: 21 operations, 16 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 64, block_y = 2, threads_per_block = block_x * block_y, min_blocks = 2;
constexpr int words = 4, rows = 4;  // of a thread
constexpr int z_block = 128;         // planes that a block covers
constexpr int lead = 2;  // planes that a block may be ahead of its neighbours
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
    real* r;
    real* z;
    int nx, ny, nz, pitch;
    real cx;
    real cy;
    real cz;
    real inverse_diagonal;
    real alpha;
    real mean;
    real own_weight;
    real neighbour_weight;
};

// The same with the fields' words beginning `by` words later: at a plane, so that a position in it is a 32-bit number.
__device__ __forceinline__ Arrays moved(Arrays a, wide by) {
    a.r_old += by;
    a.w += by;
    a.r += by;
    a.z += by;
    return a;
}

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

// What is loaded of a cell or of a group of cells: from word `at` of a plane, whose arrays `a` are.
template <typename Word>
struct Loaded {
    Word r_old;
    Word w;
};

__device__ __forceinline__ Loaded<real> load_value(const Arrays& a, unsigned at) {
    return {a.r_old[at], a.w[at]};
}

__device__ __forceinline__ Loaded<Words> load_cells(const Arrays& a, unsigned at) {
    return {load(a.r_old + at), load(a.w + at)};
}

// Rounded by itself: in a sum of neighbours compilers may take a product for half of a multiply-add, and in some forms
// of the kernel do.
__device__ __forceinline__ real product(real a, real b) {
    return __fmul_rn(a, b);
}

// The new residual of a cell; a solid one has none.
__device__ __forceinline__ real new_residual(const Arrays& a, const Loaded<real>& from) {
    const real q = a.inverse_diagonal;
    const real r = fma(-a.alpha, from.w, from.r_old) - a.mean;
    return q == 0 ? real(0) : r;
}

// What the stencil acts on: the residual over the diagonal.
__device__ __forceinline__ real value(const Arrays& a, const Loaded<real>& from) {
    const real q = a.inverse_diagonal;
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
        const Loaded<real> of_cell{from.r_old.at[t], from.w.at[t]};
        result.r.at[t] = new_residual(a, of_cell);
        result.q.at[t] = a.inverse_diagonal;
        result.v.at[t] = product(result.q.at[t], result.r.at[t]);
    }
    return result;
}

// The couplings of a group of cells to their neighbours.
struct Stencil {
    __device__ __forceinline__ void begin(const Arrays& a, int i, int j) {}
    __device__ __forceinline__ void plane(const Arrays& a, int k) {}

    __device__ __forceinline__ real sum(const Arrays& a, int t, real w, real e, real s, real n, real b, real u) const {
        return fma(a.cz, b + u, fma(a.cy, s + n, a.cx * (w + e)));
    }
};

// The new words of a group of cells.
struct Update {
    Words r, z;

    __device__ __forceinline__ void load(const Arrays& a, unsigned at) {}
    __device__ __forceinline__ void set(const Arrays& a, const Cells& c, int t, real sum) {
        r.at[t] = c.r.at[t];
        z.at[t] = fma(-(a.neighbour_weight * c.q.at[t]), sum, a.own_weight * c.v.at[t]);
    }
    __device__ __forceinline__ void add(const Cells& c, int t, real (&to)[sums][words]) const {
        to[0][t] = fma(z.at[t], r.at[t], to[0][t]);
        to[1][t] = fma(r.at[t], r.at[t], to[1][t]);
        to[2][t] = to[2][t] + r.at[t];
    }
    __device__ __forceinline__ void store(const Arrays& a, unsigned at, int count) const {
        ::store(a.r + at, r, count), ::store(a.z + at, z, count);
    }
};

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
    // the block's first threads, each of which looks at one neighbour
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
    __device__ __forceinline__ Pace() : thread(threadIdx.y * block_x + threadIdx.x) {
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

__device__ __forceinline__ wide groups_of_chunk(int nx, int ny) {
    return wide(ny) * ((nx + group_columns - 1) / group_columns);
}

__device__ __forceinline__ wide blocks_of_chunk(int nx, int ny) {
    return (groups_of_chunk(nx, ny) + sums_per_block - 1) / sums_per_block;
}

__device__ __forceinline__ wide blocks_in_range(int nx, int ny, int first, int last) {
    return (last - first + chunk - 1) / chunk * blocks_of_chunk(nx, ny);
}

// How many blocks of sum_groups are finished in this step: behind the sums of all blocks.
__device__ __forceinline__ unsigned* blocks_finished(real* block_sums, int nx, int ny, int nz) {
    return reinterpret_cast<unsigned*>(block_sums + sums * blocks_in_range(nx, ny, 0, nz));
}

// The planes [first, last). A thread has `words` neighbouring cells in each of `rows` rows and goes up the block's
// `z_block` planes. Threads beyond the grid go along, for their neighbours and for the sums; they repeat the loads that
// the boundary names.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) poisson7(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ coefficients,
    real* __restrict__ r,
    real* __restrict__ z,
    real* __restrict__ scalars,
    real* __restrict__ history,
    real* __restrict__ group_sums, real* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y == 0)
        *blocks_finished(block_sums, nx, ny, nz) = 0;
    const Arrays a{r_old, w, r, z, nx, ny, nz, pitch, coefficients[1], coefficients[2], coefficients[3],
        coefficients[4], scalars[scalar::alpha], scalars[scalar::mean], scalars[scalar::own_weight],
        scalars[scalar::neighbour_weight]};
    const wide plane = wide(ny) * pitch;
    const int i = (blockIdx.x * block_x + threadIdx.x) * words, j = (blockIdx.y * block_y + threadIdx.y) * rows;
    const int i_read = min(i, (nx - 1) / words * words);
    const int inside = nx - i;  // the thread's words of a row that lie in the grid, if less than `words`
    const int begin = first + blockIdx.z * z_block, end = min(begin + z_block, last);

    const bool whole = inside >= words && j + rows <= ny;  // all of the thread's cells lie in it
    // Row `row` of the thread's own, or the one before or behind them, in plane k; both may lie one beyond the grid.
    const wide around = source(nz, nz) - (nz - 1);  // planes from the last one to what is above it
    // from plane k to what is above it
    const auto plane_step = [&](int k) { return (unsigned(k) < unsigned(nz - 1) ? 1 : around) * plane; };
    const auto row_start = [&](int row) { return unsigned(source(j + row, ny)) * pitch; };
    const auto load_row = [&](const Arrays& of_plane, int row) {
        return load_cells(of_plane, row_start(row) + i_read);
    };
    const auto to_cells = [&](const Loaded<Words>& from, int row, int k) {
        Cells result = cells(a, from);
        if (is_zero(k, nz) || is_zero(j + row, ny)) result.v = Words{};
        return result;
    };
    const auto cells_of = [&](const Arrays& of_plane, int row, int k) {
        return to_cells(load_row(of_plane, row), row, k);
    };
    // The planes `begin`, and the ones above and below; they go up with the march.
    Arrays at_k = moved(a, begin * plane), at_above = moved(at_k, plane_step(begin));
    Arrays at_below = moved(a, source(begin - 1, nz) * plane);
    // Of the two words beside a warp's part of a row the first thread loads the one before, all others the one behind:
    // a plane early.
    const bool starts = threadIdx.x % segment == 0, ends = threadIdx.x % segment == segment - 1 || inside <= words;
    const int edge_at = starts ? min(i - 1, nx) : min(i + (segment - int(threadIdx.x) % segment) * words, nx);
    const auto load_edge = [&](const Arrays& of_plane, int row) {
        return load_value(of_plane, row_start(row) + source(edge_at, nx));
    };
    const auto edge_value = [&](const Loaded<real>& from) { return is_zero(edge_at, nx) ? real(0) : value(a, from); };

    Pace pace;
    Stencil stencil[rows];
    #pragma unroll
    for (int row = 0; row < rows; ++row) stencil[row].begin(a, i, j + row);
    real partial[rows][sums][words] = {};
    Words below[rows];
    Cells here[rows], above[rows];
    real edge[rows];
    #pragma unroll
    for (int row = 0; row < rows; ++row) {
        below[row] = cells_of(at_below, row, begin - 1).v, here[row] = cells_of(at_k, row, begin);
        edge[row] = edge_value(load_edge(at_k, row));
    }
    Loaded<Words> next[rows];
    #pragma unroll
    for (int row = 0; row < rows; ++row) next[row] = load_row(at_above, row);
    Arrays at_next = begin + 1 < end ? moved(at_above, plane_step(begin + 1)) : at_above;
    // the first and last rows of the threads, of two planes in turn
    __shared__ Words shared_rows[2][block_y][2][block_x];
    int buffer = 0;  // for plane k
    // The rows beside the block's: of the first threads along y the one before theirs, of the last ones the one behind.
    const bool on_rim = threadIdx.y == 0 || threadIdx.y == block_y - 1;
    const int rim_row = threadIdx.y == 0 ? -1 : rows;
    Words rim{};
    if (on_rim) rim = cells_of(at_k, rim_row, begin).v;
    for (int k = begin; k < end; ++k) {
        Loaded<real> next_edge[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) next_edge[row] = load_edge(at_above, row);
        Loaded<Words> next_rim{};
        if (on_rim) next_rim = load_row(at_above, rim_row);
        #pragma unroll
        for (int row = 0; row < rows; ++row) above[row] = to_cells(next[row], row, k + 1);
        #pragma unroll
        for (int row = 0; row < rows; ++row) next[row] = load_row(at_next, row);
        Update update[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            stencil[row].plane(a, k);
            update[row].load(at_k, row_start(row) + i_read);
        }
        pace.keep(k - begin);
        shared_rows[buffer][threadIdx.y][0][threadIdx.x] = here[0].v;
        shared_rows[buffer][threadIdx.y][1][threadIdx.x] = here[rows - 1].v;
        __syncthreads();
        Words south = rim, north = rim;
        if (threadIdx.y > 0) south = shared_rows[buffer][threadIdx.y - 1][1][threadIdx.x];
        if (threadIdx.y < block_y - 1) north = shared_rows[buffer][threadIdx.y + 1][0][threadIdx.x];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            real west = __shfl_up_sync(all_lanes, here[row].v.at[words - 1], 1, segment);
            real east = __shfl_down_sync(all_lanes, here[row].v.at[0], 1, segment);
            // all but the first thread have it, and the last its own
            const real behind = __shfl_down_sync(all_lanes, edge[row], 1, segment);
            west = starts ? edge[row] : west, east = ends ? behind : east;
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
                update[row].add(here[row], t, partial[row]);
            }
        }
        if (whole) {
            #pragma unroll
            for (int row = 0; row < rows; ++row) update[row].store(at_k, row_start(row) + i, words);
        } else {
            #pragma unroll
            for (int row = 0; row < rows; ++row)
                if (j + row < ny) update[row].store(at_k, row_start(row) + i, inside);
        }
        if (unsigned(k - first) % chunk == chunk - 1 || k + 1 == end) {
            const wide groups_of_row = (nx + group_columns - 1) / group_columns;
            const wide groups = (last - first + chunk - 1) / chunk * (ny * groups_of_row);
            #pragma unroll
            for (int row = 0; row < rows; ++row) {
                const wide group = (wide(unsigned(k - first) / chunk) * ny + j + row) * groups_of_row
                    + i / group_columns;
                #pragma unroll
                for (int s = 0; s < sums; ++s) {
                    #pragma unroll
                    for (int t = 0; t < words; ++t)
                        if (t >= inside) partial[row][s][t] = 0;
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
        for (int row = 0; row < rows; ++row)
            below[row] = here[row].v, here[row] = above[row], edge[row] = edge_value(next_edge[row]);
        if (on_rim) rim = to_cells(next_rim, rim_row, k + 1).v;
        buffer = 1 - buffer;
        at_k = moved(at_k, plane);
        at_above = at_next;
        if (k + 2 < end) at_next = moved(at_next, plane_step(k + 2));
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
// whatever the chunks beside. The block that ends last has those of all blocks, per cell of the grid, and what follows
// from them.
extern "C" __global__ void __launch_bounds__(sum_threads) sum_groups(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ coefficients,
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
    double sum[sums] = {};
    #pragma unroll
    for (int n = 0; n < sums_per_block; n += sum_threads)
        #pragma unroll
        for (int s = 0; s < sums; ++s)
            if (n + threadIdx.x < left) sum[s] += double(group_sums[s * groups + begin + n + threadIdx.x]);
    for (int s = 0; s < sums; ++s) {
        sum[s] = sum_of_block(sum[s]);
        if (threadIdx.x == 0) block_sums[blockIdx.x * sums + s] = real(sum[s] / cells_per_block);
    }
    const wide blocks = blocks_in_range(nx, ny, first, last);
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(blocks_finished(block_sums, nx, ny, nz), 1u) + 1 == blocks;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    const volatile real* const of_blocks = block_sums;
    for (int s = 0; s < sums; ++s) {
        sum[s] = 0;
        for (wide n = threadIdx.x; n < blocks; n += sum_threads) sum[s] += double(of_blocks[n * sums + s]);
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
