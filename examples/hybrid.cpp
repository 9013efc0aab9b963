// A time loop whose every step is shared by two devices, in the ratio that ends both at the same
// moment; the ratio is found while the loop runs.
//
//     hybrid [--device DEVICE] [--db FOLDER]
//
// The device's partner is the processor; with --device cpu the processor shares with itself. The
// result must be that of one device alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <string>
#include <vector>

#include "examples/options/command_line.hpp"
#include "examples/options/options.hpp"

namespace {

constexpr int steps_per_period = 5;  // an application would take 40
constexpr int periods = 12;

// A period of time steps, and what the balancer wants to know of it.
hone::SharedTimes period(hone::HybridKernel& hybrid) {
    std::array<std::vector<double>, 3> times;
    for (int i = 0; i < steps_per_period; ++i) {
        const hone::HybridStep step = hybrid.step();
        times[0].push_back(step.first);
        times[1].push_back(step.second);
        times[2].push_back(step.step);
    }
    return {hone::summarise(times[0]).median, hone::summarise(times[1]).median, hone::summarise(times[2]).median};
}

}  // namespace

int main(int argc, char** argv) try {
    std::string device = "best";
    std::string records;
    CLI::App app{"A time loop whose every step is shared by a device and the processor, in the ratio that ends both at the same moment."};
    hone::examples::add_device(app, device, records);
    app.footer(
        "Examples:\n"
        "  hybrid                 the best device and the processor\n"
        "  hybrid --device cpu    the processor shares with itself");
    if (const auto code = hone::examples::read_command_line(app, argc, argv)) return *code;

    // Two devices, and for each the best kernel that is known for it.
    hone::Session first(device, {.database = records});
    hone::Session second("cpu", {.database = records});
    const auto& families = first.families();
    const auto problem = families.parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=62 ny=62 nz=62");
    const auto kernel = first.kernel(problem);
    const auto partner = second.kernel(problem);

    // The application's own data: here the one the family makes for tests.
    const hone::Family& family = families.of(problem);
    hone::Workload shared = family.workload(problem, 1);
    hone::Workload alone = family.workload(problem, 1);
    const auto arrays = [](hone::Workload& of) { return std::array<void*, 3>{of.arrays[0].data(), of.arrays[1].data(), of.arrays[2].data()}; };

    // The time loop. Every step is right, whatever the share.
    hone::HybridKernel hybrid(family, {&first.backend(), kernel}, {&second.backend(), partner}, arrays(shared), kernel->range());
    hone::LoadBalancer balancer({.units = hybrid.range(), .granularity = hybrid.granularity()});
    for (int i = 0; i < periods; ++i) {
        hybrid.set_units(balancer.units());
        const hone::SharedTimes times = period(hybrid);
        fmt::print("{:>5.1f} %  {:.3f} ms and {:.3f} ms, step {:.3f} ms\n", 100 * balancer.share(), 1e3 * times.first, 1e3 * times.second,
                   1e3 * times.step);
        balancer.tell(times);
    }
    hybrid.gather();
    fmt::print("{} {}: {:.1f} % of each step\n", first.device().fingerprint.name, balancer.settled() ? "settled" : "not settled",
               100 * balancer.share());

    // The same steps by the plain loops.
    for (int i = 0; i < periods * steps_per_period; ++i) family.reference(problem, arrays(alone), 0, family.range(problem));
    const double error = hone::largest_difference(shared.arrays[0], alone.arrays[0]);
    // A sweep passes at most half of an inherited error on, so all steps together err by at most
    // twice what one may.
    fmt::print("largest difference from one device: {:.2g}\n", error);
    return error <= 2 * shared.tolerance ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "hybrid: {}\n", error.what());
    return 2;
}
