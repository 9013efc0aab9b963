// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cpu --config form=rows,
//     y_block=4,z_block=4,vector_bytes=64,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int vector_words = 16;

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
    real s[27];
    real operator()(int k, int) const { return s[k]; }
};

inline Stencil stencil_of_row(const real* stencil, wide y, wide z, int ny, int nz, int pitch) {
    (void)y, (void)z, (void)ny, (void)nz, (void)pitch;
    Stencil row;
    for (int k = 0; k < 27; ++k) row.s[k] = stencil[k];
    return row;
}

// Both colours of a row, x counted from 1. All other rows keep their values meanwhile, so they are read once, and every
// loop runs over contiguous words: what belongs to the other colour is computed too and not stored, which costs less
// than loads with a stride. `rest` and `odd` are buffers of nx + 2 words. `s` is a copy: no store reaches it, so that
// what does not depend on x stays in registers.
inline void relax_row(real* u, const real* f, const Stencil s, int nx, wide pitch, wide plane,
                      real* __restrict rest, real* __restrict odd) {
    // First colour, odd x: all neighbours are old.
    odd[0] = u[0];
    odd[nx + 1] = u[nx + 1];
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = f[x];
        sum = multiply_add(s(0, x), -u[x - plane - pitch - 1], sum);
        sum = multiply_add(s(1, x), -u[x - plane - pitch], sum);
        sum = multiply_add(s(2, x), -u[x - plane - pitch + 1], sum);
        sum = multiply_add(s(3, x), -u[x - plane - 1], sum);
        sum = multiply_add(s(4, x), -u[x - plane], sum);
        sum = multiply_add(s(5, x), -u[x - plane + 1], sum);
        sum = multiply_add(s(6, x), -u[x - plane + pitch - 1], sum);
        sum = multiply_add(s(7, x), -u[x - plane + pitch], sum);
        sum = multiply_add(s(8, x), -u[x - plane + pitch + 1], sum);
        sum = multiply_add(s(9, x), -u[x - pitch - 1], sum);
        sum = multiply_add(s(10, x), -u[x - pitch], sum);
        sum = multiply_add(s(11, x), -u[x - pitch + 1], sum);
        sum = multiply_add(s(15, x), -u[x + pitch - 1], sum);
        sum = multiply_add(s(16, x), -u[x + pitch], sum);
        sum = multiply_add(s(17, x), -u[x + pitch + 1], sum);
        sum = multiply_add(s(18, x), -u[x + plane - pitch - 1], sum);
        sum = multiply_add(s(19, x), -u[x + plane - pitch], sum);
        sum = multiply_add(s(20, x), -u[x + plane - pitch + 1], sum);
        sum = multiply_add(s(21, x), -u[x + plane - 1], sum);
        sum = multiply_add(s(22, x), -u[x + plane], sum);
        sum = multiply_add(s(23, x), -u[x + plane + 1], sum);
        sum = multiply_add(s(24, x), -u[x + plane + pitch - 1], sum);
        sum = multiply_add(s(25, x), -u[x + plane + pitch], sum);
        sum = multiply_add(s(26, x), -u[x + plane + pitch + 1], sum);
        rest[x] = sum;
        odd[x] = multiply_add(s(14, x), -u[x + 1], multiply_add(s(12, x), -u[x - 1], sum)) * s(13, x);
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
    Words<real> rest{nx + 2}, odd{nx + 2};

    // Both colours of row y of plane z.
    void relax(int y, int z) {
        const wide plane = wide(ny + 2) * pitch, row = (z + 1) * plane + (y + 1) * wide(pitch);
        relax_row(u + row, f + row, stencil_of_row(stencil, y, z, ny, nz, pitch), nx, pitch, plane,
                  rest.data(), odd.data());
    }
};

}  // namespace

// Two colours, which differ in x only, of the planes [first, last): rows of this parity of y and z are never neighbours
// of each other.
extern "C" void gauss_seidel_27(
    real* u, const real* f, const real* stencil, int nx, int ny, int nz, int pitch, int first, int last,
    int y_block, int z_block, int row_parity
) {
    const int y_parity = row_parity & 1, z_parity = row_parity >> 1;
    #pragma omp parallel
    {
        Rows rows{u, f, stencil, nx, ny, nz, pitch};
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block)
                for (int z = z_begin + (z_begin + z_parity) % 2; z < lesser(z_begin + z_block, last); z += 2)
                    for (int y = y_begin + y_parity; y < lesser(y_begin + y_block, ny); y += 2) rows.relax(y, z);
    }
}
