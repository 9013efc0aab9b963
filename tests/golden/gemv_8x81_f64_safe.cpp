// batched_gemv: y = A x, 8 x 81, f64
// hone emit batched_gemv form=n x=each update=set precision=f64 m=8 n=81 batch=100000 --target cpu --config
//     form=passes,columns=4,threads=all,binding=none
// The same text serves any number of matrices.
// per product: 1296 operations, 5896 bytes (compulsory)
using real = double;
constexpr int m = 8;
constexpr long long stride_a = 648, stride_x = 81, stride_y = 8;  // words from one to the next

static inline void put(real* to, real sum) { *to = sum; }

// Threads share the range.
extern "C" void batched_gemv(const real* __restrict a, const real* __restrict x, real* __restrict y, int first,
    int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long matrix = first; matrix < last; ++matrix) {
            const real* const own = a + matrix * stride_a;
            const real* const factor = x + matrix * stride_x;
            real* const result = y + matrix * stride_y;
            real sum[m] = {};
            for (int column = 0; column < 80; column += 4) {
                #pragma omp simd
                for (int row = 0; row < m; ++row)
                    sum[row] += own[(column + 0) * m + row] * factor[column + 0]
                        + own[(column + 1) * m + row] * factor[column + 1]
                        + own[(column + 2) * m + row] * factor[column + 2]
                        + own[(column + 3) * m + row] * factor[column + 3];
            }
            #pragma omp simd
            for (int row = 0; row < m; ++row) sum[row] += own[(80 + 0) * m + row] * factor[80 + 0];
            for (int row = 0; row < m; ++row) put(result + row, sum[row]);
        }
    }
}
