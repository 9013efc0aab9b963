#pragma once

#include <CLI/CLI.hpp>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/options/exchange.hpp"
#include "examples/options/options.hpp"
#include "examples/options/sharing.hpp"

namespace hone::examples {

/// What the command line of `hydro` says.
struct HydroOptions {
    std::string problem = "sedov", scheme = "rk2-average", corner_force = "kernels", assembly = "partial", device = "best", records, mass = "best",
                vector_updates = "fused";
    std::string mesh, split = "forces";
    SharingOptions sharing;
    ExchangeOptions exchange;
    solvers::Balancing balancing;
    EnergyFiles energy;
    std::vector<int> zones;
    int dimension = 2, order = 2, refine = 0, recorded = solvers::hydro::MassSettings{}.recorded;
    double time = 0, blast = 0, tune = 0;
    std::optional<double> share;
    solvers::hydro::RunSettings run;
};

void declare(CLI::App& app, HydroOptions& options);

/// What a run is about, the same on all ranks.
struct HydroCase {
    solvers::hydro::HydroProblem problem;
    solvers::QuadMesh mesh;
    std::string where;  ///< the mesh comes from
};

/// Throws Error naming the option that is wrong.
HydroCase make_case(const HydroOptions& options);

}  // namespace hone::examples
