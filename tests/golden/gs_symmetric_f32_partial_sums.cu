// gauss_seidel_27: symmetric stencil, f32
// hone emit gauss_seidel_27 stencil=symmetric precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=walk,
//     staging=partial_sums,warps_per_row=6,points_per_thread=2,stencil_in=streaming,min_blocks=2,blocks_per_plane=1
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 68 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 6, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 2;
constexpr int points_per_thread = 2;  // along x
// At each end of a warp they repeat points of the neighbouring warp. A new value follows from old ones of up to four
// words to both sides; what is handed over needs new values of a word more: to the left that of an odd point, which
// reaches a word less.
constexpr int left_halo_lanes = points_per_thread >= 4 ? 1 : 2, right_halo_lanes = left_halo_lanes + 1;
constexpr int words_per_warp = (32 - left_halo_lanes - right_halo_lanes) * points_per_thread;
constexpr unsigned all_lanes = 0xffffffff;

using vector = float2;
// Neighbouring words of a row: points of even and odd x in turns.
struct alignas(8) Group {
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

__device__ __forceinline__ Group load_stencil(const real* from) {
    Group group;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
        reinterpret_cast<vector*>(&group)[i] = __ldcs(reinterpret_cast<const vector*>(from) + i);
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

// A group with the words beside it, which the lanes beside have.
struct Span {
    real word[points_per_thread + 2];

    __device__ __forceinline__ explicit Span(const Group& group) {
        word[0] = __shfl_up_sync(all_lanes, group.word[points_per_thread - 1], 1);
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) word[i + 1] = group.word[i];
        word[points_per_thread + 1] = __shfl_down_sync(all_lanes, group.word[0], 1);
    }
};

// Coefficients of a group's points for the three neighbours in one row.
struct Three {
    Group west, centre, east;
};

// Subtracts the terms of the three neighbours in row `u`.
__device__ __forceinline__ void gather(Group& rest, const Span& u, const Three& s) {
    #pragma unroll
    for (int i = 0; i < points_per_thread; ++i)
        rest.word[i] =
            fma(-s.west.word[i], u.word[i],
            fma(-s.centre.word[i], u.word[i + 1], fma(-s.east.word[i], u.word[i + 2], rest.word[i])));
}

// What a block has to do with those of the planes beside it: nothing, these planes keep their values.
struct Turn {
    __device__ __forceinline__ void wait_for_row(int) {}
    __device__ __forceinline__ void finished_row(int) const {}
    __device__ __forceinline__ void finished_last_row() const {}
};

// What the points of a group still lack: f less the terms summed up so far. A group that has the coefficients for its
// neighbours *scatters* its terms, and hands those for the groups beside over to them in the end.
struct Sums {
    Group rest = {};
    real to_left = 0, to_right = 0;

    __device__ __forceinline__ void begin(const Group& right_side) {
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) rest.word[i] += right_side.word[i];
    }

    // Terms of the group's values in another row, with their coefficients for this row.
    __device__ __forceinline__ void scatter(const Group& u, const Three& s) {
        #pragma unroll
        for (int i = 0; i < points_per_thread; ++i) {
            rest.word[i] = fma(-s.centre.word[i], u.word[i], rest.word[i]);
            if (i > 0)
                rest.word[i - 1] = fma(-s.west.word[i], u.word[i], rest.word[i - 1]);
            else
                to_left = fma(s.west.word[i], u.word[i], to_left);
            if (i + 1 < points_per_thread)
                rest.word[i + 1] = fma(-s.east.word[i], u.word[i], rest.word[i + 1]);
            else
                to_right = fma(s.east.word[i], u.word[i], to_right);
        }
    }

    // With the terms of the groups beside.
    __device__ __forceinline__ Group handed_over() const {
        Group result = rest;
        result.word[0] -= __shfl_up_sync(all_lanes, to_right, 1);
        result.word[points_per_thread - 1] -= __shfl_down_sync(all_lanes, to_left, 1);
        return result;
    }
};

// Both colours of a row's group at x, points of odd x first; outside [1, nx] the values stay.
__device__ __forceinline__ Group updated(const Sums& sums, const Group& old, const Group& reciprocal, const Group& east,
    int x, int nx) {
    constexpr int last = points_per_thread - 1;
    Group rest = sums.handed_over(), result = old;
    const Span before(old);
    #pragma unroll
    for (int i = 1; i < points_per_thread; i += 2) {
        const real sum = fma(-east.word[i - 1], before.word[i], fma(-east.word[i], before.word[i + 2], rest.word[i]));
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * reciprocal.word[i];
    }
    rest.word[0] -= __shfl_up_sync(all_lanes, east.word[last] * result.word[last], 1);
    #pragma unroll
    for (int i = 0; i < points_per_thread; i += 2) {
        real sum = fma(-east.word[i], result.word[i + 1], rest.word[i]);
        if (x + i >= 1 && x + i <= nx) result.word[i] = sum * reciprocal.word[i];
    }
    return result;
}

// The part of a plane that a block brings up to date: all rows. Steps of two rows are named by the odd one, which comes
// first; the last one is that in which both neighbours of the last row have had their turn.
struct Part {
    int first_step = 1, warm_up = 1, last_step;

    __device__ __forceinline__ explicit Part(int ny) : last_step((ny + 1) / 2 * 2 + 1) {}

    __device__ __forceinline__ bool owns(int) const { return true; }

    // The plane of which row y has the values from before the launch.
    __device__ __forceinline__ const real* old(const real* u_plane, int) const { return u_plane; }
};

// A plane of the earlier colours and one beside it share the couplings of their points. The earlier one has all of them
// at hand when it gets its new values, and so leaves to the later one what these values amount to there: `partial_sums`
// holds, for each plane of the later colours, less the terms of the plane below, and then less those of the plane
// above. Every coefficient is read once.
__device__ __forceinline__ wide partial_sums_of(int z, wide plane) {
    return (z / 2 - 1) * 2 * plane;
}

// Where a thread's groups lie in every row, which rows there are, and which of them are the block's.
struct Place {
    int x, nx, ny, pitch;
    int x_read;
    bool stores;
    Part part;

    __device__ __forceinline__ Place(int points, int rows, int pitch_words, const Part& rows_of_block)
        : nx(points), ny(rows), pitch(pitch_words), part(rows_of_block) {
        const int lane = threadIdx.x;
        x = int(threadIdx.y) * words_per_warp + (lane - left_halo_lanes) * points_per_thread;
        // the row's last group; lanes beyond it read it again
        const int x_last = (nx + 1) / points_per_thread * points_per_thread;
        x_read = max(0, min(x, x_last));
        stores = lane >= left_halo_lanes && lane < 32 - right_halo_lanes;
    }

    __device__ __forceinline__ bool inside(int y) const { return y >= 1 && y <= ny; }

    // Whether the block's steps come to row y.
    __device__ __forceinline__ bool reaches(int y) const { return y <= part.last_step; }

    // The group of row y, or of the last row on that side, in a plane whose words begin at `plane`: the same place for
    // all threads, so that what they have of their own is 32 bits.
    __device__ __forceinline__ const real* read(const real* plane, int y) const {
        const unsigned word = unsigned(max(0, min(y, ny + 1))) * unsigned(pitch) + unsigned(x_read);
        return reinterpret_cast<const real*>(reinterpret_cast<const char*>(plane) + word * unsigned(sizeof(real)));
    }

    __device__ __forceinline__ void write(real* plane, int y, const Group& group) const {
        if (stores && inside(y) && part.owns(y)) store(plane + y * wide(pitch), x, nx, group);
    }
};

// A row's right-hand side, and the coefficients for neighbours in its plane that are stored with its points.
struct Row {
    Group right_side;
    Group reciprocal, east;  // coefficients 13 and 14
    Three north;             // 15 to 17: for the row to the north

    Row() = default;

    // `stride` are the words from one coefficient to the next one.
    __device__ __forceinline__ Row(const Place& at, int y, const real* f, const real* s, wide stride)
        : right_side(load(at.read(f, y))), reciprocal(load_stencil(at.read(s, y))),
            east(load_stencil(at.read(s + stride, y))),
          north{load_stencil(at.read(s + 2 * stride, y)), load_stencil(at.read(s + 3 * stride, y)),
              load_stencil(at.read(s + 4 * stride, y))}
    {
    }
};

// Coefficients 18 to 26 of all points that couple a row with the planes beside. Each is used for the row's own new
// values, and then to hand these over.
struct Couplings {
    const real* s;  // of the row's plane
    wide stride, plane;
    Three below_rows[3], above_rows[3];

    __device__ __forceinline__ Couplings(const real* s_plane, wide stencil_stride, wide plane_words, const Place&, int,
        int)
        : s(s_plane), stride(stencil_stride), plane(plane_words) {
    }

    // Those of row y.
    __device__ __forceinline__ void take(const Place& at, int y) {
        #pragma unroll
        for (int row = 0; row < 3; ++row) {
            below_rows[row] = three(at, s - plane + (5 + 3 * (2 - row)) * stride, y - 1 + row);
            above_rows[row] = three(at, s + (5 + 3 * row) * stride, y);
        }
    }

    __device__ __forceinline__ Three three(const Place& at, const real* west, int y) const {
        return {load_stencil(at.read(west, y)), load_stencil(at.read(west + stride, y)),
            load_stencil(at.read(west + 2 * stride, y))};
    }

    // Stored with the points of the plane below, for this row's: rows to the south, at the same y, to the north.
    __device__ __forceinline__ Three below(int row) const { return below_rows[row]; }

    // Stored with this row's points, for those of the plane above.
    __device__ __forceinline__ Three above(int row) const { return above_rows[row]; }

    __device__ __forceinline__ void use_again() const {}
    __device__ __forceinline__ void leave_for(const Place&, int) {}
};

// Subtracts the terms of three rows below and of three above from what a row lacks.
__device__ __forceinline__ void take_beside(Sums& sums, const Group* below, const Group* above,
    const Couplings& couplings) {
    #pragma unroll
    for (int row = 0; row < 3; ++row) {
        sums.scatter(below[row], couplings.below(row));
        gather(sums.rest, Span(above[row]), couplings.above(row));
    }
}

// The same in the other direction: a row's new values for three rows below and three above.
__device__ __forceinline__ void hand_over(Group* for_below, Sums* for_above, const Group& value,
    const Couplings& couplings) {
    const Span span(value);
    couplings.use_again();
    #pragma unroll
    for (int row = 0; row < 3; ++row) {
        gather(for_below[row], span, couplings.below(row));
        for_above[row].scatter(value, couplings.above(row));
    }
}

// The four colours of a plane of the earlier colours, and what they amount to beside it; `updates` is false where the
// plane itself keeps its values, as the boundary does. A block has whole rows and walks along y. Warps overlap by the
// halo lanes, so that neighbours come by shuffles.
//
// Why the block may write what it reads: a row is read by everybody, behind a barrier, before anybody writes it, and
// nobody else writes its part.
__device__ __forceinline__ void walk_earlier_plane(real* u, const real* f, const real* stencil, real* partial_sums,
    int nx, int ny, int nz, int pitch,
                                                   int z, const Part& part, bool updates, bool below_takes,
                                                       bool above_takes, const Turn& turn) {
    const Place at(nx, ny, pitch, part);
    const wide plane = wide(ny + 2) * pitch, stride = (nz + 2) * plane;
    real* const u_plane = u + z * plane;
    const real* const f_plane = f + z * plane;
    const real* const s_plane = stencil + z * plane;
    const real* const u_below = u_plane - plane;
    // what the boundary reads above itself is not used
    const real* const u_above = z <= nz ? u_plane + plane : u_plane;
    real* const sums_below = partial_sums + partial_sums_of(z - 1, plane) + plane;
    real* const sums_above = partial_sums + partial_sums_of(z + 1, plane);
    const auto row_at = [&](int y) { return Row(at, y, f_plane, s_plane, stride); };
    const auto old_at = [&](int y) { return load(at.read(part.old(u_plane, y), y)); };

    // In the loop, odd and even are rows y and y - 1. The arrays are of rows y - 2 to y + 1; the last two are the first
    // two of the next step.
    constexpr int rows = 4;
    const int begin = part.warm_up;
    Group old_even = old_at(begin - 1);
    Sums even;
    Group below[rows] = {load(at.read(u_below, begin - 2)), load(at.read(u_below, begin - 1))};
    Group above[rows] = {load(at.read(u_above, begin - 2)), load(at.read(u_above, begin - 1))};
    Group for_below[rows] = {};
    Sums for_above[rows];
    Couplings odd_couplings(s_plane, stride, plane, at, 0, begin),
        even_couplings(s_plane, stride, plane, at, 1, begin - 1);
    for (int y = begin; at.reaches(y); y += 2) {
        const Group own = old_at(y), own_next = old_at(y + 1);
        #pragma unroll
        for (int i = 2; i < rows; ++i) {
            below[i] = load(at.read(u_below, y - 2 + i));
            above[i] = load(at.read(u_above, y - 2 + i));
        }
        const Row row = row_at(y), even_row = row_at(y - 1);

        odd_couplings.take(at, y);
        Sums odd;
        odd.begin(row.right_side);
        take_beside(odd, below + 1, above + 1, odd_couplings);
        odd.scatter(old_even, even_row.north);
        gather(odd.rest, Span(own_next), row.north);
        Group fresh = updated(odd, own, row.reciprocal, row.east, at.x, nx);
        if (!updates || !at.inside(y)) fresh = own;
        hand_over(for_below + 1, for_above + 1, fresh, odd_couplings);
        odd_couplings.leave_for(at, y + 2);

        even_couplings.take(at, y - 1);
        even.begin(even_row.right_side);
        take_beside(even, below, above, even_couplings);
        gather(even.rest, Span(fresh), even_row.north);
        Group behind = updated(even, old_even, even_row.reciprocal, even_row.east, at.x, nx);
        if (!updates || !at.inside(y - 1)) behind = old_even;
        hand_over(for_below, for_above, behind, even_couplings);
        even_couplings.leave_for(at, y + 1);

        __syncthreads();
        turn.finished_row(y - 3);
        if (updates) {
            at.write(u_plane, y, fresh);
            at.write(u_plane, y - 1, behind);
        }
        even = Sums();
        even.scatter(fresh, row.north);
        old_even = own_next;
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
            const Group terms = for_above[i].handed_over();
            if (below_takes) at.write(sums_below, y - 2 + i, for_below[i]);
            if (above_takes) at.write(sums_above, y - 2 + i, terms);
            below[i] = below[2 + i];
            above[i] = above[2 + i];
            for_below[i] = for_below[2 + i];
            for_above[i] = for_above[2 + i];
            for_below[2 + i] = {};
            for_above[2 + i] = {};
        }
    }
    turn.finished_last_row();
}

// in f64 one step's rows are as many bytes, and no registers are left for more
constexpr int lines_ahead = sizeof(real) == 4 ? 2 : 0;

// The four colours of a plane of the later colours.
__device__ __forceinline__ void walk_later_plane(real* u, const real* f, const real* stencil, const real* partial_sums,
    int nx, int ny, int nz, int pitch,
                                                 int z, const Part& part, Turn& turn) {
    const Place at(nx, ny, pitch, part);
    const wide plane = wide(ny + 2) * pitch, stride = (nz + 2) * plane;
    real* const u_plane = u + z * plane;
    const real* const f_plane = f + z * plane;
    const real* const s_plane = stencil + z * plane;
    const real* const sums = partial_sums + partial_sums_of(z, plane);
    struct Line {
        Group own, from_below, from_above;
        Row row;
    };
    const auto line_at = [&](int row) {
        const int y = min(row, part.last_step + 1);  // loads ahead end with the rows that are needed
        return Line{load(at.read(part.old(u_plane, y), y)), load(at.read(sums, y)), load(at.read(sums + plane, y)),
                    Row(at, y, f_plane, s_plane, stride)};
    };
    const auto begin = [](Sums& sums_of_row, const Line& line) {
        sums_of_row.begin(line.row.right_side);
        sums_of_row.begin(line.from_below);
        sums_of_row.begin(line.from_above);
    };

    // Row y - 1 and those behind it: their loads are under way before those of y are done with.
    constexpr int lines = 3 + lines_ahead;
    turn.wait_for_row(lines - 1);
    Line line[lines];
    #pragma unroll
    for (int i = 0; i < lines; ++i) line[i] = line_at(part.first_step - 1 + i);
    Sums even;
    for (int y = part.first_step; y <= ny + 1 && at.reaches(y); y += 2) {
        const Line &south = line[0], &middle = line[1], &north = line[2];
        Sums odd;
        begin(odd, middle);
        odd.scatter(south.own, south.row.north);
        gather(odd.rest, Span(north.own), middle.row.north);
        Group fresh = updated(odd, middle.own, middle.row.reciprocal, middle.row.east, at.x, nx);
        if (y > ny) fresh = middle.own;
        begin(even, south);
        gather(even.rest, Span(fresh), south.row.north);
        const Group behind = updated(even, south.own, south.row.reciprocal, south.row.east, at.x, nx);
        even = Sums();
        even.scatter(fresh, middle.row.north);
        #pragma unroll
        for (int i = 0; i + 2 < lines; ++i) line[i] = line[i + 2];
        turn.wait_for_row(y + lines);
        line[lines - 2] = line_at(y + lines - 1);
        line[lines - 1] = line_at(y + lines);
        __syncthreads();
        at.write(u_plane, y, fresh);
        at.write(u_plane, y - 1, behind);
    }
}

// Every second plane, from the first on, and those outside the range that are beside planes of the later colours.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_earlier_planes(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* partial_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const int z = 1 + 2 * int(blockIdx.z);
    if (z < first || z > last + 1) return;
    const Part part(ny);
    walk_earlier_plane(u, f, stencil, partial_sums, nx, ny, nz, pitch, z, part, z > first && z <= last, z - 1 > first,
        z + 1 <= last, Turn());
}

extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27_later_planes(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* partial_sums,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const int z = 2 + 2 * int(blockIdx.z);
    if (z <= first || z > last) return;
    const Part part(ny);
    Turn turn;
    walk_later_plane(u, f, stencil, partial_sums, nx, ny, nz, pitch, z, part, turn);
}
