// poisson7: apply_dot, axis coefficients, periodic, f32
// hone emit poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f32 nx=128 ny=128 nz=128 --target
//     cuda --config form=march,block_x=32,block_y=8,load_bytes=16,rows_per_thread=1,prefetch=1,min_blocks=4,
//     z_block=64,cache_hint=cached,l2_planes=0
// The same text serves every nx, ny, nz and pitch.
// per update: 12 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 8, threads_per_block = block_x * block_y, min_blocks = 4;
constexpr int words = 4, rows = 1;  // of a thread
constexpr int z_block = 64;         // planes that a block covers
constexpr unsigned all_lanes = 0xffffffff;
constexpr int segment = 32;         // lanes of a warp in the same row
constexpr int sums = 1, chunk = 8, group_columns = 32, group_lanes = group_columns / words;
constexpr int sums_per_block = 1024, cells_per_block = 262144, sum_threads = 256;

// What the cells' updates take of the arguments.
struct Arrays {
    const real* p;
    const real* cx;
    const real* cy;
    const real* cz;
    const real* diagonal;
    real* w;
    real* dot;
    int nx, ny, nz, pitch;
};

// The same with the fields' words beginning `by` words later: at a plane, so that a position in it is a 32-bit number.
__device__ __forceinline__ Arrays moved(Arrays a, wide by) {
    a.p += by;
    a.diagonal += by;
    a.w += by;
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

// Words that are used once, and need not stay in the caches.
__device__ __forceinline__ Words load_once(const real* from) {
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
        *reinterpret_cast<vector*>(to) = all;
        return;
    }
    #pragma unroll
    for (int t = 0; t < words; ++t)
        if (t < count) to[t] = from.at[t];
}

__device__ __forceinline__ Words load_diagonal(const Arrays& a, unsigned at) {
    return load_once(a.diagonal + at);
}

// What is loaded of a cell or of a group of cells: from word `at` of a plane, whose arrays `a` are.
template <typename Word>
struct Loaded {
    Word p;
};

__device__ __forceinline__ Loaded<real> load_value(const Arrays& a, unsigned at) {
    return {a.p[at]};
}

__device__ __forceinline__ Loaded<Words> load_cells(const Arrays& a, unsigned at) {
    return {load(a.p + at)};
}

// What the stencil acts on: p.
__device__ __forceinline__ real value(const Arrays& , const Loaded<real>& from) {
    return from.p;
}

// Of a group of cells, with what else their update takes of the same words.
struct Cells {
    Words v;
};

__device__ __forceinline__ Cells cells(const Arrays& a, const Loaded<Words>& from) {
    Cells result;
    #pragma unroll
    for (int t = 0; t < words; ++t) {
        const Loaded<real> of_cell{from.p.at[t]};
        result.v.at[t] = value(a, of_cell);
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
    Words diagonal, w;

    __device__ __forceinline__ void load(const Arrays& a, unsigned at) { diagonal = load_diagonal(a, at); }
    __device__ __forceinline__ void set(const Arrays& a, const Cells& c, int t,
        real sum) { w.at[t] = fma(diagonal.at[t], c.v.at[t], sum); }
    __device__ __forceinline__ void add(const Cells& c, int t,
        real (&to)[sums][words]) const { to[0][t] = fma(c.v.at[t], w.at[t], to[0][t]); }
    __device__ __forceinline__ void store(const Arrays& a, unsigned at, int count) const { ::store(a.w + at, w, count);
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
    const real* __restrict__ p,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ diagonal,
    real* __restrict__ w,
    real* __restrict__ dot,
    real* __restrict__ group_sums, real* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y == 0)
        *blocks_finished(block_sums, nx, ny, nz) = 0;
    const Arrays a{p, cx, cy, cz, diagonal, w, dot, nx, ny, nz, pitch};
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
    const auto load_row =
        [&](const Arrays& of_plane, int row) { return load_cells(of_plane, row_start(row) + i_read); };
    const auto to_cells = [&](const Loaded<Words>& from, int row, int k) {
        Cells result = cells(a, from);
        if (is_zero(k, nz) || is_zero(j + row, ny)) result.v = Words{};
        return result;
    };
    const auto cells_of =
        [&](const Arrays& of_plane, int row, int k) { return to_cells(load_row(of_plane, row), row, k); };
    // The planes `begin`, and the ones above and below; they go up with the march.
    Arrays at_k = moved(a, begin * plane), at_above = moved(at_k, plane_step(begin));
    Arrays at_below = moved(a, source(begin - 1, nz) * plane);
    // Of the two words beside a warp's part of a row the first thread loads the one before, all others the one behind:
    // a plane early.
    const bool starts = threadIdx.x % segment == 0, ends = threadIdx.x % segment == segment - 1 || inside <= words;
    const int edge_at = starts ? min(i - 1, nx) : min(i + (segment - int(threadIdx.x) % segment) * words, nx);
    const auto load_edge =
        [&](const Arrays& of_plane, int row) { return load_value(of_plane, row_start(row) + source(edge_at, nx)); };
    const auto edge_value = [&](const Loaded<real>& from) { return is_zero(edge_at, nx) ? real(0) : value(a, from); };

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
    for (int k = begin; k < end; ++k) {
        Loaded<real> next_edge[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) next_edge[row] = load_edge(at_above, row);
        #pragma unroll
        for (int row = 0; row < rows; ++row) above[row] = cells_of(at_above, row, k + 1);
        Update update[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            stencil[row].plane(a, k);
            update[row].load(at_k, row_start(row) + i_read);
        }
        const Words south = cells_of(at_k, -1, k).v, north = cells_of(at_k, rows, k).v;
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
        at_k = moved(at_k, plane);
        at_above = moved(at_above, plane_step(k + 1));
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
    const real* __restrict__ p,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ diagonal,
    real* __restrict__ w,
    real* __restrict__ dot,
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
    dot[0] = real(sum[0]);
}
