// dg_surface: maxwell_3d, order 3, f32
// hone emit dg_surface equation=maxwell_3d order=3 precision=f32 materials=uniform arithmetic=strict elements=100000 --target cuda --config elements_per_block=16,nodes_per_thread=1,elements_per_thread=2,operator=shared,unroll=4,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 12360 operations, 1664 bytes (compulsory); this form executes 11520 operations
using real = float;
constexpr int nodes = 20, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 10, face_points = face_count * face_nodes;
constexpr int elements_per_block = 16, elements_per_thread = 2, element_groups = elements_per_block / elements_per_thread;
constexpr int nodes_per_thread = 1, node_threads = 20, nodes_padded = 20;
constexpr int unroll = 4;        // columns of an operator per trip
constexpr int threads_per_block = 160, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory
constexpr int flux_columns = 40, flux_row = 44;  // points of an element's faces and their stride in shared memory, padded

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
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 10, 11, 12, 16, 17, 19, 3, 6, 8, 9, 12, 14, 15, 17, 18, 19, 0, 4, 7, 9, 10,
    13, 15, 16, 18, 19,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_surface(const real* __restrict__ q, const real* __restrict__ faces, const int* __restrict__ vmapP, real* __restrict__ rhs, const real* __restrict__ LIFT, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // fields, fluxes and right-hand sides of the block's elements in turns
    real* const fluxes = here;
    real* const operator_here = here + 4224;
    // A thread accumulates nodes node, node + node_threads, ... of elements element, element + element_groups, ... in registers.
    const int node = threadIdx.x % node_threads;
    const int element = threadIdx.x / node_threads;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};
    for (int i = threadIdx.x; i < 800; i += threads_per_block) operator_here[i] = LIFT[i];

    // Surface: the flux at every point of the faces of the block's elements. What lies beyond the last point or element repeats it, and a boundary reads the
    // own values twice, so that no load waits for a branch.
    #pragma unroll 2
    for (int i = threadIdx.x; i < elements_per_block * flux_row; i += threads_per_block) {
        const bool inside = i / flux_row < present && i % flux_row < face_points;
        const int e = min(i / flux_row, present - 1), point = min(i % flux_row, face_points - 1);
        const size_t k = block_first + e;
        const int plus = vmapP[k * face_points + point];
        real face[dimension + 1];
        load(face, faces + (k * face_count + point / face_nodes) * (dimension + 1));
        const real* const own = q + k * words + face_node[point];
        constexpr int own_stride = nodes;
        const real* const other = plus >= 0 ? q + (size_t(plus / nodes) * words + plus % nodes) : q + (k * words + face_node[point]);
        real difference[fields], flux[fields];
        // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary there is nothing.
        constexpr bool mirrored[fields] = {false, false, false, true, true, true};
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
        const real first = real(0.5) * fscale, second = first;
        const real wx = difference[3] + (ny * difference[2] - nz * difference[1]);
        const real wy = difference[4] + (nz * difference[0] - nx * difference[2]);
        const real wz = difference[5] + (nx * difference[1] - ny * difference[0]);
        const real along = nx * wx + ny * wy + nz * wz;
        flux[0] = first * (nz * wy - ny * wz);
        flux[1] = first * (nx * wz - nz * wx);
        flux[2] = first * (ny * wx - nx * wy);
        flux[3] = second * (wx - nx * along);
        flux[4] = second * (wy - ny * along);
        flux[5] = second * (wz - nz * along);
        #pragma unroll
        for (int f = 0; f < fields; ++f) fluxes[(f * elements_per_block + i / flux_row) * flux_row + i % flux_row] = inside ? flux[f] : real(0);
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
            for (int r = 0; r < nodes_per_thread; ++r) l[r] = operator_here[(c + j) * nodes_padded + node + r * node_threads];
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
                for (int f = 0; f < fields; ++f) here[((element + c * element_groups) * fields + f) * nodes + n] = sum[f][r][c];
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
            total[j] = (before[j] + total[j]);
        }
        store(rhs + base + i, total);
    }
}
