// dg_surface: acoustics_3d, order 1, f64
// hone emit dg_surface equation=acoustics_3d order=1 precision=f64 materials=per_element arithmetic=strict
//     elements=100000 --target cuda --config form=immediate,elements_per_block=32,node_parts=2,points_in_flight=2,
//     basis=nodal,lift=fluxes,copy_width=2,min_blocks=1
// The same text serves any number of elements.
// per element: 664 operations, 584 bytes (compulsory); this form executes 668 operations
using real = double;
constexpr int nodes = 4, fields = 4, words = fields * nodes;
constexpr int vector_width = 2;  // values in 16 bytes
constexpr int copy_width = 2;    // values per load and store of memory
constexpr int dimension = 3, face_count = 4, face_nodes = 3, face_points = face_count * face_nodes;
constexpr int elements_per_block = 32, threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int flux_groups = threads_per_block / face_points;  // elements whose points are worked on side by side
constexpr int in_flight = 2;  // points whose gathers a thread has under way together
constexpr int copies = 2;     // of copy_width words, by each thread, make a block's words
constexpr int flux_row = 12, result_row = 50;  // stride between fields, and between elements, in shared memory, padded
// The operators, column by column: every loop over them is unrolled, so that their coefficients stand in the
// instructions and zeros cost nothing.
__device__ const real LIFT[flux_row][nodes] = {
    {3.0000000000000000, 0.49999999999999972, 0.49999999999999972, -1.9999999999999998},
    {0.49999999999999972, 3.0000000000000000, 0.49999999999999972, -1.9999999999999998},
    {0.49999999999999972, 0.49999999999999972, 3.0000000000000000, -1.9999999999999998},
    {3.0000000000000000, 0.49999999999999972, -1.9999999999999998, 0.49999999999999972},
    {0.49999999999999972, 3.0000000000000000, -1.9999999999999998, 0.49999999999999972},
    {0.49999999999999972, 0.49999999999999972, -1.9999999999999998, 3.0000000000000000},
    {-1.9999999999999998, 3.0000000000000000, 0.49999999999999972, 0.49999999999999972},
    {-1.9999999999999998, 0.49999999999999972, 3.0000000000000000, 0.49999999999999972},
    {-1.9999999999999998, 0.49999999999999972, 0.49999999999999972, 3.0000000000000000},
    {3.0000000000000000, -1.9999999999999998, 0.49999999999999972, 0.49999999999999972},
    {0.49999999999999972, -1.9999999999999998, 3.0000000000000000, 0.49999999999999972},
    {0.49999999999999972, -1.9999999999999998, 0.49999999999999972, 3.0000000000000000},
};

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
    0, 1, 2, 0, 1, 3, 1, 2, 3, 0, 2, 3,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_surface(const real* __restrict__ q, const real* __restrict__ faces, const int* __restrict__ vmapP,
    const real* __restrict__ materials, real* __restrict__ rhs, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [elements_per_block][result_row]: fluxes [fields][flux_row], then right-hand sides [fields][nodes]
    real* const results = reinterpret_cast<real*>(shared_memory);

    // A thread stays at one point of an element's faces and takes elements in turns, `in_flight` of them at a time. It
    // asks for the neighbours of the next ones before it works on these, and for the first ones here.
    const int point = threadIdx.x % face_points, group = threadIdx.x / face_points;
    constexpr int turn = in_flight * flux_groups;
    const int turns_end = group < flux_groups ? present : 0;
    const int own_node = face_node[point];
    const auto load_neighbours = [&](int (&to)[in_flight], int start) {
        #pragma unroll
        for (int i = 0; i < in_flight; ++i)
            to[i] = vmapP[size_t(block_first + min(start + i * flux_groups, present - 1)) * face_points + point];
    };
    int neighbours[in_flight], next[in_flight];
    load_neighbours(neighbours, group);

    // What lies beyond a turn's points. A boundary reads the own values once more, so that no load waits for a branch.
    real beyond[in_flight][fields], faces_met[in_flight][dimension + 1];
    real own[in_flight][fields];
    real own_impedance[in_flight], other_impedance[in_flight];
    const auto gather = [&](int start) {
        #pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            const int k = block_first + min(start + i * flux_groups, present - 1);
            const int at = neighbours[i] >= 0 ? neighbours[i] : k * nodes + own_node;
            const real* const other = q + (size_t(at / nodes) * (words - nodes) + at);
            #pragma unroll
            for (int f = 0; f < fields; ++f) beyond[i][f] = other[f * nodes];
            load(faces_met[i], faces + (size_t(k) * face_count + point / face_nodes) * (dimension + 1));
            #pragma unroll
            for (int f = 0; f < fields; ++f) own[i][f] = q[size_t(k) * words + f * nodes + own_node];
            own_impedance[i] = materials[3 * size_t(k) + 2];
            other_impedance[i] = materials[3 * size_t(at / nodes) + 2];
        }
        load_neighbours(next, start + turn);
    };
    if (group < turns_end) gather(group);

    // Surface: the flux at every point of the faces of the block's elements.
    #pragma unroll 1
    for (int start = group; start < turns_end; start += turn) {
        #pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            const int e = start + i * flux_groups, plus = neighbours[i];
            neighbours[i] = next[i];
            if (e >= present) continue;
            const real(&face)[dimension + 1] = faces_met[i];
            real difference[fields], flux[fields];
            // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary
            // there is nothing.
            constexpr bool mirrored[fields] = {false, true, true, true};
            const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                const real own_value = own[i][f];
                difference[f] = (mirrored[f] ? mirror : same) * beyond[i][f] - own_value;
            }
            const real nx = face[0];
            const real ny = face[1];
            const real nz = face[2];
            const real fscale = face[dimension];
            const real own_z = own_impedance[i], other_z = other_impedance[i];
            const real first = fscale / (own_z + other_z);
            const real second = first * own_z;
            const real du = other_z * (nx * difference[1] + ny * difference[2] + nz * difference[3]);
            const real push = difference[0] - du;
            flux[0] = first * push;
            flux[1] = -second * nx * push;
            flux[2] = -second * ny * push;
            flux[3] = -second * nz * push;
            #pragma unroll
            for (int f = 0; f < fields; ++f) results[e * result_row + f * flux_row + point] = flux[f];
        }
        if (start + turn < turns_end) gather(start + turn);
    }

    // What the right-hand sides are added to arrives while they are made.
    real ahead[copies][copy_width];
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i < present * words)
            load(ahead[trip], rhs + size_t(block_first) * words + i);
    }
    __syncthreads();

    // A lane is an element, and a warp makes one half of the right-hand sides of its elements. Lanes beyond the last
    // element repeat it.
    const int half = threadIdx.x / elements_per_block % 2;
    const int part = threadIdx.x / (2 * elements_per_block);  // of the nodes
    const int e = min(int(threadIdx.x % elements_per_block), present - 1);
    real sum[3][2] = {};

    // Surface: LIFT on the fluxes.
    {
        if (part == 0) {
            if (half == 0) {
                // Nodes `begin` to `end` of a half, column by column of LIFT.
                constexpr int outputs = 1, begin = 0, end = 2;
                const real* const mine = results + e * result_row + 0 * flux_row;
                #pragma unroll
                for (int c = 0; c < flux_row; c += vector_width) {
                    real flux[outputs][vector_width];
                    #pragma unroll
                    for (int f = 0; f < outputs; ++f) load(flux[f], mine + f * flux_row + c);
                    #pragma unroll
                    for (int j = 0; j < vector_width; ++j)
                        #pragma unroll
                        for (int n = begin; n < end; ++n)
                            if (LIFT[c + j][n] != 0)
                                #pragma unroll
                                for (int f = 0; f < outputs; ++f) sum[f][n - begin] += LIFT[c + j][n] * flux[f][j];
                }
            } else {
                // Nodes `begin` to `end` of a half, column by column of LIFT.
                constexpr int outputs = 3, begin = 0, end = 2;
                const real* const mine = results + e * result_row + 1 * flux_row;
                #pragma unroll
                for (int c = 0; c < flux_row; c += vector_width) {
                    real flux[outputs][vector_width];
                    #pragma unroll
                    for (int f = 0; f < outputs; ++f) load(flux[f], mine + f * flux_row + c);
                    #pragma unroll
                    for (int j = 0; j < vector_width; ++j)
                        #pragma unroll
                        for (int n = begin; n < end; ++n)
                            if (LIFT[c + j][n] != 0)
                                #pragma unroll
                                for (int f = 0; f < outputs; ++f) sum[f][n - begin] += LIFT[c + j][n] * flux[f][j];
                }
            }
        }
        if (part == 1) {
            if (half == 0) {
                // Nodes `begin` to `end` of a half, column by column of LIFT.
                constexpr int outputs = 1, begin = 2, end = 4;
                const real* const mine = results + e * result_row + 0 * flux_row;
                #pragma unroll
                for (int c = 0; c < flux_row; c += vector_width) {
                    real flux[outputs][vector_width];
                    #pragma unroll
                    for (int f = 0; f < outputs; ++f) load(flux[f], mine + f * flux_row + c);
                    #pragma unroll
                    for (int j = 0; j < vector_width; ++j)
                        #pragma unroll
                        for (int n = begin; n < end; ++n)
                            if (LIFT[c + j][n] != 0)
                                #pragma unroll
                                for (int f = 0; f < outputs; ++f) sum[f][n - begin] += LIFT[c + j][n] * flux[f][j];
                }
            } else {
                // Nodes `begin` to `end` of a half, column by column of LIFT.
                constexpr int outputs = 3, begin = 2, end = 4;
                const real* const mine = results + e * result_row + 1 * flux_row;
                #pragma unroll
                for (int c = 0; c < flux_row; c += vector_width) {
                    real flux[outputs][vector_width];
                    #pragma unroll
                    for (int f = 0; f < outputs; ++f) load(flux[f], mine + f * flux_row + c);
                    #pragma unroll
                    for (int j = 0; j < vector_width; ++j)
                        #pragma unroll
                        for (int n = begin; n < end; ++n)
                            if (LIFT[c + j][n] != 0)
                                #pragma unroll
                                for (int f = 0; f < outputs; ++f) sum[f][n - begin] += LIFT[c + j][n] * flux[f][j];
                }
            }
        }
    }

    // Right-hand sides change threads, so that memory is read and written in one piece.
    __syncthreads();
    if (threadIdx.x % elements_per_block < present) {
        if (part == 0) {
            if (half == 0) {
                constexpr int outputs = 1, together = 2, begin = 0, end = 2;
                real* const mine = results + e * result_row + 0 * nodes;
                #pragma unroll
                for (int f = 0; f < outputs; ++f)
                    #pragma unroll
                    for (int n = begin; n < end; n += together) {
                        real value[together];
                        #pragma unroll
                        for (int j = 0; j < together; ++j) value[j] = sum[f][n + j - begin];
                        store(mine + f * nodes + n, value);
                    }
            } else {
                constexpr int outputs = 3, together = 2, begin = 0, end = 2;
                real* const mine = results + e * result_row + 1 * nodes;
                #pragma unroll
                for (int f = 0; f < outputs; ++f)
                    #pragma unroll
                    for (int n = begin; n < end; n += together) {
                        real value[together];
                        #pragma unroll
                        for (int j = 0; j < together; ++j) value[j] = sum[f][n + j - begin];
                        store(mine + f * nodes + n, value);
                    }
            }
        }
        if (part == 1) {
            if (half == 0) {
                constexpr int outputs = 1, together = 2, begin = 2, end = 4;
                real* const mine = results + e * result_row + 0 * nodes;
                #pragma unroll
                for (int f = 0; f < outputs; ++f)
                    #pragma unroll
                    for (int n = begin; n < end; n += together) {
                        real value[together];
                        #pragma unroll
                        for (int j = 0; j < together; ++j) value[j] = sum[f][n + j - begin];
                        store(mine + f * nodes + n, value);
                    }
            } else {
                constexpr int outputs = 3, together = 2, begin = 2, end = 4;
                real* const mine = results + e * result_row + 1 * nodes;
                #pragma unroll
                for (int f = 0; f < outputs; ++f)
                    #pragma unroll
                    for (int n = begin; n < end; n += together) {
                        real value[together];
                        #pragma unroll
                        for (int j = 0; j < together; ++j) value[j] = sum[f][n + j - begin];
                        store(mine + f * nodes + n, value);
                    }
            }
        }
    }
    __syncthreads();
    const size_t base = size_t(block_first) * words;
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i >= present * words) break;
        real total[copy_width];
        load(total, results + (i + i / words * (result_row - words)));
        real(&before)[copy_width] = ahead[trip];
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            const real scale = materials[3 * size_t(block_first + (i + j) / words) + ((i + j) % words < 4 ? 0 : 1)];
            total[j] = (before[j] + total[j]) * scale;
        }
        store(rhs + base + i, total);
    }
}
