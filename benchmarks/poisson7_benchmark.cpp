// The tuned 7-point operator beside a plain kernel: one thread per cell through the caches on CUDA (the best of several block shapes), a triple loop
// over the cells on the processor; both with the product p . w. The halves of a solver's iteration, alone and in turn, are reported against the
// ceiling: 12 words per cell and iteration, 10 with scalar coefficients.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"

namespace {

using namespace hone;

// Sums of blocks go to one place by atomic additions, whose order, and with it the last digits, change from run to run.
constexpr const char* plain_cuda = R"(
extern "C" __global__ void plain(const real* __restrict__ p, const real* __restrict__ cx, const real* __restrict__ cy, const real* __restrict__ cz,
                                 const real* __restrict__ diagonal, real* __restrict__ w, real* dot, int nx, int ny, int nz, int pitch, int, int) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    __shared__ real of_block;
    if (threadIdx.x + threadIdx.y == 0) of_block = 0;
    __syncthreads();
    real product = 0;
    if (i < nx && j < ny) {
        const auto at = [&](int x, int y, int z) { return ((long long)z * ny + y) * pitch + x; };
        const long long here = at(i, j, k);
        const real sum = cx[i] * (p[at(i > 0 ? i - 1 : nx - 1, j, k)] + p[at(i + 1 < nx ? i + 1 : 0, j, k)]) +
                         cy[j] * (p[at(i, j > 0 ? j - 1 : ny - 1, k)] + p[at(i, j + 1 < ny ? j + 1 : 0, k)]) +
                         cz[k] * (p[at(i, j, k > 0 ? k - 1 : nz - 1)] + p[at(i, j, k + 1 < nz ? k + 1 : 0)]);
        const real new_w = diagonal[here] * p[here] + sum;
        w[here] = new_w;
        product = p[here] * new_w;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) product += __shfl_down_sync(0xffffffff, product, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block, product);
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0) atomicAdd(dot, of_block);
}
)";

constexpr const char* plain_cpu = R"(
extern "C" void plain(const real* __restrict__ p, const real* __restrict__ cx, const real* __restrict__ cy, const real* __restrict__ cz,
                      const real* __restrict__ diagonal, real* __restrict__ w, real* dot, int nx, int ny, int nz, int pitch, int, int) {
    double sum = 0;
    #pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                const auto at = [&](int x, int y, int z) { return ((long long)z * ny + y) * pitch + x; };
                const long long here = at(i, j, k);
                w[here] = diagonal[here] * p[here] + cx[i] * (p[at(i > 0 ? i - 1 : nx - 1, j, k)] + p[at(i + 1 < nx ? i + 1 : 0, j, k)]) +
                          cy[j] * (p[at(i, j > 0 ? j - 1 : ny - 1, k)] + p[at(i, j + 1 < ny ? j + 1 : 0, k)]) +
                          cz[k] * (p[at(i, j, k > 0 ? k - 1 : nz - 1)] + p[at(i, j, k + 1 < nz ? k + 1 : 0)]);
                sum += p[here] * w[here];
            }
    *dot = real(sum);
}
)";

/// The rival.
class Plain {
  public:
    Plain(Backend& backend, const DeviceProblem& problem) : cuda_(backend.device().fingerprint.target == Target::cuda) {
        KernelSource source = problem.kernel().source();
        source.entries = {"plain"};
        source.step.resize(1);
        source.step[0].entry = "plain";
        source.tables.clear();
        source.text = fmt::format("using real = {};\n", source.precision == Precision::f32 ? "float" : "double") + (cuda_ ? plain_cuda : plain_cpu);
        const CompileOutcome outcome = backend.compiler().compile(source);
        if (!outcome.ok) throw std::runtime_error(outcome.failure);
        module_ = backend.load(outcome.code);
        entry_ = module_->entry("plain");
        for (std::size_t i = 0; i < source.arrays.size(); ++i) arrays_.push_back(problem.array(i));
        for (const auto& scalar : source.scalars) extents_.push_back(scalar.value);
        extents_.insert(extents_.end(), {0, extents_[2]});
    }

    std::vector<Dim3> blocks() const {
        if (!cuda_) return {{1, 1, 1}};
        return {{32, 4, 1}, {32, 8, 1}, {64, 4, 1}, {64, 8, 1}, {128, 2, 1}, {128, 4, 1}, {256, 1, 1}, {256, 2, 1}};
    }

    void step(const Dim3& block) {
        std::vector<void*> arguments;
        for (auto& array : arrays_) arguments.push_back(&array);
        for (auto& extent : extents_) arguments.push_back(&extent);
        const auto blocks = [](std::int64_t n, std::int64_t per_block) { return (n + per_block - 1) / per_block; };
        const Dim3 grid = cuda_ ? Dim3{blocks(extents_[0], block[0]), blocks(extents_[1], block[1]), extents_[2]} : Dim3{1, 1, 1};
        module_->launch(entry_, grid, block, 0, {}, arguments.data());
    }

  private:
    bool cuda_;
    std::unique_ptr<Module> module_;
    int entry_ = 0;
    std::vector<void*> arrays_;
    std::vector<int> extents_;  // nx, ny, nz, pitch, and the range
};

void laplacian(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    Plain plain(backend, problem);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    for (const Dim3& block : plain.blocks()) contenders.push_back([&plain, block] { plain.step(block); });
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        report(state, problem, seconds[0], {*std::min_element(seconds.begin() + 1, seconds.end())});
    }
}

// Both halves of an iteration in turn, and each alone.
void iteration(benchmark::State& state, const std::string& direction_text, const std::string& residual_text) {
    DeviceBench& bench = DeviceBench::instance();
    DeviceProblem direction(direction_text);
    DeviceProblem residual(residual_text);
    const auto both = [&] {
        direction.step();
        residual.step();
    };
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(bench.backend(), {both, [&] { direction.step(); }, [&] { residual.step(); }}, 11);
        const double bytes = direction.counts().bytes + residual.counts().bytes;
        const double copy = bench.ceilings().copy_bytes_per_second;
        state.SetIterationTime(seconds[0]);
        state.counters["M cells/s"] = direction.counts().updates / seconds[0] * 1e-6;
        state.counters["GB/s"] = bytes / seconds[0] * 1e-9;
        state.counters["%ceiling"] = 100 * bytes / copy / seconds[0];
        state.counters["direction_%ceiling"] = 100 * direction.counts().bytes / copy / seconds[1];
        state.counters["residual_%ceiling"] = 100 * residual.counts().bytes / copy / seconds[2];
        state.SetLabel(fmt::format("direction {}: {}; residual {}: {}", to_string(direction.kernel().match().grade),
                                   direction.kernel().match().config.key(), to_string(residual.kernel().match().grade),
                                   residual.kernel().match().config.key()));
    }
}

template <typename Function, typename... Arguments>
void add(const std::string& name, Function function, const Arguments&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    for (const char* precision : {"f32", "f64"}) {
        const auto problem = [&](const std::string& kernel, const std::string& coefficients) {
            return fmt::format("poisson7 kernel={0} coefficients={1} boundary=periodic precision={2} nx={3} ny={3} nz={3}", kernel, coefficients,
                               precision, cuda ? 512 : 256);
        };
        add(problem("apply_dot", "axis"), laplacian, problem("apply_dot", "axis"));
        for (const char* coefficients : {"axis", "scalar"})
            add(problem("direction+residual", coefficients), iteration, problem("direction", coefficients), problem("residual", coefficients));
    }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
}
