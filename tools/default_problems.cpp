#include "tools/default_problems.hpp"

#include <fmt/format.h>

namespace hone::tools {
namespace {

std::int64_t bytes_of(const Problem& problem, const Families& families) {
    std::int64_t words = 0;
    for (const auto& array : families.of(problem).arrays(problem)) words += array.words;
    return words * bytes_per_word(problem.precision());
}

// The first of several sizes, the largest first, that fits a quarter of the memory; the last one if none does.
Problem fitting(const std::string& kind, const std::vector<std::string>& sizes, const Device& device, const Families& families) {
    for (const auto& size : sizes) {
        Problem problem = families.parse_problem(kind + " " + size);
        if (bytes_of(problem, families) <= device.memory_bytes / 4 || &size == &sizes.back()) return problem;
    }
    return {};
}

std::string cube(int n) {
    return fmt::format("nx={0} ny={0} nz={0}", n);
}

}  // namespace

std::vector<Problem> default_problems(const Device& device, const Families& families) {
    const bool cuda = device.fingerprint.target == Target::cuda;
    const auto grids = cuda ? std::vector{cube(512), cube(256), cube(128)} : std::vector{cube(128), cube(64)};
    const auto heavy_grids = cuda ? std::vector{cube(256), cube(128)} : std::vector{cube(64)};
    const auto meshes = cuda ? std::vector<std::string>{"elements=200000", "elements=20000"} : std::vector<std::string>{"elements=10000"};
    return {fitting("gauss_seidel_27 stencil=constant precision=f32", grids, device, families),
            fitting("gauss_seidel_27 stencil=variable precision=f32", heavy_grids, device, families),
            fitting("dg_volume equation=maxwell_3d order=3 precision=f32", meshes, device, families),
            fitting("dg_volume equation=maxwell_3d order=5 precision=f64", meshes, device, families)};
}

}  // namespace hone::tools
