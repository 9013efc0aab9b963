// gauss_seidel_27: variable stencil, f32
// hone emit gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=walk,
//     staging=registers,warps_per_row=4,points_per_thread=4,stencil_in=read_only,min_blocks=2,blocks_per_plane=0
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 120 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 2;
constexpr int z_block = 2;            // planes that a block covers
constexpr int points_per_thread = 4;  // along x
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;
constexpr unsigned all_lanes = 0xffffffff;

using vector = float4;
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
        reinterpret_cast<vector*>(&group)[i] = __ldg(reinterpret_cast<const vector*>(from) + i);
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

// Blocks that share a plane walk through a part of its rows each, in steps of two rows that are named by the odd one,
// which comes first. A part begins with an odd row b, which needs the old values of row b - 1. The part in front also
// takes step b, in which row b - 1 is finished with the new values of row b, and does not store row b.
//
// Both do the same operations as one block would. The old values that they need of each other may be overwritten
// meanwhile, so that a launch of its own keeps rows b - 1 to b + 1 in a table before anybody writes. Nobody waits.
constexpr int rows_before = 1, rows_kept = 3, warm_up_rows = 0;

// Blocks have equal shares of the steps of all planes of a launch, one plane after the other. A share may end within a
// plane, where the next one begins.
struct Shares {
    int z_first, planes;  // every second plane from z_first on
    // steps of a plane; where shares would be of a few steps alone, less blocks than all have one
    int steps, all, blocks;

    // Planes whose rows the launch updates: `later` of the later colours or of the earlier ones.
    __device__ __forceinline__ Shares(int first, int last, int ny, int later, int shares) : steps((ny + 1) / 2 + 1),
        all(shares) {
        constexpr int fewest_steps = 4;
        z_first = first + (first + later) % 2 + 1;
        planes = max(last + 2 - z_first, 0) / 2;
        blocks = max(int(min(wide(shares), wide(planes) * steps / fewest_steps)), 1);
    }

    // The step, counted through all planes, with which a share begins: not with a plane's second or last one.
    __device__ __forceinline__ int begin(int share) const {
        const int step = int(wide(planes) * steps * min(share, blocks) / blocks), within = step % steps;
        return within == 1 ? step - 1 : within == steps - 1 ? step + 1 : step;
    }
    __device__ __forceinline__ int plane_of(int step) const { return z_first + 2 * (step / steps); }
    __device__ __forceinline__ int row_of(int step) const { return 1 + 2 * (step % steps); }
};

// Where in `kept_rows` a plane would begin if the rows kept beside the first one of a share were rows of it: they are
// found as in u.
__device__ __forceinline__ wide kept_plane(const Shares& shares, int share, int pitch, int later) {
    const int first_kept = shares.row_of(shares.begin(share)) - rows_before;
    return ((later * wide(shares.all) + share) * rows_kept - first_kept) * pitch;
}

extern "C" __global__ void __launch_bounds__(128) gauss_seidel_27_keep_rows(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* kept_rows,
    int nx, int ny, int nz, int pitch, int first, int last, int all_shares
) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * points_per_thread, share = blockIdx.y, later = blockIdx.z;
    const Shares shares(first, last, ny, later, all_shares);
    if (x >= pitch || share >= shares.blocks) return;
    const int step = shares.begin(share), first_row = shares.row_of(step);
    if (first_row == 1) return;
    const real* const from = u + shares.plane_of(step) * wide(ny + 2) * pitch + x;
    const wide to = kept_plane(shares, share, pitch, later) + x;
    #pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        const wide row = (first_row - rows_before + i) * wide(pitch);
        *reinterpret_cast<Group*>(kept_rows + to + row) = load(from + row);
    }
}

// The part of a plane that a block brings up to date.
struct Part {
    int first_row, last_row;  // what lies beyond the grid belongs to the first and the last part
    int first_step, warm_up, last_step;
    const real *kept_before, *kept_behind;

    // From a step of a share on, to the end of the plane or of the share.
    __device__ __forceinline__ Part(const real* kept_rows, const Shares& shares, int share, int step, int pitch,
        int later) {
        const int end = min(shares.begin(share + 1), (step / shares.steps + 1) * shares.steps);
        const bool is_first = step % shares.steps == 0, is_last = end % shares.steps == 0;
        first_row = is_first ? 0 : shares.row_of(step);
        first_step = max(first_row, 1);
        warm_up = max(first_row - warm_up_rows, 1);
        last_step = is_last ? 2 * shares.steps - 1 : shares.row_of(end);
        last_row = is_last ? last_step + 1 : last_step - 1;
        kept_before = kept_rows + kept_plane(shares, share, pitch, later);
        kept_behind = kept_rows + kept_plane(shares, min(share + 1, shares.blocks - 1), pitch, later);
    }

    __device__ __forceinline__ bool owns(int y) const { return y >= first_row && y <= last_row; }

    // The plane of which row y, up to the one after the last step's, has the values from before the launch.
    __device__ __forceinline__ const real* old(const real* u_plane, int y) const {
        return y < first_row ? kept_before : y > last_row ? kept_behind : u_plane;
    }
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
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* kept_rows,
    int nx, int ny, int nz, int pitch, int first, int last, int z_parity, int all_shares
) {
    const wide plane = wide(ny + 2) * pitch;
    const Shares shares(first, last, ny, z_parity, all_shares);
    const int share = blockIdx.y;
    Turn turn;
    for (int step = shares.begin(share); step < shares.begin(share + 1);
        step = (step / shares.steps + 1) * shares.steps) {
        const int z = shares.plane_of(step);
        const Part part(kept_rows, shares, share, step, pitch, z_parity);
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
            // The stencil has no boundary. Behind the last step's row only u is needed: instead of coefficients in
            // vain, that row's come once more.
            const real* const s = stencil + ((z - 1) * wide(ny) + min(row, min(ny, part.last_step)) - 1) * pitch
                + x_read;
            return Row(part.old(u_plane, row) + at, f_plane + at, s, nz * wide(ny) * pitch);
        };
        const auto below_at =
            [&](int y) { return Span(load(u_plane - plane + min(y, ny + 1) * wide(pitch) + x_read)); };
        const auto above_at =
            [&](int y) { return Span(load(u_plane + plane + min(y, ny + 1) * wide(pitch) + x_read)); };

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
}
