// acoustics_staggered: step in 2D, order 2-8, array media, f32
// hone emit acoustics_staggered kernel=step dimension=2 order=8 media=array absorbing=none update=apart levels=1
//     precision=f32 nx=512 ny=512 --target cuda --config form=bulk,block_x=192,points_per_thread=4,layers_per_block=0,
//     stages=4,unroll=2,min_blocks=1,stores=plain,cache_hint=kept,max_lead=8
// The same text serves every size and pitch.
// per point: 51 operations, 36 bytes (compulsory)
using real = float;
using vector = float4;  // a load
using wide = long long;  // a position in an array
constexpr int half = 4;  // M, half the order in space
constexpr int ghost = 8, left = 32;  // rows before the first cell, and words of its row
constexpr int block_x = 192, block_y = 1, threads_per_block = block_x * block_y, min_blocks = 1;
constexpr int points = 4, group_alignment = 16;  // cells of a row that a thread takes at a time
constexpr int groups_left = 2, groups_right = 2;  // beside a thread's own, that hold what its cells need
constexpr int stages = 4;  // layers on their way through shared memory
constexpr int side_groups = 2, arriving = 6, exchange_words = 1568;
constexpr int lead = 8;  // layers that a block may be ahead of its neighbours
constexpr int layer_step = block_y, layers_per_trip = 2;

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 8.
__device__ __forceinline__ constexpr real weight(int m) {
    if (m == 1) return 1.1962890625f;
    if (m == 2) return -0.079752604166666671f;
    if (m == 3) return 0.0095703125000000007f;
    return -0.00069754464285714287f;
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

// One transfer barrier per stage: it opens when the bytes that it expects have arrived.
using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void prepare_barriers(Barrier* full) {
    for (int i = 0; i < stages; ++i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(full + i)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ void expect_bytes(Barrier* full, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)),
        "r"(bytes) : "memory");
}

// For copies of words that other blocks read, too: the second cache gives them up after all others.
__device__ __forceinline__ unsigned long long kept_reads() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// One thread copies whole rows; no register holds them meanwhile.
__device__ __forceinline__ void copy_rows(real* to, const real* from, unsigned bytes, Barrier* full) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
        ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(full)), "l"(kept_reads())
                 : "memory");
}

// For every thread, between its reads of a stage and the barrier behind which copies refill it: a copy does not wait
// for loads that are under way (PTX ISA, proxies of the memory consistency model).
__device__ __forceinline__ void finish_shared_reads() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void wait_for_bytes(Barrier* full, unsigned phase) {
    asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}"
        ::"r"(shared_address(full)),
                 "r"(phase)
                 : "memory");
}

// Keeps a block that marches over layers from being more than `lead` of them ahead of the blocks beside it: what these
// read of its cells, and it of theirs, is in the second cache then, and all end together. Nothing but time depends on
// it, and whoever waits gives up after a while.
constexpr int most_blocks = 8192;  // more than a device holds at a time
__device__ int layer_of_block[most_blocks];

__device__ __forceinline__ void put_layer(int* to, int layer) {
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(layer) : "memory");
}

// By an atomic operation that changes nothing: where blocks look by loads, of whatever kind, they are slower than where
// they do not look at all.
__device__ __forceinline__ int layer_at(int* from) {
    int layer;
    asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], 0;" : "=r"(layer) : "l"(__cvta_generic_to_global(from))
        : "memory");
    return layer;
}

struct Pace {
    // the block's first threads, each of which looks at one neighbour
    static constexpr int lookouts = 4;
    static constexpr int between = (lead + 1) / 2;     // layers from a look to the next
    // a neighbour that is so far behind began later, when others had ended
    static constexpr int other_wave = 8 * (lead + 1);
    static constexpr int patience = 64;
    int thread, seen = 0;  // the neighbour's layer, counted from 1, when the thread looked last
    int *own, *beside;

    __device__ __forceinline__ static int* word_of(int x, int y) {
        return layer_of_block + ((blockIdx.z * gridDim.y + y) * gridDim.x + x) % most_blocks;
    }
    // At the edge of the grid a block looks at itself.
    __device__ __forceinline__ Pace() : thread(threadIdx.y * block_x + threadIdx.x) {
        const int x = blockIdx.x, y = blockIdx.y, last_x = gridDim.x - 1, last_y = gridDim.y - 1;
        own = word_of(x, y);
        beside = thread == 0 ? word_of(max(x - 1, 0), y) : thread == 1 ? word_of(min(x + 1, last_x), y)
               : thread == 2 ? word_of(x, max(y - 1, 0)) : word_of(x, min(y + 1, last_y));
    }
    // For every thread that comes to layer `number` of the march, before a barrier.
    __device__ __forceinline__ void keep(int number) {
        if (thread >= lookouts || number % between != 0) return;
        const int layer = number + 1;
        if (thread == 0) put_layer(own, layer);
        #pragma unroll 1
        for (int tries = 0; tries < patience && layer - seen > lead && layer - seen < other_wave; ++tries)
            seen = layer_at(beside);
        seen = layer_at(beside);  // for the next time: nobody waits for it now
    }
};

// The arrays of which something arrives with every layer: of each the layer so many behind it. The rows of the whole
// block come through shared memory by bulk copies, `stages` layers ahead, so that no register waits for them. Of the
// first array there are the neighbours of the block's words, too.
template <int count>
struct Rows {
    static constexpr int used = arriving;  // scalar media do not
    static constexpr int side = side_groups * points, block_words = block_x * points;
    static constexpr int stage_words = used * block_words + 2 * side;
    const real* from[count];
    wide behind[count];
    int stride = 0, layers = 0;               // of the march
    int own_offset = 0;                       // from the block's first word of a row to the thread's own
    unsigned own_bytes = 0, first_bytes = 0;  // of a layer: of every array, and of the first one
    wide start = 0;                           // of the block's first word in the first layer
    Pace pace;

    __device__ __forceinline__ static real* ring() {
        extern __shared__ Group faces[];
        return reinterpret_cast<real*>(faces) + exchange_words;
    }
    __device__ __forceinline__ static Barrier* full(int number) {
        return reinterpret_cast<Barrier*>(ring() + stages * stage_words) + number % stages;
    }
    __device__ __forceinline__ static real* place(int number, int array) {
        return ring() + number % stages * stage_words + array * block_words + (array > 0 ? 2 * side : 0);
    }
    // Before a march of `layer_count` layers, the first of which has the thread's words at `at`. Of a row the block
    // needs `words`; `words_left` are there.
    __device__ __forceinline__ void begin(wide at, int offset, int words, int words_left, int layer_count,
        int layer_stride) {
        start = at - offset;
        own_offset = offset;
        layers = layer_count;
        stride = layer_stride;
        own_bytes = min(words, words_left) * sizeof(real);
        first_bytes = min(words + 2 * side, words_left + side) * sizeof(real);
        if (threadIdx.x == 0) prepare_barriers(full(0));
        __syncthreads();
        for (int number = 0; number < stages; ++number) fill(number);
        __syncthreads();
    }
    // The warps share the copies: each takes dozens of cycles to start, and the next barrier waits for whoever starts
    // it.
    __device__ __forceinline__ void fill(int number) const {
        constexpr int warps = block_x / 32;
        if (number >= layers || threadIdx.x % 32 != 0) return;
        if (threadIdx.x == 0) expect_bytes(full(number), first_bytes + (used - 1) * own_bytes);
        const wide at = start + number * wide(stride);
        #pragma unroll
        for (int array = 0; array < used; ++array) {
            if (array % warps != threadIdx.x / 32) continue;
            const real* const row = from[array] + (at - behind[array]);
            copy_rows(place(number, array), array == 0 ? row - side : row, array == 0 ? first_bytes : own_bytes,
                full(number));
        }
    }

    // What of the arrays belongs to layer `number` of the march, as soon as it is there.
    struct Layer {
        int number, offset;

        __device__ __forceinline__ const real* operator()(int array) const {
            return place(number, array) + (array == 0 ? side : 0) + offset;
        }
    };
    __device__ __forceinline__ Layer layer(int number) {
        pace.keep(number);
        wait_for_bytes(full(number), number / stages % 2);
        return {number, own_offset};
    }
    // Every thread has finished its reads of the layer, and a barrier after that has passed: another one may take its
    // place.
    __device__ __forceinline__ void release(int number) const { fill(number + stages); }
};

// What a thread reads of its row in a layer: enough for the new velocities at its own faces.
struct Row {
    Span<half, half - 1> p;
    Group u, b;

    __device__ __forceinline__ Group face() const { return minus_product(u, b, differences(p, -1)); }
};

// New velocities of a layer for the whole block. The block's first and last threads have no cells and only compute what
// the others need. Two layers in turns, so that one barrier for each suffices.
constexpr int layer_groups = groups_left + block_x + groups_right;

// Values along x around a thread's group in shared memory.
struct Shared {
    const Group* own;

    __device__ __forceinline__ real operator[](int i) const {
        const int word = i + groups_left * points;
        return own[word / points - groups_left].word[word % points];
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
    constexpr int sector = 32 / sizeof(real);  // words that memory moves at a time: blocks' copies begin and end there
    const int share = (nx + int(gridDim.x) - 1) / int(gridDim.x);  // of the row, the same for every block
    const int inner_x = (share + sector - 1) / sector * sector / points;  // threads that have cells
    const int x_first = (int(blockIdx.x) * inner_x - groups_left) * points;  // of the block
    const int x = x_first + int(threadIdx.x) * points;
    const int taken_words = (groups_left + inner_x + groups_right) * points;  // of a row, by the block
    const int x_last = min((nx - 1 + half) / points * points, x_first + taken_words - points);
    const int x_read = min(x, x_last);  // threads beyond read the last faces again
    const bool has_cells = threadIdx.x >= groups_left && threadIdx.x < groups_left + inner_x;
    const int count = has_cells ? nx - x : 0;  // cells of the thread in its row, if there are less
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
    Rows<6> rows{{p, u, along, b_x, b_along, kappa}, {0, 0, to_faces, 0, to_faces, to_cells}};
    rows.begin(at, x_read - x_first, taken_words, pitch - left - x_first, arrivals_last - layer_first, layer_stride);
    const auto read = [&](Arrival& arrival, int layer, wide) {
        const Rows<6>::Layer from = rows.layer(layer - layer_first);
        if (layer < layer_last) {
            arrival.row.p.read(from(0));
            arrival.row.u = load(from(1));
            arrival.row.b = load(from(3));
        } else {
            arrival.row.p.own() = load(from(0));
        }
        arrival.along = load(from(2));
        arrival.lightness = load(from(4));
        if (layer - cells_behind >= layer_first) arrival.stiffness = load(from(5));
    };
    #pragma unroll (layers_per_trip)
    for (int layer = layer_first; layer < arrivals_last; layer += layer_step, at += layer_step * wide(layer_stride)) {
        const bool in_layer = layer < layer_last;
        Arrival now;
        read(now, layer, at);

        // Velocities along the march, and what they add to the sums of the layers around them.
        window.move_to(now.row.p.own());
        Group face = minus_product(now.along, now.lightness, window.difference());
        if (layer - faces_behind >= layer_first && layer - faces_behind < layer_last)
            store(along_next + at - to_faces, face, count);
        Group sum = {};
        sums.move_to(sum);
        sums.scatter(face);

        // The other velocities of the layer.
        finish_shared_reads();
        if (in_layer) {
            const Row& row = now.row;
            // Every thread of the block computes the velocities at its own faces, in 3D also some of those around the
            // block's rows, and takes the others' from shared memory.
            extern __shared__ Group faces[];
            Group* const layer_faces = faces + layer % 2 * layer_groups;
            Group* const across = layer_faces + groups_left + threadIdx.x;
            const Group own = row.face();
            store(u_next + at, own, count);
            *across = own;
            __syncthreads();
            const Shared row_of_faces{across};
            add(sum, differences(row_of_faces, 0));
        }
        if (!in_layer) __syncthreads();
        rows.release(layer - layer_first);
        add(sums.layer[2 * half - 1], sum);

        // The pressure whose sum is complete.
        if (layer - cells_behind >= layer_first) {
            Group pressure = minus_product(window.layer[0], now.stiffness, sums.layer[0]);
            store(p_next + at - to_cells, pressure, count);
        }
    }
}
