// dg_volume: maxwell_3d, order 1, f32
// hone emit dg_volume equation=maxwell_3d order=1 precision=f32 arithmetic=strict elements=100000 --target cuda
//     --config form=element,algebra=covariant,elements_per_block=128,copy_width=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 840 operations, 228 bytes (compulsory); this form executes 456 operations
using real = float;
constexpr int nodes = 4, fields = 6, words = fields * nodes, factors = 10;
constexpr int geometry_words = 9;
constexpr int elements_per_block = 128, threads_per_block = 256, blocks_per_multiprocessor = 1;
constexpr int copy_width = 1;  // values per load and store of memory
constexpr int batch = 12;       // vectors that a thread loads at a time
constexpr int row = 25;         // values of one element in shared memory, padded

struct alignas(copy_width * sizeof(real)) Vector {
    real value[copy_width];
};

// Copies `count` neighbouring values with loads of `width`.
template <int width, int count>
__device__ __forceinline__ void load(real (&to)[count], const real* from) {
    struct alignas(width * sizeof(real)) Values {
        real value[width];
    };
    #pragma unroll
    for (int i = 0; i < count / width; ++i) {
        const Values values = reinterpret_cast<const Values*>(from)[i];
        #pragma unroll
        for (int j = 0; j < width; ++j) to[i * width + j] = values.value[j];
    }
}

template <int width>
__device__ __forceinline__ void store(real* to, const real (&from)[width]) {
    struct alignas(width * sizeof(real)) Values {
        real value[width];
    } values;
    #pragma unroll
    for (int j = 0; j < width; ++j) values.value[j] = from[j];
    *reinterpret_cast<Values*>(to) = values;
}

// Place in shared memory of vector number i of the block's fields.
__device__ __forceinline__ int place(int i) {
    return i * copy_width + i / (words / copy_width) * (row - words);
}

// A block handles `elements_per_block` elements; two threads share an element, one per half of its right-hand sides,
// and hold the fields that this half needs in registers. The operator stands in the code, zeros left out. Memory is
// read and written in one piece through shared memory.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [elements_per_block][row]: fields, later right-hand sides
    real* const field = reinterpret_cast<real*>(shared_memory);
    real* const gradient = field + elements_per_block * row;     // [elements_per_block][geometry_words]
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    const int vectors = present * (words / copy_width);

    const Vector* const source = reinterpret_cast<const Vector*>(q + size_t(block_first) * words);
    for (int start = threadIdx.x; start < vectors; start += batch * threads_per_block) {
        Vector value[batch];
        #pragma unroll
        for (int i = 0; i < batch; ++i)
            if (start + i * threads_per_block < vectors) value[i] = source[start + i * threads_per_block];
        #pragma unroll
        for (int i = 0; i < batch; ++i)
            if (start + i * threads_per_block < vectors)
                *reinterpret_cast<Vector*>(field + place(start + i * threads_per_block)) = value[i];
    }
    #pragma unroll
    for (int i = threadIdx.x; i < elements_per_block * geometry_words; i += threads_per_block)
        if (i < present * geometry_words) gradient[i] = geometry[size_t(block_first) * geometry_words + i];
    __syncthreads();

    const int half = threadIdx.x / elements_per_block;  // the same for a whole warp
    const int e = threadIdx.x % elements_per_block;
    const real* const g = gradient + e * geometry_words;
    real own[factors];
    // Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).
    for (int a = 0; a < 3; ++a) {
        const real* const b = g + 3 * ((a + 1) % 3);
        const real* const c = g + 3 * ((a + 2) % 3);
        for (int i = 0; i < 3; ++i) own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
    }
    own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6], yt = own[7],
        zt = own[8], J = own[9];
    real* const mine = field + e * row;
    real u[3][nodes];
    real raw[12];
    load<1>(raw, mine + half * (3 * nodes));
    #pragma unroll
    for (int m = 0; m < nodes; ++m) {
        u[0][m] = xr * raw[0 * nodes + m] + yr * raw[1 * nodes + m] + zr * raw[2 * nodes + m];
        u[1][m] = xs * raw[0 * nodes + m] + ys * raw[1 * nodes + m] + zs * raw[2 * nodes + m];
        u[2][m] = xt * raw[0 * nodes + m] + yt * raw[1 * nodes + m] + zt * raw[2 * nodes + m];
    }

    // All fields are in registers, so the right-hand sides may take their place.
    __syncthreads();
    // First half: dE/dt = curl H; second: dH/dt = -curl E.
    const real scale = half == 0 ? J : -J;
    real* const to = mine + (1 - half) * (3 * nodes);
    const real s0_0 = -0.500000000f * u[2][0] + 0.500000000f * u[2][2] + 0.500000000f * u[1][0]
        - 0.500000000f * u[1][3];
    const real s1_0 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 0.500000000f * u[2][0]
        - 0.500000000f * u[2][1];
    const real s2_0 = -0.500000000f * u[1][0] + 0.500000000f * u[1][1] + 0.500000000f * u[0][0]
        - 0.500000000f * u[0][2];
    const real rhs3_0[1] = {scale * (xr * s0_0 + xs * s1_0 + xt * s2_0)};
    store(to + 0, rhs3_0);
    const real rhs4_0[1] = {scale * (yr * s0_0 + ys * s1_0 + yt * s2_0)};
    store(to + 4, rhs4_0);
    const real rhs5_0[1] = {scale * (zr * s0_0 + zs * s1_0 + zt * s2_0)};
    store(to + 8, rhs5_0);
    const real s0_1 = -0.500000000f * u[2][0] + 0.500000000f * u[2][2] + 0.500000000f * u[1][0]
        - 0.500000000f * u[1][3];
    const real s1_1 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 0.500000000f * u[2][0]
        - 0.500000000f * u[2][1];
    const real s2_1 = -0.500000000f * u[1][0] + 0.500000000f * u[1][1] + 0.500000000f * u[0][0]
        - 0.500000000f * u[0][2];
    const real rhs3_1[1] = {scale * (xr * s0_1 + xs * s1_1 + xt * s2_1)};
    store(to + 1, rhs3_1);
    const real rhs4_1[1] = {scale * (yr * s0_1 + ys * s1_1 + yt * s2_1)};
    store(to + 5, rhs4_1);
    const real rhs5_1[1] = {scale * (zr * s0_1 + zs * s1_1 + zt * s2_1)};
    store(to + 9, rhs5_1);
    const real s0_2 = -0.500000000f * u[2][0] + 0.500000000f * u[2][2] + 0.500000000f * u[1][0]
        - 0.500000000f * u[1][3];
    const real s1_2 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 0.500000000f * u[2][0]
        - 0.500000000f * u[2][1];
    const real s2_2 = -0.500000000f * u[1][0] + 0.500000000f * u[1][1] + 0.500000000f * u[0][0]
        - 0.500000000f * u[0][2];
    const real rhs3_2[1] = {scale * (xr * s0_2 + xs * s1_2 + xt * s2_2)};
    store(to + 2, rhs3_2);
    const real rhs4_2[1] = {scale * (yr * s0_2 + ys * s1_2 + yt * s2_2)};
    store(to + 6, rhs4_2);
    const real rhs5_2[1] = {scale * (zr * s0_2 + zs * s1_2 + zt * s2_2)};
    store(to + 10, rhs5_2);
    const real s0_3 = -0.500000000f * u[2][0] + 0.500000000f * u[2][2] + 0.500000000f * u[1][0]
        - 0.500000000f * u[1][3];
    const real s1_3 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 0.500000000f * u[2][0]
        - 0.500000000f * u[2][1];
    const real s2_3 = -0.500000000f * u[1][0] + 0.500000000f * u[1][1] + 0.500000000f * u[0][0]
        - 0.500000000f * u[0][2];
    const real rhs3_3[1] = {scale * (xr * s0_3 + xs * s1_3 + xt * s2_3)};
    store(to + 3, rhs3_3);
    const real rhs4_3[1] = {scale * (yr * s0_3 + ys * s1_3 + yt * s2_3)};
    store(to + 7, rhs4_3);
    const real rhs5_3[1] = {scale * (zr * s0_3 + zs * s1_3 + zt * s2_3)};
    store(to + 11, rhs5_3);

    __syncthreads();
    Vector* const target = reinterpret_cast<Vector*>(rhs + size_t(block_first) * words);
    #pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += threads_per_block)
        target[i] = *reinterpret_cast<const Vector*>(field + place(i));
}
