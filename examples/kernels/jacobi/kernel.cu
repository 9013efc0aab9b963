__global__ void jacobi(const real* u, const real* f, real* next, int size)
{
    const int x = 1 + blockIdx.x * block_x + threadIdx.x, y0 = 1 + (blockIdx.y * block_y + threadIdx.y) * rows;
    const long long pitch = size + 2;
    #pragma unroll
    for (int y = y0; y < y0 + rows; ++y)
        if (x <= size && y <= size) {
            const long long i = y * pitch + x;
            next[i] = (u[i - 1] + u[i + 1] + u[i - pitch] + u[i + pitch] + f[i]) / 4;
        }
}
