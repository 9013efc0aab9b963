#include "solvers/multigrid_smoother/smoother.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/workload.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::inline v0_1::solvers {
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
    : SmoothedGrid(nullptr, cut_planes(problem.n, 1, problem.n), 0, backend, library, problem, stencil, precision) {
}

SmoothedGrid::SmoothedGrid(Communicator* ranks, const PlaneCuts& cuts, int level, Backend& backend, KernelLibrary& library,
                           const ModelProblem& problem, const std::string& stencil, Precision precision)
    : alone_(ranks == nullptr ? self_communicator() : nullptr),
      ranks_(ranks == nullptr ? *alone_ : *ranks),
      backend_(backend),
      problem_(problem),
      precision_(precision),
      cuts_(cuts),
      level_(level),
      slab_(cuts.slab(level, ranks_.rank())) {
    const auto kernel = library.kernel(built_in_families().parse_problem(
        fmt::format("gauss_seidel_27 stencil={} precision={} nx={} ny={} nz={}", stencil, to_string(precision), problem.n, problem.n, planes())));
    const std::vector<ArraySpec>& arrays = kernel->source().arrays;
    const std::int64_t rows = (planes() + 2) * (problem.n + 2);
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
    for (int rank = 0; rank < ranks_.size(); ++rank) planes_of_ranks_.push_back(static_cast<int>(cuts.slab(level, rank).layers()));
    if (slab_.is_cut()) prepare_exchange();
}

void SmoothedGrid::renew_exchanges() {
    if (!slab_.is_cut()) return;
    backend_.synchronise();
    prepare_exchange();
}

// Whole planes are sent, with what lies around their points.
void SmoothedGrid::prepare_exchange() {
    const std::int64_t plane = std::int64_t{problem_.n + 2} * pitch_;
    const auto exchange = [&](GridPartition of, std::int64_t stride, std::int64_t origin) {
        of.cells[0] = plane;
        return std::make_unique<HaloExchange>(ranks_, backend_, of,
                                              HaloLayout{.strides = {1, 0, stride}, .origin = origin, .word_bytes = bytes_per_word(precision_)});
    };
    // The first odd plane is the second one, and the second plane of the points is the third of the
    // array.
    odd_planes_ = exchange(cuts_.odd_planes(level_), 2 * plane, 2 * plane);
    planes_beside_ = exchange(cuts_.planes(level_), plane, plane);
}

TransferKernels::Range SmoothedGrid::interpolated_planes() const {
    const auto last = static_cast<int>(planes());
    return {slab_.below > 0 ? 0 : 1, slab_.above > 0 ? last + 2 : last + 1};
}

// Even planes come before odd ones, and need of these the old values. So the odd planes that travel
// can be swept when the even ones beside them are, and the other odd planes beside those wait for
// the interior's sweep. The next rank's first plane, which is even, is swept here as well.
void SmoothedGrid::sweep() {
    if (odd_planes_ == nullptr) return sweep_->launch();
    const std::int64_t deeper = 2 * (std::int64_t{ranks_.exchange_settings().depth} - 1), beside_first_odd = 3 + deeper, beside_last_odd = 2 + deeper;
    const std::int64_t own = slab_.layers(), first = slab_.below > 0 ? beside_first_odd : 0, last = slab_.above > 0 ? own - beside_last_odd : own;
    const bool has_interior = first < last;
    if (has_interior) {
        if (slab_.below > 0) sweep_->launch(0, first);
        if (slab_.above > 0) sweep_->launch(last, planes());
    } else {
        sweep_->launch();
    }
    odd_planes_->begin(std::array<void*, 1>{u()});
    if (has_interior) sweep_->launch(first, last);
    odd_planes_->end();
}

void SmoothedGrid::complete_source(const PlaneCuts& cuts, int level) {
    if (planes_beside_ != nullptr) {
        planes_beside_->begin(std::array<void*, 1>{f()});
        planes_beside_->end();
    } else if (cuts.shared == level && level > 0) {
        // The planes whose fine ones a rank has.
        const auto n = static_cast<std::size_t>(problem_.n);
        std::vector<int> counts;
        std::size_t begin = 0;
        for (int rank = 0; rank < ranks_.size(); ++rank) {
            const CellRange fine = cuts.slab(level - 1, rank).own;
            if (rank == ranks_.rank()) begin = static_cast<std::size_t>(fine.first / 2) * n * n;
            counts.push_back(static_cast<int>((fine.last / 2 - fine.first / 2) * problem_.n * problem_.n));
        }
        const std::vector<double> restricted = values(f());
        std::vector<double> all(restricted.size());
        ranks_.all_gather(std::span(restricted).subspan(begin, static_cast<std::size_t>(counts[static_cast<std::size_t>(ranks_.rank())])), counts,
                          all);
        std::vector<double> words(static_cast<std::size_t>(f_.bytes() / bytes_per_word(precision_)));
        auto next = all.begin();
        for_points(planes(), [&](int, int, int, std::size_t at) { words[at] = *next++; });
        upload(f(), words);
    }
}

void SmoothedGrid::upload(void* to, const std::vector<double>& words) const {
    const HostArray host = rounded(words, precision_);
    backend_.copy(to, host.data(), host.bytes());
    backend_.synchronise();
}

void SmoothedGrid::for_points(std::int64_t planes, const std::function<void(int x, int y, int z, std::size_t at)>& visit) const {
    const int n = problem_.n, before = static_cast<int>(slab_.own.first);
    for (int z = 1; z <= planes; ++z)
        for (int y = 1; y <= n; ++y)
            for (int x = 1; x <= n; ++x) visit(x, y, before + z, static_cast<std::size_t>((std::int64_t{z} * (n + 2) + y) * pitch_ + x));
}

// One operator, in the layouts of generator/families/gauss_seidel_27/family.hpp.
void SmoothedGrid::upload_stencil(const std::string& kind) {
    const std::array<double, 27> s = with_reciprocal(problem_);
    if (kind == "constant") return upload(stencil_.data(), {s.begin(), s.end()});
    const auto n = static_cast<std::size_t>(problem_.n);
    if (kind == "semi_constant") {
        constexpr std::size_t words_of_row = 32;
        const std::size_t all = n * static_cast<std::size_t>(planes());
        std::vector<double> rows(all * words_of_row);
        for (std::size_t row = 0; row < all; ++row) std::copy(s.begin(), s.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * words_of_row));
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
    for_points(planes(), [&](int x, int y, int z, std::size_t at) { words[at] = problem_.source * problem_.mode(x, y, z); });
    upload(f(), words);
}

std::vector<double> SmoothedGrid::values(const void* field, bool with_next) const {
    HostArray host(precision_, u_.bytes() / bytes_per_word(precision_));
    backend_.copy(host.data(), field, host.bytes());
    backend_.synchronise();
    const std::int64_t visited = with_next ? planes() : slab_.layers();
    std::vector<double> result;
    result.reserve(static_cast<std::size_t>(problem_.n * problem_.n * visited));
    for_points(visited, [&](int, int, int, std::size_t at) { result.push_back(host.word(static_cast<std::int64_t>(at))); });
    return result;
}

double SmoothedGrid::distance(const ColourErrors* errors) const {
    const std::vector<double> computed = values(u());
    double largest = 0;
    std::size_t point = 0;
    for_points(slab_.layers(), [&](int x, int y, int z, std::size_t) {
        const double left = errors == nullptr ? 0 : errors->of(colour_of(x, y, z));
        largest = std::max(largest, std::abs(computed[point++] / problem_.amplitude - (1 - left) * problem_.mode(x, y, z)));
    });
    return all_reduce(ranks_, Reduction::largest, largest);
}

// By planes, so that the sums do not know how many ranks there are.
std::array<double, 8> SmoothedGrid::colour_errors() const {
    constexpr int sums = 16;  // of eight colours
    const std::vector<double> computed = values(u());
    std::vector<double> own(static_cast<std::size_t>(sums * slab_.layers()));
    std::size_t point = 0;
    for_points(slab_.layers(), [&](int x, int y, int z, std::size_t) {
        const double mode = problem_.mode(x, y, z);
        double* const of_colour = own.data() + static_cast<std::size_t>(sums * (z - 1 - slab_.own.first) + 2 * colour_of(x, y, z));
        of_colour[0] += computed[point++] / problem_.amplitude * mode;
        of_colour[1] += mode * mode;
    });
    std::vector<int> counts = planes_of_ranks_;
    for (int& count : counts) count *= sums;
    std::vector<double> all(static_cast<std::size_t>(sums * problem_.n));
    ranks_.all_gather(own, counts, all);
    std::array<double, sums> total{};
    for (std::size_t n = 0; n < all.size(); ++n) total[n % sums] += all[n];
    std::array<double, 8> errors{};
    for (std::size_t colour = 0; colour < errors.size(); ++colour)
        if (total[2 * colour + 1] > 0) errors[colour] = 1 - total[2 * colour] / total[2 * colour + 1];
    return errors;
}

double SmoothedGrid::largest_residual() const {
    double largest = 0;
    for (const double value : values(residual())) largest = std::max(largest, std::abs(value));
    return all_reduce(ranks_, Reduction::largest, largest);
}

Multigrid::Multigrid(Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil,
                     Precision precision, const Settings& settings)
    : Multigrid(nullptr, backend, library, operator_name, n, stencil, precision, settings) {
}

Multigrid::Multigrid(Communicator* ranks, Backend& backend, KernelLibrary& library, const std::string& operator_name, int n,
                     const std::string& stencil, Precision precision, const Settings& settings)
    : alone_(ranks == nullptr ? self_communicator() : nullptr),
      ranks_(ranks == nullptr ? *alone_ : *ranks),
      transfer_(backend, precision),
      settings_(settings),
      cuts_(cut_planes(n, ranks_.size(), settings.least_shared)),
      mean_(ModelProblem(operator_name, n).volume == 1) {
    constexpr int most_on_coarsest = 16;
    int coarsest = n;
    while (coarsest % 2 == 1 && coarsest > 1) coarsest /= 2;
    if (coarsest > most_on_coarsest)
        throw Error(fmt::format("{} points a direction", n), fmt::format("halving them ends at {}", coarsest), "use 2^k - 1 points, 63 or 127 say");
    for (int level = 0;; ++level, n /= 2) {
        grids_.push_back(std::make_unique<SmoothedGrid>(ranks_, cuts_, level, backend, library, ModelProblem(operator_name, n), stencil, precision));
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
    // The coarse planes between the own fine ones.
    const CellRange fine = grid.slab().own;
    const auto first = static_cast<int>(fine.first / 2) - coarse.shape().first, last = static_cast<int>(fine.last / 2) - coarse.shape().first;
    transfer_.restrict_to(coarse.f(), grid.residual(), coarse.shape(), grid.shape(), mean_, {first + 1, last + 1});
    coarse.complete_source(cuts_, static_cast<int>(level) + 1);
    coarse.clear_u();
    cycle(level + 1);
    transfer_.add_interpolated(grid.u(), coarse.u(), grid.shape(), coarse.shape(), grid.interpolated_planes());
    for (int i = 0; i < settings_.sweeps_after; ++i) grid.sweep();
}

}  // namespace hone::inline v0_1::solvers
