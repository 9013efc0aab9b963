#include "generator/families/gauss_seidel_27/cpu.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

// On processors: a wave of planes with all colours, once over the grid.

namespace hone::inline v0_1::gauss_seidel {

Form cpu_wave_form(const Problem& problem, const Limits& limits) {
    FormSpace own{.name = "wave", .help = "a wave of planes with all colours, once over the grid", .former = [](const Config& config) {
                      return config.has("colours_per_pass", 8);
                  }};
    return {.space = CpuKernel::space(std::move(own), Grid(problem), limits),
            .kernel = [problem](const Config& config) { return CpuKernel(Grid(problem), config).source(problem, config, "wave.cpp", {}, false); }};
}

}  // namespace hone::inline v0_1::gauss_seidel
