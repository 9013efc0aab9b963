// acoustics_staggered: velocity in 3D, order 2-4, scalar media, f64
// hone emit acoustics_staggered kernel=velocity dimension=3 order=4 media=scalar absorbing=none update=apart levels=1
//     precision=f64 nx=512 ny=512 nz=512 --target cuda --config form=cached,block_x=32,block_y=8,points_per_thread=1,
//     layers_per_block=8,prefetch=0,unroll=1,min_blocks=1,stores=plain
// The same text serves every size and pitch.
// per point: 21 operations, 56 bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int half = 2;  // M, half the order in space
constexpr int ghost = 4, left = 16;  // rows and planes before the first cell, and words of its row
constexpr int block_x = 32, block_y = 8, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 1;  // cells of a row that a thread takes at a time
constexpr int layer_step = 1, layers_per_trip = 1;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 4.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.125;
    return -0.041666666666666664;
}

using Group = real;  // what a thread takes of a row at a time

__device__ __forceinline__ real load(const real* from) { return *from; }

// For a thread with cells.
__device__ __forceinline__ void store(real* to, real value, int count) {
    if (count > 0) *to = value;
}

// A medium, which is the same everywhere.
__device__ __forceinline__ real medium(const real* from, wide) { return *from; }

__device__ __forceinline__ real minus_product(real from, real factor, real other) { return fma(-factor, other, from); }

// The words from `before` before a thread's own to `after` behind it.
template <int before, int after>
struct Span {
    real word[before + 1 + after];

    __device__ __forceinline__ void read(const real* from) {
        #pragma unroll
        for (int i = -before; i <= after; ++i) word[i + before] = from[i];
    }
    __device__ __forceinline__ real& own() { return word[before]; }
    __device__ __forceinline__ real own() const { return word[before]; }
    __device__ __forceinline__ real operator[](int i) const { return word[i + before]; }
};

// The difference between i and i + 1 of values along x. Of values at left faces it belongs to the centre i, of values
// at centres to the left face i + 1.
template <typename Values>
__device__ __forceinline__ real difference(const Values& value, int i) {
    real sum = weight(1) * (value[i + 1] - value[i]);
    #pragma unroll
    for (int m = 2; m <= half; ++m) sum = fma(weight(m), value[i + m] - value[i + 1 - m], sum);
    return sum;
}

template <typename Values>
__device__ __forceinline__ real differences(const Values& value, int offset) { return difference(value, offset); }

// The same across rows or planes: value(m) is that of the m-th one from here.
template <typename Values>
__device__ __forceinline__ real difference_of(const Values& value) {
    real sum = weight(1) * (value(1) - value(0));
    #pragma unroll
    for (int m = 2; m <= half; ++m) sum = fma(weight(m), value(m) - value(1 - m), sum);
    return sum;
}

// The difference of values `stride` apart.
__device__ __forceinline__ Group difference_along(const real* from, int stride) {
    return difference_of([&](int m) { return load(from + m * wide(stride)); });
}

// What a thread reads when it comes to a layer.
struct Arrival {
    Span<half, half - 1> p;
    Group u, lightness_x;  // of the layer
    Group v, lightness_y;
    Group along, lightness;  // at the faces along the march that this layer completes
};

// Velocities of the layers [first, last), in place: rows in 2D, planes in 3D. A block takes `march` layers one after
// the other.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_velocity(
    const real* __restrict__ p, real* __restrict__ u, real* __restrict__ v, real* __restrict__ w,
    const real* __restrict__ b, int nx, int ny, int nz, int pitch, int first, int last
) {
    const int y = blockIdx.y * block_y + threadIdx.y;
    const int y_read = min(y, ny - 1);
    const int x = (blockIdx.x * block_x + threadIdx.x) * points;
    const int x_read = min(x, (nx - 1) / points * points);  // threads beyond the row read its last cells again
    const bool has_cells = y < ny;
    const int count = has_cells ? nx - x : 0;  // cells of the thread in its row, if there are less
    const int layer_stride = (ny + 2 * ghost) * pitch;
    // layers that a block takes one after the other
    const int march = (last - first + int(gridDim.z) - 1) / int(gridDim.z);
    const int layer_first = first + int(blockIdx.z) * march, layer_last = min(layer_first + march, last);
    wide at = wide(layer_first + ghost) * layer_stride + (y_read + ghost) * pitch + left + x_read;
    real* __restrict__ const along = w;  // velocity along the march
    const real *b_x = b, *b_y = b, *b_along = b;
    const int arrivals_last = layer_last;
    const auto read = [&](Arrival& arrival, int, wide there) {
        arrival.p.read(p + there);
        arrival.u = load(u + there);
        arrival.lightness_x = medium(b_x, there);
        arrival.v = load(v + there);
        arrival.lightness_y = medium(b_y, there);
        arrival.along = load(along + there);
        arrival.lightness = medium(b_along, there);
    };
    #pragma unroll (layers_per_trip)
    for (int layer = layer_first; layer < arrivals_last; layer += layer_step, at += layer_step * wide(layer_stride)) {
        Arrival now;
        read(now, layer, at);
        Group face = minus_product(now.along, now.lightness, difference_along(p + at - layer_stride, layer_stride));
        store(along + at, face, count);
        Group face_y = minus_product(now.v, now.lightness_y, difference_along(p + at - pitch, pitch));
        store(v + at, face_y, count);
        Group face_x = minus_product(now.u, now.lightness_x, differences(now.p, -1));
        store(u + at, face_x, count);
    }
}
