// gauss_seidel_27: semi_constant stencil, f64
// hone emit gauss_seidel_27 stencil=semi_constant precision=f64 nx=96 ny=96 nz=96 --target cuda --config form=pipeline,
//     planes_per_slab=1,warps_per_row=10,points_per_thread=2,stages=3,cache_hint=plain,stencil_in=copied,min_blocks=1,
//     max_lead=16
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 24 + 216 / nx bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 23, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int points_per_thread = 2;  // along x
constexpr int lead = 16;  // rows that planes of the earlier colours may be ahead of those beside them
constexpr int planes_per_slab = 1, slab_stages = 3;
constexpr int stages = slab_stages;
constexpr int pairs = points_per_thread / 2;
constexpr int reach = 4;        // points along x that new values of a plane depend on
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = (reach + points_per_thread - 1) / points_per_thread;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    const real* from;

    __device__ __forceinline__ real operator[](int k) const { return *(from + k); }
};

using vector = double2;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(16) Group {
    real word[points_per_thread];
};
constexpr int vectors = sizeof(Group) / sizeof(vector);

__device__ __forceinline__ Group load(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
        reinterpret_cast<vector*>(&group)[i] = *(reinterpret_cast<const vector*>(from) + i);
    return group;
}

// Stores the interior points of the group at x.
__device__ __forceinline__ void store(real* row, int x, int nx, const Group& group) {
    if (x > 0 && x + points_per_thread - 1 <= nx) {
        #pragma unroll
        for (int i = 0; i < vectors; ++i)
            reinterpret_cast<vector*>(row + x)[i] = reinterpret_cast<const vector*>(&group)[i];
        return;
    }
    #pragma unroll
    for (int i = 0; i < points_per_thread; ++i) {
        if (x + i > 0 && x + i <= nx) row[x + i] = group.word[i];
    }
}

// What the points of a group still lack: f less the terms summed up so far. A neighbouring group hands over a sum of
// products. Points of odd x have the earlier colour of a row.
struct Sums {
    real odd[pairs] = {}, even[pairs] = {};
    real to_left[pairs] = {};   // terms of even points for the odd point on their left
    // terms of odd points for the even point on their right: new ones of their own row are added last
    real to_right[pairs] = {};

    // The row itself, with its old values.
    __device__ __forceinline__ void begin(const Group& own, const Group& right_side, const Coefficients& s) {
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            odd[pair] = fma(-s[12], own.word[2 * pair], odd[pair] + right_side.word[2 * pair + 1]);
            even[pair] += right_side.word[2 * pair];
            to_left[pair] = fma(s[14], own.word[2 * pair], to_left[pair]);
        }
    }

    // One of the eight rows around it, with coefficients k to k + 2.
    __device__ __forceinline__ void add(const Group& group, const Coefficients& s, int k) {
        const real west = s[k], centre = s[k + 1], east = s[k + 2];
        #pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            const real at_even = group.word[2 * pair], at_odd = group.word[2 * pair + 1];
            odd[pair] = fma(-west, at_even, fma(-centre, at_odd, odd[pair]));
            even[pair] = fma(-centre, at_even, fma(-east, at_odd, even[pair]));
            to_left[pair] = fma(east, at_even, to_left[pair]);
            to_right[pair] = fma(west, at_odd, to_right[pair]);
        }
    }
};

// Both colours of a row's group at x; outside [1, nx] the values stay.
__device__ __forceinline__ Group updated(Sums sums, const Group& old, const Coefficients& s, int x, int nx) {
    constexpr unsigned all_lanes = 0xffffffff;
    Group result;
    const real from_right = __shfl_down_sync(all_lanes, sums.to_left[0], 1);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real right = pair + 1 < pairs ? sums.to_left[(pair + 1) % pairs] : from_right;
        const int at = x + 2 * pair + 1;
        result.word[2 * pair + 1] = at >= 1 && at <= nx ? (sums.odd[pair] - right) * s[13] : old.word[2 * pair + 1];
        sums.to_right[pair] = fma(s[12], result.word[2 * pair + 1], sums.to_right[pair]);
    }
    const real from_left = __shfl_up_sync(all_lanes, sums.to_right[pairs - 1], 1);
    #pragma unroll
    for (int pair = 0; pair < pairs; ++pair) {
        const real left = pair > 0 ? sums.to_right[(pair + pairs - 1) % pairs] : from_left;
        const int at = x + 2 * pair;
        const real value = fma(-s[14], result.word[2 * pair + 1], sums.even[pair] - left) * s[13];
        result.word[2 * pair] = at >= 1 && at <= nx ? value : old.word[2 * pair];
    }
    return result;
}

// A thread's groups of row y in three planes of u, and in f.
struct Row {
    Group below, own, above, right_side;
};

// Those of rows y - 1, y, y + 1, and y + 2.
struct Stencils {
    const Coefficients &behind, &own, &next, &after;
};

// A plane on its way along y, in steps of two rows: what rows y (odd) and y - 1 (even) still lack.
struct Walk {
    Sums odd, even;
    Group old_even;  // row y - 1 as it was

    // Row 0 is the boundary; `s` is the stencil of row 1.
    __device__ __forceinline__ void begin(const Group& below, const Group& own, const Group& above,
        const Coefficients& s) {
        old_even = own;
        odd.add(below, s, 0);
        odd.add(own, s, 9);
        odd.add(above, s, 18);
    }

    // Rows y and y + 1 around the plane have arrived: the new values of row y up to nx_odd, then of row y - 1 up to
    // nx_even. There is no branch, so that the operations of several planes mix.
    __device__ __forceinline__ void step(const Row& row, const Row& beside, const Stencils& s, int x, int nx_odd,
        int nx_even, Group& fresh, Group& behind) {
        odd.begin(row.own, row.right_side, s.own);
        odd.add(row.below, s.own, 3);
        odd.add(row.above, s.own, 21);
        even.add(row.below, s.behind, 6);
        even.add(row.above, s.behind, 24);
        Sums next;  // of row y + 1
        next.add(row.below, s.next, 0);
        next.add(row.above, s.next, 18);

        odd.add(beside.below, s.own, 6);
        odd.add(beside.own, s.own, 15);
        odd.add(beside.above, s.own, 24);
        fresh = updated(odd, row.own, s.own, x, nx_odd);
        even.add(fresh, s.behind, 15);
        behind = updated(even, old_even, s.behind, x, nx_even);

        even = next;
        even.begin(beside.own, beside.right_side, s.next);
        even.add(beside.below, s.next, 3);
        even.add(beside.above, s.next, 21);
        even.add(fresh, s.next, 9);
        old_even = beside.own;
        odd = Sums();
        odd.add(beside.below, s.after, 0);
        odd.add(beside.own, s.after, 9);
        odd.add(beside.above, s.after, 18);
    }
};

__device__ __forceinline__ int take_ticket(int* next) {
    return atomicAdd(next, 1);
}

// Everything that the block wrote before its last barrier can be seen by whoever sees `row`.
__device__ __forceinline__ void publish(int* progress, int row) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(progress), "r"(row) : "memory");
}

// By an atomic operation that changes nothing: loads wait for all that the multiprocessor has asked for before (ADR
// 0036).
__device__ __forceinline__ int published(int* progress) {
    int row;
    asm volatile("atom.acquire.gpu.global.add.s32 %0, [%1], 0;" : "=r"(row) : "l"(progress) : "memory");
    return row;
}

// Bulk copies that start now find what other blocks wrote.
__device__ __forceinline__ void admit_bulk_copies() {
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ int wait_for(int* progress, int row) {
    int now = published(progress);
    while (now < row) now = published(progress);
    return now;
}

// `tickets`: [0] is the next ticket, [z] the last finished row of plane z, up to the boundary. Zero when the launch
// begins.
extern "C" __global__ void gauss_seidel_27_begin(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* tickets,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= nz + 1) reinterpret_cast<int*>(tickets)[i] = 0;
}

struct Turn {
    int* progress;            // of the block's plane
    int ny;
    bool follows_below = false, follows_above = false;
    int seen = 0;             // rows of the planes beside that are known to be finished

    __device__ __forceinline__ Turn(int* plane_progress, int z, int rows, int first, int last)
        : progress(plane_progress), ny(rows) {
        follows_below = (z - 1) % 2 == 1 && z - 1 > first;
        follows_above = (z - 1) % 2 == 1 && z + 1 <= last;
    }

    // Returns when the planes beside have finished row y, where the block's plane follows them.
    __device__ __forceinline__ void wait_for_row(int y) {
        const int row = min(y, ny);
        if (row <= seen) return;
        seen = ny;
        if (follows_below) seen = min(seen, wait_for(progress - 1, row));
        if (follows_above) seen = min(seen, wait_for(progress + 1, row));
        admit_bulk_copies();
    }

    // To be called by the thread that copies, which knows that the rows up to y are written: they keep their values.
    __device__ __forceinline__ void finished_row(int y) const {
        if (threadIdx.x == 0 && threadIdx.y == blockDim.y - 1) publish(progress, y);
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
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)), "r"(bytes)
        : "memory");
}

// One thread copies whole rows; no register holds them meanwhile.
__device__ __forceinline__ void copy_rows(real* to, const real* from, unsigned bytes, Barrier* full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(shared_address(to)), "l"(from),
                 "r"(bytes), "r"(shared_address(full))
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

// Words of a row that bulk copies bring: whole sectors of memory, and none of the padding behind them.
__device__ __forceinline__ int copied_words(int nx, int pitch) {
    constexpr int sector = 32 / sizeof(real);
    return min((nx + 2 + sector - 1) / sector * sector, pitch);
}

// Words of so many rows, one behind the other, with the padding between them.
__device__ __forceinline__ int words_of_rows(int rows, int row_words, int pitch) {
    return max((rows - 1) * pitch + row_words, 0);
}

// Barriers that open when so many warps have arrived at them.
__device__ __forceinline__ void prepare_arrivals(Barrier* barriers, int count, int warps) {
    for (int i = 0; i < count; ++i)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barriers + i)), "r"(warps));
}

// For one thread of a warp.
__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// For one thread.
__device__ __forceinline__ void wait_for_arrivals(Barrier* barrier, unsigned phase) {
    wait_for_bytes(barrier, phase);
}

// of a plane in a stage: from the row behind the stage's own two to the one after them
constexpr int stencil_words = 32, stencil_rows = 4;

// A thread says that its warp has written the rows of so many steps. Who reads that, and says so to other blocks, says
// it of these rows, too.
__device__ __forceinline__ void say_steps(int* to, int steps) {
    asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(shared_address(to)), "r"(steps) : "memory");
}

__device__ __forceinline__ int steps_of_warp(const int* from) {
    int steps;
    asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(steps) : "r"(shared_address(from)) : "memory");
    return steps;
}

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

// Keeps a slab from being more than `lead` rows ahead of the planes beside it, which follow and so find its rows in the
// second cache. These say how far they are. Nothing but time depends on it: whoever waits gives up after a while, and
// waits for nobody who has not begun.
struct Pace {
    static constexpr int patience = 64;
    int* own;            // of a plane between slabs, else none
    int *below, *above;  // beside a slab, else none
    int seen = 1 << 30;  // the row of the slower one when the slab looked last

    __device__ __forceinline__ static int row_of(int* plane) {
        const int row = plane == nullptr ? 0 : layer_at(plane);
        return row > 0 ? row : 1 << 30;
    }
    // For one thread that comes to row y.
    __device__ __forceinline__ void keep(int y) {
        if (own != nullptr) put_layer(own, y);
        if (below == nullptr && above == nullptr) return;
        #pragma unroll 1
        for (int tries = 0; tries < patience && y - seen > lead; ++tries) seen = min(row_of(below), row_of(above));
    }
    // For the next time: nobody waits for it now.
    __device__ __forceinline__ void look() { seen = min(row_of(below), row_of(above)); }
};

// Rows of some of the planes from `z` on, and of their right-hand sides, come through shared memory: while some stages
// are read, others fill. They are those of the earlier colours (parity 0) with the planes outside, or of the later ones
// (1). A warp of its own starts the copies.
template <int planes, int parity>
struct Rows {
    static constexpr int own = (planes + 1 - parity) / 2, outside = parity == 0 ? 2 : 0;
    static constexpr int arrays = 2 * own + outside;  // of u and of f in a stage
    static constexpr int own_stages = stages;
    // [own_stages], each of rows [arrays][2][pitch] without the last padding and of stencils
    // [own][stencil_rows][stencil_words]
    real* stage;
    const real* stencil;
    Barrier *full, *read;
    int* written;  // of planes that others follow: how many steps each warp of the block has written; else none
    const real *u, *f;
    wide plane;
    int pitch, row_words, ny, nz, z;

    __device__ __forceinline__ int array_words() const { return words_of_rows(2, row_words, pitch); }
    __device__ __forceinline__ int words_of_stage() const {
        return arrays * array_words() + own * (stencil_rows * stencil_words);
    }
    // Stencils of plane number i: place of row 0.
    __device__ __forceinline__ const real* stencils(int i) const {
        return stencil + ((min(z + i, nz) - 1) * wide(ny) - 1) * stencil_words;
    }
    __device__ __forceinline__ int steps() const { return (ny + 2) / 2; }
    // Plane number i; those beyond the grid read its boundary again.
    __device__ __forceinline__ wide at(int i, int y) const { return min(z + i, nz + 1) * plane + y * wide(pitch); }
    // Which array of a stage has a plane of u, or of f.
    __device__ __forceinline__ static int place(int i) {
        return parity == 1 ? i / 2 : i == planes ? own + 1 : (i + 2) / 2;
    }
    __device__ __forceinline__ static int place_of_right_side(int i) { return own + outside + i / 2; }
    __device__ __forceinline__ int first_stencil(int y) const { return max(y - 1, 1); }
    __device__ __forceinline__ int rows_of_stencils(int y) const {
        return max(min(y + 2, ny) - first_stencil(y) + 1, 0);
    }

    // Coefficients of a row of plane number i in the stage of row y; of a row that there is not, those of the last one
    // on that side, unused.
    __device__ __forceinline__ Coefficients stencil_of(const real* from, int i, int y, int row) const {
        return Coefficients{from + arrays * array_words()
            + (i / 2 * stencil_rows + min(max(row, 1), ny) - (y - 1)) * stencil_words};
    }

    // What one thread of the copying warp does: it fills all stages in turn, with rows y and y + 1, where y is odd, up
    // to the boundary.
    __device__ __forceinline__ void copy_all(Turn turn, Pace pace) const {
        const real* from[arrays > 0 ? arrays : 1];
        #pragma unroll
        for (int i = parity; i < planes; i += 2)
            from[place(i)] = u + at(i, 1), from[place_of_right_side(i)] = f + at(i, 1);
        if (parity == 0) from[place(-1)] = u + at(-1, 1), from[place(planes)] = u + at(planes, 1);
        for (int number = 0; number < steps(); ++number) {
            const int y = 1 + 2 * number, emptied = number - own_stages;
            Barrier* const here = full + number % own_stages;
            if (emptied >= 0) wait_for_arrivals(read + emptied % own_stages, emptied / own_stages % 2);
            real* const to = stage + number % own_stages * words_of_stage();
            const unsigned bytes = words_of_rows(min(2, ny + 2 - y), row_words, pitch) * sizeof(real);
            pace.keep(y);
            turn.wait_for_row(y + 1);
            const int first = first_stencil(y);
            const unsigned stencil_bytes = rows_of_stencils(y) * (stencil_words * sizeof(real));
            expect_bytes(here, arrays * bytes + own * stencil_bytes);
            #pragma unroll
            for (int i = parity; i < planes; i += 2) {
                real* const place = to + arrays * array_words()
                    + (i / 2 * stencil_rows + first - (y - 1)) * stencil_words;
                if (stencil_bytes > 0) copy_rows(place, stencils(i) + first * stencil_words, stencil_bytes, here);
            }
            const wide offset = 2 * number * wide(pitch);
            #pragma unroll
            for (int i = 0; i < own + outside; ++i) copy_rows(to + i * array_words(), from[i] + offset, bytes, here);
            #pragma unroll
            for (int i = own + outside; i < arrays; ++i)
                copy_rows(to + i * array_words(), from[i] + offset, bytes, here);
            pace.look();
        }
    }

    // What one thread of another warp does: it says which rows are finished, and waits until everybody can see them.
    // That takes as long as a step or longer, so nobody waits for it, and next time it tells of all that was finished
    // meanwhile.
    __device__ __forceinline__ void publish_all(const Turn& turn, int warps_of_plane) const {
        for (int said = 0; said < steps();) {
            int finished = steps();
            for (int i = 0; i < planes; i += 2)
                for (int warp = 0; warp < warps_of_plane; ++warp)
                    finished = min(finished, steps_of_warp(written + i * warps_of_plane + warp));
            if (finished > said) turn.finished_row(min(2 * finished - 1, ny));
            said = finished;
        }
    }

    // For the warps that read: the stage has arrived; they are done with it, which is to be said when what it gave is
    // written.
    __device__ __forceinline__ const real* take(int number) const {
        wait_for_bytes(full + number % own_stages, number / own_stages % 2);
        return stage + number % own_stages * words_of_stage();
    }
    __device__ __forceinline__ void give_back(int number) const {
        finish_shared_reads();
        __syncwarp();
        if (threadIdx.x != 0) return;
        if (written != nullptr) say_steps(written + threadIdx.y, number + 1);
        arrive(read + number % own_stages);
    }
};

// All colours of a plane, by the warps that own it; a plane outside (first, last] keeps its values. Sums of three rows
// are carried in registers, so that every row is read once.
//
// Why warps may write what the block reads: a row is in shared memory before anybody writes it, and nobody else writes
// this plane.
__device__ __forceinline__ void walk_plane(
    real* u,
    const real*,
    int nx, int first, int last, const Rows<1, 0>& rows, int warp) {
    constexpr int i = 0;  // of the one plane
    const int lane = threadIdx.x, ny = rows.ny, pitch = rows.pitch;
    const int x = warp * words_per_warp + (lane - halo_lanes) * points_per_thread;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    const int x_read = max(0, min(x, x_last));
    const bool owns = lane >= halo_lanes && lane < 32 - halo_lanes && x <= x_last;
    const bool updates = rows.z + i > first && rows.z + i <= last;
    // Points of a row that get new values.
    const auto points_of = [&](int y) { return updates && y >= 1 && y <= ny ? nx : 0; };
    const auto write = [&](int y, const Group& group) {
        if (owns && points_of(y) > 0) store(u + rows.at(i, y), x, nx, group);
    };

    Walk walk;
    {
        const Coefficients s{rows.stencils(i) + stencil_words};
        walk.begin(load(u + rows.at(i - 1, 0) + x_read), load(u + rows.at(i, 0) + x_read),
            load(u + rows.at(i + 1, 0) + x_read), s);
    }
    for (int number = 0; number < rows.steps(); ++number) {
        const int y = 1 + 2 * number;
        const real* const from = rows.take(number);
        const auto own_at = [&](int place, int row) {
            return load(from + place * rows.array_words() + row * pitch + x_read);
        };
        const auto u_at = [&](int row) { return own_at(rows.place(i), row); };
        const auto f_at = [&](int row) { return own_at(rows.place_of_right_side(i), row); };
        const auto beside_at = [&](int plane, int row) { return own_at(rows.place(plane), row); };
        const auto s_at = [&](int row) { return rows.stencil_of(from, i, y, row); };
        const Stencils stencils{s_at(y - 1), s_at(y), s_at(y + 1), s_at(y + 2)};
        Group fresh, behind;  // new values of rows y and y - 1
        walk.step({beside_at(i - 1, 0), u_at(0), beside_at(i + 1, 0), f_at(0)},
            {beside_at(i - 1, 1), u_at(1), beside_at(i + 1, 1), f_at(1)}, stencils,
                  x, points_of(y), points_of(y - 1), fresh, behind);
        write(y, fresh);
        write(y - 1, behind);
        rows.give_back(number);
    }
}

// A block has a plane of the earlier colours, and the plane below it, which follows those on both its sides. Each plane
// has warps of its own, and two more start the copies. Blocks take planes in the order in which they begin, so that
// whoever waits does so for a block that began before.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_pipeline(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* tickets,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const real* const s = stencil;
    const int first_even = first / 2 * 2 + 1;
    const int slabs = (last - first_even) / (planes_per_slab + 1) + 1;
    // even ones are slabs, odd ones the planes between
    const int units = 2 * slabs - (first_even + slabs * (planes_per_slab + 1) - 1 > last ? 1 : 0);
    int* const counters = reinterpret_cast<int*>(tickets);
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ Barrier full[2 * stages], read[2 * stages];
    __shared__ int ticket, written[threads_per_block / 32];
    constexpr int helpers = 3;  // warps that copy, and one that says what is finished
    const int warps_of_plane = (int(blockDim.y) - helpers) / (planes_per_slab + 1);
    if (threadIdx.x == 0) written[threadIdx.y] = 0;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        ticket = take_ticket(counters);
        prepare_arrivals(read, 2 * stages, warps_of_plane);
        for (int i = 0; i < 2; ++i) prepare_barriers(full + i * stages);
    }
    __syncthreads();
    const int slab_unit = 2 * ticket, unit_between = 2 * ticket - 1;
    const bool has_slab = slab_unit < units, has_between = unit_between >= 0 && unit_between < units;
    const int z = first_even + ticket * (planes_per_slab + 1);
    const wide plane = wide(ny + 2) * pitch;
    const int row_words = copied_words(nx, pitch);
    const Rows<planes_per_slab, 0> earlier{
        reinterpret_cast<real*>(shared_memory),
        stencil,
        full, read, written, u, f, plane, pitch, row_words, ny, nz, z};
    const Rows<1, 0> below{
        earlier.stage + earlier.own_stages * earlier.words_of_stage(),
        stencil,
        full + stages, read + stages, nullptr, u, f, plane, pitch, row_words, ny, nz, z - 1};
    // By a shuffle compilers know that all lanes of a warp go the same way.
    const int warp = __shfl_sync(0xffffffff, int(threadIdx.y), 0);
    const int own_plane = warp / warps_of_plane, own_warp = warp % warps_of_plane;
    const int helper = int(blockDim.y) - 1 - warp;
    if (helper < helpers) {
        if (threadIdx.x != 0) return;
        const Turn of_slab(counters + 1 + slab_unit, slab_unit + 1, ny, 0, units);
        if (helper == 0 && has_slab) earlier.publish_all(of_slab, warps_of_plane);
        int* const own = counters + 1 + slab_unit;
        const Pace of_follower{counters + 1 + unit_between, nullptr, nullptr};
        const Pace of_leader{nullptr, slab_unit > 0 ? own - 1 : nullptr, slab_unit + 1 < units ? own + 1 : nullptr};
        if (helper == 1 && has_slab) earlier.copy_all(of_slab, of_leader);
        if (helper == 2 && has_between)
            below.copy_all(Turn(counters + 1 + unit_between, unit_between + 1, ny, 0, units), of_follower);
        return;
    }
    if (own_plane == 0 && has_slab) walk_plane(u, s, nx, first, last, earlier, own_warp);
    if (own_plane == 1 && has_between) walk_plane(u, s, nx, first, last, below, own_warp);
}
