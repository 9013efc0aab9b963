__global__ void statistics(const float* table, double* mean, int* positive, int rows, int columns)
{
    __shared__ double sums[threads];
    __shared__ int counts[threads];
    const float* const numbers = table + (long long)(blockIdx.x) * columns;
    double sum = 0;
    int count = 0;
    for (int i = threadIdx.x; i < columns; i += threads) {
        sum += numbers[i];
        count += numbers[i] > 0;
    }
    sums[threadIdx.x] = sum;
    counts[threadIdx.x] = count;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            counts[threadIdx.x] += counts[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = sums[0] / columns;
        positive[blockIdx.x] = counts[0];
    }
}
