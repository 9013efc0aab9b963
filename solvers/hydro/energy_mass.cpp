#include "solvers/hydro/energy_mass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

std::size_t at(int row, int column, int n) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(n) + static_cast<std::size_t>(column);
}

// The lower triangle L with L L^T = block; nothing where a pivot is not positive.
std::vector<double> cholesky(std::span<const double> block, int n) {
    std::vector<double> l(block.size(), 0.0);
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            double sum = block[at(i, j, n)];
            for (int k = 0; k < j; ++k) sum -= l[at(i, k, n)] * l[at(j, k, n)];
            if (i == j && !(sum > 0)) return {};
            l[at(i, j, n)] = i == j ? std::sqrt(sum) : sum / l[at(j, j, n)];
        }
    return l;
}

std::vector<double> all_inverses(int n, std::span<const double> blocks) {
    const std::size_t words = at(n, 0, n);
    const std::size_t zones = blocks.size() / words;
    std::vector<double> result(blocks.size());
    std::size_t bad = zones;  // the first zone without an inverse
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (std::size_t zone = 0; zone < zones; ++zone) {
        const std::vector<double> inverse = inverse_of(blocks.subspan(zone * words, words), n);
        if (inverse.empty())
            bad = std::min(bad, zone);
        else
            std::copy(inverse.begin(), inverse.end(), result.begin() + static_cast<std::ptrdiff_t>(zone * words));
    }
    if (bad < zones)
        throw Error("a block-diagonal mass matrix", fmt::format("the block of zone {} is not positive definite", bad), "is the zone inside out?");
    return result;
}

int zones_of(int n, std::span<const double> blocks) {
    const std::size_t words = at(n, 0, n);
    if (n < 1 || blocks.empty() || blocks.size() % words != 0)
        throw Error("a block-diagonal mass matrix", fmt::format("{} words", blocks.size()), fmt::format("give {} for each zone", words));
    return static_cast<int>(blocks.size() / words);
}

}  // namespace

std::vector<double> inverse_of(std::span<const double> block, int n) {
    const std::vector<double> l = cholesky(block, n);
    std::vector<double> inverse(l.size(), 0.0);
    if (l.empty()) return inverse;
    for (int column = 0; column < n; ++column) {
        // L y = e, then L^T x = y, in place.
        std::vector<double> x(static_cast<std::size_t>(n), 0.0);
        const auto word = [&](int i) -> double& { return x[static_cast<std::size_t>(i)]; };
        for (int i = column; i < n; ++i) {
            double sum = i == column ? 1 : 0;
            for (int k = column; k < i; ++k) sum -= l[at(i, k, n)] * word(k);
            word(i) = sum / l[at(i, i, n)];
        }
        for (int i = n - 1; i >= 0; --i) {
            double sum = word(i);
            for (int k = i + 1; k < n; ++k) sum -= l[at(k, i, n)] * word(k);
            word(i) = sum / l[at(i, i, n)];
            inverse[at(i, column, n)] = word(i);
        }
    }
    return inverse;
}

namespace {

std::shared_ptr<const Kernel> chosen(const Backend& backend, KernelLibrary& library, const Problem& problem, const std::string& configuration) {
    if (configuration.empty()) return library.kernel(problem);
    return library.kernel(problem, built_in_families().of(problem).space(problem, backend.device().limits).parse(configuration));
}

}  // namespace

Problem BlockInverse::problem(int n, std::int64_t zones) {
    return built_in_families().parse_problem(fmt::format("batched_gemv m={0} n={0} precision=f64 batch={1}", n, zones));
}

BlockInverse::BlockInverse(Backend& backend, KernelLibrary& library, int n, std::span<const double> blocks, const std::string& configuration)
    : zones_(zones_of(n, blocks)),
      inverses_(backend, static_cast<std::int64_t>(blocks.size_bytes())),
      kernel_(chosen(backend, library, problem(n, zones_), configuration)) {
    const std::vector<double> inverses = all_inverses(n, blocks);
    backend.copy(inverses_.data(), inverses.data(), inverses_.bytes());
    backend.synchronise();
}

void BlockInverse::apply(const void* b, void* x) const {
    // The kernel only reads b.
    kernel_->launch(std::array<void*, 3>{inverses_.data(), const_cast<void*>(b), x});
}

}  // namespace hone::inline v0_1::solvers::hydro
