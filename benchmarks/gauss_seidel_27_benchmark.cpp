// The tuned Gauss-Seidel sweep beside the best plain kernel: one thread per point of a colour, caches only, eight launches, stencil by value,
// the best of several block shapes. The rival exists for the constant stencil on CUDA; the other kinds are reported against the ceiling alone.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"

namespace {

using namespace hone;

constexpr const char* plain_kernel = R"(
struct Stencil { real s[27]; };
extern "C" __global__ void plain(real* __restrict__ u, const real* __restrict__ f, const Stencil stencil, int nx, int ny, int nz, int pitch, int colour) {
    const int x = 1 + (colour & 1) + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int y = 1 + (colour >> 1 & 1) + 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    const int z = 1 + (colour >> 2) + 2 * blockIdx.z;
    if (x > nx || y > ny || z > nz) return;
    const long long plane = (long long)(ny + 2) * pitch;
    const long long centre = z * plane + (long long)y * pitch + x;
    real sum = f[centre];
    int k = 0;
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx, ++k)
                if (k != 13) sum -= stencil.s[k] * u[centre + dz * plane + dy * pitch + dx];
    u[centre] = sum * stencil.s[13];
}
)";

/// The rival with its block shape.
class PlainSweep {
  public:
    PlainSweep(Backend& backend, const DeviceProblem& problem) : problem_(problem), precision_(problem.problem().precision()) {
        KernelSource source;
        source.target = Target::cuda;
        source.precision = precision_;
        source.entries = {"plain"};
        source.text = "using real = " + std::string(precision_ == Precision::f32 ? "float" : "double") + ";\n" + plain_kernel;
        const CompileOutcome outcome = backend.compiler().compile(source);
        if (!outcome.ok) throw std::runtime_error(outcome.failure);
        module_ = backend.load(outcome.code);
        entry_ = module_->entry("plain");
        backend.copy(stencil_.data(), problem.array(2), 27 * bytes_per_word(precision_));
        backend.synchronise();
        for (const auto& scalar : problem.kernel().source().scalars)
            if (scalar.name == "pitch") pitch_ = scalar.value;
        if (pitch_ == 0) throw std::runtime_error("the kernel has no scalar named pitch");
    }

    void sweep(const Dim3& block) {
        const auto extent = [&](const char* name) { return static_cast<int>(problem_.problem().integer(name)); };
        int nx = extent("nx"), ny = extent("ny"), nz = extent("nz");
        const auto half = [](std::int64_t n, std::int64_t per_block) { return ((n + 1) / 2 + per_block - 1) / per_block; };
        const Dim3 grid{half(nx, block[0]), half(ny, block[1]), half(nz, 1)};
        void* u = problem_.array(0);
        void* f = problem_.array(1);
        for (int colour = 0; colour < 8; ++colour) {
            std::array<void*, 8> arguments{&u, &f, stencil_.data(), &nx, &ny, &nz, &pitch_, &colour};
            module_->launch(entry_, grid, block, 0, {}, arguments.data());
        }
    }

  private:
    const DeviceProblem& problem_;
    Precision precision_;
    std::unique_ptr<Module> module_;
    int entry_ = 0;
    int pitch_ = 0;
    alignas(16) std::array<double, 27> stencil_{};
};

void gauss_seidel(benchmark::State& state, const std::string& text, bool with_rival) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::unique_ptr<PlainSweep> plain;
    if (with_rival && backend.device().fingerprint.target == Target::cuda) {
        plain = std::make_unique<PlainSweep>(backend, problem);
        for (const Dim3& block : {Dim3{32, 4, 1}, Dim3{32, 8, 1}, Dim3{64, 2, 1}, Dim3{64, 4, 1}, Dim3{64, 8, 1}, Dim3{128, 1, 1}, Dim3{128, 2, 1},
                                  Dim3{128, 4, 1}, Dim3{256, 1, 1}, Dim3{256, 2, 1}})
            contenders.push_back([&plain, block] { plain->sweep(block); });
    }
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        const double rival = seconds.size() > 1 ? *std::min_element(seconds.begin() + 1, seconds.end()) : 0;
        report(state, problem, seconds[0], rival);
    }
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    for (const char* precision : {"f32", "f64"})
        for (const char* stencil : {"constant", "semi_constant", "variable"}) {
            const int n = cuda ? (std::string(stencil) == "variable" ? 320 : 512) : 128;
            const std::string text = fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, precision, n, n, n);
            benchmark::RegisterBenchmark(text.c_str(), gauss_seidel, text, std::string(stencil) == "constant")
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
        }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
}
