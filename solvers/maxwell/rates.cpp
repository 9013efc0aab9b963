#include "solvers/maxwell/rates.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>

#include "foundation/error.hpp"
#include "foundation/text.hpp"
#include "solvers/maxwell/runge_kutta.hpp"

namespace hone::inline v0_1::solvers::maxwell {
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

constexpr const char* head = "device,equation,order,precision,elements,kernel,seconds,gflops,gigabytes_per_second,dofs_per_second,configuration";

// The cells of a line; those that begin with a quotation mark end with the next one.
std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> result(1);
    bool quoted = false;
    for (const char letter : line) {
        if (letter == '"')
            quoted = !quoted;
        else if (letter == ',' && !quoted)
            result.emplace_back();
        else
            result.back() += letter;
    }
    return result;
}

template <typename Number>
Number number(const std::string& cell, const std::string& where) {
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || cell.empty())
        throw Error(where, "\"" + cell + "\" is not a number", "give a file that --rates wrote");
    return value;
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
    if (is_new) stream << head << '\n';
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

std::vector<RateRow> read_rates(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    if (!std::getline(stream, line) || line != head)
        throw Error(file.string(), "it does not begin with the line \"" + std::string(head) + "\"", "give a file that --rates wrote");
    std::vector<RateRow> rows;
    for (int count = 2; std::getline(stream, line); ++count) {
        const std::string where = fmt::format("{}, line {}", file.string(), count);
        const std::vector<std::string> all = cells(line);
        if (all.size() != cells(head).size()) throw Error(where, fmt::format("{} cells", all.size()), "give a file that --rates wrote");
        rows.push_back({all[0], all[1], all[3], all[5], number<int>(all[2], where), number<double>(all[7], where)});
    }
    return rows;
}

Chart rates_chart(const std::vector<RateRow>& rows, const std::string& equation, const std::string& precision) {
    std::map<std::string, std::map<double, double>> fastest;
    for (const RateRow& row : rows) {
        if (row.equation != equation || row.precision != precision) continue;
        double& rate = fastest[row.device + ", " + (row.kernel == "step" ? "time step" : row.kernel)][row.order];
        rate = std::max(rate, row.gflops);
    }
    if (fastest.empty()) throw Error("chart of rates", "there are none of " + equation + " in " + precision, "choose another equation or precision");
    Chart chart{equation + ", " + precision, "order", "GFLOP/s", true, {}};
    for (const auto& [name, points] : fastest) chart.curves.push_back({name, {points.begin(), points.end()}});
    if (equation == "acoustics_3d" && precision == "f32") chart.curves.push_back({"Tesla C870 of 2008, gpuDG", {{2, 20}, {7, 150}}});
    return chart;
}

}  // namespace hone::inline v0_1::solvers::maxwell
