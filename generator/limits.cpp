#include "generator/limits.hpp"

#include <array>

namespace hone::inline v0_1 {
namespace {

struct Architecture {
    int number;
    int threads_per_multiprocessor;
    int shared_kib_per_block;
    int shared_kib_per_multiprocessor;
    int multiprocessors;
};

// CUDA C++ Programming Guide, table "Technical specifications per compute capability";
// multiprocessors of the largest chip.
constexpr std::array architectures{
    Architecture{70, 2048, 96, 96, 80},     Architecture{75, 1024, 64, 64, 72},    Architecture{80, 2048, 163, 164, 108},
    Architecture{86, 1536, 99, 100, 84},    Architecture{89, 1536, 99, 100, 144},  Architecture{90, 2048, 227, 228, 132},
    Architecture{100, 2048, 227, 228, 148}, Architecture{120, 1536, 99, 100, 188},
};

}  // namespace

Limits cuda_limits(int architecture) {
    Architecture known = architectures.front();
    for (const auto& candidate : architectures)
        if (candidate.number <= architecture) known = candidate;
    Limits limits;
    limits.target = Target::cuda;
    limits.architecture = architecture;
    limits.max_threads_per_block = 1024;
    limits.max_threads_per_multiprocessor = known.threads_per_multiprocessor;
    limits.registers_per_multiprocessor = 65536;
    limits.shared_bytes_per_block = known.shared_kib_per_block * 1024;
    limits.shared_bytes_per_multiprocessor = known.shared_kib_per_multiprocessor * 1024;
    limits.multiprocessors = known.multiprocessors;
    limits.cache_bytes = 4 << 20;
    return limits;
}

Limits cpu_limits() {
    return Limits{};
}

}  // namespace hone::inline v0_1
