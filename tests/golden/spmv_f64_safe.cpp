// csr_spmv: y = A x, 1 component, f64
// hone emit csr_spmv kernel=apply components=1 vectors=split precision=f64 rows=100000 entries=2700000 --target cpu
//     --config form=vector,vector_bytes=32,components_at_once=one,schedule=static,threads=all,binding=none
// The same text serves every matrix.
// per entry: 2 operations, 12 bytes (compulsory), without the vectors
#include <algorithm>

using real = double;
using wide = long long;  // a position in an array
constexpr int components = 1, at_once = 1;  // components that one pass over a row works on
constexpr int chunk_rows = 32, partial_sums = 32, vector_words = 4;

namespace {

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Where a component of a row lies in vectors of `count` words each.
inline wide place(wide row, int component, int count) {
    return row;
}

// A row's entries [begin, end) times `at_once` components of x. Entry j goes to partial sum j % partial_sums; these are
// joined partial_sums / 2 apart, then a quarter, and so on.
inline void multiply_row(const real* values, const int* column_indices, const real* x, int columns, int begin, int end,
    int component, real* product) {
    real sum[at_once][partial_sums] = {};
    const auto add = [&](int at, int count) {
        #pragma omp simd simdlen(vector_words)
        for (int j = 0; j < count; ++j) {
            const real value = values[at + j];
            const wide column = column_indices[at + j];
            sum[0][j] = multiply_add(value, x[place(column, component + 0, columns)], sum[0][j]);
        }
    };
    int at = begin;
    for (; at + partial_sums <= end; at += partial_sums) add(at, partial_sums);
    if (at < end) add(at, end - at);
    for (int c = 0; c < at_once; ++c) {
        for (int i = 0; i < 16; ++i) sum[c][i] += sum[c][i + 16];
        for (int i = 0; i < 8; ++i) sum[c][i] += sum[c][i + 8];
        for (int i = 0; i < 4; ++i) sum[c][i] += sum[c][i + 4];
        for (int i = 0; i < 2; ++i) sum[c][i] += sum[c][i + 2];
        for (int i = 0; i < 1; ++i) sum[c][i] += sum[c][i + 1];
        product[c] = sum[c][0];
    }
}

}  // namespace

// The rows [first, last), in chunks of `chunk_rows`.
extern "C" void csr_spmv(
    const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,
    const real* __restrict__ x, real* __restrict__ y,
    int rows, int columns, int first, int last
) {
    const int chunks = (last - first + chunk_rows - 1) / chunk_rows;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const int begin = first + chunk * chunk_rows, end = std::min(begin + chunk_rows, last);
            for (int component = 0; component < components; component += at_once) {
                for (int row = begin; row < end; ++row) {
                    real product[at_once];
                    multiply_row(values, column_indices, x, columns, row_starts[row], row_starts[row + 1], component,
                        product);
                    for (int c = 0; c < at_once; ++c) {
                        y[place(row, component + c, rows)] = product[c];
                    }
                }
            }
        }
    }
}
