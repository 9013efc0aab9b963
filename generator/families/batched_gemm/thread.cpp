#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemm/mappings.hpp"

// The form thread: one thread per matrix. Words come and go either as each thread's own, or through
// shared memory, where neighbouring threads load neighbouring words and then take the matrices that
// are theirs.

namespace hone::inline v0_1::gemm {
namespace {

constexpr int largest_matrix = 40;    // words of C and of what a thread keeps of A and B
constexpr int largest_product = 128;  // multiply-adds

// In shared memory matrices are an odd number of words apart, so that threads reading the same word
// of theirs hit different banks.
constexpr int odd(int words) {
    return words | 1;
}

struct Tiny {
    Tiny(const Shape& shape, const Config& config)
        : threads(number(config, "matrices_per_block")), through_shared(config.word("epilogue") == "shared") {
        a_words = shape.m * shape.k;
        b_words = shape.shared_b ? 0 : shape.k * shape.n;
        c_words = shape.m * shape.n;
        // A thread's own matrices are aligned only if all strides are.
        for (const int candidate : {2, 4})
            if (candidate <= shape.vector_width() &&
                (through_shared || (shape.stride_a() % candidate == 0 && shape.stride_b() % candidate == 0 && shape.stride_c() % candidate == 0 &&
                                    a_words % candidate == 0 && b_words % candidate == 0 && c_words % candidate == 0)))
                width = candidate;
    }
    int shared_words() const { return through_shared ? threads * std::max(odd(a_words) + (b_words == 0 ? 0 : odd(b_words)), odd(c_words)) : 0; }

    int threads;
    bool through_shared;
    int width = 1;
    int a_words, b_words, c_words;
};

bool applies(const Shape& shape, const Limits&) {
    return shape.m * shape.n <= largest_matrix && shape.m * shape.k <= largest_matrix && shape.k * shape.n <= largest_matrix &&
           shape.m * shape.n * shape.k <= largest_product;
}

std::string conflict(const Shape& shape, const Config& config) {
    if (config.word("epilogue") == "shared" && !shape.packed()) return "gaps would go through shared memory, too";
    return "";
}

Resources resources(const Shape& shape, const Config& config) {
    const Tiny tiny(shape, config);
    Resources result;
    result.threads = tiny.threads;
    result.shared_bytes = std::int64_t{tiny.shared_words()} * shape.bytes();
    result.registers = shape.bytes() / 4 * (tiny.a_words + shape.k * shape.n + tiny.c_words) + 24;
    result.code = std::int64_t{shape.m} * shape.n * shape.k;
    return result;
}

Block constants(const Shape& shape, const Tiny& tiny, const Config& config) {
    Block block = shape_constants(shape);
    block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", tiny.threads, number(config, "min_blocks"));
    block.line("constexpr int width = {};  // words in a load or store", tiny.width);
    if (tiny.through_shared)
        block.line("constexpr int a_here = {}, b_here = {}, c_here = {};  // distance of matrices in shared memory, odd against bank conflicts",
                   odd(tiny.a_words), odd(std::max(tiny.b_words, 1)), odd(tiny.c_words));
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits&) {
    const Shape shape(problem);
    const Tiny tiny(shape, config);
    const double executed = 2.0 * shape.m * shape.n * shape.k * static_cast<double>(shape.batch);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, tiny, config)},
                      {"entry", parameters(shape, Target::cuda)}};
    const Flags flags{{"scaled", shape.scaled}, {"own_b", !shape.shared_b}, {"through_shared", tiny.through_shared}};
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/thread.cu", holes, flags), executed);
    source.step.push_back(block_launch(shape, tiny.threads, 1, resources(shape, config)));
    return source;
}

}  // namespace

Mapping thread_mapping() {
    return {"thread", "a thread computes a whole product", applies, conflict, resources, kernel};
}

}  // namespace hone::inline v0_1::gemm
