// acoustics_staggered: 3 steps in one pass in 2D, order 2-4, array media, f32
// hone emit acoustics_staggered kernel=step dimension=2 order=4 media=array absorbing=none update=apart levels=3
//     precision=f32 nx=512 ny=512 --target cuda --config form=shuffled,block_x=128,layers_per_block=256,
//     points_per_thread=4,prefetch=0,unroll=1,stores=plain,min_blocks=1
// The same text serves every size and pitch.
// per point: 81 operations, 36 bytes (compulsory)
using real = float;
using vector = float4;  // a load
using wide = long long;  // a position in an array
constexpr int half = 2;  // M, half the order in space
constexpr int ghost = 12, left = 32;  // rows before the first cell, and words of its row
constexpr int block_x = 128, block_y = 1, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 4, group_alignment = 16;  // cells of a row that a thread takes at a time
constexpr int levels = 3;  // time steps of a pass
constexpr int tile_threads = 32, margin = 3;  // threads of a tile, and those at each end that only serve the others
constexpr int layers_per_trip = 1;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 4.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.125f;
    return -0.041666666666666664f;
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

// A medium of the cells at `at`.
__device__ __forceinline__ Group medium(const real* from, wide at) { return load(from + at); }

// Values of 2 M layers, around a layer or between two. They begin as zeros, although a thread stores nothing before it
// has replaced them: of registers that move along and begin with none, ptxas 13.0 has taken one for its neighbour.
struct Window {
    Group layer[2 * half] = {};

    __device__ __forceinline__ void move_to(const Group& next) {
        #pragma unroll
        for (int k = 0; k + 1 < 2 * half; ++k) layer[k] = layer[k + 1];
        layer[2 * half - 1] = next;
    }
    __device__ __forceinline__ Group difference() const {
        return difference_of([&](int m) { return layer[half - 1 + m]; });
    }
    // Adds what values at a face contribute to the differences around it.
    __device__ __forceinline__ void scatter(const Group& face) {
        #pragma unroll
        for (int m = 1; m <= half; ++m) {
            layer[half - m] = plus_product(layer[half - m], weight(m), face);
            layer[half + m - 1] = plus_product(layer[half + m - 1], -weight(m), face);
        }
    }
};

// Values along x around a thread's own, of the other lanes of its warp, which is a tile of its own. Lanes at its ends
// get values that are of no use, and no cells depend on what they make of them.
template <int before, int after>
struct Neighbours {
    real value[before + points + after];

    __device__ __forceinline__ Neighbours(const Group& own, int) {
        #pragma unroll
        for (int i = -before; i < points + after; ++i) {
            const int group = (i + before * points) / points - before;
            const real word = own[i - group * points];
            value[i + before] = group < 0   ? __shfl_up_sync(0xffffffffu, word, -group)
                                : group > 0 ? __shfl_down_sync(0xffffffffu, word, group)
                                            : word;
        }
    }
    __device__ __forceinline__ real operator[](int i) const { return value[i + before]; }
};

// Values that are wanted again `length` layers later.
template <int length>
struct Queue {
    Group group[length] = {};

    __device__ __forceinline__ Group exchange(const Group& next) {
        const Group oldest = group[0];
        #pragma unroll
        for (int i = 0; i + 1 < length; ++i) group[i] = group[i + 1];
        group[length - 1] = next;
        return oldest;
    }
};

// What a thread knows of the layers that a time step works on: of pressures before it and sums of differences of the
// velocities after it.
struct Level {
    Window window, sums;
};

// What a thread reads for one layer of all time steps.
struct Arrival {
    // of the first time step: at its newest layer, and at the faces and cells that this completes
    Group p, v, u;
    Group lightness_x[(levels + 1) / 2];    // two time steps take the velocities along x of the same layer
    Group lightness_y[levels], stiffness[levels];
};

// `levels` time steps of the rows [first, last) in one pass. A thread marches along y; when a row of pressures arrives,
// each time step advances one row and hands it to the next one, whose rows lie 2 M - 1 behind. Of two time steps the
// first computes the velocities along x of a row together with its pressures, and the second in the same row, as soon
// as these arrive: so they wait for nothing. What lies around the cells is computed as far as the later time steps need
// it, from the values around the cells before the first one.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_step(
    const real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ kappa, const real* __restrict__ bx, const real* __restrict__ by,
    real* __restrict__ p_next, real* __restrict__ u_next, real* __restrict__ v_next, int nx, int ny,
    int nz, int pitch, int first, int last
) {
    constexpr int reach = levels * (2 * half - 1), inner = tile_threads - 2 * margin;
    const int tile = int(blockIdx.x) * (block_x / tile_threads) + int(threadIdx.x) / tile_threads,
        place = threadIdx.x % tile_threads;
    const int x = (tile * inner + place - margin) * points;
    const int x_read = min(x, (nx - 1 + reach) / points * points);  // threads beyond read the last ghosts again
    // cells of the thread in its row, if there are less
    const int count = place >= margin && place < margin + inner ? nx - x : 0;
    // layers that a block takes one after the other
    const int march = (last - first + int(gridDim.y) - 1) / int(gridDim.y);
    const int layer_first = first + int(blockIdx.y) * march, layer_last = min(layer_first + march, last);
    const int arrivals_first = layer_first - reach, arrivals_last = layer_last + reach;
    wide at = wide(arrivals_first + ghost) * pitch + left + x_read;
    const real *b_x = bx, *b_y = by;
    constexpr int behind = 2 * half - 1;
    Level level[levels];
    Queue<behind> waiting_v[levels];           // what a time step leaves to the next one
    Queue<2 * behind> waiting_u[levels];       // from a pair of time steps to the next one
    const wide lowest = wide(left + x_read);   // of the first row of an array
    // The position `rows` behind, or the first one: what is computed before the rows have filled is of no use.
    const auto back = [&](wide at, int rows) { return max(at - rows * wide(pitch), lowest); };
    const auto read = [&](Arrival& arrival, wide there) {
        arrival.p = load(p + there);
        arrival.v = load(v + back(there, half - 1));
        arrival.u = load(u + back(there, behind));
        #pragma unroll
        for (int l = 0; l < levels; ++l) {
            if (l % 2 == 0) arrival.lightness_x[l / 2] = medium(b_x, back(there, (l + 1) * behind));
            arrival.lightness_y[l] = medium(b_y, back(there, l * behind + half - 1));
            arrival.stiffness[l] = medium(kappa, back(there, (l + 1) * behind));
        }
    };
    #pragma unroll (layers_per_trip)
    for (int layer = arrivals_first; layer < arrivals_last; ++layer, at += pitch) {
        Arrival now;
        read(now, at);
        Group pressure = now.p, old_v = now.v, old_u = now.u;
        #pragma unroll
        for (int l = 0; l < levels; ++l) {
            const int arrived = layer - l * behind, completed = arrived - behind;
            Level& own = level[l];
            own.window.move_to(pressure);
            Group fresh = {};
            own.sums.move_to(fresh);

            // Velocities along y, and what they add to the sums of the rows around them.
            const int face_row = arrived - (half - 1);
            Group face = minus_product(old_v, now.lightness_y[l], own.window.difference());
            own.sums.scatter(face);

            // Velocities along x: in the row that is complete, or in the one that arrives.
            const bool of_completed = l % 2 == 0;
            const Neighbours<half,
                half - 1> pressures(of_completed ? own.window.layer[0] : own.window.layer[2 * half - 1], 2 * l);
            Group across = minus_product(old_u, now.lightness_x[l / 2], differences(pressures, -1));
            const Neighbours<half - 1, half> faces(across, 2 * l + 1);
            add(own.sums.layer[of_completed ? 0 : 2 * half - 1], differences(faces, 0));

            // The pressure whose sum is complete.
            pressure = minus_product(own.window.layer[0], now.stiffness[l], own.sums.layer[0]);
            if (l + 1 < levels) {
                old_v = waiting_v[l].exchange(face);
                old_u = of_completed ? across : waiting_u[l].exchange(across);
                continue;
            }
            const int row_across = of_completed ? completed : arrived;
            if (face_row >= layer_first && face_row < layer_last)
                store(v_next + at - (l * behind + half - 1) * wide(pitch), face, count);
            if (row_across >= layer_first && row_across < layer_last)
                store(u_next + at - (l + (of_completed ? 1 : 0)) * behind * wide(pitch), across, count);
            if (completed >= layer_first) store(p_next + at - (l + 1) * behind * wide(pitch), pressure, count);
        }
    }
}
