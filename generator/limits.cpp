#include "generator/limits.hpp"

#include <algorithm>
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
    Architecture{50, 2048, 48, 64, 24},     Architecture{52, 2048, 48, 96, 24},    Architecture{53, 2048, 48, 64, 2},
    Architecture{60, 2048, 48, 64, 60},     Architecture{61, 2048, 48, 96, 30},    Architecture{62, 2048, 48, 64, 2},
    Architecture{70, 2048, 96, 96, 80},     Architecture{75, 1024, 64, 64, 72},    Architecture{80, 2048, 163, 164, 108},
    Architecture{86, 1536, 99, 100, 84},    Architecture{89, 1536, 99, 100, 144},  Architecture{90, 2048, 227, 228, 132},
    Architecture{100, 2048, 227, 228, 148}, Architecture{120, 1536, 99, 100, 188},
};

struct Requirement {
    Feature feature;
    int architecture;
    int compiler;
};

// PTX ISA, "Target ISA Notes" and "PTX ISA Notes" of the instructions: PTX 6.0 came with CUDA 9.0,
// 7.0 with 11.0, 7.4 (cache hints) with 11.4, 7.8 with 11.8, 8.0 with 12.0.
constexpr std::array requirements{
    Requirement{Feature::ordered_accesses, 70, 90},       Requirement{Feature::async_copies, 80, 114},
    Requirement{Feature::bulk_copies, 90, 120},           Requirement{Feature::f64_matrix_units, 80, 110},
    Requirement{Feature::wide_f64_matrix_units, 90, 118}, Requirement{Feature::tf32_matrix_units, 80, 110},
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

bool Limits::has(Feature feature) const {
    if (target != Target::cuda) return false;
    const Requirement& needed =
        *std::find_if(requirements.begin(), requirements.end(), [&](const Requirement& one) { return one.feature == feature; });
    return architecture >= needed.architecture && (compiler == 0 || compiler >= needed.compiler);
}

Limits cpu_limits() {
    return Limits{};
}

}  // namespace hone::inline v0_1
