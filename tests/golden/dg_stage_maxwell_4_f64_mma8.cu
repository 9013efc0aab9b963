// dg_stage: maxwell_3d, order 4, f64
// hone emit dg_stage equation=maxwell_3d order=4 precision=f64 materials=uniform arithmetic=strict elements=100000
//     --target cuda --config form=mma8_whole,basis=double_parity,operator=shared,parts=in_place,elements_per_block=8,
//     nodes_per_thread=2,copy_width=2,min_blocks=4,unrolled_steps=2,stores=plain
// The same text serves any number of elements.
// per element: 76830 operations, 7160 bytes (compulsory); this form executes 26284 operations
// The images of a node under two reflections of the element: bit b of the index says that reflection b was applied.
struct alignas(8) Images {
    short node[4];
};
// A point of an element's faces: its node, its place in a row of amplitudes, its face.
struct alignas(8) FacePoint {
    short node, place, side;
};
using real = double;
constexpr int nodes = 35, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 15, face_points = face_count * face_nodes;
constexpr int elements_per_block = 8, elements_per_thread = 1,
    element_groups = elements_per_block / elements_per_thread;
constexpr int node_lanes = 4, element_lanes = 8, warps_along_nodes = 5;
constexpr int nodes_per_thread = 2, nodes_padded = 40;
constexpr int group = 2, unroll = 4;  // neighbouring nodes of a thread, and columns of an operator per trip
constexpr int unrolled_steps = 2;  // of a product's columns, per trip
constexpr int face_columns = 20;   // columns of LIFT for a face, padded
// directions of the flux through a face; what is kept of it
constexpr int amplitudes = 2, frame_words = 8, frame_row = 36, fscale_word = 6;
constexpr int even_parts = 14, mixed_parts = 8, odd_parts = 5, paired_parts = mixed_parts - odd_parts;
constexpr int even_rows = 16, mixed_rows = 8, odd_rows = 8, even_columns = 16, mixed_columns = 8, odd_columns = 8;
__device__ const Images images[even_parts] =
    {{{1, 5, 32, 33}}, {{2, 9, 27, 30}}, {{3, 12, 18, 24}}, {{7, 10, 21, 23}}, {{16, 19, 26, 28}}, {{0, 0, 34, 34}},
    {{6, 6, 29, 29}}, {{15, 15, 31, 31}}, {{4, 14, 4, 14}}, {{8, 13, 8, 13}}, {{17, 22, 17, 22}}, {{11, 11, 11, 11}},
    {{20, 20, 20, 20}}, {{25, 25, 25, 25}}};
constexpr int padded_columns = 5;  // of a row, where nothing is
__device__ const short padded_column[5] = {14, 15, 37, 38, 39};
__device__ const short row_node[40] =
    {1, 2, 3, 7, 16, 0, 6, 15, 4, 8, 17, 11, 20, 25, -1, -1, 5, 9, 12, 10, 19, 14, 13, 22, 32, 27, 18, 21, 26, 34, 29,
    31, 33, 30, 24, 23, 28, -1, -1, -1};
// stride between elements as memory has them; how many have banks apart
constexpr int nodal_row = 210, elements_apart = 8;
__device__ const FacePoint points_of_faces[face_points] =
    {{0, 6, 0}, {1, 0, 0}, {2, 1, 0}, {3, 2, 0}, {4, 3, 0}, {5, 12, 0}, {6, 7, 0}, {7, 4, 0}, {8, 5, 0}, {9, 13, 0},
    {10, 16, 0}, {11, 8, 0}, {12, 14, 0}, {13, 17, 0}, {14, 15, 0}, {0, 20, 1}, {1, 21, 1}, {2, 22, 1}, {3, 23, 1},
    {4, 26, 1}, {15, 24, 1}, {16, 25, 1}, {17, 27, 1}, {18, 35, 1}, {25, 28, 1}, {26, 37, 1}, {27, 34, 1}, {31, 36, 1},
    {32, 33, 1}, {34, 32, 1}, {4, 43, 2}, {8, 45, 2}, {11, 48, 2}, {13, 57, 2}, {14, 55, 2}, {18, 42, 2}, {21, 44, 2},
    {23, 56, 2}, {24, 54, 2}, {27, 41, 2}, {29, 47, 2}, {30, 53, 2}, {32, 40, 2}, {33, 52, 2}, {34, 46, 2}, {0, 60, 3},
    {5, 61, 3}, {9, 62, 3}, {12, 63, 3}, {14, 66, 3}, {15, 64, 3}, {19, 65, 3}, {22, 67, 3}, {24, 75, 3}, {25, 68, 3},
    {28, 77, 3}, {30, 74, 3}, {31, 76, 3}, {33, 73, 3}, {34, 72, 3}};
constexpr int padded_places = 20;  // of a row, where nothing is
__device__ const short padded_place[20] =
    {9, 10, 11, 18, 19, 29, 30, 31, 38, 39, 49, 50, 51, 58, 59, 69, 70, 71, 78, 79};
constexpr int even_face_columns = 12, odd_face_columns = 8, odd_points = 6;
constexpr int points_in_flight = 3;  // of the faces, that a thread has at a time
constexpr int threads_per_block = 160, blocks_per_multiprocessor = 4;
constexpr int vector_width = 2;  // values in 16 bytes
constexpr int copy_width = 2;    // values per load and store of memory
// points of an element's faces and their stride in shared memory, padded
constexpr int flux_columns = 80, flux_row = 82;
constexpr int field_columns = 40, field_row = 42;  // nodes of an element, likewise
constexpr int factors = 10, accumulators = 6, geometry_words = dimension * dimension;

// Parts of nodal values are of four kinds, whose bits say under which reflections they are odd. What there is of a
// kind, and before it, where kinds 1 and 2 have as much.
__device__ constexpr int of_kind(int kind, int even, int mixed, int odd) {
    return kind == 0 ? even : kind == 3 ? odd : mixed;
}

__device__ constexpr int before_kind(int kind, int even, int mixed) {
    return kind == 0 ? 0 : even + (kind - 1) * mixed;
}

// From values at a node's images to its parts of each kind, or back.
__device__ __forceinline__ void change_parts(real (&value)[4]) {
    const real sum = value[0] + value[1], difference = value[0] - value[1];
    const real reflected_sum = value[2] + value[3], reflected_difference = value[2] - value[3];
    value[0] = sum + reflected_sum;
    value[1] = difference + reflected_difference;
    value[2] = sum - reflected_sum;
    value[3] = difference - reflected_difference;
}

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

// Adds u d to sums, on the matrix units: u holds 8 elements x 4 columns, d 4 columns x 8 nodes, spread over the warp as
// PTX prescribes for m8n8k4: lane group g has an element, and a node of d, lane t of it a column; sums are of nodes 2t
// and 2t + 1 of its element.
__device__ __forceinline__ void multiply_add(real& first, real& second, real d, real u) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(first),
        "+d"(second) : "d"(u), "d"(d));
}

// -d by its sign bit, which keeps the floating-point pipe free.
__device__ __forceinline__ real negated(real d) {
    return __longlong_as_double(__double_as_longlong(d) ^ (1ll << 63));
}


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
    constexpr int field_words = 2016, flux_words = 1312, factor_words = 80, frames_words = 288;
    constexpr int derivative_words = 1216, lift_words = 832;  // of D and LIFT
    real* const fluxes = here + field_words;
    // [elements_per_block][face_count][frame_words], padded
    real* const frames = here + field_words + flux_words + factor_words;
    real* const factor = here + field_words + flux_words;  // [elements_per_block][factors]
    real* const nodal = here;  // fields as memory has them, and right-hand sides
    real* const operators = here + field_words + flux_words + factor_words + frames_words;  // D, then LIFT
    // Right-hand sides.
    real* const out = nodal;

    // A warp has 8 elements and 8 nodes, or twice as many nodes, spread over its lanes as the matrix units do: of 8 a
    // thread has two neighbouring ones, of an element. Elements lie an odd number of two words apart: half of a warp
    // takes every second one, so that four words of each are in as many banks.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int node = warp % warps_along_nodes * (node_lanes * nodes_per_thread) + lane % 4 * 2;
    const int element = warp / warps_along_nodes * 8 + lane / 4 % 4 * 2 + lane / 16;
    real sum[fields][nodes_per_thread][elements_per_thread] = {};
    const int kind = node < even_rows ? 0 : node < even_rows + mixed_rows ? 1 : node < even_rows + 2 * mixed_rows ? 2
        : 3;
    const int rows = of_kind(kind, even_rows, mixed_rows, odd_rows),
        row = node - before_kind(kind, even_rows, mixed_rows);

    // A thread has several points of the faces at a time. It asks for their neighbours first of all, for these one's
    // fields when all copies are under way, and for those of the points that follow while it works. Beyond the last
    // point it asks for that again, and at a boundary for anything, so that no load waits for a branch.
    constexpr int in_flight = points_in_flight;
    const int points = present * face_points;
    int pluses[in_flight];
    FacePoint at_points[in_flight];
    real met[in_flight][fields];
    const auto ask = [&](int start) {
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int p = start + b * threads_per_block;
            pluses[b] = vmapP[size_t(block_first) * face_points + min(p, points - 1)];
            at_points[b] = points_of_faces[p % face_points];
        }
    };
    const auto fetch = [&] {
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int plus = max(pluses[b], 0);
            const real* const other = q + (plus + size_t(plus / nodes) * (words - nodes));
            #pragma unroll
            for (int f = 0; f < fields; ++f) met[b][f] = other[f * nodes];
        }
    };
    ask(threadIdx.x);
    // Faces, too, and geometry: of an element, by threads from the last on.
    constexpr int face_trips = (elements_per_block * face_count + threads_per_block - 1) / threads_per_block;
    real faces_ahead[face_trips][dimension + 1];
    #pragma unroll
    for (int trip = 0; trip < face_trips; ++trip) {
        const int i = min(int(threadIdx.x) + trip * threads_per_block, present * face_count - 1);
        load(faces_ahead[trip], faces + (size_t(block_first) * face_count + i) * (dimension + 1));
    }
    constexpr int geometry_trips = (elements_per_block + threads_per_block - 1) / threads_per_block;
    real geometry_ahead[geometry_trips][geometry_words];
    #pragma unroll
    for (int trip = 0; trip < geometry_trips; ++trip) {
        const int e = threads_per_block - 1 - int(threadIdx.x) + trip * threads_per_block;
        if (e >= present) break;
        #pragma unroll
        for (int j = 0; j < geometry_words; ++j)
            geometry_ahead[trip][j] = geometry[size_t(block_first + e) * geometry_words + j];
    }

    // The operators arrive with the fields.
    for (int i = threadIdx.x * vector_width; i < derivative_words; i += threads_per_block * vector_width)
        copy<vector_width>(operators + i, D + i, true);
    for (int i = threadIdx.x * vector_width; i < lift_words; i += threads_per_block * vector_width)
        copy<vector_width>(operators + derivative_words + i, LIFT + i, true);

    // Fields of the block's elements arrive in shared memory as they lie. No register waits for them, so that all are
    // under way together.
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width)
        copy<copy_width>(nodal + (i + i / words * (nodal_row - words)), q + size_t(block_first) * words + i, true);
    commit_copies();
    for (int i = threadIdx.x * prefetched_words; i < present * words; i += threads_per_block * prefetched_words)
        prefetch(res + size_t(block_first) * words + i);
    fetch();
    // Of each face: normal or, for Maxwell in 3D, two tangents; Fscale; impedance of the element.
    #pragma unroll
    for (int trip = 0; trip < face_trips; ++trip) {
        const int i = threadIdx.x + trip * threads_per_block;
        if (i >= elements_per_block * face_count) break;
        const real(&face)[dimension + 1] = faces_ahead[trip];
        real* const frame = frames + i / face_count * frame_row + i % face_count * frame_words;
        real tangents[6];
        tangents_of(face, tangents);
        #pragma unroll
        for (int j = 0; j < 6; ++j) frame[j] = tangents[j];
        frame[fscale_word] = face[dimension];
    }
    #pragma unroll
    for (int trip = 0; trip < geometry_trips; ++trip) {
        const int e = threads_per_block - 1 - int(threadIdx.x) + trip * threads_per_block;
        if (e >= present) break;
        const real(&given)[geometry_words] = geometry_ahead[trip];
        real g[geometry_words];
        // What is along r + s - t, r - s and t: u_x = (r_x + s_x) (D_r + D_s - D_t) / 2 + (r_x - s_x) (D_r - D_s) / 2 +
        // (t_x + (r_x + s_x) / 2) D_t.
        for (int j = 0; j < dimension; ++j) {
            const real both = given[j] + given[j + dimension];
            g[j] = both;
            g[j + dimension] = given[j] - given[j + dimension];
            g[j + 2 * dimension] = given[j + 2 * dimension] + real(0.5) * both;
        }
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
    wait_for_copies<0>();
    __syncthreads();
    #pragma unroll 1
    for (int start = threadIdx.x; start < points; start += in_flight * threads_per_block) {
        #pragma unroll
        for (int b = 0; b < in_flight; ++b) {
            const int p = start + b * threads_per_block, plus = pluses[b];
            const FacePoint at = at_points[b];
            if (p >= points) break;
            real(&beyond)[fields] = met[b];
            // Point p of the faces of the block's elements: point `at` of element e.
            const int e = p / face_points, side = at.side, own_node = at.node, place = e * flux_row + at.place;
            // Here the own node is `own_node`, the neighbour's is `plus`, and its fields are `beyond`.
            const size_t k = block_first + e;
            real frame[frame_words];
            load(frame, frames + e * frame_row + side * frame_words);
            const real* const own = nodal + e * nodal_row + own_node;
            constexpr int own_stride = nodes;
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
        ask(start + in_flight * threads_per_block);
        fetch();
    }
    // LIFT has zeros where faces are padded.
    for (int i = threadIdx.x; i < amplitudes * elements_per_block * padded_places; i += threads_per_block)
        fluxes[i / padded_places * flux_row + padded_place[i % padded_places]] = 0;
    __syncthreads();

    // The faces have what they need of the fields: transformed, their parts take the place, kind after kind. `images`
    // has for each part of kind 0 the images of its node: first those with parts of all kinds, then those with kind 2,
    // then as many with kind 1. `row_node` has for a row of D and LIFT the node that its right-hand side is kept at,
    // and -1 where these are padded.
    {
        constexpr int parts = elements_per_block * even_parts,
            trips = (parts + threads_per_block - 1) / threads_per_block;
        real part[trips][fields][4];
        #pragma unroll
        for (int trip = 0; trip < trips; ++trip) {
            const int i = min(int(threadIdx.x) + trip * threads_per_block, parts - 1);
            const real* const row = nodal + element_of(i, even_parts) * nodal_row;
            const Images image = images[place_of(i, even_parts)];
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                #pragma unroll
                for (int kind = 0; kind < 4; ++kind) part[trip][f][kind] = row[f * nodes + image.node[kind]];
                change_parts(part[trip][f]);
            }
        }
        // Amplitudes: sums and differences of points and their images under the reflection that keeps the face.
        for (int i = threadIdx.x; i < amplitudes * elements_per_block * face_count * odd_points;
            i += threads_per_block) {
            constexpr int places = face_count * odd_points, all_places = elements_per_block * places;
            const int e = i / all_places * elements_per_block + element_of(i % all_places, places),
                place = place_of(i % all_places, places);
            real* const even = fluxes + e * flux_row + place / odd_points * face_columns + place % odd_points;
            real* const odd = even + even_face_columns;
            const real value = *even, image = *odd;
            *even = value + image;
            *odd = value - image;
        }
        __syncthreads();
        #pragma unroll
        for (int trip = 0; trip < trips; ++trip) {
            const int i = threadIdx.x + trip * threads_per_block, e = element_of(i, even_parts),
                place = place_of(i, even_parts);
            if (i >= parts) break;
            const auto put = [&](int kind, int m) {
                real value[fields];
                #pragma unroll
                for (int f = 0; f < fields; ++f) value[f] = part[trip][f][kind];
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
            put(0, place);
            if (place < mixed_parts) put(2, before_kind(2, even_columns, mixed_columns) + place);
            if (place < odd_parts) put(3, before_kind(3, even_columns, mixed_columns) + place);
            if (place < odd_parts || (place >= mixed_parts && place < mixed_parts + paired_parts))
                put(1,
                    before_kind(1, even_columns, mixed_columns) + (place < odd_parts ? place : place - paired_parts));
        }
        for (int i = threadIdx.x; i < fields * elements_per_block * padded_columns; i += threads_per_block)
            here[i / padded_columns * field_row + padded_column[i % padded_columns]] = 0;
    }
    __syncthreads();

    // Volume: derivatives along r, s, t, combined with the metric factors.
    {
        real derivative[accumulators][nodes_per_thread][elements_per_thread] = {};
        // Rows of a kind: the derivative along r + s - t has columns of the same, those along r - s and t of the kind
        // that is odd where it is even under the first or the second reflection, or the other way round. Coefficients
        // lie tile by tile as a warp takes them.
        const real* coefficients = operators;
        coefficients +=
            before_kind(kind, even_rows * (even_columns + 2 * mixed_columns),
            mixed_rows * (even_columns + mixed_columns + odd_columns)) + lane;
        #pragma unroll
        for (int along = 0; along < dimension; ++along) {
            const int from = kind ^ along, end = of_kind(from, even_columns, mixed_columns, odd_columns);
            const real* const of_tile = coefficients + row / 8 * (8 * end);
            const real* const column = here + element * field_row + before_kind(from, even_columns, mixed_columns)
                + lane % 4;
            #pragma unroll unrolled_steps
            for (int m = 0; m < end; m += unroll) {
                real u[fields];
                #pragma unroll
                for (int f = 0; f < fields; ++f) u[f] = column[f * (elements_per_block * field_row) + m];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; r += 2) {
                    const real d = of_tile[r / 2 * (8 * end) + m * 8], minus_d = negated(d);
                    if (along == 1) multiply_add(derivative[0][r][0], derivative[0][r + 1][0], d, u[2]);
                    if (along == 2) multiply_add(derivative[0][r][0], derivative[0][r + 1][0], minus_d, u[1]);
                    if (along == 2) multiply_add(derivative[1][r][0], derivative[1][r + 1][0], d, u[0]);
                    if (along == 0) multiply_add(derivative[1][r][0], derivative[1][r + 1][0], minus_d, u[2]);
                    if (along == 0) multiply_add(derivative[2][r][0], derivative[2][r + 1][0], d, u[1]);
                    if (along == 1) multiply_add(derivative[2][r][0], derivative[2][r + 1][0], minus_d, u[0]);
                    if (along == 1) multiply_add(derivative[3][r][0], derivative[3][r + 1][0], d, u[5]);
                    if (along == 2) multiply_add(derivative[3][r][0], derivative[3][r + 1][0], minus_d, u[4]);
                    if (along == 2) multiply_add(derivative[4][r][0], derivative[4][r + 1][0], d, u[3]);
                    if (along == 0) multiply_add(derivative[4][r][0], derivative[4][r + 1][0], minus_d, u[5]);
                    if (along == 0) multiply_add(derivative[5][r][0], derivative[5][r + 1][0], d, u[4]);
                    if (along == 1) multiply_add(derivative[5][r][0], derivative[5][r + 1][0], minus_d, u[3]);
                }
            }
            coefficients += rows * end;
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

    // Surface: LIFT on the amplitudes, two faces at a time, then their directions. Reflection `pair` keeps faces `pair`
    // and `pair` + 2, whose points have even and odd parts, and the other one swaps them: the coefficients of one are
    // those of the other.
    {
        const real* coefficients = operators + derivative_words;
        coefficients +=
            before_kind(kind, even_rows * 2 * even_face_columns, mixed_rows * (even_face_columns + odd_face_columns))
            + row;
        #pragma unroll 1
        for (int pair = 0; pair < 2; ++pair) {
            real both[2][amplitudes][nodes_per_thread][elements_per_thread] = {};
            const bool odd = kind >> pair & 1, swap = kind >> (1 - pair) & 1;
            const int end = odd ? odd_face_columns : even_face_columns;
            // Coefficients lie tile by tile as a warp takes them.
            const real* const points = fluxes + element * flux_row + pair * face_columns + (odd ? even_face_columns : 0)
                + lane % 4;
            const real* const of_tile = coefficients + (row / 8 * (8 * end) + lane - row);
            #pragma unroll unrolled_steps
            for (int c = 0; c < end; c += unroll) {
                real l[nodes_per_thread / 2];
                #pragma unroll
                for (int tile = 0; tile < nodes_per_thread / 2; ++tile) l[tile] = of_tile[tile * (8 * end) + c * 8];
                #pragma unroll
                for (int side = 0; side < 2; ++side)
                    #pragma unroll
                    for (int a = 0; a < amplitudes; ++a) {
                        const real u = points[a * (elements_per_block * flux_row) + side * (2 * face_columns) + c];
                        #pragma unroll
                        for (int r = 0; r < nodes_per_thread; r += 2)
                            multiply_add(both[side][a][r][0], both[side][a][r + 1][0], l[r / 2], u);
                    }
            }
            coefficients += rows * end;
            #pragma unroll
            for (int side = 0; side < 2; ++side) {
                real(&lifted)[amplitudes][nodes_per_thread][elements_per_thread] = both[side];
                #pragma unroll
                for (int i = 0; i < elements_per_thread; ++i) {
                    real frame[frame_words];
                    load(frame, frames + (element + i * element_groups) * frame_row + (pair + 2 * side) * frame_words);
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r) {
                        #pragma unroll
                        for (int a = 0; a < amplitudes; ++a) lifted[a][r][i] *= side == 1 && swap ? real(-1) : real(1);
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
        }
    }
    // What right-hand sides update, or are added to, is asked for before the barriers.
    constexpr int copies =
        (elements_per_block * words + threads_per_block * copy_width - 1) / (threads_per_block * copy_width);
    real ahead[copies][copy_width];
    real fields_ahead[copies][copy_width];
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i >= present * words) break;
        load(ahead[trip], res + size_t(block_first) * words + i);
        load(fields_ahead[trip], q + size_t(block_first) * words + i);
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
    // Right-hand sides of a part lie at that image of its node whose number is the part's kind.
    __syncthreads();
    for (int i = threadIdx.x; i < elements_per_block * (odd_parts + 2 * paired_parts); i += threads_per_block) {
        const int place = place_of(i, odd_parts + 2 * paired_parts);
        real* const row = out + element_of(i, odd_parts + 2 * paired_parts) * nodal_row;
        const Images image = images[place];
        if (place < odd_parts) {
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                real part[4];
                #pragma unroll
                for (int kind = 0; kind < 4; ++kind) part[kind] = row[f * nodes + image.node[kind]];
                change_parts(part);
                #pragma unroll
                for (int kind = 0; kind < 4; ++kind) row[f * nodes + image.node[kind]] = part[kind];
            }
        } else {
            const int first = image.node[0], second = place < odd_parts + paired_parts ? image.node[2] : image.node[1];
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                const real even = row[f * nodes + first], odd = row[f * nodes + second];
                row[f * nodes + first] = even + odd;
                row[f * nodes + second] = even - odd;
            }
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
        load(total, out + (i + i / words * (nodal_row - words)));
        real(&residual)[copy_width] = ahead[trip];
        real(&field)[copy_width] = fields_ahead[trip];
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            residual[j] = a * residual[j] + dt * total[j];
            field[j] += b * residual[j];
        }
        store(res + base + i, residual);
        store(q_next + base + i, field);
    }
}
