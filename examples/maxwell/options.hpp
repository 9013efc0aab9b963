#pragma once

#include <CLI/CLI.hpp>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <string>
#include <vector>

#include "examples/options/exchange.hpp"
#include "examples/options/options.hpp"
#include "examples/options/sharing.hpp"

namespace hone::examples {

/// What the command line of `maxwell` says.
struct MaxwellOptions {
    solvers::maxwell::WaveCase waves;
    std::string orders = "3", precision = "f64", form = "auto", device = "best", records;
    std::string mesh, walls = "reflecting", first = "automatic";
    std::vector<std::string> materials, groups;
    int cells = 0, timed_steps = 3;
    double tune = 0;
    bool renumber = true;
    std::string rates_file, rates_chart;
    std::vector<std::string> charted_rates;
    EnergyFiles energy;
    SharingOptions sharing;
    ExchangeOptions exchange;
    solvers::Balancing balancing;
    solvers::maxwell::WaveRunSettings run;
};

void declare(CLI::App& app, MaxwellOptions& options);

/// The waves that the options ask for, of this order, on their mesh. Throws Error naming the option
/// that is wrong.
solvers::maxwell::WaveCase make_case(const MaxwellOptions& options, int order);
/// Of the options, or what suits their mesh.
solvers::maxwell::FirstFields first_fields(const MaxwellOptions& options, const solvers::maxwell::WaveCase& of);

}  // namespace hone::examples
