#include "solvers/acoustics/time_levels.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/acoustics/wave_grid.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

// Seconds per cell and time step on a device, by a database: not those of another model.
std::optional<double> seconds_per_cell(const Database& database, const Backend& backend, const Problem& problem) {
    const Match match = database.best(problem, backend.device().fingerprint, backend.device().limits);
    if (match.grade > Grade::nearest_size) return std::nullopt;
    if (!match.record || match.record->counts.updates <= 0) return std::nullopt;
    return match.record->step.median / match.record->counts.updates;
}

// Rows computed beside in a pass, as a part of those of a time step.
double part_beside(const WaveGrid& grid, int levels, const Survey& survey) {
    double rows = 0;
    for (const Rows& beside : grid.rows_beside(levels, survey)) rows += beside.last - beside.first;
    return rows / grid.cells(1);
}

}  // namespace

std::vector<Rows> rows_beside(int levels, int reach, int rows, int source, const std::vector<int>& receivers) {
    const auto [lowest, highest] = std::minmax_element(receivers.begin(), receivers.end());
    std::vector<Rows> result(static_cast<std::size_t>(levels));
    Rows needed{source - (levels - 1) * reach, source + (levels - 1) * reach + 1};
    for (auto step = result.rbegin(); step != result.rend(); ++step) {
        *step = {std::max(needed.first, 0), std::min(needed.last, rows)};
        needed = {needed.first - reach, needed.last + reach};
        if (!receivers.empty()) needed = {std::min(needed.first, *lowest), std::max(needed.last, *highest + 1)};
    }
    return result;
}

int most_levels(const Model& model, const WaveSettings& settings) {
    constexpr int most = 4, most_rows = 16;  // what the family offers
    if (settings.kernels != "step") return 1;
    const int by_order = std::min(most, most_rows / (settings.order / 2));
    // What is mirrored lies between the walls.
    const int by_size = (*std::min_element(model.cells.begin(), model.cells.begin() + model.dimension) - 1) / (settings.order - 1);
    return std::clamp(by_size, 1, by_order);
}

bool can_run(const Backend& backend, const Problem& problem) {
    try {
        built_in_families().find(problem.family()).space(problem, backend.device().limits);
        return true;
    } catch (const Error&) {
        return false;
    }
}

int fastest_levels(const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings, const Survey& survey) {
    const WaveGrid grid(model, settings, WaveGrid::all_layers(model, settings));
    const auto cost_of = [&](int levels) {
        WaveSettings with = settings;
        with.levels = levels;
        const Problem problem = WaveGrid::problem(model, with, "step");
        return can_run(backend, problem) ? seconds_per_cell(database, backend, problem) : std::nullopt;
    };
    int fastest = 1;
    const int most = most_levels(model, settings);
    if (most == 1) return fastest;
    const std::optional<double> single = cost_of(1);
    if (!single) return fastest;
    double least = *single;
    for (int levels = 2; levels <= most; ++levels) {
        const std::optional<double> pass = cost_of(levels);
        if (!pass) continue;
        const double cost = *pass + part_beside(grid, levels, survey) / levels * *single;
        if (cost < least) least = cost, fastest = levels;
    }
    return fastest;
}

std::string fastest_kernels(const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings) {
    const auto cost_of = [&](const std::string& kernels) -> std::optional<double> {
        WaveSettings with = settings;
        with.kernels = kernels;
        with.levels = 1;
        double sum = 0;
        for (const Problem& problem : WaveSolver::problems(model, with)) {
            const std::optional<double> cost = seconds_per_cell(database, backend, problem);
            if (!cost) return std::nullopt;
            sum += *cost;
        }
        return sum;
    };
    const std::optional<double> step = cost_of("step"), sweeps = cost_of("sweeps");
    return step && sweeps && *sweeps < *step ? "sweeps" : "step";
}

int fastest_levels(Communicator& ranks, const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings,
                   const Survey& survey) {
    int levels = settings.exchange_every > 1 ? 1 : fastest_levels(database, backend, model, settings, survey);
    ranks.broadcast(std::as_writable_bytes(std::span(&levels, 1)), 0);
    WaveSettings with = settings;
    for (with.levels = levels; with.levels > 1 && WaveSolver::most_ranks(model, with) < ranks.size();) --with.levels;
    return with.levels;
}

std::string fastest_kernels(Communicator& ranks, const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings) {
    bool sweeps = fastest_kernels(database, backend, model, settings) == "sweeps";
    ranks.broadcast(std::as_writable_bytes(std::span(&sweeps, 1)), 0);
    return sweeps ? "sweeps" : "step";
}

std::vector<Problem> problems_to_choose_from(const Backend& backend, const Model& model, const WaveSettings& settings, bool any_kernels,
                                             bool any_levels) {
    WaveSettings with = settings;
    std::vector<Problem> problems;
    const auto add = [&] {
        for (const Problem& problem : WaveSolver::problems(model, with)) problems.push_back(problem);
    };
    if (any_kernels) {
        with.kernels = "sweeps";
        add();
        with.kernels = "step";
    }
    add();
    if (!any_levels) return problems;
    for (with.levels = 2; with.levels <= most_levels(model, with); ++with.levels)
        if (const Problem pass = WaveSolver::problems(model, with).front(); can_run(backend, pass)) problems.push_back(pass);
    return problems;
}

}  // namespace hone::inline v0_1::solvers::seismic
