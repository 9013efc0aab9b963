// acoustics_staggered: step in 2D, order 2-4, array media, f32
// hone emit acoustics_staggered kernel=step dimension=2 order=4 media=array absorbing=none update=apart levels=1
//     precision=f32 nx=512 ny=512 --target cuda --config form=march,block_x=64,points_per_thread=4,
//     layers_per_block=128,prefetch=1,unroll=1,min_blocks=1,stores=plain
// The same text serves every size and pitch.
// per point: 27 operations, 36 bytes (compulsory)
using real = float;
using vector = float4;  // a load
using wide = long long;  // a position in an array
constexpr int half = 2;  // M, half the order in space
constexpr int ghost = 4, left = 32;  // rows before the first cell, and words of its row
constexpr int block_x = 64, block_y = 1, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 4, group_alignment = 16;  // cells of a row that a thread takes at a time
constexpr int layer_step = block_y, layers_per_trip = 1;

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

// The new velocities along x from M - 1 before a group to M behind it.
struct Faces {
    real face[points + 2 * half - 1];

    __device__ __forceinline__ real operator[](int i) const { return face[i + half - 1]; }
    __device__ __forceinline__ Group own() const {
        Group group;
        #pragma unroll
        for (int i = 0; i < points; ++i) group[i] = face[i + half - 1];
        return group;
    }
};

// What a thread reads of its row in a layer: enough to compute the new velocities around its cells itself.
struct Row {
    Span<2 * half - 1, 2 * half - 1> p;
    Span<half - 1, half> u, b;

    __device__ __forceinline__ void read(const real* pressures, const real* velocities, const real* media, wide at) {
        p.read(pressures + at);
        u.read(velocities + at);
        b.read(media + at);
    }
    __device__ __forceinline__ Faces faces() const {
        Faces result;
        #pragma unroll
        for (int i = 1 - half; i < points + half; ++i)
            result.face[i + half - 1] = fma(-b[i], difference(p, i - 1), u[i]);
        return result;
    }
};

// What a thread reads when it comes to a layer.
struct Arrival {
    Row row;
    Group along, lightness;  // at the faces along the march that this layer completes
    Group stiffness;         // of the cells that they complete
};

// A whole step of the layers [first, last): rows in 2D, planes in 3D. A block takes `march` layers one after the other.
// A new layer of pressures completes the velocities M - 1 layers behind it, and these the sums of the layer 2 M - 1
// behind.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) acoustics_step(
    const real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ kappa, const real* __restrict__ bx, const real* __restrict__ by,
    real* __restrict__ p_next, real* __restrict__ u_next, real* __restrict__ v_next, int nx, int ny,
    int nz, int pitch, int first, int last
) {
    const int x = (blockIdx.x * block_x + threadIdx.x) * points;
    const int x_read = min(x, (nx - 1) / points * points);  // threads beyond the row read its last cells again
    const int count = nx - x;  // cells of the thread in its row, if there are less
    const int layer_stride = pitch;
    // layers that a block takes one after the other
    const int march = (last - first + int(gridDim.y) - 1) / int(gridDim.y);
    const int block_first = first + int(blockIdx.y) * march;
    const int layer_first = block_first + threadIdx.y, layer_last = min(block_first + march, last);
    wide at = wide(layer_first + ghost) * pitch + left + x_read;
    const real* __restrict__ const along = v;  // velocity along the march
    real* __restrict__ const along_next = v_next;
    const real *b_x = bx, *b_along = by;
    constexpr int faces_behind = half - 1, cells_behind = 2 * half - 1;
    const int arrivals_last = layer_last + cells_behind;
    const wide to_faces = faces_behind * wide(layer_stride), to_cells = cells_behind * wide(layer_stride);
    Window window, sums;  // pressures and sums of differences of the last 2 M layers
    #pragma unroll
    for (int k = 1; k < 2 * half; ++k) window.layer[k] = load(p + at + (k - 2 * half) * wide(layer_stride));
    const auto read = [&](Arrival& arrival, int layer, wide there) {
        if (layer < layer_last) {
            arrival.row.read(p, u, b_x, there);
        } else {
            arrival.row.p.own() = load(p + there);
        }
        arrival.along = load(along + there - to_faces);
        arrival.lightness = medium(b_along, there - to_faces);
        if (layer - cells_behind >= layer_first) arrival.stiffness = medium(kappa, there - to_cells);
    };
    Arrival next = {};
    if (layer_first < layer_last) read(next, layer_first, at);
    #pragma unroll (layers_per_trip)
    for (int layer = layer_first; layer < arrivals_last; layer += layer_step, at += layer_step * wide(layer_stride)) {
        const bool in_layer = layer < layer_last;
        const Arrival now = next;
        if (layer + layer_step < arrivals_last) read(next, layer + layer_step, at + layer_step * wide(layer_stride));

        // Velocities along the march, and what they add to the sums of the layers around them.
        window.move_to(now.row.p.own());
        Group face = minus_product(now.along, now.lightness, window.difference());
        if (layer - faces_behind >= layer_first && layer - faces_behind < layer_last)
            store(along_next + at - to_faces, face, count);
        Group sum = {};
        sums.move_to(sum);
        sums.scatter(face);

        // The other velocities of the layer.
        if (in_layer) {
            const Row& row = now.row;
            const Faces faces = row.faces();
            add(sum, differences(faces, 0));
            store(u_next + at, faces.own(), count);
        }
        add(sums.layer[2 * half - 1], sum);

        // The pressure whose sum is complete.
        if (layer - cells_behind >= layer_first) {
            Group pressure = minus_product(window.layer[0], now.stiffness, sums.layer[0]);
            store(p_next + at - to_cells, pressure, count);
        }
    }
}
