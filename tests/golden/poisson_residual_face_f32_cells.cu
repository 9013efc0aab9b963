// poisson7: residual, face coefficients, neumann, f32
// hone emit poisson7 kernel=residual coefficients=face boundary=neumann precision=f32 nx=128 ny=128 nz=128 --target
//     cuda --config form=cells,block_x=32,block_y=4,load_bytes=4,rows_per_thread=1,min_blocks=1,z_block=8,
//     cache_hint=cached
// The same text serves every nx, ny, nz and pitch.
// per update: 24 operations, 32 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int words = 1, rows = 1;  // of a thread
constexpr int z_block = 8;         // planes that a block covers
constexpr unsigned all_lanes = 0xffffffff;
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

// The same with the fields' words beginning `by` words later: at a plane, so that a position in it is a 32-bit number.
__device__ __forceinline__ Arrays moved(Arrays a, wide by) {
    a.r_old += by;
    a.w += by;
    a.inverse_diagonal += by;
    a.r += by;
    a.z += by;
    return a;
}

// Which of `cells` cells along an axis number n stands for, which may lie beyond them.
__device__ __forceinline__ int source(int n, int cells) {
    return n < 0 ? 0 : n >= cells ? cells - 1 : n;
}
// Whether it is zero there instead.
__device__ __forceinline__ bool is_zero(int n, int cells) {
    return false;
}

// Neighbouring words of a row, loaded and stored at once.
using vector = float;
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
}

// What is loaded of a cell or of a group of cells: from word `at` of a plane, whose arrays `a` are.
template <typename Word>
struct Loaded {
    Word r_old;
    Word w;
    Word inverse_diagonal;
};

__device__ __forceinline__ Loaded<real> load_value(const Arrays& a, unsigned at) {
    return {a.r_old[at], a.w[at], a.inverse_diagonal[at]};
}

__device__ __forceinline__ Loaded<Words> load_cells(const Arrays& a, unsigned at) {
    return {load(a.r_old + at), load(a.w + at), load(a.inverse_diagonal + at)};
}

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
    Words cx, south, north, below, above;
    real east;
    int i_first, i_beyond, last_inside;
    wide row, next_row;

    // The face behind the last cell is the first one.
    __device__ __forceinline__ void begin(const Arrays& a, int i, int j) {
        const int j_read = min(j, a.ny - 1);
        i_first = min(i, (a.nx - 1) / words * words), i_beyond = i_first + words < a.nx ? i_first + words : 0;
        last_inside = a.nx - 1 - i_first;
        row = wide(j_read) * a.pitch, next_row = j_read + 1 < a.ny ? row + a.pitch : 0;
    }
    __device__ __forceinline__ void plane(const Arrays& a, int k) {
        const wide plane = wide(a.ny) * a.pitch, at = k * plane + row,
            above_at = (k + 1 < a.nz ? k + 1 : 0) * plane + row;
        cx = load_once(a.cx + at + i_first), east = a.cx[at + i_beyond];
        south = load(a.cy + at + i_first), north = load(a.cy + k * plane + next_row + i_first);
        below = load(a.cz + at + i_first), above = load(a.cz + above_at + i_first);
    }

    __device__ __forceinline__ real sum(const Arrays& a, int t, real w, real e, real s, real n, real b, real u) const {
        const real cx_east = t + 1 < words && t < last_inside ? cx.at[t + 1 < words ? t + 1 : t] : east;
        const real in_row = fma(cx_east, e, cx.at[t] * w), in_plane = fma(north.at[t], n, fma(south.at[t], s, in_row));
        return fma(above.at[t], u, fma(below.at[t], b, in_plane));
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
    if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y == 0)
        *blocks_finished(block_sums, nx, ny, nz) = 0;
    const Arrays a{r_old, w, cx, cy, cz, inverse_diagonal, r, z, nx, ny, nz, pitch, scalars[scalar::alpha],
        scalars[scalar::mean], scalars[scalar::own_weight], scalars[scalar::neighbour_weight]};
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
    const auto word_beside = [&](int row, int at) {
        return is_zero(at, nx) ? real(0) : value(a, load_value(at_k, row_start(row) + source(at, nx)));
    };

    Stencil stencil[rows];
    #pragma unroll
    for (int row = 0; row < rows; ++row) stencil[row].begin(a, i, j + row);
    real partial[rows][sums][words] = {};
    Words below[rows];
    Cells here[rows], above[rows];
    for (int k = begin; k < end; ++k) {
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            below[row] = cells_of(at_below, row, k - 1).v;
            here[row] = cells_of(at_k, row, k), above[row] = cells_of(at_above, row, k + 1);
        }
        Update update[rows];
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            stencil[row].plane(a, k);
            update[row].load(at_k, row_start(row) + i_read);
        }
        const Words south = cells_of(at_k, -1, k).v, north = cells_of(at_k, rows, k).v;
        #pragma unroll
        for (int row = 0; row < rows; ++row) {
            const real west = word_beside(row, min(i - 1, nx)), east = word_beside(row, min(i + words, nx));
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
        at_below = at_k, at_k = at_above, at_above = moved(at_above, plane_step(k + 1));
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
