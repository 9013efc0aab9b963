// Compares the Poisson solver on tuned kernels with conjugate gradients on cuSPARSE and cuBLAS,
// alternately: -Laplace u = f on n^3 cells with zeros beyond and random f, to |r| = 1e-8 |f|, from
// the first iteration to the last synchronisation. Ours: conjugate gradients with and without the
// polynomial preconditioner, with a field for the diagonal (12 values per cell and iteration) and
// with four numbers (10). On the processor ours run alone. Progress goes to standard error. --n=N
// chooses the largest grid, --rounds=N how often each of the shorter rows is repeated;
// --benchmark_filter chooses rows, as everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include "benchmarks/cusparse_cg.hpp"
#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "runtime/uploader.hpp"
#include "solvers/poisson/solver.hpp"

namespace hone::benchmarks {
namespace {

using solvers::PoissonSolver;
using solvers::PoissonSystem;
using solvers::Preconditioner;

constexpr int check_every = 20;
constexpr int grid_unit = 32;  // rows of so many cells need no padding, which the rival would not have

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void tell(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
}

template <typename Word>
void fill_randomly(std::span<Word> words) {
    const std::int64_t count = std::ssize(words);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) words[static_cast<std::size_t>(i)] = static_cast<Word>(random_word(1, i));
}

DeviceArray random_field(Backend& backend, Precision precision, int n) {
    HostArray words(precision, std::int64_t{n} * n * n);
    if (precision == Precision::f32)
        fill_randomly(words.values<float>());
    else
        fill_randomly(words.values<double>());
    DeviceArray field(backend, words.bytes());
    Uploader(backend).upload(field.data(), words.data(), words.bytes());
    return field;
}

// -Laplace with cells of width 1 and zeros beyond; the diagonal as one word, so that nothing as
// large as the grid is made on the host.
PoissonSystem system_of(const std::string& coefficients, const std::string& precision, int n) {
    PoissonSystem system{coefficients, "dirichlet", precision, n, n, n, {}, {}, {}, {6}, false};
    system.cx.assign(coefficients == "scalar" ? 1 : static_cast<std::size_t>(n), -1);
    system.cy = system.cz = system.cx;
    return system;
}

// What a row takes on the device: the right-hand side; seven fields of each of our three solvers,
// and two more for the diagonal of those that have it as a field; the rival's matrix with seven
// entries a row, its row starts and four vectors. A sixteenth more for all that is small, and for
// its buffers.
std::int64_t device_bytes(Precision precision, int n, bool rival) {
    const std::int64_t cells = std::int64_t{n} * n * n, word = bytes_per_word(precision);
    const std::int64_t fields = 1 + 3 * 7 + 2 * 2;
    const std::int64_t bytes = fields * cells * word + (rival ? cells * (7 * (word + 4) + 4 + 4 * word) : 0);
    return bytes + bytes / 16;
}

/// One of ours on a fixed right-hand side.
class Ours {
  public:
    Ours(std::string name, const PoissonSystem& system, Preconditioner preconditioner, const DeviceArray& b)
        : name_(std::move(name)),
          backend_(DeviceBench::instance().backend()),
          solver_(backend_, DeviceBench::instance().library(), system),
          preconditioner_(preconditioner),
          b_(b) {
        if (solver_.pitch() != system.nx) throw std::runtime_error("this benchmark takes rows without padding");
    }

    const std::string& name() const { return name_; }
    std::string kernels() const { return solver_.kernels(); }
    std::vector<TimedKernel> timed() const { return {{"direction", solver_.grades()[0]}, {"residual", solver_.grades()[1]}}; }
    solvers::Solve solve(double tolerance, int most_iterations) {
        backend_.copy(solver_.right_hand_side(), b_.data(), b_.bytes());
        backend_.fill(solver_.solution(), 0, b_.bytes());
        return solver_.solve(
            {.preconditioner = preconditioner_, .tolerance = tolerance, .most_iterations = most_iterations, .check_every = check_every});
    }
    const void* solution() const { return solver_.solution(); }

  private:
    std::string name_;
    Backend& backend_;
    PoissonSolver solver_;
    Preconditioner preconditioner_;
    const DeviceArray& b_;
};

struct Timed {
    std::vector<double> seconds;
    int executed = 0;
    bool converged = true;
    double bytes = 0;
};

// Iterations per second, GB/s of the words that they must move, and that as a part of the ceiling.
void report_iteration(benchmark::State& state, const std::string& name, const Timed& timed, double cells) {
    const double per_iteration = median(timed.seconds) / timed.executed;
    state.counters[name + "_ms/iteration"] = per_iteration * 1e3;
    state.counters[name + "_M_cells/s"] = cells / per_iteration * 1e-6;
    state.counters[name + "_GB/s"] = timed.bytes / per_iteration * 1e-9;
    if (const double copy = DeviceBench::instance().ceilings().copy_bytes_per_second; copy > 0)
        state.counters[name + "_%ceiling"] = 100 * timed.bytes / per_iteration / copy;
}

void solve(benchmark::State& state, const std::string& precision, int n, double tolerance, int most_iterations, int rounds) {
    Backend& backend = DeviceBench::instance().backend();
    const Precision real = precision == "f32" ? Precision::f32 : Precision::f64;
    const bool cuda = traits_of(backend.device().fingerprint.target).has_blocks;
    const auto gigabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) * 1e-9; };
    const std::int64_t needed = device_bytes(real, n, cuda);
    tell(fmt::format("{} n={}: right-hand side, three solvers and the rival, {:.3g} GB", precision, n, gigabytes(needed)));
    if (needed > backend.device().memory_bytes)
        return state.SkipWithError(
            fmt::format("{:.3g} GB are needed, the device has {:.3g}: give --n", gigabytes(needed), gigabytes(backend.device().memory_bytes))
                .c_str());
    const auto began = std::chrono::steady_clock::now();
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
    const DeviceArray b = random_field(backend, real, n);
    std::vector<std::unique_ptr<Ours>> ours;
    ours.push_back(std::make_unique<Ours>("ppcg", system_of("axis", precision, n), Preconditioner::polynomial, b));
    ours.push_back(std::make_unique<Ours>("cg", system_of("axis", precision, n), Preconditioner::none, b));
    ours.push_back(std::make_unique<Ours>("ppcg_scalar", system_of("scalar", precision, n), Preconditioner::polynomial, b));
    tell(fmt::format("  ours set up after {:.3g} s", since()));
    std::string missing;
    const std::unique_ptr<CusparseCg> rival = CusparseCg::make(backend, real, n, missing);
    if (rival) tell(fmt::format("  rival set up after {:.3g} s", since()));
    std::map<std::string, Timed> timed;
    const auto run_all = [&](bool counts) {
        for (const auto& one : ours) {
            const solvers::Solve result = one->solve(tolerance, most_iterations);
            tell(fmt::format("  {}: {} iterations in {:.3g} s", one->name(), result.executed, result.seconds));
            Timed& of = timed[one->name()];
            of.executed = result.executed, of.bytes = result.bytes, of.converged = result.ending == solvers::Ending::converged;
            if (counts) of.seconds.push_back(result.seconds);
        }
        if (!rival) return;
        const CusparseCg::Solve result = rival->solve(b.data(), tolerance, most_iterations, check_every);
        tell(fmt::format("  cusparse: {} iterations in {:.3g} s", result.executed, result.seconds));
        Timed& of = timed["cusparse"];
        of.executed = result.executed, of.bytes = rival->bytes_per_iteration(), of.converged = result.converged;
        if (counts) of.seconds.push_back(result.seconds);
    };
    for (auto _ : state) {
        if (rounds > 1) run_all(false);  // a warm-up
        for (int round = 0; round < rounds; ++round) run_all(true);
        state.SetIterationTime(median(timed["ppcg"].seconds));
    }
    for (const auto& [name, of] : timed) {
        if (tolerance > 0) {
            state.counters[name + "_seconds"] = median(of.seconds);
            state.counters[name + "_iterations"] = of.executed;
            if (!of.converged) state.SkipWithError((name + " did not converge").c_str());
        }
        report_iteration(state, name, of, static_cast<double>(n) * n * n);
    }
    if (rival && tolerance > 0) {
        state.counters[ratio_name("cusparse/ppcg", ours[0]->timed())] = median(timed["cusparse"].seconds) / median(timed["ppcg"].seconds);
        state.counters["difference_to_rival"] = backend.largest_difference(ours[0]->solution(), rival->solution(), std::int64_t{n} * n * n, real);
    }
    std::string kernels = ours[0]->kernels();
    std::replace(kernels.begin(), kernels.end(), '\n', ';');
    state.SetLabel(fmt::format("{}; with scalar coefficients {}; rival: {}", kernels, grades_of(ours[2]->timed()), rival ? rival->names() : missing));
}

struct Settings {
    int n = 0;  ///< of the largest grid; 0: 512 on a GPU, 128 on a processor
    int rounds = 3;

    int large(bool cuda) const { return n > 0 ? n : cuda ? 512 : 128; }
};

// Of both halves of an iteration, with either kind of coefficients.
std::vector<std::string> problems(const Settings& settings) {
    const int large = settings.large(!device_name().starts_with("cpu"));
    std::vector<std::string> texts;
    for (const auto& [precision, n] : {std::pair{"f32", large}, std::pair{"f64", large / 2}, std::pair{"f64", large}})
        for (const char* coefficients : {"axis", "scalar"})
            for (const char* half : {"direction", "residual"})
                texts.push_back(fmt::format("poisson7 kernel={0} coefficients={1} boundary=dirichlet precision={2} nx={3} ny={3} nz={3}", half,
                                            coefficients, precision, n));
    return texts;
}

void register_all(const Settings& settings) {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks;
    const auto add = [](const std::string& name, auto... arguments) {
        benchmark::RegisterBenchmark(name.c_str(), solve, arguments...)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
    };
    if (settings.n % grid_unit != 0) throw Error("--n", fmt::format("{} is not a multiple of {}", settings.n, grid_unit), "give one, as --n=256");
    const int large = settings.large(cuda);
    add(fmt::format("iteration precision=f32 n={}", large), "f32", large, 0.0, cuda ? 60 : 40, settings.rounds);
    if (large / 2 % grid_unit == 0) add(fmt::format("to_1e-8 precision=f64 n={}", large / 2), "f64", large / 2, 1e-8, 20000, settings.rounds);
    // Seconds each, so that once is enough.
    add(fmt::format("to_1e-8 precision=f64 n={}", large), "f64", large, 1e-8, 20000, 1);
}

}  // namespace

Program program() {
    static Settings settings;
    return {
        .purpose = "The Poisson solver on tuned kernels beside conjugate gradients on cuSPARSE and cuBLAS.",
        .options = {{"--n", "Cells of the largest grid along each axis, a multiple of 32; by default 512 on a GPU, 128 on a processor.", &settings.n},
                    {"--rounds", "How often each of the shorter rows is repeated.", &settings.rounds}},
        .problems = [] { return problems(settings); },
        .register_all = [] { register_all(settings); }};
}

}  // namespace hone::benchmarks
