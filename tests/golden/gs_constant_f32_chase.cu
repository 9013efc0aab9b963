// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=chase,
//     staging=bulk_2,warps_per_row=8,points_per_thread=4,stencil_in=by_value,min_blocks=1,copied_by=thread,stages=2,
//     max_lead=0
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 8, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int points_per_thread = 4;  // along x
constexpr int rows_per_stage = 2, stages = 2;
constexpr int pairs = points_per_thread / 2;
// at each end of a warp: they repeat points of the neighbouring warp
constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;
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

// One launch does even and odd planes. A block takes its plane in the order in which blocks begin: an even plane, which
// waits for nobody, then the odd plane below it, which follows the two even planes beside it along y. Whoever waits
// does so for blocks that have begun already, so that somebody can always go on.
//
// An odd plane reads rows of even planes that are finished, and writes a row only when the even planes have finished
// the row after it, so that they have read it: both planes see what they would in launches of their own.
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

    // To be called by all threads behind a barrier: the rows up to y, written before it, keep their values.
    __device__ __forceinline__ void finished_row(int y) const {
        if (threadIdx.x == 0 && threadIdx.y == 0) publish(progress, y);
    }

    __device__ __forceinline__ void finished_last_row() const {
        __syncthreads();
        finished_row(ny);
    }
};

// The plane, counted from 1, that a block takes: with tickets 0, 1, 2, 3, ... planes 0, 2, 1, 4, 3, ... of the range
// where it begins with an even one, and 1, 0, 3, 2, ... otherwise.
__device__ __forceinline__ int plane_of_ticket(int* tickets, int first, int last) {
    __shared__ int ticket;
    if (threadIdx.x == 0 && threadIdx.y == 0) ticket = take_ticket(tickets);
    __syncthreads();
    const int number = (first + ticket) % 2 == 1 ? ticket + 1 : ticket - 1;
    return 1 + first + min(max(number, 0), last - first - 1);
}

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

// Rows come through shared memory: while one stage is read, the other one fills.
struct Rows {
    real* stage;  // [stages][planes z - 1, z, z + 1, and f][rows_per_stage][pitch], without the last padding
    Barrier* full;
    const real *u, *f;  // row 0 of the block's plane
    wide plane;
    int pitch, row_words, ny, x;
    Turn turn;

    // Starts the copies of stage number `number`, which holds rows 1 + number * rows_per_stage onwards, up to the
    // boundary.
    __device__ __forceinline__ void fill(int number) {
        const int y = 1 + number * rows_per_stage;
        const int count = min(rows_per_stage, ny + 2 - y);
        if (count <= 0) return;
        turn.wait_for_row(y + count - 1);
        const unsigned bytes = words_of_rows(count, row_words, pitch) * sizeof(real);
        const int next_plane = words_of_rows(rows_per_stage, row_words, pitch);
        real* const to = stage + number % stages * (4 * next_plane);
        const wide at = y * wide(pitch);
        Barrier* const own = full + number % stages;
        expect_bytes(own, 4 * bytes);
        copy_rows(to, u + at - plane, bytes, own);
        copy_rows(to + next_plane, u + at, bytes, own);
        copy_rows(to + 2 * next_plane, u + at + plane, bytes, own);
        copy_rows(to + 3 * next_plane, f + at, bytes, own);
    }

    // Row y; `second` is 1 for every second row.
    template <int second>
    __device__ __forceinline__ Row take(int y) {
        constexpr int in_stage = rows_per_stage == 2 ? second : 0;
        const int number = (y - 1) / rows_per_stage;
        if (in_stage == 0) wait_for_bytes(full + number % stages, number / stages % 2);
        const int next_plane = words_of_rows(rows_per_stage, row_words, pitch);
        const real* const from = stage + number % stages * (4 * next_plane) + in_stage * pitch + x;
        const Row row{load(from), load(from + next_plane), load(from + 2 * next_plane), load(from + 3 * next_plane)};
        if (in_stage == rows_per_stage - 1) {
            finish_shared_reads();
            __syncthreads();
            if (second == 1) turn.finished_row(y - 3);
            if (threadIdx.x == 0 && threadIdx.y == 0) fill(number + stages);
        }
        return row;
    }
};

// All four colours of a plane. A block owns whole rows of it and walks along y; sums of three rows are carried in
// registers, so that every row of the three planes and of f is read once. Warps overlap by `halo_lanes` at each end, so
// that neighbours come by shuffles.
//
// Why the block may write what it reads: a row is read by everybody, behind a barrier, before anybody writes it, and
// nobody else writes plane z.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_walk(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* tickets,
    const __grid_constant__ Coefficients s,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const wide plane = wide(ny + 2) * pitch;
    int* const counters = reinterpret_cast<int*>(tickets);
    const int z = plane_of_ticket(counters, first, last);
    Turn turn(counters + z, z, ny, first, last);
    const int lane = threadIdx.x;
    const int x = int(threadIdx.y) * words_per_warp + (lane - halo_lanes) * points_per_thread;
    // the row's last group; lanes beyond it read it again
    const int x_last = (nx + 1) / points_per_thread * points_per_thread;
    const int x_read = max(0, min(x, x_last));
    const bool stores = lane >= halo_lanes && lane < 32 - halo_lanes;
    real* const u_plane = u + z * plane;
    const real* const f_plane = f + z * plane;
    const auto stencil_of_row = [&](int) -> const Coefficients& { return s; };
    extern __shared__ __align__(128) unsigned char shared_memory[];
    real* const buffer = reinterpret_cast<real*>(shared_memory);
    __shared__ Barrier full[stages];
    Rows rows{buffer, full, u_plane, f_plane, plane, pitch, copied_words(nx, pitch), ny, x_read, turn};
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        prepare_barriers(full);
        for (int i = 0; i < stages; ++i) rows.fill(i);
    }
    __syncthreads();

    // Row 0 is the boundary: odd and even rows are y and y - 1 in the loop.
    Sums odd, even;
    Group old_even = load(u_plane + x_read);
    {
        const Coefficients& s_own = stencil_of_row(1);
        odd.add(load(u_plane - plane + x_read), s_own, 0);
        odd.add(old_even, s_own, 9);
        odd.add(load(u_plane + plane + x_read), s_own, 18);
    }
    for (int y = 1; y <= ny + 1; y += 2) {
        const Coefficients &s_behind = stencil_of_row(y - 1), &s_own = stencil_of_row(y);
        const Coefficients &s_next = stencil_of_row(y + 1), &s_after = stencil_of_row(y + 2);
        const Row row = rows.take<0>(y);
        odd.begin(row.own, row.right_side, s_own);
        odd.add(row.below, s_own, 3);
        odd.add(row.above, s_own, 21);
        even.add(row.below, s_behind, 6);
        even.add(row.above, s_behind, 24);
        Sums next;  // of row y + 1
        next.add(row.below, s_next, 0);
        next.add(row.above, s_next, 18);

        const Row beside = y <= ny ? rows.take<1>(y + 1) : row;
        odd.add(beside.below, s_own, 6);
        odd.add(beside.own, s_own, 15);
        odd.add(beside.above, s_own, 24);
        const Group fresh = y <= ny ? updated(odd, row.own, s_own, x, nx) : row.own;
        even.add(fresh, s_behind, 15);
        const Group behind = updated(even, old_even, s_behind, x, nx);
        if (stores && y <= ny) store(u_plane + y * wide(pitch), x, nx, fresh);
        if (stores && y > 1) store(u_plane + (y - 1) * wide(pitch), x, nx, behind);

        even = next;
        even.begin(beside.own, beside.right_side, s_next);
        even.add(beside.below, s_next, 3);
        even.add(beside.above, s_next, 21);
        even.add(fresh, s_next, 9);
        old_even = beside.own;
        odd = Sums();
        odd.add(beside.below, s_after, 0);
        odd.add(beside.own, s_after, 9);
        odd.add(beside.above, s_after, 18);
    }
    turn.finished_last_row();
}
