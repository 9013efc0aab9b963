// The tuned 7-point operator beside a plain kernel: one thread per cell through the caches on CUDA
// (the best of several block shapes), a triple loop over the cells on the processor; both with the
// product p . w. The halves of a solver's iteration, alone and in turn, are reported against the
// ceiling: 12 words per cell and iteration, 10 with scalar coefficients.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/rivals.hpp"

namespace hone::benchmarks {
namespace {

/// The rival on CUDA.
class PlainKernel {
  public:
    PlainKernel(Backend& backend, const DeviceProblem& problem) {
        KernelSource source = problem.kernel().source();
        source.entries = {"plain"};
        source.text = real_type(source.precision);
        source.text += rival_text("poisson7.cu");
        module_ = rival_module(backend, source);
        entry_ = module_->entry("plain");
        for (std::size_t i = 0; i < source.arrays.size(); ++i) arrays_.push_back(problem.array(i));
        for (const auto& scalar : source.scalars) extents_.push_back(scalar.value);
        extents_.insert(extents_.end(), {0, extents_[2]});
    }

    void step(const Dim3& block) {
        std::vector<void*> arguments;
        for (auto& array : arrays_) arguments.push_back(&array);
        for (auto& extent : extents_) arguments.push_back(&extent);
        const auto blocks = [](std::int64_t n, std::int64_t per_block) { return (n + per_block - 1) / per_block; };
        module_->launch(entry_, {blocks(extents_[0], block[0]), blocks(extents_[1], block[1]), extents_[2]}, block, 0, {}, arguments.data());
    }

  private:
    std::unique_ptr<Module> module_;
    int entry_ = 0;
    std::vector<void*> arrays_;
    std::vector<int> extents_;  // nx, ny, nz, pitch, and the range
};

constexpr std::array blocks{Dim3{32, 4, 1},  Dim3{32, 8, 1},  Dim3{64, 4, 1},  Dim3{64, 8, 1},
                            Dim3{128, 2, 1}, Dim3{128, 4, 1}, Dim3{256, 1, 1}, Dim3{256, 2, 1}};

void laplacian(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::unique_ptr<PlainKernel> plain;
    std::unique_ptr<PlainLoops> loops;
    if (traits_of(backend.device().fingerprint.target).has_blocks) {
        plain = std::make_unique<PlainKernel>(backend, problem);
        for (const Dim3& block : blocks) contenders.push_back([&plain, block] { plain->step(block); });
    } else {
        const std::string loop = real_type(problem.problem().precision()) + std::string(rival_text("poisson7.cpp"));
        loops = std::make_unique<PlainLoops>(backend, problem, loop);
        contenders.push_back([&loops] { loops->sweep(); });
    }
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

std::string problem_of(const std::string& kernel, const std::string& coefficients, const std::string& precision, bool cuda) {
    return fmt::format("poisson7 kernel={0} coefficients={1} boundary=periodic precision={2} nx={3} ny={3} nz={3}", kernel, coefficients, precision,
                       cuda ? 512 : 256);
}

std::vector<std::string> problems() {
    const bool cuda = !device_name().starts_with("cpu");
    std::vector<std::string> texts;
    for (const char* precision : {"f32", "f64"}) {
        texts.push_back(problem_of("apply_dot", "axis", precision, cuda));
        for (const char* coefficients : {"axis", "scalar"})
            for (const char* half : {"direction", "residual"}) texts.push_back(problem_of(half, coefficients, precision, cuda));
    }
    return texts;
}

void register_all() {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks;
    for (const char* precision : {"f32", "f64"}) {
        const auto problem = [&](const char* kernel, const char* coefficients) { return problem_of(kernel, coefficients, precision, cuda); };
        add(problem("apply_dot", "axis"), laplacian, problem("apply_dot", "axis"));
        for (const char* coefficients : {"axis", "scalar"})
            add(problem("direction+residual", coefficients), iteration, problem("direction", coefficients), problem("residual", coefficients));
    }
}

}  // namespace

Program program() {
    return {.purpose = "The tuned 7-point operator beside a plain kernel, and the halves of a solver's iteration against the ceiling.",
            .problems = problems,
            .register_all = register_all};
}

}  // namespace hone::benchmarks
