// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=slabs,
//     planes_per_slab=3,passes=1,warps_per_row=6,points_per_thread=4,stages=3,cache_hint=plain,stencil_in=by_value,
//     min_blocks=2,told_every=4
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 6, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 2;
constexpr int points_per_thread = 4;  // along x
constexpr int planes_per_slab = 3, slab_stages = 3;
constexpr int told_every = 4;  // steps from telling other blocks to telling them again
// The shared memory is as large for all blocks.
constexpr int stages_of(int planes) {
    return slab_stages * (2 * planes_per_slab + 2) / (2 * planes + 2);
}
constexpr int stages = stages_of(1);  // most of a block
constexpr int pairs = points_per_thread / 2;
constexpr int reach = planes_per_slab > 1 ? 8 : 4;  // points along x that new values of a slab depend on
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = (reach + points_per_thread - 1) / points_per_thread;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    real value[27];
    __device__ __forceinline__ real operator[](int k) const { return value[k]; }
};

using vector = float4;
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
    const __grid_constant__ Coefficients s,
    int nx, int ny, int nz, int pitch, int first, int last, int slabs_at_once
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
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)),
        "r"(bytes) : "memory");
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

// Rows of so many planes, of the two beside them, and of their right-hand sides come through shared memory: while some
// stages are read, others fill. A warp of its own starts the copies, so that no warp waits for what another one does.
template <int planes>
struct Rows {
    // planes of the earlier and of the later colours
    static constexpr int earlier = (planes + 1) / 2, later = planes / 2;
    static constexpr int behind = planes > 1 ? 2 : 0;                       // rows that the later ones are behind
    static constexpr int arrays = 2 * planes + 2;                           // planes of u and of f in a stage
    static constexpr int own_stages = stages_of(planes);
    real* stage;  // [own_stages][arrays][2][pitch] without the last padding
    Barrier *full, *read;
    const real *u, *f;
    wide plane;
    int pitch, row_words, ny, nz, z;
    Turn turn;

    __device__ __forceinline__ int array_words() const { return words_of_rows(2, row_words, pitch); }
    __device__ __forceinline__ int steps() const { return (ny + behind + 2) / 2; }
    __device__ __forceinline__ int words_of_stage() const { return arrays * array_words(); }
    // Plane number i of the block; those beyond the grid read its boundary again.
    __device__ __forceinline__ wide at(int i, int y) const { return min(z + i, nz + 1) * plane + y * wide(pitch); }

    // Starts the copies of stage number `number`: rows y and y + 1, where y is odd, up to the boundary. Right-hand
    // sides of the later colours are those of the rows behind.
    __device__ __forceinline__ void fill(int number) {
        const int y = 1 + 2 * number;
        const int count = max(0, min(2, ny + 2 - y));
        const int count_behind = number > 0 ? min(2, ny + 2 + behind - y) : 0;
        const unsigned bytes = words_of_rows(count, row_words, pitch) * sizeof(real);
        const unsigned bytes_behind = behind == 0 ? bytes
            : words_of_rows(count_behind, row_words, pitch) * sizeof(real);
        turn.wait_for_row(y + 1);
        real* const to = stage + number % own_stages * words_of_stage();
        Barrier* const own = full + number % own_stages;
        expect_bytes(own, (planes + 2 + earlier) * bytes + later * bytes_behind);
        if (bytes > 0) {
            #pragma unroll
            for (int i = 0; i < planes + 2; ++i) copy_rows(to + i * array_words(), u + at(i - 1, y), bytes, own);
        }
        #pragma unroll
        for (int i = 0; i < planes; ++i) {
            const int back = i % 2 == 0 ? 0 : behind;
            const unsigned bytes_of_plane = i % 2 == 0 ? bytes : bytes_behind;
            if (bytes_of_plane == 0) continue;
            copy_rows(to + (planes + 2 + i) * array_words(), f + at(i, y - back), bytes_of_plane, own);
        }
    }

    // What one thread of the copying warp does: it fills all stages in turn. Warps have written what a stage gave
    // before they are done with it. It tells other blocks now and then, as it waits as long as a step until all of them
    // could see what is written.
    __device__ __forceinline__ void copy_all(bool followed) {
        for (int number = 0; number < steps() + (followed ? own_stages : 0); ++number) {
            const int emptied = number - own_stages;
            if (emptied >= 0) wait_for_arrivals(read + emptied % own_stages, emptied / own_stages % 2);
            if (number < steps()) fill(number);
            const bool tells = emptied % told_every == told_every - 1 || emptied + 1 == steps();
            if (followed && tells) turn.finished_row(min(1 + 2 * emptied, ny));
        }
    }

    // For the warps that read: the stage has arrived; they are done with it.
    __device__ __forceinline__ const real* take(int number) const {
        wait_for_bytes(full + number % own_stages, number / own_stages % 2);
        return stage + number % own_stages * words_of_stage();
    }

    // To be called when what it gave is written.
    __device__ __forceinline__ void give_back(int number) const {
        finish_shared_reads();
        __syncwarp();
        if (threadIdx.x == 0) arrive(read + number % own_stages);
    }
};

// All colours of neighbouring planes, from one of the earlier colours at `z` to another such one; planes outside
// (first, last] keep their values. The later ones follow two rows behind, in the same threads. Sums of three rows are
// carried in registers, so that every row is read once.
//
// Why the block may write what it reads: a row is read by everybody before anybody writes it, and nobody else writes
// these planes.
template <int planes>
__device__ __forceinline__ void walk_slab(
    real* u, const real* f,
    const Coefficients& s,
    int nx, int ny, int nz, int pitch, int z, int first, int last, Turn turn, bool followed) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ Barrier full[stages], read[stages];
    Rows<planes> rows{reinterpret_cast<real*>(shared_memory), full, read, u, f, wide(ny + 2) * pitch, pitch,
        copied_words(nx, pitch), ny, nz, z, turn};
    // By a shuffle compilers know that all lanes of a warp go the same way: none of the shuffles below needs a branch
    // in case they did not.
    const int warp = __shfl_sync(0xffffffff, int(threadIdx.y), 0);
    const bool copies = warp == int(blockDim.y) - 1;
    if (threadIdx.x == 0 && copies) {
        prepare_arrivals(read, stages, blockDim.y - 1);
        prepare_barriers(full);
    }
    __syncthreads();
    if (copies) {
        if (threadIdx.x == 0) rows.copy_all(followed);
        return;
    }

    const int lane = threadIdx.x;
    const int x = warp * words_per_warp + (lane - halo_lanes) * points_per_thread;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    const int x_read = max(0, min(x, x_last));
    const bool stores = lane >= halo_lanes && lane < 32 - halo_lanes;
    // Points of a row that get new values.
    const auto points_of = [&](int i, int y) { return y >= 1 && y <= ny && z + i > first && z + i <= last ? nx : 0; };
    const auto write = [&](int i, int y, const Group& group) {
        if (stores && points_of(i, y) > 0) store(u + rows.at(i, y), x, nx, group);
    };

    Walk walks[planes];
    #pragma unroll
    for (int i = 0; i < planes; ++i) {
        walks[i].begin(load(u + rows.at(i - 1, 0) + x_read), load(u + rows.at(i, 0) + x_read),
            load(u + rows.at(i + 1, 0) + x_read), s);
    }
    // Of the step before: new values of the earlier colours in its odd row, old ones of the later colours in both rows.
    Group newer[planes] = {}, kept[planes] = {}, kept_beside[planes] = {};
    for (int number = 0; number < rows.steps(); ++number) {
        const int y = 1 + 2 * number;
        const real* const from = rows.take(number);
        const auto u_at =
            [&](int i, int row) { return load(from + (i + 1) * rows.array_words() + row * pitch + x_read); };
        const auto f_at =
            [&](int i, int row) { return load(from + (planes + 2 + i) * rows.array_words() + row * pitch + x_read); };
        Group fresh[planes], behind[planes];  // new values of the steps' odd and even rows
        if (y <= ny + 1) {
            #pragma unroll
            for (int i = 0; i < planes; i += 2) {
                const Stencils stencils{s, s, s, s};
                walks[i].step({u_at(i - 1, 0), u_at(i, 0), u_at(i + 1, 0), f_at(i, 0)},
                    {u_at(i - 1, 1), u_at(i, 1), u_at(i + 1, 1), f_at(i, 1)}, stencils, x,
                              points_of(i, y), points_of(i, y - 1), fresh[i], behind[i]);
            }
        } else {
            #pragma unroll
            for (int i = 0; i < planes; i += 2) fresh[i] = behind[i] = walks[i].old_even;
        }
        #pragma unroll
        for (int i = 1; i < planes; i += 2) {
            if (y > 2) {
                const Stencils stencils{s, s, s, s};
                walks[i].step({newer[i - 1], kept[i], newer[i + 1], f_at(i, 0)},
                    {behind[i - 1], kept_beside[i], behind[i + 1], f_at(i, 1)}, stencils, x,
                              points_of(i, y - 2), points_of(i, y - 3), fresh[i], behind[i]);
            }
            kept[i] = u_at(i, 0);
            kept_beside[i] = u_at(i, 1);
        }
        #pragma unroll
        for (int i = 0; i < planes; ++i) {
            const int written = i % 2 == 0 ? y : y - 2;
            write(i, written, fresh[i]);
            write(i, written - 1, behind[i]);
        }
        rows.give_back(number);
        #pragma unroll
        for (int i = 0; i < planes; i += 2) newer[i] = fresh[i];
    }
}

// Slabs and the planes between them, of which each follows the slabs on both sides. A block takes what it does in the
// order in which blocks begin: `slabs_at_once` slabs, then as many planes between them, which so run beside these
// slabs. Whoever waits does so for blocks that have begun already.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_slabs(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* tickets,
    const __grid_constant__ Coefficients s,
    int nx, int ny, int nz, int pitch, int first, int last, int slabs_at_once
) {
    const int first_even = first / 2 * 2 + 1;
    const int slabs = (last - first_even) / (planes_per_slab + 1) + 1;
    // even ones are slabs
    const int units = 2 * slabs - (first_even + slabs * (planes_per_slab + 1) - 1 > last ? 1 : 0);
    int* const counters = reinterpret_cast<int*>(tickets);
    __shared__ int ticket;
    if (threadIdx.x == 0 && threadIdx.y == 0) ticket = take_ticket(counters);
    __syncthreads();
    const int round = ticket / (2 * slabs_at_once), place = ticket % (2 * slabs_at_once);
    const int unit = 2 * (round * slabs_at_once + place % slabs_at_once) - place / slabs_at_once;
    if (unit < 0 || unit >= units) return;
    const Turn turn(counters + 1 + unit, unit + 1, ny, 0, units);
    const int z = first_even + unit / 2 * (planes_per_slab + 1);
    if (unit % 2 == 0)
        walk_slab<planes_per_slab>(u, f, s, nx, ny, nz, pitch, z, first, last, turn, true);
    else
        walk_slab<1>(u, f, s, nx, ny, nz, pitch, z + planes_per_slab, first, last, turn, false);
}
