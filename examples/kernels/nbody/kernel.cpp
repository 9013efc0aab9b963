#include <algorithm>
#include <cmath>

void nbody(const real* position, const real* mass, const real* softening, real* acceleration, int n, int first, int last)
{
    const real* const x = position, * const y = x + n, * const z = y + n;
    const real soft = *softening;
    #pragma omp parallel for
    for (int begin = first; begin < last; begin += group) {
        const int count = std::min(group, last - begin);
        real sum[3][group] = {};
        for (int j0 = 0; j0 < n; j0 += tile)
            for (int j = j0; j < std::min(j0 + tile, n); ++j) {
                #pragma omp simd
                for (int i = 0; i < count; ++i) {
                    const real dx = x[j] - x[begin + i], dy = y[j] - y[begin + i], dz = z[j] - z[begin + i];
                    const real near = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + soft), pull = mass[j] * near * near * near;
                    sum[0][i] += pull * dx, sum[1][i] += pull * dy, sum[2][i] += pull * dz;
                }
            }
        for (long axis = 0; axis < 3; ++axis) std::copy_n(sum[axis], count, acceleration + axis * n + begin);
    }
}
