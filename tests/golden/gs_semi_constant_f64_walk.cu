// gauss_seidel_27: semi_constant stencil, f64
// hone emit gauss_seidel_27 stencil=semi_constant precision=f64 nx=96 ny=96 nz=96 --target cuda --config form=walk,
//     staging=registers,warps_per_row=4,points_per_thread=2,stencil_in=read_only,min_blocks=1,copied_by=thread,
//     stages=2
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 24 + 216 / nx bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 2;            // planes that a block covers
constexpr int points_per_thread = 2;  // along x
constexpr int pairs = points_per_thread / 2;
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    const real* from;

    __device__ __forceinline__ real operator[](int k) const { return __ldg(from + k); }
};

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

// What the points of a group still lack: f less the terms summed up so far. A neighbouring group hands over a sum of
// products. Points of odd x have the earlier colour of a row.
struct Sums {
    real odd[pairs] = {}, even[pairs] = {};
    real to_left[pairs] = {};   // terms of even points for the odd point on their left
    // terms of odd points for the even point on their right: new ones of their own row are added last
    real to_right[pairs] = {};

    // The row itself, with its old values.
    __device__ __forceinline__ void begin(const Group& own, const Group& right_side, const Coefficients& s) {
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            odd[pair] = fma(-s[12], own.word[2 * pair], odd[pair] + right_side.word[2 * pair + 1]);
            even[pair] += right_side.word[2 * pair];
            to_left[pair] = fma(s[14], own.word[2 * pair], to_left[pair]);
        }
    }

    // One of the eight rows around it, with coefficients k to k + 2.
    __device__ __forceinline__ void add(const Group& group, const Coefficients& s, int k) {
        const real west = s[k], centre = s[k + 1], east = s[k + 2];
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            const real at_even = group.word[2 * pair], at_odd = group.word[2 * pair + 1];
            odd[pair] = fma(-west, at_even, fma(-centre, at_odd, odd[pair]));
            even[pair] = fma(-centre, at_even, fma(-east, at_odd, even[pair]));
            to_left[pair] = fma(east, at_even, to_left[pair]);
            to_right[pair] = fma(west, at_odd, to_right[pair]);
        }
    }
};

// Both colours of a row's group at x; outside [1, nx] the values stay.
__device__ __forceinline__ Group updated(Sums sums, const Group& old, const Coefficients& s, int x, int nx) {
    constexpr unsigned all_lanes = 0xffffffff;
    Group result;
    const real from_right = __shfl_down_sync(all_lanes, sums.to_left[0], 1);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real right = pair + 1 < pairs ? sums.to_left[(pair + 1) % pairs] : from_right;
        const int at = x + 2 * pair + 1;
        result.word[2 * pair + 1] = at >= 1 && at <= nx ? (sums.odd[pair] - right) * s[13] : old.word[2 * pair + 1];
        sums.to_right[pair] = fma(s[12], result.word[2 * pair + 1], sums.to_right[pair]);
    }
    const real from_left = __shfl_up_sync(all_lanes, sums.to_right[pairs - 1], 1);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real left = pair > 0 ? sums.to_right[(pair + pairs - 1) % pairs] : from_left;
        const int at = x + 2 * pair;
        const real value = fma(-s[14], result.word[2 * pair + 1], sums.even[pair] - left) * s[13];
        result.word[2 * pair] = at >= 1 && at <= nx ? value : old.word[2 * pair];
    }
    return result;
}

// A thread's groups of row y in three planes of u, and in f.
struct Row {
    Group below, own, above, right_side;
};

// What a block has to do with those of the planes beside it: nothing, these planes keep their values.
struct Turn {
    __device__ __forceinline__ void wait_for_row(int) {}
    __device__ __forceinline__ void finished_row(int) const {}
    __device__ __forceinline__ void finished_last_row() const {}
};

// Rows come straight from memory, two of them ahead.
struct Rows {
    const real *u, *f;  // the thread's group in row 0
    wide plane;
    int pitch, ny;
    Turn turn;
    Row ahead[2];

    __device__ __forceinline__ Rows(const real* u_row, const real* f_row, wide plane_words, int pitch_words, int rows,
        const Turn& block_turn)
        : u(u_row), f(f_row), plane(plane_words), pitch(pitch_words), ny(rows), turn(block_turn),
            ahead{fetch(1), fetch(2)}
    {
    }

    __device__ __forceinline__ Row fetch(int y) {
        turn.wait_for_row(y);
        const wide at = min(y, ny + 1) * wide(pitch);
        return {load(u + at - plane), load(u + at), load(u + at + plane), load(f + at)};
    }

    // Row y; `second` is 1 for every second row. Rows up to y + 2 are read before anybody writes row y - 1 or y.
    template <int second>
    __device__ __forceinline__ Row take(int y) {
        const Row row = ahead[second];
        ahead[second] = fetch(y + 2);
        if (second == 1) {
            __syncthreads();
            turn.finished_row(y - 3);
        }
        return row;
    }
};

// All four colours of a plane. A block owns whole rows of it and walks along y; sums of three rows are carried in
// registers, so that every row of the three planes and of f is read once. Warps overlap by `halo_lanes` at each end, so
// that neighbours come by shuffles.
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
    const auto stencil_of_row = [&](int row) {
        return Coefficients{stencil + ((z - 1) * wide(ny) + min(max(row, 1), ny) - 1) * 32};
    };
    Rows rows(u_plane + x_read, f_plane + x_read, plane, pitch, ny, turn);

    // Row 0 is the boundary: odd and even rows are y and y - 1 in the loop.
    Sums odd, even;
    Group old_even = load(u_plane + x_read);
    {
        const Coefficients& s_own = stencil_of_row(1);
        odd.add(load(u_plane - plane + x_read), s_own, 0);
        odd.add(old_even, s_own, 9);
        odd.add(load(u_plane + plane + x_read), s_own, 18);
    }
    for (int y = 1; y <= ny + 1; y += 2) {
        const Coefficients &s_behind = stencil_of_row(y - 1), &s_own = stencil_of_row(y);
        const Coefficients &s_next = stencil_of_row(y + 1), &s_after = stencil_of_row(y + 2);
        const Row row = rows.take<0>(y);
        odd.begin(row.own, row.right_side, s_own);
        odd.add(row.below, s_own, 3);
        odd.add(row.above, s_own, 21);
        even.add(row.below, s_behind, 6);
        even.add(row.above, s_behind, 24);
        Sums next;  // of row y + 1
        next.add(row.below, s_next, 0);
        next.add(row.above, s_next, 18);

        const Row beside = y <= ny ? rows.take<1>(y + 1) : row;
        odd.add(beside.below, s_own, 6);
        odd.add(beside.own, s_own, 15);
        odd.add(beside.above, s_own, 24);
        const Group fresh = y <= ny ? updated(odd, row.own, s_own, x, nx) : row.own;
        even.add(fresh, s_behind, 15);
        const Group behind = updated(even, old_even, s_behind, x, nx);
        if (stores && y <= ny) store(u_plane + y * wide(pitch), x, nx, fresh);
        if (stores && y > 1) store(u_plane + (y - 1) * wide(pitch), x, nx, behind);

        even = next;
        even.begin(beside.own, beside.right_side, s_next);
        even.add(beside.below, s_next, 3);
        even.add(beside.above, s_next, 21);
        even.add(fresh, s_next, 9);
        old_even = beside.own;
        odd = Sums();
        odd.add(beside.below, s_after, 0);
        odd.add(beside.own, s_after, 9);
        odd.add(beside.above, s_after, 18);
    }
    turn.finished_last_row();
}
