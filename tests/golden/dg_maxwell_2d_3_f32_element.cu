// dg_volume: maxwell_2d_tm, order 3, f32
// hone emit dg_volume equation=maxwell_2d_tm order=3 precision=f32 arithmetic=strict elements=100000 --target cuda --config mapping=element,form=covariant,fields_per_pass=3,elements_per_block=64,nodes_per_thread=1,elements_per_thread=1,operator=immediate,unroll=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 1330 operations, 256 bytes (compulsory); this form executes 664 operations
using real = float;
constexpr int nodes = 10, fields = 3, words = fields * nodes, factors = 4;
constexpr int geometry_words = 4;
constexpr int elements_per_block = 64, threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int copy_width = 1;  // values per load and store of memory
constexpr int batch = 15;       // vectors that a thread loads at a time
constexpr int row = 31;         // values of one element in shared memory, padded

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
    const real rx = own[0], ry = own[1], sx = own[2], sy = own[3];
    real* const mine = field + e * row;
    real u[3][nodes];
    if (half == 0) {
        real raw[10];
        load<1>(raw, mine + 2 * nodes);
        #pragma unroll
        for (int m = 0; m < nodes; ++m) {
            u[0][m] = raw[0 * nodes + m];
        }
    } else {
        real raw[20];
        load<1>(raw, mine);
        #pragma unroll
        for (int m = 0; m < nodes; ++m) {
            u[0][m] = rx * raw[1 * nodes + m] - ry * raw[0 * nodes + m];
            u[1][m] = sx * raw[1 * nodes + m] - sy * raw[0 * nodes + m];
        }
    }

    // All fields are in registers, so the right-hand sides may take their place.
    __syncthreads();
    // First half: dH/dt = -curl Ez; second: dEz/dt = curl H.
    if (half == 0) {
        real* const to = mine;
        const real s1_0 = -3.00000000f * u[0][0] + 4.04508497f * u[0][1] - 1.54508497f * u[0][2] + 0.500000000f * u[0][3];
        const real s2_0 = -3.00000000f * u[0][0] + 4.04508497f * u[0][4] - 1.54508497f * u[0][7] + 0.500000000f * u[0][9];
        const real rhs0_0[1] = {-ry * s1_0 - sy * s2_0};
        store(to + 0, rhs0_0);
        const real rhs1_0[1] = {rx * s1_0 + sx * s2_0};
        store(to + 10, rhs1_0);
        const real s1_1 = -0.809016994f * u[0][0] + 1.11803399f * u[0][2] - 0.309016994f * u[0][3];
        const real s2_1 = -0.709016994f * u[0][0] - 2.00000000f * u[0][1] - 0.190983006f * u[0][2] + 0.100000000f * u[0][3] + 1.61803399f * u[0][4]
            + 2.70000000f * u[0][5] - 0.190983006f * u[0][6] - 1.30901699f * u[0][7] - 0.618033989f * u[0][8] + 0.600000000f * u[0][9]
           ;
        const real rhs0_1[1] = {-ry * s1_1 - sy * s2_1};
        store(to + 1, rhs0_1);
        const real rhs1_1[1] = {rx * s1_1 + sx * s2_1};
        store(to + 11, rhs1_1);
        const real s1_2 = 0.309016994f * u[0][0] - 1.11803399f * u[0][1] + 0.809016994f * u[0][3];
        const real s2_2 = 0.409016994f * u[0][0] - 1.30901699f * u[0][1] - 2.00000000f * u[0][2] + 0.100000000f * u[0][3] - 0.190983006f * u[0][4]
            + 2.70000000f * u[0][5] + 1.61803399f * u[0][6] - 0.618033989f * u[0][7] - 1.30901699f * u[0][8] + 0.600000000f * u[0][9]
           ;
        const real rhs0_2[1] = {-ry * s1_2 - sy * s2_2};
        store(to + 2, rhs0_2);
        const real rhs1_2[1] = {rx * s1_2 + sx * s2_2};
        store(to + 12, rhs1_2);
        const real s1_3 = -0.500000000f * u[0][0] + 1.54508497f * u[0][1] - 4.04508497f * u[0][2] + 3.00000000f * u[0][3];
        const real s2_3 = -0.500000000f * u[0][0] + 1.54508497f * u[0][1] - 4.04508497f * u[0][2] + 4.04508497f * u[0][6] - 1.54508497f * u[0][8]
            + 0.500000000f * u[0][9];
        const real rhs0_3[1] = {-ry * s1_3 - sy * s2_3};
        store(to + 3, rhs0_3);
        const real rhs1_3[1] = {rx * s1_3 + sx * s2_3};
        store(to + 13, rhs1_3);
        const real s1_4 = -0.709016994f * u[0][0] + 1.61803399f * u[0][1] - 1.30901699f * u[0][2] + 0.600000000f * u[0][3] - 2.00000000f * u[0][4]
            + 2.70000000f * u[0][5] - 0.618033989f * u[0][6] - 0.190983006f * u[0][7] - 0.190983006f * u[0][8] + 0.100000000f * u[0][9]
           ;
        const real s2_4 = -0.809016994f * u[0][0] + 1.11803399f * u[0][7] - 0.309016994f * u[0][9];
        const real rhs0_4[1] = {-ry * s1_4 - sy * s2_4};
        store(to + 4, rhs0_4);
        const real rhs1_4[1] = {rx * s1_4 + sx * s2_4};
        store(to + 14, rhs1_4);
        const real s1_5 = 0.333333333f * u[0][0] - 0.621129994f * u[0][1] + 0.621129994f * u[0][2] - 0.333333333f * u[0][3] - 0.727231664f * u[0][4]
            + 0.727231664f * u[0][6] - 0.106101670f * u[0][7] + 0.106101670f * u[0][8];
        const real s2_5 = 0.333333333f * u[0][0] - 0.727231664f * u[0][1] - 0.106101670f * u[0][2] - 0.621129994f * u[0][4] + 0.106101670f * u[0][6]
            + 0.621129994f * u[0][7] + 0.727231664f * u[0][8] - 0.333333333f * u[0][9];
        const real rhs0_5[1] = {-ry * s1_5 - sy * s2_5};
        store(to + 5, rhs0_5);
        const real rhs1_5[1] = {rx * s1_5 + sx * s2_5};
        store(to + 15, rhs1_5);
        const real s1_6 = -0.600000000f * u[0][0] + 1.30901699f * u[0][1] - 1.61803399f * u[0][2] + 0.709016994f * u[0][3] + 0.618033989f * u[0][4]
            - 2.70000000f * u[0][5] + 2.00000000f * u[0][6] + 0.190983006f * u[0][7] + 0.190983006f * u[0][8] - 0.100000000f * u[0][9]
           ;
        const real s2_6 = -0.600000000f * u[0][0] + 1.30901699f * u[0][1] - 1.61803399f * u[0][2] - 0.100000000f * u[0][3] + 0.618033989f * u[0][4]
            - 2.70000000f * u[0][5] + 2.00000000f * u[0][6] + 0.190983006f * u[0][7] + 1.30901699f * u[0][8] - 0.409016994f * u[0][9]
           ;
        const real rhs0_6[1] = {-ry * s1_6 - sy * s2_6};
        store(to + 6, rhs0_6);
        const real rhs1_6[1] = {rx * s1_6 + sx * s2_6};
        store(to + 16, rhs1_6);
        const real s1_7 = 0.409016994f * u[0][0] - 0.190983006f * u[0][1] - 0.618033989f * u[0][2] + 0.600000000f * u[0][3] - 1.30901699f * u[0][4]
            + 2.70000000f * u[0][5] - 1.30901699f * u[0][6] - 2.00000000f * u[0][7] + 1.61803399f * u[0][8] + 0.100000000f * u[0][9]
           ;
        const real s2_7 = 0.309016994f * u[0][0] - 1.11803399f * u[0][4] + 0.809016994f * u[0][9];
        const real rhs0_7[1] = {-ry * s1_7 - sy * s2_7};
        store(to + 7, rhs0_7);
        const real rhs1_7[1] = {rx * s1_7 + sx * s2_7};
        store(to + 17, rhs1_7);
        const real s1_8 = -0.600000000f * u[0][0] + 0.618033989f * u[0][1] + 0.190983006f * u[0][2] - 0.409016994f * u[0][3] + 1.30901699f * u[0][4]
            - 2.70000000f * u[0][5] + 1.30901699f * u[0][6] - 1.61803399f * u[0][7] + 2.00000000f * u[0][8] - 0.100000000f * u[0][9]
           ;
        const real s2_8 = -0.600000000f * u[0][0] + 0.618033989f * u[0][1] + 0.190983006f * u[0][2] - 0.100000000f * u[0][3] + 1.30901699f * u[0][4]
            - 2.70000000f * u[0][5] + 0.190983006f * u[0][6] - 1.61803399f * u[0][7] + 2.00000000f * u[0][8] + 0.709016994f * u[0][9]
           ;
        const real rhs0_8[1] = {-ry * s1_8 - sy * s2_8};
        store(to + 8, rhs0_8);
        const real rhs1_8[1] = {rx * s1_8 + sx * s2_8};
        store(to + 18, rhs1_8);
        const real s1_9 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 1.54508497f * u[0][4] - 1.54508497f * u[0][6] - 4.04508497f * u[0][7]
            + 4.04508497f * u[0][8];
        const real s2_9 = -0.500000000f * u[0][0] + 1.54508497f * u[0][4] - 4.04508497f * u[0][7] + 3.00000000f * u[0][9];
        const real rhs0_9[1] = {-ry * s1_9 - sy * s2_9};
        store(to + 9, rhs0_9);
        const real rhs1_9[1] = {rx * s1_9 + sx * s2_9};
        store(to + 19, rhs1_9);
    } else {
        real* const to = mine + 2 * nodes;
        const real s0_0 = -3.00000000f * u[0][0] + 4.04508497f * u[0][1] - 1.54508497f * u[0][2] + 0.500000000f * u[0][3] - 3.00000000f * u[1][0]
            + 4.04508497f * u[1][4] - 1.54508497f * u[1][7] + 0.500000000f * u[1][9];
        const real rhs2_0[1] = {s0_0};
        store(to + 0, rhs2_0);
        const real s0_1 = -0.809016994f * u[0][0] + 1.11803399f * u[0][2] - 0.309016994f * u[0][3] - 0.709016994f * u[1][0] - 2.00000000f * u[1][1]
            - 0.190983006f * u[1][2] + 0.100000000f * u[1][3] + 1.61803399f * u[1][4] + 2.70000000f * u[1][5] - 0.190983006f * u[1][6]
            - 1.30901699f * u[1][7] - 0.618033989f * u[1][8] + 0.600000000f * u[1][9];
        const real rhs2_1[1] = {s0_1};
        store(to + 1, rhs2_1);
        const real s0_2 = 0.309016994f * u[0][0] - 1.11803399f * u[0][1] + 0.809016994f * u[0][3] + 0.409016994f * u[1][0] - 1.30901699f * u[1][1]
            - 2.00000000f * u[1][2] + 0.100000000f * u[1][3] - 0.190983006f * u[1][4] + 2.70000000f * u[1][5] + 1.61803399f * u[1][6]
            - 0.618033989f * u[1][7] - 1.30901699f * u[1][8] + 0.600000000f * u[1][9];
        const real rhs2_2[1] = {s0_2};
        store(to + 2, rhs2_2);
        const real s0_3 = -0.500000000f * u[0][0] + 1.54508497f * u[0][1] - 4.04508497f * u[0][2] + 3.00000000f * u[0][3] - 0.500000000f * u[1][0]
            + 1.54508497f * u[1][1] - 4.04508497f * u[1][2] + 4.04508497f * u[1][6] - 1.54508497f * u[1][8] + 0.500000000f * u[1][9]
           ;
        const real rhs2_3[1] = {s0_3};
        store(to + 3, rhs2_3);
        const real s0_4 = -0.709016994f * u[0][0] + 1.61803399f * u[0][1] - 1.30901699f * u[0][2] + 0.600000000f * u[0][3] - 2.00000000f * u[0][4]
            + 2.70000000f * u[0][5] - 0.618033989f * u[0][6] - 0.190983006f * u[0][7] - 0.190983006f * u[0][8] + 0.100000000f * u[0][9]
            - 0.809016994f * u[1][0] + 1.11803399f * u[1][7] - 0.309016994f * u[1][9];
        const real rhs2_4[1] = {s0_4};
        store(to + 4, rhs2_4);
        const real s0_5 = 0.333333333f * u[0][0] - 0.621129994f * u[0][1] + 0.621129994f * u[0][2] - 0.333333333f * u[0][3] - 0.727231664f * u[0][4]
            + 0.727231664f * u[0][6] - 0.106101670f * u[0][7] + 0.106101670f * u[0][8] + 0.333333333f * u[1][0] - 0.727231664f * u[1][1]
            - 0.106101670f * u[1][2] - 0.621129994f * u[1][4] + 0.106101670f * u[1][6] + 0.621129994f * u[1][7] + 0.727231664f * u[1][8]
            - 0.333333333f * u[1][9];
        const real rhs2_5[1] = {s0_5};
        store(to + 5, rhs2_5);
        const real s0_6 = -0.600000000f * u[0][0] + 1.30901699f * u[0][1] - 1.61803399f * u[0][2] + 0.709016994f * u[0][3] + 0.618033989f * u[0][4]
            - 2.70000000f * u[0][5] + 2.00000000f * u[0][6] + 0.190983006f * u[0][7] + 0.190983006f * u[0][8] - 0.100000000f * u[0][9]
            - 0.600000000f * u[1][0] + 1.30901699f * u[1][1] - 1.61803399f * u[1][2] - 0.100000000f * u[1][3] + 0.618033989f * u[1][4]
            - 2.70000000f * u[1][5] + 2.00000000f * u[1][6] + 0.190983006f * u[1][7] + 1.30901699f * u[1][8] - 0.409016994f * u[1][9]
           ;
        const real rhs2_6[1] = {s0_6};
        store(to + 6, rhs2_6);
        const real s0_7 = 0.409016994f * u[0][0] - 0.190983006f * u[0][1] - 0.618033989f * u[0][2] + 0.600000000f * u[0][3] - 1.30901699f * u[0][4]
            + 2.70000000f * u[0][5] - 1.30901699f * u[0][6] - 2.00000000f * u[0][7] + 1.61803399f * u[0][8] + 0.100000000f * u[0][9]
            + 0.309016994f * u[1][0] - 1.11803399f * u[1][4] + 0.809016994f * u[1][9];
        const real rhs2_7[1] = {s0_7};
        store(to + 7, rhs2_7);
        const real s0_8 = -0.600000000f * u[0][0] + 0.618033989f * u[0][1] + 0.190983006f * u[0][2] - 0.409016994f * u[0][3] + 1.30901699f * u[0][4]
            - 2.70000000f * u[0][5] + 1.30901699f * u[0][6] - 1.61803399f * u[0][7] + 2.00000000f * u[0][8] - 0.100000000f * u[0][9]
            - 0.600000000f * u[1][0] + 0.618033989f * u[1][1] + 0.190983006f * u[1][2] - 0.100000000f * u[1][3] + 1.30901699f * u[1][4]
            - 2.70000000f * u[1][5] + 0.190983006f * u[1][6] - 1.61803399f * u[1][7] + 2.00000000f * u[1][8] + 0.709016994f * u[1][9]
           ;
        const real rhs2_8[1] = {s0_8};
        store(to + 8, rhs2_8);
        const real s0_9 = -0.500000000f * u[0][0] + 0.500000000f * u[0][3] + 1.54508497f * u[0][4] - 1.54508497f * u[0][6] - 4.04508497f * u[0][7]
            + 4.04508497f * u[0][8] - 0.500000000f * u[1][0] + 1.54508497f * u[1][4] - 4.04508497f * u[1][7] + 3.00000000f * u[1][9]
           ;
        const real rhs2_9[1] = {s0_9};
        store(to + 9, rhs2_9);
    }

    __syncthreads();
    Vector* const target = reinterpret_cast<Vector*>(rhs + size_t(block_first) * words);
    #pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += threads_per_block) target[i] = *reinterpret_cast<const Vector*>(field + place(i));
}
