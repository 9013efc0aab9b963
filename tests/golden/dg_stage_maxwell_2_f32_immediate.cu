// dg_stage: maxwell_3d, order 2, f32
// hone emit dg_stage equation=maxwell_3d order=2 precision=f32 materials=uniform arithmetic=strict elements=100000 --target cuda --config fused=whole,form=covariant,traces=shared,elements_per_block=64,nodes_per_thread=1,elements_per_thread=1,operator=immediate,unroll=4,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 9084 operations, 1156 bytes (compulsory); this form executes 5640 operations
using real = float;
constexpr int nodes = 10, fields = 6, words = fields * nodes;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory
constexpr int dimension = 3, face_count = 4, face_nodes = 6, face_points = face_count * face_nodes;
constexpr int elements_per_block = 64, threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int flux_groups = threads_per_block / face_points;  // elements whose points are worked on side by side
constexpr int in_flight = 4;  // points whose gathers a thread has under way together
constexpr int copies = 8;     // of copy_width words, by each thread, make a block's words
constexpr int flux_row = 24, result_row = 148;  // stride between fields, and between elements, in shared memory, padded
constexpr int row = 60;  // stride between elements' fields in shared memory, padded
constexpr int factors = 10, geometry_words = dimension * dimension;
// The operators, column by column: every loop over them is unrolled, so that their coefficients stand in the instructions and zeros cost
// nothing.
__device__ const real Dr[nodes][nodes] = {
    {-1.50000000f, -0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f,
     0.500000000f, 0.500000000f},
    {2.00000000f, 0, -2.00000000f, 1.00000000f, -1.00000000f, 0, 1.00000000f, -1.00000000f, 0, 0},
    {-0.500000000f, 0.500000000f, 1.50000000f, -0.500000000f, 0.500000000f, -0.500000000f, -0.500000000f, 0.500000000f,
     -0.500000000f, -0.500000000f},
    {0, 0, 0, -1.00000000f, -1.00000000f, -2.00000000f, 0, 0, -1.00000000f, 0},
    {0, 0, 0, 1.00000000f, 1.00000000f, 2.00000000f, 0, 0, 1.00000000f, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, -1.00000000f, -1.00000000f, -1.00000000f, -2.00000000f},
    {0, 0, 0, 0, 0, 0, 1.00000000f, 1.00000000f, 1.00000000f, 2.00000000f},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};
__device__ const real Ds[nodes][nodes] = {
    {-1.50000000f, -0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f,
     0.500000000f, 0.500000000f},
    {0, -1.00000000f, -2.00000000f, 0, -1.00000000f, 0, 0, -1.00000000f, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {2.00000000f, 1.00000000f, 0, 0, -1.00000000f, -2.00000000f, 1.00000000f, 0, -1.00000000f, 0},
    {0, 1.00000000f, 2.00000000f, 0, 1.00000000f, 0, 0, 1.00000000f, 0, 0},
    {-0.500000000f, -0.500000000f, -0.500000000f, 0.500000000f, 0.500000000f, 1.50000000f, -0.500000000f, -0.500000000f,
     0.500000000f, -0.500000000f},
    {0, 0, 0, 0, 0, 0, -1.00000000f, -1.00000000f, -1.00000000f, -2.00000000f},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1.00000000f, 1.00000000f, 1.00000000f, 2.00000000f},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};
__device__ const real Dt[nodes][nodes] = {
    {-1.50000000f, -0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f, 0.500000000f, -0.500000000f, 0.500000000f,
     0.500000000f, 0.500000000f},
    {0, -1.00000000f, -2.00000000f, 0, -1.00000000f, 0, 0, -1.00000000f, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, -1.00000000f, -1.00000000f, -2.00000000f, 0, 0, -1.00000000f, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {2.00000000f, 1.00000000f, 0, 1.00000000f, 0, 0, 0, -1.00000000f, -1.00000000f, -2.00000000f},
    {0, 1.00000000f, 2.00000000f, 0, 1.00000000f, 0, 0, 1.00000000f, 0, 0},
    {0, 0, 0, 1.00000000f, 1.00000000f, 2.00000000f, 0, 0, 1.00000000f, 0},
    {-0.500000000f, -0.500000000f, -0.500000000f, -0.500000000f, -0.500000000f, -0.500000000f, 0.500000000f, 0.500000000f,
     0.500000000f, 1.50000000f},
};
__device__ const real LIFT[flux_row][nodes] = {
    {4.50000000f, 0.250000000f, -0.500000000f, 0.250000000f, -0.500000000f, -0.500000000f, -0.375000000f, 0.625000000f,
     0.625000000f, 0},
    {2.00000000f, 5.50000000f, 2.00000000f, 1.00000000f, 1.00000000f, 0, -1.75000000f, -1.75000000f, 0.750000000f, 5.00000000f},
    {-0.500000000f, 0.250000000f, 4.50000000f, -0.500000000f, 0.250000000f, -0.500000000f, 0.625000000f, -0.375000000f,
     0.625000000f, 0},
    {2.00000000f, 1.00000000f, 0, 5.50000000f, 1.00000000f, 2.00000000f, -1.75000000f, 0.750000000f, -1.75000000f, 5.00000000f},
    {0, 1.00000000f, 2.00000000f, 1.00000000f, 5.50000000f, 2.00000000f, 0.750000000f, -1.75000000f, -1.75000000f, 5.00000000f},
    {-0.500000000f, -0.500000000f, -0.500000000f, 0.250000000f, 0.250000000f, 4.50000000f, 0.625000000f, 0.625000000f,
     -0.375000000f, 0},
    {4.50000000f, 0.250000000f, -0.500000000f, -0.375000000f, 0.625000000f, 0, 0.250000000f, -0.500000000f, 0.625000000f,
     -0.500000000f},
    {2.00000000f, 5.50000000f, 2.00000000f, -1.75000000f, -1.75000000f, 5.00000000f, 1.00000000f, 1.00000000f, 0.750000000f, 0},
    {-0.500000000f, 0.250000000f, 4.50000000f, 0.625000000f, -0.375000000f, 0, -0.500000000f, 0.250000000f, 0.625000000f,
     -0.500000000f},
    {2.00000000f, 1.00000000f, 0, -1.75000000f, 0.750000000f, 5.00000000f, 5.50000000f, 1.00000000f, -1.75000000f, 2.00000000f},
    {0, 1.00000000f, 2.00000000f, 0.750000000f, -1.75000000f, 5.00000000f, 1.00000000f, 5.50000000f, -1.75000000f, 2.00000000f},
    {-0.500000000f, -0.500000000f, -0.500000000f, 0.625000000f, 0.625000000f, 0, 0.250000000f, 0.250000000f, -0.375000000f,
     4.50000000f},
    {0, -0.375000000f, 4.50000000f, 0.625000000f, 0.250000000f, -0.500000000f, 0.625000000f, 0.250000000f, -0.500000000f,
     -0.500000000f},
    {5.00000000f, -1.75000000f, 2.00000000f, -1.75000000f, 5.50000000f, 2.00000000f, 0.750000000f, 1.00000000f, 1.00000000f, 0},
    {0, 0.625000000f, -0.500000000f, -0.375000000f, 0.250000000f, 4.50000000f, 0.625000000f, -0.500000000f, 0.250000000f,
     -0.500000000f},
    {5.00000000f, -1.75000000f, 2.00000000f, 0.750000000f, 1.00000000f, 0, -1.75000000f, 5.50000000f, 1.00000000f, 2.00000000f},
    {5.00000000f, 0.750000000f, 0, -1.75000000f, 1.00000000f, 2.00000000f, -1.75000000f, 1.00000000f, 5.50000000f, 2.00000000f},
    {0, 0.625000000f, -0.500000000f, 0.625000000f, -0.500000000f, -0.500000000f, -0.375000000f, 0.250000000f, 0.250000000f,
     4.50000000f},
    {4.50000000f, -0.375000000f, 0, 0.250000000f, 0.625000000f, -0.500000000f, 0.250000000f, 0.625000000f, -0.500000000f,
     -0.500000000f},
    {2.00000000f, -1.75000000f, 5.00000000f, 5.50000000f, -1.75000000f, 2.00000000f, 1.00000000f, 0.750000000f, 1.00000000f, 0},
    {-0.500000000f, 0.625000000f, 0, 0.250000000f, -0.375000000f, 4.50000000f, -0.500000000f, 0.625000000f, 0.250000000f,
     -0.500000000f},
    {2.00000000f, -1.75000000f, 5.00000000f, 1.00000000f, 0.750000000f, 0, 5.50000000f, -1.75000000f, 1.00000000f, 2.00000000f},
    {0, 0.750000000f, 5.00000000f, 1.00000000f, -1.75000000f, 2.00000000f, 1.00000000f, -1.75000000f, 5.50000000f, 2.00000000f},
    {-0.500000000f, 0.625000000f, 0, -0.500000000f, 0.625000000f, -0.500000000f, 0.250000000f, -0.375000000f, 0.250000000f,
     4.50000000f},
};

// Copies `count` neighbouring values into shared memory, for which no register waits.
template <int count>
__device__ __forceinline__ void copy_past_registers(real* to, const real* from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "n"(count * sizeof(real))
                 : "memory");
}

__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
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

// Node of the element at each point of its faces: vmapM without the element's offset.
__device__ const unsigned short face_node[face_points] = {
    0, 1, 2, 3, 4, 5, 0, 1, 2, 6, 7, 9, 2, 4, 5, 7, 8, 9, 0, 3, 5, 6, 8, 9,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_stage(const real* __restrict__ q, const real* __restrict__ geometry, const real* __restrict__ faces, const int* __restrict__ vmapP, const real* __restrict__ stage, real* __restrict__ res, real* __restrict__ q_next, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // [elements_per_block][row]: fields
    real* const gradient = here + elements_per_block * row;  // [elements_per_block][geometry_words]
    // [elements_per_block][result_row]: fluxes [fields][flux_row], then right-hand sides [fields][nodes]
    real* const results = gradient + (elements_per_block * geometry_words + vector_width - 1) / vector_width * vector_width;

    // A thread stays at one point of an element's faces and takes elements in turns, `in_flight` of them at a time. It asks for the neighbours of the next
    // ones before it works on these, and for the first ones here.
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

    // Fields and geometry of the block's elements.
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i < present * words) copy_past_registers<copy_width>(here + (i + i / words * (row - words)), q + size_t(block_first) * words + i);
    }
    for (int i = threadIdx.x; i < present * geometry_words; i += threads_per_block)
        copy_past_registers<1>(gradient + i, geometry + size_t(block_first) * geometry_words + i);

    // What lies beyond a turn's points. A boundary reads the own values once more, so that no load waits for a branch.
    real beyond[in_flight][fields], faces_met[in_flight][dimension + 1];
    const auto gather = [&](int start) {
        #pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            const int k = block_first + min(start + i * flux_groups, present - 1);
            const int at = neighbours[i] >= 0 ? neighbours[i] : k * nodes + own_node;
            const real* const other = q + (size_t(at / nodes) * (words - nodes) + at);
            #pragma unroll
            for (int f = 0; f < fields; ++f) beyond[i][f] = other[f * nodes];
            load(faces_met[i], faces + (size_t(k) * face_count + point / face_nodes) * (dimension + 1));
        }
        load_neighbours(next, start + turn);
    };
    if (group < turns_end) gather(group);
    wait_for_copies();
    __syncthreads();

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
            // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing boundary there is nothing.
            constexpr bool mirrored[fields] = {false, false, false, true, true, true};
            const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                const real own_value = here[e * row + f * nodes + own_node];
                difference[f] = (mirrored[f] ? mirror : same) * beyond[i][f] - own_value;
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
            load(ahead[trip], res + size_t(block_first) * words + i);
    }
    __syncthreads();

    // A lane is an element, and a warp makes one half of the right-hand sides of its elements. Lanes beyond the last element repeat it.
    const int half = threadIdx.x / elements_per_block % 2;
    const int e = min(int(threadIdx.x % elements_per_block), present - 1);
    real sum[3][10] = {};

    // Volume: derivatives along r, s, t, combined with the metric factors.
    {
        const real* const g = gradient + e * geometry_words;
        real own[factors];
        // Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).
        for (int a = 0; a < 3; ++a) {
            const real* const b = g + 3 * ((a + 1) % 3);
            const real* const c = g + 3 * ((a + 2) % 3);
            for (int i = 0; i < 3; ++i) own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        }
        own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6], yt = own[7], zt = own[8], J = own[9];
        const real scale = half == 0 ? J : -J;  // dE/dt = curl H, dH/dt = -curl E
        const real* const mine = here + e * row + half * (3 * nodes);
        #pragma unroll
        for (int m = 0; m < nodes; m += 2) {
            real value[3][2];
            #pragma unroll
            for (int f = 0; f < 3; ++f) load(value[f], mine + f * nodes + m);
            #pragma unroll
            for (int j = 0; j < 2; ++j) {
                const real u0 = xr * value[0][j] + yr * value[1][j] + zr * value[2][j];
                const real u1 = xs * value[0][j] + ys * value[1][j] + zs * value[2][j];
                const real u2 = xt * value[0][j] + yt * value[1][j] + zt * value[2][j];
                #pragma unroll
                for (int n = 0; n < 10; ++n) {
                    if (Dr[m + j][n] != 0) {
                        sum[1][n] -= Dr[m + j][n] * u2;
                        sum[2][n] += Dr[m + j][n] * u1;
                    }
                    if (Ds[m + j][n] != 0) {
                        sum[0][n] += Ds[m + j][n] * u2;
                        sum[2][n] -= Ds[m + j][n] * u0;
                    }
                    if (Dt[m + j][n] != 0) {
                        sum[0][n] -= Dt[m + j][n] * u1;
                        sum[1][n] += Dt[m + j][n] * u0;
                    }
                }
            }
        }
        #pragma unroll
        for (int n = 0; n < 10; ++n) {
            const real a0 = sum[0][n], a1 = sum[1][n], a2 = sum[2][n];
            sum[0][n] = scale * (xr * a0 + xs * a1 + xt * a2);
            sum[1][n] = scale * (yr * a0 + ys * a1 + yt * a2);
            sum[2][n] = scale * (zr * a0 + zs * a1 + zt * a2);
        }
    }

    // Surface: LIFT on the fluxes.
    {
        const real* const mine = results + e * result_row + (1 - half) * 3 * flux_row;
        #pragma unroll
        for (int c = 0; c < flux_row; c += vector_width) {
            real flux[3][vector_width];
            #pragma unroll
            for (int f = 0; f < 3; ++f) load(flux[f], mine + f * flux_row + c);
            #pragma unroll
            for (int j = 0; j < vector_width; ++j)
                #pragma unroll
                for (int n = 0; n < 10; ++n)
                    if (LIFT[c + j][n] != 0)
                        #pragma unroll
                        for (int f = 0; f < 3; ++f) sum[f][n] += LIFT[c + j][n] * flux[f][j];
        }
    }

    // Right-hand sides change threads, so that memory is read and written in one piece.
    __syncthreads();
    if (threadIdx.x % elements_per_block < present) {
        real* const to = results + e * result_row + (1 - half) * 3 * nodes;
        #pragma unroll
        for (int f = 0; f < 3; ++f)
            #pragma unroll
            for (int n = 0; n < 10; n += 2) {
                real value[2];
                #pragma unroll
                for (int j = 0; j < 2; ++j) value[j] = sum[f][n + j];
                store(to + f * nodes + n, value);
                }
    }
    __syncthreads();
    const real a = stage[0], b = stage[1], dt = stage[2];
    const size_t base = size_t(block_first) * words;
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i >= present * words) break;
        real total[copy_width];
        load(total, results + (i + i / words * (result_row - words)));
        real(&residual)[copy_width] = ahead[trip];
        real field[copy_width];
        load(field, here + (i + i / words * (row - words)));
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            residual[j] = a * residual[j] + dt * total[j];
            field[j] += b * residual[j];
        }
        store(res + base + i, residual);
        store(q_next + base + i, field);
    }
}
