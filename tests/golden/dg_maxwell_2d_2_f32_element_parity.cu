// dg_volume: maxwell_2d_tm, order 2, f32
// hone emit dg_volume equation=maxwell_2d_tm order=2 precision=f32 arithmetic=strict elements=100000 --target cuda
//     --config form=element_parity,elements_per_block=32,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 510 operations, 160 bytes (compulsory); this form executes 176 operations
using real = float;
constexpr int nodes = 6, fields = 3, words = fields * nodes;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory
constexpr int threads_per_block = 64, blocks_per_multiprocessor = 1;
constexpr int geometry_words = 4, elements_per_block = 32, nodal_row = 18, even_parts = 4, odd_parts = 2;
__device__ const short first_node[4] = {1, 2, 0, 4};
__device__ const short second_node[2] = {3, 5};
__device__ const real along_sum[nodes][nodes] = {
    {-1.50000000f, -0.500000000f, 0.500000000f, 0, 0.500000000f, 0},
    {1.00000000f, 0, -1.00000000f, 0, -1.00000000f, 0},
    {-0.250000000f, 0, 0.250000000f, 0, 0.250000000f, 0},
    {0, 0, 0, -0.500000000f, 0, -1.00000000f},
    {0, 0.500000000f, 1.00000000f, 0, 1.00000000f, 0},
    {0, 0, 0, 0.250000000f, 0, 0.500000000f},
};
__device__ const real along_difference[nodes][nodes] = {
    {0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0.250000000f, 0, 0.500000000f},
    {1.00000000f, 0.500000000f, 0, 0, 0, 0},
    {0, 0, 0, -0.500000000f, 0, -1.00000000f},
    {-0.250000000f, 0, 0.250000000f, 0, 0.250000000f, 0},
};

// Copies past the registers, from global to shared memory. What a thread copied since its last commit_copies is a
// group; it waits for groups in the order in which it committed them.
// Copies `words` neighbouring words, of 4, 8 or 16 bytes, or writes zeros.
template <int words>
__device__ __forceinline__ void copy(real* to, const real* from, bool there) {
    constexpr int bytes = words * sizeof(real);
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from),
            "r"(there ? 16 : 0) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(bytes),
            "r"(there ? bytes : 0) : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until no more than the last `groups` of this thread's groups are under way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

// Copies `count` neighbouring values with the widest loads that 16 bytes and `count` allow.
template <int count>
__device__ __forceinline__ void load(real (&to)[count], const real* from) {
    constexpr int width = count % vector_width == 0 ? vector_width : count % 2 == 0 ? 2 : 1;
    struct alignas(width * sizeof(real)) Vector {
        real value[width];
    };
    #pragma unroll
    for (int i = 0; i < count / width; ++i) {
        const Vector vector = reinterpret_cast<const Vector*>(from)[i];
        #pragma unroll
        for (int j = 0; j < width; ++j) to[i * width + j] = vector.value[j];
    }
}

template <int count>
__device__ __forceinline__ void store(real* to, const real (&from)[count]) {
    struct alignas(count * sizeof(real)) Vector {
        real value[count];
    } vector;
    #pragma unroll
    for (int j = 0; j < count; ++j) vector.value[j] = from[j];
    *reinterpret_cast<Vector*>(to) = vector;
}

// What a block has of an array is one piece: values at `from` and behind it, of which so many are there, all at once
// where they are whole.
template <int count>
__device__ __forceinline__ void load(real (&to)[count], const real* from, bool whole, int there) {
    if (whole) {
        load(to, from);
    } else {
        #pragma unroll
        for (int j = 0; j < count; ++j)
            if (j < there) to[j] = from[j];
    }
}

template <int count>
__device__ __forceinline__ void store(real* to, const real (&from)[count], bool whole, int there) {
    if (whole) {
        store(to, from);
    } else {
        #pragma unroll
        for (int j = 0; j < count; ++j)
            if (j < there) to[j] = from[j];
    }
}

// A block handles `elements_per_block` elements, of which each has two threads. The first differentiates Ez, for dH/dt
// = -curl Ez, the second H, for dEz/dt = curl H: one text for both, which differentiates u[0] along r + s and u[1]
// along r - s. It works on the even and odd parts of nodal values under the reflection that swaps r and s, so that half
// of the coefficients are zero; the others stand in the code. `first_node` has the node where an even part is kept, and
// `second_node` that of an odd one, the image of the first.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [elements_per_block][nodal_row]: fields, later right-hand sides
    real* const nodal = reinterpret_cast<real*>(shared_memory);
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    const bool aligned = size_t(block_first) * words % copy_width == 0;  // whole copies may be made
    const int whole_words = aligned ? present * words / copy_width * copy_width : 0;
    for (int i = threadIdx.x * copy_width; i < whole_words; i += threads_per_block * copy_width)
        copy<copy_width>(nodal + i, q + size_t(block_first) * words + i, true);
    for (int i = whole_words + threadIdx.x; i < present * words; i += threads_per_block)
        copy<1>(nodal + i, q + size_t(block_first) * words + i, true);
    commit_copies();

    const int half = threadIdx.x / elements_per_block;  // the same for a whole warp
    const int e = threadIdx.x % elements_per_block;
    real gradient[geometry_words];
    load(gradient, geometry + size_t(block_first + min(e, present - 1)) * geometry_words);
    // Gradients of r + s and of r - s.
    const real rx = gradient[0] + gradient[2], ry = gradient[1] + gradient[3], sx = gradient[0] - gradient[2],
        sy = gradient[1] - gradient[3];
    wait_for_copies<0>();
    __syncthreads();

    real* const mine = nodal + e * nodal_row;
    real u[2][nodes];
    if (half == 0) {
        load(u[0], mine + 2 * nodes);
        #pragma unroll
        for (int n = 0; n < nodes; ++n) u[1][n] = u[0][n];
    } else {
        load(u[0], mine);
        load(u[1], mine + nodes);
        #pragma unroll
        for (int n = 0; n < nodes; ++n) {
            const real hx = u[0][n], hy = u[1][n];
            u[0][n] = rx * hy - ry * hx;
            u[1][n] = sx * hy - sy * hx;
        }
    }
    #pragma unroll
    for (int i = 0; i < odd_parts; ++i)
        #pragma unroll
        for (int a = 0; a < 2; ++a) {
            const real value = u[a][first_node[i]], image = u[a][second_node[i]];
            u[a][first_node[i]] = value + image;
            u[a][second_node[i]] = value - image;
        }
    // All fields are in registers, so that right-hand sides may take their place: of Hx and Hy, or of Ez.
    __syncthreads();
    real* const to = half == 0 ? mine : mine + 2 * nodes;
    const real weights[2][2] = {{half == 0 ? -ry : real(1), half == 0 ? -sy : real(1)}, {rx, sx}};
    const auto put = [&](int n, real along_sum, real along_difference) {
        to[n] = weights[0][0] * along_sum + weights[0][1] * along_difference;
        if (half == 0) to[nodes + n] = weights[1][0] * along_sum + weights[1][1] * along_difference;
    };
    // Compilers give up to unroll longer loops.
    const auto differentiate = [&](int begin, int end) {
        #pragma unroll
        for (int i = begin; i < end; ++i) {
            const int node = first_node[i], image = i < odd_parts ? second_node[i] : node;
            real even[2] = {}, odd[2] = {};
            #pragma unroll
            for (int c = 0; c < even_parts; ++c) {
                const int m = first_node[c];
                if (along_sum[m][node] != 0) even[0] += along_sum[m][node] * u[0][m];
                if (i < odd_parts && along_difference[m][image] != 0) odd[1] += along_difference[m][image] * u[1][m];
            }
            #pragma unroll
            for (int c = 0; c < odd_parts; ++c) {
                const int m = second_node[c];
                if (along_difference[m][node] != 0) even[1] += along_difference[m][node] * u[1][m];
                if (i < odd_parts && along_sum[m][image] != 0) odd[0] += along_sum[m][image] * u[0][m];
            }
            put(node, even[0] + odd[0], even[1] + odd[1]);
            if (i < odd_parts) put(image, even[0] - odd[0], even[1] - odd[1]);
        }
    };
    differentiate(0, 4);

    __syncthreads();
    #pragma unroll 4
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real value[copy_width];
        load(value, nodal + (i + i / words * (nodal_row - words)));
        store(rhs + size_t(block_first) * words + i, value, aligned && present * words - i >= copy_width,
            present * words - i);
    }
}
