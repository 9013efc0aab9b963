#include "tests/support/digits.hpp"

#include <cstring>
#include <memory>

#include "runtime/library.hpp"

namespace hone::test {

std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed, int steps) {
    return stepped(backend, family, problem, config, family.workload(problem, seed), steps);
}

std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, const Workload& workload,
                               int steps) {
    Match match;
    match.config = config;
    const auto kernel = std::make_shared<const Kernel>(backend, family, problem, match, backend.device().limits);
    std::vector<DeviceArray> arrays;
    std::vector<void*> pointers;
    for (const HostArray& array : workload.arrays) {
        arrays.emplace_back(backend, array.bytes());
        backend.copy(arrays.back().data(), array.data(), array.bytes());
        pointers.push_back(arrays.back().data());
    }
    const BoundKernel bound(kernel, pointers);
    for (int step = 0; step < steps; ++step) bound.launch();
    std::vector<HostArray> results;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        results.emplace_back(workload.arrays[i].precision(), workload.arrays[i].words());
        backend.copy(results.back().data(), arrays[i].data(), arrays[i].bytes());
    }
    backend.synchronise();
    return results;
}

bool same_bytes(const std::vector<HostArray>& a, const std::vector<HostArray>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].bytes() != b[i].bytes() || std::memcmp(a[i].data(), b[i].data(), static_cast<std::size_t>(a[i].bytes())) != 0) return false;
    return true;
}

bool rounds_once() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") != 0;
#else
    return true;
#endif
}

}  // namespace hone::test
