#include "examples/maxwell/rates.hpp"

#include <fmt/format.h>

#include <fstream>

#include "examples/maxwell/runge_kutta.hpp"
#include "generator/error.hpp"
#include "generator/text.hpp"

namespace hone::examples {
namespace {

constexpr double giga = 1e9;

// A time step as if it were one kernel.
KernelRate whole_step(const WaveSolver& solver, double seconds) {
    KernelRate step{"step", "", seconds, 0, 0, 0};
    for (const KernelRate& rate : solver.rates()) {
        step.operations += rate.operations * runge_kutta.size();
        step.executed += rate.executed * runge_kutta.size();
        step.bytes += rate.bytes * runge_kutta.size();
    }
    return step;
}

std::string row(const KernelRate& rate) {
    return fmt::format("{:<10}  {:>8}  {:>8.4g}  {:>8.4g}  {:>8.4g}{}\n", rate.name, text::duration(rate.seconds), rate.gflops(),
                       rate.executed / rate.seconds / giga, rate.bytes / rate.seconds / giga, rate.found.empty() ? "" : "  " + rate.found);
}

}  // namespace

std::string rates_table(const WaveSolver& solver, double step_seconds) {
    std::string table = fmt::format("{:<10}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", "kernel", "a launch", "GFLOP/s", "executed", "GB/s", "configuration");
    for (const KernelRate& rate : solver.rates())
        if (rate.seconds > 0) table += row(rate);
    if (step_seconds > 0) table += row(whole_step(solver, step_seconds));
    return table;
}

void append_rates(const std::filesystem::path& file, const std::string& device, const Discretisation& of, const std::string& precision,
                  const WaveSolver& solver, double step_seconds) {
    const bool is_new = !std::ifstream(file);
    std::ofstream stream(file, std::ios::app);
    if (is_new) stream << "device,equation,order,precision,elements,kernel,seconds,gflops,gigabytes_per_second,dofs_per_second,configuration\n";
    std::vector<KernelRate> rates = solver.rates();
    rates.push_back(whole_step(solver, step_seconds));
    for (const KernelRate& rate : rates)
        if (rate.seconds > 0)
            stream << fmt::format("\"{}\",{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},\"{}\"\n", device, of.equation->name, of.element->order,
                                  precision, of.size(), rate.name, rate.seconds, rate.gflops(), rate.bytes / rate.seconds / giga,
                                  static_cast<double>(of.words()) / rate.seconds, rate.found);
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose another file");
}

}  // namespace hone::examples
