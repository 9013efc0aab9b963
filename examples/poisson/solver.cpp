#include "examples/poisson/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/poisson7/family.hpp"
#include "runtime/uploader.hpp"

namespace hone::examples {
namespace {

using namespace poisson;

constexpr int longest_check = 200;  // the device keeps that many residuals, and a few from the start

void expect_length(const char* name, std::size_t found, std::int64_t expected) {
    if (static_cast<std::int64_t>(found) != expected)
        throw Error(fmt::format("{} of a Poisson system", name), fmt::format("{} words", found), fmt::format("give {}", expected));
}

Problem problem(const PoissonSystem& system, const char* kernel) {
    return built_in_families().parse_problem(fmt::format("poisson7 kernel={} coefficients={} boundary={} precision={} nx={} ny={} nz={}", kernel,
                                                         system.coefficients, system.boundary, system.precision, system.nx, system.ny, system.nz));
}

std::shared_ptr<const Kernel> chosen(const Backend& backend, KernelLibrary& library, const Problem& problem,
                                     const std::map<std::string, std::string>& configurations) {
    const auto found = configurations.find(problem.word("kernel"));
    if (found == configurations.end()) return library.kernel(problem);
    return library.kernel(problem, built_in_families().of(problem).space(problem, backend.device().limits).parse(found->second));
}

// Rows of `row` words in `words`, each with zeros behind it up to `pitch`.
template <typename Real>
HostArray converted(Precision precision, std::span<const double> words, std::int64_t row, std::int64_t pitch) {
    const std::int64_t rows = std::ssize(words) / row;
    HostArray array(precision, rows * pitch);
    Real* const values = array.values<Real>().data();
#pragma omp parallel for
    for (std::int64_t n = 0; n < rows; ++n) {
        std::transform(words.data() + n * row, words.data() + (n + 1) * row, values + n * pitch, [](double word) { return static_cast<Real>(word); });
        std::fill(values + n * pitch + row, values + (n + 1) * pitch, Real{0});
    }
    return array;
}

HostArray converted(Precision precision, std::span<const double> words, std::int64_t row, std::int64_t pitch) {
    return precision == Precision::f32 ? converted<float>(precision, words, row, pitch) : converted<double>(precision, words, row, pitch);
}

template <typename Real>
std::vector<double> widened_from(const HostArray& array) {
    const auto values = array.values<Real>();
    return {values.begin(), values.end()};
}

std::vector<double> widened(const HostArray& array) {
    return array.precision() == Precision::f32 ? widened_from<float>(array) : widened_from<double>(array);
}

}  // namespace

PoissonSystem PoissonSystem::laplacian(const std::string& coefficients, const std::string& boundary, const std::string& precision, int nx, int ny,
                                       int nz, double h) {
    PoissonSystem system{coefficients, boundary, precision, nx, ny, nz, {}, {}, {}, {}, boundary != "dirichlet"};
    const bool scalar = coefficients == "scalar";
    const auto cells = static_cast<std::size_t>(system.cells());
    const auto length = [&](int extent) { return scalar ? 1 : coefficients == "axis" ? static_cast<std::size_t>(extent) : cells; };
    system.cx.assign(length(nx), -1 / (h * h));
    system.cy.assign(length(ny), -1 / (h * h));
    system.cz.assign(length(nz), -1 / (h * h));
    system.diagonal.assign(scalar ? 1 : cells, 6 / (h * h));
    return system;
}

std::string to_string(Ending ending) {
    switch (ending) {
        case Ending::converged:
            return "converged";
        case Ending::too_many_iterations:
            return "too many iterations";
        case Ending::breakdown:
            return "breakdown";
    }
    return {};
}

struct PoissonSolver::State {
    Backend& backend;
    PoissonSystem system;
    Precision precision;
    std::shared_ptr<const Kernel> apply, direction, residual;
    std::int64_t pitch = 0;
    std::map<std::string, DeviceArray> arrays;
    Uploader uploader;
    std::optional<bool> inverse_is_of;  // what Q was last uploaded for
    // Directions and residuals alternate between two arrays: the kernels read neighbours of the old ones.
    std::vector<BoundKernel> directions, residuals;

    State(Backend& on, KernelLibrary& library, const PoissonSystem& of, const std::map<std::string, std::string>& configurations)
        : backend(on),
          system(of),
          precision(of.precision == "f32" ? Precision::f32 : Precision::f64),
          apply(chosen(on, library, problem(of, "apply"), configurations)),
          direction(chosen(on, library, problem(of, "direction"), configurations)),
          residual(chosen(on, library, problem(of, "residual"), configurations)),
          uploader(on) {
        for (const auto& scalar : direction->source().scalars)
            if (scalar.name == "pitch") pitch = scalar.value;
        for (const char* field : {"x", "w", "z", "p0", "p1", "r0", "r1"}) allocate(field, field_words());
        allocate("scalars", scalar::words);
        allocate("history", history_words);
        upload_operator();
        for (const std::string old : {"0", "1"}) {
            const std::string other = old == "0" ? "1" : "0";
            directions.push_back(bound(direction, {{"p_old", "p" + old}, {"p", "p" + other}}));
            residuals.push_back(bound(residual, {{"r_old", "r" + old}, {"r", "r" + other}}));
        }
    }

    std::int64_t field_words() const { return pitch * system.ny * system.nz; }
    void* data(const std::string& name) const { return arrays.at(name).data(); }
    bool is_solid(std::size_t cell) const { return system.diagonal.size() > 1 && system.diagonal[cell] == 0; }

    void allocate(const std::string& name, std::int64_t words) {
        arrays[name] = DeviceArray(backend, words * bytes_per_word(precision));
        backend.fill(data(name), 0, arrays[name].bytes());
    }

    // A kernel on the solver's arrays; `renamed` where its names differ from theirs.
    BoundKernel bound(const std::shared_ptr<const Kernel>& kernel, const std::map<std::string, std::string>& renamed) const {
        std::vector<void*> pointers;
        for (const auto& array : kernel->source().arrays) {
            const auto found = renamed.find(array.name);
            pointers.push_back(data(found == renamed.end() ? array.name : found->second));
        }
        return {kernel, pointers};
    }

    void upload(const std::string& name, std::span<const double> words) {
        const HostArray array = converted(precision, words, std::ssize(words), std::ssize(words));
        uploader.upload(data(name), array.data(), array.bytes());
    }
    // Values of cells, into rows with padding.
    void upload_field(const std::string& name, std::span<const double> cells) {
        const HostArray array = converted(precision, cells, system.nx, pitch);
        uploader.upload(data(name), array.data(), array.bytes());
    }
    // One word everywhere: the device copies what it has until the field is full.
    void fill_field(const std::string& name, double word) {
        const std::vector<double> first(static_cast<std::size_t>(std::min<std::int64_t>(field_words(), 1 << 16)), word);
        upload(name, first);
        const std::int64_t bytes = arrays.at(name).bytes();
        auto* const field = static_cast<char*>(data(name));
        for (std::int64_t done = std::ssize(first) * bytes_per_word(precision); done < bytes; done *= 2)
            backend.copy(field + done, field, std::min(done, bytes - done));
    }
    // A word for each cell, made of those of the diagonal.
    template <typename Make>
    void upload_diagonal(const std::string& name, const Make& make) {
        if (system.diagonal.size() == 1) return fill_field(name, make(system.diagonal[0]));
        std::vector<double> words(system.diagonal.size());
        std::transform(system.diagonal.begin(), system.diagonal.end(), words.begin(), make);
        upload_field(name, words);
    }

    std::vector<double> download(const std::string& name) const {
        HostArray array(precision, arrays.at(name).bytes() / bytes_per_word(precision));
        backend.copy(array.data(), data(name), array.bytes());
        backend.synchronise();
        return widened(array);
    }

    // Scalars and history.
    std::pair<std::vector<double>, std::vector<double>> look() const {
        std::array<HostArray, 2> words{HostArray(precision, scalar::words), HostArray(precision, history_words)};
        backend.copy(words[0].data(), data("scalars"), words[0].bytes());
        backend.copy(words[1].data(), data("history"), words[1].bytes());
        backend.synchronise();
        return {widened(words[0]), widened(words[1])};
    }

    // Values of cells, from rows with padding.
    void unpadded(const std::vector<double>& words, std::span<double> cells) const {
        for (std::size_t row = 0; row < rows(); ++row)
            std::copy_n(words.begin() + offset(row, pitch), system.nx, cells.begin() + offset(row, system.nx));
    }
    std::size_t rows() const { return static_cast<std::size_t>(system.ny) * static_cast<std::size_t>(system.nz); }
    static std::ptrdiff_t offset(std::size_t row, std::int64_t width) { return static_cast<std::ptrdiff_t>(row) * width; }

    void upload_operator() {
        if (system.coefficients == "scalar") {
            for (const auto* words : {&system.cx, &system.cy, &system.cz, &system.diagonal}) expect_length("a coefficient", words->size(), 1);
            allocate("coefficients", 5);
            return;
        }
        const bool face = system.coefficients == "face";
        const auto line = [&](const char* name, const std::vector<double>& words, int extent) {
            expect_length(name, words.size(), face ? system.cells() : extent);
            allocate(name, face ? field_words() : extent);
            face ? upload_field(name, words) : upload(name, words);
        };
        line("cx", system.cx, system.nx);
        line("cy", system.cy, system.ny);
        line("cz", system.cz, system.nz);
        if (system.diagonal.size() != 1) expect_length("diagonal", system.diagonal.size(), system.cells());
        allocate("diagonal", field_words());
        allocate("inverse_diagonal", field_words());
        upload_diagonal("diagonal", [](double diagonal) { return diagonal; });
    }

    // Q: the inverse diagonal, or ones for plain conjugate gradients.
    void upload_inverse(bool preconditioned) {
        if (inverse_is_of == preconditioned) return;
        inverse_is_of = preconditioned;
        const auto inverse = [&](double diagonal) -> double { return diagonal == 0 ? 0 : preconditioned ? 1 / diagonal : 1; };
        if (system.coefficients == "scalar") {
            upload("coefficients", std::array{system.diagonal[0], system.cx[0], system.cy[0], system.cz[0], inverse(system.diagonal[0])});
            return;
        }
        upload_diagonal("inverse_diagonal", inverse);
    }

    std::vector<double> first_scalars(const SolverSettings& settings) const {
        const bool polynomial = settings.preconditioner == Preconditioner::polynomial;
        std::vector<double> scalars(scalar::words, 0.0);
        scalars[scalar::own_weight] = polynomial ? settings.c - 1 : 1;
        scalars[scalar::neighbour_weight] = polynomial ? 1 : 0;
        if (system.singular) {
            std::int64_t fluid = 0;
            for (std::size_t cell = 0; cell < static_cast<std::size_t>(system.cells()); ++cell) fluid += is_solid(cell) ? 0 : 1;
            scalars[scalar::mean_weight] = static_cast<double>(system.cells()) / static_cast<double>(std::max<std::int64_t>(fluid, 1));
        }
        return scalars;
    }

    // The first residual of the b in r0 and, for a singular system, the same without its mean. Returns how many residual halves that took.
    int begin(const SolverSettings& settings) {
        upload_inverse(settings.preconditioner != Preconditioner::none);
        for (const char* name : {"p0", "p1"}) backend.fill(data(name), 0, arrays.at(name).bytes());
        std::vector<double> scalars = first_scalars(settings);
        scalars[scalar::alpha] = 1;  // r = b - M x
        upload("scalars", scalars);
        bound(apply, {{"p", "x"}}).launch();
        residuals[0].launch();
        if (!system.singular) return 1;
        backend.fill(data("w"), 0, arrays.at("w").bytes());
        residuals[1].launch();
        return 2;
    }

    void remove_mean(std::span<double> x) const {
        double sum = 0;
        std::int64_t fluid = 0;
        for (std::size_t cell = 0; cell < x.size(); ++cell)
            if (!is_solid(cell)) sum += x[cell], ++fluid;
        for (std::size_t cell = 0; cell < x.size(); ++cell)
            if (!is_solid(cell)) x[cell] -= sum / static_cast<double>(fluid);
    }
};

PoissonSolver::PoissonSolver(Backend& backend, KernelLibrary& library, const PoissonSystem& system,
                             const std::map<std::string, std::string>& configurations)
    : state_(std::make_unique<State>(backend, library, system, configurations)) {
}
PoissonSolver::~PoissonSolver() = default;

void* PoissonSolver::right_hand_side() const {
    return state_->data("r0");
}
void* PoissonSolver::solution() const {
    return state_->data("x");
}
std::int64_t PoissonSolver::pitch() const {
    return state_->pitch;
}

Solve PoissonSolver::solve(std::span<const double> b, std::span<double> x, const SolverSettings& settings) {
    State& s = *state_;
    expect_length("b", b.size(), s.system.cells());
    expect_length("x", x.size(), s.system.cells());
    s.upload_field("r0", b);
    s.upload_field("x", x);
    Solve result = solve(settings);
    s.unpadded(s.download("x"), x);
    if (s.system.singular) s.remove_mean(x);
    return result;
}

Solve PoissonSolver::solve(const SolverSettings& settings) {
    State& s = *state_;
    if (settings.check_every < 1 || settings.check_every > longest_check)
        throw Error("settings of the Poisson solver", fmt::format("check_every is {}", settings.check_every),
                    fmt::format("use 1 to {}", longest_check));
    const int before = s.begin(settings);
    s.backend.synchronise();
    Solve result;
    const Family& family = built_in_families().find("poisson7");
    result.bytes = family.counts(s.direction->problem()).bytes + family.counts(s.residual->problem()).bytes;
    result.ending = Ending::too_many_iterations;
    const auto start = std::chrono::steady_clock::now();
    double first = -1;
    while (result.executed < settings.most_iterations && result.ending == Ending::too_many_iterations) {
        const int steps = std::min(settings.check_every, settings.most_iterations - result.executed);
        for (int step = 0; step < steps; ++step) {
            // The residual is where the start left it, the first direction is made of it and zeros.
            const int n = result.executed + step;
            s.directions[static_cast<std::size_t>(n % 2)].launch();
            s.residuals[static_cast<std::size_t>((n + before) % 2)].launch();
        }
        const auto [scalars, history] = s.look();  // the only synchronisation
        if (first < 0) first = std::sqrt(history[static_cast<std::size_t>(before - 1)]);
        for (int step = 0; step < steps; ++step) {
            const double norm = std::sqrt(history[static_cast<std::size_t>((before + result.executed + step) % history_words)]);
            result.history.push_back(first > 0 ? norm / first : norm);
        }
        result.executed += steps;
        const double enough = first > 0 ? std::max(settings.tolerance, settings.small / first) : settings.tolerance;
        const auto small = std::find_if(result.history.begin(), result.history.end(), [&](double norm) { return norm <= enough; });
        result.iterations = small == result.history.end() ? result.executed : static_cast<int>(small - result.history.begin()) + 1;
        if (first <= settings.small) result.iterations = 0;
        if (small != result.history.end())
            result.ending = Ending::converged;
        else if (scalars[scalar::breakdown] != 0 || !std::isfinite(result.history.back()))
            result.ending = Ending::breakdown;
        if (settings.progress) settings.progress(result.history);
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // The last step of x is taken by the direction half of an iteration that does not come.
    s.directions[static_cast<std::size_t>(result.executed % 2)].launch();
    return result;
}

double PoissonSolver::true_residual(std::span<const double> b, std::span<const double> x) {
    State& s = *state_;
    s.upload_inverse(true);
    s.upload_field("x", x);
    s.bound(s.apply, {{"p", "x"}}).launch();
    std::vector<double> product(b.size());
    s.unpadded(s.download("w"), product);
    const auto norm_without_mean = [&](auto&& value) {
        double sum = 0, square = 0, cells = 0;
        for (std::size_t cell = 0; cell < b.size(); ++cell)
            if (!s.is_solid(cell)) sum += value(cell), cells += 1;
        const double mean = s.system.singular ? sum / cells : 0;
        for (std::size_t cell = 0; cell < b.size(); ++cell)
            if (!s.is_solid(cell)) square += std::pow(value(cell) - mean, 2);
        return std::sqrt(square);
    };
    const double of_b = norm_without_mean([&](std::size_t cell) { return b[cell]; });
    const double of_r = norm_without_mean([&](std::size_t cell) { return b[cell] - product[cell]; });
    return of_b > 0 ? of_r / of_b : of_r;
}

std::string PoissonSolver::kernels() const {
    const auto found = [](const Kernel& kernel) { return fmt::format("{}, {}", to_string(kernel.match().grade), kernel.match().config.key()); };
    return fmt::format("direction: {}\nresidual:  {}", found(*state_->direction), found(*state_->residual));
}

std::array<Grade, 2> PoissonSolver::grades() const {
    return {state_->direction->match().grade, state_->residual->match().grade};
}

}  // namespace hone::examples
