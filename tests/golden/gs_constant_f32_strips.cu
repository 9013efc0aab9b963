// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config colours_per_pass=4,staging=cache,block_x=32,block_y=8,z_block=2,points_per_thread=2,stencil_in=registers,edges=clamped,min_blocks=1,layout=natural
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 8, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 2;            // planes that a block covers
constexpr int points_per_thread = 2;  // along x
constexpr int words_per_step = 32 * points_per_thread;  // of a row, by one warp
constexpr int pairs = points_per_thread / 2;
constexpr int row_pairs = block_y - 1;  // of a strip: rows of the earlier and the later colours in turns
constexpr int rim_rows = 3;             // saved between two strips: the last of the lower one and the first two of the upper one

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    real value[27];

    explicit __device__ __forceinline__ Coefficients(const real* from) {
        #pragma unroll
        for (int k = 0; k < 27; ++k) value[k] = from[k];
    }
    __device__ __forceinline__ real operator[](int k) const { return value[k]; }
};

using vector = float2;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(8) Group {
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

// Where the rim below a strip of plane z is kept.
__device__ __forceinline__ wide rim_position(int z, int strip, int ny, int pitch)
{
    const int strips = ((ny + 1) / 2 + row_pairs - 1) / row_pairs;
    return (wide((z - 1) / 2) * strips + strip) * rim_rows * pitch;
}

// Keeps the old values around the borders of the strips, because both neighbours of a border need them while the other one may be ahead.
extern "C" __global__ void save_rims(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* rims,
    int nx, int ny, int nz, int pitch, int first, int last, int z_parity
)
{
    const int block_first = first + blockIdx.z * 2;
    const int z = 1 + block_first + (block_first + z_parity) % 2;
    const int strip = 1 + blockIdx.y;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (z > last || x > nx + 1) return;
    for (int row = 0; row < rim_rows; ++row) {
        const int y = 2 * row_pairs * strip + row;
        if (y <= ny + 1) rims[rim_position(z, strip, ny, pitch) + row * pitch + x] = u[(z * wide(ny + 2) + y) * pitch + x];
    }
}

// All four colours of every second plane of [first, last). A block owns a strip of whole rows in a plane (in each of its `block_z` planes), a warp
// two of its rows, y with the earlier colours and y + 1 with the later ones, and walks along both: the later row one step behind, when the rows
// beside it are new. The last warp computes the first row of the next strip once more, for its neighbour only. What is read of the planes above
// and below serves both rows.
//
// Why the block may write what it reads: a later row is stored two steps behind the loads of the rows beside it, and a barrier keeps the block's
// warps within one step of each other.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_strips(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* rims,
    int nx, int ny, int nz, int pitch, int first, int last, int z_parity
)
{
    __shared__ Group new_rows[2][block_z][block_y][32];
    const int plane = (ny + 2) * pitch;
    const int block_first = first + blockIdx.z * z_block;
    const int z_own = 1 + block_first + (block_first + z_parity) % 2 + 2 * threadIdx.z;
    const int strip = blockIdx.y, warp = threadIdx.y, lane = threadIdx.x;
    const int y = 1 + 2 * (strip * row_pairs + warp);
    // Warps without a row of their own walk along, for the barriers and for their neighbours.
    const int z = min(z_own, last);
    const bool earlier_inside = y <= ny && z_own <= last;
    const bool later_inside = y + 1 <= ny && z_own <= last && warp < row_pairs;
    const Coefficients s{stencil};
    const Coefficients &s_earlier = s, &s_later = s;

    // Rows of the plane itself: the strip's own are read before anybody changes them; beyond its borders there are copies.
    const int y_read = min(y, ny + 1), y_next = min(y + 1, ny + 1), y_beyond = min(y + 2, ny + 1);
    real* const u_plane = u + z * wide(plane);
    const bool first_of_strip = warp == 0 && strip > 0, beyond_strip = warp == row_pairs && y <= ny;
    const real* const row_below = first_of_strip ? rims + rim_position(z, strip, ny, pitch) : u_plane + (y_read - 1) * pitch;
    const real* const row_earlier = beyond_strip ? rims + rim_position(z, strip + 1, ny, pitch) + pitch : u_plane + y_read * pitch;
    const real* const row_later = beyond_strip ? rims + rim_position(z, strip + 1, ny, pitch) + 2 * pitch : u_plane + y_next * pitch;
    const real* const f_plane = f + z * wide(plane);
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;  // the row's last group; lanes beyond it read it again

    const auto begin = [&](Sums& earlier, Sums& later, int x) {
        const int here = min(x, x_last);
        const Group own_later = load(row_later + here);
        earlier.begin(load(row_earlier + here), load(f_plane + y_read * pitch + here), s_earlier);
        earlier.add(load(row_below + here), s_earlier, 9);
        earlier.add(own_later, s_earlier, 15);
        later.begin(own_later, load(f_plane + y_next * pitch + here), s_later);
        #pragma unroll
        for (int layer = 0; layer < 2; ++layer) {
            const real* const other = u_plane + (layer == 0 ? -plane : plane) + here;
            const Group row = load(other + y_read * pitch), next = load(other + y_next * pitch);
            earlier.add(load(other + (y_read - 1) * pitch), s_earlier, 18 * layer);
            earlier.add(row, s_earlier, 18 * layer + 3);
            earlier.add(next, s_earlier, 18 * layer + 6);
            later.add(row, s_later, 18 * layer);
            later.add(next, s_later, 18 * layer + 3);
            later.add(load(other + y_beyond * pitch), s_later, 18 * layer + 6);
        }
    };

    const int steps = (nx + 1) / words_per_step + 1;
    Sums next_earlier, next_later, waiting;
    begin(next_earlier, next_later, lane * points_per_thread);
    waiting = next_later;
    real carried_earlier = 0, carried_later = 0;
    for (int step = 0; step <= steps; ++step) {
        const int x = step * words_per_step + lane * points_per_thread;
        const Sums earlier = next_earlier;
        Sums later = next_later;
        if (step + 1 < steps) begin(next_earlier, next_later, x + words_per_step);

        // Rows of the earlier colours. Beyond the grid they are the boundary, and keep their values.
        Group new_row = updated(earlier, next_earlier, carried_earlier, s_earlier, x, nx);
        if (y > ny) new_row = load(u_plane + y_read * pitch + min(x, x_last));
        #pragma unroll
        for (int point = 0; point < points_per_thread; point += 2)
            if (x + point == 0 || x + point == nx + 1) new_row.word[point] = u_plane[y_read * pitch + x + point];
        if (earlier_inside && warp < row_pairs) store(u_plane + y * pitch, x, nx, new_row);
        new_rows[step % 2][threadIdx.z][warp][lane] = new_row;
        __syncthreads();

        // Rows of the later colours, one step behind: their sums of this step are what the step before lacked.
        if (warp == row_pairs) continue;
        later.add(new_row, s_later, 9);
        later.add(new_rows[step % 2][threadIdx.z][warp + 1][lane], s_later, 15);
        if (step > 0) {
            const int x_behind = x - words_per_step;
            const Group behind = updated(waiting, later, carried_later, s_later, x_behind, nx);
            if (later_inside) store(u_plane + (y + 1) * pitch, x_behind, nx, behind);
        }
        waiting = later;
    }
}
