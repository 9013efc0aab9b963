#include "tuner/worker/memory_need.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"

namespace hone::inline v0_1 {
namespace {

struct Sums {
    double all = 0;
    double read = 0;     // by a step
    double written = 0;  // by a step
};

Sums sums_of(const std::vector<ArraySpec>& arrays, Precision precision) {
    Sums sums;
    for (const ArraySpec& array : arrays) {
        const double bytes = static_cast<double>(array.words) * bytes_per_word(precision);
        sums.all += bytes;
        if (array.access != Access::out) sums.read += bytes;
        if (array.access != Access::in) sums.written += bytes;
    }
    return sums;
}

void require(const Problem& problem, double needed, double there, const char* where) {
    constexpr double gibibyte = 1 << 30;
    if (needed <= there) return;
    throw Error(
        problem.key(),
        fmt::format("its arrays and the reference's answer need {:.3g} GiB {}, and {:.3g} GiB are there", needed / gibibyte, where, there / gibibyte),
        "use a smaller problem, or end what takes memory; limits of control groups count");
}

}  // namespace

MemoryBytes bench_memory(const std::vector<ArraySpec>& arrays, Precision precision, Target target) {
    const Sums sums = sums_of(arrays, precision);
    const double workload = sums.all + sums.written;
    const double bench = sums.all + sums.read + sums.written;
    return traits_of(target).host_memory ? MemoryBytes{workload + bench, 0} : MemoryBytes{workload, bench};
}

MemoryBytes balance_memory(const std::vector<ArraySpec>& arrays, Precision precision) {
    const Sums sums = sums_of(arrays, precision);
    return {sums.all + 2 * sums.written, sums.all};
}

MemoryBytes memory_for(const Device& device) {
    return {static_cast<double>(free_memory()), static_cast<double>(device.memory_bytes)};
}

void require_memory(const Problem& problem, const MemoryBytes& needed, const MemoryBytes& there) {
    require(problem, needed.host, there.host, "of memory on the host");
    require(problem, needed.device, there.device, "on the device");
}

}  // namespace hone::inline v0_1
