#pragma once

#include <string>

#include "generator/error.hpp"
#include "generator/family.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// Barriers at which warps arrive, of a kernel whose copies a warp of its own starts: the warps that
/// have arrived and, behind 16 bits, those that are awaited, and behind 32 the phases that are over.
inline void arrivals_on_host(std::string& text) {
    replace_body(text, "void prepare_arrivals(", R"(    for (int i = 0; i < count; ++i) barriers[i] = static_cast<Barrier>(warps) << 16;
)");
    replace_body(text, "void arrive(", R"(    const Barrier awaited = *barrier >> 16 & 0xffff;
    if ((++*barrier & 0xffff) == awaited) *barrier = ((*barrier >> 32) + 1) << 32 | awaited << 16;
)");
    replace_body(text, "void wait_for_arrivals(", R"(    for (int turn = 0; (*barrier >> 32) % 2 == phase; ++turn) {
        if (turn > 100000) cuda_on_host::stop("a warp does not arrive");
        __syncwarp(1u << cuda_on_host::current->lane);
    }
)");
    replace_body(text, "void wait_for_warps(", R"(    for (int turn = 0; __shfl_sync(0xffffffffu, int((*barrier >> 32) % 2 == phase), 0) != 0; ++turn)
        if (turn > 100000) cuda_on_host::stop("some warps do not arrive");
)");
}

/// The same of what the piece device/copies.cu/bulk says. The threads of a warp go on together.
inline void phases_on_host(std::string& text) {
    replace_body(text, "void copy_rows(",
                 R"(    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || bytes % 16 != 0) cuda_on_host::stop("a bulk copy is not aligned");
    std::memcpy(to, from, bytes);
    *full -= bytes;
    if (static_cast<unsigned>(*full) == 0) *full += 1ull << 32;
)");
    replace_body(text, "void wait_for_bytes(", R"(    for (int turn = 0; __shfl_sync(0xffffffffu, int((*full >> 32) % 2 == phase), 0) != 0; ++turn)
        if (turn > 100000) cuda_on_host::stop("a stage does not get the bytes that it expects");
)");
}

/// gauss_seidel_27 with its inline PTX written out in C++, for the emulator. Blocks run one after
/// another in the order of their tickets, so that whoever waits has no need to.
inline Family turns_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        replace_body(source.text, "int take_ticket(", "    return (*next)++;\n");
        replace_body(source.text, "void publish(", "    *progress = row;\n");
        replace_body(source.text, "int published(", "    return *progress;\n");
        replace_body(source.text, "int wait_for(int* ", R"(    for (int turn = 0; *progress < row; ++turn) {
        if (turn > 100000) cuda_on_host::stop("waits for a row that neither this block nor one before it finishes");
        __syncwarp(1u << cuda_on_host::current->lane);
    }
    return *progress;
)");
        replace_body(source.text, "void admit_bulk_copies(", "");
        replace_body(source.text, "void copy_rows_once(", "    copy_rows(to, from, bytes, full);\n");
        arrivals_on_host(source.text);
        return source;
    };
    result = device_on_host(result);
    result.kernel = [kernel = result.kernel](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = kernel(problem, config, limits);
        if (source.text.find("void arrive(") != std::string::npos) phases_on_host(source.text);
        return source;
    };
    return result;
}

/// An emulated source whose blocks run at the same time, as processes that share the arrays and
/// tables (which must be shared memory): what a block may see of another one depends on nothing but
/// what they wait for. Blocks are held up at random before they publish what they finished.
inline KernelSource blocks_at_once(const KernelSource& emulated) {
    KernelSource source = emulated;
    source.text = "#include <sched.h>\n#include <sys/wait.h>\n#include <unistd.h>\n" + source.text;
    const std::string_view one_by_one = "        run_block(round++);\n    });\n";
    const std::size_t loop = source.text.find(one_by_one);
    if (loop == std::string::npos) throw Error("cuda_on_host.hpp", "its loop over blocks has changed", "put the processes in again");
    source.text.replace(loop, one_by_one.size(), R"(        const unsigned own = round++;
        if (fork() != 0) return;
        run_block(own);
        _exit(0);
    });
    for (int status = 0; ::wait(&status) > 0;)
        if (status != 0) stop("a block that runs beside others failed");
)");
    replace_body(source.text, "int take_ticket(", "    return __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST);\n");
    replace_body(source.text, "void publish(", R"(    static unsigned state = getpid();
    state = state * 1664525u + 1013904223u;
    if (state >> 30 == 0) usleep(state >> 20);
    __atomic_store_n(progress, row, __ATOMIC_RELEASE);
)");
    replace_body(source.text, "int published(", "    return __atomic_load_n(progress, __ATOMIC_ACQUIRE);\n");
    // Where one thread waits for its own block, too, the others go on meanwhile.
    const bool own_block = source.text.find("void wait_for_warps(") != std::string::npos;
    replace_body(source.text, "int wait_for(int* ",
                 std::string(R"(    int now = published(progress);
    for (; now < row; now = published(progress)) {
        sched_yield();
)") + (own_block ? "        __syncwarp(1u << cuda_on_host::current->lane);\n" : "") +
                     R"(    }
    return now;
)");
    return source;
}

}  // namespace hone::test
