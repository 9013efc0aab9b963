#pragma once

#include <string>

#include "generator/family.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// The estimates of form=layered in f64, which are inline PTX, written out in C++ for the emulator:
/// as wrong as those of a GPU may be, which flushes subnormal numbers; and copies past the
/// registers.
inline void roots_on_host(std::string& text) {
    copies_on_host(text);
    replace_body(text, "void fetch_ahead(", "    if (end <= begin) cuda_on_host::stop(\"nothing is asked for\");\n");
    // As many arrivals as the team has threads open its barrier. The threads of a warp go on
    // together.
    replace_body(text, "void team_barrier(int of)", R"(    static int arrived[16];
    const int awaited = arrived[of]++ / team * team + team;
    for (int turn = 0; __shfl_sync(0xffffffffu, int(arrived[of] < awaited), 0) != 0; ++turn)
        if (turn > 100000) cuda_on_host::stop("a thread of a team does not arrive");
)");
    replace_body(text, "value near_reciprocal(", "    return (1 - 0x1p-19) / (fabs(a) < 0x1p-1022 ? 0.0 : a);\n");
    replace_body(text, "value near_inverse_root(", "    return (1 + 0x1p-20) / sqrt(a < 0x1p-1022 ? 0.0 : a);\n");
}

inline Family roots_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        roots_on_host(source.text);
        return source;
    };
    return result;
}

}  // namespace hone::test
