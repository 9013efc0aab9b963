#include "examples/multigrid_smoother/smoother.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/workload.hpp"

namespace hone::examples {
namespace {

constexpr std::size_t centre = 13;

// The coefficients as the sweep takes them.
std::array<double, 27> with_reciprocal(const ModelProblem& problem) {
    std::array<double, 27> s = problem.coefficients();
    s[centre] = 1 / s[centre];
    return s;
}

unsigned colour_of(int x, int y, int z) {
    return static_cast<unsigned>((x - 1) % 2 + 2 * ((y - 1) % 2) + 4 * ((z - 1) % 2));
}

HostArray rounded(const std::vector<double>& words, Precision precision) {
    HostArray array(precision, static_cast<std::int64_t>(words.size()));
    if (precision == Precision::f32)
        std::transform(words.begin(), words.end(), array.values<float>().begin(), [](double word) { return static_cast<float>(word); });
    else
        std::copy(words.begin(), words.end(), array.values<double>().begin());
    return array;
}

}  // namespace

SmoothedGrid::SmoothedGrid(Backend& backend, KernelLibrary& library, const ModelProblem& problem, const std::string& stencil, Precision precision)
    : backend_(backend), problem_(problem), precision_(precision) {
    const auto kernel = library.kernel(built_in_families().parse_problem(
        fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, to_string(precision), problem.n, problem.n, problem.n)));
    const std::vector<ArraySpec>& arrays = kernel->source().arrays;
    const std::int64_t rows = std::int64_t{problem.n + 2} * (problem.n + 2);
    pitch_ = static_cast<int>(arrays[0].words / rows);
    for (DeviceArray* field : {&u_, &f_, &residual_}) {
        *field = DeviceArray(backend, arrays[0].words * bytes_per_word(precision));
        backend.fill(field->data(), 0, field->bytes());
    }
    stencil_ = DeviceArray(backend, arrays[2].words * bytes_per_word(precision));
    upload_stencil(stencil);
    const std::array<double, 27> coefficients = problem.coefficients();
    operator_ = DeviceArray(backend, 27 * bytes_per_word(precision));
    upload(operator_.data(), {coefficients.begin(), coefficients.end()});
    sweep_ = std::make_unique<BoundKernel>(kernel, std::array<void*, 3>{u(), f(), stencil_.data()});
}

void SmoothedGrid::upload(void* to, const std::vector<double>& words) const {
    const HostArray host = rounded(words, precision_);
    backend_.copy(to, host.data(), host.bytes());
    backend_.synchronise();
}

void SmoothedGrid::for_points(const std::function<void(int x, int y, int z, std::size_t at)>& visit) const {
    const int n = problem_.n;
    for (int z = 1; z <= n; ++z)
        for (int y = 1; y <= n; ++y)
            for (int x = 1; x <= n; ++x) visit(x, y, z, static_cast<std::size_t>((std::int64_t{z} * (n + 2) + y) * pitch_ + x));
}

// One operator, in the layouts of generator/families/gauss_seidel_27/family.hpp.
void SmoothedGrid::upload_stencil(const std::string& kind) {
    const std::array<double, 27> s = with_reciprocal(problem_);
    if (kind == "constant") return upload(stencil_.data(), {s.begin(), s.end()});
    const auto n = static_cast<std::size_t>(problem_.n);
    if (kind == "semi_constant") {
        constexpr std::size_t words_of_row = 32;
        std::vector<double> rows(n * n * words_of_row);
        for (std::size_t row = 0; row < n * n; ++row) std::copy(s.begin(), s.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * words_of_row));
        return upload(stencil_.data(), rows);
    }
    // One block of words for each coefficient: all 27, or the centre's and those after it.
    const std::size_t first = kind == "symmetric" ? centre : 0;
    const std::int64_t bytes = stencil_.bytes() / static_cast<std::int64_t>(s.size() - first);
    for (std::size_t k = first; k < s.size(); ++k)
        upload(static_cast<std::byte*>(stencil_.data()) + static_cast<std::int64_t>(k - first) * bytes,
               std::vector<double>(static_cast<std::size_t>(bytes / bytes_per_word(precision_)), s[k]));
}

void SmoothedGrid::set_source() {
    std::vector<double> words(static_cast<std::size_t>(f_.bytes() / bytes_per_word(precision_)));
    for_points([&](int x, int y, int z, std::size_t at) { words[at] = problem_.source * problem_.mode(x, y, z); });
    upload(f(), words);
}

std::vector<double> SmoothedGrid::values(const void* field) const {
    HostArray host(precision_, u_.bytes() / bytes_per_word(precision_));
    backend_.copy(host.data(), field, host.bytes());
    backend_.synchronise();
    const auto n = static_cast<std::size_t>(problem_.n);
    std::vector<double> result;
    result.reserve(n * n * n);
    for_points([&](int, int, int, std::size_t at) {
        result.push_back(precision_ == Precision::f32 ? static_cast<double>(host.values<float>()[at]) : host.values<double>()[at]);
    });
    return result;
}

double SmoothedGrid::distance(const ColourErrors* errors) const {
    const std::vector<double> computed = values(u());
    double largest = 0;
    std::size_t point = 0;
    for_points([&](int x, int y, int z, std::size_t) {
        const double left = errors == nullptr ? 0 : errors->of(colour_of(x, y, z));
        largest = std::max(largest, std::abs(computed[point++] / problem_.amplitude - (1 - left) * problem_.mode(x, y, z)));
    });
    return largest;
}

std::array<double, 8> SmoothedGrid::colour_errors() const {
    const std::vector<double> computed = values(u());
    std::array<double, 8> product{}, square{};
    std::size_t point = 0;
    for_points([&](int x, int y, int z, std::size_t) {
        const double mode = problem_.mode(x, y, z);
        product[colour_of(x, y, z)] += computed[point++] / problem_.amplitude * mode;
        square[colour_of(x, y, z)] += mode * mode;
    });
    std::array<double, 8> errors{};
    for (std::size_t colour = 0; colour < errors.size(); ++colour)
        if (square[colour] > 0) errors[colour] = 1 - product[colour] / square[colour];
    return errors;
}

double SmoothedGrid::largest_residual() const {
    double largest = 0;
    for (const double value : values(residual())) largest = std::max(largest, std::abs(value));
    return largest;
}

Multigrid::Multigrid(Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil,
                     Precision precision, const Settings& settings)
    : transfer_(backend, precision), settings_(settings), mean_(ModelProblem(operator_name, n).volume == 1) {
    constexpr int most_on_coarsest = 16;
    int coarsest = n;
    while (coarsest % 2 == 1 && coarsest > 1) coarsest /= 2;
    if (coarsest > most_on_coarsest)
        throw Error(fmt::format("{} points a direction", n), fmt::format("halving them ends at {}", coarsest), "use 2^k - 1 points, 63 or 127 say");
    for (;; n /= 2) {
        grids_.push_back(std::make_unique<SmoothedGrid>(backend, library, ModelProblem(operator_name, n), stencil, precision));
        if (n % 2 == 0 || n == 1) return;
    }
}

void Multigrid::make_residual(SmoothedGrid& grid) {
    transfer_.residual(grid.residual(), grid.u(), grid.f(), grid.coefficients(), grid.shape());
}

double Multigrid::residual() {
    make_residual(finest());
    return finest().largest_residual();
}

void Multigrid::cycle(std::size_t level) {
    SmoothedGrid& grid = *grids_[level];
    if (level + 1 == grids_.size()) {
        // A single point is solved by one sweep; n of them by some n^2.
        const int n = grid.problem().n;
        for (int i = 0; i < (n == 1 ? 1 : n * n); ++i) grid.sweep();
        return;
    }
    SmoothedGrid& coarse = *grids_[level + 1];
    for (int i = 0; i < settings_.sweeps_before; ++i) grid.sweep();
    make_residual(grid);
    transfer_.restrict_to(coarse.f(), grid.residual(), coarse.shape(), grid.shape(), mean_);
    coarse.clear_u();
    cycle(level + 1);
    transfer_.add_interpolated(grid.u(), coarse.u(), grid.shape(), coarse.shape());
    for (int i = 0; i < settings_.sweeps_after; ++i) grid.sweep();
}

}  // namespace hone::examples
