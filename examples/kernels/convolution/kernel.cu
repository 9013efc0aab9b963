constexpr int side = 2 * radius + 1, part_x = block_x + 2 * radius, part_y = block_y * points + 2 * radius;

__global__ void convolution(const real* picture, const real* weights, real* result, int width, int height)
{
    const int x0 = blockIdx.x * block_x, y0 = blockIdx.y * block_y * points;
    const long long pitch = width + 2 * radius;
#if staged
    __shared__ real part[part_y][part_x];
    for (int j = threadIdx.y; j < part_y; j += block_y)
        for (int i = threadIdx.x; i < part_x; i += block_x)
            if (x0 + i < pitch && y0 + j < height + 2 * radius) part[j][i] = picture[(y0 + j) * pitch + x0 + i];
    __syncthreads();
#endif
    const int x = x0 + threadIdx.x;
    for (int t = 0; t < points; ++t) {
        const int row = threadIdx.y + t * block_y, y = y0 + row;
        if (x >= width || y >= height) continue;
        real sum = 0;
        for (int j = 0; j < side; ++j)
            for (int i = 0; i < side; ++i)
#if staged
                sum += weights[j * side + i] * part[row + j][threadIdx.x + i];
#else
                sum += weights[j * side + i] * picture[(y + j) * pitch + x + i];
#endif
        result[(long long)y * width + x] = sum;
    }
}
