// The tuned Gauss-Seidel sweep beside the best plain kernel. On CUDA: one thread per point of a colour, caches only, eight launches, stencil by
// value, the best of several block shapes, for the constant stencil; the other kinds are reported against the ceiling alone. On the processor: the
// loop nest that one would write, a parallel one per colour, all neighbours written out, compiled with the same options.
#include <fmt/format.h>

#include <algorithm>
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

// Coefficient k of the point at (x, y, z), which lies at `at` in u, by kind of stencil.
std::string coefficient(const std::string& stencil, int k) {
    if (stencil == "constant") return fmt::format("s[{}]", k);
    if (stencil == "semi_constant") return fmt::format("s[((z - 1) * wide(ny) + y - 1) * 32 + {}]", k);
    if (stencil == "variable") return fmt::format("s[{} * (nz * wide(ny) * pitch) + ((z - 1) * wide(ny) + y - 1) * pitch + x]", k);
    if (k >= 13) return fmt::format("s[{} * ((nz + 2) * plane) + at]", k - 13);
    return fmt::format("s[{} * ((nz + 2) * plane) + at + ({}) * plane + ({}) * pitch + ({})]", 13 - k, k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
}

std::string plain_loops(const Problem& problem) {
    const std::string& stencil = problem.word("stencil");
    std::string terms;
    for (int k = 0; k < 27; ++k)
        if (k != 13)
            terms += fmt::format("                    sum -= {} * u[at + ({}) * plane + ({}) * pitch + ({})];\n", coefficient(stencil, k), k / 9 - 1,
                                 k / 3 % 3 - 1, k % 3 - 1);
    return fmt::format(R"(using real = {};
typedef long long wide;
extern "C" void plain(real* u, const real* f, const real* s, int nx, int ny, int nz, int pitch, int first, int last) {{
    const wide plane = wide(ny + 2) * pitch;
    for (int colour = 0; colour < 8; ++colour) {{
        #pragma omp parallel for schedule(static)
        for (int z = 1 + first + (first + (colour >> 2)) % 2; z <= last; z += 2)
            for (int y = 1 + (colour >> 1 & 1); y <= ny; y += 2)
                for (int x = 1 + (colour & 1); x <= nx; x += 2) {{
                    const wide at = z * plane + wide(y) * pitch + x;
                    real sum = f[at];
{}                    u[at] = sum * {};
                }}
    }}
}}
)",
                       problem.precision() == Precision::f32 ? "float" : "double", terms, coefficient(stencil, 13));
}

/// The rival on the processor.
class PlainLoops {
  public:
    PlainLoops(Backend& backend, const DeviceProblem& problem)
        : arrays_{problem.array(0), problem.array(1), problem.array(2)}, last_(static_cast<int>(problem.kernel().range())) {
        KernelSource source;
        source.precision = problem.problem().precision();
        source.arrays = problem.kernel().source().arrays;
        source.scalars = problem.kernel().source().scalars;
        source.entries = {"plain"};
        Launch launch;
        launch.entry = "plain";
        source.step = {launch};
        source.text = plain_loops(problem.problem());
        const CompileOutcome outcome = backend.compiler().compile(source);
        if (!outcome.ok) throw std::runtime_error(outcome.failure + outcome.code.log);
        module_ = backend.load(outcome.code);
        entry_ = module_->entry("plain");
        for (const auto& scalar : source.scalars) scalars_.push_back(scalar.value);
    }

    void sweep() {
        int first = 0;
        std::vector<void*> arguments;
        for (auto& array : arrays_) arguments.push_back(&array);
        for (int& scalar : scalars_) arguments.push_back(&scalar);
        arguments.push_back(&first);
        arguments.push_back(&last_);
        module_->launch(entry_, {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
    }

  private:
    std::array<void*, 3> arrays_;
    std::vector<int> scalars_;
    int last_;
    std::unique_ptr<Module> module_;
    int entry_ = 0;
};

void gauss_seidel(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::unique_ptr<PlainSweep> plain;
    std::unique_ptr<PlainLoops> loops;
    if (backend.device().fingerprint.target == Target::cpu) {
        loops = std::make_unique<PlainLoops>(backend, problem);
        contenders.push_back([&loops] { loops->sweep(); });
    } else if (problem.problem().word("stencil") == "constant") {
        plain = std::make_unique<PlainSweep>(backend, problem);
        for (const Dim3& block : {Dim3{32, 4, 1}, Dim3{32, 8, 1}, Dim3{64, 2, 1}, Dim3{64, 4, 1}, Dim3{64, 8, 1}, Dim3{128, 1, 1}, Dim3{128, 2, 1},
                                  Dim3{128, 4, 1}, Dim3{256, 1, 1}, Dim3{256, 2, 1}})
            contenders.push_back([&plain, block] { plain->sweep(block); });
    }
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        const double rival = seconds.size() > 1 ? *std::min_element(seconds.begin() + 1, seconds.end()) : 0;
        report(state, problem, seconds[0], {rival});
    }
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    for (const char* precision : {"f32", "f64"})
        for (const char* stencil : {"constant", "semi_constant", "variable", "symmetric"}) {
            const bool per_point = std::string(stencil) == "variable" || std::string(stencil) == "symmetric";
            const int n = cuda ? (per_point ? 320 : 512) : (per_point ? 160 : 256);
            const std::string text = fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, precision, n, n, n);
            benchmark::RegisterBenchmark(text.c_str(), gauss_seidel, text)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
        }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
}
