// acoustics_staggered: 2 steps in one pass in 3D, order 2-4, array media, f32
// hone emit acoustics_staggered kernel=step dimension=3 order=4 media=array absorbing=none update=apart levels=2
//     precision=f32 nx=512 ny=512 nz=512 --target cpu --config form=planes,y_block=16,stores=plain,vector_bytes=64,
//     prefetch_bytes=1024,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 80 operations, 48 bytes (compulsory)
#include <omp.h>
#include <sched.h>

using real = float;
using wide = long long;  // a position in an array
constexpr int half = 2;  // half: M, half the order in space
constexpr int ghost = 8, left = 32;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = true;
constexpr int vector_words = 16;
constexpr int strip_words = 256 / sizeof(real);
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

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 4.
constexpr real weight(int m) {
    if (m == 1) return 1.125f;
    return -0.041666666666666664f;
}

// Nothing is absorbed. The factors keep their types, by which compilers tell rows along x from others.
struct Everywhere {};
struct Damping {
    const real* faces_x(int) const { return nullptr; }
    Everywhere face_y(int) const { return {}; }
    Everywhere face_along(int) const { return {}; }
    const real* centres_x(int) const { return nullptr; }
    real centre(int, int) const { return 1; }
};

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

// New velocities of a row along an axis whose cells are `stride` apart. `to` may be `from`.
template <typename Factors>
inline void velocity_row(real* to, const real* from, const real* b, const real* p, int n, wide stride, Factors damping,
                         const Asked& asked, const Kept& kept = {}) {
    (void)damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (p[x] - p[x - stride]);
            sum += weight(2) * (p[x + stride] - p[x - 2 * stride]);
            to[x] = from[x] - b[x] * sum;
        }
        kept(to, first, count);
    });
}

// New pressures of a row. `across` are velocities along x, `rows` along y in rows that are `row_stride` apart, `along`
// those of the layers of faces around it. `damping`: factors along x; `across_damping` that of the other axes. `to` may
// be `p`.
inline void pressure_row(real* to, const real* p, const real* kappa, const real* across,
                         const real* rows, wide row_stride,
                         const real* const* along,
                         int n, const real* damping, real across_damping,
                         const Asked& asked, const Kept& kept = {}) {
    (void)rows, (void)row_stride, (void)damping, (void)across_damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (across[x + 1] - across[x]);
            sum += weight(2) * (across[x + 2] - across[x - 1]);
            sum += weight(1) * (rows[x + row_stride] - rows[x]);
            sum += weight(2) * (rows[x + 2 * row_stride] - rows[x - row_stride]);
            sum += weight(1) * (along[2][x] - along[1][x]);
            sum += weight(2) * (along[3][x] - along[0][x]);
            to[x] = p[x] - kappa[x] * sum;
        }
        kept(to, first, count);
    });
}

// Where the cells lie.
struct Layout {
    wide pitch, plane;

    Layout(int ny, int row) : pitch(row), plane(wide(ny + 2 * ghost) * row) {}
};

// Rows that only the caches see begin and end on a line of them, whatever is needed of them: loops over whole vectors,
// without a remainder.
constexpr int line_words = 64 / sizeof(real);
constexpr int lines(int words) { return (words + line_words - 1) / line_words * line_words; }

// New velocities of a row across the layers, from the pressures of the 2 M rows around it.
template <typename Factors>
inline void velocity_between(real* to, const real* from, const real* b, const real* const* along, int n,
    Factors damping, const Asked& asked,
                             const Kept& kept) {
    (void)damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (along[2][x] - along[1][x]);
            sum += weight(2) * (along[3][x] - along[0][x]);
            to[x] = from[x] - b[x] * sum;
        }
        kept(to, first, count);
    });
}

// A thread's part of rows that a team takes through all planes together: as many at least as a neighbour looks across,
// so that it never needs what others than its neighbours have.
struct Share {
    int first, last;

    Share(int begin, int end, int thread, int threads) {
        const int count = end - begin, parts = greater(1, lesser(threads, count / (2 * half)));
        first = begin + static_cast<int>(static_cast<wide>(count) * lesser(thread, parts) / parts);
        last = begin + static_cast<int>(static_cast<wide>(count) * lesser(thread + 1, parts) / parts);
    }
    // Calls visit(row) for the thread's own rows among these.
    template <typename Visit>
    void visit(int from, int to, const Visit& visit) const {
        for (int y = greater(first, from); y < lesser(last, to); ++y) visit(y);
    }
};

// How many layers a thread has advanced. Its neighbours read rows of its own, and it overwrites what they are done
// with.
class alignas(128) Progress {
  public:
    void report(int layers) {
        #pragma omp atomic write release
        layers_ = layers;
    }
    void await(int needed) const {
        constexpr int longest_patience = 1 << 12;  // looks, before another thread may have the processor
        for (int looks = 0; advanced() < needed; ++looks) {
            if (looks >= longest_patience) sched_yield();
#if defined(__SSE2__)
            __builtin_ia32_pause();
#endif
        }
    }

  private:
    int advanced() const {
        int layers;
        #pragma omp atomic read acquire
        layers = layers_;
        return layers;
    }

    int layers_ = 0;
};

// Returns when both neighbours of a thread have advanced so many layers.
inline void await_neighbours(const Words<Progress>& progress, int thread, int threads, int needed) {
    if (thread > 0) progress[thread - 1].await(needed);
    if (thread + 1 < threads) progress[thread + 1].await(needed);
}

constexpr int behind = 2 * half - 1;   // layers by which a time step lags behind the one before
// of new values: so many a time step looks back, and so far behind the next one is
constexpr int layers_kept = 2 * half;

// Cells around the others that a time step computes for those after it.
constexpr int around(int level) { return (levels - 1 - level) * behind; }

// Whole rows of cells that the team takes through all planes together, and a thread's part of the rows that are
// computed for them.
struct Rows {
    int first, last;
    Share own;

    Rows(int first_row, int last_row, int thread, int threads)
        : first(first_row), last(last_row),
            own(first - around(0) + 1 - half, last + around(0) + half, thread, threads) {
    }
    // Calls visit(row) for the thread's own among those that lie less than `before` below the cells or `after` above
    // them.
    template <typename Visit>
    void visit(int before, int after, const Visit& visit) const {
        own.visit(first - before, last + after, visit);
    }
};

// New values of all time steps, in the caches: of every field the last layers, of all rows that the team takes at a
// time; and of each thread two rows.
class Rings {
  public:
    Rings(int nx, int rows, int threads)
        : rows_(rows + 2 * around(0) + 2 * half - 1),
          row_words_((side + lines(nx + around(0) + half)) / line_words % 2 == 0
              ? side + lines(nx + around(0) + half) + line_words
                                                                                 : side + lines(nx + around(0) + half)),
          storage_(new real[((wide(fields) * layers_kept * rows_ + 2 * threads) * row_words_ + 2 * line_words)]) {
        const auto address = reinterpret_cast<__UINTPTR_TYPE__>(storage_);
        start_ = storage_ + (line_words - address / sizeof(real) % line_words) % line_words + side;
    }
    ~Rings() { delete[] storage_; }
    Rings(const Rings&) = delete;
    Rings& operator=(const Rings&) = delete;
    // At the first cell of a row that is counted from the team's first one.
    real* v(int level, int layer, int row) const { return place(4 * level, layer, row); }
    real* w(int level, int layer, int row) const { return place(4 * level + 1, layer, row); }
    // Not of the last time step.
    real* u(int level, int layer, int row) const { return place(4 * level + 2, layer, row); }
    real* p(int level, int layer, int row) const { return place(4 * level + 3, layer, row); }
    real* own(int thread, int number) const {
        return start_ + (wide(fields) * layers_kept * rows_ + 2 * thread + number) * row_words_;
    }
    wide stride() const { return row_words_; }

  private:
    static constexpr int fields = 4 * levels - 2, side = lines(around(0) + half - 1) + line_words;
    real* place(int field, int layer, int row) const {
        const wide number = (wide(field) * layers_kept + (layer + ghost) % layers_kept) * rows_ + row + around(0) + half
            - 1;
        return start_ + number * row_words_;
    }

    wide rows_, row_words_;
    real* storage_;  // not filled: the threads that use them touch them first
    real* start_;
};

}  // namespace

// `levels` time steps of the planes [first, last) in one pass: all threads go through them together, each with its
// share of every plane's rows, and keep at their neighbours' pace. The pressures follow the velocities half the order
// behind, and every time step the one before. So nothing is computed twice but, of several time steps, what lies around
// the cells.
extern "C" void acoustics_step(
    const real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ w, const real* __restrict__ kappa, const real* __restrict__ bx,
    const real* __restrict__ by, const real* __restrict__ bz, real* __restrict__ p_next,
    real* __restrict__ u_next, real* __restrict__ v_next, real* __restrict__ w_next, int nx, int ny,
    int nz, int pitch, int first, int last, int y_block, int words_ahead
) {
    (void)nz;
    const Damping damping;
    const real* const along = w;
    real* const along_next = w_next;
    const real *b_x = bx, *b_y = by, *b_along = bz;
    (void)b_y;
    const Layout layout(ny, pitch);
    const auto medium = [](wide at) { return array_media ? at : 0; };
    const auto place = [&](int y, int layer) {
        return (layer + ghost) * layout.plane + (y + ghost) * layout.pitch + left;
    };
    // What the first time step asks for: the others find theirs, and the media, in the caches.
    const auto with = [&](int level, const real* velocity, const real* b, wide at, const real* pressures) {
        return level > 0 ? Asked()
            : Asked{words_ahead, pitch, {velocity + at, array_media ? b + at : nullptr, pressures}};
    };
    // One time step of a layer of faces, and of the pressures that these complete.
    const auto advance = [&](const Rows& rows, const Rings& rings, int thread, int level, int face) {
        const int beside = around(level), before = lines(beside), row_end = pitch - left,
            n = before + lesser(lines(nx + beside), row_end);
        const int faces_before = lines(beside + half - 1),
            faces = faces_before + lesser(lines(nx + beside + half), row_end);
        const bool last_level = level + 1 == levels;
        const auto own = [&](int y, int layer) {
            return last_level && y >= rows.first && y < rows.last && layer >= first && layer < last;
        };
        const auto old_p = [&](int y, int layer) {
            return level == 0 ? p + place(y, layer) : rings.p(level - 1, layer, y - rows.first);
        };
        const bool in_planes = face >= first - beside && face < last + beside;
        if (face >= first - beside + 1 - half && face < last + beside + half)
            rows.visit(beside + half - 1, beside + half, [&](int y) {
                const wide at = place(y, face) - before;
                const int row = y - rows.first;
                const real* pressures[2 * half];
                if (y >= rows.first - beside && y < rows.last + beside) {
                    for (int k = 0; k < 2 * half; ++k) pressures[k] = old_p(y, face + k - half) - before;
                    velocity_between(rings.w(level, face, row) - before,
                        level == 0 ? along + at : rings.w(level - 1, face, row) - before,
                                     b_along + medium(at), pressures, n, damping.face_along(face),
                                     with(level, along, b_along, at, pressures[2 * half - 1]),
                                     {own(y, face) ? along_next + at + before : nullptr, before, nx});
                }
                if (in_planes)
                    velocity_row(rings.v(level, face, row) - before,
                        level == 0 ? v + at : rings.v(level - 1, face, row) - before, b_y + medium(at),
                                 old_p(y, face) - before, n, level == 0 ? layout.pitch : rings.stride(),
                                     damping.face_y(y),
                                 with(level, v, b_y, at, nullptr),
                                     {own(y, face) ? v_next + at + before : nullptr, before, nx});
            });
        const int layer = face - half;
        if (layer < first - beside || layer >= last + beside) return;
        rows.visit(beside, beside, [&](int y) {
            const wide at = place(y, layer);
            const int row = y - rows.first;
            const bool kept = own(y, layer);
            real* const across = last_level ? rings.own(thread, 0) : rings.u(level, layer, row);
            velocity_row(across - faces_before, (level == 0 ? u + at : rings.u(level - 1, layer, row)) - faces_before,
                         b_x + medium(at - faces_before), old_p(y, layer) - faces_before, faces, 1,
                             damping.faces_x(-faces_before),
                         with(level, u, b_x, at - faces_before, nullptr),
                             {kept ? u_next + at : nullptr, faces_before, nx});
            const real* along_layers[2 * half];
            for (int k = 0; k < 2 * half; ++k) along_layers[k] = rings.w(level, layer + 1 - half + k, row) - before;
            real* const to = last_level ? rings.own(thread, 1) : rings.p(level, layer, row);
            pressure_row(to - before, old_p(y, layer) - before, kappa + medium(at - before), across - before,
                rings.v(level, layer, row) - before,
                         rings.stride(), along_layers, n, damping.centres_x(-before), damping.centre(y, layer),
                         {words_ahead, pitch, {array_media && level == 0 ? kappa + at - before : nullptr}},
                             {kept ? p_next + at : nullptr, before, nx});
        });
    };
    const int most_threads = omp_get_max_threads();
    const auto rows_at_a_time = [&](int threads) {
        const wide most = static_cast<wide>(y_block) * threads, times = (ny + most - 1) / most;
        return static_cast<int>((ny + times - 1) / times);
    };
    Words<Progress> progress(most_threads);
    const Rings rings(nx, lesser<wide>(ny, static_cast<wide>(y_block) * most_threads), most_threads);
    #pragma omp parallel
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads(), count = rows_at_a_time(threads);
        int advanced = 0;
        for (int y = 0; y < ny; y += count) {
            const Rows rows(y, lesser(y + count, ny), thread, threads);
            // A neighbour is to have read what is overwritten now, and written what is read: M layers away, or one less
            // between time steps.
            constexpr int slack = levels == 1 ? half - 1 : half - 2;
            for (int face = first - around(0) + 1 - half; face < last + around(0) + half; ++face) {
                await_neighbours(progress, thread, threads, advanced - slack);
                for (int level = 0; level < levels; ++level) advance(rows, rings, thread, level, face - level * behind);
                progress[thread].report(++advanced);
            }
            #pragma omp barrier
        }
    }
}
