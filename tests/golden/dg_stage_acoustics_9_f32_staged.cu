// dg_stage: acoustics_3d, order 9, f32
// hone emit dg_stage equation=acoustics_3d order=9 precision=f32 materials=uniform arithmetic=strict elements=100000
//     --target cuda --config form=warp_tile_whole,gathers=loads,basis=double_parity,operator=staged,parts=in_place,
//     elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,node_lanes=4,unroll=4,copy_width=2,min_blocks=1
// The same text serves any number of elements.
// per element: 1565960 operations, 15060 bytes (compulsory); this form executes 259184 operations
// The images of a node under two reflections of the element: bit b of the index says that reflection b was applied.
struct alignas(8) Images {
    short node[4];
};
// A point of an element's faces: its node, its place in a row of amplitudes, its face.
struct alignas(8) FacePoint {
    short node, place, side;
};
using real = float;
constexpr int nodes = 220, fields = 4, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 55, face_points = face_count * face_nodes;
constexpr int elements_per_block = 16, elements_per_thread = 2,
    element_groups = elements_per_block / elements_per_thread;
constexpr int node_lanes = 4, element_lanes = 8, warps_along_nodes = 16;
constexpr int nodes_per_thread = 4;
constexpr int group = 4, unroll = 4;  // neighbouring nodes of a thread, and columns of an operator per trip
constexpr int stages = 4, tile_rows = 16;  // of coefficients on their way, and rows of a warp
constexpr int face_columns = 60;   // columns of LIFT for a face, padded
// directions of the flux through a face; what is kept of it
constexpr int amplitudes = 1, frame_words = 4, frame_row = 20, fscale_word = 3;
constexpr int even_parts = 70, mixed_parts = 55, odd_parts = 40, paired_parts = mixed_parts - odd_parts;
constexpr int even_rows = 80, mixed_rows = 64, odd_rows = 48, even_columns = 72, mixed_columns = 56, odd_columns = 40;
__device__ const Images images[even_parts] =
    {{{1, 10, 217, 218}}, {{2, 19, 212, 215}}, {{3, 27, 203, 209}}, {{4, 34, 189, 199}}, {{5, 40, 169, 184}},
    {{6, 45, 142, 163}}, {{7, 49, 107, 135}}, {{8, 52, 63, 99}}, {{12, 20, 206, 208}}, {{13, 28, 193, 198}},
    {{14, 35, 174, 183}}, {{15, 41, 148, 162}}, {{16, 46, 114, 134}}, {{17, 50, 71, 98}}, {{22, 29, 178, 181}},
    {{23, 36, 153, 160}}, {{24, 42, 120, 132}}, {{25, 47, 78, 96}}, {{31, 37, 125, 129}}, {{32, 43, 84, 93}},
    {{56, 64, 211, 213}}, {{57, 72, 202, 207}}, {{58, 79, 188, 197}}, {{59, 85, 168, 182}}, {{60, 90, 141, 161}},
    {{61, 94, 106, 133}}, {{66, 73, 192, 195}}, {{67, 80, 173, 180}}, {{68, 86, 147, 159}}, {{69, 91, 113, 131}},
    {{75, 81, 152, 156}}, {{76, 87, 119, 128}}, {{101, 108, 201, 204}}, {{102, 115, 187, 194}}, {{103, 121, 167, 179}},
    {{104, 126, 140, 158}}, {{110, 116, 172, 176}}, {{111, 122, 146, 155}}, {{137, 143, 186, 190}},
    {{138, 149, 166, 175}}, {{0, 0, 219, 219}}, {{11, 11, 214, 214}}, {{21, 21, 196, 196}}, {{30, 30, 157, 157}},
    {{38, 38, 89, 89}}, {{55, 55, 216, 216}}, {{65, 65, 205, 205}}, {{74, 74, 177, 177}}, {{82, 82, 124, 124}},
    {{100, 100, 210, 210}}, {{109, 109, 191, 191}}, {{117, 117, 151, 151}}, {{136, 136, 200, 200}},
    {{144, 144, 171, 171}}, {{164, 164, 185, 185}}, {{9, 54, 9, 54}}, {{18, 53, 18, 53}}, {{26, 51, 26, 51}},
    {{33, 48, 33, 48}}, {{39, 44, 39, 44}}, {{62, 97, 62, 97}}, {{70, 95, 70, 95}}, {{77, 92, 77, 92}},
    {{83, 88, 83, 88}}, {{105, 130, 105, 130}}, {{112, 127, 112, 127}}, {{118, 123, 118, 123}}, {{139, 154, 139, 154}},
    {{145, 150, 145, 150}}, {{165, 170, 165, 170}}};
constexpr int padded_columns = 4;  // of a row, where nothing is
__device__ const short padded_column[4] = {70, 71, 127, 183};
__device__ const short row_node[256] =
    {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 22, 23, 24, 25, 31, 32, 56, 57,
     58, 59, 60, 61, 66, 67, 68, 69, 75, 76, 101, 102, 103, 104, 110, 111, 137, 138, 0, 11, 21, 30,
     38, 55, 65, 74, 82, 100, 109, 117, 136, 144, 164, 9, 18, 26, 33, 39, 62, 70, 77, 83, 105, 112,
     118, 139, 145, 165, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 10, 19, 27, 34, 40, 45, 49, 52,
     20, 28, 35, 41, 46, 50, 29, 36, 42, 47, 37, 43, 64, 72, 79, 85, 90, 94, 73, 80, 86, 91,
     81, 87, 108, 115, 121, 126, 116, 122, 143, 149, 54, 53, 51, 48, 44, 97, 95, 92, 88, 130, 127, 123,
     154, 150, 170, -1, -1, -1, -1, -1, -1, -1, -1, -1, 217, 212, 203, 189, 169, 142, 107, 63, 206, 193,
     174, 148, 114, 71, 178, 153, 120, 78, 125, 84, 211, 202, 188, 168, 141, 106, 192, 173, 147, 113, 152, 119,
     201, 187, 167, 140, 172, 146, 186, 166, 219, 214, 196, 157, 89, 216, 205, 177, 124, 210, 191, 151, 200, 171,
     185, -1, -1, -1, -1, -1, -1, -1, -1, -1, 218, 215, 209, 199, 184, 163, 135, 99, 208, 198, 183, 162,
     134, 98, 181, 160, 132, 96, 129, 93, 213, 207, 197, 182, 161, 133, 195, 180, 159, 131, 156, 128, 204, 194,
     179, 158, 176, 155, 190, 175, -1, -1, -1, -1, -1, -1, -1, -1};
// stride between elements as memory has them; how many have banks apart
constexpr int nodal_row = 882, elements_apart = 16;
__device__ const FacePoint points_of_faces[face_points] =
    {{0, 25, 0}, {1, 0, 0}, {2, 1, 0}, {3, 2, 0}, {4, 3, 0}, {5, 4, 0}, {6, 5, 0}, {7, 6, 0}, {8, 7, 0}, {9, 8, 0},
    {10, 32, 0}, {11, 26, 0}, {12, 9, 0}, {13, 10, 0}, {14, 11, 0}, {15, 12, 0}, {16, 13, 0}, {17, 14, 0}, {18, 15, 0},
    {19, 33, 0}, {20, 41, 0}, {21, 27, 0}, {22, 16, 0}, {23, 17, 0}, {24, 18, 0}, {25, 19, 0}, {26, 20, 0}, {27, 34, 0},
    {28, 42, 0}, {29, 48, 0}, {30, 28, 0}, {31, 21, 0}, {32, 22, 0}, {33, 23, 0}, {34, 35, 0}, {35, 43, 0}, {36, 49, 0},
    {37, 53, 0}, {38, 29, 0}, {39, 24, 0}, {40, 36, 0}, {41, 44, 0}, {42, 50, 0}, {43, 54, 0}, {44, 56, 0}, {45, 37, 0},
    {46, 45, 0}, {47, 51, 0}, {48, 55, 0}, {49, 38, 0}, {50, 46, 0}, {51, 52, 0}, {52, 39, 0}, {53, 47, 0}, {54, 40, 0},
    {0, 60, 1}, {1, 61, 1}, {2, 62, 1}, {3, 63, 1}, {4, 64, 1}, {5, 65, 1}, {6, 66, 1}, {7, 67, 1}, {8, 68, 1},
    {9, 85, 1}, {55, 69, 1}, {56, 70, 1}, {57, 71, 1}, {58, 72, 1}, {59, 73, 1}, {60, 74, 1}, {61, 75, 1}, {62, 86, 1},
    {63, 100, 1}, {100, 76, 1}, {101, 77, 1}, {102, 78, 1}, {103, 79, 1}, {104, 80, 1}, {105, 87, 1}, {106, 107, 1},
    {107, 99, 1}, {136, 81, 1}, {137, 82, 1}, {138, 83, 1}, {139, 88, 1}, {140, 112, 1}, {141, 106, 1}, {142, 98, 1},
    {164, 84, 1}, {165, 89, 1}, {166, 115, 1}, {167, 111, 1}, {168, 105, 1}, {169, 97, 1}, {185, 116, 1}, {186, 114, 1},
    {187, 110, 1}, {188, 104, 1}, {189, 96, 1}, {200, 113, 1}, {201, 109, 1}, {202, 103, 1}, {203, 95, 1},
    {210, 108, 1}, {211, 102, 1}, {212, 94, 1}, {216, 101, 1}, {217, 93, 1}, {219, 92, 1}, {9, 128, 2}, {18, 135, 2},
    {26, 140, 2}, {33, 143, 2}, {39, 144, 2}, {44, 176, 2}, {48, 175, 2}, {51, 172, 2}, {53, 167, 2}, {54, 160, 2},
    {63, 127, 2}, {71, 134, 2}, {78, 139, 2}, {84, 142, 2}, {89, 149, 2}, {93, 174, 2}, {96, 171, 2}, {98, 166, 2},
    {99, 159, 2}, {107, 126, 2}, {114, 133, 2}, {120, 138, 2}, {125, 141, 2}, {129, 173, 2}, {132, 170, 2},
    {134, 165, 2}, {135, 158, 2}, {142, 125, 2}, {148, 132, 2}, {153, 137, 2}, {157, 148, 2}, {160, 169, 2},
    {162, 164, 2}, {163, 157, 2}, {169, 124, 2}, {174, 131, 2}, {178, 136, 2}, {181, 168, 2}, {183, 163, 2},
    {184, 156, 2}, {189, 123, 2}, {193, 130, 2}, {196, 147, 2}, {198, 162, 2}, {199, 155, 2}, {203, 122, 2},
    {206, 129, 2}, {208, 161, 2}, {209, 154, 2}, {212, 121, 2}, {214, 146, 2}, {215, 153, 2}, {217, 120, 2},
    {218, 152, 2}, {219, 145, 2}, {0, 180, 3}, {10, 181, 3}, {19, 182, 3}, {27, 183, 3}, {34, 184, 3}, {40, 185, 3},
    {45, 186, 3}, {49, 187, 3}, {52, 188, 3}, {54, 205, 3}, {55, 189, 3}, {64, 190, 3}, {72, 191, 3}, {79, 192, 3},
    {85, 193, 3}, {90, 194, 3}, {94, 195, 3}, {97, 206, 3}, {99, 220, 3}, {100, 196, 3}, {108, 197, 3}, {115, 198, 3},
    {121, 199, 3}, {126, 200, 3}, {130, 207, 3}, {133, 227, 3}, {135, 219, 3}, {136, 201, 3}, {143, 202, 3},
    {149, 203, 3}, {154, 208, 3}, {158, 232, 3}, {161, 226, 3}, {163, 218, 3}, {164, 204, 3}, {170, 209, 3},
    {175, 235, 3}, {179, 231, 3}, {182, 225, 3}, {184, 217, 3}, {185, 236, 3}, {190, 234, 3}, {194, 230, 3},
    {197, 224, 3}, {199, 216, 3}, {200, 233, 3}, {204, 229, 3}, {207, 223, 3}, {209, 215, 3}, {210, 228, 3},
    {213, 222, 3}, {215, 214, 3}, {216, 221, 3}, {218, 213, 3}, {219, 212, 3}};
constexpr int padded_places = 20;  // of a row, where nothing is
__device__ const short padded_place[20] =
    {30, 31, 57, 58, 59, 90, 91, 117, 118, 119, 150, 151, 177, 178, 179, 210, 211, 237, 238, 239};
constexpr int even_face_columns = 32, odd_face_columns = 28, odd_points = 25;
constexpr int points_in_flight = 6;  // of the faces, that a thread has at a time
constexpr int threads_per_block = 512, blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int copy_width = 2;    // values per load and store of memory
constexpr int flux_row = 244;  // their stride in shared memory
constexpr int field_row = 228;  // their stride in shared memory
constexpr int factors = 9, accumulators = 4, geometry_words = dimension * dimension;

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
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(there ? 16 : 0)
            : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
            ::"r"(target), "l"(from), "n"(bytes), "r"(there ? bytes : 0) : "memory");
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


// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_stage(const real* __restrict__ q, const real* __restrict__ geometry, const real* __restrict__ faces,
    const int* __restrict__ vmapP, const real* __restrict__ stage, real* __restrict__ res, real* __restrict__ q_next,
    const real* __restrict__ D, const real* __restrict__ LIFT, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    __shared__ real stage_here[3];  // arrives with the fields
    if (threadIdx.x < 3)
        copy<1>(stage_here + threadIdx.x, stage + threadIdx.x, true);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // fields and fluxes of the block's elements
    constexpr int field_words = 14592, flux_words = 3904, factor_words = 144, frames_words = 320;
    real* const fluxes = here + field_words;
    // [elements_per_block][face_count][frame_words], padded
    real* const frames = here + field_words + flux_words + factor_words;
    real* const factor = here + field_words + flux_words;  // [elements_per_block][factors]
    real* const nodal = here;  // fields as memory has them, and right-hand sides
    // coefficients on their way: [warps][stages][unroll][tile_rows]
    real* const staged = here + field_words + flux_words + factor_words + frames_words;
    // Right-hand sides.
    real* const out = nodal;

    // A warp is node_lanes x element_lanes threads. Neighbouring lanes have the same nodes, and every second one the
    // same elements. A thread accumulates nodes_per_thread nodes of elements element, element + element_groups, ... in
    // registers.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int node = warp % warps_along_nodes * (node_lanes * nodes_per_thread) + lane / 2 % node_lanes * group;
    const int element = warp / warps_along_nodes * element_lanes + lane / (2 * node_lanes) * 2 + lane % 2;
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
        #pragma unroll
        for (int j = 0; j < dimension; ++j) frame[j] = face[j];
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
        for (int i = 0; i < factors; ++i) own[i] = g[i];
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
            real frame[frame_words];
            load(frame, frames + e * frame_row + side * frame_words);
            const real* const own = nodal + e * nodal_row + own_node;
            constexpr int own_stride = nodes;
            if (plus < 0) {
                // Behind a reflecting wall some fields are the own ones with the other sign, behind an absorbing
                // boundary there is nothing.
                constexpr bool mirrored[fields] = {false, true, true, true};
                const real same = plus == -2 ? 0 : 1, mirror = plus >= 0 ? 1 : plus == -1 ? -1 : 0;
                #pragma unroll
                for (int f = 0; f < fields; ++f) beyond[f] = (mirrored[f] ? mirror : same) * own[f * own_stride];
            }
            real difference[fields];
            #pragma unroll
            for (int f = 0; f < fields; ++f) difference[f] = beyond[f] - own[f * own_stride];
            const real nx = frame[0], ny = frame[1];
            const real nz = frame[2];
            constexpr real other_z = 1;
            const real weight = real(0.5) * frame[fscale_word];
            // Amplitudes of the flux along the directions of its face.
            const real amplitude[amplitudes] = {
                weight * (difference[0] - other_z * (nx * difference[1] + ny * difference[2] + nz * difference[3]))};
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
            real* const even = fluxes + i / (face_count * odd_points) * flux_row
                + i / odd_points % face_count * face_columns + i % odd_points;
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
                const real rx = own[0], ry = own[1], rz = own[2], sx = own[3], sy = own[4], sz = own[5], tx = own[6],
                    ty = own[7], tz = own[8];
                here[(0 * elements_per_block + e) * field_row + m] = value[0];
                here[(1 * elements_per_block + e) * field_row + m] = rx * value[1] + ry * value[2] + rz * value[3];
                here[(2 * elements_per_block + e) * field_row + m] = sx * value[1] + sy * value[2] + sz * value[3];
                here[(3 * elements_per_block + e) * field_row + m] = tx * value[1] + ty * value[2] + tz * value[3];
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
        // A warp's coefficients come through shared memory: its lanes ask for those of `unroll` columns together,
        // `stages` - 1 trips before they are used, and no register waits for them.
        const int own_row = lane / 2 % node_lanes * group;
        real* const of_warp = staged + warp * (stages * unroll * tile_rows);
        const real* coming = nullptr;
        int columns_left = 0, stage_asked = 0, stage_used = 0;
        const auto ask_for_columns = [&] {
            constexpr int lanes_of_column = tile_rows / vector_width;
            if (columns_left > 0 && lane < unroll * lanes_of_column)
                copy<vector_width>(of_warp + stage_asked * (unroll * tile_rows) + lane * vector_width,
                                   coming + lane / lanes_of_column * rows + lane % lanes_of_column * vector_width,
                                       true);
            commit_copies();
            coming += unroll * rows;
            columns_left -= unroll;
            stage_asked = (stage_asked + 1) % stages;
        };
        const auto begin_columns = [&](const real* first_row, int columns) {
            coming = first_row;
            columns_left = columns;
            stage_asked = stage_used = 0;
            __syncwarp();
            for (int i = 0; i < stages - 1; ++i) ask_for_columns();
        };
        const auto next_columns = [&] {
            wait_for_copies<stages - 2>();
            __syncwarp();
            const real* const arrived = of_warp + stage_used * (unroll * tile_rows) + own_row;
            stage_used = (stage_used + 1) % stages;
            ask_for_columns();
            return arrived;
        };
        // Rows of a kind: the derivative along r + s - t has columns of the same, those along r - s and t of the kind
        // that is odd where it is even under the first or the second reflection, or the other way round.
        begin_columns(D
            + before_kind(kind, even_rows * (even_columns + 2 * mixed_columns),
            mixed_rows * (even_columns + mixed_columns + odd_columns)) + row - own_row,
                      of_kind(kind, even_columns, mixed_columns, odd_columns)
                          + of_kind(kind ^ 1, even_columns, mixed_columns, odd_columns) +
                          of_kind(kind ^ 2, even_columns, mixed_columns, odd_columns));
        #pragma unroll
        for (int along = 0; along < dimension; ++along) {
            const int from = kind ^ along, end = of_kind(from, even_columns, mixed_columns, odd_columns);
            const real* const column = here + element * field_row + before_kind(from, even_columns, mixed_columns);
            #pragma unroll 1
            for (int m = 0; m < end; m += unroll) {
                const real* const coefficients = next_columns();
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
                        load(d[along][r], coefficients + j * tile_rows + r * (node_lanes * group));
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r)
                        #pragma unroll
                        for (int c = 0; c < elements_per_thread; ++c) {
                            if (along == 0) derivative[1][r][c] += d[0][r / group][r % group] * u[0][c][j];
                            if (along == 0) derivative[0][r][c] += d[0][r / group][r % group] * u[1][c][j];
                            if (along == 1) derivative[2][r][c] += d[1][r / group][r % group] * u[0][c][j];
                            if (along == 1) derivative[0][r][c] += d[1][r / group][r % group] * u[2][c][j];
                            if (along == 2) derivative[3][r][c] += d[2][r / group][r % group] * u[0][c][j];
                            if (along == 2) derivative[0][r][c] += d[2][r / group][r % group] * u[3][c][j];
                        }
                }
            }
        }
        #pragma unroll
        for (int c = 0; c < elements_per_thread; ++c) {
            const int e = element + c * element_groups;
            const real* const own = factor + (e < present ? e : 0) * factors;
            const real rx = own[0], ry = own[1], rz = own[2], sx = own[3], sy = own[4], sz = own[5], tx = own[6],
                ty = own[7], tz = own[8];
            #pragma unroll
            for (int r = 0; r < nodes_per_thread; ++r) {
                sum[0][r][c] = -derivative[0][r][c];
                sum[1][r][c] = -rx * derivative[1][r][c] - sx * derivative[2][r][c] - tx * derivative[3][r][c];
                sum[2][r][c] = -ry * derivative[1][r][c] - sy * derivative[2][r][c] - ty * derivative[3][r][c];
                sum[3][r][c] = -rz * derivative[1][r][c] - sz * derivative[2][r][c] - tz * derivative[3][r][c];
            }
        }
    }

    // Surface: LIFT on the amplitudes, two faces at a time, then their directions. Reflection `pair` keeps faces `pair`
    // and `pair` + 2, whose points have even and odd parts, and the other one swaps them: the coefficients of one are
    // those of the other.
    {
        const real* coefficients = LIFT;
        coefficients +=
            before_kind(kind, even_rows * 2 * even_face_columns, mixed_rows * (even_face_columns + odd_face_columns))
            + row;
        // A warp's coefficients come through shared memory: its lanes ask for those of `unroll` columns together,
        // `stages` - 1 trips before they are used, and no register waits for them.
        const int own_row = lane / 2 % node_lanes * group;
        real* const of_warp = staged + warp * (stages * unroll * tile_rows);
        const real* coming = nullptr;
        int columns_left = 0, stage_asked = 0, stage_used = 0;
        const auto ask_for_columns = [&] {
            constexpr int lanes_of_column = tile_rows / vector_width;
            if (columns_left > 0 && lane < unroll * lanes_of_column)
                copy<vector_width>(of_warp + stage_asked * (unroll * tile_rows) + lane * vector_width,
                                   coming + lane / lanes_of_column * rows + lane % lanes_of_column * vector_width,
                                       true);
            commit_copies();
            coming += unroll * rows;
            columns_left -= unroll;
            stage_asked = (stage_asked + 1) % stages;
        };
        const auto begin_columns = [&](const real* first_row, int columns) {
            coming = first_row;
            columns_left = columns;
            stage_asked = stage_used = 0;
            __syncwarp();
            for (int i = 0; i < stages - 1; ++i) ask_for_columns();
        };
        const auto next_columns = [&] {
            wait_for_copies<stages - 2>();
            __syncwarp();
            const real* const arrived = of_warp + stage_used * (unroll * tile_rows) + own_row;
            stage_used = (stage_used + 1) % stages;
            ask_for_columns();
            return arrived;
        };
        begin_columns(coefficients - own_row,
            (kind % 2 == 0 ? even_face_columns : odd_face_columns)
            + (kind / 2 == 0 ? even_face_columns : odd_face_columns));
        #pragma unroll 1
        for (int pair = 0; pair < 2; ++pair) {
            real both[2][amplitudes][nodes_per_thread][elements_per_thread] = {};
            const bool odd = kind >> pair & 1, swap = kind >> (1 - pair) & 1;
            const int end = odd ? odd_face_columns : even_face_columns;
            const real* const points = fluxes + element * flux_row + pair * face_columns
                + (odd ? even_face_columns : 0);
            #pragma unroll 1
            for (int c = 0; c < end; c += unroll) {
                const real* const arrived = next_columns();
                real u[2][amplitudes][elements_per_thread][unroll];
                #pragma unroll
                for (int side = 0; side < 2; ++side)
                    #pragma unroll
                    for (int a = 0; a < amplitudes; ++a)
                        #pragma unroll
                        for (int i = 0; i < elements_per_thread; ++i)
                            load(u[side][a][i],
                                points + (a * elements_per_block + i * element_groups) * flux_row
                                + side * (2 * face_columns) + c);
                #pragma unroll
                for (int j = 0; j < unroll; ++j) {
                    real l[nodes_per_thread / group][group];
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread / group; ++r)
                        load(l[r], arrived + j * tile_rows + r * (node_lanes * group));
                    #pragma unroll
                    for (int side = 0; side < 2; ++side)
                        #pragma unroll
                        for (int a = 0; a < amplitudes; ++a)
                            #pragma unroll
                            for (int r = 0; r < nodes_per_thread; ++r)
                                #pragma unroll
                                for (int i = 0; i < elements_per_thread; ++i)
                                    both[side][a][r][i] += l[r / group][r % group] * u[side][a][i][j];
                }
            }
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
                        sum[0][r][i] += first;
                        #pragma unroll
                        for (int j = 0; j < dimension; ++j) sum[1 + j][r][i] -= frame[j] * (own_z * first);
                    }
                }
            }
        }
    }
    // What right-hand sides update, or are added to, is asked for before the barriers.
    constexpr int copies =
        (elements_per_block * words + threads_per_block * copy_width - 1) / (threads_per_block * copy_width);
    real ahead[copies][copy_width];
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i >= present * words) break;
        load(ahead[trip], res + size_t(block_first) * words + i);
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
    const real a = stage_here[0], b = stage_here[1], dt = stage_here[2];
    const size_t base = size_t(block_first) * words;
    #pragma unroll
    for (int trip = 0; trip < copies; ++trip) {
        const int i = (threadIdx.x + trip * threads_per_block) * copy_width;
        if (i >= present * words) break;
        real total[copy_width];
        load(total, out + (i + i / words * (nodal_row - words)));
        real(&residual)[copy_width] = ahead[trip];
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
