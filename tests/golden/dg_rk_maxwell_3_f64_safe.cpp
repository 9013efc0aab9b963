// dg_rk: maxwell_3d, order 3, f64
// hone emit dg_rk equation=maxwell_3d order=3 precision=f64 elements=100000 --target cpu --config form=stream,
//     elements_per_block=16,threads=all,binding=none
// The same text serves any number of elements.
// per element: 600 operations, 4800 bytes (compulsory); this form executes 600 operations
using real = double;
constexpr int nodes = 20, fields = 6, words = fields * nodes;
constexpr int elements_per_block = 16;


// Threads share the range in blocks of `elements_per_block` elements; a block's values lie in one piece.
extern "C" void
dg_rk(const real* __restrict rhs, const real* __restrict stage, real* __restrict res, real* __restrict q, int first,
    int last) {
    const real a = stage[0], b = stage[1], dt = stage[2];
    const long long blocks = (static_cast<long long>(last) - first + elements_per_block - 1) / elements_per_block;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long block = 0; block < blocks; ++block) {
            const long long begin = (first + block * elements_per_block) * words;
            const long long limit = static_cast<long long>(last) * words;
            const long long end = begin + elements_per_block * words < limit ? begin + elements_per_block * words
                : limit;
            #pragma omp simd
            for (long long at = begin; at < end; ++at) {
                const real residual = a * res[at] + dt * rhs[at];
                res[at] = residual;
                q[at] += b * residual;
            }
        }
    }
}
