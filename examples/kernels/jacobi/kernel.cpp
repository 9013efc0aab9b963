#include <algorithm>
void jacobi(const real* u, const real* f, real* next, int size)
{
    const long pitch = size + 2;
    #pragma omp parallel for collapse(2)
    for (int y0 = 1; y0 <= size; y0 += tile_y)
        for (int x0 = 1; x0 <= size; x0 += tile_x)
            for (int y = y0; y < std::min(y0 + tile_y, size + 1); ++y)
                #pragma omp simd
                for (long i = y * pitch + x0; i < y * pitch + std::min(x0 + tile_x, size + 1); ++i)
                    next[i] = (u[i - 1] + u[i + 1] + u[i - pitch] + u[i + pitch] + f[i]) / 4;
}
