// What an application does with an installed hone: name a problem, get a kernel, launch it on its own arrays, compare with the plain loops.
#include <cstdio>
#include <vector>

#include "generator/families.hpp"
#include "generator/workload.hpp"
#include "runtime/library.hpp"

int main() {
    const auto& families = hone::built_in_families();
    const auto problem = families.parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=9 nz=11");
    hone::DiskCache cache("cache");
    const auto backend = hone::make_backend("cpu", cache);
    hone::KernelLibrary library(*backend, hone::Database(families), families);
    const auto kernel = library.kernel(problem);

    hone::Workload workload = families.of(problem).workload(problem, 1);
    std::vector<void*> arrays;
    for (auto& array : workload.arrays) arrays.push_back(array.data());
    const hone::BoundKernel bound(kernel, arrays);
    bound.launch();
    backend->synchronise();

    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        if (workload.expected[i].words() == 0) continue;
        const double difference = hone::largest_difference(workload.arrays[i], workload.expected[i]);
        std::printf("%s: differs by %g, %g is allowed\n", kernel->source().arrays[i].name.c_str(), difference, workload.tolerance);
        if (!(difference <= workload.tolerance)) return 1;
    }
    return 0;
}
