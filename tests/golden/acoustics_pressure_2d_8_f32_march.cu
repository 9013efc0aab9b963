// acoustics_staggered: pressure in 2D, order 2-8, array media, f32
// hone emit acoustics_staggered kernel=pressure dimension=2 order=8 media=array absorbing=none levels=1 precision=f32 nx=512 ny=512 --target cuda --config staging=registers,block_x=128,block_y=1,march=128,points_per_thread=4,ahead=0,stages=2,unroll=1,stores=plain,min_blocks=1,reads=plain,lead=0
// The same text serves every size and pitch.
// per point: 25 operations, 20 bytes (compulsory)
using real = float;
using vector = float4;  // a load
using wide = long long;  // a position in an array
constexpr int dimension = 2, half = 4;  // half: M, half the order in space
constexpr int ghost = 8, left = 32;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = true, absorbing = false;
constexpr int block_x = 128, block_y = 1, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 4, group_alignment = 16;  // cells of a row that a thread takes at a time
constexpr int layers_per_trip = 1;
constexpr bool in_registers = true;  // what is needed of the layers around stays in registers
constexpr bool ahead = false;         // a layer is read while the one before is computed
constexpr bool streaming_stores = false;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 8.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.1962890625f;
    if (m == 2) return -0.079752604166666671f;
    if (m == 3) return 0.0095703125000000007f;
    return -0.00069754464285714287f;
}

// Neighbouring words of a row, read and written with the widest instructions.
struct alignas(group_alignment) Group {
    real word[points];

    __device__ __forceinline__ real& operator[](int i) { return word[i]; }
    __device__ __forceinline__ real operator[](int i) const { return word[i]; }
};
constexpr int vectors = sizeof(Group) / sizeof(vector);

__device__ __forceinline__ Group load(const real* from)
{
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(&group)[i] = reinterpret_cast<const vector*>(from)[i];
    return group;
}

// A medium of the cells at `at`.
__device__ __forceinline__ Group medium(const real* from, wide at)
{
    Group group = {};
    if (array_media) group = load(from + at);
    #pragma unroll
    for (int i = 0; i < points; ++i)
        if (!array_media) group[i] = from[0];
    return group;
}

// Stores the first `count` words; none or less for a thread without cells.
__device__ __forceinline__ void store(real* to, const Group& group, int count)
{
    if (count >= points) {
        #pragma unroll
        for (int i = 0; i < vectors; ++i) {
            if (streaming_stores)
                __stcs(reinterpret_cast<vector*>(to) + i, reinterpret_cast<const vector*>(&group)[i]);
            else
                reinterpret_cast<vector*>(to)[i] = reinterpret_cast<const vector*>(&group)[i];
        }
        return;
    }
    #pragma unroll
    for (int i = 0; i < points; ++i)
        if (i < count) to[i] = group[i];
}

// The words from `before` before a group to `after` behind it, read in whole groups.
template <int before, int after>
struct Span {
    static constexpr int left = (before + points - 1) / points, right = (after + points - 1) / points;
    Group group[left + 1 + right];

    __device__ __forceinline__ void read(const real* from)
    {
        #pragma unroll
        for (int i = 0; i <= left + right; ++i) group[i] = load(from + (i - left) * points);
    }
    __device__ __forceinline__ void read_medium(const real* from, wide at)
    {
        #pragma unroll
        for (int i = 0; i <= left + right; ++i) group[i] = medium(from, at + (i - left) * points);
    }
    __device__ __forceinline__ const Group& own() const { return group[left]; }
    __device__ __forceinline__ real operator[](int i) const { return group[(i + left * points) / points].word[(i + left * points) % points]; }
};

// The difference between i and i + 1 of values along x. Of values at left faces it belongs to the centre i, of values at centres to the left face
// i + 1.
template <typename Values>
__device__ __forceinline__ real difference(const Values& value, int i)
{
    real sum = weight(1) * (value[i + 1] - value[i]);
    #pragma unroll
    for (int m = 2; m <= half; ++m) sum = fma(weight(m), value[i + m] - value[i + 1 - m], sum);
    return sum;
}

// The same for values `stride` apart.
__device__ __forceinline__ Group difference_along(const real* from, int stride)
{
    Group sum;
    #pragma unroll
    for (int m = 1; m <= half; ++m) {
        const Group ahead = load(from + m * wide(stride)), behind = load(from + (1 - m) * wide(stride));
        #pragma unroll
        for (int i = 0; i < points; ++i) sum[i] = m == 1 ? weight(1) * (ahead[i] - behind[i]) : fma(weight(m), ahead[i] - behind[i], sum[i]);
    }
    return sum;
}

// Values of 2 M layers, around a layer or between two. They begin as zeros, although a thread stores nothing before it has replaced them: of registers
// that move along and begin with none, ptxas 13.0 has taken one for its neighbour.
struct Window {
    Group layer[2 * half] = {};

    __device__ __forceinline__ void move_to(const Group& next)
    {
        #pragma unroll
        for (int k = 0; k + 1 < 2 * half; ++k) layer[k] = layer[k + 1];
        layer[2 * half - 1] = next;
    }
    __device__ __forceinline__ Group difference() const
    {
        Group sum;
        #pragma unroll
        for (int m = 1; m <= half; ++m)
            #pragma unroll
            for (int i = 0; i < points; ++i) {
                const real step = layer[half + m - 1][i] - layer[half - m][i];
                sum[i] = m == 1 ? weight(1) * step : fma(weight(m), step, sum[i]);
            }
        return sum;
    }
};

__device__ __forceinline__ Group minus_product(const Group& from, const Group& factor, const Group& other)
{
    Group result;
    #pragma unroll
    for (int i = 0; i < points; ++i) result[i] = fma(-factor[i], other[i], from[i]);
    return result;
}

__device__ __forceinline__ Group scaled(const Group& group, real factor)
{
    Group result = group;
    #pragma unroll
    for (int i = 0; i < points; ++i)
        if (absorbing) result[i] = factor * group[i];
    return result;
}

// What waves are multiplied by where they are absorbed: a velocity by the factor of its own axis at its face, a pressure by those of all axes at its
// centre. Of every axis there are first the factors of the faces, then those of the centres. Along x they stay in registers.
struct Damping {
    const real *x_faces = nullptr, *y_faces = nullptr, *y_centres = nullptr, *along_faces = nullptr, *along_centres = nullptr;
    Group x_centres = {};
    real y_centre = 1;

    Damping() = default;
    __device__ __forceinline__ Damping(const real* x_factors, const real* y_factors, const real* z_factors, int x, int y, int ny, int nz, int pitch)
        : x_faces(x_factors + left + x), y_faces(y_factors + ghost), y_centres(y_faces + ny + 2 * ghost)
    {
        along_faces = dimension == 2 ? y_faces : z_factors + ghost;
        along_centres = dimension == 2 ? y_centres : along_faces + nz + 2 * ghost;
        x_centres = load(x_faces + pitch);
        if (dimension == 3) y_centre = y_centres[y];
    }
    __device__ __forceinline__ real face_y(int y) const { return absorbing ? y_faces[y] : real(1); }
    __device__ __forceinline__ real face_along(int layer) const { return absorbing ? along_faces[layer] : real(1); }
    // New velocities along x, of the thread's cells or so many words from them, and new pressures of its cells.
    __device__ __forceinline__ Group across(const Group& group, int offset = 0) const { return absorbing ? times(group, load(x_faces + offset)) : group; }
    __device__ __forceinline__ Group pressure(const Group& group, int layer) const
    {
        return absorbing ? scaled(times(group, x_centres), y_centre * along_centres[layer]) : group;
    }
    __device__ __forceinline__ static Group times(const Group& group, const Group& factors)
    {
        Group result;
        #pragma unroll
        for (int i = 0; i < points; ++i) result[i] = group[i] * factors[i];
        return result;
    }
};

__device__ __forceinline__ void add(Group& sum, const Group& other)
{
    #pragma unroll
    for (int i = 0; i < points; ++i) sum[i] += other[i];
}

// The arrays of which something arrives with every layer: of each the layer so many behind it.
template <int count>
struct Rows {
    const real* from[count];
    wide behind[count];

    // What of the arrays belongs to the layer at `at`.
    struct Layer {
        const Rows& rows;
        wide at;

        __device__ __forceinline__ const real* operator()(int array) const { return rows.from[array] + (at - rows.behind[array]); }
    };
    __device__ __forceinline__ Layer layer(int, wide at) const { return {*this, at}; }
    __device__ __forceinline__ void finish_reads() const {}
    __device__ __forceinline__ void release(int, bool) const {}
    __device__ __forceinline__ void begin(wide, int, int, int, int, int) const {}
};

// What a thread reads for one of its layers.
struct Arrival {
    Group slow;  // velocity along the march at the newest face
    Group own, stiffness;
    Span<half - 1, half> across;  // velocity along x

    __device__ __forceinline__ void read(const Rows<4>::Layer& from, const real* kappa)
    {
        across.read(from(0));
        if (in_registers) slow = load(from(1));
        own = load(from(2));
        stiffness = array_media ? load(from(3)) : medium(kappa, 0);
    }
};

// Pressures of the layers [first, last), in place: rows in 2D, planes in 3D. A block takes `march` layers one after the other, and the velocities
// along its way stay in registers, or come through the caches as the others do.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_pressure(
    real* __restrict__ p,
    const real* __restrict__ u,
    const real* __restrict__ v,
    const real* __restrict__ kappa,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    constexpr int y_read = 0;  // the march is along y
    const int x_first = blockIdx.x * block_x * points;  // of the block
    constexpr int taken_words = block_x * points;  // of a row, by the block
    const int x = x_first + int(threadIdx.x) * points;
    const int x_read = min(x, (nx - 1) / points * points);  // threads beyond the row read its last cells again
    const int count = nx - x;  // cells of the thread in its row, if there are less
    const int layer_stride = pitch;
    const int march = (last - first + int(gridDim.y) - 1) / int(gridDim.y);  // layers that a block takes one after the other
    const int block_first = first + int(blockIdx.y) * march;
    const int layer_first = block_first + threadIdx.y, layer_last = min(block_first + march, last);
    constexpr int layer_step = block_y;
    wide at = wide(layer_first + ghost) * pitch + left + x_read;
    const real* __restrict__ const along = v;  // velocity along the march
    const Damping damping;
    Rows<4> rows{{u, along, p, kappa}, {0, in_registers ? -half * wide(layer_stride) : 0, 0, 0}};
    rows.begin(at, x_read - x_first, taken_words, pitch - left - x_first, layer_last - layer_first, layer_stride);
    Window window;
    if (in_registers) {
        #pragma unroll
        for (int k = 1; k < 2 * half; ++k) window.layer[k] = load(along + at + (k - half) * wide(layer_stride));
    }
    Arrival next = {};
    if (ahead && layer_first < layer_last) next.read(rows.layer(0, at), kappa);
    #pragma unroll (layers_per_trip)
    for (int layer = layer_first; layer < layer_last; layer += layer_step, at += layer_step * wide(layer_stride)) {
        Arrival now;
        if (ahead) {
            now = next;
            if (layer + layer_step < layer_last) next.read(rows.layer(layer + 1 - layer_first, at + layer_step * wide(layer_stride)), kappa);
        } else {
            now.read(rows.layer(layer - layer_first, at), kappa);
        }
        rows.finish_reads();
        rows.release(layer - layer_first, false);
        Group sum;
        if (in_registers) {
            window.move_to(now.slow);
            sum = window.difference();
        } else {
            sum = difference_along(along + at, layer_stride);
        }
        if (dimension == 3) add(sum, difference_along(v + at, pitch));
        #pragma unroll
        for (int i = 0; i < points; ++i) sum[i] += difference(now.across, i);
        store(p + at, damping.pressure(minus_product(now.own, now.stiffness, sum), layer), count);
    }
}
