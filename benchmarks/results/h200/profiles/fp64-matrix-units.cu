// Rates of FP64 fused multiply-adds and of the shapes of the matrix units, in multiply-adds per cycle
// and multiprocessor.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 fp64-matrix-units.cu -o rates && ./rates
#include <cstdio>
#include <cuda_runtime.h>
constexpr int chains = 8, rounds = 2048;
__global__ void fmas(double* out, double a, double b, long long* cycles) {
    double s[chains];
    for (int i = 0; i < chains; ++i) s[i] = threadIdx.x + i;
    __syncthreads();
    long long t = clock64();
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int i = 0; i < chains; ++i) s[i] = fma(s[i], a, b);
    __syncthreads();
    t = clock64() - t;
    double sum = 0;
    for (int i = 0; i < chains; ++i) sum += s[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = t;
}
__global__ void m8n8k4(double* out, double a, double b, long long* cycles) {
    double c[chains][2];
    for (int i = 0; i < chains; ++i) c[i][0] = c[i][1] = i;
    __syncthreads();
    long long t = clock64();
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int i = 0; i < chains; ++i)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[i][0]), "+d"(c[i][1]) : "d"(a), "d"(b));
    __syncthreads();
    t = clock64() - t;
    double sum = 0;
    for (int i = 0; i < chains; ++i) sum += c[i][0] + c[i][1];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = t;
}
template <int K>
__global__ void m16n8(double* out, double a, double b, long long* cycles) {
    double c[chains][4];
    for (int i = 0; i < chains; ++i) c[i][0] = c[i][1] = c[i][2] = c[i][3] = i;
    __syncthreads();
    long long t = clock64();
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int i = 0; i < chains; ++i) {
            if constexpr (K == 4)
                asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                             : "+d"(c[i][0]), "+d"(c[i][1]), "+d"(c[i][2]), "+d"(c[i][3]) : "d"(a), "d"(b), "d"(a));
            if constexpr (K == 8)
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+d"(c[i][0]), "+d"(c[i][1]), "+d"(c[i][2]), "+d"(c[i][3]) : "d"(a), "d"(b), "d"(a), "d"(b), "d"(a), "d"(b));
            if constexpr (K == 16)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                             : "+d"(c[i][0]), "+d"(c[i][1]), "+d"(c[i][2]), "+d"(c[i][3])
                             : "d"(a), "d"(b), "d"(a), "d"(b), "d"(a), "d"(b), "d"(a), "d"(b), "d"(a), "d"(b), "d"(a), "d"(b));
        }
    __syncthreads();
    t = clock64() - t;
    double sum = 0;
    for (int i = 0; i < chains; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = t;
}
int main() {
    double* out;
    long long* cycles;
    cudaMalloc(&out, 1 << 20);
    cudaMallocManaged(&cycles, 1 << 12);
    for (int warps : {4, 8, 16}) {
        const auto tell = [&](const char* name, double per_thread, auto kernel) {
            for (int i = 0; i < 3; ++i) kernel<<<132, warps * 32>>>(out, 0.5, 0.25, cycles);
            cudaDeviceSynchronize();
            std::printf("%-8s %2d warps: %6.1f multiply-adds per cycle and multiprocessor (%s)\n", name, warps,
                        per_thread * warps * chains * rounds / cycles[0], cudaGetErrorString(cudaGetLastError()));
        };
        tell("fma", 32, fmas);
        tell("m8n8k4", 256, m8n8k4);
        tell("m16n8k4", 512, m16n8<4>);
        tell("m16n8k8", 1024, m16n8<8>);
        tell("m16n8k16", 2048, m16n8<16>);
    }
}
