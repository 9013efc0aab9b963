// dg_rk: maxwell_3d, order 3, f32
// hone emit dg_rk equation=maxwell_3d order=3 precision=f32 elements=100000 --target cuda --config form=stream,
//     elements_per_block=8,block=256,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 600 operations, 2400 bytes (compulsory); this form executes 600 operations
using real = float;
constexpr int nodes = 20, fields = 6, words = fields * nodes;
constexpr int elements_per_block = 8, threads_per_block = 256, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory

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


// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_rk(const real* __restrict__ rhs, const real* __restrict__ stage, real* __restrict__ res, real* __restrict__ q,
    int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    const real a = stage[0], b = stage[1], dt = stage[2];
    const size_t base = size_t(block_first) * words;
    #pragma unroll 2
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real before[copy_width];
        load(before, rhs + base + i);
        real residual[copy_width];
        load(residual, res + base + i);
        real field[copy_width];
        load(field, q + base + i);
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            residual[j] = a * residual[j] + dt * before[j];
            field[j] += b * residual[j];
        }
        store(res + base + i, residual);
        store(q + base + i, field);
    }
}
