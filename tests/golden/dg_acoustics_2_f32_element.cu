// dg_volume: acoustics_3d, order 2, f32
// hone emit dg_volume equation=acoustics_3d order=2 precision=f32 arithmetic=strict elements=100000 --target cuda --config mapping=element,form=covariant,fields_per_pass=4,elements_per_block=64,nodes_per_thread=1,elements_per_thread=1,operator=immediate,unroll=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 2720 operations, 356 bytes (compulsory); this form executes 804 operations
using real = float;
constexpr int nodes = 10, fields = 4, words = fields * nodes, factors = 9;
constexpr int geometry_words = 9;
constexpr int elements_per_block = 64, threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int copy_width = 1;  // values per load and store of memory
constexpr int batch = 20;       // vectors that a thread loads at a time
constexpr int row = 41;         // values of one element in shared memory, padded

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

// A block handles `elements_per_block` elements; two threads share an element, one per half of its right-hand sides, and hold the fields that
// this half needs in registers. The operator stands in the code, zeros left out. Memory is read and written in one piece through shared memory.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const field = reinterpret_cast<real*>(shared_memory);  // [elements_per_block][row]: fields, later right-hand sides
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
            if (start + i * threads_per_block < vectors) *reinterpret_cast<Vector*>(field + place(start + i * threads_per_block)) = value[i];
    }
    #pragma unroll
    for (int i = threadIdx.x; i < elements_per_block * geometry_words; i += threads_per_block)
        if (i < present * geometry_words) gradient[i] = geometry[size_t(block_first) * geometry_words + i];
    __syncthreads();

    const int half = threadIdx.x / elements_per_block;  // the same for a whole warp
    const int e = threadIdx.x % elements_per_block;
    const real* const g = gradient + e * geometry_words;
    real own[factors];
    for (int i = 0; i < factors; ++i) own[i] = g[i];
    const real rx = own[0], ry = own[1], rz = own[2], sx = own[3], sy = own[4], sz = own[5], tx = own[6], ty = own[7], tz = own[8];
    real* const mine = field + e * row;
    real u[3][nodes];
    if (half == 0) {
        real raw[30];
        load<1>(raw, mine + nodes);
        #pragma unroll
        for (int m = 0; m < nodes; ++m) {
            u[0][m] = rx * raw[0 * nodes + m] + ry * raw[1 * nodes + m] + rz * raw[2 * nodes + m];
            u[1][m] = sx * raw[0 * nodes + m] + sy * raw[1 * nodes + m] + sz * raw[2 * nodes + m];
            u[2][m] = tx * raw[0 * nodes + m] + ty * raw[1 * nodes + m] + tz * raw[2 * nodes + m];
        }
    } else {
        real raw[10];
        load<1>(raw, mine);
        #pragma unroll
        for (int m = 0; m < nodes; ++m) {
            u[0][m] = raw[0 * nodes + m];
        }
    }

    // All fields are in registers, so the right-hand sides may take their place.
    __syncthreads();
    // First half: p' = -div u; second: u' = -grad p.
    if (half == 0) {
        real* const to = mine;
        const real s0_0 = -1.50000000f * u[0][0] + 2.00000000f * u[0][1] - 0.500000000f * u[0][2] - 1.50000000f * u[1][0] + 2.00000000f * u[1][3]
            - 0.500000000f * u[1][5] - 1.50000000f * u[2][0] + 2.00000000f * u[2][6] - 0.500000000f * u[2][9];
        const real rhs0_0[1] = {-s0_0};
        store(to + 0, rhs0_0);
        const real s0_1 = -0.500000000f * u[0][0] + 0.500000000f * u[0][2] - 0.500000000f * u[1][0] - 1.00000000f * u[1][1] + 1.00000000f * u[1][3]
            + 1.00000000f * u[1][4] - 0.500000000f * u[1][5] - 0.500000000f * u[2][0] - 1.00000000f * u[2][1] + 1.00000000f * u[2][6]
            + 1.00000000f * u[2][7] - 0.500000000f * u[2][9];
        const real rhs0_1[1] = {-s0_1};
        store(to + 1, rhs0_1);
        const real s0_2 = 0.500000000f * u[0][0] - 2.00000000f * u[0][1] + 1.50000000f * u[0][2] + 0.500000000f * u[1][0] - 2.00000000f * u[1][1]
            + 2.00000000f * u[1][4] - 0.500000000f * u[1][5] + 0.500000000f * u[2][0] - 2.00000000f * u[2][1] + 2.00000000f * u[2][7]
            - 0.500000000f * u[2][9];
        const real rhs0_2[1] = {-s0_2};
        store(to + 2, rhs0_2);
        const real s0_3 = -0.500000000f * u[0][0] + 1.00000000f * u[0][1] - 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4]
            - 0.500000000f * u[1][0] + 0.500000000f * u[1][5] - 0.500000000f * u[2][0] - 1.00000000f * u[2][3] + 1.00000000f * u[2][6]
            + 1.00000000f * u[2][8] - 0.500000000f * u[2][9];
        const real rhs0_3[1] = {-s0_3};
        store(to + 3, rhs0_3);
        const real s0_4 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4]
            + 0.500000000f * u[1][0] - 1.00000000f * u[1][1] - 1.00000000f * u[1][3] + 1.00000000f * u[1][4] + 0.500000000f * u[1][5]
            + 0.500000000f * u[2][0] - 1.00000000f * u[2][1] - 1.00000000f * u[2][3] + 1.00000000f * u[2][7] + 1.00000000f * u[2][8]
            - 0.500000000f * u[2][9];
        const real rhs0_4[1] = {-s0_4};
        store(to + 4, rhs0_4);
        const real s0_5 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 2.00000000f * u[0][3] + 2.00000000f * u[0][4] + 0.500000000f * u[1][0]
            - 2.00000000f * u[1][3] + 1.50000000f * u[1][5] + 0.500000000f * u[2][0] - 2.00000000f * u[2][3] + 2.00000000f * u[2][8]
            - 0.500000000f * u[2][9];
        const real rhs0_5[1] = {-s0_5};
        store(to + 5, rhs0_5);
        const real s0_6 = -0.500000000f * u[0][0] + 1.00000000f * u[0][1] - 0.500000000f * u[0][2] - 1.00000000f * u[0][6] + 1.00000000f * u[0][7]
            - 0.500000000f * u[1][0] + 1.00000000f * u[1][3] - 0.500000000f * u[1][5] - 1.00000000f * u[1][6] + 1.00000000f * u[1][8]
            - 0.500000000f * u[2][0] + 0.500000000f * u[2][9];
        const real rhs0_6[1] = {-s0_6};
        store(to + 6, rhs0_6);
        const real s0_7 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 0.500000000f * u[0][2] - 1.00000000f * u[0][6] + 1.00000000f * u[0][7]
            + 0.500000000f * u[1][0] - 1.00000000f * u[1][1] + 1.00000000f * u[1][4] - 0.500000000f * u[1][5] - 1.00000000f * u[1][6]
            + 1.00000000f * u[1][8] + 0.500000000f * u[2][0] - 1.00000000f * u[2][1] - 1.00000000f * u[2][6] + 1.00000000f * u[2][7]
            + 0.500000000f * u[2][9];
        const real rhs0_7[1] = {-s0_7};
        store(to + 7, rhs0_7);
        const real s0_8 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4] - 1.00000000f * u[0][6]
            + 1.00000000f * u[0][7] + 0.500000000f * u[1][0] - 1.00000000f * u[1][3] + 0.500000000f * u[1][5] - 1.00000000f * u[1][6]
            + 1.00000000f * u[1][8] + 0.500000000f * u[2][0] - 1.00000000f * u[2][3] - 1.00000000f * u[2][6] + 1.00000000f * u[2][8]
            + 0.500000000f * u[2][9];
        const real rhs0_8[1] = {-s0_8};
        store(to + 8, rhs0_8);
        const real s0_9 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 2.00000000f * u[0][6] + 2.00000000f * u[0][7] + 0.500000000f * u[1][0]
            - 0.500000000f * u[1][5] - 2.00000000f * u[1][6] + 2.00000000f * u[1][8] + 0.500000000f * u[2][0] - 2.00000000f * u[2][6]
            + 1.50000000f * u[2][9];
        const real rhs0_9[1] = {-s0_9};
        store(to + 9, rhs0_9);
    } else {
        real* const to = mine + nodes;
        const real s1_0 = -1.50000000f * u[0][0] + 2.00000000f * u[0][1] - 0.500000000f * u[0][2];
        const real s2_0 = -1.50000000f * u[0][0] + 2.00000000f * u[0][3] - 0.500000000f * u[0][5];
        const real s3_0 = -1.50000000f * u[0][0] + 2.00000000f * u[0][6] - 0.500000000f * u[0][9];
        const real rhs1_0[1] = {-rx * s1_0 - sx * s2_0 - tx * s3_0};
        store(to + 0, rhs1_0);
        const real rhs2_0[1] = {-ry * s1_0 - sy * s2_0 - ty * s3_0};
        store(to + 10, rhs2_0);
        const real rhs3_0[1] = {-rz * s1_0 - sz * s2_0 - tz * s3_0};
        store(to + 20, rhs3_0);
        const real s1_1 = -0.500000000f * u[0][0] + 0.500000000f * u[0][2];
        const real s2_1 = -0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 1.00000000f * u[0][3] + 1.00000000f * u[0][4] - 0.500000000f * u[0][5]
           ;
        const real s3_1 = -0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 1.00000000f * u[0][6] + 1.00000000f * u[0][7] - 0.500000000f * u[0][9]
           ;
        const real rhs1_1[1] = {-rx * s1_1 - sx * s2_1 - tx * s3_1};
        store(to + 1, rhs1_1);
        const real rhs2_1[1] = {-ry * s1_1 - sy * s2_1 - ty * s3_1};
        store(to + 11, rhs2_1);
        const real rhs3_1[1] = {-rz * s1_1 - sz * s2_1 - tz * s3_1};
        store(to + 21, rhs3_1);
        const real s1_2 = 0.500000000f * u[0][0] - 2.00000000f * u[0][1] + 1.50000000f * u[0][2];
        const real s2_2 = 0.500000000f * u[0][0] - 2.00000000f * u[0][1] + 2.00000000f * u[0][4] - 0.500000000f * u[0][5];
        const real s3_2 = 0.500000000f * u[0][0] - 2.00000000f * u[0][1] + 2.00000000f * u[0][7] - 0.500000000f * u[0][9];
        const real rhs1_2[1] = {-rx * s1_2 - sx * s2_2 - tx * s3_2};
        store(to + 2, rhs1_2);
        const real rhs2_2[1] = {-ry * s1_2 - sy * s2_2 - ty * s3_2};
        store(to + 12, rhs2_2);
        const real rhs3_2[1] = {-rz * s1_2 - sz * s2_2 - tz * s3_2};
        store(to + 22, rhs3_2);
        const real s1_3 = -0.500000000f * u[0][0] + 1.00000000f * u[0][1] - 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4]
           ;
        const real s2_3 = -0.500000000f * u[0][0] + 0.500000000f * u[0][5];
        const real s3_3 = -0.500000000f * u[0][0] - 1.00000000f * u[0][3] + 1.00000000f * u[0][6] + 1.00000000f * u[0][8] - 0.500000000f * u[0][9]
           ;
        const real rhs1_3[1] = {-rx * s1_3 - sx * s2_3 - tx * s3_3};
        store(to + 3, rhs1_3);
        const real rhs2_3[1] = {-ry * s1_3 - sy * s2_3 - ty * s3_3};
        store(to + 13, rhs2_3);
        const real rhs3_3[1] = {-rz * s1_3 - sz * s2_3 - tz * s3_3};
        store(to + 23, rhs3_3);
        const real s1_4 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4]
           ;
        const real s2_4 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4] + 0.500000000f * u[0][5]
           ;
        const real s3_4 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] - 1.00000000f * u[0][3] + 1.00000000f * u[0][7] + 1.00000000f * u[0][8]
            - 0.500000000f * u[0][9];
        const real rhs1_4[1] = {-rx * s1_4 - sx * s2_4 - tx * s3_4};
        store(to + 4, rhs1_4);
        const real rhs2_4[1] = {-ry * s1_4 - sy * s2_4 - ty * s3_4};
        store(to + 14, rhs2_4);
        const real rhs3_4[1] = {-rz * s1_4 - sz * s2_4 - tz * s3_4};
        store(to + 24, rhs3_4);
        const real s1_5 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 2.00000000f * u[0][3] + 2.00000000f * u[0][4];
        const real s2_5 = 0.500000000f * u[0][0] - 2.00000000f * u[0][3] + 1.50000000f * u[0][5];
        const real s3_5 = 0.500000000f * u[0][0] - 2.00000000f * u[0][3] + 2.00000000f * u[0][8] - 0.500000000f * u[0][9];
        const real rhs1_5[1] = {-rx * s1_5 - sx * s2_5 - tx * s3_5};
        store(to + 5, rhs1_5);
        const real rhs2_5[1] = {-ry * s1_5 - sy * s2_5 - ty * s3_5};
        store(to + 15, rhs2_5);
        const real rhs3_5[1] = {-rz * s1_5 - sz * s2_5 - tz * s3_5};
        store(to + 25, rhs3_5);
        const real s1_6 = -0.500000000f * u[0][0] + 1.00000000f * u[0][1] - 0.500000000f * u[0][2] - 1.00000000f * u[0][6] + 1.00000000f * u[0][7]
           ;
        const real s2_6 = -0.500000000f * u[0][0] + 1.00000000f * u[0][3] - 0.500000000f * u[0][5] - 1.00000000f * u[0][6] + 1.00000000f * u[0][8]
           ;
        const real s3_6 = -0.500000000f * u[0][0] + 0.500000000f * u[0][9];
        const real rhs1_6[1] = {-rx * s1_6 - sx * s2_6 - tx * s3_6};
        store(to + 6, rhs1_6);
        const real rhs2_6[1] = {-ry * s1_6 - sy * s2_6 - ty * s3_6};
        store(to + 16, rhs2_6);
        const real rhs3_6[1] = {-rz * s1_6 - sz * s2_6 - tz * s3_6};
        store(to + 26, rhs3_6);
        const real s1_7 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 0.500000000f * u[0][2] - 1.00000000f * u[0][6] + 1.00000000f * u[0][7]
           ;
        const real s2_7 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] + 1.00000000f * u[0][4] - 0.500000000f * u[0][5] - 1.00000000f * u[0][6]
            + 1.00000000f * u[0][8];
        const real s3_7 = 0.500000000f * u[0][0] - 1.00000000f * u[0][1] - 1.00000000f * u[0][6] + 1.00000000f * u[0][7] + 0.500000000f * u[0][9]
           ;
        const real rhs1_7[1] = {-rx * s1_7 - sx * s2_7 - tx * s3_7};
        store(to + 7, rhs1_7);
        const real rhs2_7[1] = {-ry * s1_7 - sy * s2_7 - ty * s3_7};
        store(to + 17, rhs2_7);
        const real rhs3_7[1] = {-rz * s1_7 - sz * s2_7 - tz * s3_7};
        store(to + 27, rhs3_7);
        const real s1_8 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 1.00000000f * u[0][3] + 1.00000000f * u[0][4] - 1.00000000f * u[0][6]
            + 1.00000000f * u[0][7];
        const real s2_8 = 0.500000000f * u[0][0] - 1.00000000f * u[0][3] + 0.500000000f * u[0][5] - 1.00000000f * u[0][6] + 1.00000000f * u[0][8]
           ;
        const real s3_8 = 0.500000000f * u[0][0] - 1.00000000f * u[0][3] - 1.00000000f * u[0][6] + 1.00000000f * u[0][8] + 0.500000000f * u[0][9]
           ;
        const real rhs1_8[1] = {-rx * s1_8 - sx * s2_8 - tx * s3_8};
        store(to + 8, rhs1_8);
        const real rhs2_8[1] = {-ry * s1_8 - sy * s2_8 - ty * s3_8};
        store(to + 18, rhs2_8);
        const real rhs3_8[1] = {-rz * s1_8 - sz * s2_8 - tz * s3_8};
        store(to + 28, rhs3_8);
        const real s1_9 = 0.500000000f * u[0][0] - 0.500000000f * u[0][2] - 2.00000000f * u[0][6] + 2.00000000f * u[0][7];
        const real s2_9 = 0.500000000f * u[0][0] - 0.500000000f * u[0][5] - 2.00000000f * u[0][6] + 2.00000000f * u[0][8];
        const real s3_9 = 0.500000000f * u[0][0] - 2.00000000f * u[0][6] + 1.50000000f * u[0][9];
        const real rhs1_9[1] = {-rx * s1_9 - sx * s2_9 - tx * s3_9};
        store(to + 9, rhs1_9);
        const real rhs2_9[1] = {-ry * s1_9 - sy * s2_9 - ty * s3_9};
        store(to + 19, rhs2_9);
        const real rhs3_9[1] = {-rz * s1_9 - sz * s2_9 - tz * s3_9};
        store(to + 29, rhs3_9);
    }

    __syncthreads();
    Vector* const target = reinterpret_cast<Vector*>(rhs + size_t(block_first) * words);
    #pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += threads_per_block) target[i] = *reinterpret_cast<const Vector*>(field + place(i));
}
