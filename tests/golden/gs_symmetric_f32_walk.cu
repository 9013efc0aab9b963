// gauss_seidel_27: symmetric stencil, f32
// hone emit gauss_seidel_27 stencil=symmetric precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=walk,
//     staging=registers,warps_per_row=6,points_per_thread=2,stencil_in=streaming,min_blocks=1,blocks_per_plane=1
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 68 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 6, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 2;            // planes that a block covers
constexpr int points_per_thread = 2;  // along x
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;
constexpr unsigned all_lanes = 0xffffffff;

using vector = float2;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(8) Group {
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

// The same for coefficients that the blocks of two planes use: they are to stay in the caches.
__device__ __forceinline__ Group load_coupling(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
        reinterpret_cast<vector*>(&group)[i] = __ldg(reinterpret_cast<const vector*>(from) + i);
    return group;
}

__device__ __forceinline__ Three load_three_couplings(const real* from, wide stride) {
    return {load_coupling(from), load_coupling(from + stride), load_coupling(from + 2 * stride)};
}

// A thread's group of a row with its right-hand side, and the coefficients that are stored with its points and with
// those below them.
struct Row {
    Group own, right_side, below;
    Group reciprocal, east;  // coefficients 13 and 14
    Three north;             // 15 to 17: for the row to the north
    Three up[3];             // 18 to 26: for the plane above, rows to the south, at the same y, to the north
    Three from_below[3];     // the same of the points below: for this plane

    // `s` is the group's first coefficient, `stride` the words to the next one.
    __device__ __forceinline__ Row(const real* u, const real* f, const real* s, wide stride, wide plane)
        : own(load(u)), right_side(load(f)), below(load(u - plane)), reciprocal(load_stencil(s)),
            east(load_stencil(s + stride)),
          north(load_three(s + 2 * stride, stride)) {
        #pragma unroll
        for (int row = 0; row < 3; ++row) {
            const real* const coupling = s + (5 + 3 * row) * stride;
            up[row] = load_three_couplings(coupling, stride);
            from_below[row] = load_three_couplings(coupling - plane, stride);
        }
    }
};

// What the points of a group still lack: f less the terms summed up so far. A group that has the coefficients for its
// neighbours *scatters* its terms, and hands those for the groups beside over to them in the end.
struct Sums {
    Group rest = {};
    real to_left = 0, to_right = 0;

    __device__ __forceinline__ void begin(const Group& right_side) {
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) rest.word[i] += right_side.word[i];
    }

    // Terms of the group's values in another row, with their coefficients for this row.
    __device__ __forceinline__ void scatter(const Group& u, const Three& s) {
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) {
            rest.word[i] = fma(-s.centre.word[i], u.word[i], rest.word[i]);
            if (i > 0)
                rest.word[i - 1] = fma(-s.west.word[i], u.word[i], rest.word[i - 1]);
            else
                to_left = fma(s.west.word[i], u.word[i], to_left);
            if (i + 1 < points_per_thread)
                rest.word[i + 1] = fma(-s.east.word[i], u.word[i], rest.word[i + 1]);
            else
                to_right = fma(s.east.word[i], u.word[i], to_right);
        }
    }

    // With the terms of the groups beside.
    __device__ __forceinline__ Group handed_over() const {
        Group result = rest;
        result.word[0] -= __shfl_up_sync(all_lanes, to_right, 1);
        result.word[points_per_thread - 1] -= __shfl_down_sync(all_lanes, to_left, 1);
        return result;
    }
};

// Both colours of a row's group at x, points of odd x first; outside [1, nx] the values stay.
__device__ __forceinline__ Group updated(const Sums& sums, const Group& old, const Group& reciprocal, const Group& east,
    int x, int nx) {
    constexpr int last = points_per_thread - 1;
    Group rest = sums.handed_over(), result = old;
    const Span before(old);
    #pragma unroll
    for (int i = 1; i < points_per_thread; i += 2) {
        const real sum = fma(-east.word[i - 1], before.word[i], fma(-east.word[i], before.word[i + 2], rest.word[i]));
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * reciprocal.word[i];
    }
    rest.word[0] -= __shfl_up_sync(all_lanes, east.word[last] * result.word[last], 1);
    #pragma unroll
    for (int i = 0; i < points_per_thread; i += 2) {
        real sum = fma(-east.word[i], result.word[i + 1], rest.word[i]);
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * reciprocal.word[i];
    }
    return result;
}

// All four colours of a plane. A block owns whole rows of it and walks along y, so that every row of the three planes,
// of f and of the coefficients of this plane and the one below is read once; what a row leaves to later ones stays in
// registers. Warps overlap by `halo_lanes` at each end, so that neighbours come by shuffles.
//
// Why the block may write what it reads: a row is read by everybody, behind a barrier, before anybody writes it, and
// nobody else writes plane z.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_walk(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    int nx, int ny, int nz, int pitch, int first, int last, int z_parity
) {
    const wide plane = wide(ny + 2) * pitch;
    const int block_first = first + blockIdx.z * z_block;
    const int z = 1 + block_first + (block_first + z_parity) % 2;
    if (z > last) return;
    Turn turn;
    const int lane = threadIdx.x;
    const int x = int(threadIdx.y) * words_per_warp + (lane - halo_lanes) * points_per_thread;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    const int x_read = max(0, min(x, x_last));
    const bool stores = lane >= halo_lanes && lane < 32 - halo_lanes;
    real* const u_plane = u + z * plane;
    const real* const f_plane = f + z * plane;
    const real* const s_plane = stencil + z * plane;
    const wide stride = (nz + 2) * plane;
    const auto row_at = [&](int y) {
        const wide at = min(y, ny + 1) * wide(pitch) + x_read;
        return Row(u_plane + at, f_plane + at, s_plane + at, stride, plane);
    };
    const auto above_at = [&](int y) { return Span(load(u_plane + plane + min(y, ny + 1) * wide(pitch) + x_read)); };

    // Row 0 is the boundary. In the loop, odd and even are rows y and y - 1; the even one lacks the new values of row
    // y, and some terms from below.
    Sums odd, even;
    Group old_even = load(u_plane + x_read), even_reciprocal = {}, even_east = {};
    Three even_north = {};
    turn.wait_for_row(1);
    odd.scatter(old_even, load_three(s_plane + x_read + 2 * stride, stride));
    odd.scatter(load(u_plane - plane + x_read), load_three_couplings(s_plane - plane + x_read + 11 * stride, stride));
    Span above_south = above_at(0), above_own = above_at(1);
    for (int y = 1; y <= ny + 1; y += 2) {
        turn.wait_for_row(y + 2);
        const Row row = row_at(y), next = row_at(y + 1);
        const Span above_next = above_at(y + 1), above_after = above_at(y + 2);
        __syncthreads();
        turn.finished_row(y - 2);

        odd.begin(row.right_side);
        odd.scatter(row.below, row.from_below[1]);
        odd.scatter(next.below, next.from_below[0]);
        gather(odd.rest, Span(next.own), row.north);
        gather(odd.rest, above_south, row.up[0]);
        gather(odd.rest, above_own, row.up[1]);
        gather(odd.rest, above_next, row.up[2]);
        Group fresh = updated(odd, row.own, row.reciprocal, row.east, x, nx);
        if (y > ny) fresh = row.own;
        even.scatter(row.below, row.from_below[0]);
        gather(even.rest, Span(fresh), even_north);
        const Group behind = updated(even, old_even, even_reciprocal, even_east, x, nx);
        if (stores && y <= ny) store(u_plane + y * wide(pitch), x, nx, fresh);
        if (stores && y > 1) store(u_plane + (y - 1) * wide(pitch), x, nx, behind);

        even = Sums();
        even.begin(next.right_side);
        even.scatter(fresh, row.north);
        even.scatter(row.below, row.from_below[2]);
        even.scatter(next.below, next.from_below[1]);
        gather(even.rest, above_own, next.up[0]);
        gather(even.rest, above_next, next.up[1]);
        gather(even.rest, above_after, next.up[2]);
        even_reciprocal = next.reciprocal;
        even_east = next.east;
        even_north = next.north;
        old_even = next.own;
        odd = Sums();
        odd.scatter(next.below, next.from_below[2]);
        odd.scatter(next.own, next.north);
        above_south = above_next;
        above_own = above_after;
    }
    turn.finished_last_row();
}
