// dg_surface: acoustics_3d, order 4, f64
// hone emit dg_surface equation=acoustics_3d order=4 precision=f64 materials=per_element arithmetic=strict
//     elements=100000 --target cuda --config form=tile,elements_per_block=4,nodes_per_thread=1,elements_per_thread=1,
//     operator=global,unroll=1,copy_width=1,min_blocks=1
// The same text serves any number of elements.
// per element: 18260 operations, 3720 bytes (compulsory); this form executes 18340 operations
using real = double;
constexpr int nodes = 35, fields = 4, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 15, face_points = face_count * face_nodes;
constexpr int elements_per_block = 4, elements_per_thread = 1,
    element_groups = elements_per_block / elements_per_thread;
constexpr int nodes_per_thread = 1, node_threads = 35, nodes_padded = 35;
constexpr int unroll = 1;        // columns of an operator per trip
constexpr int threads_per_block = 140, blocks_per_multiprocessor = 1;
constexpr int vector_width = 2;  // values in 16 bytes
constexpr int copy_width = 1;    // values per load and store of memory
// points of an element's faces and their stride in shared memory, padded
constexpr int flux_columns = 60, flux_row = 61;

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

// Node of the element at each point of its faces: vmapM without the element's offset.
__device__ const unsigned short face_node[face_points] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 15, 16, 17, 18, 25, 26, 27, 31, 32, 34, 4, 8, 11,
        13,
    14, 18, 21, 23, 24, 27, 29, 30, 32, 33, 34, 0, 5, 9, 12, 14, 15, 19, 22, 24, 25, 28, 30, 31, 33, 34,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_surface(const real* __restrict__ q, const real* __restrict__ faces, const int* __restrict__ vmapP,
    const real* __restrict__ materials, real* __restrict__ rhs, const real* __restrict__ LIFT, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // fields, fluxes and right-hand sides of the block's elements in turns
    real* const here = reinterpret_cast<real*>(shared_memory);
    real* const fluxes = here;
    // A thread accumulates nodes node, node + node_threads, ... of elements element, element + element_groups, ... in
    // registers.
    const int node = threadIdx.x % node_threads;
    const int element = threadIdx.x / node_threads;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};

    // Surface: the flux at every point of the faces of the block's elements. What lies beyond the last point or element
    // repeats it, and a boundary reads the own values twice, so that no load waits for a branch.
    #pragma unroll 1
    for (int i = threadIdx.x; i < elements_per_block * flux_row; i += threads_per_block) {
        const bool inside = i / flux_row < present && i % flux_row < face_points;
        const int e = min(i / flux_row, present - 1), point = min(i % flux_row, face_points - 1);
        const size_t k = block_first + e;
        const int plus = vmapP[k * face_points + point];
        real face[dimension + 1];
        load(face, faces + (k * face_count + point / face_nodes) * (dimension + 1));
        const real* const own = q + k * words + face_node[point];
        constexpr int own_stride = nodes;
        const real* const other = plus >= 0 ? q + (size_t(plus / nodes) * words + plus % nodes)
            : q + (k * words + face_node[point]);
        real difference[fields], flux[fields];
        // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary there
        // is nothing.
        constexpr bool mirrored[fields] = {false, true, true, true};
        const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
        #pragma unroll
        for (int f = 0; f < fields; ++f) {
            const real own_value = own[f * own_stride], beyond = other[f * nodes];
            difference[f] = (mirrored[f] ? mirror : same) * beyond - own_value;
        }
        const real nx = face[0];
        const real ny = face[1];
        const real nz = face[2];
        const real fscale = face[dimension];
        const real own_z = materials[3 * k + 2];
        const real other_z = plus < 0 ? own_z : materials[3 * size_t(plus / nodes) + 2];
        const real first = fscale / (own_z + other_z);
        const real second = first * own_z;
        const real du = other_z * (nx * difference[1] + ny * difference[2] + nz * difference[3]);
        const real push = difference[0] - du;
        flux[0] = first * push;
        flux[1] = -second * nx * push;
        flux[2] = -second * ny * push;
        flux[3] = -second * nz * push;
        #pragma unroll
        for (int f = 0; f < fields; ++f)
            fluxes[(f * elements_per_block + i / flux_row) * flux_row + i % flux_row] = inside ? flux[f] : real(0);
    }
    __syncthreads();

    #pragma unroll 1
    for (int c = 0; c < flux_columns; c += unroll) {
        real u[fields][elements_per_thread][unroll];
        #pragma unroll
        for (int f = 0; f < fields; ++f)
            #pragma unroll
            for (int i = 0; i < elements_per_thread; ++i)
                load(u[f][i], fluxes + (f * elements_per_block + element + i * element_groups) * flux_row + c);
        #pragma unroll
        for (int j = 0; j < unroll; ++j) {
            real l[nodes_per_thread];
            #pragma unroll
            for (int r = 0; r < nodes_per_thread; ++r) l[r] = LIFT[(c + j) * nodes_padded + node + r * node_threads];
            #pragma unroll
            for (int f = 0; f < fields; ++f)
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r)
                    #pragma unroll
                    for (int i = 0; i < elements_per_thread; ++i) sum[f][r][i] += l[r] * u[f][i][j];
        }
    }

    // Right-hand sides change threads, so that memory is read and written in one piece.
    __syncthreads();
    #pragma unroll
    for (int c = 0; c < elements_per_thread; ++c)
        #pragma unroll
        for (int r = 0; r < nodes_per_thread; ++r) {
            const int n = node + r * node_threads;
            if (n < nodes)
                #pragma unroll
                for (int f = 0; f < fields; ++f)
                    here[((element + c * element_groups) * fields + f) * nodes + n] = sum[f][r][c];
        }
    __syncthreads();
    const size_t base = size_t(block_first) * words;
    #pragma unroll 2
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real total[copy_width];
        load(total, here + i);
        real before[copy_width];
        load(before, rhs + base + i);
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            const real scale = materials[3 * size_t(block_first + (i + j) / words) + ((i + j) % words < 35 ? 0 : 1)];
            total[j] = (before[j] + total[j]) * scale;
        }
        store(rhs + base + i, total);
    }
}
