#include <algorithm>

constexpr int side = 2 * radius + 1;

void convolution(const real* picture, const real* weights, real* result, int width, int height)
{
    const long pitch = width + 2 * radius;
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < height; ++y)
        for (int x0 = 0; x0 < width; x0 += tile_x) {
            const int count = std::min(tile_x, width - x0);
            real sums[tile_x] = {};
            for (int j = 0; j < side; ++j) {
                const real* const row = picture + (y + j) * pitch + x0;
#if filter_loop_unrolled
                #pragma GCC unroll 33
#else
                #pragma GCC unroll 1
#endif
                for (int i = 0; i < side; ++i) {
                    const real weight = weights[j * side + i];
                    for (int x = 0; x < count; ++x) sums[x] += weight * row[x + i];
                }
            }
            std::copy_n(sums, count, result + long(y) * width + x0);
        }
}
