// dg_volume: maxwell_3d, order 5, f32
// hone emit dg_volume equation=maxwell_3d order=5 precision=f32 arithmetic=strict elements=100000 --target cuda
//     --config form=warp_tile,basis=parity,operator=global,parts=in_place,elements_per_block=32,nodes_per_thread=4,
//     elements_per_thread=2,node_lanes=2,unroll=4,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 116592 operations, 2724 bytes (compulsory); this form executes 50544 operations
using real = float;
constexpr int nodes = 56, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 21, face_points = face_count * face_nodes;
constexpr int elements_per_block = 32, elements_per_thread = 2,
    element_groups = elements_per_block / elements_per_thread;
constexpr int node_lanes = 2, element_lanes = 16, warps_along_nodes = 8;
constexpr int nodes_per_thread = 4, nodes_padded = 64;
constexpr int group = 4, unroll = 4;  // neighbouring nodes of a thread, and columns of an operator per trip
constexpr int even_parts = 34, odd_parts = 22, even_rows = 40, odd_rows = 24, even_columns = 36, odd_columns = 24;
__device__ const short first_node[34] =
    {1, 2, 3, 4, 5, 8, 9, 10, 14, 22, 23, 24, 25, 28, 29, 37, 38, 39, 42, 47, 48, 53, 0, 7, 13, 21, 27, 32, 36, 41, 46,
    50, 52, 55};
__device__ const short second_node[22] =
    {6, 11, 15, 18, 20, 12, 16, 19, 17, 26, 30, 33, 35, 31, 34, 40, 43, 45, 44, 49, 51, 54};
constexpr int padded_columns = 4;  // of a row, where nothing is
__device__ const short padded_column[4] = {34, 35, 58, 59};
__device__ const short row_node[64] =
    {1, 2, 3, 4, 5, 8, 9, 10, 14, 22, 23, 24, 25, 28, 29, 37, 38, 39, 42, 47, 48, 53, 0, 7, 13, 21, 27, 32, 36, 41, 46,
    50, 52, 55, -1, -1, -1, -1, -1, -1, 6, 11, 15, 18, 20, 12, 16, 19, 17, 26, 30, 33, 35, 31, 34, 40, 43, 45, 44, 49,
    51, 54, -1, -1};
// stride between elements as memory has them; how many have banks apart
constexpr int nodal_row = 340, elements_apart = 16;
constexpr int threads_per_block = 256, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory
// points of an element's faces and their stride in shared memory, padded
constexpr int flux_columns = 96, flux_row = 100;
constexpr int field_columns = 60, field_row = 60;  // nodes of an element, likewise
constexpr int factors = 10, accumulators = 6, geometry_words = dimension * dimension;

// Threads that take `places` of each element of a block take first as many elements as have banks of their own: which
// element and which place thread i has.
__device__ __forceinline__ int element_of(int i, int places) {
    return elements_apart == elements_per_block ? i % elements_per_block
        : i / (elements_apart * places) * elements_apart + i % elements_apart;
}

__device__ __forceinline__ int place_of(int i, int places) {
    return elements_apart == elements_per_block ? i / elements_per_block : i / elements_apart % places;
}

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


// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs,
    const real* __restrict__ D, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // fields and fluxes of the block's elements
    constexpr int field_words = 11520, flux_words = 0, factor_words = 320, frames_words = 0;
    real* const factor = here + field_words + flux_words;  // [elements_per_block][factors]
    real* const nodal = here;  // fields as memory has them, and right-hand sides
    // Right-hand sides.
    real* const out = nodal;

    // A warp is node_lanes x element_lanes threads. Neighbouring lanes have the same nodes, and every second one the
    // same elements. A thread accumulates nodes_per_thread nodes of elements element, element + element_groups, ... in
    // registers.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int node = warp % warps_along_nodes * (node_lanes * nodes_per_thread) + lane / 2 % node_lanes * group;
    const int element = warp / warps_along_nodes * element_lanes + lane / (2 * node_lanes) * 2 + lane % 2;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};

    // Fields of the block's elements arrive in shared memory as they lie. No register waits for them, so that all are
    // under way together.
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width)
        copy<copy_width>(nodal + (i + i / words * (nodal_row - words)), q + size_t(block_first) * words + i, true);
    commit_copies();
    for (int e = threadIdx.x; e < present; e += threads_per_block) {
        const real* const given = geometry + size_t(block_first + e) * geometry_words;
        real g[geometry_words];
        // Gradients of r + s, r - s and t.
        for (int j = 0; j < geometry_words; ++j)
            g[j] = j < dimension ? given[j] + given[j + dimension] : j < 2 * dimension ? given[j - dimension] - given[j]
                : given[j];
        real* const own = factor + e * factors;
        // Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).
        for (int a = 0; a < 3; ++a) {
            const real* const b = g + 3 * ((a + 1) % 3);
            const real* const c = g + 3 * ((a + 2) % 3);
            for (int i = 0; i < 3; ++i)
                own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        }
        own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    }
    wait_for_copies<0>();
    __syncthreads();

    // The faces have what they need of the fields: transformed, their even and odd parts take the place. `first_node`
    // has the node of an even part, and `second_node` that of an odd one, the image of the first under the reflection
    // that swaps r and s. `row_node` has either for a row of D and LIFT, and -1 where these are padded.
    {
        constexpr int parts = elements_per_block * even_parts,
            trips = (parts + threads_per_block - 1) / threads_per_block;
        real even[trips][fields], odd[trips][fields];
        #pragma unroll
        for (int trip = 0; trip < trips; ++trip) {
            const int i = min(int(threadIdx.x) + trip * threads_per_block, parts - 1), e = element_of(i, even_parts),
                part = place_of(i, even_parts);
            const bool paired = part < odd_parts;
            const real* const row = nodal + e * nodal_row;
            const int first = first_node[part], second = paired ? second_node[part] : first;
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                const real value = row[f * nodes + first], image = row[f * nodes + second];
                even[trip][f] = paired ? value + image : value;
                odd[trip][f] = value - image;
            }
        }
        __syncthreads();
        #pragma unroll
        for (int trip = 0; trip < trips; ++trip) {
            const int i = threadIdx.x + trip * threads_per_block, e = element_of(i, even_parts),
                part = place_of(i, even_parts);
            if (i >= parts) break;
            const auto put = [&](int m, const real(&value)[fields]) {
                const real* const own = factor + (e < present ? e : 0) * factors;
                const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
                    yt = own[7], zt = own[8], J = own[9];
                here[(0 * elements_per_block + e) * field_row + m] = xr * value[0] + yr * value[1] + zr * value[2];
                here[(1 * elements_per_block + e) * field_row + m] = xs * value[0] + ys * value[1] + zs * value[2];
                here[(2 * elements_per_block + e) * field_row + m] = xt * value[0] + yt * value[1] + zt * value[2];
                here[(3 * elements_per_block + e) * field_row + m] = xr * value[3] + yr * value[4] + zr * value[5];
                here[(4 * elements_per_block + e) * field_row + m] = xs * value[3] + ys * value[4] + zs * value[5];
                here[(5 * elements_per_block + e) * field_row + m] = xt * value[3] + yt * value[4] + zt * value[5];
            };
            put(part, even[trip]);
            if (part < odd_parts) put(even_columns + part, odd[trip]);
        }
        for (int i = threadIdx.x; i < fields * elements_per_block * padded_columns; i += threads_per_block)
            here[i / padded_columns * field_row + padded_column[i % padded_columns]] = 0;
    }
    __syncthreads();

    // Volume: derivatives along r, s, t, combined with the metric factors.
    {
        real derivative[accumulators][nodes_per_thread][elements_per_thread] = {};
        // Rows of either parity: with columns of the same by derivatives along r + s and t, with those of the other
        // along r - s.
        const bool odd = node >= even_rows;
        const int rows = odd ? odd_rows : even_rows, same_columns = odd ? odd_columns : even_columns;
        const real* const begin_of_derivatives = D;
        const real* coefficients = begin_of_derivatives
            + (odd ? even_rows * (even_columns * (dimension - 1) + odd_columns) + node - even_rows : node);
        const real* column = here + element * field_row + (odd ? even_columns : 0);
        #pragma unroll 1
        for (int m = 0; m < same_columns; m += unroll) {
            real u[fields][elements_per_thread][unroll];
            #pragma unroll
            for (int f = 0; f < fields; ++f)
                #pragma unroll
                for (int c = 0; c < elements_per_thread; ++c)
                    load(u[f][c], column + (f * elements_per_block + c * element_groups) * field_row + m);
            #pragma unroll
            for (int j = 0; j < unroll; ++j) {
                real d[dimension][nodes_per_thread / group][group];
                #pragma unroll
                for (int a = 0; a < dimension; a += 2) {
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread / group; ++r)
                        load(d[a][r], coefficients + r * (node_lanes * group));
                    coefficients += rows;
                }
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r)
                    #pragma unroll
                    for (int c = 0; c < elements_per_thread; ++c) {
                        derivative[0][r][c] -= d[2][r / group][r % group] * u[1][c][j];
                        derivative[1][r][c] += d[2][r / group][r % group] * u[0][c][j];
                        derivative[1][r][c] -= d[0][r / group][r % group] * u[2][c][j];
                        derivative[2][r][c] += d[0][r / group][r % group] * u[1][c][j];
                        derivative[3][r][c] -= d[2][r / group][r % group] * u[4][c][j];
                        derivative[4][r][c] += d[2][r / group][r % group] * u[3][c][j];
                        derivative[4][r][c] -= d[0][r / group][r % group] * u[5][c][j];
                        derivative[5][r][c] += d[0][r / group][r % group] * u[4][c][j];
                    }
            }
        }
        column = here + element * field_row + (odd ? 0 : even_columns);
        #pragma unroll 1
        for (int m = 0; m < field_columns - same_columns; m += unroll) {
            real u[fields][elements_per_thread][unroll];
            #pragma unroll
            for (int f = 0; f < fields; ++f)
                #pragma unroll
                for (int c = 0; c < elements_per_thread; ++c)
                    load(u[f][c], column + (f * elements_per_block + c * element_groups) * field_row + m);
            #pragma unroll
            for (int j = 0; j < unroll; ++j) {
                real d[dimension][nodes_per_thread / group][group];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread / group; ++r)
                    load(d[1][r], coefficients + r * (node_lanes * group));
                coefficients += rows;
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r)
                    #pragma unroll
                    for (int c = 0; c < elements_per_thread; ++c) {
                        derivative[0][r][c] += d[1][r / group][r % group] * u[2][c][j];
                        derivative[2][r][c] -= d[1][r / group][r % group] * u[0][c][j];
                        derivative[3][r][c] += d[1][r / group][r % group] * u[5][c][j];
                        derivative[5][r][c] -= d[1][r / group][r % group] * u[3][c][j];
                    }
            }
        }
        #pragma unroll
        for (int c = 0; c < elements_per_thread; ++c) {
            const int e = element + c * element_groups;
            const real* const own = factor + (e < present ? e : 0) * factors;
            const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
                yt = own[7], zt = own[8], J = own[9];
            #pragma unroll
            for (int r = 0; r < nodes_per_thread; ++r) {
                sum[0][r][c] = J * (-xr * derivative[3][r][c] - xs * derivative[4][r][c] - xt * derivative[5][r][c]);
                sum[1][r][c] = J * (-yr * derivative[3][r][c] - ys * derivative[4][r][c] - yt * derivative[5][r][c]);
                sum[2][r][c] = J * (-zr * derivative[3][r][c] - zs * derivative[4][r][c] - zt * derivative[5][r][c]);
                sum[3][r][c] = J * (xr * derivative[0][r][c] + xs * derivative[1][r][c] + xt * derivative[2][r][c]);
                sum[4][r][c] = J * (yr * derivative[0][r][c] + ys * derivative[1][r][c] + yt * derivative[2][r][c]);
                sum[5][r][c] = J * (zr * derivative[0][r][c] + zs * derivative[1][r][c] + zt * derivative[2][r][c]);
            }
        }
    }

    // Right-hand sides change threads, so that memory is read and written in one piece.
    __syncthreads();
    #pragma unroll
    for (int c = 0; c < elements_per_thread; ++c)
        #pragma unroll
        for (int r = 0; r < nodes_per_thread; ++r) {
            const int n = row_node[node + r / group * (node_lanes * group) + r % group];
            if (n >= 0)
                #pragma unroll
                for (int f = 0; f < fields; ++f)
                    out[(element + c * element_groups) * nodal_row + f * nodes + n] = sum[f][r][c];
        }
    __syncthreads();
    for (int i = threadIdx.x; i < elements_per_block * odd_parts; i += threads_per_block) {
        real* const row = out + element_of(i, odd_parts) * nodal_row;
        const int place = place_of(i, odd_parts), first = first_node[place], second = second_node[place];
        #pragma unroll
        for (int f = 0; f < fields; ++f) {
            const real even = row[f * nodes + first], odd = row[f * nodes + second];
            row[f * nodes + first] = even + odd;
            row[f * nodes + second] = even - odd;
        }
    }
    __syncthreads();
    const size_t base = size_t(block_first) * words;
    #pragma unroll 4
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real total[copy_width];
        load(total, out + (i + i / words * (nodal_row - words)));
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            total[j] = total[j];
        }
        store(rhs + base + i, total);
    }
}
