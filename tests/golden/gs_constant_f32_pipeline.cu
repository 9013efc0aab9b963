// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=pipeline,
//     planes_per_slab=3,warps_per_row=5,points_per_thread=4,stages=3,cache_hint=plain,stencil_in=by_value,
//     min_blocks=1,max_lead=0
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 24, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int points_per_thread = 4;  // along x
constexpr int planes_per_slab = 3, slab_stages = 3;
constexpr int stages = slab_stages + 2;  // most of one kind of rows
constexpr int pairs = points_per_thread / 2;
constexpr int reach = 4;        // points along x that new values of a plane depend on
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = (reach + points_per_thread - 1) / points_per_thread;
constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;
constexpr int earlier_planes = (planes_per_slab + 1) / 2;  // of a slab
// Rows of the later colours of a slab stay longer, as these follow; those of the plane between slabs come later.
constexpr int stages_of(int parity, int planes) {
    return parity == 1 ? slab_stages + 2 : planes == planes_per_slab ? slab_stages : slab_stages > 2 ? slab_stages - 1
        : 2;
}

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

// Rows of some of the planes from `z` on, and of their right-hand sides, come through shared memory: while some stages
// are read, others fill. They are those of the earlier colours (parity 0) with the planes outside, or of the later ones
// (1). A warp of its own starts the copies.
template <int planes, int parity>
struct Rows {
    static constexpr int own = (planes + 1 - parity) / 2, outside = parity == 0 ? 2 : 0;
    static constexpr int arrays = 2 * own + outside;  // of u and of f in a stage
    static constexpr int own_stages = stages_of(parity, planes);
    real* stage;  // [own_stages][arrays][2][pitch] without the last padding
    Barrier *full, *read;
    int* written;  // of planes that others follow: how many steps each warp of the block has written; else none
    const real *u, *f;
    wide plane;
    int pitch, row_words, ny, nz, z;

    __device__ __forceinline__ int array_words() const { return words_of_rows(2, row_words, pitch); }
    __device__ __forceinline__ int words_of_stage() const { return arrays * array_words(); }
    __device__ __forceinline__ int steps() const { return (ny + 2) / 2; }
    // Plane number i; those beyond the grid read its boundary again.
    __device__ __forceinline__ wide at(int i, int y) const { return min(z + i, nz + 1) * plane + y * wide(pitch); }
    // Which array of a stage has a plane of u, or of f.
    __device__ __forceinline__ static int place(int i) { return parity == 1 ? i / 2 : i == planes ? own + 1
        : (i + 2) / 2; }
    __device__ __forceinline__ static int place_of_right_side(int i) { return own + outside + i / 2; }

    // What one thread of the copying warp does: it fills all stages in turn, with rows y and y + 1, where y is odd, up
    // to the boundary.
    __device__ __forceinline__ void copy_all(Turn turn) const {
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
            turn.wait_for_row(y + 1);
            expect_bytes(here, arrays * bytes);
            const wide offset = 2 * number * wide(pitch);
            #pragma unroll
            for (int i = 0; i < own + outside; ++i) copy_rows(to + i * array_words(), from[i] + offset, bytes, here);
            #pragma unroll
            for (int i = own + outside; i < arrays; ++i)
                copy_rows(to + i * array_words(), from[i] + offset, bytes, here);
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

// For all threads of a warp.
__device__ __forceinline__ void wait_for_warps(Barrier* barrier, unsigned phase) {
    wait_for_bytes(barrier, phase);
}

// New rows of a slab's planes of the earlier colours, for those between them. What planes made in a step is in one of a
// few places: rows y and y - 1, with the boundary.
struct FreshRows {
    static constexpr int places = 3;  // so many steps less one may the earlier colours be ahead
    real* rows;                       // [places][earlier_planes][2][row_words]
    Barrier *made, *used;             // [places] by all warps of the earlier colours, and of the later ones
    int row_words;

    __device__ __forceinline__ real* place(int step, int plane, int row) const {
        return rows + ((step % places * earlier_planes + plane / 2) * 2 + row) * row_words;
    }

    // For the earlier colours: the place of a step may be written again.
    __device__ __forceinline__ void wait_for_place(int step) const {
        if (step >= places) wait_for_warps(used + step % places, (step / places + 1) % 2);
    }

    __device__ __forceinline__ void put(int step, int plane, int row, int x, const Group& group) const {
        real* const to = place(step, plane, row) + x;
        #pragma unroll
        for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(to)[i] = reinterpret_cast<const vector*>(&group)[i];
    }

    __device__ __forceinline__ void wait_for(int step) const { wait_for_warps(made + step % places, step / places % 2);
        }
};

// For one thread, on behalf of its warp.
__device__ __forceinline__ void arrive_for_warp(Barrier* barrier) {
    __syncwarp();
    if (threadIdx.x == 0) arrive(barrier);
}

// All colours of plane number i of a slab, by the warps that own it; planes outside (first, last] keep their values.
// `rows` has the plane itself. Sums of three rows are carried in registers, so that every row is read once. `makes`:
// for the planes beside it, which follow; these have `between` their old values. `follows`: what the planes beside it
// made.
//
// Why warps may write what the block reads: a row is in shared memory before anybody writes it, and nobody else writes
// this plane.
template <bool makes, bool follows, int planes, int parity>
__device__ __forceinline__ void walk_plane(
    real* u,
    const Coefficients& s,
    int nx, int first, int last, const Rows<planes, parity>& rows, const Rows<planes, 1>& between,
        const FreshRows& fresh_rows, int i, int warp) {
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
        walk.begin(load(u + rows.at(i - 1, 0) + x_read), load(u + rows.at(i, 0) + x_read),
            load(u + rows.at(i + 1, 0) + x_read), s);
    }
    if (follows) fresh_rows.wait_for(0);
    for (int number = 0; number < rows.steps(); ++number) {
        const int y = 1 + 2 * number;
        const real* const from = rows.take(number);
        const real* const from_between = makes ? between.take(number) : from;
        if (follows) fresh_rows.wait_for(number + 1);
        const auto own_at =
            [&](int place, int row) { return load(from + place * rows.array_words() + row * pitch + x_read); };
        const auto u_at = [&](int row) { return own_at(rows.place(i), row); };
        const auto f_at = [&](int row) { return own_at(rows.place_of_right_side(i), row); };
        // Of a plane beside this one: of those between the block's own old values; or new ones, of which row y + 1 was
        // made a step later than row y.
        const auto beside_at = [&](int plane, int row) {
            if (follows) return load(fresh_rows.place(number + row, plane, row) + x_read);
            if (!makes || plane < 0 || plane == planes) return own_at(rows.place(plane), row);
            return load(from_between + between.place(plane) * between.array_words() + row * pitch + x_read);
        };
        const Stencils stencils{s, s, s, s};
        Group fresh, behind;  // new values of rows y and y - 1
        walk.step({beside_at(i - 1, 0), u_at(0), beside_at(i + 1, 0), f_at(0)},
            {beside_at(i - 1, 1), u_at(1), beside_at(i + 1, 1), f_at(1)}, stencils,
                  x, points_of(y), points_of(y - 1), fresh, behind);
        write(y, fresh);
        write(y - 1, behind);
        if (makes) {
            fresh_rows.wait_for_place(number);
            if (owns) {
                fresh_rows.put(number, i, 0, x, fresh);
                fresh_rows.put(number, i, 1, x, behind);
            }
            arrive_for_warp(fresh_rows.made + number % FreshRows::places);
        }
        if (follows) arrive_for_warp(fresh_rows.used + number % FreshRows::places);
        rows.give_back(number);
        if (makes) between.give_back(number);
    }
    if (makes) {
        // The last row of the boundary, where it is an even one.
        const int number = rows.steps();
        fresh_rows.wait_for_place(number);
        if (owns) fresh_rows.put(number, i, 1, x, walk.old_even);
        arrive_for_warp(fresh_rows.made + number % FreshRows::places);
    }
}

// A block has a slab of planes, from one of the earlier colours to another such one, and the plane below it, which
// follows the slabs on both its sides. Each plane has warps of its own, and two more start the copies. Blocks take
// slabs in the order in which they begin, so that whoever waits does so for a block that began before.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_pipeline(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* tickets,
    const __grid_constant__ Coefficients s,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const int first_even = first / 2 * 2 + 1;
    const int slabs = (last - first_even) / (planes_per_slab + 1) + 1;
    // even ones are slabs, odd ones the planes between
    const int units = 2 * slabs - (first_even + slabs * (planes_per_slab + 1) - 1 > last ? 1 : 0);
    int* const counters = reinterpret_cast<int*>(tickets);
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ Barrier full[3 * stages], read[3 * stages], made[FreshRows::places], used[FreshRows::places];
    __shared__ int ticket, written[threads_per_block / 32];
    constexpr int helpers = planes_per_slab > 1 ? 4 : 3;  // warps that copy, and one that says what is finished
    const int warps_of_plane = (int(blockDim.y) - helpers) / (planes_per_slab + 1);
    if (threadIdx.x == 0) written[threadIdx.y] = 0;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        ticket = take_ticket(counters);
        prepare_arrivals(read, stages, earlier_planes * warps_of_plane);
        // the earlier colours read the later ones, too
        prepare_arrivals(read + stages, stages, planes_per_slab * warps_of_plane);
        prepare_arrivals(read + 2 * stages, stages, warps_of_plane);
        prepare_arrivals(made, FreshRows::places, earlier_planes * warps_of_plane);
        prepare_arrivals(used, FreshRows::places, max(planes_per_slab - earlier_planes, 1) * warps_of_plane);
        for (int i = 0; i < 3; ++i) prepare_barriers(full + i * stages);
    }
    __syncthreads();
    const int slab_unit = 2 * ticket, unit_between = 2 * ticket - 1;
    const bool has_slab = slab_unit < units, has_between = unit_between >= 0 && unit_between < units;
    const int z = first_even + ticket * (planes_per_slab + 1);
    const wide plane = wide(ny + 2) * pitch;
    const int row_words = copied_words(nx, pitch);
    const Rows<planes_per_slab, 0> earlier{
        reinterpret_cast<real*>(shared_memory),
        full, read, written, u, f, plane, pitch, row_words, ny, nz, z};
    const Rows<planes_per_slab, 1> later{
        earlier.stage + earlier.own_stages * earlier.words_of_stage(),
        full + stages, read + stages, nullptr, u, f, plane, pitch, row_words, ny, nz, z};
    const Rows<1, 0> below{
        later.stage + later.own_stages * later.words_of_stage(),
        full + 2 * stages, read + 2 * stages, nullptr, u, f, plane, pitch, row_words, ny, nz, z - 1};
    const FreshRows fresh_rows{below.stage + below.own_stages * below.words_of_stage(), made, used, row_words};
    // By a shuffle compilers know that all lanes of a warp go the same way.
    const int warp = __shfl_sync(0xffffffff, int(threadIdx.y), 0);
    const int own_plane = warp / warps_of_plane, own_warp = warp % warps_of_plane;
    const int helper = int(blockDim.y) - 1 - warp;
    if (helper < helpers) {
        if (threadIdx.x != 0) return;
        const Turn of_slab(counters + 1 + slab_unit, slab_unit + 1, ny, 0, units);
        if (helper == 0 && has_slab) earlier.publish_all(of_slab, warps_of_plane);
        if (helper == 1 && has_slab) earlier.copy_all(of_slab);
        if (helper == 2 && has_between)
            below.copy_all(Turn(counters + 1 + unit_between, unit_between + 1, ny, 0, units));
        if (helper == 3 && has_slab) later.copy_all(of_slab);
        return;
    }
    if (own_plane == planes_per_slab) {
        if (has_between) walk_plane<false, false>(u, s, nx, first, last, below, Rows<1, 1>(), fresh_rows, 0, own_warp);
    } else if (has_slab) {
        if (own_plane % 2 == 0)
            walk_plane<planes_per_slab != 1,
                false>(u, s, nx, first, last, earlier, later, fresh_rows, own_plane, own_warp);
        else
            walk_plane<false, true>(u, s, nx, first, last, later, later, fresh_rows, own_plane, own_warp);
    }
}
