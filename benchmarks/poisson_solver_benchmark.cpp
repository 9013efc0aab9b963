// The Poisson solver on tuned kernels beside conjugate gradients on cuSPARSE and cuBLAS: -Laplace u = f on n^3 cells with zeros beyond and random f,
// to |r| = 1e-8 |f|, from the first iteration to the last synchronisation, in turns. Ours: conjugate gradients with the polynomial preconditioner and
// without, with a field for the diagonal (12 words per cell and iteration) and with four numbers (10). On the processor ours run alone. A row may
// take a minute: what is going on is told on standard error.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "benchmarks/cusparse_cg.hpp"
#include "benchmarks/device_bench.hpp"
#include "examples/poisson/solver.hpp"

namespace {

using namespace hone;
using examples::PoissonSolver;
using examples::PoissonSystem;
using examples::Preconditioner;

constexpr int check_every = 20;

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void tell(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
}

// Between -1 and 1, from the number of the word alone (splitmix64), which is faster than a generator with a state.
template <typename Word>
void fill_randomly(std::span<Word> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15U;
        bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
        words[i] = static_cast<Word>(static_cast<double>((bits ^ (bits >> 31U)) >> 11U) * 0x1p-52 - 1);
    }
}

DeviceArray random_field(Backend& backend, Precision precision, int n) {
    HostArray words(precision, std::int64_t{n} * n * n);
    if (precision == Precision::f32)
        fill_randomly(words.values<float>());
    else
        fill_randomly(words.values<double>());
    DeviceArray field(backend, words.bytes());
    backend.copy(field.data(), words.data(), words.bytes());
    backend.synchronise();
    return field;
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
        if (solver_.pitch() != system.nx) throw std::runtime_error("this benchmark takes rows without padding: choose n as a multiple of 32");
    }

    const std::string& name() const { return name_; }
    std::string kernels() const { return solver_.kernels(); }
    examples::Solve solve(double tolerance, int most_iterations) {
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
    tell(fmt::format("{} n={}: right-hand side, three solvers and the rival", precision, n));
    const DeviceArray b = random_field(backend, real, n);
    const auto system = [&](const char* coefficients) { return PoissonSystem::laplacian(coefficients, "dirichlet", precision, n, n, n, 1); };
    std::vector<std::unique_ptr<Ours>> ours;
    ours.push_back(std::make_unique<Ours>("ppcg", system("axis"), Preconditioner::polynomial, b));
    ours.push_back(std::make_unique<Ours>("cg", system("axis"), Preconditioner::none, b));
    ours.push_back(std::make_unique<Ours>("ppcg_scalar", system("scalar"), Preconditioner::polynomial, b));
    std::string missing;
    const std::unique_ptr<CusparseCg> rival = CusparseCg::make(backend, real, n, missing);
    std::map<std::string, Timed> timed;
    const auto run_all = [&](bool counts) {
        for (const auto& one : ours) {
            const examples::Solve result = one->solve(tolerance, most_iterations);
            tell(fmt::format("  {}: {} iterations in {:.3g} s", one->name(), result.executed, result.seconds));
            Timed& of = timed[one->name()];
            of.executed = result.executed, of.bytes = result.bytes, of.converged = result.ending == examples::Ending::converged;
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
        state.counters["cusparse/ppcg"] = median(timed["cusparse"].seconds) / median(timed["ppcg"].seconds);
        state.counters["difference_to_rival"] = backend.largest_difference(ours[0]->solution(), rival->solution(), std::int64_t{n} * n * n, real);
    }
    std::string kernels = ours[0]->kernels();
    std::replace(kernels.begin(), kernels.end(), '\n', ';');
    state.SetLabel(fmt::format("{}; rival: {}", kernels, rival ? rival->names() : missing));
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    const auto add = [](const std::string& name, auto... arguments) {
        benchmark::RegisterBenchmark(name.c_str(), solve, arguments...)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
    };
    const int large = cuda ? 512 : 128;
    add(fmt::format("iteration precision=f32 n={}", large), "f32", large, 0.0, cuda ? 60 : 40, 5);
    add(fmt::format("to_1e-8 precision=f64 n={}", large / 2), "f64", large / 2, 1e-8, 20000, 3);
    // Seconds each, so that once is enough.
    add(fmt::format("to_1e-8 precision=f64 n={}", large), "f64", large, 1e-8, 20000, 1);
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
}
