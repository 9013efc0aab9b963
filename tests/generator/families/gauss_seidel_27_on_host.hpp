#pragma once

#include <string>

#include "generator/error.hpp"
#include "generator/family.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// gauss_seidel_27 with its inline PTX written out in C++, for the emulator: bulk copies arrive at once. That each is waited for before it is read is
/// left to runs on a device. Blocks run one after another in the order of their tickets, so that whoever waits has no need to.
inline Family bulk_copies_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        replace_body(source.text, "unsigned shared_address(", "    (void)pointer;\n    return 0;\n");
        replace_body(source.text, "void prepare_barriers(", "    std::memset(full, 0, stages * sizeof(Barrier));\n");
        replace_body(source.text, "void expect_bytes(", "    *full += bytes;\n");
        replace_body(source.text, "void copy_rows(",
                     R"(    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || bytes % 16 != 0) cuda_on_host::stop("a bulk copy is not aligned");
    std::memcpy(to, from, bytes);
    *full -= bytes;
)");
        replace_body(source.text, "void wait_for_bytes(", R"(    (void)phase;
    if (*full != 0) cuda_on_host::stop("a stage does not get the bytes that it expects");
)");
        replace_body(source.text, "int take_ticket(", "    return (*next)++;\n");
        replace_body(source.text, "void publish(", "    *progress = row;\n");
        replace_body(source.text, "int published(", "    return *progress;\n");
        replace_body(source.text, "int wait_for(", R"(    if (*progress < row) cuda_on_host::stop("waits for a row that no block before it finishes");
    return *progress;
)");
        replace_body(source.text, "void admit_bulk_copies(", "");
        if (source.text.find("asm") != std::string::npos)
            throw Error("gauss_seidel_27", "has inline PTX that the test does not know", "write it out in C++ here");
        return source;
    };
    return result;
}

}  // namespace hone::test
