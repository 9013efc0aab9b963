// acoustics_staggered: velocity in 3D, order 2-4, scalar media, f64
// hone emit acoustics_staggered kernel=velocity dimension=3 order=4 media=scalar absorbing=none levels=1 precision=f64 nx=512 ny=512 nz=512 --target cuda --config staging=cache,block_x=32,block_y=8,march=8,points_per_thread=1,ahead=0,stages=2,unroll=1,stores=plain,min_blocks=1,reads=plain,lead=0,rows_per_thread=1
// The same text serves every size and pitch.
// per point: 21 operations, 56 bytes (compulsory)
using real = double;
using vector = double;  // a load
using wide = long long;  // a position in an array
constexpr int dimension = 3, half = 2;  // half: M, half the order in space
constexpr int ghost = 4, left = 16;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = false, absorbing = false;
constexpr int block_x = 32, block_y = 8, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 1, group_alignment = 8;  // cells of a row that a thread takes at a time
constexpr int layers_per_trip = 1;
constexpr bool in_registers = false;  // what is needed of the layers around stays in registers
constexpr bool ahead = false;         // a layer is read while the one before is computed
constexpr bool streaming_stores = false;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 4.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.125;
    return -0.041666666666666664;
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

// What a thread reads when it comes to a layer.
struct Arrival {
    Span<half, half - 1> p;
    Group u, lightness_x;  // of the layer
    Group v, lightness_y;
    Group along, lightness;  // at the faces along the march that this layer completes
};

// Velocities of the layers [first, last), in place: rows in 2D, planes in 3D. A block takes `march` layers one after the other. With the pressures in
// registers it updates the velocities in the layer as soon as that is read, and those along its way M - 1 layers behind, when all they need is there.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_velocity(
    const real* __restrict__ p,
    real* __restrict__ u,
    real* __restrict__ v,
    real* __restrict__ w,
    const real* __restrict__ b,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    const int y = blockIdx.y * block_y + threadIdx.y;
    const int y_read = min(y, ny - 1);
    const int x_first = blockIdx.x * block_x * points;  // of the block
    constexpr int taken_words = block_x * points;  // of a row, by the block
    const int x = x_first + int(threadIdx.x) * points;
    const int x_read = min(x, (nx - 1) / points * points);  // threads beyond the row read its last cells again
    const bool has_cells = y < ny;
    const int count = has_cells ? nx - x : 0;  // cells of the thread in its row, if there are less
    const int layer_stride = (ny + 2 * ghost) * pitch;
    const int march = (last - first + int(gridDim.z) - 1) / int(gridDim.z);  // layers that a block takes one after the other
    const int layer_first = first + int(blockIdx.z) * march, layer_last = min(layer_first + march, last);
    constexpr int layer_step = 1;
    wide at = wide(layer_first + ghost) * layer_stride + (y_read + ghost) * pitch + left + x_read;
    real* __restrict__ const along = w;  // velocity along the march
    const Damping damping;
    const real *b_x = b, *b_along = b;
    const real* b_y = b;
    constexpr int lag = in_registers ? half - 1 : 0;
    Rows<5> rows{{p, u, along, b_x, b_along}, {0, 0, lag * wide(layer_stride), 0, lag * wide(layer_stride)}};
    rows.begin(at, x_read - x_first, taken_words, pitch - left - x_first, max(layer_last - layer_first, 0) + lag, layer_stride);
    Window window;
    if (in_registers) {
        #pragma unroll
        for (int k = half; k < 2 * half; ++k) window.layer[k] = load(p + at + (k - 2 * half) * wide(layer_stride));
    }
    const int arrivals_last = layer_last + lag;
    const auto read = [&](Arrival& arrival, int layer, wide there) {
        const Rows<5>::Layer from = rows.layer(layer - layer_first, there);
        if (layer < layer_last) {
            arrival.p.read(from(0));
            arrival.u = load(from(1));
            arrival.lightness_x = array_media ? load(from(3)) : medium(b_x, 0);
            if (dimension == 3) arrival.v = load(v + there);
            if (dimension == 3) arrival.lightness_y = medium(b_y, there);
        } else {
            arrival.p.group[arrival.p.left] = load(from(0));
        }
        if (layer - lag < layer_first) return;
        arrival.along = load(from(2));
        arrival.lightness = array_media ? load(from(4)) : medium(b_along, 0);
    };
    Arrival next = {};
    if (ahead && layer_first < layer_last) read(next, layer_first, at);
    #pragma unroll (layers_per_trip)
    for (int layer = layer_first; layer < arrivals_last; layer += layer_step, at += layer_step * wide(layer_stride)) {
        const bool in_layer = layer < layer_last;
        const wide at_behind = at - lag * wide(layer_stride);
        Arrival now;
        if (ahead) {
            now = next;
            if (layer + layer_step < arrivals_last) read(next, layer + layer_step, at + layer_step * wide(layer_stride));
        } else {
            read(now, layer, at);
        }
        rows.finish_reads();
        rows.release(layer - layer_first, false);
        if (in_registers) window.move_to(now.p.own());
        if (layer - lag >= layer_first) {
            const Group sum = in_registers ? window.difference() : difference_along(p + at_behind - layer_stride, layer_stride);
            store(along + at_behind, scaled(minus_product(now.along, now.lightness, sum), damping.face_along(layer - lag)), count);
        }
        if (in_layer) {
            if (dimension == 3) {
                const Group face = minus_product(now.v, now.lightness_y, difference_along(p + at - pitch, pitch));
                store(v + at, scaled(face, damping.face_y(y_read)), count);
            }
            Group sum;
            #pragma unroll
            for (int i = 0; i < points; ++i) sum[i] = difference(now.p, i - 1);
            store(u + at, damping.across(minus_product(now.u, now.lightness_x, sum)), count);
        }
    }
}
