// As it was written for another tuner: its own order of arguments, block_size_x and the others as macros.
__global__ void __launch_bounds__(block_size_x) saxpy(float* __restrict__ z, float alpha, const float* __restrict__ x, float* y, int n)
{
    const int begin = blockIdx.x * block_size_x * points;
#pragma unroll
    for (int i = 0; i < points; ++i) {
#if adjacent
        const int at = begin + threadIdx.x * points + i;
#else
        const int at = begin + i * block_size_x + threadIdx.x;
#endif
        if (at < n) z[at] = alpha * x[at] + y[at];
    }
}
