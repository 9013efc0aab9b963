#include "generator/families/gauss_seidel_27/cpu.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

// On processors: rows with both colours of x, four times over the grid.

namespace hone::inline v0_1::gauss_seidel {
namespace {

KernelSource kernel(const Problem& problem, const Config& config) {
    CpuArguments arguments;
    arguments.add("y_block", config.integer("y_block"));
    KernelSource source = CpuKernel(Grid(problem), config).source(problem, config, "rows.cpp", arguments, true);
    const Launch launch = source.step.front();
    source.step.clear();
    for (int row_parity = 0; row_parity < 4; ++row_parity) {
        source.step.push_back(launch);
        source.step.back().constants.push_back(row_parity);
    }
    return source;
}

}  // namespace

Form cpu_rows_form(const Problem& problem, const Limits& limits) {
    constexpr std::int64_t whole_planes = 256;
    FormSpace own{.name = "rows",
                  .help = "rows with both colours of x, four times over the grid",
                  .tunables = {{"y_block", "rows along y that a thread takes at a time", numbers({4, 16, 64, whole_planes})}},
                  .safe = {{"y_block", 4}},
                  .former = [](const Config& config) { return config.has("colours_per_pass", 2); }};
    return {.space = CpuKernel::space(std::move(own), Grid(problem), limits),
            .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::gauss_seidel
