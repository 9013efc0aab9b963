// dg_stage: maxwell_2d_tm, order 4, f32
// hone emit dg_stage equation=maxwell_2d_tm order=4 precision=f32 materials=uniform arithmetic=strict elements=100000
//     --target cuda --config form=tile_whole,algebra=covariant,traces=memory,elements_per_block=16,nodes_per_thread=2,
//     elements_per_thread=1,operator=global,unroll=2,copy_width=1,min_blocks=1
// The same text serves any number of elements.
// per element: 4860 operations, 832 bytes (compulsory); this form executes 4169 operations
using real = float;
constexpr int nodes = 15, fields = 3, words = fields * nodes;
constexpr int dimension = 2, face_count = 3, face_nodes = 5, face_points = face_count * face_nodes;
constexpr int elements_per_block = 16, elements_per_thread = 1,
    element_groups = elements_per_block / elements_per_thread;
constexpr int nodes_per_thread = 2, node_threads = 8, nodes_padded = 16;
constexpr int unroll = 2;        // columns of an operator per trip
constexpr int threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 1;    // values per load and store of memory
constexpr int flux_columns = 16, flux_row = 18;  // padded points of all faces, their stride in shared memory
constexpr int field_columns = 16, field_row = 18;  // padded nodes of an element, their stride in shared memory
constexpr int factors = 4, accumulators = 3, geometry_words = dimension * dimension;

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
    0, 1, 2, 3, 4, 4, 8, 11, 13, 14, 0, 5, 9, 12, 14,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_stage(const real* __restrict__ q, const real* __restrict__ geometry, const real* __restrict__ faces,
    const int* __restrict__ vmapP, const real* __restrict__ stage, real* __restrict__ res, real* __restrict__ q_next,
    const real* __restrict__ D, const real* __restrict__ LIFT, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // fields, fluxes and right-hand sides of the block's elements in turns
    real* const here = reinterpret_cast<real*>(shared_memory);
    real* const fluxes = here;
    constexpr int field_words = 864;  // and those of the fluxes
    real* const factor = here + field_words;  // [elements_per_block][factors]
    // A thread accumulates nodes node, node + node_threads, ... of elements element, element + element_groups, ... in
    // registers.
    const int node = threadIdx.x % node_threads;
    const int element = threadIdx.x / node_threads;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};

    // Fields of the block's elements, and their metric factors.
    for (int e = threadIdx.x; e < present; e += threads_per_block) {
        const real* const g = geometry + size_t(block_first + e) * geometry_words;
        real* const own = factor + e * factors;
        for (int i = 0; i < factors; ++i) own[i] = g[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < elements_per_block * field_row; i += threads_per_block) {
        const int e = i / field_row, m = i % field_row;
        const real* const source = q + size_t(block_first + e) * words + m;
        real value[fields];
        #pragma unroll
        for (int f = 0; f < fields; ++f) value[f] = e < present && m < nodes ? source[f * nodes] : real(0);
        const real* const own = factor + (e < present ? e : 0) * factors;
        const real rx = own[0], ry = own[1], sx = own[2], sy = own[3];
        here[(0 * elements_per_block + e) * field_row + m] = rx * value[1] - ry * value[0];
        here[(1 * elements_per_block + e) * field_row + m] = sx * value[1] - sy * value[0];
        here[(2 * elements_per_block + e) * field_row + m] = value[2];
    }
    __syncthreads();

    // Volume: derivatives along r, s, t, combined with the metric factors.
    {
        real derivative[accumulators][nodes_per_thread][elements_per_thread] = {};
        #pragma unroll 1
        for (int m = 0; m < field_columns; m += unroll) {
            real u[fields][elements_per_thread][unroll];
            #pragma unroll
            for (int f = 0; f < fields; ++f)
                #pragma unroll
                for (int c = 0; c < elements_per_thread; ++c)
                    load(u[f][c], here + (f * elements_per_block + element + c * element_groups) * field_row + m);
            #pragma unroll
            for (int j = 0; j < unroll; ++j) {
                real d[dimension][nodes_per_thread];
                #pragma unroll
                for (int a = 0; a < dimension; ++a)
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r)
                        d[a][r] = D[((m + j) * dimension + a) * nodes_padded + node + r * node_threads];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r)
                    #pragma unroll
                    for (int c = 0; c < elements_per_thread; ++c) {
                        derivative[0][r][c] += d[0][r] * u[0][c][j];
                        derivative[1][r][c] += d[0][r] * u[2][c][j];
                        derivative[0][r][c] += d[1][r] * u[1][c][j];
                        derivative[2][r][c] += d[1][r] * u[2][c][j];
                    }
            }
        }
        #pragma unroll
        for (int c = 0; c < elements_per_thread; ++c) {
            const int e = element + c * element_groups;
            const real* const own = factor + (e < present ? e : 0) * factors;
            const real rx = own[0], ry = own[1], sx = own[2], sy = own[3];
            #pragma unroll
            for (int r = 0; r < nodes_per_thread; ++r) {
                sum[0][r][c] = -ry * derivative[1][r][c] - sy * derivative[2][r][c];
                sum[1][r][c] = rx * derivative[1][r][c] + sx * derivative[2][r][c];
                sum[2][r][c] = derivative[0][r][c];
            }
        }
    }
    __syncthreads();  // nobody needs the fields any more

    // Surface: the flux at every point of the faces of the block's elements. What lies beyond the last point or element
    // repeats it, and a boundary reads the own values twice, so that no load waits for a branch.
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
        const real* const other = plus >= 0 ? q + (size_t(plus / nodes) * words + plus % nodes)
            : q + (k * words + face_node[point]);
        real difference[fields], flux[fields];
        // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary there
        // is nothing.
        constexpr bool mirrored[fields] = {false, false, true};
        const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
        #pragma unroll
        for (int f = 0; f < fields; ++f) {
            const real own_value = own[f * own_stride], beyond = other[f * nodes];
            difference[f] = (mirrored[f] ? mirror : same) * beyond - own_value;
        }
        const real nx = face[0];
        const real ny = face[1];
        const real fscale = face[dimension];
        const real first = real(0.5) * fscale, second = first;
        const real w = difference[2] + (nx * difference[1] - ny * difference[0]);
        const real across = first * w;
        flux[0] = -ny * across;
        flux[1] = nx * across;
        flux[2] = second * w;
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
    const real a = stage[0], b = stage[1], dt = stage[2];
    const size_t base = size_t(block_first) * words;
    #pragma unroll 2
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real total[copy_width];
        load(total, here + i);
        real residual[copy_width];
        load(residual, res + base + i);
        real field[copy_width];
        load(field, q + base + i);
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            residual[j] = a * residual[j] + dt * total[j];
            field[j] += b * residual[j];
        }
        store(res + base + i, residual);
        store(q_next + base + i, field);
    }
}
