// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config colours_per_pass=2,staging=cache,block_x=32,block_y=4,z_block=8,points_per_thread=4,stencil_in=shared,edges=clamped,min_blocks=1,layout=natural
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 4;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 8;            // planes that a block covers
constexpr int points_per_thread = 4;  // along x
constexpr int words_per_step = 32 * points_per_thread;  // of a row, by one warp
constexpr int pairs = points_per_thread / 2;

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    const real* from;

    __device__ __forceinline__ real operator[](int k) const { return *(from + k); }
};

using vector = float4;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(16) Group {
    real word[points_per_thread];
};
constexpr int vectors = sizeof(Group) / sizeof(vector);

__device__ __forceinline__ Group load(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(&group)[i] = *(reinterpret_cast<const vector*>(from) + i);
    return group;
}

// Stores the interior points of the group at x.
__device__ __forceinline__ void store(real* row, int x, int nx, const Group& group) {
    if (x > 0 && x + points_per_thread - 1 <= nx) {
        #pragma unroll
        for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(row + x)[i] = reinterpret_cast<const vector*>(&group)[i];
        return;
    }
    #pragma unroll
    for (int i = 0; i < points_per_thread; ++i) {
        if (x + i > 0 && x + i <= nx) row[x + i] = group.word[i];
    }
}

// What the points of a group still lack when the neighbours inside the group are summed up. The stencil is the same along a row, so a neighbouring
// group hands over a sum of products, not nine values. Points of odd x have the earlier colour of a row.
struct Sums {
    real odd[pairs], even[pairs];  // f less the terms from inside the group
    real to_left[pairs];           // terms of even points for the odd point on their left
    real to_right[pairs];          // terms of odd points for the even point on their right: new ones of their own row are added later
    real old_odd[pairs];

    // The row itself, with its old values.
    __device__ __forceinline__ void begin(const Group& own, const Group& right_side, const Coefficients& s)
    {
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            const real value = own.word[2 * pair];
            odd[pair] = fma(-s[12], value, right_side.word[2 * pair + 1]);
            even[pair] = right_side.word[2 * pair];
            to_left[pair] = s[14] * value;
            to_right[pair] = 0;
            old_odd[pair] = own.word[2 * pair + 1];
        }
    }

    // One of the eight rows around it, with coefficients k to k + 2.
    __device__ __forceinline__ void add(const Group& group, const Coefficients& s, int k)
    {
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

// Both colours of the group at x of a warp's step along its row. `next` holds the sums of the warp's next step, `carried` what the step before left.
__device__ __forceinline__ Group updated(Sums current, const Sums& next, real& carried, const Coefficients& s, int x, int nx)
{
    constexpr unsigned all_lanes = 0xffffffff;
    const int lane = threadIdx.x;
    Group result;
    // First colour. Lane 31's right neighbour is lane 0 of the next step, which is still old.
    const real from_right = __shfl_sync(all_lanes, lane == 0 ? next.to_left[0] : current.to_left[0], (lane + 1) % 32);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real right = pair + 1 < pairs ? current.to_left[(pair + 1) % pairs] : from_right;
        const real odd = x + 2 * pair + 1 <= nx ? (current.odd[pair] - right) * s[13] : current.old_odd[pair];
        result.word[2 * pair + 1] = odd;
        current.to_right[pair] = fma(s[12], odd, current.to_right[pair]);
    }
    // Second colour. Lane 0's left neighbour is lane 31 of the step before, which is new.
    const real from_left = __shfl_sync(all_lanes, lane == 31 ? carried : current.to_right[pairs - 1], (lane + 31) % 32);
    carried = current.to_right[pairs - 1];
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real left = pair > 0 ? current.to_right[(pair + pairs - 1) % pairs] : from_left;
        result.word[2 * pair] = fma(-s[14], result.word[2 * pair + 1], current.even[pair] - left) * s[13];
    }
    return result;
}

__device__ __forceinline__ Sums sums(const real* u, const real* f, int pitch, int plane, const Coefficients& s)
{
    Sums result;
    result.begin(load(u), load(f), s);
    #pragma unroll
    for (int row = 0; row < 9; ++row)
        if (row != 4) result.add(load(u + (row / 3 - 1) * plane + (row % 3 - 1) * pitch), s, 3 * row);
    return result;
}

// Two colours, which differ in x only, of the planes [first, last). A warp owns a row and walks along it; rows of this parity of y and z are never
// neighbours of each other, so that only the warp itself changes what it reads. Warps of a block share the rows between theirs in the caches.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_rows(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    int nx, int ny, int nz, int pitch, int first, int last, int row_parity
)
{
    const int plane = (ny + 2) * pitch;
    const int y_parity = row_parity & 1, z_parity = row_parity >> 1;
    const int block_first = first + blockIdx.z * z_block;
    const int y = 1 + y_parity + 2 * (blockIdx.y * block_y + threadIdx.y);
    const int z = 1 + block_first + (block_first + z_parity) % 2 + 2 * threadIdx.z;
    __shared__ real shared_stencil[27];
    const int thread = threadIdx.x + block_x * (threadIdx.y + block_y * threadIdx.z);
    for (int k = thread; k < 27; k += threads_per_block) shared_stencil[k] = stencil[k];
    __syncthreads();
    const Coefficients s{shared_stencil};
    if (y > ny || z > last) return;
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;  // the row's last group; lanes beyond it read it again
    real* const u_row = u + z * wide(plane) + y * pitch;
    const real* const f_row = f + z * wide(plane) + y * pitch;

    int x = threadIdx.x * points_per_thread;
    Sums next = sums(u_row + min(x, x_last), f_row + min(x, x_last), pitch, plane, s);
    real carried = 0;
    for (int step = 0; step <= nx + 1; step += words_per_step, x += words_per_step) {
        const Sums current = next;
        if (step + words_per_step <= nx + 1) {
            const int x_next = min(x + words_per_step, x_last);
            next = sums(u_row + x_next, f_row + x_next, pitch, plane, s);
        }
        store(u_row, x, nx, updated(current, next, carried, s, x, nx));
    }
}
