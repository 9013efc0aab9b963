# corner-force-parts.py HONE OUT.cu: corner_force's layered kernels in 3D as they are, with the sums alone, and with the physics alone.
# Then: nvcc -std=c++17 -O3 -arch=sm_90 OUT.cu -o parts && ./parts
import subprocess, sys, re
hone, out = sys.argv[1], sys.argv[2]
cases = [(2, 131072, "zones_per_block=2,layers=2,derivatives=direct,min_blocks=8,axis_sums=parity,point_data=loads,fetch_ahead=128"),
         (4, 8192, "zones_per_block=1,layers=2,derivatives=staged,min_blocks=4,axis_sums=parity,point_data=loads"),
         (6, 2048, "zones_per_block=1,layers=4,derivatives=staged,min_blocks=1,axis_sums=parity,point_data=loads"),
         (8, 512, "zones_per_block=1,layers=2,derivatives=staged,min_blocks=1,axis_sums=parity,point_data=loads")]
text = '#include <cstdio>\n#include <cstdlib>\n#include <vector>\n#include <algorithm>\n#include <cuda_runtime.h>\n'
text += r'''
struct Arrays { double *x, *v, *e, *inverse, *mass, *gamma, *settings, *w, *force, *work, *dt; };
static double unit() { return rand() / (RAND_MAX + 1.0) - 0.5; }
static double* filled(size_t n, double (*of)(size_t)) { std::vector<double> h(n); for (size_t i = 0; i < n; ++i) h[i] = of(i); double* d; cudaMalloc(&d, n * 8); cudaMemcpy(d, h.data(), n * 8, cudaMemcpyHostToDevice); return d; }
template <typename Launch> static double fastest(Launch launch) {
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); double best = 1e9;
    for (int i = 0; i < 12; ++i) { cudaEventRecord(a); launch(); cudaEventRecord(b); cudaEventSynchronize(b); float ms; cudaEventElapsedTime(&ms, a, b); if (i > 2) best = std::min<double>(best, ms); }
    cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) printf("error %s\n", cudaGetErrorString(e)); return best * 1e3; }
'''
main = 'int main() {\n  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); printf("%s\\n", p.name); int clock; cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);\n'
for order, zones, config in cases:
    k = subprocess.run([hone, "emit", "corner_force", "result=products", "dimension=3", f"order={order}", "precision=f64", f"zones={zones}", "--target", "cuda",
                        "--config", "form=layered," + config], capture_output=True, text=True, check=True).stdout
    i = k.index('extern "C" __global__')
    head, kernel = k[:i], k[i:].replace('extern "C" ', "")
    sums = kernel.replace("corner_force_layered", "sums_alone").replace("            physics(derivative,", "            no_physics(derivative,")
    assert sums.count("no_physics") == 1
    alone = r'''
template <typename Field, typename Initial>
__device__ __forceinline__ void no_physics(Field field, Initial initial, value energy, value mass, value gamma, const Settings&, value (&stress)[3][3], value& rate) {
    for (int i = 0; i < 9; ++i) stress[i / 3][i % 3] = field(i / 3, i % 3) + field(3 + i / 3, i % 3) * initial(i / 3, i % 3);
    stress[0][0] += energy * mass; rate = gamma;
}
__global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor) physics_alone(const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma, const real* __restrict__ settings, real* __restrict__ force, real* __restrict__ dt, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const numbers = reinterpret_cast<real*>(shared_memory) + threadIdx.x;
    const int lane = threadIdx.x % team;
    const Place at{first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team, true};
    for (int i = 0; i < 18; ++i) numbers[i * threads_per_block] = (i == 0 || i == 4 || i == 8 ? 1.0 : 0.0) + 0.01 * ((threadIdx.x * 7 + i * 5) % 13 - 6);
    const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
    const value gamma_here = fetch<1>(gamma, at, 0);
    (void)0;
    value rate = 0, total = 0;
    #pragma unroll 1
    for (int begin = 0; begin < points_along; begin += layers) {
        const int point = begin * columns + lane;
        value made[3][3], bound;
        const auto derivative = [&](int f, int axis) { return numbers[(f * 3 + axis) * threads_per_block]; };
        const auto start_at = [&](int axis, int c) { return fetch<stress_words>(initial_inverse, at, (axis * 3 + c) * points + point); };
        physics(derivative, start_at, 1.0 + 0.1 * lane, fetch<points>(mass, at, point), gamma_here, shared_by_all, made, bound);
        rate = larger(rate, bound);
        total += made[0][0] + made[0][1] + made[0][2] + made[1][0] + made[1][1] + made[1][2] + made[2][0] + made[2][1] + made[2][2];
        asm volatile("" ::: "memory");
    }
    if (lane < vector_words) force[at.zone * vector_words + lane] = total;
    if (rate > 1e300) dt[at.zone] = rate;
}
'''
    text += f"namespace q{order} {{\n{head}{alone}{kernel}{sums}\n}}\n"
    main += f'''  {{ using namespace q{order}; const size_t z = {zones}; Arrays a;
    a.x = filled(z * vector_words, [](size_t i) {{ int node = i % nodes, c = i / nodes % 3; for (int k = 0; k < c; ++k) node /= nodes_along; return double(node % nodes_along) / order + 0.02 * unit(); }}); a.v = filled(z * vector_words, [](size_t) {{ return unit(); }}); a.w = filled(z * vector_words, [](size_t) {{ return unit(); }});
    a.e = filled(z * energies, [](size_t) {{ return 1 + unit(); }}); a.inverse = filled(z * stress_words, [](size_t) {{ return unit(); }}); a.mass = filled(z * points, [](size_t) {{ return 1 + unit(); }});
    a.gamma = filled(z, [](size_t) {{ return 1.4; }}); a.settings = filled(4, [](size_t) {{ return 0.5; }});
    cudaMalloc(&a.force, z * vector_words * 8); cudaMalloc(&a.work, z * energies * 8); cudaMalloc(&a.dt, z * 8);
    const int bytes = std::max<int>((table_words + zones_per_block * zone_pitch) * 8, 18 * threads_per_block * 8), blocks = z / zones_per_block;
    cudaFuncSetAttribute(corner_force_layered, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); cudaFuncSetAttribute(sums_alone, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); cudaFuncSetAttribute(physics_alone, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const double all = fastest([&] {{ corner_force_layered<<<blocks, threads_per_block, bytes>>>(a.x, a.v, a.e, a.inverse, a.mass, a.gamma, a.settings, a.w, a.force, a.work, a.dt, 0, z); }});
    const double sums = fastest([&] {{ sums_alone<<<blocks, threads_per_block, bytes>>>(a.x, a.v, a.e, a.inverse, a.mass, a.gamma, a.settings, a.w, a.force, a.work, a.dt, 0, z); }});
    const double physics = fastest([&] {{ physics_alone<<<blocks, threads_per_block, bytes>>>(a.inverse, a.mass, a.gamma, a.settings, a.force, a.dt, 0, z); }});
    const double cycles = 1e-3 * clock * p.multiProcessorCount / z;
    printf("Q%d: whole %.1f us, sums alone %.1f us, physics alone %.1f us; cycles a zone and multiprocessor at %d MHz: %.0f, %.0f, %.0f\\n", {order}, all, sums, physics, clock / 1000, all * cycles, sums * cycles, physics * cycles); fflush(stdout);
    cudaFree(a.x); cudaFree(a.v); cudaFree(a.w); cudaFree(a.e); cudaFree(a.inverse); cudaFree(a.mass); cudaFree(a.force); }}
'''
open(out, "w").write(text + main + "}\n")
