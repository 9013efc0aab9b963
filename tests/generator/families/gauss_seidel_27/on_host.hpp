#pragma once

#include <string>

#include "generator/error.hpp"
#include "generator/family.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// Copies that a thread makes for itself arrive as late as it allows: when it waits for them. Until then there is nothing that could be used.
inline void copy_when_waited_for(std::string& text) {
    const std::size_t found = text.find("__device__ __forceinline__ void copy(");
    if (found == std::string::npos) return;
    text.insert(found, R"(struct OwnCopies {
    Group* to[3][18];
    const real* from[3][18];
    int count[3], open;  // of three sets of copies the one to which they are added; the one before it ended last
};
static OwnCopies own_copies_of[1024];
#define OWN_COPIES OwnCopies& own = own_copies_of[threadIdx.y * 32 + threadIdx.x]
)");
    replace_body(text, "void copy(Group* to, const real* from)", R"(    OWN_COPIES;
    std::memset(static_cast<void*>(to), 0xff, sizeof(Group));
    own.to[own.open][own.count[own.open]] = to;
    own.from[own.open][own.count[own.open]++] = from;
)");
    replace_body(text, "void end_of_copies(", R"(    OWN_COPIES;
    own.open = (own.open + 1) % 3;
    if (own.count[own.open] > 0) cuda_on_host::stop("more copies are under way than the test knows");
)");
    replace_body(text, "void wait_for_copies(", R"(    OWN_COPIES;
    const int arrived = (own.open + 1) % 3;
    for (int i = 0; i < own.count[arrived]; ++i)
        for (int word = 0; word < points_per_thread; ++word) own.to[arrived][i]->word[word] = own.from[arrived][i][word];
    own.count[arrived] = 0;
)");
}

/// gauss_seidel_27 with its inline PTX written out in C++, for the emulator: bulk copies arrive at once. That each is waited for before it is read is
/// left to runs on a device. Blocks run one after another in the order of their tickets, so that whoever waits has no need to.
inline Family bulk_copies_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        replace_body(source.text, "unsigned shared_address(", "    (void)pointer;\n    return 0;\n");
        replace_body(source.text, "void prepare_barriers(", "    std::memset(full, 0, stages * sizeof(Barrier));\n");
        replace_body(source.text, "void finish_shared_reads(", "");
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
        copy_when_waited_for(source.text);
        if (source.text.find("asm") != std::string::npos)
            throw Error("gauss_seidel_27", "has inline PTX that the test does not know", "write it out in C++ here");
        return source;
    };
    return result;
}

/// An emulated source whose blocks run at the same time, as processes that share the arrays and tables (which must be shared memory): what a block
/// may see of another one depends on nothing but what they wait for. Blocks are held up at random before they publish what they finished.
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
    replace_body(source.text, "int wait_for(", R"(    int now = published(progress);
    for (; now < row; now = published(progress)) sched_yield();
    return now;
)");
    return source;
}

}  // namespace hone::test
