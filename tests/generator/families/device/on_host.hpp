#pragma once

#include <string>

#include "foundation/error.hpp"
#include "generator/family.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// The piece device/copies.cu/past_registers: copies arrive as late as they may, when the thread
/// waits for their group. Until then their place holds NaN.
inline void copies_on_host(std::string& text) {
    const std::size_t piece = text.find("// Copies past the registers");
    if (piece == std::string::npos) return;
    text.insert(piece, R"(struct OwnCopies {
    struct Copy {
        real* to;
        const real* from;  // nullptr: zeros
        int words, group;
    };
    static constexpr int most = 1024;
    Copy under_way[most];
    int count, group;
    uint3 block;

    void start(real* to, const real* from, int words)
    {
        if (count > 0 && (block.x != blockIdx.x || block.y != blockIdx.y || block.z != blockIdx.z))
            cuda_on_host::stop("a block before this one did not wait for its copies");
        if (count == most) cuda_on_host::stop("more copies are under way than the test knows");
        const auto bytes = words * sizeof(real);
        if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
            cuda_on_host::stop("a copy is not aligned");
        block = blockIdx;
        std::memset(static_cast<void*>(to), 0xff, bytes);
        under_way[count++] = {to, from, words, group};
    }
    // Those of all groups but the last `groups` that were committed arrive.
    void wait(int groups)
    {
        int left = 0;
        for (int i = 0; i < count; ++i) {
            const Copy& copy = under_way[i];
            if (copy.group >= group - groups)
                under_way[left++] = copy;
            else if (copy.from == nullptr)
                std::memset(static_cast<void*>(copy.to), 0, copy.words * sizeof(real));
            else
                std::memcpy(static_cast<void*>(copy.to), copy.from, copy.words * sizeof(real));
        }
        count = left;
    }
};
static OwnCopies all_copies[1024];
inline OwnCopies& own_copies()
{
    return all_copies[cuda_on_host::current - cuda_on_host::fibers.begin()];
}

)");
    replace_body(text, "void copy(real* to, const real* from, bool there)", "    own_copies().start(to, there ? from : nullptr, words);\n");
    replace_body(text, "void copy(Value* to, const Value* from)",
                 "    own_copies().start(reinterpret_cast<real*>(to), reinterpret_cast<const real*>(from), sizeof(Value) / sizeof(real));\n");
    replace_body(text, "void copy(real* to, const real* from)", "    own_copies().start(to, from, 16 / sizeof(real));\n");
    replace_body(text, "void commit_copies(", "    ++own_copies().group;\n");
    replace_body(text, "void wait_for_copies(", "    own_copies().wait(groups);\n");
}

/// The piece device/copies.cu/bulk: copies arrive at once. That each is waited for before it is
/// read is left to runs on a device; a stage that gets other bytes than it expects is found.
inline void bulk_copies_on_host(std::string& text) {
    replace_body(text, "unsigned shared_address(", "    (void)pointer;\n    return 0;\n");
    replace_body(text, "void prepare_barriers(", "    std::memset(full, 0, stages * sizeof(Barrier));\n");
    replace_body(text, "void finish_shared_reads(", "");
    replace_body(text, "void expect_bytes(", "    *full += bytes;\n");
    replace_body(text, "void copy_rows(",
                 R"(    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || bytes % 16 != 0) cuda_on_host::stop("a bulk copy is not aligned");
    std::memcpy(to, from, bytes);
    *full -= bytes;
)");
    replace_body(text, "void wait_for_bytes(", R"(    (void)phase;
    if (*full != 0) cuda_on_host::stop("a stage does not get the bytes that it expects");
)");
}

/// Barriers at which warps arrive, of a kernel whose copies a warp of its own starts: the warps
/// that have arrived and, behind 16 bits, those that are awaited, and behind 32 the phases that are
/// over.
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

/// The piece device/copies.cu/bulk of such a kernel: phases are counted alike. The threads of a
/// warp go on together.
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

/// What the pieces of templates/device say in PTX, written out in C++ for the emulator.
inline void device_on_host(std::string& text) {
    copies_on_host(text);
    bulk_copies_on_host(text);
    if (text.find("void arrive(") != std::string::npos) {
        arrivals_on_host(text);
        phases_on_host(text);
    }
    replace_body(text, "unsigned long long kept_reads(", "    return 0;\n");
    replace_body(text, "void say_steps(", "    *to = steps;\n");
    replace_body(text, "int steps_of_warp(", "    __syncwarp(1u << cuda_on_host::current->lane);\n    return *from;\n");
    replace_body(
        text, "void ask_for(const real* from",
        R"(    if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || bytes == 0 || bytes % 16 != 0) cuda_on_host::stop("what is asked for is not aligned");
)");
    replace_body(text, "void put_layer(", "    *to = layer;\n");
    replace_body(text, "int layer_at(", "    return *from;\n");
}

/// A family whose kernels have no other PTX than that of templates/device, for the emulator.
inline Family device_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        device_on_host(source.text);
        if (source.text.find("asm") != std::string::npos)
            throw Error(family.name, "has inline PTX that the test does not know", "write it out in C++ here");
        return source;
    };
    return result;
}

}  // namespace hone::test
