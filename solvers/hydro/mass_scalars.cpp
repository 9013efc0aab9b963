#include "solvers/hydro/mass_scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr std::int64_t word = sizeof(double);

}  // namespace

MassScalars::MassScalars(Backend& backend, int components, int more)
    : backend_(&backend),
      components_(components),
      array_(backend, (std::int64_t{components} * MassKernels::words + more) * word),
      look_(backend, plain_rows(Precision::f64, std::int64_t{components} * MassKernels::words + more, 1), HostMemory::pinned) {
    const auto all = look_.row<double>(0);
    std::fill(all.begin(), all.end(), 0.0);
}

void MassScalars::prepare(const MassSettings& settings) {
    if (settings.check_every < 1) throw Error("settings of the mass solver", fmt::format("check_every is {}", settings.check_every), "use 1 or more");
    if (settings.tolerance == tolerance_) return;  // it stays there
    tolerance_ = settings.tolerance;
    const auto all = look_.row<double>(0);
    for (int c = 0; c < components_; ++c) all[static_cast<std::size_t>(c * MassKernels::words + MassKernels::tolerance)] = tolerance_ * tolerance_;
    backend_->copy(array_.data(), look_.data(), array_.bytes());
    backend_->synchronise();
}

MassSolve MassScalars::solve(const MassSettings& settings, const std::function<void(int)>& iterate) {
    int executed = 0;
    do {
        // Systems of one run take about the same number of iterations: no look before the last
        // ones'.
        const bool first_look = executed == 0 && settings.check_every > 1;
        const int wanted = first_look ? std::max({usual_[0], usual_[1], settings.check_every}) : settings.check_every;
        const int steps = std::min(wanted, settings.most_iterations - executed);
        iterate(steps);
        executed += steps;
        read();
    } while (any(MassKernels::active) && executed < settings.most_iterations);
    MassSolve solve = result(executed);
    usual_ = {usual_[1], *std::max_element(solve.iterations.begin(), solve.iterations.end())};
    return solve;
}

// A word of each component's.
std::vector<double> MassScalars::words_of(MassKernels::Word which) {
    std::vector<double> result;
    result.reserve(static_cast<std::size_t>(components_));
    const auto all = look_.row<double>(0);
    for (int c = 0; c < components_; ++c) result.push_back(all[static_cast<std::size_t>(c * MassKernels::words + which)]);
    return result;
}

bool MassScalars::any(MassKernels::Word which) {
    const std::vector<double> all = words_of(which);
    return std::any_of(all.begin(), all.end(), [](double value) { return value != 0; });
}

void MassScalars::read() {
    backend_->copy(look_.data(), array_.data(), array_.bytes());
    backend_->synchronise();
}

MassSolve MassScalars::result(int executed) {
    MassSolve solve;
    solve.executed = executed;
    if (any(MassKernels::active)) solve.ending = MassEnding::too_many_iterations;
    if (any(MassKernels::breakdown)) solve.ending = MassEnding::breakdown;
    for (const double count : words_of(MassKernels::iterations)) solve.iterations.push_back(static_cast<int>(count));
    const std::vector<double> first = words_of(MassKernels::first_delta);
    for (const double delta : words_of(MassKernels::delta)) {
        const double of_first = first[solve.residuals.size()];
        solve.residuals.push_back(of_first == 0 ? 0 : std::sqrt(delta / of_first));
    }
    return solve;
}

}  // namespace hone::inline v0_1::solvers::hydro
