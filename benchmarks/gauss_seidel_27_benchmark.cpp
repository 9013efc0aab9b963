// The tuned Gauss-Seidel sweep beside the best plain kernel. On CUDA: one thread per point of a
// colour, caches only, eight launches, stencil by value, the best of several block shapes, for the
// constant stencil; the other kinds are reported against the ceiling alone. On the processor: the
// loop nest that one would write, a parallel one per colour, all neighbours written out, compiled
// with the same options; and where each point has a stencil, how fast the stencils alone are read,
// a row of each of the 27 arrays after the other as a sweep must, and each array in one run.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/rivals.hpp"

namespace hone::benchmarks {
namespace {

/// The rival with its block shape.
class PlainSweep {
  public:
    PlainSweep(Backend& backend, const DeviceProblem& problem) : problem_(problem), precision_(problem.problem().precision()) {
        KernelSource source;
        source.target = Target::cuda;
        source.precision = precision_;
        source.entries = {"plain"};
        source.text = real_type(precision_);
        source.text += rival_text("gauss_seidel_27.cu");
        module_ = rival_module(backend, source);
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

// The rival on the processor: all neighbours written out.
std::string loops_text(const Problem& problem) {
    const std::string& stencil = problem.word("stencil");
    std::string terms;
    for (int k = 0; k < 27; ++k)
        if (k != 13)
            terms += fmt::format("                    sum -= {} * u[at + ({}) * plane + ({}) * pitch + ({})];\n", coefficient(stencil, k), k / 9 - 1,
                                 k / 3 % 3 - 1, k % 3 - 1);
    return real_type(problem.precision()) + fmt::format(R"(typedef long long wide;
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
                                                        terms, coefficient(stencil, 13));
}

// Reads the stencils of a `variable` problem and nothing else. Each thread has a part of the
// planes: row by row, or array by array.
std::string reads_text(const Problem& problem, bool by_rows) {
    constexpr const char* row = "sum += row(s + (k * wide(nz) + z) * ny * pitch + y * wide(pitch), nx);";
    const std::string loops = by_rows ? fmt::format(R"(
        for (int z = begin; z < end; ++z)
            for (int y = 0; y < ny; ++y)
                for (int k = 0; k < 27; ++k) {})",
                                                    row)
                                      : fmt::format(R"(
        for (int k = 0; k < 27; ++k)
            for (int z = begin; z < end; ++z)
                for (int y = 0; y < ny; ++y) {})",
                                                    row);
    return real_type(problem.precision()) + fmt::format(R"(#include <omp.h>
typedef long long wide;
static inline real row(const real* s, int nx) {{
    real sum = 0;
    #pragma omp simd reduction(+ : sum)
    for (int x = 0; x < nx; ++x) sum += s[x];
    return sum;
}}
extern "C" void plain(real* u, const real*, const real* s, int nx, int ny, int nz, int pitch, int first, int last) {{
    #pragma omp parallel
    {{
        const int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const int begin = first + int((last - first) * wide(thread) / threads), end = first + int((last - first) * wide(thread + 1) / threads);
        real sum = 0;{}
        if (sum == real(-1)) u[0] = sum;  // never: the sum must be wanted
    }}
}}
)",
                                                        loops);
}

void gauss_seidel(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::unique_ptr<PlainSweep> plain;
    std::unique_ptr<PlainLoops> loops, rows, arrays;
    if (traits_of(backend.device().fingerprint.target).shares_processors) {
        loops = std::make_unique<PlainLoops>(backend, problem, loops_text(problem.problem()));
        contenders.push_back([&loops] { loops->sweep(); });
        if (problem.problem().word("stencil") == "variable") {
            rows = std::make_unique<PlainLoops>(backend, problem, reads_text(problem.problem(), true));
            arrays = std::make_unique<PlainLoops>(backend, problem, reads_text(problem.problem(), false));
        }
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
        if (!rows) continue;
        const std::vector<double> reads = measure_in_turns(backend, {[&] { rows->sweep(); }, [&] { arrays->sweep(); }}, 11);
        const double bytes = 27 * problem.counts().updates * static_cast<double>(bytes_per_word(problem.problem().precision()));
        state.counters["stencils_by_rows_GB/s"] = bytes / reads[0] * 1e-9;
        state.counters["stencils_by_arrays_GB/s"] = bytes / reads[1] * 1e-9;
    }
}

std::vector<std::string> problems(bool cuda) {
    std::vector<std::string> texts;
    for (const char* precision : {"f32", "f64"})
        for (const char* stencil : {"constant", "semi_constant", "variable", "symmetric"}) {
            const bool per_point = std::string(stencil) == "variable" || std::string(stencil) == "symmetric";
            const int n = cuda ? (per_point ? 320 : 512) : (per_point ? 160 : 256);
            texts.push_back(fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, precision, n, n, n));
            // With the usual pitch all 27 arrays lie a multiple of 128 KiB apart, which is the size
            // of a way of the L2 cache; with this one an eighth of it further each.
            if (!cuda && std::string(stencil) == "variable")
                texts.push_back(fmt::format("{} pitch={}", texts.back(), precision[1] == '3' ? 164 : 162));
        }
    return texts;
}

void register_all() {
    for (const std::string& text : problems(traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks))
        benchmark::RegisterBenchmark(text.c_str(), gauss_seidel, text)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    return {.purpose = "The tuned Gauss-Seidel sweep beside the best plain kernel, for every kind of stencil.",
            .problems = [] { return problems(!device_name().starts_with("cpu")); },
            .register_all = register_all};
}

}  // namespace hone::benchmarks
