// acoustics_staggered: 2 steps in one pass in 2D, order 2-16, array media, f32
// hone emit acoustics_staggered kernel=step dimension=2 order=16 media=array absorbing=none update=apart levels=2
//     precision=f32 nx=512 ny=512 --target cpu --config form=tiles,x_block=2048,layers_per_block=0,stores=plain,
//     layers_at_once=2,vector_bytes=64,prefetch_bytes=1024,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 198 operations, 36 bytes (compulsory)
#include <omp.h>

using real = float;
using wide = long long;  // a position in an array
constexpr int dimension = 2, half = 8;  // half: M, half the order in space
constexpr int ghost = 32, left = 32;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = true, absorbing = false;
constexpr int vector_words = 16;
constexpr int strip_words = 256 / sizeof(real);
constexpr bool streaming_stores = false;
constexpr int levels = 2;  // time steps of a pass

namespace {

// What this needs of the standard library: its headers would take half of the time that the rest takes to compile.
template <typename Number>
constexpr Number lesser(Number a, Number b) { return b < a ? b : a; }
template <typename Number>
constexpr Number greater(Number a, Number b) { return a < b ? b : a; }

// `count` words, which begin as zeros.
template <typename Word>
class Words {
  public:
    explicit Words(long long count) : words_(new Word[count]()) {}
    ~Words() { delete[] words_; }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    Word* data() const { return words_; }
    Word& operator[](long long n) const { return words_[n]; }

  private:
    Word* const words_;
};

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 16.
constexpr real weight(int m) {
    if (m == 1) return 1.2340910732746124f;
    if (m == 2) return -0.10664984583854675f;
    if (m == 3) return 0.023036366701126101f;
    if (m == 4) return -0.0053423855985913959f;
    if (m == 5) return 0.001077271170086331f;
    if (m == 6) return -0.00016641887751492584f;
    if (m == 7) return 1.7021711056049058e-05f;
    return -8.5234642028808587e-07f;
}


// Asks for a strip of a row: it is in the caches when its turn comes. What the processor foresees itself breaks off at
// the end of every row. In place, and so is what calls it: a function that does nothing else is one that GCC leaves
// out, as it changes nothing.
[[gnu::always_inline]] inline void ask_for(const real* words) {
    for (int n = 0; n < strip_words; n += 64 / static_cast<int>(sizeof(real))) __builtin_prefetch(words + n);
}

// A length that compilers know.
template <int length>
struct Length {
    constexpr operator int() const { return length; }
};

// Calls step(first, count) for the strips of a row: those of full length, which compilers then know, and what is left.
template <typename Step>
inline void in_strips(int words, const Step& step) {
    int first = 0;
    for (; first + strip_words <= words; first += strip_words) step(first, Length<strip_words>());
    if (first < words) step(first, words - first);
}

// Rows whose words are asked for before their turn: so many words further on in the row, or else in the next one.
struct Asked {
    int words_ahead = 0;  // 0: nothing is asked for
    wide pitch = 0;
    const real* rows[4] = {};  // as many as are needed

    [[gnu::always_inline]] void operator()(int first, int n) const {
        if (words_ahead == 0) return;
        const wide at = first + words_ahead < n ? wide(first + words_ahead) : first + words_ahead - n + pitch;
        for (const real* const row : rows)
            if (row != nullptr) ask_for(row + at);
    }
};

// Writes words that are in the caches to an array.
inline void keep(real* to, const real* from, int n) {
    int x = 0;
    for (; x < n; ++x) to[x] = from[x];
}

// Where words of a row that is in the caches are to be kept: `n` from number `skipped` on, strip by strip.
struct Kept {
    real* to = nullptr;
    int skipped = 0, n = 0;

    void operator()(const real* row, int first, int count) const {
        if (to == nullptr) return;
        const int begin = greater(first, skipped), end = lesser(first + count, skipped + n);
        if (begin < end) keep(to + begin - skipped, row + begin, end - begin);
    }
};

// Cells that a thread takes at a time: a block of every layer, one layer after the other.
struct Tile {
    int x, n, y, rows, first, last;
};

// How large tiles are at most. Layers: 0 for all of a thread's.
struct Blocks {
    int x, y, layers;
};

// Where the cells lie.
struct Layout {
    wide pitch, plane;

    Layout(int ny, int row) : pitch(row), plane(wide(ny + 2 * ghost) * row) {}
    // Of the first cell of a row of a tile's layer.
    wide position(const Tile& tile, int row, int layer_number) const {
        const wide y = dimension == 2 ? layer_number : tile.y + row;
        return (dimension == 2 ? 0 : (layer_number + ghost) * plane) + (y + ghost) * pitch + left + tile.x;
    }
};

// Calls step(tile) for all tiles of the layers [first, last), by all threads.
template <typename MakeStep>
void for_all_tiles(int nx, int ny, int first, int last, const Blocks& blocks, const MakeStep& make_step) {
    #pragma omp parallel
    {
        const int share = (last - first + omp_get_num_threads() - 1) / omp_get_num_threads();
        const int layers = blocks.layers > 0 ? blocks.layers : share, all_rows = dimension == 2 ? 1 : ny;
        auto step = make_step();
        #pragma omp for collapse(3) schedule(static)
        for (int layer = first; layer < last; layer += layers)
            for (int y = 0; y < all_rows; y += blocks.y)
                for (int x = 0; x < nx; x += blocks.x)
                    step(
                        Tile{x, lesser(blocks.x, nx - x), y, lesser(blocks.y, all_rows - y), layer,
                        lesser(layer + layers, last)});
    }
}

// Rows that only the caches see begin and end on a line of them, whatever is needed of them: loops over whole vectors,
// without a remainder.
constexpr int line_words = 64 / sizeof(real);
constexpr int lines(int words) { return (words + line_words - 1) / line_words * line_words; }

// Vectors along x, from any word on.
typedef real Vector __attribute__((vector_size(vector_words * sizeof(real))));
typedef real AnyVector __attribute__((vector_size(vector_words * sizeof(real)), aligned(sizeof(real)), may_alias));

template <typename Number>
[[gnu::always_inline]] inline Number load(const real* words) {
    if constexpr (sizeof(Number) == sizeof(Vector))
        return *reinterpret_cast<const AnyVector*>(words);
    else
        return *words;
}
[[gnu::always_inline]] inline void store(real* words, Vector vector) { *reinterpret_cast<AnyVector*>(words) = vector; }
[[gnu::always_inline]] inline void store(real* words, real word) { *words = word; }

// Of the words of two vectors those from number `first` on.
template <int first, int left = vector_words, int... places>
struct From : From<first, left - 1, first + left - 1, places...> {};
template <int first, int... places>
struct From<first, 0, places...> {
    [[gnu::always_inline]] static Vector of(Vector before,
        Vector behind) { return __builtin_shufflevector(before, behind, places...); }
};

// The words of a row around a vector. Those at an odd distance are loaded, most of them from two lines; the others are
// made of three vectors: so the work is shared by what loads and what shuffles.
class Window {
  public:
    [[gnu::always_inline]] explicit Window(const real* row) : row_(row), here_(load<Vector>(row - vector_words)),
        behind_(load<Vector>(row)) {}
    // To the next vector, which begins at word x, or to that word.
    [[gnu::always_inline]] void move_to(int x, Vector) {
        x_ = x;
        before_ = here_;
        here_ = behind_;
        behind_ = load<Vector>(row_ + x + vector_words);
    }
    [[gnu::always_inline]] void move_to(int x, real) { x_ = x; }
    // Of the vector, or of its first word.
    template <int distance, typename Number>
    [[gnu::always_inline]] Number at() const {
        if constexpr (distance % 2 != 0 || sizeof(Number) != sizeof(Vector))
            return load<Number>(row_ + x_ + distance);
        else if constexpr (distance < 0)
            return From<vector_words + distance>::of(before_, here_);
        else
            return From<distance>::of(here_, behind_);
    }

  private:
    const real* row_;
    int x_ = 0;
    Vector before_{}, here_, behind_;
};

// The sum of weighted differences along x, around faces (0) or cells (1). It begins with zero, so that no compiler
// chooses which of two products it rounds: a row's bits do not depend on its place in a pair.
template <typename Number, int offset, int m = half>
[[gnu::always_inline]] inline Number difference_across(const Window& around) {
    const Number difference = around.at<offset + m - 1, Number>() - around.at<offset - m, Number>();
    if constexpr (m == 1)
        return Number{} + weight(1) * difference;
    else
        return difference_across<Number, offset, m - 1>(around) + weight(m) * difference;
}

// Adds to the sums of one or two layers the weighted differences of the rows around them: 2 M, or one more. From the
// middle on, so that of the rows between two layers those of the last distance are all that must be kept.
template <typename Number, int count>
[[gnu::always_inline]] inline void add_differences(Number (&sums)[count], const real* const* rows, int x) {
    Number above = load<Number>(rows[half] + x), below = above;
    #pragma GCC unroll 8
    for (int m = 1; m <= half; ++m) {
        const Number further_below = load<Number>(rows[half - m] + x);
        sums[0] += weight(m) * (above - further_below);
        if (count == 1 && m == half) break;
        above = load<Number>(rows[half + m] + x);
        if constexpr (count == 2) sums[1] += weight(m) * (above - below);
        below = further_below;
    }
}

// A row that is updated, with its medium.
struct Row {
    real* to;
    const real *from, *medium;
    Asked asked;
    Kept kept;

    template <typename Number>
    [[gnu::always_inline]] Number updated(int x, Number sum) const {
        return load<Number>(from + x) - load<Number>(medium + x) * sum;
    }
    template <typename Number>
    [[gnu::always_inline]] void update(int x, Number sum) const { store(to + x, updated(x, sum)); }
};

// Calls compute(x, Number()) for rows of n words: for their vectors, strip by strip, then for the words that are left.
template <int count, typename Compute>
[[gnu::always_inline]] inline void in_vectors(const Row (&rows)[count], int n, const Compute& compute) {
    int x = 0;
    for (int first = 0; first < n; first += strip_words) {
        const int end = lesser(first + strip_words, n);
        for (const Row& row : rows) row.asked(first, n);
        for (; x + vector_words <= end; x += vector_words) compute(x, Vector());
        for (; x < end; ++x) compute(x, real());
        for (const Row& row : rows) row.kept(row.to, first, end - first);
    }
}

// New velocities of a row along x.
inline void velocity_across(const Row& row, const real* p, int n) {
    Window around(p);
    in_vectors({row}, n, [&](int x, auto number) {
        around.move_to(x, number);
        row.update(x, difference_across<decltype(number), 0>(around));
    });
}

// New velocities of a row of each layer across the layers, from the pressures around them.
template <int count>
inline void update_velocities(const Row (&rows)[count], const real* const* pressures, int n) {
    in_vectors(rows, n, [&](int x, auto number) {
        decltype(number) sums[count] = {};
        add_differences(sums, pressures, x);
        #pragma GCC unroll 2
        for (int layer = 0; layer < count; ++layer) rows[layer].update(x, sums[layer]);
    });
}

// New pressures of a row of each layer from their velocities along x, from those across the layers, and in 3D from
// those along y.
template <int count>
inline void update_pressures(const Row (&rows)[count], const real* const (&across)[count],
                             const real* const* along, int n) {
    Window windows[2] = {Window(across[0]), Window(across[count - 1])};
    in_vectors(rows, n, [&](int x, auto number) {
        using Number = decltype(number);
        Number sums[count];
        #pragma GCC unroll 2
        for (int layer = 0; layer < count; ++layer) {
            windows[layer].move_to(x, number);
            sums[layer] = difference_across<Number, 1>(windows[layer]);
        }
        add_differences(sums, along, x);
        #pragma GCC unroll 2
        for (int layer = 0; layer < count; ++layer) rows[layer].update(x, sums[layer]);
    });
}

constexpr int behind = 2 * half - 1;     // rows by which a time step lags behind the one before
constexpr int reach = levels * behind;   // cells around a tile whose old values it needs

// What the time steps leave to each other: of every field as many rows as the next one looks back, modulo 2 M. Rows
// start on a line of the caches.
class Rings {
  public:
    explicit Rings(const Blocks& blocks)
        : row_words_(blocks.x + 2 * side_words), storage_(wide(3 * levels) * rows_kept * row_words_ + line_words) {
        const auto address = reinterpret_cast<__UINTPTR_TYPE__>(storage_.data());
        start_ = storage_.data() + (line_words - address / sizeof(real) % line_words) % line_words;
    }
    // After `level` time steps, at the tile's first cell of a row that is not below -ghost.
    real* p(int level, int row) { return place(3 * level - 3, row); }
    real* u(int level, int row) { return place(3 * level - 2, row); }
    real* v(int level, int row) { return place(3 * level - 1, row); }

  private:
    static constexpr int rows_kept = 2 * half + 2, side_words = lines(reach) + 2 * line_words;
    real* place(int field,
        int row) { return start_ + (wide(field) * rows_kept + (row + ghost) % rows_kept) * row_words_ + side_words; }

    wide row_words_;
    Words<real> storage_;
    real* start_;
};

}  // namespace

// `levels` time steps of the rows [first, last) in one pass: when a row of pressures arrives, each time step advances
// one row and hands it to the next one, whose rows lie 2 M - 1 behind and are still in the caches. What lies around a
// tile is computed as far as the later time steps need it.
extern "C" void acoustics_step(
    const real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ kappa, const real* __restrict__ bx, const real* __restrict__ by,
    real* __restrict__ p_next, real* __restrict__ u_next, real* __restrict__ v_next, int nx, int ny,
    int nz, int pitch, int first, int last, int x_block, int y_block, int layers_per_block,
    int words_ahead
) {
    (void)nz;
    const real* const along = v;
    real* const along_next = v_next;
    const real *b_x = bx, *b_y = by, *b_along = by;
    (void)b_y;
    (void)b_along, (void)along, (void)along_next;
    const Blocks blocks{x_block, y_block, layers_per_block};
    const Layout layout(ny, pitch);
    const auto medium = [](wide at) { return array_media ? at : 0; };
    // What the first time step asks for: the others find theirs, and the media, in the caches.
    const auto with = [&](int level, const real* velocity, const real* b, wide at, const real* pressures) {
        return level > 0 ? Asked()
            : Asked{words_ahead, pitch, {velocity + at, array_media ? b + at : nullptr, pressures}};
    };
    // Of one time step: the velocities along y at the two newest faces, then everything else of the two rows that these
    // complete. Of every row so much `before` its first cell and from there on. Where one of two is needed the other is
    // computed, too, and stays in the rings.
    const auto advance = [&](const Tile& tile, Rings& rings, int level, int arrived) {
        const int around = (levels - 1 - level) * behind, before = lines(around), row_end = pitch - left - tile.x;
        // to the arrays, not by way of the caches
        const bool last_level = level + 1 == levels, direct = last_level && !streaming_stores;
        const int n = before + (direct ? tile.n : lesser(lines(tile.n + around), row_end));
        const auto own = [&](int row) { return last_level && row >= tile.first && row < tile.last; };
        const auto old_p =
            [&](int row) { return level == 0 ? p + layout.position(tile, 0, row) : rings.p(level, row); };
        const auto new_v =
            [&](int face) { return direct && own(face) ? v_next + layout.position(tile, 0, face)
            : rings.v(level + 1, face); };
        const real* rows[2 * half + 1];
        const int face = arrived - (half - 1);
        if (face + 1 >= tile.first - around + 1 - half && face < tile.last + around + half) {
            const auto velocities = [&](int y) {
                const wide at = layout.position(tile, 0, y) - before;
                return Row{new_v(y) - before, level == 0 ? v + at : rings.v(level, y) - before, b_y + medium(at),
                           with(level, v, b_y, at, old_p(y + half - 1) - before),
                               {own(y) && !direct ? v_next + at + before : nullptr, before, tile.n}};
            };
            for (int k = 0; k <= 2 * half; ++k) rows[k] = old_p(face + k - half) - before;
            update_velocities({velocities(face), velocities(face + 1)}, rows, n);
        }
        const int row = arrived - behind;
        if (row + 1 < tile.first - around || row >= tile.last + around) return;
        const int faces_before = lines(around + half - 1),
            faces = faces_before + lesser(lines(tile.n + around + half), row_end);
        for (int y = row; y < row + 2; ++y) {
            const wide at = layout.position(tile, 0, y) - faces_before;
            velocity_across(
                {rings.u(level + 1, y) - faces_before, level == 0 ? u + at : rings.u(level, y) - faces_before,
                b_x + medium(at),
                             with(level, u, b_x, at, nullptr),
                                 {own(y) ? u_next + at + faces_before : nullptr, faces_before, tile.n}},
                            old_p(y) - faces_before, faces);
        }
        const auto pressures = [&](int y) {
            const wide at = layout.position(tile, 0, y) - before;
            return Row{(direct && own(y) ? p_next + at : rings.p(level + 1, y) - before), old_p(y) - before,
                kappa + medium(at),
                       {words_ahead, pitch, {array_media && level == 0 ? kappa + at : nullptr}},
                       {own(y) && !direct ? p_next + at + before : nullptr, before, tile.n}};
        };
        for (int k = 0; k <= 2 * half; ++k) rows[k] = new_v(row + 1 - half + k) - before;
        update_pressures({pressures(row), pressures(row + 1)},
            {rings.u(level + 1, row) - before, rings.u(level + 1, row + 1) - before}, rows, n);
    };
    const auto advance_tile = [&](const Tile& tile, Rings& rings) {
        for (int arrived = tile.first - reach; arrived < tile.last + reach; arrived += 2)
            for (int level = 0; level < levels; ++level) advance(tile, rings, level, arrived - level * behind);
    };
    for_all_tiles(nx, ny, first, last, blocks,
        [&] { return [&advance_tile, rings = Rings(blocks)](const Tile& tile) mutable { advance_tile(tile, rings); };
        });
}
