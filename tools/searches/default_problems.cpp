#include "tools/searches/default_problems.hpp"

#include <fmt/format.h>

#include "tools/console/problem_words.hpp"

namespace hone::tools {
namespace {

// The first of several sizes, the largest first, that fits a quarter of the memory; the last one if
// none does.
Problem fitting(const std::string& kind, const std::vector<std::string>& sizes, const Device& device, const Families& families) {
    for (const auto& size : sizes) {
        Problem problem = families.parse_problem(kind + " " + size);
        if (array_bytes(problem, families) <= device.memory_bytes / 4 || &size == &sizes.back()) return problem;
    }
    return {};
}

std::string cube(int n) {
    return fmt::format("nx={0} ny={0} nz={0}", n);
}

std::string square(int n) {
    return fmt::format("nx={0} ny={0}", n);
}

// A problem of a family, with its sizes for GPUs, the largest first, and for processors.
struct Kind {
    std::string problem;
    std::vector<std::string> on_gpu;
    std::vector<std::string> on_cpu;
};

// From the least to the most arithmetic for each word of memory.
const std::vector<Kind>& kinds() {
    static const std::vector<Kind> table{
        {"poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f32", {cube(256), cube(128)}, {cube(128), cube(64)}},
        {"acoustics_staggered kernel=step dimension=2 order=8 media=array precision=f32", {square(4096), square(2048)}, {square(1024), square(512)}},
        {"gauss_seidel_27 stencil=constant precision=f32", {cube(256), cube(128)}, {cube(96), cube(64)}},
        {"batched_gemm m=81 n=8 k=64 b=shared precision=f64", {"batch=32768", "batch=8192"}, {"batch=1000"}},
        {"corner_force dimension=3 order=2 precision=f64", {"zones=32768", "zones=4096"}, {"zones=1000"}},
        {"dg_volume equation=maxwell_3d order=3 precision=f32", {"elements=200000", "elements=20000"}, {"elements=5000"}}};
    return table;
}

}  // namespace

std::vector<Problem> default_problems(const Device& device, const Families& families) {
    std::vector<Problem> problems;
    for (const Kind& kind : kinds())
        problems.push_back(
            fitting(kind.problem, traits_of(device.fingerprint.target).shares_processors ? kind.on_cpu : kind.on_gpu, device, families));
    return problems;
}

}  // namespace hone::tools
