// Tuned acoustic kernels beside the best plain ones: one thread per point, caches only, the best of
// several block shapes. A whole step is also measured as two tuned sweeps, velocities and pressures
// in place; `sweeps/ours` says how much faster one pass is. On the processor the rivals are plain
// OpenMP loops over rows, compiled with the same options as every kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/rivals.hpp"
#include "generator/families/acoustics_staggered/grid.hpp"

namespace hone::benchmarks {
namespace {

/// The plain loops of a sweep on the processor.
std::string loops_text(const Problem& problem) {
    const acoustics::Grid grid(problem);
    const bool flat = grid.dimension == 2;
    const std::string sizes = "int nx, int ny, int, int pitch, int first, int last";
    std::string text = real_type(grid.precision) + fmt::format("constexpr int M = {}, dimension = {};\nconstexpr real c[] = {{{:.17g}}};\n",
                                                               grid.half, grid.dimension, fmt::join(acoustics::weights(grid.half), ", "));
    text += rival_text("acoustics_staggered.cpp");
    if (grid.kind == acoustics::Kind::pressure)
        return text + fmt::format(
                          "extern \"C\" void plain(real* p, const real* u, const real* v, {}const real* kappa, {}) {{\n"
                          "    pressure(p, u, v, {}, kappa, nx, ny, pitch, first, last);\n}}\n",
                          flat ? "" : "const real* w, ", sizes, flat ? "v" : "w");
    return text + fmt::format(
                      "extern \"C\" void plain(const real* p, real* u, real* v, {}const real* bx, const real* by, {}{}) {{\n"
                      "    velocity(p, u, v, {}, bx, by, {}, nx, ny, pitch, first, last);\n}}\n",
                      flat ? "" : "real* w, ", flat ? "" : "const real* bz, ", sizes, flat ? "v" : "w", flat ? "by" : "bz");
}

/// The rivals of one scheme, on the arrays of two problems.
class PlainSweeps {
  public:
    PlainSweeps(Backend& backend, const Problem& problem) : grid_(problem) {
        KernelSource source;
        source.target = Target::cuda;
        source.precision = grid_.precision;
        source.entries = {"pressure", "velocity"};
        source.text = real_type(grid_.precision) + fmt::format("constexpr int M = {}, dimension = {};\n", grid_.half, grid_.dimension);
        source.text += rival_text("acoustics_staggered.cu");
        module_ = rival_module(backend, source);
        const std::vector<double> weights = acoustics::weights(grid_.half);
        for (std::size_t m = 0; m < weights.size(); ++m) {
            const auto single = static_cast<float>(weights[m]);
            const auto word = static_cast<std::size_t>(grid_.word());
            std::memcpy(weights_.data() + m * word, grid_.precision == Precision::f32 ? static_cast<const void*>(&single) : &weights[m], word);
        }
    }

    // `arrays`: p, velocities, kappa; or p, velocities, their media. In 2D the third axis repeats
    // the second, and is not touched.
    void launch(const char* entry, std::vector<void*> arrays, const Dim3& block) {
        if (grid_.dimension == 2) {
            arrays.insert(arrays.begin() + 3, arrays[2]);
            if (arrays.size() > 5) arrays.push_back(arrays.back());
        }
        std::vector<void*> arguments;
        arguments.reserve(arrays.size() + 5);
        for (auto& array : arrays) arguments.push_back(&array);
        int extents[] = {static_cast<int>(grid_.nx), static_cast<int>(grid_.ny), static_cast<int>(grid_.nz), static_cast<int>(grid_.pitch)};
        arguments.push_back(weights_.data());
        for (int& extent : extents) arguments.push_back(&extent);
        const auto blocks = [](std::int64_t n, std::int64_t per_block) { return (n + per_block - 1) / per_block; };
        module_->launch(module_->entry(entry), {blocks(grid_.nx, block[0]), blocks(grid_.ny, block[1]), grid_.nz}, block, 0, {}, arguments.data());
    }

  private:
    acoustics::Grid grid_;
    std::unique_ptr<Module> module_;
    alignas(16) std::array<std::byte, 8 * sizeof(double)> weights_{};
};

std::string text_of(const std::string& kernel, const std::string& rest) {
    return fmt::format("acoustics_staggered kernel={} {}", kernel, rest);
}

constexpr std::array blocks{Dim3{32, 4, 1}, Dim3{32, 8, 1},  Dim3{32, 16, 1}, Dim3{64, 4, 1},
                            Dim3{64, 8, 1}, Dim3{128, 2, 1}, Dim3{128, 4, 1}, Dim3{256, 1, 1}};

std::vector<void*> first_arrays(const DeviceProblem& problem, std::size_t count) {
    std::vector<void*> arrays;
    for (std::size_t i = 0; i < count; ++i) arrays.push_back(problem.array(i));
    return arrays;
}

double best(const std::vector<double>& seconds, std::size_t first, std::size_t count) {
    const auto begin = seconds.begin() + static_cast<std::ptrdiff_t>(first);
    return count == 0 ? 0 : *std::min_element(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void one_sweep(benchmark::State& state, const std::string& kernel, const std::string& rest) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text_of(kernel, rest), Words::random);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::unique_ptr<PlainSweeps> plain;
    std::unique_ptr<PlainLoops> loops;
    const std::vector<void*> arrays = first_arrays(problem, problem.kernel().source().arrays.size());
    if (traits_of(backend.device().fingerprint.target).has_blocks) {
        plain = std::make_unique<PlainSweeps>(backend, problem.problem());
        for (const Dim3& block : blocks) contenders.push_back([&, block] { plain->launch(kernel.c_str(), arrays, block); });
    } else {
        loops = std::make_unique<PlainLoops>(backend, problem, loops_text(problem.problem()));
        contenders.push_back([&] { loops->sweep(); });
    }
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        report(state, problem, seconds[0], {best(seconds, 1, seconds.size() - 1)});
    }
}

// Ours: one pass, of one or several time steps, as `pass` says (of several, and in place). Its
// rivals: two tuned sweeps, and two plain ones, as often.
void whole_step(benchmark::State& state, const std::string& rest, const std::string& pass) {
    Backend& backend = DeviceBench::instance().backend();
    // A step in place goes on from its own result, and would blow up with any media.
    const Words words = pass.find("in_place") == std::string::npos ? Words::random : Words::workload;
    DeviceProblem problem(text_of("step", fmt::format("{} {}", rest, pass)), words), velocity(text_of("velocity", rest), Words::random),
        pressure(text_of("pressure", rest), Words::random);
    const auto levels = static_cast<int>(problem.problem().integer("levels"));
    std::vector<std::function<void()>> contenders{[&] { problem.step(); },
                                                  [&] {
                                                      velocity.step();
                                                      pressure.step();
                                                  }};
    std::unique_ptr<PlainSweeps> plain;
    std::unique_ptr<PlainLoops> velocity_loops, pressure_loops;
    const std::vector<void*> velocity_arrays = first_arrays(velocity, velocity.kernel().source().arrays.size());
    const std::vector<void*> pressure_arrays = first_arrays(pressure, pressure.kernel().source().arrays.size());
    if (traits_of(backend.device().fingerprint.target).has_blocks) {
        // Rows of a pass of several steps may be longer than those of the sweeps.
        plain = std::make_unique<PlainSweeps>(backend, velocity.problem());
        for (const Dim3& block : blocks)
            contenders.push_back([&, block] {
                plain->launch("velocity", velocity_arrays, block);
                plain->launch("pressure", pressure_arrays, block);
            });
    } else {
        velocity_loops = std::make_unique<PlainLoops>(backend, velocity, loops_text(velocity.problem()));
        pressure_loops = std::make_unique<PlainLoops>(backend, pressure, loops_text(pressure.problem()));
        contenders.push_back([&] {
            velocity_loops->sweep();
            pressure_loops->sweep();
        });
    }
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        const double copy = DeviceBench::instance().ceilings().copy_bytes_per_second;
        const std::vector<TimedKernel> sweeps{velocity.timed("velocity").as_rival(), pressure.timed("pressure").as_rival()};
        report(state, problem, seconds[0], {levels * best(seconds, 2, seconds.size() - 2)}, sweeps);
        state.counters["sweeps_ns/points"] = levels * seconds[1] / problem.counts().updates * 1e9;
        state.counters[ratio_name("sweeps/ours", {problem.timed(), sweeps[0], sweeps[1]})] = levels * seconds[1] / seconds[0];
        // Of what a pass for every time step would have to move: more than 100 where several in one
        // pass pay.
        state.counters["one_pass_%copy"] = 100 * levels * problem.counts().bytes / seconds[0] / copy;
        // Of what two sweeps must move: 12 words in 2D, 16 in 3D.
        const double bytes = velocity.counts().bytes + pressure.counts().bytes;
        state.counters["sweeps_%copy"] = 100 * bytes / seconds[1] / copy;
    }
}

// A sweep, or a whole step as one pass that `pass` describes.
struct Row {
    std::string kernel, pass, rest;
    std::string text() const { return text_of(kernel, pass.empty() ? rest : fmt::format("{} {}", pass, rest)); }
};

std::vector<Row> rows(bool cuda) {
    std::vector<Row> all;
    for (const char* precision : {"f32", "f64"})
        for (const int dimension : {2, 3})
            for (const int order : {4, 8, 16}) {
                const int n = dimension == 2 ? (cuda ? 8192 : 2048) : (cuda ? 512 : 160);
                const std::string rest = fmt::format("dimension={} order={} media=array precision={} nx={} ny={} nz={}", dimension, order, precision,
                                                     n, n, dimension == 3 ? n : 1);
                for (const char* kernel : {"pressure", "velocity"}) all.push_back({kernel, "", rest});
                const int most = dimension == 2 ? std::min(4, 32 / order) : cuda && order == 4 ? 2 : 1;
                for (int levels = 1; levels <= most; ++levels) all.push_back({"step", fmt::format("levels={}", levels), rest});
                for (int levels = 1; dimension == 3 && !cuda && levels <= 2; ++levels)
                    all.push_back({"step", fmt::format("update=in_place levels={}", levels), rest});
            }
    return all;
}

std::vector<std::string> problems() {
    std::vector<std::string> texts;
    for (const Row& row : rows(!device_name().starts_with("cpu"))) texts.push_back(row.text());
    return texts;
}

void register_all() {
    for (const Row& row : rows(traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks)) {
        const auto run = [row](benchmark::State& state) {
            row.kernel == "step" ? whole_step(state, row.rest, row.pass) : one_sweep(state, row.kernel, row.rest);
        };
        benchmark::RegisterBenchmark(row.text().c_str(), run)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

Program program() {
    return {.purpose = "Tuned acoustic sweeps and whole steps beside plain kernels.", .problems = problems, .register_all = register_all};
}

}  // namespace hone::benchmarks
