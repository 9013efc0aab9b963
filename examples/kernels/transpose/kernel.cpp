#include <algorithm>

void transpose(const real* a, real* b, int rows, int columns)
{
    #pragma omp parallel for collapse(2)
    for (long y0 = 0; y0 < rows; y0 += tile_y)
        for (long x0 = 0; x0 < columns; x0 += tile_x) {
            const long y1 = std::min<long>(y0 + tile_y, rows), x1 = std::min<long>(x0 + tile_x, columns);
#if inner_rows
            for (long x = x0; x < x1; ++x)
                for (long y = y0; y < y1; ++y) b[x * rows + y] = a[y * columns + x];
#else
            for (long y = y0; y < y1; ++y)
                for (long x = x0; x < x1; ++x) b[x * rows + y] = a[y * columns + x];
#endif
        }
}
