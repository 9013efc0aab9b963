// Rows are read and written along neighbouring threads; a tile in shared memory turns one into the other.
__global__ void transpose(const real* a, real* b, int rows, int columns)
{
    __shared__ real words[tile][tile + padding];
    const int x = blockIdx.x * tile + threadIdx.x, turned_x = blockIdx.y * tile + threadIdx.x;
    for (int j = threadIdx.y; j < tile; j += threads_y) {
        const int y = blockIdx.y * tile + j;
        if (x < columns && y < rows) words[j][threadIdx.x] = a[(long long)y * columns + x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < tile; j += threads_y) {
        const int turned_y = blockIdx.x * tile + j;
        if (turned_x < rows && turned_y < columns) b[(long long)turned_y * rows + turned_x] = words[threadIdx.x][j];
    }
}
