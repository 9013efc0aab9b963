// acoustics_staggered: pressure in 3D, order 2-16, array media, f32
// hone emit acoustics_staggered kernel=pressure dimension=3 order=16 media=array absorbing=none update=apart levels=1
//     precision=f32 nx=512 ny=512 nz=512 --target cuda --config form=planes,block_x=16,block_y=16,rows_per_thread=2,
//     points_per_thread=4,layers_per_block=0,stages=3,unroll=1,min_blocks=1,stores=plain,cache_hint=plain,max_lead=0
// The same text serves every size and pitch.
// per point: 73 operations, 24 bytes (compulsory)
using real = float;
using vector = float4;  // a load
using wide = long long;  // a position in an array
constexpr int half = 8;  // M, half the order in space
constexpr int ghost = 16, left = 32;  // rows and planes before the first cell, and words of its row
constexpr int block_x = 16, block_y = 16, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 4, group_alignment = 16;  // cells of a row that a thread takes at a time
constexpr int rows = 2;  // of a plane, one below the other, that a thread takes
constexpr int stages = 3, stage_words = 11712;  // planes in shared memory or on their way, and all words of each
constexpr int side = 8;  // words beside a tile's rows
constexpr int layers_per_trip = 1;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 16.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.2340910732746124f;
    if (m == 2) return -0.10664984583854675f;
    if (m == 3) return 0.023036366701126101f;
    if (m == 4) return -0.0053423855985913959f;
    if (m == 5) return 0.001077271170086331f;
    if (m == 6) return -0.00016641887751492584f;
    if (m == 7) return 1.7021711056049058e-05f;
    return -8.5234642028808587e-07f;
}

// Neighbouring words of a row, read and written with the widest instructions.
struct alignas(group_alignment) Group {
    real word[points];

    __device__ __forceinline__ real& operator[](int i) { return word[i]; }
    __device__ __forceinline__ real operator[](int i) const { return word[i]; }
};
constexpr int vectors = sizeof(Group) / sizeof(vector);

__device__ __forceinline__ Group load(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(&group)[i] = reinterpret_cast<const vector*>(from)[i];
    return group;
}

// Stores the first `count` words; none or less for a thread without cells.
__device__ __forceinline__ void store(real* to, const Group& group, int count) {
    if (count >= points) {
        #pragma unroll
        for (int i = 0; i < vectors; ++i)
            reinterpret_cast<vector*>(to)[i] = reinterpret_cast<const vector*>(&group)[i];
        return;
    }
    #pragma unroll
    for (int i = 0; i < points; ++i)
        if (i < count) to[i] = group[i];
}

__device__ __forceinline__ Group minus_product(const Group& from, const Group& factor, const Group& other) {
    Group result;
    #pragma unroll
    for (int i = 0; i < points; ++i) result[i] = fma(-factor[i], other[i], from[i]);
    return result;
}

__device__ __forceinline__ Group plus_product(const Group& from, real factor, const Group& other) {
    Group result;
    #pragma unroll
    for (int i = 0; i < points; ++i) result[i] = fma(factor, other[i], from[i]);
    return result;
}

__device__ __forceinline__ void add(Group& sum, const Group& other) {
    #pragma unroll
    for (int i = 0; i < points; ++i) sum[i] += other[i];
}

__device__ __forceinline__ Group scaled(const Group& group, real factor) {
    Group result;
    #pragma unroll
    for (int i = 0; i < points; ++i) result[i] = factor * group[i];
    return result;
}

// The words from `before` before a group to `after` behind it, read in whole groups.
template <int before, int after>
struct Span {
    static constexpr int left = (before + points - 1) / points, right = (after + points - 1) / points;
    Group group[left + 1 + right];

    __device__ __forceinline__ void read(const real* from) {
        #pragma unroll
        for (int i = 0; i <= left + right; ++i) group[i] = load(from + (i - left) * points);
    }
    __device__ __forceinline__ Group& own() { return group[left]; }
    __device__ __forceinline__ const Group& own() const { return group[left]; }
    __device__ __forceinline__ real operator[](int i) const {
        return group[(i + left * points) / points].word[(i + left * points) % points];
    }
};

// The difference between i and i + 1 of values along x. Of values at left faces it belongs to the centre i, of values
// at centres to the left face i + 1.
template <typename Values>
__device__ __forceinline__ real difference(const Values& value, int i) {
    real sum = weight(1) * (value[i + 1] - value[i]);
    #pragma unroll
    for (int m = 2; m <= half; ++m) sum = fma(weight(m), value[i + m] - value[i + 1 - m], sum);
    return sum;
}

// Those of a group, from `offset` on.
template <typename Values>
__device__ __forceinline__ Group differences(const Values& value, int offset) {
    Group result;
    #pragma unroll
    for (int i = 0; i < points; ++i) result[i] = difference(value, i + offset);
    return result;
}

// The difference across rows or planes: value(m) is that of the m-th one from here.
template <typename Values>
__device__ __forceinline__ Group difference_of(const Values& value) {
    Group sum;
    #pragma unroll
    for (int m = 1; m <= half; ++m) {
        const Group ahead = value(m), behind = value(1 - m);
        #pragma unroll
        for (int i = 0; i < points; ++i)
            sum[i] = m == 1 ? weight(1) * (ahead[i] - behind[i]) : fma(weight(m), ahead[i] - behind[i], sum[i]);
    }
    return sum;
}

constexpr int tile_x = block_x * points, tile_y = block_y * rows;  // cells of a plane that a block takes
// planes that arrive before the first one is complete
constexpr int warm_up = 2 * half - 1;

// Copies past the registers, from global to shared memory. What a thread copied since its last commit_copies is a
// group; it waits for groups in the order in which it committed them.
// Copies 16 bytes, past the first cache.
__device__ __forceinline__ void copy(real* to, const real* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
        ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until no more than the last `groups` of this thread's groups are under way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

constexpr int piece = 16 / sizeof(real);  // words of a copy

// The block's cells in every plane.
struct Tile {
    int x, y;                  // the first one's
    int last_piece, last_row;  // of an array, from there; whatever lies beyond is read there
    int pitch;

    __device__ __forceinline__ Tile(int ny, int pitch_words)
        : x(blockIdx.x * tile_x), y(blockIdx.y * tile_y), last_piece(pitch_words - left - x - piece),
            last_row(ny - 1 + 2 * half - y), pitch(pitch_words) {
    }
    __device__ __forceinline__ static int thread() { return threadIdx.y * block_x + threadIdx.x; }
};

// What a stage in shared memory holds of an array, behind what it holds of the one before: the tile's rows of a plane
// with `beside` words at both ends, and `above` and `below` rows around them.
template <typename Previous, int beside, int above, int below>
struct Pane {
    static constexpr int pitch = tile_x + 2 * beside, pane_rows = above + tile_y + below, start = Previous::end,
        end = start + pane_rows * pitch;

    // Starts the copies from a plane, in which the tile's first cell is at `from`.
    __device__ __forceinline__ static void fill(real* stage, const real* from, const Tile& tile) {
        constexpr int pieces = pitch / piece, all = pieces * pane_rows;
        #pragma unroll
        for (int first = 0; first < all; first += threads_per_block) {
            const int i = first + Tile::thread();
            if (first + threads_per_block > all && i >= all) break;
            const int row = min(i / pieces - above, tile.last_row),
                word = min(i % pieces * piece - beside, tile.last_piece);
            copy(stage + start + i * piece, from + (row * tile.pitch + word));
        }
    }
    // A cell's place, counted from the tile's first one.
    __device__ __forceinline__ static real* at(real* stage, int x, int y) {
        return stage + start + (above + y) * pitch + beside + x;
    }
    // That of the first of the thread's own cells.
    __device__ __forceinline__ static real* own(real* stage) {
        return at(stage, int(threadIdx.x) * points, int(threadIdx.y) * rows);
    }
};

struct Nothing {
    static constexpr int end = 0;
};

// A medium of the thread's row r.
template <typename Medium>
__device__ __forceinline__ Group medium_of_row(real* stage, int r) {
    return load(Medium::own(stage) + r * Medium::pitch);
}

__device__ __forceinline__ real* stage_of(int number) {
    extern __shared__ Group ring[];
    return reinterpret_cast<real*>(ring) + number % stages * stage_words;
}

// Fills the ring before a march: fill(number) starts the copies for plane `number` of it, if there is one.
template <typename Fill>
__device__ __forceinline__ void begin_planes(const Fill& fill) {
    #pragma unroll
    for (int number = 0; number + 1 < stages; ++number) {
        fill(number);
        commit_copies();
    }
}

// Plane `number`, as soon as it is there. All threads have finished with the one before, and another one takes its
// place.
template <typename Fill>
__device__ __forceinline__ real* next_plane(int number, const Fill& fill) {
    wait_for_copies<stages - 2>();
    __syncthreads();
    fill(number + stages - 1);
    commit_copies();
    return stage_of(number);
}

// Differences along the march, summed up as values arrive: the 2 M - 1 that are not complete yet.
struct Sums {
    Group layer[2 * half - 1] = {};

    __device__ __forceinline__ static constexpr real share(int offset) {
        return offset > 0 ? weight(offset) : real(-weight(1 - offset));
    }
    // With the values `next` the difference M layers before them is complete.
    __device__ __forceinline__ Group complete(const Group& next) {
        const Group sum = plus_product(layer[0], weight(half), next);
        #pragma unroll
        for (int k = 0; k < 2 * half - 2; ++k) layer[k] = plus_product(layer[k + 1], share(half - 1 - k), next);
        layer[2 * half - 2] = scaled(next, share(1 - half));
        return sum;
    }
};

// The differences of a thread's rows along y; the one of the first row is between the values at `from` and a row
// further.
template <int pitch>
__device__ __forceinline__ void differences_along_y(Group (&sum)[rows], const real* from) {
    Group column[rows + 2 * half - 1];
    #pragma unroll
    for (int k = 0; k < rows + 2 * half - 1; ++k) column[k] = load(from + (k + 1 - half) * pitch);
    #pragma unroll
    for (int r = 0; r < rows; ++r) sum[r] = difference_of([&](int m) { return column[r + half - 1 + m]; });
}

// The difference along x in a row: of values at left faces that at the centres, or of values at centres that at the
// left faces.
template <typename Values>
__device__ __forceinline__ Group differences_along_x(const real* from, int offset) {
    Values row;
    row.read(from);
    return differences(row, offset);
}
using AroundCentres = Span<half - 1, half>;
using AroundFaces = Span<half, half - 1>;

using AcrossPane = Pane<Nothing, side, 0, 0>;  // velocity along x
using YPane = Pane<AcrossPane, 0, half - 1, half>;
using AlongPane = Pane<YPane, 0, 0, 0>;  // along the march, M planes ahead
using PressurePane = Pane<AlongPane, 0, 0, 0>;
using StiffnessPane = Pane<PressurePane, 0, 0, 0>;
static_assert(stage_words == StiffnessPane::end);

// Pressures of the planes [first, last), in place. A block marches along z; what it needs of a plane comes through
// shared memory.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_pressure(
    real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ w, const real* __restrict__ kappa, int nx, int ny, int nz, int pitch,
    int first, int last
) {
    const Tile tile(ny, pitch);
    const int x = tile.x + int(threadIdx.x) * points, y = tile.y + int(threadIdx.y) * rows;
    // cells of the thread in a row, if there are less
    const auto count_of = [&](int r) { return y + r < ny ? nx - x : 0; };
    // layers that a block takes one after the other
    const int march = (last - first + int(gridDim.z) - 1) / int(gridDim.z);
    const int layer_first = first + int(blockIdx.z) * march, layer_last = min(layer_first + march, last);
    const int plane = (ny + 2 * ghost) * pitch;
    const wide tile_at = wide(layer_first + ghost) * plane + (tile.y + ghost) * pitch + left + tile.x;
    wide at = tile_at + (y - tile.y) * pitch + (x - tile.x);
    const int arrivals = layer_last - layer_first + warm_up;
    const auto fill = [&](int number) {
        if (number >= arrivals) return;
        real* const to = stage_of(number);
        AlongPane::fill(to, w + tile_at + (number + 1 - half) * wide(plane), tile);
        if (number < warm_up) return;
        const wide from = tile_at + (number - warm_up) * wide(plane);
        AcrossPane::fill(to, u + from, tile);
        YPane::fill(to, v + from, tile);
        PressurePane::fill(to, p + from, tile);
        StiffnessPane::fill(to, kappa + from, tile);
    };
    begin_planes(fill);
    Sums sums[rows];
    #pragma unroll (layers_per_trip)
    for (int number = 0; number < arrivals; ++number) {
        real* const stage = next_plane(number, fill);
        Group along[rows];
        #pragma unroll
        for (int r = 0; r < rows; ++r) along[r] = sums[r].complete(load(AlongPane::own(stage) + r * AlongPane::pitch));
        if (number < warm_up) continue;
        Group sum[rows];
        differences_along_y<YPane::pitch>(sum, YPane::own(stage));
        #pragma unroll
        for (int r = 0; r < rows; ++r) {
            add(sum[r], differences_along_x<AroundCentres>(AcrossPane::own(stage) + r * AcrossPane::pitch, 0));
            add(sum[r], along[r]);
            const Group stiffness = medium_of_row<StiffnessPane>(stage, r);
            Group pressure = minus_product(load(PressurePane::own(stage) + r * PressurePane::pitch), stiffness, sum[r]);
            store(p + at + r * wide(pitch), pressure, count_of(r));
        }
        at += plane;
    }
}
