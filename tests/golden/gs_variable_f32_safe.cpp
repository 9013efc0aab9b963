// gauss_seidel_27: variable stencil, f32
// hone emit gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96 --target cpu --config form=rows,
//     y_block=4,z_block=4,vector_bytes=64,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 120 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int y_block = 4;
constexpr int z_block = 4;
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

// Coefficient k of point x of a row.
struct Stencil {
    const real* row;
    wide stride;
    real operator()(int k, int x) const { return row[k * stride + x]; }
};

inline Stencil stencil_of_row(const real* stencil, wide y, wide z, int ny, int nz, int pitch) {
    return {stencil + (z * ny + y) * pitch, wide(nz) * ny * pitch};
}

// Both colours of a row, x counted from 1. All other rows keep their values meanwhile, so they are read once, and every
// loop runs over contiguous words: what belongs to the other colour is computed too and not stored, which costs less
// than loads with a stride. `rest` and `odd` are buffers of nx + 2 words.
inline void relax_row(real* u, const real* f, const Stencil& s, int nx, wide pitch, wide plane, real* __restrict rest,
    real* __restrict odd) {
    // First colour, odd x: all neighbours are old.
    odd[0] = u[0];
    odd[nx + 1] = u[nx + 1];
    // Six coefficients at a time: their arrays lie whole pages apart, so that the words of one point share a place in
    // the nearest cache, which holds 8 to 12 lines there, not 27.
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = f[x];
        sum = sum - s(0, x) * u[x - plane - pitch - 1] - s(1, x) * u[x - plane - pitch]
            - s(2, x) * u[x - plane - pitch + 1];
        sum = sum - s(3, x) * u[x - plane - 1] - s(4, x) * u[x - plane] - s(5, x) * u[x - plane + 1];
        rest[x] = sum;
    }
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = rest[x];
        sum = sum - s(6, x) * u[x - plane + pitch - 1] - s(7, x) * u[x - plane + pitch]
            - s(8, x) * u[x - plane + pitch + 1];
        sum = sum - s(9, x) * u[x - pitch - 1] - s(10, x) * u[x - pitch] - s(11, x) * u[x - pitch + 1];
        rest[x] = sum;
    }
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = rest[x];
        sum = sum - s(15, x) * u[x + pitch - 1] - s(16, x) * u[x + pitch] - s(17, x) * u[x + pitch + 1];
        sum = sum - s(18, x) * u[x + plane - pitch - 1] - s(19, x) * u[x + plane - pitch]
            - s(20, x) * u[x + plane - pitch + 1];
        rest[x] = sum;
    }
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = rest[x];
        sum = sum - s(21, x) * u[x + plane - 1] - s(22, x) * u[x + plane] - s(23, x) * u[x + plane + 1];
        sum = sum - s(24, x) * u[x + plane + pitch - 1] - s(25, x) * u[x + plane + pitch]
            - s(26, x) * u[x + plane + pitch + 1];
        rest[x] = sum;
        odd[x] = (sum - s(12, x) * u[x - 1] - s(14, x) * u[x + 1]) * s(13, x);
    }
    // Second colour, even x: both neighbours in the row are new.
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        const real even = (rest[x] - s(12, x) * odd[x - 1] - s(14, x) * odd[x + 1]) * s(13, x);
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
        relax_row(u + row, f + row, stencil_of_row(stencil, y, z, ny, nz, pitch), nx, pitch, plane, rest.data(),
            odd.data());
    }
};

}  // namespace

// Two colours, which differ in x only, of the planes [first, last): rows of this parity of y and z are never neighbours
// of each other.
extern "C" void gauss_seidel_27(real* u, const real* f, const real* stencil, int nx, int ny, int nz, int pitch,
    int first, int last, int row_parity) {
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
