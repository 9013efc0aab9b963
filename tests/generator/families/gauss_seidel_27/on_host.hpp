#pragma once

#include <string>

#include "foundation/error.hpp"
#include "generator/family.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

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
        return source;
    };
    return device_on_host(result);
}

/// An emulated source whose blocks run at the same time, as processes that share the arrays and
/// tables (which must be shared memory): what a block may see of another one depends on nothing but
/// what they wait for. Blocks are held up at random before they publish what they finished.
inline KernelSource blocks_at_once(const KernelSource& emulated) {
    KernelSource source = emulated;
    put_in_front(
        source,
        "#include <sched.h>\n#include <signal.h>\n#include <sys/prctl.h>\n#include <sys/resource.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "static pid_t block_processes = 0;  // their group\n");
    const std::string_view one_by_one = "        run_block(round++);\n    });\n";
    const std::size_t loop = source.text.find(one_by_one);
    if (loop == std::string::npos) throw Error("cuda_on_host.hpp", "its loop over blocks has changed", "put the processes in again");
    // A block that is not there would be waited for: without a process for each the launch ends at
    // once, and all blocks with it.
    source.text.replace(loop, one_by_one.size(), R"(        const unsigned own = round++;
        const pid_t process = fork();
        if (process < 0) stop("there is no process for a block");
        setpgid(process, block_processes);
        if (process > 0 && block_processes == 0) block_processes = process;
        if (process > 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const rlimit seconds{60, 60};
        setrlimit(RLIMIT_CPU, &seconds);
        run_block(own);
        _exit(0);
    });
    for (int status = 0; waitpid(-block_processes, &status, 0) > 0;)
        if (status != 0) stop("a block that runs beside others failed, or waits for ever");
    block_processes = 0;
)");
    // Some lanes of a warp wait for a row or a copy by themselves, while others wait for the whole
    // warp already: those go on, whichever comes first.
    replace_body(source.text, "bool release_warp(", R"(    bool released = false;
    for (const Fiber* first = lanes; first != lanes + count; ++first) {
        if (first->state != State::at_warp_barrier) continue;
        const unsigned mask = first->mask;
        bool arrived = true;
        for (const Fiber* fiber = lanes; fiber != lanes + count; ++fiber)
            if (mask >> fiber->lane & 1)
                arrived &= fiber->state == State::finished || (fiber->state == State::at_warp_barrier && fiber->mask == mask);
        if (!arrived) continue;
        for (Fiber* fiber = lanes; fiber != lanes + count; ++fiber)
            if ((mask >> fiber->lane & 1) && fiber->state != State::finished) fiber->state = State::runnable;
        released = true;
    }
    return released;
)");
    replace_body(source.text, "int take_ticket(", "    return __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST);\n");
    replace_body(source.text, "void publish(", R"(    static unsigned state = getpid();
    state = state * 1664525u + 1013904223u;
    if (state >> 30 == 0) usleep(state >> 20);
    __atomic_store_n(progress, row, __ATOMIC_RELEASE);
)");
    replace_body(source.text, "int published(", "    return __atomic_load_n(progress, __ATOMIC_ACQUIRE);\n");
    // Where one thread waits for its own block, too, the others go on meanwhile. Whoever waits for
    // long sleeps: with dozens of processes that only look, those that they wait for hardly run.
    const bool own_block =
        source.text.find("void wait_for_warps(") != std::string::npos || source.text.find("int steps_of_warp(") != std::string::npos;
    replace_body(source.text, "int wait_for(int* ",
                 std::string(R"(    int now = published(progress);
    for (int looks = 1; now < row; now = published(progress), ++looks) {
        if (looks % 64 == 0)
            usleep(200);
        else
            sched_yield();
)") + (own_block ? "        __syncwarp(1u << cuda_on_host::current->lane);\n" : "") +
                     R"(    }
    return now;
)");
    // Turns are no time on a machine that is busy with others: a block may take a minute of a
    // processor instead.
    const std::string_view turns = "turn > 100000)", never = "false)";
    for (std::size_t at = 0; (at = source.text.find(turns, at)) != std::string::npos; at += never.size())
        source.text.replace(at, turns.size(), never);
    return source;
}

}  // namespace hone::test
