#include <algorithm>

#include "generator/families/batched_gemm/cuda.hpp"

// A thread computes whole matrices: for 2 x 2 and 3 x 3. Words come and go either as each thread's
// own, or through shared memory, where neighbouring threads load neighbouring words and then take
// the matrices that are theirs.

namespace hone::inline v0_1::gemm {
namespace {

// In shared memory matrices are an odd number of words apart, so that threads reading the same word
// of theirs hit different banks.
constexpr int odd(int words) {
    return words | 1;
}

struct Thread {
    Thread(const Shape& of, const Config& config)
        : shape(of),
          matrices_per_block(number(config, "matrices_per_block")),
          min_blocks(number(config, "min_blocks", 1)),
          through_shared(config.word("epilogue") == "shared"),
          a_words(shape.m * shape.k),
          b_words(shape.shared_b ? 0 : shape.k * shape.n),
          c_words(shape.m * shape.n) {
        for (const int candidate : {2, 4})
            if (candidate <= shape.vector_width() && (through_shared || all_multiples_of(candidate))) width = candidate;
    }

    Shape shape;
    int matrices_per_block, min_blocks;
    bool through_shared;            // epilogue=shared
    int a_words, b_words, c_words;  // of a product's own matrices
    int width = 1;                  // words in a load or store

    // A thread's own matrices are aligned only if all strides are.
    bool all_multiples_of(int words) const {
        return shape.stride_a() % words == 0 && shape.stride_b() % words == 0 && shape.stride_c() % words == 0 && a_words % words == 0 &&
               b_words % words == 0 && c_words % words == 0;
    }

    int shared_words() const {
        return through_shared ? matrices_per_block * std::max(odd(a_words) + (b_words == 0 ? 0 : odd(b_words)), odd(c_words)) : 0;
    }

    Reason conflict() const {
        if (through_shared && !shape.packed()) return "gaps would go through shared memory, too";
        return std::nullopt;
    }

    BlockResources resources() const {
        return {.threads = matrices_per_block,
                .shared_bytes = std::int64_t{shared_words()} * shape.bytes(),
                .registers = shape.bytes() / 4 * (a_words + shape.k * shape.n + c_words) + 24,
                .code = std::int64_t{shape.m} * shape.n * shape.k};
    }

    Block constants() const {
        Block block = shape_constants(shape);
        block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", matrices_per_block, min_blocks);
        block.line("constexpr int width = {};  // words in a load or store", width);
        if (through_shared)
            block.line("constexpr int a_here = {}, b_here = {}, c_here = {};  // distance of matrices in shared memory, odd against bank conflicts",
                       odd(a_words), odd(std::max(b_words, 1)), odd(c_words));
        return block;
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits&) const {
        const double executed = 2.0 * shape.m * shape.n * shape.k * static_cast<double>(shape.batch);
        const Holes holes{
            {"banner", banner(problem, config, Target::cuda, executed)}, {"constants", constants()}, {"entry", parameters(shape, Target::cuda)}};
        const Flags flags{{"scaled", shape.scaled}, {"own_b", !shape.shared_b}, {"through_shared", through_shared}};
        KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/thread.cu", holes, flags), executed);
        source.step.push_back(block_launch(shape, matrices_per_block, 1, resources()));
        return source;
    }
};

}  // namespace

Form thread_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    constexpr std::int64_t warp = 32;  // at least, of which each thread has a product
    std::vector<Value> matrices = Values(shape, limits).matrices_per_block;
    std::erase_if(matrices, [](const Value& value) { return std::get<std::int64_t>(value) < warp; });
    return cuda_form<Thread>(
        problem, limits,
        {.name = "thread",
         .help = "a thread computes a whole product",
         .tunables = {matrices_per_block_tunable(std::move(matrices)), epilogue_tunable(), min_blocks_tunable()},
         .safe = {{"matrices_per_block", std::int64_t{64}}, {"epilogue", shape.packed() ? "shared" : "direct"}, {"min_blocks", std::int64_t{1}}}});
}

}  // namespace hone::inline v0_1::gemm
