// dg_surface: maxwell_3d, order 6, f64
// hone emit dg_surface equation=maxwell_3d order=6 precision=f64 materials=uniform arithmetic=strict elements=100000
//     --target cuda --config form=mma,elements_per_block=8,groups_per_warp=1,unrolled_steps=1,copy_width=2,
//     min_blocks=1
// The same text serves any number of elements.
// per element: 120792 operations, 12192 bytes (compulsory); this form executes 134568 operations
using real = double;
constexpr int nodes = 84, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 28, face_points = face_count * face_nodes;
constexpr int elements_per_block = 8, columns = 1;  // groups of 8 elements per warp
constexpr int node_tiles = 6, column_groups = 1;
constexpr int flux_steps = 14;  // of 8 columns of LIFT
constexpr int threads_per_block = 192, blocks_per_multiprocessor = 1;
constexpr int vector_width = 2;  // values in 16 bytes
constexpr int copy_width = 2;    // values per load and store of memory
constexpr int flux_row = 120;  // their stride in shared memory

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

using Coefficients = double2;  // of a lane: column 2t or 2t + 1 of nodes g and g + 8
using Values = double2;        // of a lane: columns 2t and 2t + 1

__device__ __forceinline__ Values load_values(const real* from) { return *reinterpret_cast<const double2*>(from); }

// c += a b on the matrix units: a holds 16 nodes x 8 columns, b 8 columns x 8 elements, spread over the warp as PTX
// prescribes for m16n8k8. Which column of the operator plays which of the 8 is free as long as both agree: lane group t
// takes columns 2t and 2t + 1, so that a lane's two values of b are neighbours in shared memory.
__device__ __forceinline__ void multiply_add(real (&c)[4], const Coefficients (&a)[2], const Values& b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0].x), "d"(a[0].y), "d"(a[1].x), "d"(a[1].y), "d"(b.x), "d"(b.y));
}

// -b by its sign bits, which keeps the floating-point pipe free.
__device__ __forceinline__ Values negated(const Values& b) {
    const long long sign = 1ll << 63;
    return make_double2(__longlong_as_double(__double_as_longlong(b.x) ^ sign),
        __longlong_as_double(__double_as_longlong(b.y) ^ sign));
}
// Node of the element at each point of its faces: vmapM without the element's offset.
__device__ const unsigned short face_node[face_points] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 0, 1, 2, 3, 4,
    5, 6, 28, 29, 30, 31, 32, 33, 49, 50, 51, 52, 53, 64, 65, 66, 67, 74, 75, 76, 80, 81, 83, 6, 12, 17, 21, 24, 26, 27,
    33, 38, 42, 45, 47, 48, 53, 57, 60, 62, 63, 67, 70, 72, 73,
    76, 78, 79, 81, 82, 83, 0, 7, 13, 18, 22, 25, 27, 28, 34,
    39, 43, 46, 48, 49, 54, 58, 61, 63, 64, 68, 71, 73, 74, 77, 79, 80, 82, 83,
};

// A block handles `elements_per_block` elements.
extern "C" __global__ void
__launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_surface(const real* __restrict__ q, const real* __restrict__ faces, const int* __restrict__ vmapP,
    real* __restrict__ rhs, const real* __restrict__ LIFT, int first, int last) {
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // fields and fluxes of the block's elements
    constexpr int field_words = 5760;
    real* const out = here + field_words;  // right-hand sides
    real* const fluxes = here;

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
        for (int f = 0; f < fields; ++f)
            fluxes[(f * elements_per_block + i / flux_row) * flux_row + i % flux_row] = inside ? flux[f] : real(0);
    }
    __syncthreads();

    // Warps take tiles of 16 nodes x `columns` groups of 8 elements in turn.
    const int lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int task = threadIdx.x / 32; task < node_tiles * column_groups; task += threads_per_block / 32) {
        const int tile = task / column_groups;
        const int first_element = task % column_groups * (columns * 8);
        real sum[fields][columns][4] = {};

        // Surface: LIFT on the fluxes.
        {
            const Coefficients* coefficients = reinterpret_cast<const Coefficients*>(LIFT)
                + size_t(tile) * (flux_steps * 2 * 32) + lane;
            const real* column = fluxes + (first_element + lane / 4) * flux_row + lane % 4 * 2;
            #pragma unroll 1
            for (int step = 0; step < flux_steps; ++step) {
                const Coefficients l[2] = {coefficients[0], coefficients[32]};
                #pragma unroll
                for (int c = 0; c < columns; ++c)
                    #pragma unroll
                    for (int f = 0; f < fields; ++f)
                        multiply_add(sum[f][c], l, load_values(column + (f * elements_per_block + c * 8) * flux_row));
                coefficients += 2 * 32;
                column += 8;
            }
        }

        // A lane holds nodes lane / 4 and + 8 of elements lane % 4 * 2 and + 1.
        #pragma unroll
        for (int c = 0; c < columns; ++c)
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int e = first_element + c * 8 + lane % 4 * 2 + i % 2;
                const int n = tile * 16 + lane / 4 + i / 2 * 8;
                if (n < nodes)
                    #pragma unroll
                    for (int f = 0; f < fields; ++f)
                        out[(e * fields + f) * nodes + n] = sum[f][c][i];
            }
    }
    __syncthreads();
    const size_t base = size_t(block_first) * words;
    #pragma unroll 2
    for (int i = threadIdx.x * copy_width; i < present * words; i += threads_per_block * copy_width) {
        real total[copy_width];
        load(total, out + i);
        real before[copy_width];
        load(before, rhs + base + i);
        #pragma unroll
        for (int j = 0; j < copy_width; ++j) {
            total[j] = (before[j] + total[j]);
        }
        store(rhs + base + i, total);
    }
}
