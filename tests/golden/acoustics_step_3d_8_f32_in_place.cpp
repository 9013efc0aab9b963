// acoustics_staggered: 2 steps in one pass, in place, in 3D, order 2-8, array media, f32
// hone emit acoustics_staggered kernel=step dimension=3 order=8 media=array absorbing=none update=in_place levels=2
//     precision=f32 nx=512 ny=512 nz=512 --target cpu --config form=march,y_block=65536,layers_at_once=1,
//     vector_bytes=64,prefetch_bytes=1024,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 152 operations, 48 bytes (compulsory)
#include <omp.h>
#include <sched.h>

using real = float;
using wide = long long;  // a position in an array
constexpr int half = 4;  // half: M, half the order in space
constexpr int ghost = 16, left = 32;  // rows (and planes) before the first cell, and words of its row
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

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 8.
constexpr real weight(int m) {
    if (m == 1) return 1.1962890625f;
    if (m == 2) return -0.079752604166666671f;
    if (m == 3) return 0.0095703125000000007f;
    return -0.00069754464285714287f;
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

// New velocities of a row along an axis whose cells are `stride` apart. `to` may be `from`.
template <typename Factors>
inline void velocity_row(real* to, const real* from, const real* b, const real* p, int n, wide stride, Factors damping,
                         const Asked& asked) {
    (void)damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (p[x] - p[x - stride]);
            sum += weight(2) * (p[x + stride] - p[x - 2 * stride]);
            sum += weight(3) * (p[x + 2 * stride] - p[x - 3 * stride]);
            sum += weight(4) * (p[x + 3 * stride] - p[x - 4 * stride]);
            to[x] = from[x] - b[x] * sum;
        }
    });
}

// New pressures of a row. `across` are velocities along x, `rows` along y in rows that are `row_stride` apart, `along`
// those of the layers of faces around it. `damping`: factors along x; `across_damping` that of the other axes. `to` may
// be `p`.
inline void pressure_row(real* to, const real* p, const real* kappa, const real* across,
                         const real* rows, wide row_stride,
                         const real* along, wide layer_stride,
                         int n, const real* damping, real across_damping,
                         const Asked& asked) {
    (void)rows, (void)row_stride, (void)damping, (void)across_damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (across[x + 1] - across[x]);
            sum += weight(2) * (across[x + 2] - across[x - 1]);
            sum += weight(3) * (across[x + 3] - across[x - 2]);
            sum += weight(4) * (across[x + 4] - across[x - 3]);
            sum += weight(1) * (rows[x + row_stride] - rows[x]);
            sum += weight(2) * (rows[x + 2 * row_stride] - rows[x - row_stride]);
            sum += weight(3) * (rows[x + 3 * row_stride] - rows[x - 2 * row_stride]);
            sum += weight(4) * (rows[x + 4 * row_stride] - rows[x - 3 * row_stride]);
            sum += weight(1) * (along[x + layer_stride] - along[x]);
            sum += weight(2) * (along[x + 2 * layer_stride] - along[x - layer_stride]);
            sum += weight(3) * (along[x + 3 * layer_stride] - along[x - 2 * layer_stride]);
            sum += weight(4) * (along[x + 4 * layer_stride] - along[x - 3 * layer_stride]);
            to[x] = p[x] - kappa[x] * sum;
        }
    });
}

// Where the cells lie.
struct Layout {
    wide pitch, plane;

    Layout(int ny, int row) : pitch(row), plane(wide(ny + 2 * ghost) * row) {}
};

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

constexpr int reach = 2 * half - 1;  // cells by which a time step reads further than it writes
// layers by which a time step follows the one before: one more than it must, for neighbours to be as free
constexpr int lag = 2 * half;

// Cells around the others that a time step computes for those after it.
constexpr int around(int level) { return (levels - 1 - level) * reach; }

// Rows [first, last) of the first time step's velocities. Pressures lie half the order below them, and every time step
// `lag` below the one before: so the tiles after this one find old what they need old, and new what they need new.
struct Band {
    int first, last;
};

}  // namespace

// `levels` time steps of the planes [first, last), in place: all threads go through the planes together, each with its
// share of every plane's rows, and keep at their neighbours' pace. The pressures follow the velocities half the order
// behind, when nobody needs the old ones any more, and every time step the one before. So every array is read and
// written once.
extern "C" void acoustics_step(
    real* __restrict__ p, real* __restrict__ u, real* __restrict__ v, real* __restrict__ w,
    const real* __restrict__ kappa, const real* __restrict__ bx, const real* __restrict__ by,
    const real* __restrict__ bz, int nx, int ny, int nz, int pitch, int first, int last, int y_block,
    int words_ahead
) {
    (void)nz;
    const Damping damping;
    real* const along = w;
    const real *b_x = bx, *b_y = by, *b_along = bz;
    (void)b_y;
    const Layout layout(ny, pitch);
    const auto medium = [](wide at) { return array_media ? at : 0; };
    const auto place = [&](int y, int layer) {
        return (layer + ghost) * layout.plane + (y + ghost) * layout.pitch + left;
    };
    // What the first time step asks for: the others find theirs in the caches.
    const auto with = [&](int level, const real* velocity, const real* b, const real* pressures = nullptr) {
        return level > 0 ? Asked() : Asked{words_ahead, pitch, {velocity, array_media ? b : nullptr, pressures}};
    };
    // One time step of a layer of faces, and of the pressures that these complete.
    const auto advance = [&](const Share& own, const Band& band, int level, int face) {
        const int beside = around(level), n = nx + 2 * beside, first_row = band.first - level * lag,
            last_row = band.last - level * lag;
        const bool in_planes = face >= first - beside && face < last + beside;
        if (face >= first - beside + 1 - half && face < last + beside + half)
            own.visit(greater(first_row, 1 - half - beside), lesser(last_row, ny + beside + half), [&](int y) {
                const wide at = place(y, face) - beside;
                if (y >= -beside && y < ny + beside) {
                    const real* const newest = p + at + (half - 1) * layout.plane;
                    velocity_row(along + at, along + at, b_along + medium(at), p + at, n, layout.plane,
                        damping.face_along(face),
                                 with(level, along + at, b_along + at, newest));
                }
                if (in_planes)
                    velocity_row(v + at, v + at, b_y + medium(at), p + at, n, layout.pitch, damping.face_y(y),
                        with(level, v + at, b_y + at));
            });
        const int layer = face - half;
        if (layer < first - beside || layer >= last + beside) return;
        own.visit(greater(first_row - half, -beside), lesser(last_row - half, ny + beside), [&](int y) {
            const wide at = place(y, layer) - beside, across = at + 1 - half;
            velocity_row(u + across, u + across, b_x + medium(across), p + across, n + reach, 1,
                damping.faces_x(1 - half - beside),
                         with(level, u + across, b_x + across));
            pressure_row(p + at, p + at, kappa + medium(at), u + at, v + at, layout.pitch, along + at, layout.plane, n,
                damping.centres_x(-beside),
                         damping.centre(y, layer),
                             {words_ahead, pitch, {array_media && level == 0 ? kappa + at : nullptr}});
        });
    };
    constexpr int skew = half + (levels - 1) * lag;  // of the last pressures
    const int first_row = 1 - half - around(0), last_row = ny + around(0) + half;
    Words<Progress> progress(omp_get_max_threads());
    #pragma omp parallel
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const wide rows = ny + skew + half - first_row, most = static_cast<wide>(y_block) * threads,
            bands = (rows + most - 1) / most;
        int advanced = 0;
        for (wide number = 0; number < bands; ++number) {
            const Band band{first_row + static_cast<int>(rows * number / bands),
                first_row + static_cast<int>(rows * (number + 1) / bands)};
            const Share own(greater(first_row, band.first - skew), lesser(last_row, band.last), thread, threads);
            for (int face = first + first_row; face < last + skew; ++face) {
                // A neighbour is to have read what is overwritten now, and written what is read: M layers away.
                await_neighbours(progress, thread, threads, advanced - (half - 1));
                for (int level = 0; level < levels; ++level) advance(own, band, level, face - level * lag);
                progress[thread].report(++advanced);
            }
            #pragma omp barrier
        }
    }
}
