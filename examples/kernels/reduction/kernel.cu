// The sum of what the threads of a block have, in thread 0.
__device__ real block_sum(real own)
{
    __shared__ real words[threads];
    words[threadIdx.x] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) words[threadIdx.x] += words[threadIdx.x + half];
        __syncthreads();
    }
    return words[0];
}

__global__ void partial_sums(const real* x, real* sum, real* parts, int n)
{
    real own = 0;
    for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) own += x[i];
    const real part = block_sum(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

__global__ void whole_sum(const real* x, real* sum, real* parts, int n)
{
    real own = 0;
    for (int i = threadIdx.x; i < blocks; i += threads) own += parts[i];
    const real all = block_sum(own);
    if (threadIdx.x == 0) *sum = all;
}
