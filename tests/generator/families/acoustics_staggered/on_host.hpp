#pragma once

#include "tests/generator/families/gauss_seidel_27/on_host.hpp"
#include "tests/support/pace_on_host.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// acoustics_staggered with its inline PTX written out in C++, for the emulator: copies arrive at once. That each is waited for before it is read is
/// left to runs on a device; a place that is filled before all have read it is found.
inline Family copies_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        replace_body(source.text, "void copy_piece(",
                     R"(    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
        cuda_on_host::stop("a copy is not aligned");
    std::memcpy(to, from, 16);
)");
        replace_body(source.text, "unsigned long long kept_reads(", "    return 0;\n");
        write_out_pace(source.text);
        replace_body(source.text, "void commit_copies(", "");
        replace_body(source.text, "void wait_for_copies(", "");
        return source;
    };
    return bulk_copies_on_host(result);
}

}  // namespace hone::test
