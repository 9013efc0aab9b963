#include <algorithm>

void reduction(const real* x, real* sum, real* parts, int n)
{
    const long chunks = (long(n) + chunk - 1) / chunk;
    #pragma omp parallel for
    for (long c = 0; c < chunks; ++c) {
        const long begin = c * chunk, end = std::min<long>(begin + chunk, n), whole = begin + (end - begin) / lanes * lanes;
        real own[lanes] = {};
        for (long i = begin; i < whole; i += lanes)
            for (int lane = 0; lane < lanes; ++lane) own[lane] += x[i + lane];
        for (long i = whole; i < end; ++i) own[0] += x[i];
        real part = 0;
        for (const real one : own) part += one;
        parts[c] = part;
    }
    real all = 0;
    for (long c = 0; c < chunks; ++c) all += parts[c];
    *sum = all;
}
