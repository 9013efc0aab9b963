// dg_stage: maxwell_3d, order 5, f32
// hone emit dg_stage equation=maxwell_3d order=5 precision=f32 materials=uniform arithmetic=strict elements=100000
//     --target cuda --config form=warp_tile_whole,gathers=loads,basis=nodal,operator=global,parts=in_place,
//     elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,node_lanes=8,unroll=4,copy_width=4,min_blocks=1
// The same text serves any number of elements.
// per element: 180600 operations, 5812 bytes (compulsory); this form executes 125892 operations
using real = float;
constexpr int nodes = 56, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 21, face_points = face_count * face_nodes;
constexpr int elements_per_block = 16, elements_per_thread = 2,
    element_groups = elements_per_block / elements_per_thread;
constexpr int node_lanes = 8, element_lanes = 4, warps_along_nodes = 2;
constexpr int nodes_per_thread = 4, nodes_padded = 64;
constexpr int group = 4, unroll = 4;  // neighbouring nodes of a thread, and columns of an operator per trip
constexpr int face_columns = 24;   // columns of LIFT for a face, padded
// directions of the flux through a face; what is kept of it
constexpr int amplitudes = 2, frame_words = 8, frame_row = 36, fscale_word = 6;
constexpr int field_width = 4;  // values per copy of a field
constexpr int threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 4;    // values per load and store of memory
// points of an element's faces and their stride in shared memory, padded
constexpr int flux_columns = 96, flux_row = 100;
constexpr int field_columns = 56, field_row = 60;  // nodes of an element, likewise
constexpr int factors = 10, accumulators = 6, geometry_words = dimension * dimension;

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

// Asks the second cache for the line of a word.
__device__ __forceinline__ void prefetch(const real* from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
constexpr int prefetched_words = 128 / sizeof(real);

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

// Two tangents of a face that make a right-handed frame with its normal: T. Duff and others, J. Computer Graphics
// Techniques 6, 2017.
__device__ __forceinline__ void tangents_of(const real* normal, real (&tangents)[6]) {
    const real sign = normal[2] < 0 ? real(-1) : real(1);
    const real a = real(-1) / (sign + normal[2]), b = normal[0] * normal[1] * a;
    tangents[0] = 1 + sign * normal[0] * normal[0] * a;
    tangents[1] = sign * b;
    tangents[2] = -sign * normal[0];
    tangents[3] = b;
    tangents[4] = sign + normal[1] * normal[1] * a;
    tangents[5] = -normal[1];
}

// Node of the element at each point of its faces: vmapM without the element's offset.
__device__ const unsigned short face_node[face_points] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 0, 1, 2, 3, 4, 5, 21, 22, 23, 24, 25, 36,
        37,
    38, 39, 46, 47, 48, 52, 53, 55, 5, 10, 14, 17, 19, 20, 25, 29, 32, 34, 35, 39, 42, 44, 45, 48, 50, 51, 53, 54, 55,
        0,
    6, 11, 15, 18, 20, 21, 26, 30, 33, 35, 36, 40, 43, 45, 46, 49, 51, 52, 54, 55,
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
    real* const here = reinterpret_cast<real*>(shared_memory);  // fields and fluxes of the block's elements
    constexpr int field_words = 5760, flux_words = 3200, factor_words = 160, frames_words = 576;
    real* const fluxes = here + field_words;
    // [elements_per_block][face_count][frame_words], padded
    real* const frames = here + field_words + flux_words + factor_words;
    real* const factor = here + field_words + flux_words;  // [elements_per_block][factors]
    // Right-hand sides.
    real* const out = here;

    // A warp is node_lanes x element_lanes threads. Neighbouring lanes have the same nodes, and every second one the
    // same elements. A thread accumulates nodes_per_thread nodes of elements element, element + element_groups, ... in
    // registers.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int node = warp % warps_along_nodes * (node_lanes * nodes_per_thread) + lane / 2 % node_lanes * group;
    const int element = warp / warps_along_nodes * element_lanes + lane / (2 * node_lanes) * 2 + lane % 2;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};
    // Of each face: normal or, for Maxwell in 3D, two tangents; Fscale; impedance of the element.
    for (int i = threadIdx.x; i < elements_per_block * face_count; i += threads_per_block) {
        real face[dimension + 1];
        load(face, faces + (size_t(block_first) * face_count + min(i, present * face_count - 1)) * (dimension + 1));
        real* const frame = frames + i / face_count * frame_row + i % face_count * frame_words;
        real tangents[6];
        tangents_of(face, tangents);
        #pragma unroll
        for (int j = 0; j < 6; ++j) frame[j] = tangents[j];
        frame[fscale_word] = face[dimension];
    }

    // Fields of the block's elements arrive in shared memory. No register waits for them, so that all are under way
    // together.
    for (int i = threadIdx.x * field_width; i < elements_per_block * fields * field_row;
        i += threads_per_block * field_width) {
        const int f = i / (elements_per_block * field_row), e = i / field_row % elements_per_block, m = i % field_row;
        const bool inside = e < present && m < nodes;
        copy<field_width>(here + i, q + (inside ? (size_t(block_first + e) * fields + f) * nodes + m : 0), inside);
    }
    commit_copies();
    for (int i = threadIdx.x * prefetched_words; i < present * words; i += threads_per_block * prefetched_words)
        prefetch(res + size_t(block_first) * words + i);
    for (int e = threadIdx.x; e < present; e += threads_per_block) {
        const real* const g = geometry + size_t(block_first + e) * geometry_words;
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

    // Surface: an element's faces are flat, so that the flux through one has the same direction at each of its points,
    // or two of them. LIFT takes the amplitudes along these, here at every point of the faces of the block's elements.
    // A thread has several points at a time, and asks for those that it works on next before the barrier and while it
    // works. Beyond the last point it asks for that again, and at a boundary for anything, so that no load waits for a
    // branch.
    constexpr int in_flight = 4;
    const int points = present * face_points;
    int pluses[in_flight], own_nodes[in_flight];
    real met[in_flight][fields];
    const auto gather = [&](int start) {
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int p = start + b * threads_per_block;
            pluses[b] = vmapP[size_t(block_first) * face_points + min(p, points - 1)];
            own_nodes[b] = face_node[p % face_points];
        }
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int plus = max(pluses[b], 0);
            const real* const other = q + (plus + size_t(plus / nodes) * (words - nodes));
            #pragma unroll
            for (int f = 0; f < fields; ++f) met[b][f] = other[f * nodes];
        }
    };
    gather(threadIdx.x);
    wait_for_copies<0>();
    __syncthreads();
    #pragma unroll 1
    for (int start = threadIdx.x; start < points; start += in_flight * threads_per_block) {
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int p = start + b * threads_per_block, plus = pluses[b], own_node = own_nodes[b];
            if (p >= points) break;
            real(&beyond)[fields] = met[b];
            // Point p of the faces of the block's elements: point `point` of element e, on face `side`. Rows hold face
            // after face, each rounded up to whole trips.
            const int e = p / face_points, point = p % face_points, side = point / face_nodes;
            const int place = e * flux_row + side * face_columns + point % face_nodes;
            // Here the own node is `own_node`, the neighbour's is `plus`, and its fields are `beyond`.
            const size_t k = block_first + e;
            real frame[frame_words];
            load(frame, frames + e * frame_row + side * frame_words);
            const real* const own = here + e * field_row + own_node;
            constexpr int own_stride = elements_per_block * field_row;
            if (plus < 0) {
                // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing
                // boundary there is nothing.
                constexpr bool mirrored[fields] = {false, false, false, true, true, true};
                const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
                #pragma unroll
                for (int f = 0; f < fields; ++f) beyond[f] = (mirrored[f] ? mirror : same) * own[f * own_stride];
            }
            real difference[fields];
            #pragma unroll
            for (int f = 0; f < fields; ++f) difference[f] = beyond[f] - own[f * own_stride];
            const real* const tangents = frame;
            constexpr real other_z = 1;
            const real weight = real(0.5) * frame[fscale_word];
            // Amplitudes of the flux along the directions of its face.
            // Of w = [E] + Z+ n x [H] along tangents a and b, where a x n = -b and b x n = a.
            const auto along = [&](int tangent, int field) {
                return tangents[tangent] * difference[field] + tangents[tangent + 1] * difference[field + 1]
                    + tangents[tangent + 2] * difference[field + 2];
            };
            const real amplitude[amplitudes] =
                {weight * (along(0, 3) - other_z * along(3, 0)), weight * (along(3, 3) + other_z * along(0, 0))};
            #pragma unroll
            for (int a = 0; a < amplitudes; ++a) fluxes[a * (elements_per_block * flux_row) + place] = amplitude[a];
        }
        if (start + in_flight * threads_per_block >= points) break;
        gather(start + in_flight * threads_per_block);
    }
    // LIFT has zeros where faces are padded.
    for (int i = threadIdx.x; i < amplitudes * elements_per_block * face_count; i += threads_per_block)
        #pragma unroll
        for (int c = face_nodes; c < face_columns; ++c)
            fluxes[i / face_count * flux_row + i % face_count * face_columns + c] = 0;

    // The faces have what they need of the fields: transform them where they lie.
    __syncthreads();
    for (int i = threadIdx.x; i < elements_per_block * field_row; i += threads_per_block) {
        const int e = i / field_row, m = i % field_row;
        real value[fields];
        #pragma unroll
        for (int f = 0; f < fields; ++f) value[f] = here[(f * elements_per_block + e) * field_row + m];
        const real* const own = factor + (e < present ? e : 0) * factors;
        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
            yt = own[7], zt = own[8], J = own[9];
        here[(0 * elements_per_block + e) * field_row + m] = xr * value[0] + yr * value[1] + zr * value[2];
        here[(1 * elements_per_block + e) * field_row + m] = xs * value[0] + ys * value[1] + zs * value[2];
        here[(2 * elements_per_block + e) * field_row + m] = xt * value[0] + yt * value[1] + zt * value[2];
        here[(3 * elements_per_block + e) * field_row + m] = xr * value[3] + yr * value[4] + zr * value[5];
        here[(4 * elements_per_block + e) * field_row + m] = xs * value[3] + ys * value[4] + zs * value[5];
        here[(5 * elements_per_block + e) * field_row + m] = xt * value[3] + yt * value[4] + zt * value[5];
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
                real d[dimension][nodes_per_thread / group][group];
                #pragma unroll
                for (int a = 0; a < dimension; ++a)
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread / group; ++r)
                        load(d[a][r], D + ((m + j) * dimension + a) * nodes_padded + node + r * (node_lanes * group));
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r)
                    #pragma unroll
                    for (int c = 0; c < elements_per_thread; ++c) {
                        derivative[0][r][c] += d[1][r / group][r % group] * u[2][c][j];
                        derivative[0][r][c] -= d[2][r / group][r % group] * u[1][c][j];
                        derivative[1][r][c] += d[2][r / group][r % group] * u[0][c][j];
                        derivative[1][r][c] -= d[0][r / group][r % group] * u[2][c][j];
                        derivative[2][r][c] += d[0][r / group][r % group] * u[1][c][j];
                        derivative[2][r][c] -= d[1][r / group][r % group] * u[0][c][j];
                        derivative[3][r][c] += d[1][r / group][r % group] * u[5][c][j];
                        derivative[3][r][c] -= d[2][r / group][r % group] * u[4][c][j];
                        derivative[4][r][c] += d[2][r / group][r % group] * u[3][c][j];
                        derivative[4][r][c] -= d[0][r / group][r % group] * u[5][c][j];
                        derivative[5][r][c] += d[0][r / group][r % group] * u[4][c][j];
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

    // Surface: LIFT on the amplitudes, face by face, then their directions.
    #pragma unroll 1
    for (int side = 0; side < face_count; ++side) {
        real lifted[amplitudes][nodes_per_thread][elements_per_thread] = {};
        #pragma unroll 1
        for (int c = side * face_columns; c < (side + 1) * face_columns; c += unroll) {
            real u[amplitudes][elements_per_thread][unroll];
            #pragma unroll
            for (int a = 0; a < amplitudes; ++a)
                #pragma unroll
                for (int i = 0; i < elements_per_thread; ++i)
                    load(u[a][i], fluxes + (a * elements_per_block + element + i * element_groups) * flux_row + c);
            #pragma unroll
            for (int j = 0; j < unroll; ++j) {
                real l[nodes_per_thread / group][group];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread / group; ++r)
                    load(l[r], LIFT + (c + j) * nodes_padded + node + r * (node_lanes * group));
                #pragma unroll
                for (int a = 0; a < amplitudes; ++a)
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r)
                        #pragma unroll
                        for (int i = 0; i < elements_per_thread; ++i)
                            lifted[a][r][i] += l[r / group][r % group] * u[a][i][j];
            }
        }
        #pragma unroll
        for (int i = 0; i < elements_per_thread; ++i) {
            real frame[frame_words];
            load(frame, frames + (element + i * element_groups) * frame_row + side * frame_words);
            #pragma unroll
            for (int r = 0; r < nodes_per_thread; ++r) {
                // Adds the directions of the flux through a face with this frame to the sums at a node.
                constexpr real own_z = 1;
                const real first = lifted[0][r][i];
                const real second = lifted[1][r][i];
                #pragma unroll
                for (int j = 0; j < dimension; ++j) {
                    sum[3 + j][r][i] += frame[j] * first;
                    sum[3 + j][r][i] += frame[3 + j] * second;
                    sum[j][r][i] += frame[j] * (own_z * second);
                    sum[j][r][i] -= frame[3 + j] * (own_z * first);
                }
            }
        }
    }

    // Right-hand sides change threads, so that memory is read and written in one piece.
    __syncthreads();
    #pragma unroll
    for (int c = 0; c < elements_per_thread; ++c)
        #pragma unroll
        for (int r = 0; r < nodes_per_thread; ++r) {
            const int n = node + r / group * (node_lanes * group) + r % group;
            if (n < nodes)
                #pragma unroll
                for (int f = 0; f < fields; ++f)
                    out[((element + c * element_groups) * fields + f) * nodes + n] = sum[f][r][c];
        }
    __syncthreads();
    const real a = stage[0], b = stage[1], dt = stage[2];
    const size_t base = size_t(block_first) * words;
    #pragma unroll 2
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real total[copy_width];
        load(total, out + i);
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
