// A block's threads bring `block` bodies into shared memory, and each thread adds up what these do to its own.
__global__ void nbody(const real* position, const real* mass, const real* softening, real* acceleration, int n, int first, int last)
{
    __shared__ real other[4][block];
    const real* const x = position, * const y = x + n, * const z = y + n;
    const real soft = *softening;
    real own[bodies][3], sum[bodies][3] = {};
    for (int b = 0; b < bodies; ++b) {
        const int place = first + (blockIdx.x * bodies + b) * block + threadIdx.x, i = min(place, n - 1);
        own[b][0] = x[i], own[b][1] = y[i], own[b][2] = z[i];
    }
    for (int j0 = 0; j0 < n; j0 += block) {
        const int place = j0 + threadIdx.x, j = min(place, n - 1);
        other[0][threadIdx.x] = x[j], other[1][threadIdx.x] = y[j], other[2][threadIdx.x] = z[j];
        other[3][threadIdx.x] = place < n ? mass[j] : 0;
        __syncthreads();
        #pragma unroll unrolled
        for (int k = 0; k < block; ++k)
            for (int b = 0; b < bodies; ++b) {
                const real dx = other[0][k] - own[b][0], dy = other[1][k] - own[b][1], dz = other[2][k] - own[b][2];
                const real near = 1 / sqrt(dx * dx + dy * dy + dz * dz + soft), pull = other[3][k] * near * near * near;
                sum[b][0] += pull * dx, sum[b][1] += pull * dy, sum[b][2] += pull * dz;
            }
        __syncthreads();
    }
    for (int b = 0; b < bodies; ++b) {
        const int i = first + (blockIdx.x * bodies + b) * block + threadIdx.x;
        for (int axis = 0; axis < 3; ++axis)
            if (i < last) acceleration[(long long)axis * n + i] = sum[b][axis];
    }
}
