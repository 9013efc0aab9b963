// poisson7: apply, face coefficients, neumann, f64
// hone emit poisson7 kernel=apply coefficients=face boundary=neumann precision=f64 nx=128 ny=128 nz=128 --target cpu
//     --config form=blocks,y_block=16,z_block=16,vector_bytes=64,prefetch_rows=2,stores=plain,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 13 operations, 48 bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int y_block = 16, z_block = 16, vector_words = 8;
constexpr int strip_words = 256 / sizeof(real), rows_ahead = 2;  // rows from asking for words to their turn

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

// What the cells' updates take of the arguments.
struct Arrays {
    const real* p;
    const real* cx;
    const real* cy;
    const real* cz;
    const real* diagonal;
    real* w;
    int nx, ny, nz, pitch;
};

// Which of `cells` cells along an axis number n stands for, which may lie beyond them.
inline int source(int n, int cells) {
    return n < 0 ? 0 : n >= cells ? cells - 1 : n;
}
// Whether it is zero there instead.
inline bool is_zero(int n, int cells) {
    return false;
}

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Words whose first lies at the start of a vector.
class Buffer {
    Words<real> words;

    public:
    explicit Buffer(wide count) : words(count + 64 / sizeof(real)) {}
    real* data() {
        return words.data() + (64 - reinterpret_cast<__UINTPTR_TYPE__>(words.data()) % 64) % 64 / sizeof(real);
    }
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

// The rows that the stencil takes, which may lie one beyond the grid.
class Rows {
    const Arrays& a;

    wide position(int j, int k) const {
        return (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;
    }

    public:
    explicit Rows(const Arrays& arrays) : a(arrays) {}

    void begin(int, int, int) {}
    void load(int) {}

    const real* row(int j, int k) {
        return a.p + position(j, k);
    }
};

// Row j of plane k. `first_sums` are its columns' sums. Meanwhile the row (later_j, later_k) is asked for.
inline void update_row(const Arrays& a, Rows& of, int j, int k, int later_j, int later_k, real* first_sums) {
    const int nx = a.nx;
    const wide at = (wide(k) * a.ny + j) * a.pitch;
    const real *const row = of.row(j, k), *const south = of.row(j - 1, k), *const north = of.row(j + 1, k);
    const real *const below = of.row(j, k - 1), *const above = of.row(j, k + 1);
    const real* const diagonal = a.diagonal + at;
    real* const w = a.w + at;
    const wide plane = wide(a.ny) * a.pitch;
    const real *const cx = a.cx + at, *const c_south = a.cy + at, *const c_below = a.cz + at;
    const real* const c_north = c_south + (j + 1 < a.ny ? a.pitch : -wide(j) * a.pitch);
    const real* const c_above = c_below + (k + 1 < a.nz ? plane : -k * plane);
    const wide later_at = (wide(later_k) * a.ny + later_j) * a.pitch;
    const real* const asked[] =
        {of.row(later_j, later_k + 1), a.diagonal + later_at, a.w + later_at, a.cx + later_at, a.cy + later_at,
        a.cz + later_at + (later_k + 1 < a.nz ? wide(a.ny) * a.pitch : 0)};
    (void)first_sums;
    // A strip, given what lies beside a cell along x.
    const auto strip = [&](int first, auto count, const auto& west, const auto& east, const auto& c_behind) {
        for (const real* const words : asked) ask_for(words + first);
        real* const to_w = w + first;
        #pragma omp simd simdlen(vector_words)
        for (int n = 0; n < count; ++n) {
            const int i = first + n;
            const real in_row = multiply_add(c_behind(i), east(i), cx[i] * west(i));
            const real in_plane = multiply_add(c_north[i], north[i], multiply_add(c_south[i], south[i], in_row));
            const real sum = multiply_add(c_above[i], above[i], multiply_add(c_below[i], below[i], in_plane));
            const real new_w = multiply_add(diagonal[i], row[i], sum);
            to_w[n] = new_w;
        }
    };
    const auto before = [=](int i) { return row[i - 1]; };
    const auto behind = [=](int i) { return row[i + 1]; };
    const auto c_behind = [=](int i) { return cx[i + 1]; };
    const auto c_behind_or_first = [=](int i) { return i + 1 < nx ? cx[i + 1] : cx[0]; };
    const real before_first = is_zero(-1, nx) ? 0 : row[source(-1, nx)],
        behind_last = is_zero(nx, nx) ? 0 : row[source(nx, nx)];
    const auto before_or_end = [=](int i) { return i > 0 ? row[i - 1] : before_first; };
    const auto behind_or_end = [=](int i) { return i + 1 < nx ? row[i + 1] : behind_last; };
    in_strips(nx, [&](int first, auto count) {
        if (first > 0 && first + count < nx)
            strip(first, count, before, behind, c_behind);
        else
            strip(first, count, before_or_end, behind_or_end, c_behind_or_first);
    });
}


}  // namespace

// The planes [first, last). A thread takes `y_block` rows at a time and goes up `z_block` planes with them.
extern "C" void poisson7(
    const real* __restrict__ p,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ diagonal,
    real* __restrict__ w,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const Arrays a{p, cx, cy, cz, diagonal, w, nx, ny, nz, pitch};
    #pragma omp parallel
    {
        Rows of(a);
        const auto sums_of_row = [](int) { return static_cast<real*>(nullptr); };
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block) {
                const int z_end = lesser(z_begin + z_block, last), y_end = lesser(y_begin + y_block, ny);
                of.begin(y_begin, y_end, z_begin);
                for (int k = z_begin; k < z_end; ++k) {
                    of.load(k + 1);
                    for (int j = y_begin; j < y_end; ++j) {
                        // Of this plane while it lasts, then of the next.
                        const bool in_plane = j + rows_ahead < y_end;
                        const int later_j = in_plane ? j + rows_ahead
                            : lesser(y_begin + j + rows_ahead - y_end, y_end - 1);
                        update_row(a, of, j, k, later_j, in_plane ? k : lesser(k + 1, z_end - 1),
                            sums_of_row(j - y_begin));
                    }
                }
            }
    }
}
