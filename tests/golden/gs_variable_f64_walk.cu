// gauss_seidel_27: variable stencil, f64
// hone emit gauss_seidel_27 stencil=variable precision=f64 nx=96 ny=96 nz=96 --target cuda --config form=walk,
//     staging=registers,warps_per_row=6,points_per_thread=2,stencil_in=streaming,min_blocks=1,blocks_per_plane=1
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 240 bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 6, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 2;            // planes that a block covers
constexpr int points_per_thread = 2;  // along x
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;
constexpr unsigned all_lanes = 0xffffffff;

using vector = double2;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(16) Group {
    real word[points_per_thread];
};
constexpr int vectors = sizeof(Group) / sizeof(vector);

__device__ __forceinline__ Group load(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
        reinterpret_cast<vector*>(&group)[i] = *(reinterpret_cast<const vector*>(from) + i);
    return group;
}

__device__ __forceinline__ Group load_stencil(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
        reinterpret_cast<vector*>(&group)[i] = __ldcs(reinterpret_cast<const vector*>(from) + i);
    return group;
}

// Stores the interior points of the group at x.
__device__ __forceinline__ void store(real* row, int x, int nx, const Group& group) {
    if (x > 0 && x + points_per_thread - 1 <= nx) {
        #pragma unroll
        for (int i = 0; i < vectors; ++i)
            reinterpret_cast<vector*>(row + x)[i] = reinterpret_cast<const vector*>(&group)[i];
        return;
    }
    #pragma unroll
    for (int i = 0; i < points_per_thread; ++i) {
        if (x + i > 0 && x + i <= nx) row[x + i] = group.word[i];
    }
}

// A group with the words beside it, which the lanes beside have.
struct Span {
    real word[points_per_thread + 2];

    __device__ __forceinline__ explicit Span(const Group& group) {
        word[0] = __shfl_up_sync(all_lanes, group.word[points_per_thread - 1], 1);
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) word[i + 1] = group.word[i];
        word[points_per_thread + 1] = __shfl_down_sync(all_lanes, group.word[0], 1);
    }
};

// Coefficients of a group's points for the three neighbours in one row.
struct Three {
    Group west, centre, east;
};

__device__ __forceinline__ Three load_three(const real* from, wide stride) {
    return {load_stencil(from), load_stencil(from + stride), load_stencil(from + 2 * stride)};
}

// Subtracts the terms of the three neighbours in row `u`.
__device__ __forceinline__ void gather(Group& rest, const Span& u, const Three& s) {
    #pragma unroll
    for (int i = 0; i < points_per_thread; ++i)
        rest.word[i] =
            fma(-s.west.word[i], u.word[i],
            fma(-s.centre.word[i], u.word[i + 1], fma(-s.east.word[i], u.word[i + 2], rest.word[i])));
}

// What a block has to do with those of the planes beside it: nothing, these planes keep their values.
struct Turn {
    __device__ __forceinline__ void wait_for_row(int) {}
    __device__ __forceinline__ void finished_row(int) const {}
    __device__ __forceinline__ void finished_last_row() const {}
};

// The part of a plane that a block brings up to date: all rows. Steps of two rows are named by the odd one, which comes
// first; the last one is that in which both neighbours of the last row have had their turn.
struct Part {
    int first_step = 1, warm_up = 1, last_step;

    __device__ __forceinline__ explicit Part(int ny) : last_step((ny + 1) / 2 * 2 + 1) {}

    __device__ __forceinline__ bool owns(int) const { return true; }

    // The plane of which row y has the values from before the launch.
    __device__ __forceinline__ const real* old(const real* u_plane, int) const { return u_plane; }
};

// A thread's group of a row, with its right-hand side and coefficients: s[4] are those of the row itself.
struct Row {
    Group own, right_side;
    Three s[9];

    __device__ __forceinline__ Row(const real* u, const real* f, const real* stencil, wide stride) : own(load(u)),
        right_side(load(f)) {
        #pragma unroll
        for (int row = 0; row < 9; ++row) s[row] = load_three(stencil + 3 * row * stride, stride);
    }
};

// Three rows of a plane beside: to the south, at the same y, to the north.
struct Beside {
    Span south, middle, north;
};

// f less the terms of the planes below and above.
__device__ __forceinline__ Group rest_of(const Row& row, const Beside& below, const Beside& above) {
    Group rest = row.right_side;
    gather(rest, below.south, row.s[0]);
    gather(rest, below.middle, row.s[1]);
    gather(rest, below.north, row.s[2]);
    gather(rest, above.south, row.s[6]);
    gather(rest, above.middle, row.s[7]);
    gather(rest, above.north, row.s[8]);
    return rest;
}

// Both colours of a row's group at x, points of odd x first; outside [1, nx] the values stay. `s` are the row's own
// coefficients.
__device__ __forceinline__ Group updated(const Group& rest, const Group& old, const Three& s, int x, int nx) {
    Group result = old;
    const Span before(old);
    #pragma unroll
    for (int i = 1; i < points_per_thread; i += 2) {
        const real sum = fma(-s.west.word[i], before.word[i], fma(-s.east.word[i], before.word[i + 2], rest.word[i]));
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * s.centre.word[i];
    }
    const Span between(result);
    #pragma unroll
    for (int i = 0; i < points_per_thread; i += 2) {
        const real sum = fma(-s.west.word[i], between.word[i], fma(-s.east.word[i], between.word[i + 2], rest.word[i]));
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * s.centre.word[i];
    }
    return result;
}

// All four colours of a plane. A block owns whole rows of it and walks along y, so that every row of the three planes,
// of f and of the stencil is read once; what a row leaves to later ones stays in registers. Warps overlap by
// `halo_lanes` at each end, so that neighbours come by shuffles.
//
// Why the block may write what it reads: a row is read by everybody, behind a barrier, before anybody writes it, and
// nobody else writes its part.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_walk(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    int nx, int ny, int nz, int pitch, int first, int last, int z_parity
) {
    const wide plane = wide(ny + 2) * pitch;
    const int block_first = first + blockIdx.z * z_block;
    const int z = 1 + block_first + (block_first + z_parity) % 2;
    if (z > last) return;
    Turn turn;
    const Part part(ny);
    const int lane = threadIdx.x;
    const int x = int(threadIdx.y) * words_per_warp + (lane - halo_lanes) * points_per_thread;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    const int x_read = max(0, min(x, x_last));
    const bool stores = lane >= halo_lanes && lane < 32 - halo_lanes;
    real* const u_plane = u + z * plane;
    const real* const f_plane = f + z * plane;
    const auto row_at = [&](int y) {
        const int row = min(y, ny + 1);
        const wide at = row * wide(pitch) + x_read;
        // The stencil has no boundary. Behind the last step's row only u is needed: instead of coefficients in vain,
        // that row's come once more.
        const real* const s = stencil + ((z - 1) * wide(ny) + min(row, min(ny, part.last_step)) - 1) * pitch + x_read;
        return Row(part.old(u_plane, row) + at, f_plane + at, s, nz * wide(ny) * pitch);
    };
    const auto below_at = [&](int y) { return Span(load(u_plane - plane + min(y, ny + 1) * wide(pitch) + x_read)); };
    const auto above_at = [&](int y) { return Span(load(u_plane + plane + min(y, ny + 1) * wide(pitch) + x_read)); };

    // Row 0 is the boundary. In the loop, the even row is y - 1: what it lacks are the new values of row y.
    const int begin = part.warm_up;
    Group old_even = load(part.old(u_plane, begin - 1) + (begin - 1) * wide(pitch) + x_read), even_rest = {};
    Three even_own = {}, even_north = {};
    turn.wait_for_row(1);
    Span below_south = below_at(begin - 1), below_own = below_at(begin), above_south = above_at(begin - 1),
        above_own = above_at(begin);
    for (int y = begin; y <= min(ny + 1, part.last_step); y += 2) {
        turn.wait_for_row(y + 2);
        const Row row = row_at(y), next = row_at(y + 1);
        const Span below_next = below_at(y + 1), below_after = below_at(y + 2), above_next = above_at(y + 1),
            above_after = above_at(y + 2);
        __syncthreads();
        turn.finished_row(y - 2);

        Group rest = rest_of(row, {below_south, below_own, below_next}, {above_south, above_own, above_next});
        gather(rest, Span(old_even), row.s[3]);
        gather(rest, Span(next.own), row.s[5]);
        Group fresh = updated(rest, row.own, row.s[4], x, nx);
        if (y > ny) fresh = row.own;
        const Span fresh_span(fresh);
        gather(even_rest, fresh_span, even_north);
        const Group behind = updated(even_rest, old_even, even_own, x, nx);
        if (stores && y <= ny && part.owns(y)) store(u_plane + y * wide(pitch), x, nx, fresh);
        if (stores && y > begin) store(u_plane + (y - 1) * wide(pitch), x, nx, behind);

        even_rest = rest_of(next, {below_own, below_next, below_after}, {above_own, above_next, above_after});
        gather(even_rest, fresh_span, next.s[3]);
        even_own = next.s[4];
        even_north = next.s[5];
        old_even = next.own;
        below_south = below_next;
        below_own = below_after;
        above_south = above_next;
        above_own = above_after;
    }
    turn.finished_last_row();
}
