#include <cmath>

void reference(const real* position, const real* mass, const real* softening, real* acceleration, int n, int first, int last)
{
    for (long i = first; i < last; ++i) {
        real sum[3] = {};
        for (long j = 0; j < n; ++j) {
            real d[3], square = *softening;
            for (long axis = 0; axis < 3; ++axis) d[axis] = position[axis * n + j] - position[axis * n + i], square += d[axis] * d[axis];
            for (long axis = 0; axis < 3; ++axis) sum[axis] += mass[j] * d[axis] / (square * std::sqrt(square));
        }
        for (long axis = 0; axis < 3; ++axis) acceleration[axis * n + i] = sum[axis];
    }
}
