// gauss_seidel_27: variable stencil, f32
// hone emit gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96 --target cpu --config form=wave,
//     z_block=2,vector_bytes=64,fetch_ahead=4,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 120 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int vector_words = 16;
constexpr int stencil_arrays = 27;

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

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Coefficient k of point x of a row.
struct Stencil {
    const real* row;
    wide stride;
    real operator()(int k, int x) const { return row[k * stride + x]; }
};

inline Stencil stencil_of_row(const real* stencil, wide y, wide z, int ny, int nz, int pitch) {
    return {stencil + (z * ny + y) * pitch, wide(nz) * ny * pitch};
}

// Asks for a fourth of the stencils' arrays, words from `begin` on of the row that lies `ahead` words further, to be
// brought into the second cache: a row is too short a run for the processor to see what comes next.
constexpr int words_at_once = 64;
inline void fetch(const Stencil& s, int fourth, int begin, wide ahead) {
    constexpr int line_words = 64 / sizeof(real);
    for (int n = stencil_arrays * fourth / 4; n < stencil_arrays * (fourth + 1) / 4; ++n)
        for (int x = begin; x < begin + words_at_once; x += line_words)
            __builtin_prefetch(s.row + n * s.stride + ahead + x, 0, 2);
}

// Both colours of a row, x counted from 1. All other rows keep their values meanwhile, so they are read once, and every
// loop runs over contiguous words: what belongs to the other colour is computed too and not stored, which costs less
// than loads with a stride. `rest` and `odd` are buffers of nx + 2 words. `s` is a copy: no store reaches it, so that
// what does not depend on x stays in registers.
inline void relax_row(real* u, const real* f, const Stencil s, int nx, wide pitch, wide plane,
                      wide ahead,
                      real* __restrict rest, real* __restrict odd) {
    // First colour, odd x: all neighbours are old.
    odd[0] = u[0];
    odd[nx + 1] = u[nx + 1];
    // Six coefficients at a time: their arrays lie whole pages apart, so that the words of one point share a place in
    // the nearest cache, which holds 8 to 12 lines there, not 27.
    for (int begin = 1; begin <= nx; begin += words_at_once) {
        const int end = lesser(begin + words_at_once, nx + 1);
        fetch(s, 0, begin, ahead);
        #pragma omp simd simdlen(vector_words)
        for (int x = begin; x < end; ++x) {
            real sum = f[x];
            sum = multiply_add(s(0, x), -u[x - plane - pitch - 1], sum);
            sum = multiply_add(s(1, x), -u[x - plane - pitch], sum);
            sum = multiply_add(s(2, x), -u[x - plane - pitch + 1], sum);
            sum = multiply_add(s(3, x), -u[x - plane - 1], sum);
            sum = multiply_add(s(4, x), -u[x - plane], sum);
            sum = multiply_add(s(5, x), -u[x - plane + 1], sum);
            rest[x] = sum;
        }
    }
    for (int begin = 1; begin <= nx; begin += words_at_once) {
        const int end = lesser(begin + words_at_once, nx + 1);
        fetch(s, 1, begin, ahead);
        #pragma omp simd simdlen(vector_words)
        for (int x = begin; x < end; ++x) {
            real sum = rest[x];
            sum = multiply_add(s(6, x), -u[x - plane + pitch - 1], sum);
            sum = multiply_add(s(7, x), -u[x - plane + pitch], sum);
            sum = multiply_add(s(8, x), -u[x - plane + pitch + 1], sum);
            sum = multiply_add(s(9, x), -u[x - pitch - 1], sum);
            sum = multiply_add(s(10, x), -u[x - pitch], sum);
            sum = multiply_add(s(11, x), -u[x - pitch + 1], sum);
            rest[x] = sum;
        }
    }
    for (int begin = 1; begin <= nx; begin += words_at_once) {
        const int end = lesser(begin + words_at_once, nx + 1);
        fetch(s, 2, begin, ahead);
        #pragma omp simd simdlen(vector_words)
        for (int x = begin; x < end; ++x) {
            real sum = rest[x];
            sum = multiply_add(s(15, x), -u[x + pitch - 1], sum);
            sum = multiply_add(s(16, x), -u[x + pitch], sum);
            sum = multiply_add(s(17, x), -u[x + pitch + 1], sum);
            sum = multiply_add(s(18, x), -u[x + plane - pitch - 1], sum);
            sum = multiply_add(s(19, x), -u[x + plane - pitch], sum);
            sum = multiply_add(s(20, x), -u[x + plane - pitch + 1], sum);
            rest[x] = sum;
        }
    }
    for (int begin = 1; begin <= nx; begin += words_at_once) {
        const int end = lesser(begin + words_at_once, nx + 1);
        fetch(s, 3, begin, ahead);
        #pragma omp simd simdlen(vector_words)
        for (int x = begin; x < end; ++x) {
            real sum = rest[x];
            sum = multiply_add(s(21, x), -u[x + plane - 1], sum);
            sum = multiply_add(s(22, x), -u[x + plane], sum);
            sum = multiply_add(s(23, x), -u[x + plane + 1], sum);
            sum = multiply_add(s(24, x), -u[x + plane + pitch - 1], sum);
            sum = multiply_add(s(25, x), -u[x + plane + pitch], sum);
            sum = multiply_add(s(26, x), -u[x + plane + pitch + 1], sum);
            rest[x] = sum;
            odd[x] = multiply_add(s(14, x), -u[x + 1], multiply_add(s(12, x), -u[x - 1], sum)) * s(13, x);
        }
    }
    // Second colour, even x: both neighbours in the row are new.
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        const real even = multiply_add(s(14, x), -odd[x + 1], multiply_add(s(12, x), -odd[x - 1], rest[x])) * s(13, x);
        u[x] = x % 2 == 1 ? odd[x] : even;
    }
}

// A grid with its arrays, and one thread's buffers. Rows and planes count from 0.
struct Rows {
    real* u;
    const real* f;
    const real* stencil;
    int nx, ny, nz, pitch;
    int fetch_ahead;  // rows
    Words<real> rest{nx + 2}, odd{nx + 2};

    // Both colours of row y of plane z; nothing for a row beyond the grid.
    void relax(int y, int z) {
        if (y < 0 || y >= ny) return;
        const wide plane = wide(ny + 2) * pitch, row = (z + 1) * plane + (y + 1) * wide(pitch);
        relax_row(u + row, f + row, stencil_of_row(stencil, y, z, ny, nz, pitch), nx, pitch, plane,
                  fetch_ahead * wide(pitch),
                  rest.data(), odd.data());
    }
};

// Plane z, and the plane below it as soon as its neighbours are done, in one walk along y: all four colours of a plane
// with two of its rows in the caches. Row y of the first colours of plane z comes before row y - 1 of its last colours,
// which needs it. Two and three rows behind, plane z - 1 finds new values in plane z; ahead of that it is still old, as
// plane z needs it.
void relax_planes(Rows& rows, int z, bool this_plane, bool plane_below) {
    constexpr int lag = 3;
    for (int y = 0; y < rows.ny + lag; y += 2) {
        if (this_plane) {
            rows.relax(y, z);
            rows.relax(y - 1, z);
        }
        if (plane_below) {
            rows.relax(y - 2, z - 1);
            rows.relax(y - 3, z - 1);
        }
    }
}

}  // namespace

// All eight colours of the planes [first, last). Colours 0 to 3 lie in even planes, 4 to 7 in odd ones. A thread takes
// blocks of `z_block` planes; the last odd plane of a block waits until the block above has its even planes.
extern "C" void gauss_seidel_27(
    real* u, const real* f, const real* stencil, int nx, int ny, int nz, int pitch, int first, int last,
    int z_block, int fetch_ahead
) {
    const auto in_range = [=](int z) { return z >= first && z < last; };
    const int even_first = first / 2 * 2, even_last = (last + 1) / 2 * 2;
    #pragma omp parallel
    {
        Rows rows{u, f, stencil, nx, ny, nz, pitch, fetch_ahead};
        #pragma omp for schedule(static)
        for (int begin = even_first; begin < even_last; begin += z_block)
            for (int z = begin; z < lesser(begin + z_block, even_last); z += 2)
                relax_planes(rows, z, in_range(z), z > begin && in_range(z - 1));
        #pragma omp for schedule(static)
        for (int begin = even_first; begin < even_last; begin += z_block) {
            const int end = lesser(begin + z_block, even_last);
            relax_planes(rows, end, false, in_range(end - 1));
        }
    }
}
