// gauss_seidel_27: variable stencil, f32
// hone emit gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=rows,
//     block_y=4,z_block=4,points_per_thread=2,stencil_in=streaming,min_blocks=1
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 120 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 2;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 4;            // planes that a block covers
constexpr int points_per_thread = 2;  // along x
constexpr int words_per_step = 32 * points_per_thread;  // of a row, by one warp
constexpr int pairs = points_per_thread / 2;
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

// What the points of a group still lack when the old values of the rows around it are summed up. Points of odd x have
// the pass's first colour.
struct Sums {
    real odd[pairs], even[pairs];  // f less the terms of the other rows, and of old values of the group
    real old_odd[pairs], old_even[pairs];
    Group west, reciprocal, east;  // coefficients of the row itself
};

// `s` is the first coefficient of the group, `stride` the words to its next one; x_left and x_right lead from the group
// to its neighbours.
__device__ __forceinline__ Sums sums(const real* u, const real* f, const real* s, wide stride, int x_left, int x_right,
    int pitch, int plane) {
    const Group own = load(u), right_side = load(f);
    Sums result;
    result.west = load_stencil(s + 12 * stride);
    result.reciprocal = load_stencil(s + 13 * stride);
    result.east = load_stencil(s + 14 * stride);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        result.old_even[pair] = own.word[2 * pair];
        result.old_odd[pair] = own.word[2 * pair + 1];
        result.odd[pair] = fma(-result.west.word[2 * pair + 1], result.old_even[pair], right_side.word[2 * pair + 1]);
        result.even[pair] = right_side.word[2 * pair];
    }
    #pragma unroll
    for (int row = 0; row < 9; ++row) {
        if (row == 4) continue;
        const real* const there = u + (row / 3 - 1) * plane + (row % 3 - 1) * pitch;
        const Group group = load(there);
        const Group west = load_stencil(s + (3 * row) * stride), centre = load_stencil(s + (3 * row + 1) * stride),
                    east = load_stencil(s + (3 * row + 2) * stride);
        #pragma unroll
        for (int point = 0; point < points_per_thread; ++point) {
            const real left = point > 0 ? group.word[(point + points_per_thread - 1) % points_per_thread]
                : there[x_left];
            const real right = point + 1 < points_per_thread ? group.word[(point + 1) % points_per_thread]
                : there[x_right];
            real& rest = point % 2 ? result.odd[point / 2] : result.even[point / 2];
            rest =
                fma(-west.word[point], left,
                fma(-centre.word[point], group.word[point], fma(-east.word[point], right, rest)));
        }
    }
    return result;
}

// Two colours, which differ in x only, of the planes [first, last). A warp owns a row and walks along it; rows of this
// parity of y and z are never neighbours of each other, so that only the warp itself changes what it reads. Every load
// of a coefficient is coalesced and aligned.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_rows(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    int nx, int ny, int nz, int pitch, int first, int last, int row_parity
) {
    const int plane = (ny + 2) * pitch;
    const int y_parity = row_parity & 1, z_parity = row_parity >> 1;
    const int block_first = first + blockIdx.z * z_block;
    const int y = 1 + y_parity + 2 * (blockIdx.y * block_y + threadIdx.y);
    const int z = 1 + block_first + (block_first + z_parity) % 2 + 2 * threadIdx.z;
    if (y > ny || z > last) return;
    const int lane = threadIdx.x;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    real* const u_row = u + z * wide(plane) + y * pitch;
    const real* const f_row = f + z * wide(plane) + y * pitch;
    const real* const s_row = stencil + ((z - 1) * wide(ny) + y - 1) * pitch;
    const wide stride = nz * wide(ny) * pitch;
    const auto sums_at = [&](int at) {
        const int here = min(at, x_last);
        const int x_left = max(here - 1, 0) - here, x_right = min(here + points_per_thread, nx + 1) - here;
        return sums(u_row + here, f_row + here, s_row + here, stride, x_left, x_right, pitch, plane);
    };

    int x = lane * points_per_thread;
    Sums next = sums_at(x);
    real carried = 0;  // lane 31: what it hands to lane 0 of the next step
    for (int step = 0; step <= nx + 1; step += words_per_step, x += words_per_step) {
        const Sums current = next;
        if (step + words_per_step <= nx + 1) next = sums_at(x + words_per_step);
        Group updated;
        // First colour. Lane 31's right neighbour is lane 0 of the next step, which is still old.
        const real from_right =
            __shfl_sync(all_lanes, lane == 0 ? next.old_even[0] : current.old_even[0], (lane + 1) % 32);
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            const int odd = 2 * pair + 1;
            const real right = pair + 1 < pairs ? current.old_even[(pair + 1) % pairs] : from_right;
            const real value = fma(-current.east.word[odd], right, current.odd[pair]) * current.reciprocal.word[odd];
            updated.word[odd] = x + odd <= nx ? value : current.old_odd[pair];
        }
        // Second colour. Lane 0's left neighbour is lane 31 of the step before, which is new.
        const real last_odd = updated.word[points_per_thread - 1];
        const real from_left = __shfl_sync(all_lanes, lane == 31 ? carried : last_odd, (lane + 31) % 32);
        carried = last_odd;
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            const int even = 2 * pair;
            const real left = pair > 0 ? updated.word[(even + points_per_thread - 1) % points_per_thread] : from_left;
            const real rest =
                fma(-current.west.word[even], left,
                fma(-current.east.word[even], updated.word[even + 1], current.even[pair]));
            updated.word[even] = rest * current.reciprocal.word[even];
        }
        store(u_row, x, nx, updated);
    }
}
